# cmake -DSOURCE=DIR -DOUTPUT=FILE.cpp -P embed.cmake: what SVG pictures hold besides their frames, as C++ text.
file(READ ${SOURCE}/style.css style)
file(READ ${SOURCE}/flame.js script)
include(${CMAKE_CURRENT_LIST_DIR}/../literals.cmake)
check_literals(style script)
foreach(part style script)
  if("${${part}}" MATCHES "]]>")
    message(FATAL_ERROR "${part}: holds ']]>', which ends its CDATA section")
  endif()
endforeach()
file(WRITE ${OUTPUT} "#include \"export/svg_page.h\"

namespace qperf::exporter {

const SvgPage& svg_page() noexcept {
  static constexpr SvgPage kPage{
      .style = R\"embedded(${style})embedded\",
      .script = R\"embedded(${script})embedded\",
  };
  return kPage;
}

}  // namespace qperf::exporter
")

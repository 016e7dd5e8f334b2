# cmake -DSOURCE=DIR -DOUTPUT=FILE.cpp -P embed.cmake: the report's page as C++ text, with the digests that its policy names.
set(script "")
foreach(file model flame timeline app)
  file(READ ${SOURCE}/${file}.js text)
  string(APPEND script "${text}")
endforeach()
file(READ ${SOURCE}/style.css style)
file(READ ${SOURCE}/page.html page)
string(SHA256 script_sha256 "${script}")
string(SHA256 style_sha256 "${style}")
include(${CMAKE_CURRENT_LIST_DIR}/../literals.cmake)
check_literals(page style script)
if("${script}${style}" MATCHES "</")
  message(FATAL_ERROR "the script or the style holds '</', which could end its element")
endif()
file(WRITE ${OUTPUT} "#include \"export/html_page.h\"

namespace qperf::exporter {

const HtmlPage& html_page() noexcept {
  static constexpr HtmlPage kPage{
      .page = R\"embedded(${page})embedded\",
      .style = R\"embedded(${style})embedded\",
      .script = R\"embedded(${script})embedded\",
      .style_sha256 = \"${style_sha256}\",
      .script_sha256 = \"${script_sha256}\",
  };
  return kPage;
}

}  // namespace qperf::exporter
")

# check_literals(VARIABLE...): refuses texts that would end the C++ literal they are put into.
function(check_literals)
  foreach(part ${ARGV})
    if("${${part}}" MATCHES "\\)embedded\"")
      message(FATAL_ERROR "${part}: holds the end of the literal that it is put into")
    endif()
  endforeach()
endfunction()

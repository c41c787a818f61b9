# What the tests of installed copies share: a fresh folder ${work}, the installed copy in ${prefix},
# and how programs are run and judged.
#
# Needs SOURCE_DIR and BUILD_DIR.

set(work ${BUILD_DIR}/tests/install)
set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${work})

# fail(<text>): FATAL_ERROR alone would break the lines of the text anew.
function(fail text)
  message("${text}")
  message(FATAL_ERROR "the installed copy is not as it should be")
endfunction()

# run(<variable for standard output> <command…>): any failure ends the test with what the command
# said.
function(run output)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    fail("failed (${result}): ${command}\n${out}${err}")
  endif()
  set(${output} "${out}" PARENT_SCOPE)
endfunction()

# expect_output(<example> <its program>): runs it and compares what it prints. With a ${launcher},
# through that, and lines end as Windows ends them.
function(expect_output example binary)
  run(actual ${launcher} ${binary} ${work}/db)
  if(launcher)
    string(REPLACE "\r\n" "\n" actual "${actual}")
  endif()
  file(READ ${SOURCE_DIR}/examples/${example}.expected expected)
  if(NOT actual STREQUAL expected)
    fail("${binary} printed\n${actual}\ninstead of\n${expected}")
  endif()
  message(STATUS "${binary}: as expected")
endfunction()

# install_and_move(<files that must be there…>): installs, then moves what was installed: nothing in
# it may name the place it was installed to.
function(install_and_move)
  run(ignored ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${work}/installed)
  foreach(file IN LISTS ARGN)
    if(NOT EXISTS ${work}/installed/${file})
      fail("${file} was not installed")
    endif()
  endforeach()
  file(RENAME ${work}/installed ${prefix})
endfunction()

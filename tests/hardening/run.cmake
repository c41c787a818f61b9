# The built tool and library are hardened as SECURITY.md says.
#
# Run by ctest: cmake -DTOOL= -DLIBRARY= -DFORTIFIED= -P run.cmake; FORTIFIED: whether the build type has _FORTIFY_SOURCE
cmake_minimum_required(VERSION 3.25)

# expect(<file> <text> <pattern> <what>) and refuse: that the text has, or lacks, the pattern.
function(expect file text pattern what)
  if(NOT text MATCHES "${pattern}")
    message(SEND_ERROR "${file}: ${what}")
  endif()
endfunction()
function(refuse file text pattern what)
  if(text MATCHES "${pattern}")
    message(SEND_ERROR "${file}: ${what}: ${CMAKE_MATCH_0}")
  endif()
endfunction()

foreach(file IN ITEMS ${TOOL} ${LIBRARY})
  execute_process(COMMAND readelf -hldW ${file} OUTPUT_VARIABLE elf COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND readelf -sW --dyn-syms ${file} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  expect(${file} "${elf}" "Type: +DYN" "is not position-independent")
  expect(${file} "${elf}" "GNU_RELRO" "has no segment that becomes read-only (RELRO)")
  expect(${file} "${elf}" "BIND_NOW|FLAGS_1\\) [^\n]*NOW" "resolves symbols lazily, so its table of them stays writable")
  expect(${file} "${elf}" "GNU_STACK" "says nothing of its stack")
  refuse(${file} "${elf}" "GNU_STACK[^\n]* RWE " "has an executable stack")
  refuse(${file} "${elf}" "LOAD[^\n]* RWE " "has a segment that is writable and executable")
  refuse(${file} "${elf}" "TEXTREL" "has relocations in its code")
  refuse(${file} "${elf}" "\\((RPATH|RUNPATH)\\)[^\n]*" "searches for libraries in a folder of the build")
  expect(${file} "${symbols}" "__stack_chk_fail" "has no stack protector")
  if(FORTIFIED)
    expect(${file} "${symbols}" "__(memcpy|memmove|memset|snprintf|vsnprintf|fprintf|printf|read|pread|strncpy)_chk" "is not compiled with _FORTIFY_SOURCE")
  endif()
endforeach()

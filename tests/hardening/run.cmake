# The built tools and libraries are hardened, open no socket and load no code, as SECURITY.md says.
#
# Run by ctest and ./dev java: cmake -DFILES= -DFORTIFIED= -P run.cmake; FORTIFIED: whether the
# build type has _FORTIFY_SOURCE
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

if(NOT FILES)
  message(FATAL_ERROR "FILES names nothing to look at")
endif()

# Functions of the C library that a file may not ask the loader for.
set(networks "socket|socketpair|connect|bind|listen|accept4?|getaddrinfo|gethostbyname")
set(code "dlm?open|dlv?sym|system|popen|exec[lv]p?e?|execvpe|fexecve|posix_spawnp?|v?fork|clone")

foreach(file IN LISTS FILES)
  execute_process(COMMAND readelf -hldW ${file} OUTPUT_VARIABLE elf COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND readelf -sW --dyn-syms ${file} OUTPUT_VARIABLE symbols
                  COMMAND_ERROR_IS_FATAL ANY)
  expect(${file} "${elf}" "Type: +DYN" "is not position-independent")
  expect(${file} "${elf}" "GNU_RELRO" "has no segment that becomes read-only (RELRO)")
  expect(${file} "${elf}" "BIND_NOW|FLAGS_1\\) [^\n]*NOW"
         "resolves symbols lazily, so its table of them stays writable")
  expect(${file} "${elf}" "GNU_STACK" "says nothing of its stack")
  refuse(${file} "${elf}" "GNU_STACK[^\n]* RWE " "has an executable stack")
  refuse(${file} "${elf}" "LOAD[^\n]* RWE " "has a segment that is writable and executable")
  refuse(${file} "${elf}" "TEXTREL" "has relocations in its code")
  refuse(${file} "${elf}" "\\((RPATH|RUNPATH)\\)[^\n]*"
         "searches for libraries in a folder of the build")
  refuse(${file} "${symbols}" " UND (${networks})[@\n]" "opens a socket")
  refuse(${file} "${symbols}" " UND (${code})[@\n]" "loads code or starts a program")
  expect(${file} "${symbols}" " UND abort[@\n]"
         "does not import abort: the two lines above see no imports")
  expect(${file} "${symbols}" "__stack_chk_fail" "has no stack protector")
  if(FORTIFIED)
    set(checked "memcpy|memmove|memset|snprintf|vsnprintf|fprintf|printf|read|pread|strncpy")
    expect(${file} "${symbols}" "__(${checked})_chk" "is not compiled with _FORTIFY_SOURCE")
  endif()
endforeach()

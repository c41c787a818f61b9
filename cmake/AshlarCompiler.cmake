# How every file is compiled: warnings, hardening, sanitizers and the compiler cache.
#
# Optimisation levels belong to the presets. NDEBUG is set in release: it silences assert() and
# ASHLAR_DCHECK; ASHLAR_ASSERT stays on everywhere.

include(AshlarFlags)
if(ASHLAR_WARNINGS_AS_ERRORS)
  ashlar_error_flag(ashlar_flags "${CMAKE_CXX_COMPILER_ID}"
                    "${CMAKE_CXX_COMPILER_FRONTEND_VARIANT}")
  add_compile_options(${ashlar_flags})
endif()
ashlar_warning_flags(ashlar_flags "${CMAKE_CXX_COMPILER_ID}"
                     "${CMAKE_CXX_COMPILER_FRONTEND_VARIANT}")
add_compile_options(${ashlar_flags})
# ashlar_make_strict(<sources>): these sources of the current folder are C++20 without the
# compiler's extensions.
function(ashlar_make_strict)
  if(ASHLAR_WARNINGS_AS_ERRORS)
    ashlar_strict_flag(flag "${CMAKE_CXX_COMPILER_ID}" "${CMAKE_CXX_COMPILER_FRONTEND_VARIANT}")
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS ${flag})
  endif()
endfunction()

if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # At -O3 GCC 12 takes std::string's concatenation for a copy that overlaps itself (GCC's bug
  # 105651).
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()

if(ASHLAR_SANITIZER)
  add_compile_options(-fsanitize=${ASHLAR_SANITIZER} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ASHLAR_SANITIZER})
  if(ASHLAR_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
elseif(UNIX)
  # The stack protector guards functions with local arrays only, so it costs the hot paths next to
  # nothing.
  add_compile_options(-fstack-protector-strong
                      "$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
  if(NOT APPLE)
    add_link_options(LINKER:-z,relro,-z,now,-z,noexecstack)
  endif()
endif()

if(WIN32)
  # Windows 10; what is newer than that is asked for at run time.
  add_compile_definitions(_WIN32_WINNT=0x0A00)
  if(MINGW)
    # Programs and the DLL carry the compiler's runtime: there is none on the target. Large tests
    # have more sections than the plain object format counts.
    add_link_options(-static)
    add_compile_options(-Wa,-mbig-obj)
  endif()
endif()

find_program(ASHLAR_CCACHE ccache)
if(ASHLAR_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND PROJECT_IS_TOP_LEVEL)
  # The folders of the checkout and of the build are no part of an object: checkouts, and build/tool
  # and build/release, share theirs.
  set(cache_of_objects ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1
                       CCACHE_BASEDIR=${PROJECT_SOURCE_DIR})
  set(CMAKE_C_COMPILER_LAUNCHER ${cache_of_objects} ${ASHLAR_CCACHE})
  # Precompiled headers are rebuilt with other time stamps; without this every file that uses one
  # would miss the cache.
  set(sloppiness pch_defines,time_macros,include_file_mtime,include_file_ctime)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${cache_of_objects} CCACHE_SLOPPINESS=${sloppiness}
                                  ${ASHLAR_CCACHE})
endif()

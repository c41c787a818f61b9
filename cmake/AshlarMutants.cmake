# The build of ./dev mutants: sources that have seeded bugs (tests/mutants) are replaced by copies
# that have them all.

# ashlar_mutate_sources(<list>): <list> holds absolute paths, of the library or of a tool. Sets
# ashlar_mutated_include_directory, and the layers whose tests need it, if headers are mutated.
macro(ashlar_mutate_sources list)
  find_program(ASHLAR_PYTHON NAMES python3 REQUIRED)
  set(ashlar_mutated_folder ${PROJECT_BINARY_DIR}/mutated)
  set(ashlar_mutants ${PROJECT_SOURCE_DIR}/tests/mutants/mutants.py)
  execute_process(COMMAND ${ASHLAR_PYTHON} -B ${ashlar_mutants} generate ${ashlar_mutated_folder}
                  OUTPUT_VARIABLE ashlar_mutated COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB ashlar_catalogue CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/mutants/catalogue/*.toml)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
               ${ashlar_catalogue} ${ashlar_mutants})
  foreach(file IN LISTS ashlar_mutated)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
    if(file MATCHES "\\.h$")
      set(ashlar_mutated_include_directory ${ashlar_mutated_folder}/src)
      string(REGEX REPLACE "^src/([^/]*)/.*" "\\1" layer ${file})
      list(APPEND ashlar_mutated_header_layers ${layer})
    elseif(${PROJECT_SOURCE_DIR}/${file} IN_LIST ${list})
      list(REMOVE_ITEM ${list} ${PROJECT_SOURCE_DIR}/${file})
      list(APPEND ${list} ${ashlar_mutated_folder}/${file})
      # A mutant may leave a variable unused.
      set_source_files_properties(${ashlar_mutated_folder}/${file} PROPERTIES COMPILE_OPTIONS -w)
    endif()
  endforeach()
endmacro()

# Compiles violations of the lock order. Run by ctest:
# cmake -DSOURCE_DIR= -DBUILD_DIR= -DCLANG= -P run.cmake
cmake_minimum_required(VERSION 3.25)

set(work ${BUILD_DIR}/tests/lock_order)
file(REMOVE_RECURSE ${work})
set(flags -std=c++20 -fsyntax-only -Wthread-safety -Wthread-safety-beta -Werror
          -I${SOURCE_DIR}/src -I${SOURCE_DIR}/include)

# compile(<name> <body>): of a function that has a tree; sets result and errors.
macro(compile name body)
  file(WRITE ${work}/${name}.cc "#include \"pmem/batch_writer.h\"
#include \"pmem/leaf_writer.h\"
#include \"pmem/tree_state.h\"
namespace ashlar::pmem {
void Run(TreeState* state);
void Run(TreeState* state) {
${body}
}
}  // namespace ashlar::pmem
")
  execute_process(COMMAND ${CLANG} ${flags} ${work}/${name}.cc ERROR_VARIABLE errors
                  RESULT_VARIABLE result)
endmacro()

function(expect_accepted name body)
  compile(${name} "${body}")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${name} does not compile:\n${errors}")
  endif()
endfunction()

# refused_for: a part of the error, which names the lock. There is no error of another kind.
function(expect_refused name refused_for body)
  compile(${name} "${body}")
  string(REGEX MATCHALL "error: [^\n]*" found "${errors}")
  set(others ${found})
  list(FILTER others EXCLUDE REGEX "-Wthread-safety-analysis")
  if(result EQUAL 0 OR others OR NOT "${found}" MATCHES "${refused_for}")
    message(FATAL_ERROR "${name} is not refused for ${refused_for} (${result}):\n${errors}")
  endif()
endfunction()

set(operation "  PoolOperation operation(*state->medium)")
set(structure "  MutexLock structure(state->structure_mutex())")
set(leaf "  LeafLock leaf(state->index.Find(\"key\").ref)")
set(scarce "  MutexLock scarce(state->scarce_mutex())")

expect_accepted(in_order "${scarce};\n${operation};\n${structure};\n${leaf};")
expect_refused(operation_under_the_structure_mutex
               "'PoolOperation' while [a-z ]*'kStructureMutex' is held"
               "${structure};\n${operation};")
expect_refused(merge_in_an_operation "'MergeAround' while [a-z ]*'kPoolOperation' is held"
               "${operation};\n  LeafWriter(state).MergeAround(\"key\", 1);")
expect_refused(change_under_the_scarce_mutex "'DeleteRange' while [a-z ]*'kScarceMutex' is held"
               "${scarce};\n  static_cast<void>(BatchWriter(state).DeleteRange(KeyRange::All()));")
expect_refused(space_under_the_structure_mutex
               "'AllocateLeaf' while [a-z ]*'kStructureMutex' is held"
               "${structure};\n  static_cast<void>(state->heap.AllocateLeaf());")
expect_refused(structure_mutex_under_a_leaf_lock
               "'kStructureMutex' must be acquired before 'kLeafLock'"
               "${leaf};\n${structure};")
expect_refused(operation_under_the_heaps_mutex "'PoolOperation' while [a-z ]*'kHeapMutex' is held"
               "  kHeapMutex.AssertHeld();\n${operation};")
expect_refused(scarce_mutex_in_an_operation
               "'kScarceMutex' must be acquired before 'kPoolOperation'"
               "${operation};\n${scarce};")
file(REMOVE_RECURSE ${work})
message(STATUS "each violation is refused")

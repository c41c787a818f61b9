// Starts and stops callgrind's counting around the measured loop, for --count-instructions.
//
// BENCH_HAS_CALLGRIND is defined by the build if it found valgrind's headers. A driver that was
// built without them refuses --count-instructions.
#pragma once

#ifdef BENCH_HAS_CALLGRIND
#include <valgrind/callgrind.h>
#endif

namespace ashlar::bench {

// Returns an empty text if instructions can be counted, otherwise the reason why they cannot.
inline const char* WhyInstructionsAreNotCounted() {
#ifdef BENCH_HAS_CALLGRIND
  return RUNNING_ON_VALGRIND ? ""
                             : "--count-instructions needs callgrind: valgrind --tool=callgrind "
                               "--instr-atstart=no bench_driver ...";
#else
  return "this driver was built without valgrind's headers: install the package valgrind and "
         "configure the build again";
#endif
}

// Require: WhyInstructionsAreNotCounted() is empty.
inline void StartCountingInstructions() {
#ifdef BENCH_HAS_CALLGRIND
  CALLGRIND_START_INSTRUMENTATION;
#endif
}

inline void StopCountingInstructions() {
#ifdef BENCH_HAS_CALLGRIND
  CALLGRIND_STOP_INSTRUMENTATION;
#endif
}

}  // namespace ashlar::bench

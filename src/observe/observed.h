// Observed: the single test by which an operation chooses its counting form.
#pragma once

#include "observe/perf.h"
#include "observe/recorder.h"

namespace ashlar {

// True if statistics are on or the calling thread measures times.
inline bool Observed(const Recorder& recorder) { return recorder.IsOn() || PerfTimes(); }

}  // namespace ashlar

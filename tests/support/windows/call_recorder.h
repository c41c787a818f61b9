// CallRecorder: records the system calls of this program that decide the state after a power
// failure. For tests: Wine cannot show durability, but the order of these calls can be shown.
//
//   FlushFileBuffers 000012.dbtmp      FlushViewOfFile      MoveFileExW 000012.dbtmp CURRENT
//   WriteFile 000012.log               CreateFileW 000012.sst unbuffered      (opened for writing)
//
// It puts itself into the import table of the program, through which every call of the statically
// linked library goes; nothing in the library knows of it. Calls go on to the system.
//
// I1: one recorder at a time; calls made while there is none are not recorded.
//
// Thread safety: calls are recorded from any thread; construction, destruction and Calls on one.
#pragma once

#include <string>
#include <vector>

namespace ashlar {

class CallRecorder {
 public:
  CallRecorder();
  ~CallRecorder();
  CallRecorder(const CallRecorder&) = delete;
  CallRecorder& operator=(const CallRecorder&) = delete;

  // "WriteFile 000012.log", in the order in which the calls returned.
  std::vector<std::string> Calls() const;
  void Clear();
};

}  // namespace ashlar

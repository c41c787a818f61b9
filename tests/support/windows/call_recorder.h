// CallRecorder: records those system calls of this program that decide the state after a power
// failure. Wine cannot show durability, but tests can check the order of these calls.
//
//   FlushFileBuffers 000012.dbtmp      FlushViewOfFile      MoveFileExW 000012.dbtmp CURRENT
//   WriteFile 000012.log               CreateFileW 000012.sst unbuffered      (opened for writing)
//
// It changes the program's import table, through which every call of the statically linked library
// goes. The library does not depend on it. Recorded calls are passed on to the system.
//
// I1: one recorder exists at a time. Calls made without a recorder are not recorded.
//
// Thread safety: any thread may make calls. Construct, destroy and use the recorder on one thread.
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

  // Entries such as "WriteFile 000012.log", in the order in which the calls returned.
  std::vector<std::string> Calls() const;
  void Clear();
};

}  // namespace ashlar

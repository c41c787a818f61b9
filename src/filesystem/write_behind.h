// WriteBehind: writes one piece of a file on its own thread while the owner fills the next one. An
// unbuffered write waits for the device, and the owner can use that time to compute the next bytes.
//
//   owner    fill A | fill B        | wait | fill A ...
//   thread          | write A              | write B ...
//
// I1: at most one piece is being written.
// I2: after a failed write no other write starts, and every later call returns the error.
//
// The thread starts with the first piece. If the system refuses a thread, Begin writes the pieces
// itself.
//
// Thread safety: one owner at a time. Lifetime: the file outlives it.
#pragma once

#include <cstdint>
#include <optional>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "platform/file.h"
#include "platform/mutex.h"
#include "platform/thread.h"

namespace ashlar {

class WriteBehind {
 public:
  explicit WriteBehind(OsFile* file) : file_(*file) {}
  // Waits for the piece that is being written.
  ~WriteBehind();
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  // Waits for the previous piece, then begins to write this one. Requires: the bytes do not change
  // until the next call of Begin or Wait, or the destructor, has returned.
  Status Begin(uint64_t offset, const Slice& bytes);
  // On return, no piece is being written. Returns the first error.
  Status Wait();

 private:
  struct Piece {
    uint64_t offset;
    Slice bytes;
  };
  // Starts the thread on the first call. Returns true if it runs.
  bool HasThread();
  void Run();

  OsFile& file_;
  Thread thread_;
  enum class Start { kNotTried, kRefused, kRuns } start_ = Start::kNotTried;

  Mutex mutex_;
  CondVar changed_;
  std::optional<Piece> piece_ ASHLAR_GUARDED_BY(mutex_);  // being written
  Status status_ ASHLAR_GUARDED_BY(mutex_);               // the first error
  bool ends_ ASHLAR_GUARDED_BY(mutex_) = false;
};

}  // namespace ashlar

#include "filesystem/write_behind.h"

#include <utility>

#include "base/assert.h"
#include "base/out_of_memory.h"

namespace ashlar {

WriteBehind::~WriteBehind() {
  if (start_ != Start::kRuns) return;
  {
    MutexLock lock(mutex_);
    ends_ = true;
    changed_.SignalAll();
  }
  thread_.Join();
}

bool WriteBehind::HasThread() {
  if (start_ == Start::kNotTried) {
    Result<Thread> thread = Thread::Start({.name = "ashlar:write"}, [this] { Run(); });
    start_ = thread.ok() ? Start::kRuns : Start::kRefused;
    if (thread.ok()) thread_ = std::move(thread).value();
  }
  return start_ == Start::kRuns;
}

Status WriteBehind::Begin(uint64_t offset, const Slice& bytes) {
  const bool has_thread = HasThread();
  MutexLock lock(mutex_);
  while (piece_) changed_.Wait(mutex_);
  if (!status_.ok()) return status_;
  if (!has_thread) return status_ = file_.WriteAt(offset, bytes);
  piece_ = {offset, bytes};
  changed_.SignalAll();
  return Status::OK();
}

Status WriteBehind::Wait() {
  MutexLock lock(mutex_);
  while (piece_) changed_.Wait(mutex_);
  return status_;
}

void WriteBehind::Run() {
  MutexLock lock(mutex_);
  while (true) {
    while (!piece_ && !ends_) changed_.Wait(mutex_);
    if (!piece_) return;
    ASHLAR_DCHECK(status_.ok());  // I2
    const Piece piece = *piece_;
    lock.Unlock();
    // The text of an error needs memory, and nothing above this function would catch a bad_alloc.
    Status written = CatchBadAlloc([&] { return file_.WriteAt(piece.offset, piece.bytes); });
    lock.Lock();
    ASHLAR_DCHECK(piece_.has_value() && piece_->offset == piece.offset);  // I1
    status_ = std::move(written);
    piece_.reset();
    changed_.SignalAll();
  }
}

}  // namespace ashlar

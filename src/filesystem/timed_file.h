// TimedFile: measures the time that calls on a writable file take. It is a wrapper, so that files
// without it cost nothing.
//
// Thread safety: one thread, also for Sync and RangeSync. Lifetime: the times outlive the file.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "ashlar/vfs.h"
#include "platform/clock.h"

namespace ashlar {

// Times in nanoseconds. Reserving space counts as writing.
struct FileTimes {
  uint64_t write_nanos = 0;
  uint64_t range_sync_nanos = 0;
  uint64_t sync_nanos = 0;

  void Add(const FileTimes& other) {
    write_nanos += other.write_nanos;
    range_sync_nanos += other.range_sync_nanos;
    sync_nanos += other.sync_nanos;
  }
};

class TimedFile final : public vfs::WritableFile {
 public:
  TimedFile(std::unique_ptr<vfs::WritableFile> file, FileTimes* times)
      : file_(std::move(file)), times_(times) {}

  Status Append(const Slice& data) override {
    return Timed(&FileTimes::write_nanos, [&] { return file_->Append(data); });
  }
  bool AppendsAtOnce() const override { return file_->AppendsAtOnce(); }
  Status Flush() override {
    return Timed(&FileTimes::write_nanos, [&] { return file_->Flush(); });
  }
  Status Sync() override {
    return Timed(&FileTimes::sync_nanos, [&] { return file_->Sync(); });
  }
  Status Close() override { return file_->Close(); }
  uint64_t Size() const override { return file_->Size(); }
  Status RangeSync(uint64_t offset, uint64_t bytes) override {
    return Timed(&FileTimes::range_sync_nanos, [&] { return file_->RangeSync(offset, bytes); });
  }

 private:
  template <typename Function>
  Status Timed(uint64_t FileTimes::* time, const Function& function) {
    const uint64_t start = MonotonicNanos();
    Status status = function();
    times_->*time += MonotonicNanos() - start;
    return status;
  }

  const std::unique_ptr<vfs::WritableFile> file_;
  FileTimes* const times_;
};

}  // namespace ashlar

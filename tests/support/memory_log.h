// MemoryLog: a redo log in memory with the interface from which a replay reads. Reads that include
// the byte at `bad_byte` fail.
//
// Thread safety: const access. Lifetime: the bytes must outlive it.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/assert.h"
#include "pmem/redo_log.h"

namespace ashlar::pmem {

class MemoryLog final : public LogSource {
 public:
  static constexpr uint64_t kNoBadByte = ~uint64_t{0};

  explicit MemoryLog(const Slice& log) : MemoryLog(log, kNoBadByte) {}
  MemoryLog(const Slice& log, uint64_t bad_byte) : log_(log), bad_byte_(bad_byte) {}

  uint64_t bytes() const override { return log_.size(); }
  Status ReadAt(uint64_t offset, size_t n, char* to) const override {
    ASHLAR_ASSERT(offset + n <= log_.size());
    if (bad_byte_ >= offset && bad_byte_ - offset < n)
      return Status::IOError("(log in memory)", "a read of the test failed");
    if (n > 0) memcpy(to, log_.data() + offset, n);
    return Status::OK();
  }

 private:
  const Slice log_;
  const uint64_t bad_byte_;
};

inline LogScan ScanMemoryLog(const Slice& log, const LogHeader& header, bool power_was_lost) {
  const MemoryLog source(log);
  LogWindow window(&source);
  return ScanLog(&window, header, power_was_lost).value();
}

}  // namespace ashlar::pmem

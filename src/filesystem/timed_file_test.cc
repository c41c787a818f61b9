#include "filesystem/timed_file.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

// A file whose calls take some time each. Sync fails.
class SlowFile final : public vfs::WritableFile {
 public:
  Status Append(const Slice& data) override {
    size_ += data.size();
    return Take();
  }
  Status Flush() override { return Take(); }
  Status Sync() override {
    static_cast<void>(Take().ok());
    return Status::IOError("sync");
  }
  Status Close() override { return Take(); }
  uint64_t Size() const override { return size_; }
  Status RangeSync(uint64_t /*offset*/, uint64_t /*bytes*/) override { return Take(); }

 private:
  static Status Take() {
    const uint64_t start = MonotonicNanos();
    while (MonotonicNanos() == start) {
    }
    return Status::OK();
  }

  uint64_t size_ = 0;
};

TEST(TimedFile, EachCallAddsToTheTimeOfItsKind) {
  FileTimes times;
  TimedFile file(std::make_unique<SlowFile>(), &times);
  ASSERT_TRUE(file.Append("abc").ok());
  EXPECT_GT(times.write_nanos, 0u);
  EXPECT_EQ(times.range_sync_nanos, 0u);
  EXPECT_EQ(file.Size(), 3u);
  const uint64_t appended = times.write_nanos;
  ASSERT_TRUE(file.Flush().ok());
  EXPECT_GT(times.write_nanos, appended);
  ASSERT_TRUE(file.RangeSync(0, 3).ok());
  EXPECT_GT(times.range_sync_nanos, 0u);
  EXPECT_EQ(times.sync_nanos, 0u);
  EXPECT_TRUE(file.Sync().IsIOError());
  EXPECT_GT(times.sync_nanos, 0u);
  const FileTimes before = times;
  ASSERT_TRUE(file.Close().ok());
  EXPECT_EQ(times.write_nanos, before.write_nanos);
  times.Add(before);
  EXPECT_EQ(times.write_nanos, 2 * before.write_nanos);
  EXPECT_EQ(times.range_sync_nanos, 2 * before.range_sync_nanos);
  EXPECT_EQ(times.sync_nanos, 2 * before.sync_nanos);
}

}  // namespace
}  // namespace ashlar

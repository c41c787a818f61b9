// The persistent tree in a program that has locked its memory (mlockall).
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "ashlar/persistent_tree.h"
#include "tests/support/expect_ok.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

// Locks all memory of the process for the lifetime of this object.
class LockedMemory {
 public:
  LockedMemory() : error_(mlockall(MCL_CURRENT) == 0 ? 0 : errno) {}
  ~LockedMemory() {
    if (error_ == 0) {
      EXPECT_EQ(munlockall(), 0);
    }
  }
  LockedMemory(const LockedMemory&) = delete;
  LockedMemory& operator=(const LockedMemory&) = delete;

  // Why the memory is not locked, or empty if it is.
  std::string Refusal() const {
    if (error_ == 0) return "";
    rlimit limit{};
    EXPECT_EQ(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
    return std::string("mlockall: ") + strerror(error_) + "; the limit on locked memory is " +
           std::to_string(limit.rlim_cur) + " bytes";
  }

 private:
  const int error_;
};

// The system does not discard locked pages. A checkpoint must not make the tree read-only then.
TEST(LockedMemoryTest, CheckpointsGoOn) {
  const ScratchDirectory scratch;
  PersistentTreeOptions options;
  options.create_if_missing = true;
  options.pool_bytes = uint64_t{2} << 20;
  options.durability = DurabilityClass::kLogged;
  options.sync_log = false;
  options.log_bytes_max = 100'000;  // for a checkpoint now and then
  std::unique_ptr<PersistentTree> tree;
  ASSERT_OK(PersistentTree::Open(options, scratch.File("pool"), &tree));
  constexpr size_t kEntries = 1000;
  const auto put_all = [&](char fill) {
    for (size_t i = 0; i < kEntries; ++i)
      ASSERT_OK(tree->Put("key" + std::to_string(i), std::string(100 + i % 50, fill)));
  };
  const auto expect_all = [&](char fill) {
    std::string value;
    for (size_t i = 0; i < kEntries; ++i) {
      ASSERT_OK(tree->Get(ReadOptions(), "key" + std::to_string(i), &value));
      ASSERT_EQ(value, std::string(100 + i % 50, fill)) << i;
    }
    ASSERT_OK(tree->Verify());
  };
  ASSERT_NO_FATAL_FAILURE(put_all('a'));
  {
    const LockedMemory locked;
    const std::string refusal = locked.Refusal();
    if (!refusal.empty()) GTEST_SKIP() << refusal;
    for (const char fill : {'b', 'c'}) ASSERT_NO_FATAL_FAILURE(put_all(fill));
    ASSERT_NO_FATAL_FAILURE(expect_all('c'));
  }
  // Pages that stayed private while they were locked are modified and discarded again.
  ASSERT_NO_FATAL_FAILURE(put_all('d'));
  ASSERT_NO_FATAL_FAILURE(expect_all('d'));
  ASSERT_OK(tree->Close());
  ASSERT_OK(PersistentTree::Open(options, scratch.File("pool"), &tree));
  ASSERT_NO_FATAL_FAILURE(expect_all('d'));
}

}  // namespace
}  // namespace ashlar

// Allocation failure in every call of a persistent tree of class logged on files. Its pool is
// created, its log is written, checkpoints replace the log with a new or a spare one, and it is
// closed. A call that fails leaves no open file and no half pool, a later call never hangs, and the
// next open finds the acknowledged changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>

#include "ashlar/persistent_tree.h"
#include "base/format.h"
#include "tests/out_of_memory/failing_new.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

constexpr int kPuts = 40;

std::string KeyOf(int i) { return StrCat("key", i % 10); }
std::string ValueOf(int i) { return StrCat(i, ":", std::string(600, 'v')); }

size_t CountEntries(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator begin(folder);
  return static_cast<size_t>(std::distance(begin, std::filesystem::directory_iterator()));
}

class TreeFilesAllocationFailure : public ::testing::TestWithParam<FailingNew::Kind> {
 protected:
  // Uses files in memory if possible, where a sync takes no time.
  TreeFilesAllocationFailure() {
    const std::filesystem::path shared_memory = "/dev/shm";
    std::string folder =
        ((std::filesystem::is_directory(shared_memory) ? shared_memory
                                                       : std::filesystem::temp_directory_path()) /
         "ashlar-tree-files-XXXXXX")
            .string();
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    options_.create_if_missing = true;
    options_.pool_bytes = uint64_t{1} << 20;
    options_.durability = DurabilityClass::kLogged;
    options_.log_bytes_max = 8'000;
    options_.recovery_threads = 1;
  }
  ~TreeFilesAllocationFailure() override { std::filesystem::remove_all(folder_); }

  std::string PoolPath() const { return (folder_ / "pool").string(); }

  static void CheckError(const Status& status) {
    if (status.ok()) return;
    EXPECT_TRUE(FailingNew::HasFailed()) << status.ToString();
    EXPECT_TRUE(status.IsMemoryLimit()) << status.ToString();
  }

  // Returns how many of the puts were acknowledged.
  int Run() {
    const std::string path = PoolPath();
    std::unique_ptr<PersistentTree> tree;
    const Status opened = Call("Open", [&] { return PersistentTree::Open(options_, path, &tree); });
    CheckError(opened);
    if (!opened.ok()) return 0;
    int acknowledged = 0;
    for (bool ok = true; ok && acknowledged < kPuts; acknowledged += ok ? 1 : 0) {
      const std::string key = KeyOf(acknowledged);
      const std::string value = ValueOf(acknowledged);
      const Status put = Call("Put", [&] { return tree->Put(key, value); });
      CheckError(put);
      ok = put.ok();
    }
    CheckError(Call("Close", [&] { return tree->Close(); }));
    return acknowledged;
  }

  // Expects no bytes in the file in which a creator reserves space.
  void CheckNoHalfPool() const {
    const std::string half = PoolPath() + ".creating";
    if (std::filesystem::exists(half)) {
      EXPECT_EQ(std::filesystem::file_size(half), 0U);
    }
  }

  // Each key has its last acknowledged value, or the value of the put that failed.
  void CheckAcknowledged(int acknowledged) {
    std::unique_ptr<PersistentTree> tree;
    ASSERT_OK(PersistentTree::Open(options_, PoolPath(), &tree));
    for (int i = std::max(0, acknowledged - 10); i < acknowledged; ++i) {
      std::string value;
      ASSERT_OK(tree->Get(ReadOptions(), KeyOf(i), &value));
      const bool may_be_newer = i + 10 == acknowledged;
      EXPECT_TRUE(value == ValueOf(i) || (may_be_newer && value == ValueOf(acknowledged))) << i;
    }
    ASSERT_OK(tree->Verify());
    ASSERT_OK(tree->Close());
    tree.reset();
    EXPECT_EQ(CountEntries(folder_), 1U) << "more files than the pool";
  }

  std::filesystem::path folder_;
  PersistentTreeOptions options_;
};

TEST_P(TreeFilesAllocationFailure, OfEachCallLosesNothingAndLeavesNothing) {
  const std::filesystem::path descriptors = "/proc/self/fd";
  const bool counts_descriptors = std::filesystem::is_directory(descriptors);
  uint64_t number = 1;
  for (bool failed = true; failed && !HasFailure(); ++number) {
    SCOPED_TRACE(StrCat("allocation ", number));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    const size_t open_before = counts_descriptors ? CountEntries(descriptors) : 0;
    FailingNew::Arm(number, GetParam());
    const int acknowledged = Run();
    failed = FailingNew::HasFailed();
    FailingNew::Arm(0, GetParam());
    if (counts_descriptors) {
      EXPECT_EQ(CountEntries(descriptors), open_before);
    }
    CheckNoHalfPool();
    CheckAcknowledged(acknowledged);
  }
  EXPECT_GT(number, 200U);
}

INSTANTIATE_TEST_SUITE_P(All, TreeFilesAllocationFailure,
                         ::testing::Values(FailingNew::Kind::kOnce, FailingNew::Kind::kUntilEnds),
                         [](const ::testing::TestParamInfo<FailingNew::Kind>& param) {
                           return param.param == FailingNew::Kind::kOnce ? "Once"
                                                                         : "UntilTheCallEnds";
                         });

}  // namespace
}  // namespace ashlar

// A process forks a child while it has a tree open. The child ends and calls the destructors of
// static objects, as exit does. The parent continues with the tree and dies.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "ashlar/persistent_tree.h"
#include "base/format.h"
#include "tests/support/expect_ok.h"
#include "tests/support/verify_tree.h"

namespace ashlar {
namespace {

// Returns the exit code of a child that runs `work`.
int InChild(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int state = 0;
  EXPECT_EQ(waitpid(child, &state, 0), child);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

class ForkedChildTest : public ::testing::TestWithParam<DurabilityClass> {
 protected:
  // In memory, where syncs take no time.
  ForkedChildTest() { EXPECT_NE(mkdtemp(folder_), nullptr); }
  ~ForkedChildTest() override { std::filesystem::remove_all(folder_); }

  Status Open(std::unique_ptr<PersistentTree>* tree) const {
    PersistentTreeOptions options;
    options.create_if_missing = true;
    options.pool_bytes = uint64_t{1} << 20;
    options.durability = GetParam();
    return PersistentTree::Open(options, StrCat(folder_, "/pool"), tree);
  }

  char folder_[32] = "/dev/shm/ashlar-forked-XXXXXX";
};

// The child's Close must not write the pool as of the fork and remove the log. Otherwise all later
// changes of the parent would be acknowledged and lost.
TEST_P(ForkedChildTest, LeavesTheTreeToItsParent) {
  EXPECT_EQ(InChild([&] {
              std::unique_ptr<PersistentTree> tree;
              if (!Open(&tree).ok() || !tree->Put("before", "1").ok()) return 1;
              if (!tree->Verify().ok()) return 2;  // after this, no thread searches for free space
              const int child = InChild([&] {
                const bool is_refused = tree->Close().IsAborted();
                tree.reset();
                return is_refused ? 0 : 1;
              });
              if (child != 0) return 3;
              return tree->Put("after", "2").ok() ? 0 : 4;  // and dies
            }),
            0);
  std::unique_ptr<PersistentTree> tree;
  ASSERT_OK(Open(&tree));
  for (const char* const key : {"before", "after"}) EXPECT_TRUE(tree->Exists(key)) << key;
  ASSERT_OK(VerifyAndCheck(tree.get()));
  ASSERT_OK(tree->Close());
}

INSTANTIATE_TEST_SUITE_P(Classes, ForkedChildTest,
                         ::testing::Values(DurabilityClass::kCpuFlush,
                                           DurabilityClass::kProcessCrashOnly,
                                           DurabilityClass::kLogged),
                         [](const auto& durability) -> std::string {
                           switch (durability.param) {
                             case DurabilityClass::kCpuFlush: return "CpuFlush";
                             case DurabilityClass::kProcessCrashOnly: return "ProcessCrashOnly";
                             case DurabilityClass::kLogged: return "Logged";
                           }
                           return "Unknown";
                         });

}  // namespace
}  // namespace ashlar

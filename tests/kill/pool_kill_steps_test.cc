// A process that creates a pool, writes to it and closes it is killed before each of its system
// calls in turn. It thus dies at each step of creation, checkpoint, log switch and close. Each time
// the next open finds the acknowledged changes.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "ashlar/persistent_tree.h"
#include "base/format.h"
#include "tests/support/expect_ok.h"
#include "tests/support/verify_tree.h"

namespace ashlar {
namespace {

constexpr uint64_t kKeys = 60;

std::string KeyOf(uint64_t i) { return StrCat("key", i % (kKeys / 3)); }
std::string ValueOf(uint64_t i) { return StrCat(i, ":", std::string(600, 'v')); }

// Memory that a process shares with its children.
class SharedCount {
 public:
  SharedCount()
      : memory_(mmap(nullptr, sizeof(std::atomic<uint64_t>), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    EXPECT_NE(memory_, MAP_FAILED);
  }
  ~SharedCount() { munmap(memory_, sizeof(std::atomic<uint64_t>)); }
  SharedCount(const SharedCount&) = delete;
  SharedCount& operator=(const SharedCount&) = delete;
  std::atomic<uint64_t>& operator*() const { return *static_cast<std::atomic<uint64_t>*>(memory_); }

 private:
  void* const memory_;
};

// Runs `work` in a child whose main thread is killed before its n-th system call. Returns false if
// the child ended before that.
bool KillBeforeCall(uint64_t n, const std::function<bool()>& work) {
  const pid_t child = fork();
  EXPECT_GE(child, 0);
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(2);
    raise(SIGSTOP);
    _exit(work() ? 0 : 1);
  }
  int state = 0;
  uint64_t stops = 0;  // at the begin and the end of each call
  bool killed = false;
  while (waitpid(child, &state, 0) == child && WIFSTOPPED(state)) {
    if (++stops == 2 * n) {
      killed = kill(child, SIGKILL) == 0;
    } else {
      EXPECT_EQ(ptrace(PTRACE_SYSCALL, child, nullptr, nullptr), 0);
    }
  }
  if (killed) return true;
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0) << "the child failed: " << state;
  return false;
}

class PoolKillStepsTest : public ::testing::Test {
 protected:
  // In memory, where syncs take no time.
  PoolKillStepsTest() { EXPECT_NE(mkdtemp(folder_), nullptr); }
  ~PoolKillStepsTest() override { std::filesystem::remove_all(folder_); }

  Status Open(std::unique_ptr<PersistentTree>* tree) const {
    PersistentTreeOptions options;
    options.create_if_missing = true;
    options.pool_bytes = uint64_t{1} << 20;
    options.durability = durability_;
    options.log_bytes_max = 8'000;
    options.recovery_threads = 1;
    return PersistentTree::Open(options, StrCat(folder_, "/pool"), tree);
  }
  bool Work() const {
    std::unique_ptr<PersistentTree> tree;
    if (!Open(&tree).ok()) return false;
    for (uint64_t i = 0; i < kKeys; ++i) {
      if (!tree->Put(KeyOf(i), ValueOf(i)).ok()) return false;
      (*acknowledged_).store(i + 1);
    }
    return tree->Close().ok();
  }

  // Expects each key to have the last acknowledged value, or that of the change in progress.
  void ExpectAcknowledged() const {
    std::unique_ptr<PersistentTree> tree;
    ASSERT_OK(Open(&tree));
    const uint64_t acknowledged = *acknowledged_;
    std::map<std::string, std::string> before;
    for (uint64_t i = 0; i < acknowledged; ++i) before[KeyOf(i)] = ValueOf(i);
    std::map<std::string, std::string> after = before;
    if (acknowledged < kKeys) after[KeyOf(acknowledged)] = ValueOf(acknowledged);
    std::map<std::string, std::string> found;
    std::unique_ptr<Iterator> it = tree->NewIterator(ReadOptions());
    for (it->SeekToFirst(); it->Valid(); it->Next())
      found[it->key().ToString()] = it->value().ToString();
    ASSERT_OK(it->status());
    it.reset();
    ASSERT_TRUE(found == before || found == after) << acknowledged << " changes acknowledged";
    ASSERT_OK(VerifyAndCheck(tree.get()));
    ASSERT_OK(tree->Close());
    for (const auto& file : std::filesystem::directory_iterator(folder_)) {
      const std::string name = file.path().filename();
      // A creator that died after it had named its pool leaves the temporary name too.
      EXPECT_TRUE(name == "pool" || name == "pool.creating") << name;
    }
  }

  void KillAtEachCall(DurabilityClass durability) {
    durability_ = durability;
    uint64_t calls = 0;
    for (bool killed = true; killed;) {
      std::filesystem::remove_all(folder_);
      std::filesystem::create_directory(folder_);
      (*acknowledged_).store(0);
      killed = KillBeforeCall(++calls, [this] { return Work(); });
      ASSERT_NO_FATAL_FAILURE(ExpectAcknowledged()) << "killed before call " << calls;
      ASSERT_FALSE(HasFailure()) << "killed before call " << calls;
    }
    std::printf("%s: killed before each of %llu system calls\n", DurabilityClassName(durability),
                static_cast<unsigned long long>(calls - 1));
    EXPECT_GT(calls, 30U);
  }

  char folder_[32] = "/dev/shm/ashlar-steps-XXXXXX";
  DurabilityClass durability_ = DurabilityClass::kProcessCrashOnly;
  SharedCount acknowledged_;
};

TEST_F(PoolKillStepsTest, OfAPoolInMemory) { KillAtEachCall(DurabilityClass::kProcessCrashOnly); }
TEST_F(PoolKillStepsTest, OfALoggedPool) { KillAtEachCall(DurabilityClass::kLogged); }

}  // namespace
}  // namespace ashlar

// A child that a process forks while it has a database open. The child ends and calls the
// destructors of static objects, as exit does. Its parent has written more by then, goes on, and
// dies.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "tests/support/expect_ok.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

int ExitCodeOf(pid_t child) {
  int state = 0;
  EXPECT_EQ(waitpid(child, &state, 0), child);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

// In the child, once its parent has written to the pipe.
[[noreturn]] void EndChild(int pipe_end, std::unique_ptr<DB>* db) {
  char byte = 0;
  if (read(pipe_end, &byte, 1) != 1) _exit(1);
  const bool is_refused = (*db)->Close().IsAborted();
  db->reset();
  _exit(is_refused ? 0 : 2);
}

constexpr const char* kKeys[] = {"before the fork", "in the child's log", "before the child ends",
                                 "after the child", "at the end"};

class ForkedDatabaseTest : public ::testing::TestWithParam<bool> {
 protected:
  // The parent, in a process of its own. 0: all its calls succeeded.
  int Run() const {
    Options options;
    options.create_if_missing = true;
    std::unique_ptr<DB> db;
    if (!DB::Open(options, path(), &db).ok()) return 1;
    const auto put = [&](int key) { return db->Put(WriteOptions(), kKeys[key], "value").ok(); };
    const auto flush = [&] { return !GetParam() || db->Flush(FlushOptions()).ok(); };
    if (!put(0)) return 2;
    int ends[2];
    if (pipe(ends) != 0) return 3;
    const pid_t child = fork();
    if (child == 0) EndChild(ends[0], &db);
    if (!put(1) || !flush() || !put(2)) return 4;
    if (write(ends[1], "x", 1) != 1 || ExitCodeOf(child) != 0) return 5;
    if (!put(3) || !flush() || !put(4)) return 6;
    static_cast<void>(db.release());  // NOLINT(bugprone-unused-return-value): it dies
    return 0;
  }
  std::string path() const { return scratch_.File("db"); }

  ScratchDirectory scratch_;
};

// The child's close cut the log to its own length, and wrote its own edit over the MANIFEST.
TEST_P(ForkedDatabaseTest, LeavesTheFilesToItsParent) {
  const pid_t parent = fork();
  if (parent == 0) _exit(Run());
  ASSERT_EQ(ExitCodeOf(parent), 0);
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(Options(), path(), &db));
  for (const char* const key : kKeys) {
    std::string value;
    EXPECT_OK(db->Get(ReadOptions(), key, &value)) << key;
  }
}

INSTANTIATE_TEST_SUITE_P(Flushes, ForkedDatabaseTest, ::testing::Bool(),
                         [](const auto& flushes) -> std::string {
                           return flushes.param ? "Flushes" : "OneLog";
                         });

}  // namespace
}  // namespace ashlar

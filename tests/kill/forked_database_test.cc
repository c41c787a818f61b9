// A process forks a child while it has a database open. The child ends and calls the destructors of
// static objects, as exit does. By then its parent has written more. The parent continues, and
// dies. It is this program, started again, because a process forked by a test would lack the
// threads on which its Env relies.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "base/format.h"
#include "tests/support/expect_ok.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

constexpr const char* kDirectoryVariable = "ASHLAR_FORKED_DATABASE";
constexpr const char* kFlushesVariable = "ASHLAR_FORKED_DATABASE_FLUSHES";
constexpr const char* kKeys[] = {"before the fork", "in the child's log", "before the child ends",
                                 "after the child", "at the end"};

int ExitCodeOf(pid_t child) {
  int state = 0;
  EXPECT_EQ(waitpid(child, &state, 0), child);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

// Runs in the child once its parent has written to the pipe.
[[noreturn]] void EndChild(int pipe_end, std::unique_ptr<DB>* db) {
  char byte = 0;
  if (read(pipe_end, &byte, 1) != 1) _exit(1);
  const bool is_refused = (*db)->Close().IsAborted();
  db->reset();
  _exit(is_refused ? 0 : 2);
}

// Returns 0 if all calls succeeded.
int RunParent(const std::string& path, bool flushes) {
  Options options;
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  if (!DB::Open(options, path, &db).ok()) return 1;
  const auto put = [&](int key) { return db->Put(WriteOptions(), kKeys[key], "value").ok(); };
  const auto flush = [&] { return !flushes || db->Flush(FlushOptions()).ok(); };
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

// Not a test: the code of the parent.
TEST(ForkedDatabaseParent, DISABLED_Run) {
  const char* const path = std::getenv(kDirectoryVariable);
  if (path == nullptr) GTEST_SKIP() << "started by the test below";
  _exit(RunParent(path, std::getenv(kFlushesVariable) != nullptr));
}

class ForkedDatabaseTest : public ::testing::TestWithParam<bool> {};

// The child's close must not truncate the log to its own length or append to the MANIFEST.
TEST_P(ForkedDatabaseTest, LeavesTheFilesToItsParent) {
  const ScratchDirectory scratch;
  const std::string path = scratch.File("db");
  std::string environment =
      StrCat("env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX -u GTEST_OUTPUT ", kDirectoryVariable,
             "='", path, "' ");
  if (GetParam()) environment += StrCat(kFlushesVariable, "=1 ");
  const ToolRun parent = RunTool(
      StrCat(environment, OwnCommand(),
             " --gtest_filter=ForkedDatabaseParent.DISABLED_Run --gtest_also_run_disabled_tests"));
  ASSERT_EQ(parent.exit_code, 0) << parent.output;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(Options(), path, &db));
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

// Databases with a separate wal_dir, and copies of them. A command that writes changes only logs
// that are in --db or that --wal-dir names.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "ashlar/db.h"
#include "tests/cli/tool.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

namespace fs = std::filesystem;

class LogDirectoryTest : public ToolTest {
 protected:
  // Makes a closed database at `path`, with "a" in a table and "b" in a log in `logs`.
  static void Make(const std::string& path, const std::string& logs) {
    Options options;
    options.create_if_missing = true;
    options.wal_dir = logs;
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(options, path, &db));
    ASSERT_OK(db->Put(WriteOptions(), "a", "1"));
    ASSERT_OK(db->Flush(FlushOptions()));
    ASSERT_OK(db->Put(WriteOptions(), "b", "2"));
    ASSERT_OK(db->Close());
  }
  // Makes an original with its logs elsewhere, and a copy of both.
  void MakeWithCopy() {
    Make(Original(), Logs());
    fs::copy(Original(), database());
    fs::copy(Logs(), CopiedLogs());
  }
  void ExpectRefused(const std::vector<std::string>& command) {
    const ToolResult result = Run(command, "c\t3\n");
    EXPECT_EQ(result.exit_code, 2) << command[0];
    EXPECT_EQ(result.err.find("ashlar: the OPTIONS file of " + database() +
                              " places the logs outside of it, in " + Logs() + "\n"),
              0u)
        << result.err;
    EXPECT_NE(result.err.find("--wal-dir DIR says where the logs of this database are"),
              std::string::npos)
        << result.err;
  }
  std::string Scan(const std::string& path) { return RunBare({"--db", path, "scan"}).out; }

  std::string Original() const { return File("original"); }
  std::string Logs() const { return File("logs"); }
  std::string CopiedLogs() const { return database() + "/wal"; }
};

TEST_F(LogDirectoryTest, ARepairOfACopyLeavesTheLogsOfTheOriginal) {
  MakeWithCopy();
  fs::remove(database() + "/CURRENT");
  const std::string original = DirectoryFingerprint(Original());
  const std::string logs = DirectoryFingerprint(Logs());
  const std::string copy = DirectoryFingerprint(database());
  ExpectRefused({"repair", "--force"});
  EXPECT_EQ(DirectoryFingerprint(database()), copy);
  const ToolResult dry = Run({"repair", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_NE(dry.err.find("places the logs outside of it"), std::string::npos) << dry.err;
  ExpectExit(0, {"repair", "--force", "--wal-dir", CopiedLogs()});
  EXPECT_EQ(DirectoryFingerprint(Logs()), logs);
  EXPECT_EQ(DirectoryFingerprint(Original()), original);
  EXPECT_EQ(Scan(database()), "a  1\nb  2\n");
  EXPECT_EQ(Scan(Original()), "a  1\nb  2\n");
  // The copy now has logs of its own, and has recorded that.
  ExpectExit(0, {"put", "c", "3"});
  EXPECT_EQ(DirectoryFingerprint(Logs()), logs);
}

// The older file or the option names the logs. A repair with the defaults would lose their writes.
TEST_F(LogDirectoryTest, ARepairWithADamagedOptionsFileFindsTheLogs) {
  const std::string logs = database() + "/wal";
  Make(database(), logs);
  {
    Options options;
    options.wal_dir = logs;
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(options, database(), &db));
    ASSERT_OK(db->SetOptions({{"write_buffer_size", "1000000"}}));
    ASSERT_OK(db->Put(WriteOptions(), "c", "3"));
    ASSERT_OK(db->Close());
  }
  std::vector<std::string> options;
  for (const fs::directory_entry& entry : fs::directory_iterator(database())) {
    if (entry.path().filename().string().starts_with("OPTIONS-"))
      options.push_back(entry.path().string());
  }
  std::sort(options.begin(), options.end());
  ASSERT_GE(options.size(), 2u);
  std::ofstream(options.back(), std::ios::binary) << "garbage\n";
  fs::remove(database() + "/CURRENT");
  const std::string before = DirectoryFingerprint(database());
  const ToolResult refused = Run({"repair", "--force"});
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_NE(refused.err.find("--ignore-damaged-options"), std::string::npos) << refused.err;
  EXPECT_EQ(DirectoryFingerprint(database()), before);
  ExpectExit(0, {"--ignore-damaged-options", "repair", "--force"});
  EXPECT_EQ(Scan(database()), "a  1\nb  2\nc  3\n");
}

// Those logs have higher numbers than the copy, whose own logs the repair has moved to tables.
TEST_F(LogDirectoryTest, ARepairedCopyNeedsNoLaterLogsOfTheOriginal) {
  MakeWithCopy();
  fs::remove(database() + "/CURRENT");
  for (int i = 0; i < 10; ++i) {
    const ToolResult put = RunBare({"--db", Original(), "--wal-dir", Logs(), "put", "c", "3"});
    EXPECT_EQ(put.exit_code, 0) << put.err;
  }
  const std::string logs = DirectoryFingerprint(Logs());
  ExpectExit(0, {"repair", "--force", "--wal-dir", CopiedLogs()});
  ExpectExit(0, {"put", "d", "4"});
  EXPECT_EQ(Scan(database()), "a  1\nb  2\nd  4\n");
  EXPECT_EQ(DirectoryFingerprint(Logs()), logs);
}

TEST_F(LogDirectoryTest, EachCommandThatWritesToACopyIsToldWhereTheLogsAre) {
  MakeWithCopy();
  const std::string logs = DirectoryFingerprint(Logs());
  const std::string copy = DirectoryFingerprint(database());
  const std::vector<std::vector<std::string>> commands = {{"put", "c", "3"},
                                                          {"delete", "c"},
                                                          {"load", "-", "--input-format", "tsv"},
                                                          {"compact"},
                                                          {"checkpoint", File("checkpoint")},
                                                          {"backup", "create", File("backups")},
                                                          {"repair", "--force"}};
  for (const std::vector<std::string>& command : commands) ExpectRefused(command);
  EXPECT_EQ(DirectoryFingerprint(database()), copy);
  EXPECT_EQ(DirectoryFingerprint(Logs()), logs);
  // Reads change nothing.
  EXPECT_EQ(Output({"scan"}), "a  1\nb  2\n");
  ExpectExit(0, {"verify"});
  for (std::vector<std::string> command : commands) {
    command.insert(command.end(), {"--wal_dir", CopiedLogs()});
    const ToolResult result = Run(command, "c\t3\n");
    EXPECT_EQ(result.exit_code, 0) << command[0] << " " << result.err;
  }
  EXPECT_EQ(DirectoryFingerprint(Logs()), logs);
}

// Later logs that are kept would be replayed over the backup.
TEST_F(LogDirectoryTest, ARestoreReplacesTheLogsToo) {
  Make(database(), Logs());
  ExpectExit(0, {"backup", "create", File("backups"), "--wal-dir", Logs()});
  Options options;
  options.wal_dir = Logs();
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, database(), &db));
  ASSERT_OK(db->Put(WriteOptions(), "b", "undone"));
  db.reset();
  ExpectRefused({"backup", "restore", File("backups"), "--force"});
  ExpectExit(0, {"backup", "restore", File("backups"), "--force", "--wal-dir", Logs()});
  ASSERT_OK(DB::Open(options, database(), &db));
  std::string value;
  EXPECT_OK(db->Get(ReadOptions(), "b", &value));
  EXPECT_EQ(value, "2");
}

// A restore may be the way to repair a damaged database.
TEST_F(LogDirectoryTest, ARestoreReadsAnOlderOptionsFileIfTheNewestIsDamaged) {
  Make(database(), Logs());
  ExpectExit(0, {"backup", "create", File("backups"), "--wal-dir", Logs()});
  std::string newest;
  for (const auto& entry : fs::directory_iterator(database())) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("OPTIONS-")) newest = std::max(newest, name);
  }
  (void)MakeFile("db/" + newest, "damaged");
  const std::vector<std::string> restore = {"backup", "restore", File("backups"), "--force"};
  const ToolResult refused = Run(restore);
  EXPECT_EQ(refused.exit_code, 2) << refused.err;
  EXPECT_NE(refused.err.find("cannot read the options"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("places the logs outside of it, in " + Logs()), std::string::npos)
      << refused.err;
}

TEST_F(LogDirectoryTest, TheOriginalIsWrittenOnceItsLogsAreNamed) {
  Make(database(), Logs());
  ExpectRefused({"put", "c", "3"});
  for (int i = 0; i < 2; ++i) ExpectExit(0, {"put", "c", "3", "--wal-dir", Logs()});
  EXPECT_EQ(Output({"scan"}), "a  1\nb  2\nc  3\n");
  ExpectRefused({"put", "d", "4"});  // the logs are still outside
  ExpectExit(4, {"put", "d", "4", "--wal-dir", File("mistyped")});
  EXPECT_FALSE(fs::exists(File("mistyped")));
}

TEST_F(LogDirectoryTest, LogsWithinTheDatabaseNeedNoOption) {
  Make(database(), database() + "/wal/");
  (void)Output({"put", "c", "3"});
  EXPECT_EQ(Output({"scan"}), "a  1\nb  2\nc  3\n");
  // The same database by another path. Not every system allows links.
  std::error_code refused;
  fs::create_directory_symlink(database(), File("link"), refused);
  if (!refused) {
    EXPECT_EQ(RunBare({"--db", File("link"), "put", "d", "4"}).err, "");
  }
  // The path begins in the database and leads out of it.
  Make(File("next"), File("next/../logs"));
  EXPECT_EQ(RunBare({"--db", File("next"), "put", "c", "3"}).exit_code, 2);
}

TEST_F(LogDirectoryTest, ANewAndARestoredDatabaseHaveTheirLogsWhereTheOptionSays) {
  (void)Output({"--wal-dir", Logs(), "put", "--create", "a", "1"});
  EXPECT_TRUE(fs::exists(Logs()));
  ExpectExit(0, {"--wal-dir", Logs(), "backup", "create", File("backups")});
  const std::string restored = File("restored");
  const std::string restored_logs = File("restored_logs");
  EXPECT_EQ(
      RunBare({"--db", restored, "--wal-dir", restored_logs, "backup", "restore", File("backups")})
          .exit_code,
      0);
  EXPECT_TRUE(fs::exists(restored_logs));
  EXPECT_EQ(Scan(restored), "a  1\n");
}

// The logs may belong to a closed database in another directory.
TEST_F(LogDirectoryTest, ARestoreDeletesOnlyLogsThatItIsForcedToDelete) {
  Load("a\t9\n");
  ExpectExit(0, {"backup", "create", File("backups")});
  Make(Original(), Logs());
  const std::string logs = DirectoryFingerprint(Logs());
  std::vector<std::string> restore = {"--db",   File("restored"), "--wal-dir",    Logs(),
                                      "backup", "restore",        File("backups")};
  const ToolResult refused = RunBare(restore);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find(Logs() + " has logs already; --force deletes them"), std::string::npos)
      << refused.err;
  EXPECT_EQ(DirectoryFingerprint(Logs()), logs);
  EXPECT_FALSE(fs::exists(File("restored")));
  EXPECT_EQ(Scan(Original()), "a  1\nb  2\n");
  // It does not delete archived logs either.
  const fs::path archive = fs::path(Logs()) / "archive";
  fs::create_directory(archive);
  for (const fs::directory_entry& log : fs::directory_iterator(Logs())) {
    if (log.path().extension() == ".log") fs::rename(log.path(), archive / log.path().filename());
  }
  EXPECT_EQ(RunBare(restore).exit_code, 2);
  EXPECT_FALSE(fs::is_empty(archive));
  restore.push_back("--force");
  EXPECT_EQ(RunBare(restore).exit_code, 0);
  EXPECT_EQ(Scan(File("restored")), "a  9\n");
}

}  // namespace
}  // namespace ashlar

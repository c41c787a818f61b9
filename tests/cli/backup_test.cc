// The commands backup and repair: their changes, their refusals, and their exit codes.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/vfs.h"
#include "tests/cli/tool.h"
#include "tests/support/file_damage.h"

namespace ashlar {
namespace {

class BackupTest : public ToolTest {
 protected:
  std::string Folder() const { return File("backups"); }
  // Returns the rows of the list with only number and state.
  std::string List() {
    const std::string csv = RunBare({"--format", "csv", "backup", "list", Folder()}).out;
    std::string rows;
    for (size_t at = csv.find('\n') + 1; at < csv.size(); at = csv.find('\n', at) + 1) {
      const std::string line = csv.substr(at, csv.find('\r', at) - at);
      rows += line.substr(0, line.find(',')) + " " + line.substr(line.rfind(',') + 1) + "\n";
    }
    return rows;
  }
  std::string Scan(const std::string& directory) {
    return RunBare({"--db", directory, "scan"}).out;
  }
  // Returns one of the backups' tables.
  std::string SomeTable() const {
    for (const auto& entry : std::filesystem::directory_iterator(Folder() + "/shared_checksum"))
      return entry.path().string();
    return {};
  }
};

TEST_F(BackupTest, ABackupIsMadeListedVerifiedRestoredAndDeleted) {
  Load("a\t1\n");
  EXPECT_TRUE(
      Output({"--format", "csv", "backup", "create", Folder()}).starts_with("backup,time,"));
  Load("b\t2\n");
  (void)Output({"backup", "create", Folder()});
  EXPECT_EQ(List(), "1 complete\n2 complete\n");
  EXPECT_EQ(RunBare({"--format", "csv", "backup", "verify", Folder()}).out,
            "backup,state\r\n1,complete\r\n2,complete\r\n");
  (void)RunBare({"--db", File("first"), "backup", "restore", Folder(), "--id", "1"});
  EXPECT_EQ(Scan(File("first")), "a  1\n");
  (void)RunBare({"--db", File("newest"), "backup", "restore", Folder()});
  EXPECT_EQ(Scan(File("newest")), "a  1\nb  2\n");
  EXPECT_EQ(RunBare({"backup", "purge", Folder(), "--keep", "1", "--force"}).exit_code, 0);
  EXPECT_EQ(List(), "2 complete\n");
}

TEST_F(BackupTest, APurgeDeletesNothingUnlessItIsForced) {
  Load("a\t1\n");
  (void)Output({"backup", "create", Folder()});
  (void)Output({"backup", "create", Folder()});
  const std::string before = DirectoryFingerprint(Folder());
  const ToolResult refused = RunBare({"backup", "purge", Folder(), "--keep", "1"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.err.find("all backups but the newest 1; --force does it"), std::string::npos)
      << refused.err;
  EXPECT_EQ(DirectoryFingerprint(Folder()), before);
  EXPECT_EQ(RunBare({"backup", "purge", Folder(), "--keep", "1", "--force"}).exit_code, 0);
  EXPECT_EQ(List(), "2 complete\n");
}

TEST_F(BackupTest, ARestoreReplacesADatabaseOnlyWhenItIsForcedAndNotOpen) {
  Load("a\t1\n");
  (void)Output({"backup", "create", Folder()});
  Load("b\t2\n");
  ExpectExit(2, {"backup", "restore", Folder()});
  EXPECT_EQ(Scan(database()), "a  1\nb  2\n");
  std::unique_ptr<vfs::FileLock> lock;
  ASSERT_TRUE(vfs::FileSystem::Default()->LockFile(database() + "/LOCK", &lock).ok());
  ExpectExit(4, {"backup", "restore", Folder(), "--force"});
  lock.reset();
  EXPECT_EQ(Scan(database()), "a  1\nb  2\n");
  (void)Output({"backup", "restore", Folder(), "--force"});
  EXPECT_EQ(Scan(database()), "a  1\n");
  // A folder with other files is refused without --force. With --force the files are kept.
  std::filesystem::create_directory(File("other"));
  MakeFile("other/letter", "dear");
  EXPECT_EQ(RunBare({"--db", File("other"), "backup", "restore", Folder()}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(File("other") + "/CURRENT"));
  (void)RunBare({"--db", File("other"), "backup", "restore", Folder(), "--force"});
  EXPECT_EQ(Scan(File("other")), "a  1\n");
  EXPECT_TRUE(std::filesystem::exists(File("other") + "/letter"));
}

TEST_F(BackupTest, OneChangeOfAFolderAtATime) {
  Load("a\t1\n");
  (void)Output({"backup", "create", Folder()});
  std::unique_ptr<vfs::FileLock> lock;
  ASSERT_TRUE(vfs::FileSystem::Default()->LockFile(Folder() + "/LOCK", &lock).ok());
  for (const std::vector<std::string>& change :
       {std::vector<std::string>{"backup", "create", Folder()},
        std::vector<std::string>{"backup", "purge", Folder(), "--keep", "1", "--force"}}) {
    const ToolResult result = Run(change);
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_NE(result.err.find("needs their lock: lock " + Folder()), std::string::npos)
        << result.err;
  }
  EXPECT_EQ(List(), "1 complete\n");
}

TEST_F(BackupTest, DamageIsFoundAndNamed) {
  Load("a\t1\n");
  (void)Output({"backup", "create", Folder()});
  const std::string table = SomeTable();
  ASSERT_NE(table, "");
  FlipByte(vfs::FileSystem::Default().get(), table, 5);
  const ToolResult verified = RunBare({"backup", "verify", Folder()});
  EXPECT_EQ(verified.exit_code, 5);
  EXPECT_NE(verified.err.find(std::filesystem::path(table).filename().string()), std::string::npos)
      << verified.err;
  const ToolResult restored = RunBare({"--db", File("copy"), "backup", "restore", Folder()});
  EXPECT_EQ(restored.exit_code, 5);
  for (const ToolResult& result : {verified, restored})
    EXPECT_NE(result.err.find("restore another backup"), std::string::npos) << result.err;
  std::filesystem::remove(table);
  EXPECT_EQ(List(), "1 damaged\n");
}

TEST_F(BackupTest, ADamagedBackupReplacesNoDatabase) {
  Load("a\t1\n");
  (void)Output({"backup", "create", Folder()});
  FlipByte(vfs::FileSystem::Default().get(), SomeTable(), 5);
  Load("b\t2\n");
  const std::string before = DirectoryFingerprint(database());
  const ToolResult restored = Run({"backup", "restore", Folder(), "--force"});
  EXPECT_EQ(restored.exit_code, 5);
  EXPECT_NE(restored.err.find("restore another backup"), std::string::npos) << restored.err;
  EXPECT_EQ(DirectoryFingerprint(database()), before);
  EXPECT_EQ(Scan(database()), "a  1\nb  2\n");
}

TEST_F(BackupTest, DamageDecidesTheExitCodeOfSeveralBackups) {
  Load("a\t1\n");
  (void)Output({"backup", "create", Folder()});
  Load("b\t2\n");
  (void)Output({"backup", "create", Folder()});
  MakeFile("backups/meta/1", "schema_version 3.0\n");
  const std::string table = SomeTable();
  FlipByte(vfs::FileSystem::Default().get(), table, 5);
  EXPECT_EQ(RunBare({"backup", "verify", Folder()}).exit_code, 5);
}

TEST_F(BackupTest, Misuse) {
  Load("a\t1\n");
  EXPECT_EQ(RunBare({"backup", "create", Folder()}).exit_code, 2);
  EXPECT_EQ(RunBare({"backup", "restore", Folder()}).exit_code, 2);
  ExpectExit(2, {"backup", "purge", Folder(), "--force"});
  ExpectExit(2, {"backup", "forget", Folder()});
  for (const char* const action : {"list", "verify", "purge"}) {
    const ToolResult result = RunBare({"backup", action, Folder(), "--keep", "1"});
    EXPECT_EQ(result.exit_code, 4) << action;
    EXPECT_NE(result.err.find(Folder()), std::string::npos) << result.err;
  }
  EXPECT_FALSE(std::filesystem::exists(Folder()));
  (void)Output({"backup", "create", Folder()});
  const ToolResult restored =
      RunBare({"--db", File("x"), "backup", "restore", Folder(), "--id", "9"});
  EXPECT_EQ(restored.exit_code, 1);
  EXPECT_NE(restored.err.find("'backup list' shows the backups"), std::string::npos)
      << restored.err;
  EXPECT_EQ(RunBare({"backup", "verify", Folder(), "--id", "9"}).exit_code, 1);
}

TEST_F(BackupTest, AFolderOfOtherThingsIsNotTakenForBackups) {
  Load("a\t1\n");
  const std::string before = DirectoryFingerprint(database());
  for (const char* const action : {"list", "verify", "restore", "purge"}) {
    const ToolResult result =
        RunBare({"--db", File("restored"), "backup", action, database(), "--keep", "1"});
    EXPECT_EQ(result.exit_code, 4) << action;
    EXPECT_EQ(result.out, "") << action;
    EXPECT_EQ(result.err, "ashlar: no backups: " + database() +
                              " has no folder meta\n"
                              "        check FOLDER; 'backup create' makes it\n");
  }
  EXPECT_EQ(DirectoryFingerprint(database()), before);
  EXPECT_FALSE(std::filesystem::exists(File("restored")));
}

using RepairTest = BackupTest;

TEST_F(RepairTest, ADryRunChangesNoByteAndForceRepairs) {
  Load("a\t1\nb\t2\n");
  (void)Output({"compact"});
  std::filesystem::remove(database() + "/CURRENT");
  const std::string before = DirectoryFingerprint(database());
  ExpectExit(4, {"scan"});
  ExpectExit(2, {"repair"});
  ExpectExit(2, {"repair", "--dry-run", "--force"});
  const ToolResult dry = Run({"--format", "csv", "repair", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_NE(dry.out.find("\n1 table,default,kept,"), std::string::npos) << dry.out;
  EXPECT_EQ(DirectoryFingerprint(database()), before);
  const ToolResult repaired = Run({"--format", "csv", "repair", "--force"});
  EXPECT_EQ(repaired.exit_code, 0) << repaired.err;
  EXPECT_EQ(repaired.out, dry.out);
  EXPECT_EQ(Scan(database()), "a  1\nb  2\n");
  const ToolResult again = Run({"repair", "--force"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.err.find("nothing is damaged"), std::string::npos) << again.err;
}

TEST_F(RepairTest, WhatIsNoDatabaseOrIsOpenIsRefused) {
  ExpectExit(4, {"repair", "--force"});
  EXPECT_FALSE(std::filesystem::exists(database()));
  Load("a\t1\n");
  std::unique_ptr<vfs::FileLock> lock;
  ASSERT_TRUE(vfs::FileSystem::Default()->LockFile(database() + "/LOCK", &lock).ok());
  const ToolResult open = Run({"repair", "--dry-run"});
  EXPECT_EQ(open.exit_code, 4);
  EXPECT_NE(open.err.find("no other process may have the database open"), std::string::npos)
      << open.err;
  ExpectExit(4, {"repair", "--force"});
  lock.reset();
  EXPECT_EQ(Scan(database()), "a  1\n");
}

}  // namespace
}  // namespace ashlar

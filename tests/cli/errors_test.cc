// Errors: the exit code, the stream of the message, and no change to any file.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "ashlar/db.h"
#include "tests/cli/tool.h"

namespace ashlar {
namespace {

namespace fs = std::filesystem;

class ErrorsTest : public ToolTest {
 protected:
  // Returns the path of the newest file in the database's directory whose name has this ending.
  std::string FileEndingIn(const std::string& end) {
    std::string found;
    for (const fs::directory_entry& entry : fs::directory_iterator(database())) {
      const std::string path = entry.path().string();
      if (path.ends_with(end) && path > found) found = path;
    }
    return found;
  }
};

const std::vector<std::vector<std::string>> kReadingCommands = {
    {"get", "a"}, {"scan"}, {"dump"}, {"stats"}, {"properties"}, {"verify"}, {"column-families"}};
const std::vector<std::vector<std::string>> kWritingCommands = {
    {"put", "a", "b"}, {"delete", "a"}, {"compact"}, {"checkpoint", "copy"}};

TEST_F(ErrorsTest, WrongCommandLines) {
  EXPECT_EQ(RunBare({}).exit_code, 2);
  EXPECT_EQ(RunBare({"scan"}).exit_code, 2);  // no --db
  ExpectExit(2, {"no-such-command"});
  ExpectExit(2, {"scan", "--no-such-option"});
  ExpectExit(2, {"--format", "xml", "scan"});
  ExpectExit(2, {"--key-format", "base64", "scan"});
  ExpectExit(2, {"get"});
  ExpectExit(2, {"put", "k"});
  ExpectExit(2, {"delete"});
  ExpectExit(2, {"delete", "k", "--keys", "-"});
  ExpectExit(2, {"delete", "--from", "a", "--force"});
  ExpectExit(2, {"delete", "k", "--from", "a", "--to", "b", "--force"});
  ExpectExit(2, {"scan", "--limit", "-1"});
  ExpectExit(2, {"scan", "--keys-only", "--count"});
  ExpectExit(2, {"--value-format", "raw", "scan"});
  ExpectExit(2, {"--value-format", "raw", "dump"});
  ExpectExit(2, {"load", "-", "--batch", "0"});
  ExpectExit(2, {"get", "\\q"});
  ExpectExit(2, {"scan", "--limit="});
  ExpectExit(2, {"--format=", "scan"});
  EXPECT_FALSE(fs::exists(database()));
}

TEST_F(ErrorsTest, AnEmptyValueIsNotTheNextArgument) {
  (void)Run({"load", "-"}, "--to=b\t0\na\t1\nb\t2\n");
  EXPECT_EQ(Output({"scan", "--count", "--from=", "--to=b"}), "entries  2\n");
  ExpectExit(2, {"backup", "restore", File("backups"), "--db=", "--id=1"});
  (void)Output({"put", "", "of the empty key"});
  EXPECT_EQ(Output({"--value-format", "raw", "get", ""}), "of the empty key");
}

TEST_F(ErrorsTest, ZerosInFrontOfANumberAreNoOtherBase) {
  Load("a\t0\nb\t1\nc\t2\nd\t3\ne\t4\nf\t5\ng\t6\nh\t7\ni\t8\nj\t9\n");
  EXPECT_EQ(Output({"scan", "--limit", "010", "--reverse", "--keys-only"}),
            "j\ni\nh\ng\nf\ne\nd\nc\nb\na\n");
  EXPECT_EQ(Output({"scan", "--limit=009", "--reverse", "--keys-only"}),
            "j\ni\nh\ng\nf\ne\nd\nc\nb\n");
  EXPECT_EQ(Output({"scan", "--limit", "00", "--count"}), "entries  10\n");
}

TEST_F(ErrorsTest, TheFirstArgumentThatNothingTakesIsNamed) {
  const std::string advice = "        see ashlar --help, or ashlar COMMAND --help";
  const std::string option_advice = advice + "; -- ends the options\n";
  const auto expect = [](const ToolResult& result, const std::string& err) {
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, err);
  };
  expect(Run({"scan", "--form", "a"}), "ashlar: there is no option '--form'\n" + option_advice);
  // The message does not say that KEY is required.
  expect(Run({"get", "--key"}), "ashlar: there is no option '--key'\n" + option_advice);
  expect(RunBare({"--dbb", "stones"}), "ashlar: there is no option '--dbb'\n" + option_advice);
  expect(Run({"gett", "--sync"}), "ashlar: there is no command 'gett'\n" + advice + "\n");
  expect(Run({"scan", "[a]"}), "ashlar: scan does not take '[a]'\n" + advice + "\n");
  expect(Run({"scan", "--", "-x"}), "ashlar: scan does not take '-x'\n" + advice + "\n");
  expect(RunBare({}), "ashlar: COMMAND is required\n" + advice + "\n");
  expect(Run({"put", "k"}), "ashlar: VALUE is required\n" + advice + "\n");
  expect(RunBare({"pool"}), "ashlar: ACTION is required\n" + advice + "\n");
  expect(RunBare({"backup", "list"}), "ashlar: FOLDER is required\n" + advice + "\n");
}

TEST_F(ErrorsTest, ADatabaseIsNotMadeInADirectoryThatIsMissing) {
  const std::string path = File("no/db");
  const ToolResult result = RunBare({"--db", path, "put", "--create", "a", "b"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_NE(result.err.find("cannot open " + path), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("its parent directory must exist"), std::string::npos) << result.err;
  Load("a\t1\n");
  const ToolResult copied = Run({"checkpoint", path});
  EXPECT_EQ(copied.exit_code, 4);
  EXPECT_NE(copied.err.find("its parent directory must exist"), std::string::npos) << copied.err;
  EXPECT_FALSE(fs::exists(File("no")));
}

TEST_F(ErrorsTest, AMissingDatabaseIsNotMade) {
  for (const auto* commands : {&kReadingCommands, &kWritingCommands}) {
    for (const std::vector<std::string>& command : *commands) {
      const ToolResult result = Run(command);
      EXPECT_EQ(result.exit_code, 4) << command[0];
      EXPECT_EQ(result.err, "ashlar: no database: " + database() +
                                " does not exist\n"
                                "        check --db; load and put --create make a new database\n");
      EXPECT_FALSE(fs::exists(database())) << command[0];
    }
  }
}

TEST_F(ErrorsTest, ADamagedOptionsFileIsDamage) {
  ASSERT_EQ(Run({"load", "-"}, "a\t1\n").exit_code, 0);
  std::string newest;
  for (const fs::directory_entry& entry : fs::directory_iterator(database())) {
    if (entry.path().filename().string().starts_with("OPTIONS-"))
      newest = std::max(newest, entry.path().string());
  }
  ASSERT_FALSE(newest.empty());
  std::ofstream(newest, std::ios::app) << "\n[CFOptions \"default\"]\n  num_levels=many\n";
  for (const std::vector<std::string>& command : kWritingCommands) {
    const ToolResult result = Run(command);
    EXPECT_EQ(result.exit_code, 5) << command[0] << result.err;
  }
  ExpectExit(5, {"verify"});
}

TEST_F(ErrorsTest, AForeignDirectoryIsLeftAlone) {
  fs::create_directory(database());
  MakeFile("db/letter.txt", "not ours");
  const std::string before = DirectoryFingerprint(database());
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"scan"}, {"load", "-"}, {"put", "--create", "a", "b"}}) {
    const ToolResult result = Run(command, "a\t1\n");
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_EQ(result.err, "ashlar: no database: " + database() +
                              " has no file CURRENT, but other files\n"
                              "        check --db; 'repair --dry-run' shows what is left of a "
                              "database without CURRENT, and a new one needs an empty directory\n");
  }
  EXPECT_EQ(DirectoryFingerprint(database()), before);
}

TEST_F(ErrorsTest, AFileIsNoDatabase) {
  MakeFile("db", "a file");
  ExpectExit(4, {"scan"});
  ExpectExit(4, {"load", "-"}, "a\t1\n");
}

TEST_F(ErrorsTest, ALockedDatabaseIsReadButNotWritten) {
  Options options;
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, database(), &db).ok());
  ASSERT_TRUE(db->Put(WriteOptions(), "a", "1").ok());
  EXPECT_EQ(Output({"get", "a"}), "1\n");
  for (const std::vector<std::string>& command : kWritingCommands) {
    const ToolResult result = Run(command);
    EXPECT_EQ(result.exit_code, 4) << command[0];
    EXPECT_NE(result.err.find("cannot open " + database()), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("another process"), std::string::npos) << result.err;
  }
  ASSERT_TRUE(db->Put(WriteOptions(), "b", "2").ok());
  ASSERT_TRUE(db->Close().ok());
  EXPECT_EQ(Output({"scan"}), "a  1\nb  2\n");
}

TEST_F(ErrorsTest, ReadingChangesNoFile) {
  Load("a\t1\nb\t2\n");
  (void)Output({"compact"});
  (void)Output({"put", "c", "3"});  // in the log
  const std::string before = DirectoryFingerprint(database());
  for (const std::vector<std::string>& command : kReadingCommands) (void)Output(command);
  EXPECT_TRUE(DirectoryFingerprint(database()) == before);
}

TEST_F(ErrorsTest, AReadOnlyDirectoryCanBeRead) {
  Load("a\t1\n");
  fs::permissions(database(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(Output({"scan"}), "a  1\n");
  fs::permissions(database(), fs::perms::owner_all);
}

TEST_F(ErrorsTest, UnknownFamiliesAndOperators) {
  Load("a\t1\n");
  const ToolResult family = Run({"--column-family", "absent", "scan"});
  EXPECT_EQ(family.exit_code, 2);
  EXPECT_EQ(family.err,
            "ashlar: there is no column family absent\n"
            "        column-families lists them; load and put --create make new ones\n");
  const ToolResult merge_operator = Run({"--merge-operator", "absent", "scan"});
  EXPECT_EQ(merge_operator.exit_code, 2);
  EXPECT_NE(merge_operator.err.find("uint64add, stringappend, put and max are known"),
            std::string::npos)
      << merge_operator.err;
}

TEST_F(ErrorsTest, ADamagedTableIsCorruptionAndNamed) {
  Load("a\t1\nb\t2\n");
  (void)Output({"compact"});
  const std::string table = FileEndingIn(".sst");
  ASSERT_NE(table, "");
  std::fstream file(table, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(2);
  file.put('\x7f');
  file.close();
  const ToolResult result = Run({"verify"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_NE(result.err.find(fs::path(table).filename().string()), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("'repair --dry-run' would keep"), std::string::npos) << result.err;
  const ToolResult scan = Run({"scan"});
  EXPECT_EQ(scan.exit_code, 5);
  EXPECT_NE(scan.err.find("'repair --dry-run' would keep"), std::string::npos) << scan.err;
  ExpectExit(5, {"get", "a"});
}

// The database opens, and by default it leaves out the records after the damage.
TEST_F(ErrorsTest, ADamagedLogIsCorruptionAndNamed) {
  const std::string killed = File("killed");
  {
    Options options;
    options.create_if_missing = true;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, killed, &db).ok());
    for (int i = 0; i < 20; ++i)
      ASSERT_TRUE(db->Put(WriteOptions(), "key" + std::to_string(i), std::string(100, 'v')).ok());
    ASSERT_TRUE(db->FlushWAL(false).ok());
    fs::create_directory(database());
    for (const fs::directory_entry& entry : fs::directory_iterator(killed)) {
      // Windows refuses reads of a locked file.
      if (entry.path().filename() != "LOCK")
        fs::copy_file(entry.path(), database() + "/" + entry.path().filename().string());
    }
  }
  ExpectExit(0, {"verify"});
  const std::string log = FileEndingIn(".log");
  std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(700);
  file.put('\x7f');
  file.close();
  const std::string before = DirectoryFingerprint(database());
  const ToolResult result = Run({"verify"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_NE(result.err.find(fs::path(log).filename().string() + ": checksum mismatch at offset "),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find(" bytes from offset "), std::string::npos) << result.err;
  ExpectExit(0, {"scan"});
  EXPECT_EQ(DirectoryFingerprint(database()), before);
  // An open for writing keeps the damaged log in lost/.
  ExpectExit(0, {"put", "key", "value"});
  EXPECT_TRUE(fs::exists(database() + "/lost/" + fs::path(log).filename().string()));
  ExpectExit(0, {"verify"});
}

TEST_F(ErrorsTest, AMissingTableIsNamed) {
  Load("a\t1\n");
  (void)Output({"compact"});
  const std::string table = FileEndingIn(".sst");
  fs::remove(table);
  const ToolResult result = Run({"verify"});
  EXPECT_TRUE(result.exit_code == 4 || result.exit_code == 5) << result.exit_code;
  EXPECT_NE(result.err.find(fs::path(table).filename().string()), std::string::npos) << result.err;
}

// The OPTIONS file records best_efforts_recovery, which was meant only for the open that set it.
TEST_F(ErrorsTest, AnOlderStateIsNotOpenedWhereATableIsMissing) {
  Options options;
  options.create_if_missing = true;
  options.best_efforts_recovery = true;
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, database(), &db).ok());
  for (const char* const key : {"a", "b"}) {
    ASSERT_TRUE(db->Put(WriteOptions(), key, "1").ok());
    ASSERT_TRUE(db->Flush(FlushOptions()).ok());
  }
  ASSERT_TRUE(db->Close().ok());
  db.reset();  // closes the tables, as open files outlive their names on Windows
  const std::string table = FileEndingIn(".sst");
  fs::remove(table);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"scan"}, std::vector<std::string>{"put", "c", "1"}}) {
    const ToolResult result = Run(command);
    EXPECT_TRUE(result.exit_code == 4 || result.exit_code == 5) << result.exit_code;
    EXPECT_NE(result.err.find(fs::path(table).filename().string()), std::string::npos)
        << result.err;
  }
  EXPECT_FALSE(fs::exists(database() + "/lost"));
}

TEST_F(ErrorsTest, AnOrderOfItsOwnIsSaidAndNotGuessed) {
  Options options;
  options.create_if_missing = true;
  options.comparator = ReverseBytewiseComparator();
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, database(), &db).ok());
  ASSERT_TRUE(db->Put(WriteOptions(), "a", "1").ok());
  ASSERT_TRUE(db->Put(WriteOptions(), "b", "2").ok());
  ASSERT_TRUE(db->Close().ok());
  EXPECT_EQ(Output({"scan"}), "b  2\na  1\n");
  EXPECT_EQ(Output({"verify", "--format", "csv"}).substr(69, 11), "default,2,2");
  const ToolResult result = Run({"scan", "--prefix", "a"});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_NE(result.err.find("use --from and --to"), std::string::npos) << result.err;
}

TEST_F(ErrorsTest, ResultsThatCannotBeWrittenAreAnError) {
  Load("a\t1\n");
  const ToolRun run = RunTool("{ " + ProgramCommand("ashlar") + " --db '" + database() +
                              "' scan 2>&1 >/dev/full; }");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_NE(run.output.find("cannot write the results"), std::string::npos) << run.output;
}

TEST_F(ErrorsTest, InputThatCannotBeReadIsAnError) {
  const ToolResult missing = Run({"load", File("absent")});
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_TRUE(missing.err.starts_with("ashlar: cannot read " + File("absent") +
                                      ": No such file or directory\n"))
      << missing.err;
  ExpectExit(4, {"load", "/"});
  EXPECT_FALSE(fs::exists(database()));
}

}  // namespace
}  // namespace ashlar

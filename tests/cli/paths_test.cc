// Databases and input files whose paths have characters outside ASCII or exceed the old limit of
// Windows, and names that are devices there.
#include <string>
#include <vector>

#include "base/format.h"
#include "platform/file.h"
#include "platform/program.h"
#include "tests/cli/tool.h"

namespace ashlar {
namespace {

constexpr const char* kName = "база-данных 東京";

class PathsTest : public ToolTest {
 protected:
  // Runs every command on the database at `directory`, which is created.
  void ExpectAllCommandsWork(const std::string& directory) {
    const auto run = [&](std::vector<std::string> arguments, const std::string& input = {}) {
      arguments.insert(arguments.begin(), {"--db", directory});
      const ToolResult result = RunBare(arguments, input);
      EXPECT_EQ(result.exit_code, 0) << arguments[2] << " " << result.err;
      EXPECT_EQ(result.err, "") << arguments[2];
      return result.out;
    };
    (void)run({"load", "-", "--input-format", "tsv"}, "a\t1\nb\t2\n");
    EXPECT_TRUE(GetFileInfo(directory + "/CURRENT").ok());
    EXPECT_EQ(run({"get", "a"}), "1\n");
    (void)run({"put", "c", "3"});
    (void)run({"delete", "b"});
    EXPECT_EQ(run({"scan", "--count"}), "entries  2\n");
    for (const char* const command : {"stats", "compact", "verify", "column-families", "dump"})
      EXPECT_NE(run({command}), "") << command;
  }
  // The long path is too long for the scratch directory to remove.
  static void RemoveTree(const std::string& directory) {
    const Result<std::vector<std::string>> names = ListDirectory(directory);
    ASSERT_TRUE(names.ok()) << names.status().ToString();
    for (const std::string& name : *names) {
      const std::string path = StrCat(directory, "/", name);
      if (!RemoveFile(path).ok()) RemoveTree(path);
    }
    EXPECT_TRUE(RemoveDirectory(directory).ok());
  }
};

TEST_F(PathsTest, ADatabaseMayHaveAnyName) {
  ExpectAllCommandsWork(File(kName));
  // There is one directory, which has this name.
  const Result<std::vector<std::string>> names = ListDirectory(File(""));
  ASSERT_TRUE(names.ok());
  int directories = 0;
  for (const std::string& name : *names) directories += GetFileInfo(File(name))->is_directory;
  EXPECT_EQ(directories, 1);
}

TEST_F(PathsTest, ADatabaseMayBeFarDown) {
  std::string path = File("down");
  ASSERT_TRUE(MakeDirectory(path).ok());
  for (int depth = 0; depth < 4; ++depth) {
    path += "/" + std::string(80, static_cast<char>('a' + depth));
    ASSERT_TRUE(MakeDirectory(path).ok());
  }
  ExpectAllCommandsWork(path + "/db");
  RemoveTree(File("down"));
}

TEST_F(PathsTest, AnInputFileMayHaveAnyName) {
  const std::string input = File(StrCat(kName, ".tsv"));
  ASSERT_GE(fputs("a\t1\n", OpenStream(input, StreamMode::kWrite).get()), 0);
  ASSERT_EQ(Run({"load", input}).exit_code, 0);
  EXPECT_EQ(Output({"get", "a"}), "1\n");
}

TEST_F(PathsTest, AFileThatIsNoDatabaseIsSaidToBeOne) {
  const std::string path = File(kName);
  ASSERT_GE(fputs("text", OpenStream(path, StreamMode::kWrite).get()), 0);
  const ToolResult result = RunBare({"--db", path, "get", "a"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_NE(result.err.find(path + " is not a directory"), std::string::npos) << result.err;
}

// On other systems this is an ordinary name.
TEST_F(PathsTest, ADeviceIsNamedWhereThereIsOne) {
  const std::string path = File("CON");
  const bool is_device = MakeDirectory(path).IsInvalidArgument();
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"put", "--create", "a", "b"}, {"get", "a"}, {"load", "-"}}) {
    std::vector<std::string> arguments = {"--db", path};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const ToolResult result = RunBare(arguments);
    EXPECT_EQ(result.exit_code, is_device ? 2 : 0) << command[0] << result.err;
    EXPECT_EQ(result.err.find("CON is the name of a device") != std::string::npos, is_device)
        << result.err;
  }
}

}  // namespace
}  // namespace ashlar

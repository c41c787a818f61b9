// No byte of a key, a value, a name or a file reaches standard output or standard error in a form
// that a terminal would act on.
#include <algorithm>
#include <memory>
#include <vector>

#include "ashlar/vfs.h"
#include "tests/cli/tool.h"
#include "tests/support/expect_ok.h"
#include "tests/support/file_damage.h"

namespace ashlar {
namespace {

// Codes that clear the screen and set the title, a C1 control, a right-to-left override, a bell, a
// backspace, and NUL.
const std::string kHostile = std::string(
                                 "\x1b[2J\x1b]0;owned\x07\xc2\x9b"
                                 "31m\xe2\x80\xae\b\x7f") +
                             std::string(1, '\0') + "end";

bool IsSafe(const std::string& text) {
  const bool controls = std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\r') || byte == 0x7F;
  });
  return !controls && text.find("\xc2\x9b") == std::string::npos &&
         text.find("\xe2\x80\xae") == std::string::npos;
}

using DisplayTest = ToolTest;

TEST_F(DisplayTest, HostileEntriesAreShownSafelyInEveryFormat) {
  Load(kHostile + "\t" + kHostile + "\n");
  for (const std::string format : {"table", "json", "ndjson", "csv"}) {
    for (const std::string bytes : {"escape", "utf8", "hex", "u64be"}) {
      for (const std::string command : {"scan", "dump"}) {
        const std::string shown =
            Output({"--format", format, "--key-format", bytes, "--value-format", bytes, command});
        EXPECT_TRUE(IsSafe(shown)) << format << " " << bytes << " " << command;
        EXPECT_GT(shown.size(), 2 * kHostile.size());
      }
    }
  }
  EXPECT_TRUE(IsSafe(Output({"scan", "--value-format", "text"})));
  EXPECT_TRUE(IsSafe(Output({"scan", "--values-only", "--value-format", "text"})));
}

TEST_F(DisplayTest, GetShowsLineEndsAndNothingElseAsItIs) {
  (void)Output({"put", "--create", "k", "first\\nsecond\\x1b[2J\\\\"});
  EXPECT_EQ(Output({"get", "k"}), "first\nsecond\\x1b[2J\\\\\n");
  EXPECT_EQ(Output({"get", "k", "--value-format", "escape"}), "first\\nsecond\\x1b[2J\\\\\n");
}

TEST_F(DisplayTest, HostileNamesOfFamiliesAreShownSafely) {
  Load("a\t1\n", {"--column-family", "f\x1b[2J"});
  for (const std::string command : {"column-families", "stats", "verify", "dump"}) {
    const std::string shown = Output({command});
    EXPECT_TRUE(IsSafe(shown)) << command;
    EXPECT_NE(shown.find("x1b[2J"), std::string::npos) << command;
  }
}

// The rows of a repair have error texts, which name files.
TEST_F(DisplayTest, ARepairShowsAHostilePathSafely) {
  // With a right-to-left override, which every system accepts in a name.
  const std::string path = File("d\xe2\x80\xae");
  ASSERT_EQ(RunBare({"--db", path, "load", "-", "--input-format", "tsv"}, "a\t1\n").exit_code, 0);
  const std::shared_ptr<vfs::FileSystem> files = vfs::FileSystem::Default();
  std::vector<std::string> names;
  ASSERT_OK(files->GetChildren(path, &names));
  for (const std::string& name : names) {
    if (name.ends_with(".sst")) FlipByte(files.get(), path + "/" + name, 5);
  }
  for (const std::string format : {"table", "json"}) {
    const ToolResult repair = RunBare({"--db", path, "--format", format, "repair", "--dry-run"});
    EXPECT_TRUE(IsSafe(repair.out)) << testing::PrintToString(repair.out);
    EXPECT_NE(repair.out.find("xe2"), std::string::npos) << repair.out;
  }
}

TEST_F(DisplayTest, ErrorsAreSafe) {
  const std::string hostile = "\x1b[2J\x1b]0;owned\x07";
  Load("a\t1\n");
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"load", hostile},
                                             {"--column-family", hostile, "scan"},
                                             {"properties", hostile},
                                             {"--merge-operator", hostile, "scan"},
                                             {"--" + hostile},
                                             {hostile},
                                             {"get", "a", "--format", hostile}}) {
    const ToolResult result = Run(arguments);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_NE(result.err, "");
    EXPECT_TRUE(IsSafe(result.err)) << testing::PrintToString(result.err);
  }
  EXPECT_TRUE(IsSafe(RunBare({"--db", hostile, "scan"}).err));
  EXPECT_TRUE(IsSafe(Run({"load", "-", "--input-format", "tsv"}, hostile).err));
  EXPECT_TRUE(IsSafe(Run({"delete", "--keys", "-"}, hostile + "\\q\n").err));
}

}  // namespace
}  // namespace ashlar

// The command lines of docs/operations.md, run in their order on a database.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/tool.h"
#include "tests/support/places.h"

namespace ashlar {
namespace {

using RecipesTest = ToolTest;

// The lines of code blocks that call the tool.
std::vector<std::string> CommandLines() {
  const std::string begin = "    ashlar ";
  std::ifstream text(std::string(kSourceDir) + "/docs/operations.md");
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(begin)) lines.push_back(line.substr(begin.size()));
  }
  return lines;
}

TEST_F(RecipesTest, EachCommandLineOfOperationsRuns) {
  Load("a\t1\nb\t2\n");
  const std::vector<std::string> lines = CommandLines();
  EXPECT_GT(lines.size(), 5u);
  for (const std::string& line : lines) {
    SCOPED_TRACE(line);
    std::vector<std::string> arguments;
    std::istringstream words(line);
    for (std::string word; words >> word && word != "#";)
      arguments.push_back(word.starts_with("DIR") ? database() + word.substr(3) : word);
    const ToolResult result = RunBare(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
  EXPECT_EQ(Output({"scan"}), "a  1\nb  2\n");
}

}  // namespace
}  // namespace ashlar

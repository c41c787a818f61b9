// A program leaves its console as it found it. Wine has a console if the host system has a
// terminal, which `script` provides.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/format.h"
#include "tests/support/places.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

std::string WindowsPath(std::string path) {
  std::replace(path.begin(), path.end(), '/', '\\');
  return "Z:" + path;
}

TEST(Console, GetsItsCodePageBack) {
  const ScratchDirectory scratch;
  const std::string note = StrCat(WindowsPath(StrCat(kBuildDir, "/tests/code_page.exe")), " ",
                                  WindowsPath(scratch.File("pages")));
  std::ofstream(scratch.File("run"), std::ios::binary)
      << "bash '" << kSourceDir << "/cmake/windows/wine.sh' cmd /c '" << note << " & "
      << WindowsPath(StrCat(kBuildDir, "/ashlar.exe")) << " --version & " << note << "'\n";
  const ToolRun run = RunTool(StrCat("script -qec 'sh ", scratch.File("run"), "' /dev/null"));
  ASSERT_EQ(run.exit_code, 0) << run.output;

  std::ifstream pages(scratch.File("pages"));
  int before = 0, after = 0;
  ASSERT_TRUE(pages >> before >> after) << run.output;
  EXPECT_NE(before, 0) << "no console";
  EXPECT_NE(before, 65001) << "the test shows nothing on such a console";
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace ashlar

#include "testing/tool_runner.h"

#include <cstdio>
#include <filesystem>
#include <random>
#include <system_error>

#include "base/assert.h"
#include "base/format.h"

namespace ashlar {

ToolRun RunTool(const std::string& command) {
  ToolRun run;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return run;
  char buffer[4096];
  for (size_t n = fread(buffer, 1, sizeof(buffer), pipe); n > 0; n = fread(buffer, 1, sizeof(buffer), pipe)) run.output.append(buffer, n);
  const int status = pclose(pipe);
  // The low byte says how the shell ended, the next one is its exit code.
  run.exit_code = (status & 0xff) == 0 ? (status >> 8) & 0xff : -1;
  return run;
}

bool HaveRocksDbTools() {
  static const bool have = RunTool("command -v ldb sst_dump db_bench").exit_code == 0;
  return have;
}

ScratchDirectory::ScratchDirectory() {
  std::random_device random;
  const std::filesystem::path parent = std::filesystem::temp_directory_path();
  std::error_code error;
  do {
    path_ = (parent / StrCat("ashlar_test_", random(), "_", random())).string();
  } while (!std::filesystem::create_directory(path_, error) && !error);
  ASHLAR_ASSERT(!error);
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ashlar

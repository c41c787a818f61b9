#include "tests/support/tool_runner.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/format.h"
#include "tests/support/places.h"

namespace ashlar {

ToolRun RunTool(const std::string& command) {
  ToolRun run;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return run;
  char buffer[4096];
  for (size_t n = fread(buffer, 1, sizeof(buffer), pipe); n > 0;
       n = fread(buffer, 1, sizeof(buffer), pipe))
    run.output.append(buffer, n);
  const int status = pclose(pipe);
  // The low byte says how the shell ended. The next byte is its exit code.
  run.exit_code = (status & 0xff) == 0 ? (status >> 8) & 0xff : -1;
  return run;
}

std::string ProgramCommand(const std::string& name) {
  return StrCat("'", kBuildDir, "/", name, "'");
}

std::string OwnCommand() {
  std::string path(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length > 0 ? static_cast<size_t>(length) : 0);
  return StrCat("'", path, "'");
}

std::string ScratchParent() { return std::filesystem::temp_directory_path().string(); }

}  // namespace ashlar

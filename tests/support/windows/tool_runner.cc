// Under Wine a Windows program can start a program of the host system, but gets neither its handle
// nor its output through a pipe. So the shell runs a script that writes the output and the exit
// code to files, the exit code last.
#include "tests/support/tool_runner.h"

#include "platform/windows/windows_headers.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/format.h"
#include "platform/clock.h"
#include "platform/thread.h"
#include "tests/support/places.h"

namespace ashlar {
namespace {

constexpr uint64_t kPollMicros = 500;
// Longer than any test takes.
constexpr uint64_t kWaitNanosMax = 3600ull * 1'000'000'000;

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

bool StartShell(const std::string& script) {
  std::string command = StrCat("/bin/sh \"", script, "\"");
  STARTUPINFOA startup = {};
  startup.cb = sizeof(startup);
  PROCESS_INFORMATION process = {};
  if (!CreateProcessA("/bin/sh", command.data(), nullptr, nullptr, FALSE, 0, nullptr, nullptr,
                      &startup, &process))
    return false;
  if (process.hThread != nullptr) CloseHandle(process.hThread);
  if (process.hProcess != nullptr) CloseHandle(process.hProcess);
  return true;
}

// "Z:\\data\\x" is /data/x on the host system.
std::string SystemBelowPath(std::string path) {
  std::replace(path.begin(), path.end(), '\\', '/');
  return path.size() > 1 && path[1] == ':' ? path.substr(2) : path;
}

std::string UnderWine(const std::string& program) {
  return StrCat("bash '", kSourceDir, "/cmake/windows/wine.sh' '", program, "'");
}

}  // namespace

ToolRun RunTool(const std::string& command) {
  // A unique name, because process ids under Wine are small and are reused, even by another Wine
  // that uses the same folder.
  const ScratchDirectory files;
  const std::string script = files.File("script"), shell_command = files.File("command"),
                    output = files.File("output"), code = files.File("code");
  std::ofstream(script, std::ios::binary)
      << "cat > '" << shell_command << "' <<'END_OF_COMMAND'\n"
      << command << " 2>&1\nEND_OF_COMMAND\n"
      << "/bin/sh '" << shell_command << "' > '" << output << "' 2>&1 < /dev/null\n"
      << "echo $? > '" << code << ".new' && mv '" << code << ".new' '" << code << "'\n";
  ToolRun run;
  if (StartShell(script)) {
    const uint64_t start = MonotonicNanos();
    while (!std::filesystem::exists(code) && MonotonicNanos() - start < kWaitNanosMax)
      SleepForMicros(kPollMicros);
    run.output = ReadWhole(output);
    const std::string text = ReadWhole(code);
    run.exit_code = text.empty() ? -1 : std::atoi(text.c_str());
    // A program that was ended by a signal has no exit code.
    if (run.exit_code > 128) run.exit_code = -1;
  }
  return run;
}

std::string ProgramCommand(const std::string& name) {
  return UnderWine(StrCat(kBuildDir, "/", name, ".exe"));
}

std::string OwnCommand() {
  std::string path(4096, '\0');
  path.resize(GetModuleFileNameA(nullptr, path.data(), static_cast<DWORD>(path.size())));
  return UnderWine(SystemBelowPath(path));
}

std::string ScratchParent() {
  const char* const chosen = std::getenv("ASHLAR_TEST_TMPDIR");
  return chosen != nullptr ? chosen : std::filesystem::temp_directory_path().string();
}

}  // namespace ashlar

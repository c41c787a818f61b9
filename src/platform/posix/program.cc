#include "platform/program.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace ashlar {

std::vector<std::string> ProgramArguments(int argc, char** argv) {
  return std::vector<std::string>(argv + 1, argv + argc);
}

UniqueStream OpenStream(const std::string& path, StreamMode mode) {
  const char* text = "rb";
  if (mode == StreamMode::kWrite) text = "wb";
  if (mode == StreamMode::kAppend) text = "ab";
  return UniqueStream(fopen(path.c_str(), text));
}

std::string TemporaryDirectory() {
  const char* const chosen = getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
}

uint64_t CurrentUserId() { return geteuid(); }

bool IsTerminal(FILE* file) { return isatty(fileno(file)) == 1; }

size_t TerminalColumns(FILE* file) {
  winsize size = {};
  if (!IsTerminal(file) || ioctl(fileno(file), TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace ashlar

#include "platform/program.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace ashlar {

std::vector<std::string> ProgramArguments(int argc, char** argv) {
  return std::vector<std::string>(argv + 1, argv + argc);
}

FILE* OpenToRead(const std::string& path) { return fopen(path.c_str(), "rb"); }

bool IsTerminal(FILE* file) { return isatty(fileno(file)) == 1; }

size_t TerminalColumns(FILE* file) {
  winsize size = {};
  if (!IsTerminal(file) || ioctl(fileno(file), TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace ashlar

#include "tools/common/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace ashlar::cli {

bool IsTerminal(FILE* file) { return isatty(fileno(file)) == 1; }

size_t TerminalColumns(FILE* file) {
  winsize size = {};
  if (!IsTerminal(file) || ioctl(fileno(file), TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace ashlar::cli

// What the tool asks of the terminal it may be talking to.
#pragma once

#include <cstddef>
#include <cstdio>

namespace ashlar::cli {

bool IsTerminal(FILE* file);
// 0 when the file is no terminal or does not know.
size_t TerminalColumns(FILE* file);

}  // namespace ashlar::cli

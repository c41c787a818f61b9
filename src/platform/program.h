// Services for a program's main: its arguments as UTF-8, binary streams, and the terminal if there
// is one.
//
// Thread safety: ProgramArguments runs first, on the main thread; the rest on any thread.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace ashlar {

// The arguments after the program's name, as UTF-8 on every system. Standard input and output carry
// bytes unchanged from here on.
std::vector<std::string> ProgramArguments(int argc, char** argv);

// A file's bytes; a path as in platform/file.h. Null when it cannot be opened, and errno says why.
// For fclose.
FILE* OpenToRead(const std::string& path);

bool IsTerminal(FILE* file);
// 0 when the file is no terminal or does not know.
size_t TerminalColumns(FILE* file);

}  // namespace ashlar

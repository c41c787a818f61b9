// Services for a program's main: arguments as UTF-8, binary streams, files by UTF-8 path, and the
// terminal if there is one.
//
// Thread safety: ProgramArguments runs first, on the main thread; the rest on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace ashlar {

// The arguments after the program's name, as UTF-8 on every system. Standard input and output carry
// bytes unchanged from here on.
std::vector<std::string> ProgramArguments(int argc, char** argv);

struct StreamCloser {
  void operator()(FILE* file) const { static_cast<void>(fclose(file)); }
};
using UniqueStream = std::unique_ptr<FILE, StreamCloser>;
enum class StreamMode {
  kRead,
  kWrite,   // creates the file, or cuts it to nothing
  kAppend,  // creates the file when missing
};
// A file's bytes; a path as in platform/file.h. Null when it cannot be opened, and errno says why.
UniqueStream OpenStream(const std::string& path, StreamMode mode);

// Where programs put files that need not stay.
std::string TemporaryDirectory();
// The number of the process's user, for names in a directory that users share. 0 where users have
// no numbers.
uint64_t CurrentUserId();

bool IsTerminal(FILE* file);
// 0 when the file is no terminal or does not know.
size_t TerminalColumns(FILE* file);

}  // namespace ashlar

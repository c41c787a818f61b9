// Services for a program's main: arguments as UTF-8, binary streams, files by UTF-8 path, and the
// terminal if there is one.
//
// Thread safety: ProgramArguments runs first, on the main thread. All else may run on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace ashlar {

// The arguments after the program's name, as UTF-8 on every system. After this call, standard input
// and output carry bytes unchanged.
std::vector<std::string> ProgramArguments(int argc, char** argv);

struct StreamCloser {
  void operator()(FILE* file) const { static_cast<void>(fclose(file)); }
};
using UniqueStream = std::unique_ptr<FILE, StreamCloser>;
enum class StreamMode {
  kRead,
  kWrite,   // creates the file, or truncates it to 0 bytes
  kAppend,  // creates the file if missing
};
// Opens a file as a binary stream. Paths as in platform/file.h. Null on failure, with errno set.
UniqueStream OpenStream(const std::string& path, StreamMode mode);

// The directory for temporary files of programs.
std::string TemporaryDirectory();
// The numeric id of the process's user, for names in a directory that users share. Returns 0 if
// users have no numeric ids.
uint64_t CurrentUserId();

bool IsTerminal(FILE* file);
// Returns 0 if the file is not a terminal or its width is unknown.
size_t TerminalColumns(FILE* file);

}  // namespace ashlar

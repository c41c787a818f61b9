// Runs other programs, above all the tools of Debian's rocksdb-tools, which judge Ashlar's files,
// and creates directories for them.
//
// Thread safety: one thread.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace ashlar {

struct ToolRun {
  int exit_code = -1;
  std::string output;  // standard output and standard error
};

// Runs the command in the POSIX shell. Requires: special characters are quoted. On Windows this is
// the shell of the system on which Wine runs; without Wine, every command fails.
ToolRun RunTool(const std::string& command);

// How a command starts that runs a program of the build tree (ashlar, db_bench), or the program
// that is running.
std::string ProgramCommand(const std::string& name);
std::string OwnCommand();

// Whether ldb, sst_dump and db_bench are installed. A test that needs them asserts this, so that it
// fails where they are missing.
testing::AssertionResult HaveRocksDbTools();

// The directory in which test directories are created. This program and the shell's commands
// interpret its path in the same way.
std::string ScratchParent();

// A new directory, which the destructor removes with all its contents.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace ashlar

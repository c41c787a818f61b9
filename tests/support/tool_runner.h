// Runs other programs, above all the tools of Debian's rocksdb-tools, which judge our files; and a
// directory for them to work in.
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

// The POSIX shell runs the command. Requires: special characters are quoted. On Windows that is the
// shell of the system that Wine runs on; without one, every command fails.
ToolRun RunTool(const std::string& command);

// For the start of a command: a program of the build tree (ashlar, db_bench), and the program that
// is running.
std::string ProgramCommand(const std::string& name);
std::string OwnCommand();

// Whether ldb, sst_dump and db_bench are there. A test that needs them asserts it, so that it fails
// where they are missing.
testing::AssertionResult HaveRocksDbTools();

// Where directories for tests are made: a path that this program and the shell's commands
// understand alike.
std::string ScratchParent();

// A new directory, removed with everything in it at the end.
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

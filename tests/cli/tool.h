// Tool: runs the command-line tool on a database in a scratch directory, and captures its two
// output streams separately.
//
// In the results of one run, only "seconds" and the rates of load vary. All other text is golden.
// Thread safety: one thread.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/tool_runner.h"

namespace ashlar {

struct ToolResult {
  int exit_code = -1;
  std::string out;
  std::string err;
};

class ToolTest : public testing::Test {
 protected:
  // Passes the arguments to the tool unchanged, after --db and the database's directory.
  ToolResult Run(const std::vector<std::string>& arguments, const std::string& input = {});
  // The same without --db.
  ToolResult RunBare(const std::vector<std::string>& arguments, const std::string& input = {});

  // Runs the tool and expects the exit code. A failure shows the output of the tool.
  void ExpectExit(int exit_code, const std::vector<std::string>& arguments,
                  const std::string& input = {});
  // Returns the standard output of a run that must succeed and print nothing to standard error.
  std::string Output(const std::vector<std::string>& arguments, const std::string& input = {});
  // Loads tab-separated entries.
  void Load(const std::string& tsv, const std::vector<std::string>& more_arguments = {});

  std::string database() const { return scratch_.File("db"); }
  std::string File(const std::string& name) const { return scratch_.File(name); }
  std::string MakeFile(const std::string& name, const std::string& content);

 private:
  ScratchDirectory scratch_;
};

// Returns the paths, modification times and contents of all files below a directory.
std::string DirectoryFingerprint(const std::string& directory);

}  // namespace ashlar

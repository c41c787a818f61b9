// Tool: runs the command-line tool on a database in a scratch directory, with its two output
// streams apart.
//
// Results of one run: "seconds" and the rates of load vary, everything else is golden. Thread
// safety: one thread.
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
  // Arguments go to the tool as they are, after --db and the database's directory.
  ToolResult Run(const std::vector<std::string>& arguments, const std::string& input = {});
  // The same without --db.
  ToolResult RunBare(const std::vector<std::string>& arguments, const std::string& input = {});

  // Runs it and expects the exit code. A failure shows the output of the tool.
  void ExpectExit(int exit_code, const std::vector<std::string>& arguments,
                  const std::string& input = {});
  // Standard output of a run that must succeed without a word on standard error.
  std::string Output(const std::vector<std::string>& arguments, const std::string& input = {});
  // Loads tab-separated entries.
  void Load(const std::string& tsv, const std::vector<std::string>& more_arguments = {});

  std::string database() const { return scratch_.File("db"); }
  std::string File(const std::string& name) const { return scratch_.File(name); }
  std::string MakeFile(const std::string& name, const std::string& content);

 private:
  ScratchDirectory scratch_;
};

// Names, sizes, times of the last change and contents of the files in a directory.
std::string DirectoryFingerprint(const std::string& directory);

}  // namespace ashlar

// RecipesTest: where the code of a document runs: a directory of its own, in which the databases
// and files that the document names are.
//
// Thread safety: one thread.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "tests/support/tool_runner.h"

namespace ashlar {

// A path of a document, such as DIR.copy or /data/new.sst, in the directory of the running test.
// Requires: a RecipesTest is running.
std::string At(const std::string& path);

class RecipesTest : public testing::Test {
 protected:
  RecipesTest();
  ~RecipesTest() override;

  // A new database, or the one that is there.
  static std::unique_ptr<DB> OpenAt(const std::string& path);
  // The entries of At(path), a closed database with the default family only: "a=1 b=2".
  static std::string ScanAt(const std::string& path);
  // The same of an open one, or of what a ReadOptions shows of it.
  static std::string Scan(DB* db, const ReadOptions& options = ReadOptions());
  // The value, or the text of the error.
  static std::string Value(DB* db, const std::string& key);

  // Runs the lines in a POSIX shell. A line that fails ends them and fails the test. Their output
  // is shell_output().
  void Shell(const std::string& lines);
  const std::string& shell_output() const { return shell_output_; }

 private:
  const ScratchDirectory scratch_;
  std::string shell_output_;
};

}  // namespace ashlar

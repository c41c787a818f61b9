// RecipesTest: runs the code of a document in a directory of its own, which holds the databases and
// files that the document names.
//
// Thread safety: one thread.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "tests/support/tool_runner.h"

namespace ashlar {

// Moves a path of a document, such as DIR.copy or /data/new.sst, into the running test's directory.
// Requires: a RecipesTest is running.
std::string At(const std::string& path);

class RecipesTest : public testing::Test {
 protected:
  RecipesTest();
  ~RecipesTest() override;

  // Creates the database, or opens it if it exists.
  static std::unique_ptr<DB> OpenAt(const std::string& path);
  // Returns the entries of At(path), a closed database with only the default family, as "a=1 b=2".
  static std::string ScanAt(const std::string& path);
  // The same for an open database, or for the part of it that `options` makes visible.
  static std::string Scan(DB* db, const ReadOptions& options = ReadOptions());
  // Returns the value, or the text of the error.
  static std::string Value(DB* db, const std::string& key);

  // Runs the lines in a POSIX shell. The first line that fails ends the run and fails the test.
  // Their output is in shell_output().
  void Shell(const std::string& lines);
  const std::string& shell_output() const { return shell_output_; }

 private:
  const ScratchDirectory scratch_;
  std::string shell_output_;
};

}  // namespace ashlar

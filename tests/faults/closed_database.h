// ClosedDatabase: a small database, closed, as an image in memory that a test damages and then
// tries to open: two families, tables on several levels, a log with data that no table has.
//
// Thread safety: one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "filesystem/memory_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {

class ClosedDatabase {
 public:
  // Made the same way every time, but for the ids in it.
  ClosedDatabase();

  const MemoryImage& image() const { return image_; }
  const Contents& contents() const { return contents_; }
  const Options& options() const { return options_; }

  static std::string Path(const std::string& name) {
    return std::string(OpenDatabase::kPath) + "/" + name;
  }
  // Names of the files in the directory.
  std::vector<std::string> Files() const;
  // The only (or last) file whose name contains the text.
  std::string FileLike(const std::string& text) const;
  const std::string& Bytes(const std::string& name) const;
  // The image with the file replaced.
  MemoryImage With(const std::string& name, const std::string& bytes) const;
  MemoryImage Without(const std::string& name) const;
  MemoryImage WithDirectoryInsteadOf(const std::string& name) const;

 private:
  Options options_;
  MemoryImage image_;
  Contents contents_;
};

// The result of opening a damaged image and reading all of it.
struct Autopsy {
  bool opened = false;
  Status status;  // of the open, or the first error of a read
  // Something was read that was never written, or left out without an error.
  bool wrong_data = false;
  bool untouched = true;  // LOCK left out; only told when it did not open
};
Autopsy OpenAndReadAll(const MemoryImage& image, const Options& options, const Contents& expected);

}  // namespace ashlar

// ClosedDatabase: an image in memory of a small, closed database that a test damages and then tries
// to open. It has two families, tables on several levels, and a log with data that is in no table.
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
  // The database is the same every time, except for its ids.
  ClosedDatabase();

  const MemoryImage& image() const { return image_; }
  const Contents& contents() const { return contents_; }
  const Options& options() const { return options_; }

  static std::string Path(const std::string& name) {
    return std::string(OpenDatabase::kPath) + "/" + name;
  }
  // The names of the files in the directory.
  std::vector<std::string> Files() const;
  // The only, or else the last, file whose name contains the text.
  std::string FileLike(const std::string& text) const;
  const std::string& Bytes(const std::string& name) const;
  // Returns the image with the file replaced.
  MemoryImage With(const std::string& name, const std::string& bytes) const;
  MemoryImage Without(const std::string& name) const;
  MemoryImage WithDirectoryInsteadOf(const std::string& name) const;

 private:
  Options options_;
  MemoryImage image_;
  Contents contents_;
};

// The result of opening a damaged image and reading it completely.
struct Autopsy {
  bool opened = false;
  Status status;  // of the open, or the first error of a read
  // A read returned data that were never written, or omitted data without an error.
  bool wrong_data = false;
  bool untouched = true;  // except LOCK; set only if it did not open
};
Autopsy OpenAndReadAll(const MemoryImage& image, const Options& options, const Contents& expected);

}  // namespace ashlar

// A small in-memory database of two families: tables, a MANIFEST and a log with unflushed writes.
// Targets replace one of its files with other bytes. The function below opens such a database in
// the ways that change no file.
//
// Thread safety: constant after construction.
#pragma once

#include <memory>
#include <string>

#include "base/function_ref.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar::fuzz {

class SmallDatabase {
 public:
  static const SmallDatabase& Get();

  const MemoryImage& image() const { return image_; }
  // The names of the newest log and of the MANIFEST, without a directory.
  const std::string& log() const { return log_; }
  const std::string& manifest() const { return manifest_; }
  const std::string& Bytes(const std::string& name) const;
  MemoryImage With(const std::string& name, const std::string& bytes) const;

 private:
  SmallDatabase();

  MemoryImage image_;
  std::string log_;
  std::string manifest_;
};

// Opens the database of these files read-only and as a secondary. Calls `read` for each one that
// opens, with its contents, or with null if not all can be read. Returns whether both open. No file
// may change.
bool ForEachReader(const std::shared_ptr<MemoryFileSystem>& file_system, const Options& options,
                   FunctionRef<void(DB* reader, const Contents* contents)> read);

}  // namespace ashlar::fuzz

// A small database of two families, in memory: tables, a MANIFEST and a log with unflushed writes.
// For targets that put other bytes in the place of one of its files. Also the ways to open such a
// database that change nothing.
//
// Thread safety: constant once made.
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
  // The names of the newest log and of the MANIFEST, without directory.
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

// Opens the database of these files read-only and as a secondary, and calls `read` for each that
// opens: with its contents, and null if not all can be read. Returns whether both open. No file may
// change.
bool ForEachReader(const std::shared_ptr<MemoryFileSystem>& file_system, const Options& options,
                   FunctionRef<void(DB* reader, const Contents* contents)> read);

}  // namespace ashlar::fuzz

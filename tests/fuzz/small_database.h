// A small database of two families, in memory: tables, a MANIFEST and a log with unflushed writes.
// For targets that put other bytes in the place of one of its files.
//
// Thread safety: constant once made.
#pragma once

#include <string>

#include "filesystem/memory_file_system.h"

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

}  // namespace ashlar::fuzz

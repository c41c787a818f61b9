// Writes a table with a database, for ingestion with allow_db_generated_files.
//
// Thread safety: one thread.
#pragma once

#include <memory>
#include <string>

#include "ashlar/vfs.h"
#include "tests/support/open_database.h"

namespace ashlar {

// Writes the entries with a temporary database, /source, and moves its table to `path`.
void WriteTableByADatabase(const std::shared_ptr<vfs::FileSystem>& file_system,
                           const std::string& path, const FamilyContents& entries);

}  // namespace ashlar

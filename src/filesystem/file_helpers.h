// Whole small files: reading with a cap, writing durably, and CURRENT, which names the live
// MANIFEST. Files and directories that last.
//
//   SetCurrentFile:  write 000012.dbtmp -> sync it -> rename to CURRENT -> sync the directory
//
// I1: at every moment CURRENT is either the old one or the new one, complete; after Ok it is the
//     new one even after a power cut.
//
// Thread safety: as the FileSystem; two writers of one path exclude each other themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/vfs.h"
#include "base/function_ref.h"
#include "base/result.h"

namespace ashlar {

enum class Durability {
  kBuffered,  // survives the process, not the machine
  kSynced,    // bytes and size are durable on return; the directory entry is not
};

// Creates or replaces the file. On failure the file may be there in part.
Status WriteStringToFile(vfs::FileSystem* file_system, const Slice& data, const std::string& path,
                         Durability durability);

// The whole file. Corruption when it is longer than bytes_max; no more than that is allocated.
Result<std::string> ReadFileToString(vfs::FileSystem* file_system, const std::string& path,
                                     size_t bytes_max);

// Bytes that a copy has in the place of the original's. No bytes: it is equal.
struct FilePatch {
  uint64_t offset = 0;
  std::string bytes = {};
};
// Copies a file to a path where there is none. The copy is durable, its directory entry is not. On
// failure a part of it may be there.
Status CopyToNewFile(vfs::FileSystem* file_system, const std::string& from, const std::string& to,
                     const FilePatch& patch);

// Reads a file from its beginning to its end. The first error of `take` ends it.
Status ForEachPiece(vfs::FileSystem* file_system, const std::string& path,
                    FunctionRef<Status(const Slice& piece)> take);

// Makes the bytes of a closed file durable. The process that wrote it may have died before it had
// synced it: a file that is there as a whole need not be so after a power cut. Requires: the file
// exists.
Status SyncFile(vfs::FileSystem* file_system, const std::string& path);

// Makes the names in the directory durable.
Status SyncDirectory(vfs::FileSystem* file_system, const std::string& path);

// Creates the directory if it is missing, and makes its entry durable. Otherwise a power cut could
// remove a database with everything that was synced in it. The entry of a directory that was there
// is left to the system where its parent cannot be opened or has no sync.
Status CreateDirDurably(vfs::FileSystem* file_system, const std::string& path);

// Makes CURRENT name MANIFEST-<manifest_number>. `handle` is the open directory. After an error
// CURRENT may be either.
Status SetCurrentFile(vfs::FileSystem* file_system, const std::string& directory,
                      uint64_t manifest_number, vfs::Directory* handle);

// The number of the MANIFEST that CURRENT names. PathNotFound without CURRENT; Corruption unless it
// is exactly "MANIFEST-<number>\n".
Result<uint64_t> ReadCurrentFile(vfs::FileSystem* file_system, const std::string& directory);

}  // namespace ashlar

// Helpers for complete small files: bounded reads, durable writes, and CURRENT, which names the
// live MANIFEST. Also makes files and directories durable.
//
//   SetCurrentFile:  write 000012.dbtmp -> sync it -> rename to CURRENT -> sync the directory
//
// I1: at every moment CURRENT is either the complete old file or the complete new one. After Ok it
//     is the new one, even after a power cut.
//
// Thread safety: that of the FileSystem. Two writers of one path must exclude each other.
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
  kBuffered,  // survives a process crash, but not a power cut
  kSynced,    // bytes and size are durable on return; the directory entry is not
};

// Creates or replaces the file. On failure the file may be incomplete.
Status WriteStringToFile(vfs::FileSystem* file_system, const Slice& data, const std::string& path,
                         Durability durability);

// Reads a complete file. Corruption if it is longer than bytes_max; no more than that is allocated.
Result<std::string> ReadFileToString(vfs::FileSystem* file_system, const std::string& path,
                                     size_t bytes_max);

// The bytes that replace the original's in a copy. Without bytes, the copy equals the original.
struct FilePatch {
  uint64_t offset = 0;
  std::string bytes = {};
};
// Copies a file to a path that does not exist. The copy is durable, but its directory entry is not.
// On failure a part of the copy may remain.
Status CopyToNewFile(vfs::FileSystem* file_system, const std::string& from, const std::string& to,
                     const FilePatch& patch);

// Reads a file in pieces from beginning to end. Stops at the first error of `take`.
Status ForEachPiece(vfs::FileSystem* file_system, const std::string& path,
                    FunctionRef<Status(const Slice& piece)> take);

// Makes the bytes of a closed file durable. The process that wrote the file may have died before it
// synced it, so a file that is complete now may be incomplete after a power cut. Requires: the file
// exists.
Status SyncFile(vfs::FileSystem* file_system, const std::string& path);

// Makes the names in the directory durable.
Status SyncDirectory(vfs::FileSystem* file_system, const std::string& path);

// Creates the directory if it is missing, and makes its entry durable. Otherwise a power cut could
// remove a database with everything that was synced in it. The entry of a directory that already
// exists is left to the system if its parent cannot be opened or has no sync.
Status CreateDirDurably(vfs::FileSystem* file_system, const std::string& path);

// Makes CURRENT name MANIFEST-<manifest_number>. `handle` is the open directory. After an error
// CURRENT may be the old file or the new one.
Status SetCurrentFile(vfs::FileSystem* file_system, const std::string& directory,
                      uint64_t manifest_number, vfs::Directory* handle);

// Returns the number of the MANIFEST that CURRENT names. Returns PathNotFound without CURRENT, and
// Corruption unless it is exactly "MANIFEST-<number>\n".
Result<uint64_t> ReadCurrentFile(vfs::FileSystem* file_system, const std::string& directory);

}  // namespace ashlar

// Damage to the files of a closed database: flipped bytes, cut ends, removed files, at places drawn
// from a seed or given.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ashlar/vfs.h"
#include "base/random.h"

namespace ashlar {

// The names in the directory for which `chosen` is true, sorted.
std::vector<std::string> FilesIn(vfs::FileSystem* file_system, const std::string& directory,
                                 const std::function<bool(const std::string& name)>& chosen);
inline bool IsTable(const std::string& name) { return name.ends_with(".sst"); }
inline bool IsManifest(const std::string& name) { return name.starts_with("MANIFEST-"); }
inline bool IsLog(const std::string& name) { return name.ends_with(".log"); }

std::string ContentsOf(vfs::FileSystem* file_system, const std::string& path);
void ReplaceFile(vfs::FileSystem* file_system, const std::string& path,
                 const std::string& contents);
// Inverts the bits of one byte.
void FlipByte(vfs::FileSystem* file_system, const std::string& path, size_t offset);
void CutFile(vfs::FileSystem* file_system, const std::string& path, size_t bytes);
// Every file of `from` in `to`, which is made.
void CopyDirectory(vfs::FileSystem* file_system, const std::string& from, const std::string& to);

// One to three kinds of damage to tables, logs, CURRENT and MANIFEST; never all of the tables.
// Returns a description.
std::string DamageAtRandom(vfs::FileSystem* file_system, const std::string& directory,
                           Random* random);

}  // namespace ashlar

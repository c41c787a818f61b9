// Damages the files of a closed database by flipping bytes, truncating files and removing them, at
// given places or at places drawn from a seed.
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

// The sorted names in the directory for which `chosen` returns true.
std::vector<std::string> FilesIn(vfs::FileSystem* file_system, const std::string& directory,
                                 const std::function<bool(const std::string& name)>& chosen);
inline bool IsTable(const std::string& name) { return name.ends_with(".sst"); }
inline bool IsManifest(const std::string& name) { return name.starts_with("MANIFEST-"); }
inline bool IsLog(const std::string& name) { return name.ends_with(".log"); }

std::string ContentsOf(vfs::FileSystem* file_system, const std::string& path);
void ReplaceFile(vfs::FileSystem* file_system, const std::string& path,
                 const std::string& contents);
// Inverts all bits of one byte.
void FlipByte(vfs::FileSystem* file_system, const std::string& path, size_t offset);
void CutFile(vfs::FileSystem* file_system, const std::string& path, size_t bytes);
// Copies every file of `from` to `to`, which is created.
void CopyDirectory(vfs::FileSystem* file_system, const std::string& from, const std::string& to);

// Applies one to three kinds of damage to tables, logs, CURRENT and MANIFEST, and never damages
// every table. Returns a description.
std::string DamageAtRandom(vfs::FileSystem* file_system, const std::string& directory,
                           Random* random);

}  // namespace ashlar

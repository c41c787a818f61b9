#include "tests/support/file_damage.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"

namespace ashlar {

namespace {

constexpr size_t kFileBytesMax = size_t{64} << 20;

bool MayBeDamaged(const std::string& name) {
  return IsTable(name) || IsManifest(name) || IsLog(name) || name == "CURRENT";
}

std::string DamageOne(vfs::FileSystem* file_system, const std::string& directory,
                      const std::string& name, Random* random) {
  const std::string path = StrCat(directory, "/", name);
  const std::string contents = ContentsOf(file_system, path);
  const uint64_t kind = random->Uniform(10);
  if (kind < 2 || contents.empty()) {
    ASHLAR_ASSERT(file_system->DeleteFile(path).ok());
    return StrCat(name, " removed");
  }
  const size_t at = static_cast<size_t>(random->Uniform(contents.size()));
  if (kind < 4) {
    CutFile(file_system, path, at);
    return StrCat(name, " cut to ", at, " of ", contents.size());
  }
  const size_t run = kind < 8 ? 1 : std::min<size_t>(contents.size() - at, 40);
  for (size_t i = 0; i < run; ++i) FlipByte(file_system, path, at + i);
  return StrCat(name, " flipped at ", at, " of ", contents.size(), ", ", run, " bytes");
}

}  // namespace

std::vector<std::string> FilesIn(vfs::FileSystem* file_system, const std::string& directory,
                                 const std::function<bool(const std::string& name)>& chosen) {
  std::vector<std::string> names;
  ASHLAR_ASSERT(file_system->GetChildren(directory, &names).ok());
  std::erase_if(names, [&](const std::string& name) { return !chosen(name); });
  std::sort(names.begin(), names.end());
  return names;
}

std::string ContentsOf(vfs::FileSystem* file_system, const std::string& path) {
  Result<std::string> contents = ReadFileToString(file_system, path, kFileBytesMax);
  ASHLAR_ASSERT(contents.ok());
  return std::move(contents).value();
}

void ReplaceFile(vfs::FileSystem* file_system, const std::string& path,
                 const std::string& contents) {
  ASHLAR_ASSERT(WriteStringToFile(file_system, contents, path, Durability::kSynced).ok());
}

void FlipByte(vfs::FileSystem* file_system, const std::string& path, size_t offset) {
  std::string contents = ContentsOf(file_system, path);
  ASHLAR_ASSERT(offset < contents.size());
  contents[offset] = static_cast<char>(~contents[offset]);
  ReplaceFile(file_system, path, contents);
}

void CutFile(vfs::FileSystem* file_system, const std::string& path, size_t bytes) {
  ReplaceFile(file_system, path, ContentsOf(file_system, path).substr(0, bytes));
}

void CopyDirectory(vfs::FileSystem* file_system, const std::string& from, const std::string& to) {
  ASHLAR_ASSERT(file_system->CreateDirIfMissing(to).ok());
  const auto is_file = [&](const std::string& name) {
    return name != "LOCK" && name != "lost" && !name.starts_with("LOG");
  };
  for (const std::string& name : FilesIn(file_system, from, is_file))
    ReplaceFile(file_system, StrCat(to, "/", name),
                ContentsOf(file_system, StrCat(from, "/", name)));
}

std::string DamageAtRandom(vfs::FileSystem* file_system, const std::string& directory,
                           Random* random) {
  std::string description;
  const uint64_t count = 1 + random->Uniform(3);
  for (uint64_t i = 0; i < count; ++i) {
    const std::vector<std::string> names = FilesIn(file_system, directory, MayBeDamaged);
    const auto tables = std::count_if(names.begin(), names.end(), IsTable);
    const std::string& name = names[static_cast<size_t>(random->Uniform(names.size()))];
    if (tables <= 1 && IsTable(name)) continue;
    StrAppend(&description, description.empty() ? "" : "; ",
              DamageOne(file_system, directory, name, random));
  }
  return description;
}

}  // namespace ashlar

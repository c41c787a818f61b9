// The optional methods of a vfs::FileSystem.
#include "ashlar/vfs.h"

#include "base/format.h"
#include "base/result.h"

namespace ashlar::vfs {

Status RandomAccessFile::Map(Slice*) const {
  return Status::NotSupported("this file is not mapped into memory: open it with use_mmap_reads");
}

void RandomAccessFile::Hint(AccessPattern, uint64_t, uint64_t) const {}

Status WritableFile::RangeSync(uint64_t, uint64_t) { return Status::OK(); }

Status FileSystem::ReuseWritableFile(const std::string& from, const std::string& to,
                                     const FileOptions&, std::unique_ptr<WritableFile>*) {
  return Status::NotSupported(StrCat(Name(), " does not write files over"),
                              StrCat(from, " to ", to));
}

Status FileSystem::LinkFile(const std::string& from, const std::string& to) {
  return Status::NotSupported(StrCat(Name(), " has no hard links"), StrCat(from, " to ", to));
}

Status FileSystem::NumFileLinks(const std::string& path, uint64_t*) {
  return Status::NotSupported(StrCat(Name(), " does not count hard links"), path);
}

Status FileSystem::NewRandomRWFile(const std::string& path, std::unique_ptr<RandomRWFile>*) {
  return Status::NotSupported(StrCat(Name(), " has no files for random writes"), path);
}

Status FileSystem::NewMemoryMappedFileBuffer(const std::string& path,
                                             std::unique_ptr<MemoryMappedFileBuffer>*) {
  return Status::NotSupported(StrCat(Name(), " maps no files for writing"), path);
}

Status FileSystem::IsDirectory(const std::string& path, bool* is_directory) {
  ASHLAR_RETURN_IF_ERROR(FileExists(path));
  std::vector<std::string> names;
  *is_directory = GetChildren(path, &names).ok();
  return Status::OK();
}

Status FileSystem::AreFilesSame(const std::string& first, const std::string& second, bool*) {
  return Status::NotSupported(StrCat(Name(), " does not identify files"),
                              StrCat(first, " and ", second));
}

Status FileSystem::GetAbsolutePath(const std::string& path, std::string* absolute) {
  *absolute = path.starts_with('/') ? path : StrCat("/", path);
  return Status::OK();
}

Status FileSystem::GetFreeSpace(const std::string& path, uint64_t*) {
  return Status::NotSupported(StrCat(Name(), " does not know its free space"), path);
}

}  // namespace ashlar::vfs

// The optional methods of a vfs::FileSystem.
#include "ashlar/vfs.h"

#include "base/format.h"

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

Status FileSystem::GetFreeSpace(const std::string& path, uint64_t*) {
  return Status::NotSupported(StrCat(Name(), " does not know its free space"), path);
}

}  // namespace ashlar::vfs

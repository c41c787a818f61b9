#include "filesystem/file_helpers.h"

#include <algorithm>
#include <memory>

#include "base/format.h"
#include "filesystem/filename.h"
#include "platform/path.h"

namespace ashlar {
namespace {

Status WriteAndClose(vfs::WritableFile* file, const Slice& data, Durability durability) {
  ASHLAR_RETURN_IF_ERROR(file->Append(data));
  if (durability == Durability::kSynced) ASHLAR_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

Status RemoveIfThere(vfs::FileSystem* file_system, const std::string& path) {
  const Status status = file_system->DeleteFile(path);
  return status.IsPathNotFound() ? Status::OK() : status;
}

Status WriteNewFile(vfs::FileSystem* file_system, const Slice& data, const std::string& path) {
  vfs::FileOptions options;
  options.exclusive_create = true;
  std::unique_ptr<vfs::WritableFile> file;
  ASHLAR_RETURN_IF_ERROR(file_system->NewWritableFile(path, options, &file));
  return WriteAndClose(file.get(), data, Durability::kSynced);
}

}  // namespace

Status WriteStringToFile(vfs::FileSystem* file_system, const Slice& data, const std::string& path,
                         Durability durability) {
  std::unique_ptr<vfs::WritableFile> file;
  ASHLAR_RETURN_IF_ERROR(file_system->NewWritableFile(path, vfs::FileOptions(), &file));
  return WriteAndClose(file.get(), data, durability);
}

Result<std::string> ReadFileToString(vfs::FileSystem* file_system, const std::string& path,
                                     size_t bytes_max) {
  std::unique_ptr<vfs::SequentialFile> file;
  ASHLAR_RETURN_IF_ERROR(file_system->NewSequentialFile(path, vfs::FileOptions(), &file));
  constexpr size_t kPieceBytes = 8192;
  const std::unique_ptr<char[]> scratch(new char[kPieceBytes]);
  std::string contents;
  for (;;) {
    Slice piece;
    ASHLAR_RETURN_IF_ERROR(file->Read(kPieceBytes, &piece, scratch.get()));
    if (piece.empty()) return contents;
    if (piece.size() > bytes_max - contents.size()) {
      return Status::Corruption(
          path, StrCat("the file is longer than the ", bytes_max, " bytes that it may have"));
    }
    contents.append(piece.data(), piece.size());
  }
}

Status ForEachPiece(vfs::FileSystem* file_system, const std::string& path,
                    FunctionRef<Status(const Slice& piece)> take) {
  std::unique_ptr<vfs::SequentialFile> file;
  ASHLAR_RETURN_IF_ERROR(file_system->NewSequentialFile(path, vfs::FileOptions(), &file));
  constexpr size_t kPieceBytes = size_t{1} << 20;
  const std::unique_ptr<char[]> scratch(new char[kPieceBytes]);
  for (;;) {
    Slice piece;
    ASHLAR_RETURN_IF_ERROR(file->Read(kPieceBytes, &piece, scratch.get()));
    if (piece.empty()) return Status::OK();
    ASHLAR_RETURN_IF_ERROR(take(piece));
  }
}

Status CopyToNewFile(vfs::FileSystem* file_system, const std::string& from, const std::string& to,
                     const FilePatch& patch) {
  vfs::FileOptions options;
  options.exclusive_create = true;
  options.unbuffered_appends = true;
  std::unique_ptr<vfs::WritableFile> copy;
  ASHLAR_RETURN_IF_ERROR(file_system->NewWritableFile(to, options, &copy));
  uint64_t at = 0;
  std::string patched;
  ASHLAR_RETURN_IF_ERROR(ForEachPiece(file_system, from, [&](const Slice& piece) {
    const uint64_t begin = std::max(at, patch.offset);
    const uint64_t end = std::min(at + piece.size(), patch.offset + patch.bytes.size());
    Slice written = piece;
    if (begin < end) {
      patched.assign(piece.data(), piece.size());
      patched.replace(begin - at, end - begin, patch.bytes, begin - patch.offset, end - begin);
      written = patched;
    }
    at += piece.size();
    return copy->Append(written);
  }));
  ASHLAR_RETURN_IF_ERROR(copy->Sync());
  return copy->Close();
}

Status SyncFile(vfs::FileSystem* file_system, const std::string& path) {
  std::unique_ptr<vfs::WritableFile> file;
  ASHLAR_RETURN_IF_ERROR(file_system->ReopenWritableFile(path, vfs::FileOptions(), &file));
  ASHLAR_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

Status SyncDirectory(vfs::FileSystem* file_system, const std::string& path) {
  std::unique_ptr<vfs::Directory> directory;
  ASHLAR_RETURN_IF_ERROR(file_system->NewDirectory(path, &directory));
  return directory->Sync();
}

Status CreateDirDurably(vfs::FileSystem* file_system, const std::string& path) {
  const bool was_there = file_system->FileExists(path).ok();
  ASHLAR_RETURN_IF_ERROR(file_system->CreateDirIfMissing(path));
  std::unique_ptr<vfs::Directory> parent;
  const Status opened = file_system->NewDirectory(ParentDirectory(path), &parent);
  // A process with access to a directory may have no access to its parent.
  if (!opened.ok()) return was_there ? Status::OK() : opened;
  Status synced = parent->Sync();
  // A mount point may be in a read-only file system that has no sync.
  return was_there && synced.IsNotSupported() ? Status::OK() : synced;
}

Status SetCurrentFile(vfs::FileSystem* file_system, const std::string& directory,
                      uint64_t manifest_number, vfs::Directory* handle) {
  const std::string temporary = TempFileName(directory, manifest_number);
  // A crash may have left a temporary file.
  ASHLAR_RETURN_IF_ERROR(RemoveIfThere(file_system, temporary));
  const std::string contents =
      StrCat(BaseName(DescriptorFileName(directory, manifest_number)), "\n");
  Status status = WriteNewFile(file_system, contents, temporary);
  if (status.ok()) status = file_system->RenameFile(temporary, CurrentFileName(directory));
  if (!status.ok()) {
    static_cast<void>(RemoveIfThere(file_system, temporary));
    return status;
  }
  return handle->Sync();
}

Result<uint64_t> ReadCurrentFile(vfs::FileSystem* file_system, const std::string& directory) {
  const std::string path = CurrentFileName(directory);
  constexpr size_t kContentsBytesMax = 64;
  ASHLAR_ASSIGN_OR_RETURN(std::string contents,
                          ReadFileToString(file_system, path, kContentsBytesMax));
  if (!contents.empty() && contents.back() == '\n') {
    contents.pop_back();
    uint64_t number = 0;
    FileType type;
    if (ParseFileName(contents, &number, &type) && type == FileType::kDescriptorFile) return number;
  }
  return Status::Corruption(path, "does not hold the name of a MANIFEST and a line end");
}

}  // namespace ashlar

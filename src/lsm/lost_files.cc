#include "lsm/lost_files.h"

#include <memory>
#include <vector>

#include "base/assert.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"

namespace ashlar {

namespace {

constexpr size_t kPieceBytes = size_t{1} << 16;

// Reads a file from its beginning in pieces of kPieceBytes. Only the last piece may be shorter.
class PieceReader {
 public:
  Status Open(vfs::FileSystem* fs, const std::string& path) {
    return fs->NewSequentialFile(path, vfs::FileOptions(), &file_);
  }
  // *piece is empty at the end of the file.
  Status Next(std::string* piece) {
    piece->clear();
    while (piece->size() < kPieceBytes) {
      Slice read;
      ASHLAR_RETURN_IF_ERROR(file_->Read(kPieceBytes - piece->size(), &read, scratch_.get()));
      if (read.empty()) break;
      piece->append(read.data(), read.size());
    }
    return Status::OK();
  }

 private:
  std::unique_ptr<vfs::SequentialFile> file_;
  const std::unique_ptr<char[]> scratch_ = std::make_unique_for_overwrite<char[]>(kPieceBytes);
};

Result<bool> AreEqual(vfs::FileSystem* fs, const std::string& a, const std::string& b) {
  PieceReader reader_of_a;
  PieceReader reader_of_b;
  ASHLAR_RETURN_IF_ERROR(reader_of_a.Open(fs, a));
  ASHLAR_RETURN_IF_ERROR(reader_of_b.Open(fs, b));
  std::string piece_of_a;
  std::string piece_of_b;
  do {
    ASHLAR_RETURN_IF_ERROR(reader_of_a.Next(&piece_of_a));
    ASHLAR_RETURN_IF_ERROR(reader_of_b.Next(&piece_of_b));
    if (piece_of_a != piece_of_b) return false;
  } while (!piece_of_a.empty());
  return true;
}

Status CopyTo(vfs::FileSystem* fs, const std::string& from, vfs::WritableFile* to) {
  PieceReader reader;
  ASHLAR_RETURN_IF_ERROR(reader.Open(fs, from));
  std::string piece;
  for (;;) {
    ASHLAR_RETURN_IF_ERROR(reader.Next(&piece));
    if (piece.empty()) break;
    ASHLAR_RETURN_IF_ERROR(to->Append(piece));
  }
  ASHLAR_RETURN_IF_ERROR(to->Sync());
  return to->Close();
}

Status CopyFile(vfs::FileSystem* fs, const std::string& from, const std::string& copy) {
  std::unique_ptr<vfs::WritableFile> file;
  ASHLAR_RETURN_IF_ERROR(
      fs->NewWritableFile(copy, vfs::FileOptions{.exclusive_create = true}, &file));
  const Status copied = CopyTo(fs, from, file.get());
  file.reset();
  // An incomplete copy is useless. If it cannot be deleted, the next copy gets another name.
  if (!copied.ok()) static_cast<void>(fs->DeleteFile(copy).ok());
  return copied;
}

Status LinkOrCopyFile(vfs::FileSystem* fs, const std::string& from, const std::string& to) {
  return fs->LinkFile(from, to).ok() ? Status::OK() : CopyFile(fs, from, to);
}

using Maker = Status (*)(vfs::FileSystem* fs, const std::string& from, const std::string& to);

Result<std::string> Keep(vfs::FileSystem* fs, const std::string& directory, const std::string& path,
                         Maker make) {
  const std::string lost = LostDirectory(directory);
  ASHLAR_RETURN_IF_ERROR(fs->CreateDirIfMissing(lost));
  ASHLAR_RETURN_IF_ERROR(SyncDirectory(fs, directory));
  for (uint64_t copies = 0;; ++copies) {
    std::string copy = LostFileName(directory, BaseName(path), copies);
    const Status there = fs->FileExists(copy);
    if (there.ok()) {
      ASHLAR_ASSIGN_OR_RETURN(const bool is_kept, AreEqual(fs, path, copy));
      if (!is_kept) continue;
      ASHLAR_RETURN_IF_ERROR(SyncFile(fs, copy));
    } else if (there.IsNotFound() || there.IsPathNotFound()) {
      ASHLAR_RETURN_IF_ERROR(
          make(fs, path, copy).WithContext(StrCat("damaged files are kept in ", lost)));
    } else {
      return there;
    }
    ASHLAR_RETURN_IF_ERROR(SyncDirectory(fs, lost));
    return copy;
  }
}

}  // namespace

Result<std::string> KeepLog(const DatabaseState& state, uint64_t number) {
  ASHLAR_ASSERT(state.lock != nullptr);  // it writes to the directory
  return Keep(state.file_system, state.directory, WalFileName(state.wal_directory, number),
              CopyFile);
}

Result<std::string> KeepFile(vfs::FileSystem* file_system, const std::string& directory,
                             const std::string& path) {
  return Keep(file_system, directory, path, LinkOrCopyFile);
}

Status DeleteLostFiles(vfs::FileSystem* file_system, const std::string& directory) {
  const std::string lost = LostDirectory(directory);
  std::vector<std::string> names;
  // Without the directory, no file was ever kept.
  if (!file_system->GetChildren(lost, &names).ok()) return Status::OK();
  bool is_empty = true;
  for (const std::string& name : names) {
    if (!IsLostFileName(name)) {
      is_empty = false;
      continue;
    }
    ASHLAR_RETURN_IF_ERROR(file_system->DeleteFile(lost + "/" + name));
  }
  return is_empty ? file_system->DeleteDir(lost) : Status::OK();
}

}  // namespace ashlar

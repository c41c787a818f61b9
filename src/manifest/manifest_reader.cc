#include "manifest/manifest_reader.h"

#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"

namespace ashlar {

Result<std::unique_ptr<ManifestReader>> ManifestReader::Open(vfs::FileSystem* file_system,
                                                             const std::string& directory) {
  ASHLAR_ASSIGN_OR_RETURN(const FileNumber number, ReadCurrentFile(file_system, directory));
  Result<std::unique_ptr<ManifestReader>> opened = OpenNumber(file_system, directory, number, 0);
  if (opened.status().IsPathNotFound())
    return Status::Corruption(StrCat(CurrentFileName(directory), " names a file that is missing: ",
                                     DescriptorFileName(directory, number)));
  return opened;
}

Result<std::unique_ptr<ManifestReader>> ManifestReader::OpenNumber(vfs::FileSystem* file_system,
                                                                   const std::string& directory,
                                                                   FileNumber number,
                                                                   uint64_t from) {
  const std::string name = DescriptorFileName(directory, number);
  uint64_t bytes = 0;
  std::unique_ptr<vfs::SequentialFile> file;
  ASHLAR_RETURN_IF_ERROR(file_system->GetFileSize(name, &bytes));
  ASHLAR_RETURN_IF_ERROR(file_system->NewSequentialFile(name, vfs::FileOptions{}, &file));
  if (from == 0)
    return std::unique_ptr<ManifestReader>(
        new ManifestReader(number, std::move(file), name, bytes));
  if (bytes < from)
    return Status::Corruption(name, StrCat("has ", bytes, " bytes, and had ", from, " before"));
  std::unique_ptr<ManifestReader> reader(new ManifestReader(number, nullptr, name, bytes));
  reader->end_ = from;
  ASHLAR_RETURN_IF_ERROR(reader->log_.ContinueAt(from, std::move(file), bytes));
  return reader;
}

ManifestReader::ManifestReader(FileNumber number, std::unique_ptr<vfs::SequentialFile> file,
                               const std::string& file_name, uint64_t file_bytes)
    : number_(number),
      file_bytes_(file_bytes),
      log_(std::move(file), file_name, number, file_bytes) {}

Result<bool> ManifestReader::Extend(vfs::FileSystem* file_system) {
  ASHLAR_ASSERT(status_.ok() && group_.empty());  // Requires
  uint64_t bytes = 0;
  ASHLAR_RETURN_IF_ERROR(file_system->GetFileSize(file_name(), &bytes));
  if (bytes <= file_bytes_) return false;
  std::unique_ptr<vfs::SequentialFile> file;
  ASHLAR_RETURN_IF_ERROR(file_system->NewSequentialFile(file_name(), vfs::FileOptions{}, &file));
  ASHLAR_RETURN_IF_ERROR(log_.ContinueAt(end_, std::move(file), bytes));
  file_bytes_ = bytes;
  ends_incomplete_ = false;
  return true;
}

bool ManifestReader::Next(VersionEdit* edit) {
  if (!status_.ok()) return false;
  if (group_.empty()) {
    VersionEdit next;
    if (!ReadEdit(&next)) return false;
    if (!next.atomic_group_remaining.has_value()) {
      end_ = log_.last_good_offset();
      *edit = std::move(next);
      return true;
    }
    uint32_t remaining = *next.atomic_group_remaining;
    group_.push_back(std::move(next));
    while (remaining > 0) {
      VersionEdit member;
      if (!ReadEdit(&member)) {
        group_.clear();
        ends_incomplete_ = true;
        return false;
      }
      if (member.atomic_group_remaining != remaining - 1) {
        return Fail(Status::Corruption(StrCat(
            log_.file_name(), ": an atomic group is broken at offset ", log_.record_offset())));
      }
      --remaining;
      group_.push_back(std::move(member));
    }
    end_ = log_.last_good_offset();
  }
  *edit = std::move(group_.front());
  group_.pop_front();
  return true;
}

bool ManifestReader::ReadEdit(VersionEdit* edit) {
  Slice record;
  if (!log_.ReadRecord(&record, &scratch_)) {
    const bool ends_well = log_.outcome() == LogReader::Outcome::kEnd ||
                           log_.outcome() == LogReader::Outcome::kTornTail;
    ends_incomplete_ = log_.outcome() == LogReader::Outcome::kTornTail;
    return ends_well ? false : Fail(log_.status());
  }
  const Status decoded = edit->DecodeFrom(record);
  if (decoded.ok()) return true;
  return Fail(
      decoded.WithContext(StrCat(log_.file_name(), ": record at offset ", log_.record_offset())));
}

bool ManifestReader::Fail(Status status) {
  status_ = std::move(status);
  group_.clear();
  return false;
}

}  // namespace ashlar

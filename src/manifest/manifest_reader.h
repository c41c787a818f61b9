// ManifestReader: the edits of the MANIFEST that CURRENT names. Atomic groups are whole or left
// out.
//
// A record that is cut at the end of the file, and a group whose last edits are missing there, were
// never acknowledged and are left out. Any other damage is Corruption.
//
// Thread safety: one thread.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "ashlar/vfs.h"
#include "base/result.h"
#include "manifest/version_edit.h"
#include "wal/log_reader.h"

namespace ashlar {

class ManifestReader {
 public:
  static Result<std::unique_ptr<ManifestReader>> Open(vfs::FileSystem* file_system,
                                                      const std::string& directory);
  // One that CURRENT need not name. PathNotFound without the file. from: 0, or where an earlier
  // reader ended; Corruption if the file is shorter.
  static Result<std::unique_ptr<ManifestReader>> OpenNumber(vfs::FileSystem* file_system,
                                                            const std::string& directory,
                                                            FileNumber number, uint64_t from);

  // True: *edit is the next one. False: the end, or an error: see status().
  [[nodiscard]] bool Next(VersionEdit* edit);
  const Status& status() const { return status_; }
  // After the end, without an error: true if the file has grown. Next then goes on after end().
  Result<bool> Extend(vfs::FileSystem* file_system);
  // After the end: whether an incomplete edit or group is there.
  bool ends_incomplete() const { return ends_incomplete_; }

  FileNumber number() const { return number_; }
  const std::string& file_name() const { return log_.file_name(); }
  // The end of the reading. Later appends are not read before Extend.
  uint64_t file_bytes() const { return file_bytes_; }
  // Where the last edit or group ends that is whole.
  uint64_t end() const { return end_; }

 private:
  ManifestReader(FileNumber number, std::unique_ptr<vfs::SequentialFile> file,
                 const std::string& file_name, uint64_t file_bytes);

  // Reads one record. False: no more, or an error.
  bool ReadEdit(VersionEdit* edit);
  bool Fail(Status status);

  const FileNumber number_;
  uint64_t file_bytes_;
  LogReader log_;
  std::string scratch_;
  std::deque<VersionEdit> group_;  // complete, or being collected
  bool ends_incomplete_ = false;
  uint64_t end_ = 0;
  Status status_;
};

}  // namespace ashlar

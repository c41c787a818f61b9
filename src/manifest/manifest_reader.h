// ManifestReader: reads the edits of the MANIFEST that CURRENT names. Atomic groups are complete or
// left out.
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
  // Opens a MANIFEST that CURRENT need not name. PathNotFound: there is no such file. from: 0, or
  // where an earlier reader ended. Corruption: the file is shorter than that.
  static Result<std::unique_ptr<ManifestReader>> OpenNumber(vfs::FileSystem* file_system,
                                                            const std::string& directory,
                                                            FileNumber number, uint64_t from);

  // Returns true and the next edit, or false at the end and after an error (see status()).
  [[nodiscard]] bool Next(VersionEdit* edit);
  const Status& status() const { return status_; }
  // Call at the end, without an error. True if the file has grown. Next then continues after end().
  Result<bool> Extend(vfs::FileSystem* file_system);
  // After the end: true if an incomplete edit or group is there.
  bool ends_incomplete() const { return ends_incomplete_; }

  FileNumber number() const { return number_; }
  const std::string& file_name() const { return log_.file_name(); }
  // The size up to which the file is read. Later appends are not read before Extend.
  uint64_t file_bytes() const { return file_bytes_; }
  // The offset where the last complete edit or group ends.
  uint64_t end() const { return end_; }

 private:
  ManifestReader(FileNumber number, std::unique_ptr<vfs::SequentialFile> file,
                 const std::string& file_name, uint64_t file_bytes);

  // Reads one record. Returns false if there are no more, or after an error.
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

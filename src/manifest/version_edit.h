// VersionEdit: one record of the MANIFEST, which changes one column family or the database.
//
//   record     field*
//   field      varint32 tag | value
//   new file   varint32 level | varint64 number | varint64 bytes |
//   (tag 103)  string smallest | string largest internal key |
//              varint64 smallest | varint64 largest sequence |
//              (varint32 field tag | string value)* | 1
//
// docs/formats/manifest.md lists the tags and their values, and which are skipped or refused.
// Encoding produces the bytes that RocksDB 7.8 writes. Ashlar's own tables get no unique id (field
// 12), because a reader would check it against the table.
//
// I1: decoding accepts every edit that uses implemented features, whichever version of RocksDB
//     wrote it. It refuses the others and names the feature.
// I2: decoding an encoded edit gives the same edit.
// I3: after decoding every internal key has at least kTagBytes bytes, levels are below kLevelsMax,
//     and numbers of files and logs, ids of families and sequences are at most kFileNumberMax,
//     kColumnFamilyIdMax and kSequenceNumberMax.
//
// Lifetime: movable only; owns the FileMetaData of the files it adds until a Version takes them.
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"
#include "filesystem/filename.h"
#include "table/file_metadata.h"

namespace ashlar {

using ColumnFamilyId = uint32_t;
using Level = uint32_t;
// The files of a sorted level do not overlap: the level is one run, ascending by key. Level 0 is
// not sorted: each of its files is a run of its own, newest first.
inline constexpr bool IsSorted(Level level) { return level > 0; }
using FileNumber = uint64_t;

inline constexpr Level kLevelsMax = 64;  // the limit of RocksDB's own tools
// The highest id of a family. An id is used once and is the index of its family in an array.
inline constexpr ColumnFamilyId kColumnFamilyIdMax = (uint32_t{1} << 24) - 1;

struct DeletedFile {
  Level level = 0;
  FileNumber number = 0;
  friend auto operator<=>(const DeletedFile&, const DeletedFile&) = default;
};

struct NewFile {
  Level level = 0;
  // null: the file is in the base version and only changes its level.
  std::unique_ptr<FileMetaData> owned;
  const FileMetaData* file = nullptr;  // the encoded file: owned.get() or the base version's
};

struct LogAddition {
  uint64_t number = 0;
  std::optional<uint64_t> synced_bytes;  // absent: the log was created
  // With a size: true for RocksDB's tag, so that RocksDB checks the log, too; false for Ashlar's.
  bool is_tracked = false;
};

class EditDecoder;

class VersionEdit {
 public:
  VersionEdit() = default;
  VersionEdit(VersionEdit&&) noexcept = default;
  VersionEdit& operator=(VersionEdit&&) noexcept = default;
  VersionEdit(const VersionEdit&) = delete;
  VersionEdit& operator=(const VersionEdit&) = delete;

  ColumnFamilyId column_family = 0;
  std::optional<std::string> database_id;
  std::optional<std::string> comparator;
  // The family's tables have all entries of the logs below this one.
  std::optional<uint64_t> log_number;
  std::optional<uint64_t> previous_log_number;  // always 0 in new edits
  std::optional<FileNumber> next_file_number;
  std::optional<ColumnFamilyId> max_column_family;
  std::optional<uint64_t> min_log_number_to_keep;
  std::optional<SequenceNumber> last_sequence;
  // Where round-robin compaction of a level continues.
  std::vector<std::pair<Level, std::string>> compact_cursors;
  std::vector<LogAddition> log_additions;
  std::optional<uint64_t> log_deletion;            // logs below this number are deleted
  std::optional<std::string> added_column_family;  // its name; the id is column_family
  bool drops_column_family = false;
  // Present: the edit is part of a group, in which this many edits follow.
  std::optional<uint32_t> atomic_group_remaining;

  void AddFile(Level level, std::unique_ptr<FileMetaData> file);
  // Moves the file from one level of the base version to another. No data is read or written.
  void MoveFile(Level from, Level to, const FileMetaData* file);
  // For encoding only: names a file that another Version owns.
  void ListFile(Level level, const FileMetaData* file) {
    new_files_.push_back(NewFile{.level = level, .owned = nullptr, .file = file});
  }
  void DeleteFile(Level level, FileNumber number) { deleted_files_.insert({level, number}); }

  const std::set<DeletedFile>& deleted_files() const { return deleted_files_; }
  const std::vector<NewFile>& new_files() const { return new_files_; }
  std::vector<NewFile>& new_files() { return new_files_; }
  // AddFile does not throw for this many more files, so that none is lost.
  void ReserveNewFiles(size_t files) { new_files_.reserve(new_files_.size() + files); }
  std::vector<NewFile> TakeNewFiles() { return std::exchange(new_files_, {}); }

  bool ManipulatesColumnFamily() const {
    return added_column_family.has_value() || drops_column_family;
  }
  // True if the edit adds logs to the record or removes them. It must not change files then,
  // because readers would skip the changes.
  bool RecordsLogs() const { return !log_additions.empty() || log_deletion.has_value(); }

  void EncodeTo(std::string* out) const;
  // Requires: *this is new. Corruption: malformed. NotSupported: an unknown or unimplemented
  // feature. The text names the field or tag, but not the file.
  Status DecodeFrom(const Slice& record);
  // For people; without key bytes.
  std::string DebugString() const;

 private:
  friend class EditDecoder;

  std::set<DeletedFile> deleted_files_;  // stored in order
  std::vector<NewFile> new_files_;
};

}  // namespace ashlar

// CompactionOutput: writes ascending entries into table files. It opens numbered files one after
// another, cuts, syncs and closes them. Flushes and compactions share this output path.
//
//   (none) --Add--> open --Add, cut--> closed --Add--> open ... --Finish--> all closed
//     an error, or destruction before TakeFiles: every file made here is deleted
//
// A file is cut only before the first version of a user key, and there
//   - where a FileCutter cuts it (compact/plan/file_cutter.h),
//   - when it has half of the bytes that a PlainTable can have,
//   - where the program's partitioner cuts it.
//
// Range tombstones are cut where the files are. A file also ends at the start of a tombstone if it
// would otherwise get too many of them for one block.
//
// I1: entries ascend; all versions of one user key are in one file, and a file's range tombstones
//     end before the next file's first user key, or where its first tombstone begins.
// I2: a file in the result is complete, synced and closed. Its directory entry is not synced, so
//     the caller syncs the directory before it installs.
// I3: after an error nothing more is written. A failed write, sync or close is final for its file.
// Lifetime: args outlive the output. Thread safety: one thread, which also calls new_file_number.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/sst_partitioner.h"
#include "ashlar/status.h"
#include "ashlar/vfs.h"
#include "base/result.h"
#include "compact/plan/file_cutter.h"
#include "compact/run/compaction_ranges.h"
#include "filesystem/file_checksum.h"
#include "filesystem/timed_file.h"
#include "key/internal_key.h"
#include "table/blockbased/table_builder.h"
#include "table/file_metadata.h"
#include "table/plain/plain_table_builder.h"

namespace ashlar {

// Is notified when an output begins a file and when the file has ended, on the thread that writes
// it. Outputs of one job run concurrently.
class CompactionOutputObserver {
 public:
  struct Ended {
    const std::string& path;
    uint64_t number = 0;
    uint64_t file_bytes = 0;                      // 0 unless Ok
    const TableProperties* properties = nullptr;  // null unless Ok
    const FileChecksum& checksum;                 // none unless Ok
    Status status;
  };
  virtual ~CompactionOutputObserver() = default;
  virtual void TableBegun(const std::string& path) = 0;
  virtual void TableEnded(const Ended& table) = 0;
};

struct CompactionOutputArgs {
  vfs::FileSystem* file_system = nullptr;
  std::string directory;
  // If set: the path of the only file, which is outside of any database.
  std::string path;
  vfs::FileOptions file_options;
  // Common to all files. The output sets file, file_name, file_number and the three times below.
  TableWriteArgs table;
  FileChecksumGenFactory* checksums = nullptr;  // of the whole files; null: none
  // If set, PlainTables are written. They hold no range tombstones. An output that has some, from a
  // time when the family had another kind of table, is block-based.
  std::optional<PlainTableConfig> plain;
  uint64_t creation_unix_seconds = 0;         // now
  uint64_t oldest_ancestor_unix_seconds = 0;  // of the oldest input; 0: now
  uint64_t oldest_key_unix_seconds = 0;       // 0: unknown
  // Called for every file, possibly by several outputs at once. The number must be protected from
  // the deletion of obsolete files until the job's result is installed.
  std::function<uint64_t()> new_file_number;
  CompactionOutputObserver* observer = nullptr;  // null: none
  // Receives the times of the files' syncs.
  Histograms sync_histogram = COMPACTION_OUTFILE_SYNC_MICROS;
  // Writeback of a file starts after each of this many bytes, so that the sync at its end has less
  // to wait for. 0: every 4 MiB.
  uint64_t bytes_per_sync = 0;

  // Times the calls on the files; see file_times.
  bool times_files = false;

  // Files that are dense in deletions are marked for compaction.
  bool marks_dense_files = false;
  // Files are also marked if the program's collectors request it.
  bool collectors_mark_files = false;

  uint64_t target_file_bytes = UINT64_MAX;  // UINT64_MAX: one file
  std::vector<FileMetaData*> grandparents;  // ascending and disjoint
  uint64_t max_grandparent_overlap_bytes = UINT64_MAX;
  // The approximate limit on the bytes of one file's range tombstones. UINT64_MAX: no limit, but a
  // table whose block of them gets too large is refused.
  uint64_t range_bytes_max = UINT64_MAX;
  // Makes the partitioner of one output, or null. Several outputs may call it at once. Empty: none.
  std::function<std::unique_ptr<SstPartitioner>()> new_partitioner;
};

class CompactionOutput {
 public:
  explicit CompactionOutput(const CompactionOutputArgs& args);
  ~CompactionOutput();
  CompactionOutput(const CompactionOutput&) = delete;
  CompactionOutput& operator=(const CompactionOutput&) = delete;

  // Sets the range tombstones to write. Each file gets the part between its first user key and the
  // first user key of the next file. The first file also gets the part before, and the last the
  // part after. Call before Add. The tombstones outlive the output.
  void WriteRanges(const FragmentedRanges* ranges);
  // Opens the first file before any entry is added. An output with a single file accepts
  // WriteRanges until Finish.
  Status Begin() { return Latch(Open()); }
  // first_of_user_key: no entry with this user key was added before.
  Status Add(const Slice& internal_key, const Slice& value, bool first_of_user_key) {
    if (!status_.ok()) return status_;
    const bool stays = open_ != nullptr &&
                       (!first_of_user_key ||
                        (!cuts_by_key_ && open_->EstimatedFileBytes() < cutter_.file_bytes_max()));
    if (!stays) ASHLAR_RETURN_IF_ERROR(PrepareFor(ExtractUserKey(internal_key), first_of_user_key));
    open_->Add(internal_key, value);
    if (!open_->status().ok()) return Latch(open_->status());
    if (open_->EstimatedFileBytes() >= open_->write_back_at) [[unlikely]] {
      StartWriteBack();
    }
    return Status::OK();
  }
  // Counts the last added entry as a version for snapshots only (table_properties.h).
  void CountSnapshotVersion() { ++open_->snapshot_versions; }
  Status Finish();

  uint64_t bytes_written() const { return bytes_written_; }  // of complete files
  const FileTimes& file_times() const { return file_times_; }
  size_t files() const { return files_.size(); }  // complete ones
  // The approximate bytes of the open file so far; 0 if none is open.
  uint64_t OpenFileBytes() const { return open_ == nullptr ? 0 : open_->EstimatedFileBytes(); }
  // Requires: Finish returned OK. Allocates nothing.
  std::vector<std::unique_ptr<FileMetaData>> TakeFiles();

 private:
  struct OpenFile {
    uint64_t number;
    std::string path;
    std::unique_ptr<vfs::WritableFile> file;
    ChecksummedFile* checksummed = nullptr;  // `file`; null: it has no checksum
    FileChecksum checksum = {};              // set once the file is complete
    // One of the two is set. This costs a branch per entry, and no virtual call.
    std::unique_ptr<TableBuilder> block_based;
    std::unique_ptr<PlainTableBuilder> plain;
    uint64_t write_back_at = 0;        // approximate file size at which writeback starts next
    uint64_t bytes_in_write_back = 0;  // bytes from the beginning of the file
    uint64_t snapshot_versions = 0;

    void Add(const Slice& internal_key, const Slice& value) {
      if (block_based != nullptr) [[likely]] {
        block_based->Add(internal_key, value);
      } else {
        plain->Add(internal_key, value);
      }
    }
    void AddRangeDeletion(const RangeTombstone& tombstone) {
      block_based != nullptr ? block_based->AddRangeDeletion(tombstone)
                             : plain->AddRangeDeletion(tombstone);
    }
    const Status& status() const {
      return block_based != nullptr ? block_based->status() : plain->status();
    }
    uint64_t EstimatedFileBytes() const {
      return block_based != nullptr ? block_based->EstimatedFileBytes()
                                    : plain->EstimatedFileBytes();
    }
    Status Finish(TableWriteResult* result) {
      if (snapshot_versions > 0) {
        block_based != nullptr ? block_based->RecordSnapshotVersions(snapshot_versions)
                               : plain->RecordSnapshotVersions(snapshot_versions);
      }
      return block_based != nullptr ? block_based->Finish(result) : plain->Finish(result);
    }
  };

  Status Open();
  Status StartFile(OpenFile* opened);
  Status AddChecksum(OpenFile* opened) const;
  // next: the first user key of the next file, of an entry or a tombstone; null: this is the last
  // file.
  Status Close(const Slice* next);
  void AddRanges(OpenFile* file, const Slice* next);
  Status Complete(OpenFile* closing, TableWriteResult* result);
  void NotifyEnd(const OpenFile& file, const TableWriteResult* result, const Status& status);
  void StartWriteBack();
  // Closes the open file if it must be cut here, and opens one if none is open.
  Status PrepareFor(const Slice& user_key, bool first_of_user_key);
  bool CutBefore(const Slice& user_key);
  // Ends files where tombstones up to the user key begin, as range_bytes_max demands. null: all
  // remaining tombstones. Requires: next_range_ is set and begins after the keys of the open file.
  Status CutRanges(const Slice* user_key);
  Status Latch(Status status);

  const CompactionOutputArgs& args_;
  const uint64_t target_file_bytes_;
  const uint64_t write_back_bytes_;
  const std::unique_ptr<SstPartitioner> partitioner_;  // null: none
  FileCutter cutter_;
  bool cuts_by_key_;           // each new user key may end a file
  std::string last_user_key_;  // of the open file; set with partitioner_
  FileTimes file_times_;       // declared before open_, whose file adds to them
  std::unique_ptr<OpenFile> open_;
  std::vector<std::unique_ptr<FileMetaData>> files_;
  std::vector<std::string> made_;  // paths to delete unless the files are taken
  uint64_t bytes_written_ = 0;
  const FragmentedRanges* ranges_ = nullptr;  // null: none
  // The first user key of the open file. Not set for the first file.
  std::optional<std::string> ranges_from_;
  // The first fragment that begins after the last user key. Not set if one file may have all.
  std::optional<FragmentedRanges::Cursor> next_range_;
  uint64_t range_bytes_ = 0;  // of the fragments before it that begin in the open file
  Status status_;
};

}  // namespace ashlar

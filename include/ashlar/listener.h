// EventListener: the engine calls it when something happens in the background.
//
// Callbacks run on the thread that did the work, without a lock. They may read, take snapshots,
// read properties and set options; a slow one delays the work. A callback must not wait for
// background work, because it may run on the thread that does this work. Do not write, sync or
// switch the log, create or drop families, flush, compact, pause or wait for idleness in a
// callback; use another thread. It must not throw: an exception ends the process. Several threads
// may call a listener at once. Lifetime: the database shares its listeners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/compression_type.h"
#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/status.h"
#include "ashlar/table_properties.h"
#include "ashlar/types.h"

namespace ashlar {

class ColumnFamilyHandle;
class DB;

enum class CompactionReason : int {
  kUnknown = 0,
  kLevelL0FilesNum = 1,
  kLevelMaxLevelSize = 2,
  kUniversalSizeAmplification = 3,
  kUniversalSizeRatio = 4,
  kUniversalSortedRunNum = 5,
  kFIFOMaxSize = 6,
  kFIFOReduceNumFiles = 7,
  kFIFOTtl = 8,
  kManualCompaction = 9,
  kFilesMarkedForCompaction = 10,
  kBottommostFiles = 11,
  kTtl = 12,
  kFlush = 13,
  kExternalSstIngestion = 14,
  kPeriodicCompaction = 15,
  kChangeTemperature = 16,  // not used by Ashlar, nor are the next two
  kForcedBlobGC = 17,
  kRoundRobinTtl = 18,
  kRefitLevel = 19,
  kReadTriggered = 20,  // not used
  kNumOfReasons,
};
ASHLAR_API const char* GetCompactionReasonString(CompactionReason reason);

enum class FlushReason : int {
  kOthers = 0x00,
  kGetLiveFiles = 0x01,
  kShutDown = 0x02,
  kExternalFileIngestion = 0x03,
  kManualCompaction = 0x04,
  kWriteBufferManager = 0x05,
  kWriteBufferFull = 0x06,
  kTest = 0x07,
  kDeleteFiles = 0x08,
  kAutoCompaction = 0x09,
  kManualFlush = 0x0a,
  kErrorRecovery = 0xb,
  kErrorRecoveryRetryFlush = 0xc,
  kWalFull = 0xd,
  kCatchUpAfterErrorRecovery = 0xe,  // not used by Ashlar
  kMemtableMaxRangeDeletions = 0xf,  // not used
};
ASHLAR_API const char* GetFlushReasonString(FlushReason reason);

enum class BackgroundErrorReason {
  kFlush,
  kCompaction,
  kWriteCallback,
  kMemTable,
  kManifestWrite,
  kFlushNoWAL,
  kManifestWriteNoWAL,
  kAsyncFileOpen,  // not used by Ashlar
};

struct FileCreationBriefInfo {
  std::string db_name;
  std::string cf_name;
  std::string file_path;
  int job_id = 0;
};

struct TableFileCreationBriefInfo : public FileCreationBriefInfo {
  TableFileCreationReason reason = TableFileCreationReason::kMisc;
};

struct TableFileCreationInfo : public TableFileCreationBriefInfo {
  uint64_t file_size = 0;
  TableProperties table_properties;
  Status status;
  std::string file_checksum;
  std::string file_checksum_func_name;
};

struct FileDeletionInfo {
  std::string db_name;
  std::string file_path;
  int job_id = 0;
  Status status;
};
struct TableFileDeletionInfo : public FileDeletionInfo {};

// Ashlar writes no blob files, so their callbacks are never called. The members about them in the
// infos below are 0, empty or kNoCompression.
struct BlobFileCreationBriefInfo : public FileCreationBriefInfo {
  BlobFileCreationReason reason = BlobFileCreationReason::kFlush;
};
struct BlobFileCreationInfo : public BlobFileCreationBriefInfo {
  uint64_t total_blob_count = 0;
  uint64_t total_blob_bytes = 0;
  Status status;
  std::string file_checksum;
  std::string file_checksum_func_name;
};
struct BlobFileDeletionInfo : public FileDeletionInfo {};
struct BlobFileInfo {
  std::string blob_file_path;
  uint64_t blob_file_number = 0;
};
struct BlobFileAdditionInfo : public BlobFileInfo {
  uint64_t total_blob_count = 0;
  uint64_t total_blob_bytes = 0;
};
struct BlobFileGarbageInfo : public BlobFileInfo {
  uint64_t garbage_blob_count = 0;
  uint64_t garbage_blob_bytes = 0;
};

struct FlushJobInfo {
  uint32_t cf_id = 0;
  std::string cf_name;
  std::string file_path;
  uint64_t file_number = 0;
  uint64_t thread_id = 0;
  int job_id = 0;
  // Whether writers were delayed, or stopped, at the time of the event.
  bool triggered_writes_slowdown = false;
  bool triggered_writes_stop = false;
  SequenceNumber smallest_seqno = 0;
  SequenceNumber largest_seqno = 0;
  TableProperties table_properties;
  FlushReason flush_reason = FlushReason::kOthers;
  uint64_t oldest_blob_file_number = 0;
  CompressionType blob_compression_type = kNoCompression;
  std::vector<BlobFileAdditionInfo> blob_file_addition_infos;
};

struct CompactionFileInfo {
  int level = 0;
  uint64_t file_number = 0;
  uint64_t oldest_blob_file_number = 0;
};

// Records: entries other than range deletions.
struct CompactionJobStats {
  static constexpr size_t kMaxPrefixLength = 8;

  uint64_t elapsed_micros = 0;
  uint64_t cpu_micros = 0;
  // False if a compaction filter skipped keys and records among them were not read.
  bool has_accurate_num_input_records = true;
  uint64_t num_input_records = 0;
  uint64_t num_input_files = 0;
  uint64_t num_input_files_trivially_moved = 0;  // to another level, without being read
  uint64_t num_input_files_at_output_level = 0;
  uint64_t num_output_records = 0;
  uint64_t num_output_files = 0;  // that were written
  bool is_full_compaction = false;
  bool is_manual_compaction = false;
  uint64_t total_input_bytes = 0;
  uint64_t total_output_bytes = 0;
  uint64_t num_records_replaced = 0;  // dropped because a newer version exists
  // Bytes of keys, each with 8 for sequence number and type, and of values before compression.
  uint64_t total_input_raw_key_bytes = 0;
  uint64_t total_input_raw_value_bytes = 0;
  uint64_t num_input_deletion_records = 0;
  uint64_t num_expired_deletion_records = 0;
  uint64_t num_corrupt_keys = 0;  // always 0: such a key fails the compaction
  // The first kMaxPrefixLength bytes, or fewer, of the first and the last user key written.
  std::string smallest_output_key_prefix;
  std::string largest_output_key_prefix;
  uint64_t num_single_del_fallthru = 0;  // single deletions dropped without a value to delete
  uint64_t num_single_del_mismatch = 0;  // single deletions that met something other than a value
  // Nanoseconds in calls on the files that were written; 0 without report_bg_io_stats. Reserving
  // space is a part of writing, so file_prepare_write_nanos is 0.
  uint64_t file_write_nanos = 0;
  uint64_t file_range_sync_nanos = 0;
  uint64_t file_fsync_nanos = 0;
  uint64_t file_prepare_write_nanos = 0;
  // Always 0 and false, because Ashlar reads every input, and in this process.
  uint64_t num_filtered_input_files = 0;
  uint64_t num_filtered_input_files_at_output_level = 0;
  uint64_t total_skipped_input_bytes = 0;
  bool is_remote_compaction = false;
  uint64_t num_blobs_read = 0;
  uint64_t num_output_files_blob = 0;
  uint64_t total_blob_bytes_read = 0;
  uint64_t total_output_bytes_blob = 0;
};

// One key range of a compaction that writes tables; see max_subcompactions.
struct SubcompactionJobInfo {
  uint32_t cf_id = 0;
  std::string cf_name;
  // Also Aborted if another range of the compaction failed.
  Status status;
  uint64_t thread_id = 0;        // of the thread that works on the range
  int job_id = 0;                // of the compaction
  int subcompaction_job_id = 0;  // from 0, in the order of keys
  int base_input_level = 0;
  int output_level = 0;
  CompactionReason compaction_reason = CompactionReason::kUnknown;
  CompressionType compression = kNoCompression;
  CompressionType blob_compression_type = kNoCompression;
  // Of the range. Input files and bytes are counted for the compaction only, and are 0 here.
  CompactionJobStats stats;
};

struct CompactionJobInfo {
  uint32_t cf_id = 0;
  std::string cf_name;
  Status status;
  uint64_t thread_id = 0;
  int job_id = 0;
  int num_l0_files = 0;  // of the family, when the event occurs
  int base_input_level = 0;
  int output_level = 0;
  std::vector<std::string> input_files;
  std::vector<CompactionFileInfo> input_file_infos;
  std::vector<std::string> output_files;
  std::vector<CompactionFileInfo> output_file_infos;
  // Properties of the inputs and the outputs by path. A table that cannot be opened is left out.
  TablePropertiesCollection table_properties;
  CompactionReason compaction_reason = CompactionReason::kUnknown;
  CompressionType compression = kNoCompression;
  CompactionJobStats stats;
  CompressionType blob_compression_type = kNoCompression;
  std::vector<BlobFileAdditionInfo> blob_file_addition_infos;
  std::vector<BlobFileGarbageInfo> blob_file_garbage_infos;
  bool aborted = false;  // by DB::AbortAllCompactions
};

struct MemTableInfo {
  std::string cf_name;
  SequenceNumber first_seqno = 0;
  SequenceNumber earliest_seqno = 0;
  uint64_t num_entries = 0;
  uint64_t num_deletes = 0;
  std::string newest_udt;  // empty: there are no user-defined timestamps
};

struct WriteStallInfo {
  std::string cf_name;
  struct {
    WriteStallCondition cur = WriteStallCondition::kNormal;
    WriteStallCondition prev = WriteStallCondition::kNormal;
  } condition;
};

struct BackgroundErrorRecoveryInfo {
  Status old_bg_error;
  Status new_bg_error;
};

struct ExternalFileIngestionInfo {
  std::string cf_name;
  std::string external_file_path;
  std::string internal_file_path;   // in the database
  SequenceNumber global_seqno = 0;  // of all entries of the file; 0: they keep their own
  TableProperties table_properties;
};

class ASHLAR_API EventListener : public Customizable {
 public:
  static const char* Type() { return "EventListener"; }
  const char* Name() const override { return ""; }

  virtual void OnFlushBegin(DB* /*db*/, const FlushJobInfo& /*info*/) {}
  // The new table is installed and visible. DB::Flush may have returned before, unless
  // FlushOptions::listener_wait is set.
  virtual void OnFlushCompleted(DB* /*db*/, const FlushJobInfo& /*info*/) {}
  virtual void OnCompactionBegin(DB* /*db*/, const CompactionJobInfo& /*info*/) {}
  virtual void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& /*info*/) {}
  // Called once for each range of a compaction that writes tables, by the thread of the range,
  // between OnCompactionBegin and OnCompactionCompleted. Ranges run concurrently.
  virtual void OnSubcompactionBegin(const SubcompactionJobInfo& /*info*/) {}
  // Called after a failure, too.
  virtual void OnSubcompactionCompleted(const SubcompactionJobInfo& /*info*/) {}
  virtual void OnTableFileCreationStarted(const TableFileCreationBriefInfo& /*info*/) {}
  virtual void OnTableFileCreated(const TableFileCreationInfo& /*info*/) {}
  virtual void OnTableFileDeleted(const TableFileDeletionInfo& /*info*/) {}
  // Reported when the next job ends. So are changes of stalls. SetOptions, SetDBOptions, Resume,
  // drops of families, ingestions and imports report what is pending before they return.
  virtual void OnMemTableSealed(const MemTableInfo& /*info*/) {}
  virtual void OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle* /*handle*/) {}
  // The database is read-only because of *bg_error, or of an earlier error. Changing *bg_error has
  // no effect. Other writers may wait for the calling thread, so do not write from here.
  virtual void OnBackgroundError(BackgroundErrorReason /*reason*/, Status* /*bg_error*/) {}
  // NOLINTNEXTLINE(performance-unnecessary-value-param): the signature is RocksDB's
  virtual void OnErrorRecoveryBegin(BackgroundErrorReason /*reason*/, Status /*bg_error*/,
                                    bool* /*auto_recovery*/) {}
  // The older form of OnErrorRecoveryEnd, called before it and, as by RocksDB, also after a failed
  // recovery. Only OnErrorRecoveryEnd has the outcome.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): the signature is RocksDB's
  virtual void OnErrorRecoveryCompleted(Status /*old_bg_error*/) {}
  virtual void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo& /*info*/) {}
  virtual void OnStallConditionsChanged(const WriteStallInfo& /*info*/) {}
  // These three are never called, because there are no blob files.
  virtual void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& /*info*/) {}
  virtual void OnBlobFileCreated(const BlobFileCreationInfo& /*info*/) {}
  virtual void OnBlobFileDeleted(const BlobFileDeletionInfo& /*info*/) {}
  // The file is installed and visible. Called once per file, on the thread that ingests.
  virtual void OnExternalFileIngested(DB* /*db*/, const ExternalFileIngestionInfo& /*info*/) {}
};

}  // namespace ashlar

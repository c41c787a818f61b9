// DB: an ordered map from keys to values on disk, in column families.
//
// Thread safety: every method may be called by several threads at once, also with Close, which
// makes calls that it interrupts fail. The destructor must come last. Lifetime: Close returns
// Aborted while snapshots, iterators or pinned slices exist. Deleting the DB does not check for
// them; iterators, pinned slices and handles then stay valid. Only one DB, in this or any other
// process, can have a directory open for writing.
//
// Errors: after a background error (a full disk, a failed sync, damage found by a compaction)
// writes fail with that error and reads continue. Resume retries.
//
// Memory: a call that runs out of memory returns Status::MemoryLimit, a null snapshot, or an
// iterator with that status (null if no iterator can be allocated). It changes nothing, except when
// it has applied a part of a batch: the database is then read-only until it is opened again. Calls
// that cannot report it (GetOptions, GetLiveFilesMetaData and the like) throw std::bad_alloc.
//
// Each operation is one virtual method. The forms with fewer arguments call it for the default
// column family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/iterator.h"
#include "ashlar/metadata.h"
#include "ashlar/options.h"
#include "ashlar/slice.h"
#include "ashlar/snapshot.h"
#include "ashlar/status.h"
#include "ashlar/table_properties.h"
#include "ashlar/transaction_log.h"
#include "ashlar/types.h"
#include "ashlar/version.h"
#include "ashlar/write_batch.h"

namespace ashlar {

inline const std::string kDefaultColumnFamilyName = "default";

struct CompactionJobInfo;
class FileChecksumList;

struct ColumnFamilyDescriptor {
  std::string name = kDefaultColumnFamilyName;
  ColumnFamilyOptions options;

  ColumnFamilyDescriptor() = default;
  ColumnFamilyDescriptor(const std::string& name_in, const ColumnFamilyOptions& options_in)
      : name(name_in), options(options_in) {}
};

// A column family of an open database. Lifetime: until DB::DestroyColumnFamilyHandle (or delete).
// The handle of the default family lives as long as the DB. A handle of a dropped family can still
// read its data.
class ASHLAR_API ColumnFamilyHandle {
 public:
  virtual ~ColumnFamilyHandle() = default;
  virtual const std::string& GetName() const = 0;
  virtual uint32_t GetID() const = 0;
  // Name and current options.
  virtual Status GetDescriptor(ColumnFamilyDescriptor* desc) = 0;
  virtual const Comparator* GetComparator() const = 0;
};

// The keys in [start, limit). The bytes are borrowed.
struct Range {
  Slice start;
  Slice limit;

  Range() = default;
  Range(const Slice& start_in, const Slice& limit_in) : start(start_in), limit(limit_in) {}
};
// The keys from *start to *limit; null: unbounded. The keys are borrowed.
struct RangePtr {
  const Slice* start = nullptr;
  const Slice* limit = nullptr;

  RangePtr() = default;
  RangePtr(const Slice* start_in, const Slice* limit_in) : start(start_in), limit(limit_in) {}
};

using OptSlice = std::optional<Slice>;
// The same, with optional keys instead of pointers. The keys are borrowed.
struct RangeOpt {
  OptSlice start;
  OptSlice limit;

  RangeOpt() = default;
  RangeOpt(const OptSlice& start_in, const OptSlice& limit_in) : start(start_in), limit(limit_in) {}
};

// Selects the tables that GetColumnFamilyMetaData describes.
struct GetColumnFamilyMetaDataOptions {
  RangeOpt range;  // tables that may have a key of it; both ends are included
  int level = -1;  // the only level that is described; -1: all

  GetColumnFamilyMetaDataOptions() = default;
  GetColumnFamilyMetaDataOptions(const OptSlice& start, const OptSlice& limit, int level_in = -1)
      : range(start, limit), level(level_in) {}
};

// Options of DB::GetMergeOperands.
struct GetMergeOperandsOptions {
  using ContinueCallback = std::function<bool(Slice)>;

  // The number of elements in the array that receives the operands.
  int expected_max_number_of_operands = 0;
  // Called after each operand, newest first, but not for a value below them. False: older ones are
  // not searched. Empty: all are returned. Return at once, as from MergeOperator::ShouldMerge.
  ContinueCallback continue_cb;
};

// The files of one column family in DB::IngestExternalFiles.
struct IngestExternalFileArg {
  ColumnFamilyHandle* column_family = nullptr;  // null: the default one
  std::vector<std::string> external_files;
  IngestExternalFileOptions options;
  // Checksums of the whole files (ashlar/file_checksum.h), in the order of the files, or empty.
  // With verify_file_checksum, a file with another checksum is Corruption, and a function that
  // DBOptions::file_checksum_gen_factory does not have is InvalidArgument. Without a factory
  // FileChecksumCrc32c is verified, others are ignored, and nothing is recorded.
  std::vector<std::string> files_checksums;
  std::vector<std::string> files_checksum_func_names;
  Temperature file_temperature = Temperature::kUnknown;  // accepted
};

class ASHLAR_API DB {
 public:
  // ---- Opening and closing.

  // Opens the database in directory `name`. InvalidArgument: it does not exist (see
  // create_if_missing), it has column families that are not named, or a comparator's name differs.
  // NotSupported: options or files use features that are not implemented. IOError: another process
  // has it open. TryAgain: the system cannot start a thread for flushes or for compactions.
  // Corruption names file and offset. A failed open leaves existing files as they were, and *dbptr
  // null (or empty).
  static Status Open(const Options& options, const std::string& name, DB** dbptr);
  static Status Open(const Options& options, const std::string& name, std::unique_ptr<DB>* dbptr);
  // Opens several families. Every family of the database must be named, "default" included.
  // (*handles)[i] belongs to column_families[i].
  static Status Open(const DBOptions& db_options, const std::string& name,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, DB** dbptr);
  static Status Open(const DBOptions& db_options, const std::string& name,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr);

  // Opens the current state, including the log, and changes nothing on disk. Takes no lock, so
  // another process may write. Files that change during the open are read again. Open tables stay
  // readable after they are deleted. The open itself opens as many tables as max_open_files allows
  // (-1: three quarters of the process's limit). The others are opened when a read needs them, and
  // may have been deleted by then. Not every family has to be named. Writes return NotSupported.
  // error_if_wal_file_exists: Corruption if there is a log to read. TryAgain: in a thousand
  // attempts the writer changed its files faster than they could be read.
  static Status OpenForReadOnly(const Options& options, const std::string& name, DB** dbptr,
                                bool error_if_wal_file_exists = false);
  static Status OpenForReadOnly(const Options& options, const std::string& name,
                                std::unique_ptr<DB>* dbptr, bool error_if_wal_file_exists = false);
  static Status OpenForReadOnly(const DBOptions& db_options, const std::string& name,
                                const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
                                bool error_if_wal_file_exists = false);
  static Status OpenForReadOnly(const DBOptions& db_options, const std::string& name,
                                const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles,
                                std::unique_ptr<DB>* dbptr, bool error_if_wal_file_exists = false);

  // Opens the database of a primary: another process, or another DB of this process, that writes it
  // at the same time. Works like OpenForReadOnly; TryCatchUpWithPrimary then brings it up to date.
  // Nothing below `name` is changed. The LOG is written to the directory secondary_path, which is
  // created if it is missing, unless DBOptions has an info_log. InvalidArgument: secondary_path is
  // `name`, or a named family does not exist.
  //
  // Only named families are followed. A family that the primary creates later is not followed. One
  // that it drops stays readable through its handle, as of the last catch-up before the drop. Keep
  // max_open_files at -1: every table is then held open and stays readable after the primary has
  // deleted it. Otherwise a read may fail with IOError (PathNotFound) because the primary has
  // deleted the table; catch up and read again.
  //
  // A secondary only reads; other calls return NotSupported. It has no snapshots (GetSnapshot
  // returns null). Iterators are consistent, and later catch-ups do not change them.
  static Status OpenAsSecondary(const Options& options, const std::string& name,
                                const std::string& secondary_path, DB** dbptr);
  static Status OpenAsSecondary(const Options& options, const std::string& name,
                                const std::string& secondary_path, std::unique_ptr<DB>* dbptr);
  static Status OpenAsSecondary(const DBOptions& db_options, const std::string& name,
                                const std::string& secondary_path,
                                const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles, DB** dbptr);
  static Status OpenAsSecondary(const DBOptions& db_options, const std::string& name,
                                const std::string& secondary_path,
                                const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles,
                                std::unique_ptr<DB>* dbptr);

  // Lists the families of a database, which need not be open.
  static Status ListColumnFamilies(const DBOptions& db_options, const std::string& name,
                                   std::vector<std::string>* column_families);

  DB() = default;
  DB(const DB&) = delete;
  DB& operator=(const DB&) = delete;
  // Closes, ignoring errors; call Close to see them. Remaining pinned slices, iterators and handles
  // stay valid. Their memory is freed after they are destroyed and another database is opened or
  // deleted. A warning in the LOG reports them. Such a handle cannot be passed to any call, because
  // the DB no longer exists.
  virtual ~DB() = default;

  // Stops background work, flushes writes that are in no log (unless avoid_flush_during_shutdown),
  // syncs the written part of the log, and closes all files. Also works while background work is
  // paused or after it was canceled. While snapshots, iterators or pinned slices exist, or another
  // call reads, it returns Aborted and closes nothing; call it again later. Once the database is
  // closed, every further call of Close returns the same status.
  virtual Status Close() = 0;
  // Retries after a background error. Returns Ok if the database is writable.
  virtual Status Resume() = 0;
  // Catches a secondary up with everything that the primary had in tables, or had written to its
  // log file, when the call began (with DBOptions::manual_wal_flush: what it had flushed). Readers
  // see a prefix of the primary's writes: the old one until the call succeeds, then a longer one. A
  // concurrent Get may see the longer one earlier than another Get does. MultiGet and iterators see
  // one of the two. A write may be seen before the primary has synced it. If that sync fails, the
  // primary takes the write back; the next call then removes it from the prefix, and
  // GetLatestSequenceNumber may fall. Any thread may call it.
  //
  // A failure changes nothing. Corruption: the primary's files are damaged, another database has
  // replaced them, or a followed family exists again because its drop has failed (then open the
  // secondary again). IOError: files cannot be read. TryAgain: the primary changed its files too
  // quickly. Busy: a listener of this call called it. NotSupported: the database is not a
  // secondary.
  virtual Status TryCatchUpWithPrimary();
  // Makes a secondary the primary after its primary has ended. It then writes, flushes and compacts
  // like a database of Open with the options that the secondary was opened with. The call takes
  // LOCK, replays all logs as a recovery does, and records the promotion in a new MANIFEST.
  // Handles, iterators and pinned values stay valid, and the LOG stays in its folder. Any thread
  // may call it.
  //
  // After a failure IsSecondary returns the state. A database that is still a secondary shows at
  // least what it showed before, and may be promoted again. Busy: the primary is alive, or a
  // listener of this call called it. InvalidArgument names a family that the secondary does not
  // have (open all families). Corruption: damage that wal_recovery_mode does not accept, or the
  // files lack writes that the secondary has shown (if the primary took them back, catch up first).
  // NotSupported: there is a wal_filter, or the database was not a secondary. TryAgain: as from
  // Open. Until the new MANIFEST is current, any error of a file may be returned, too. A database
  // that is no longer a secondary is a primary whose writes return the error until Resume.
  virtual Status PromoteToPrimary();
  // Whether the database follows a primary: opened by OpenAsSecondary and not promoted.
  virtual bool IsSecondary() const { return false; }

  // ---- Column families.

  // Creates an empty family durably. The caller passes *handle to DestroyColumnFamilyHandle.
  // InvalidArgument: the name is taken, or an option is wrong. NotSupported: an option is refused,
  // or the database only reads. After these errors no family was created, and *handle is null. Two
  // errors may follow the creation of the family: that of the OPTIONS file
  // (fail_if_options_file_error), with *handle set, and MemoryLimit.
  virtual Status CreateColumnFamily(const ColumnFamilyOptions& options,
                                    const std::string& column_family_name,
                                    ColumnFamilyHandle** handle) = 0;
  // These two stop at the first failure. *handles then contains the families created before it.
  Status CreateColumnFamilies(const ColumnFamilyOptions& options,
                              const std::vector<std::string>& column_family_names,
                              std::vector<ColumnFamilyHandle*>* handles);
  virtual Status CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& column_families,
                                      std::vector<ColumnFamilyHandle*>* handles) = 0;
  // Creates a family from table files that Checkpoint::ExportColumnFamily or SstFileWriter made,
  // here or elsewhere. Each file keeps its level, and its entries keep their sequence numbers.
  // GetLatestSequenceNumber rises to the largest of them. Several metadata are allowed if the key
  // ranges of their families do not overlap (ClipColumnFamily). The files are read and checked
  // first, then copied, or linked and removed with move_files. Writes wait while the MANIFEST is
  // written. The family is durable when the call returns.
  //
  // With DBOptions::file_checksum_gen_factory each file gets a checksum. If the factory has the
  // function of the file_checksum in the file's metadata, the two checksums must be equal.
  //
  // LiveFileMetaData: the path is db_path (or directory) and name. Level and sequence numbers are
  // required. size 0 means any size. smallest and largest may be empty, except for tables of a
  // database with range deletions (NotSupported).
  //
  // InvalidArgument, Corruption or NotSupported names the file. Reasons: it has no entries; the
  // options do not have its level; its comparator is another one; its size, keys or sequence
  // numbers differ from its metadata; entries are out of order or of a kind that is not
  // implemented; it overlaps another file of its level; one of its blocks is damaged.
  // InvalidArgument also: the name is taken, or the metadata lists no files. After an error, or a
  // crash during the call, no part of the family exists, *handle is null, and the files are as they
  // were. As with CreateColumnFamily, two errors may follow the creation of the family: that of the
  // OPTIONS file, and MemoryLimit. With move_files a crash just after the call may leave the old
  // names.
  virtual Status CreateColumnFamilyWithImport(
      const ColumnFamilyOptions& options, const std::string& column_family_name,
      const ImportColumnFamilyOptions& import_options,
      const std::vector<const ExportImportFilesMetaData*>& metadatas,
      ColumnFamilyHandle** handle) = 0;
  Status CreateColumnFamilyWithImport(const ColumnFamilyOptions& options,
                                      const std::string& column_family_name,
                                      const ImportColumnFamilyOptions& import_options,
                                      const ExportImportFilesMetaData& metadata,
                                      ColumnFamilyHandle** handle);
  // Removes the family from the database at once. Its files are deleted after the last handle,
  // iterator and pin are released. The caller keeps the handle. InvalidArgument: it is the default
  // family. ColumnFamilyDropped: it was dropped before. With several families, stops at the first
  // failure.
  Status DropColumnFamily(ColumnFamilyHandle* column_family);
  virtual Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& column_families) = 0;
  // Releases a handle. InvalidArgument for the default family's own handle.
  virtual Status DestroyColumnFamilyHandle(ColumnFamilyHandle* column_family) = 0;
  // Owned by the DB.
  virtual ColumnFamilyHandle* DefaultColumnFamily() const = 0;

  // ---- Writing.

  // Applies the batch atomically, and stores its sequence in it. After an error no part of it is
  // visible. After a failed sync the batch may appear after a crash.
  //
  // InvalidArgument: a family of the batch does not exist, a record is too large, or the options
  // contradict each other. Corruption: the batch is damaged. NotSupported: it has a record that is
  // not implemented, or the database only reads. Incomplete: the write would have to wait, and
  // no_slowdown is set. ShutdownInProgress: it would have to wait for background work that was
  // canceled, or the database is closed. After a background error: that error, until Resume.
  virtual Status Write(const WriteOptions& options, WriteBatch* updates) = 0;

  // One-record batches, with the errors of Write. InvalidArgument for a key and a value of more
  // than 512 MiB together. ColumnFamilyDropped: the family was dropped.
  virtual Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, const Slice& value) = 0;
  Status Put(const WriteOptions& options, const Slice& key, const Slice& value) {
    return Put(options, DefaultColumnFamily(), key, value);
  }
  virtual Status Delete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key) = 0;
  Status Delete(const WriteOptions& options, const Slice& key) {
    return Delete(options, DefaultColumnFamily(), key);
  }
  // See WriteBatch::SingleDelete.
  virtual Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                              const Slice& key) = 0;
  Status SingleDelete(const WriteOptions& options, const Slice& key) {
    return SingleDelete(options, DefaultColumnFamily(), key);
  }
  // Deletes the keys in [begin_key, end_key) with one record. Does nothing for an empty range.
  // InvalidArgument: the end is before the begin. NotSupported: the family has PlainTables.
  virtual Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                             const Slice& begin_key, const Slice& end_key) = 0;
  Status DeleteRange(const WriteOptions& options, const Slice& begin_key, const Slice& end_key) {
    return DeleteRange(options, DefaultColumnFamily(), begin_key, end_key);
  }
  // InvalidArgument: the family has no merge operator. NotSupported: only its OPTIONS file has one.
  virtual Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family,
                       const Slice& key, const Slice& value) = 0;
  Status Merge(const WriteOptions& options, const Slice& key, const Slice& value) {
    return Merge(options, DefaultColumnFamily(), key, value);
  }

  // ---- Reading.

  // Sets *value to the value of `key`, without a copy where possible. The bytes stay alive until
  // *value is reset, reused or destroyed. A value that it pinned before is released first.
  // NotFound: the key does not exist.
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, PinnableSlice* value) = 0;
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) {
    return Get(options, DefaultColumnFamily(), key, value);
  }
  // The copying form.
  Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             std::string* value);
  Status Get(const ReadOptions& options, const Slice& key, std::string* value) {
    return Get(options, DefaultColumnFamily(), key, value);
  }

  // Returns the operands of Merge for `key` as they were written, oldest first, without running the
  // merge operator. A value below them is the first. *number_of_operands is set to their number.
  // The slices are pinned as by Get; those in merge_operands are reset first. NotFound: the key
  // does not exist. Incomplete, subcode KMergeOperandsInsufficientCapacity: there are more than
  // expected_max_number_of_operands; none is returned. InvalidArgument: a pointer is null, or the
  // expected number is not positive. Compactions combine operands, so later calls may find fewer.
  virtual Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* column_family,
                                  const Slice& key, PinnableSlice* merge_operands,
                                  GetMergeOperandsOptions* get_merge_operands_options,
                                  int* number_of_operands) = 0;

  // Reads many keys from one state of the database. values[i] and statuses[i] are the results of
  // Get for column_families[i] and keys[i]. Each array has num_keys elements. sorted_input
  // (accepted): the caller has sorted them by family and key.
  virtual void MultiGet(const ReadOptions& options, size_t num_keys,
                        ColumnFamilyHandle** column_families, const Slice* keys,
                        PinnableSlice* values, Status* statuses, bool sorted_input = false) = 0;
  virtual void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        size_t num_keys, const Slice* keys, PinnableSlice* values, Status* statuses,
                        bool sorted_input = false) = 0;
  // The copying forms. They throw std::bad_alloc if a vector or a copy cannot be allocated.
  std::vector<Status> MultiGet(const ReadOptions& options,
                               const std::vector<ColumnFamilyHandle*>& column_families,
                               const std::vector<Slice>& keys, std::vector<std::string>* values);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values);

  // Returns false if the key does not exist, true if it may exist. Reads memory only. If that is
  // enough to decide, *value_found is true, and *value is the value, or empty if the key does not
  // exist. `value` and `value_found` may be null.
  virtual bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* column_family,
                           const Slice& key, std::string* value, bool* value_found = nullptr) = 0;
  bool KeyMayExist(const ReadOptions& options, const Slice& key, std::string* value,
                   bool* value_found = nullptr) {
    return KeyMayExist(options, DefaultColumnFamily(), key, value, value_found);
  }

  // An error is the iterator's status. Returns null only if no iterator can be allocated. The
  // caller owns the iterator and must delete it before the DB is closed.
  virtual Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* column_family) = 0;
  Iterator* NewIterator(const ReadOptions& options) {
    return NewIterator(options, DefaultColumnFamily());
  }
  // Returns one iterator per family, all over the same state.
  virtual Status NewIterators(const ReadOptions& options,
                              const std::vector<ColumnFamilyHandle*>& column_families,
                              std::vector<Iterator*>* iterators) = 0;

  // Takes a snapshot, for ReadOptions::snapshot. The caller passes it to ReleaseSnapshot before the
  // DB is closed or deleted. Waits while an ingestion writes the MANIFEST for a file that the
  // snapshot would see. Null: memory ran out, or the database is a secondary.
  virtual const Snapshot* GetSnapshot() = 0;
  // Null is ignored.
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;

  // ---- Properties.

  struct Properties {
    // The number of files on the level that is appended to the name. Text and number.
    inline static const std::string kNumFilesAtLevelPrefix = "rocksdb.num-files-at-level";
    // Text for people; the map form of kCFStats is for programs.
    inline static const std::string kStats = "rocksdb.stats";
    inline static const std::string kSSTables = "rocksdb.sstables";
    inline static const std::string kCFStats = "rocksdb.cfstats";
    inline static const std::string kCFStatsNoFileHistogram = "rocksdb.cfstats-no-file-histogram";
    inline static const std::string kDBStats = "rocksdb.dbstats";
    inline static const std::string kLevelStats = "rocksdb.levelstats";
    inline static const std::string kOptionsStatistics = "rocksdb.options-statistics";
    // Not supported: GetProperty and its relatives return false.
    inline static const std::string kCompressionRatioAtLevelPrefix =
        "rocksdb.compression-ratio-at-level";
    inline static const std::string kCFFileHistogram = "rocksdb.cf-file-histogram";
    inline static const std::string kAggregatedTableProperties =
        "rocksdb.aggregated-table-properties";
    inline static const std::string kAggregatedTablePropertiesAtLevel =
        "rocksdb.aggregated-table-properties-at-level";
    inline static const std::string kBlockCacheEntryStats = "rocksdb.block-cache-entry-stats";
    inline static const std::string kFastBlockCacheEntryStats =
        "rocksdb.fast-block-cache-entry-stats";
    inline static const std::string kCFWriteStallStats = "rocksdb.cf-write-stall-stats";
    inline static const std::string kDBWriteStallStats = "rocksdb.db-write-stall-stats";
    inline static const std::string kLiveSstFilesSizeAtTemperature =
        "rocksdb.live-sst-files-size-at-temperature";
    inline static const std::string kBlobStats = "rocksdb.blob-stats";
    // One line for each damaged place in a log: the file, the offset, and the number of bytes that
    // the open could not replay. Empty if nothing was damaged. Ashlar only.
    inline static const std::string kLogDamage = "ashlar.log-damage";
    // Numbers: memtables.
    inline static const std::string kNumImmutableMemTable = "rocksdb.num-immutable-mem-table";
    inline static const std::string kNumImmutableMemTableFlushed =
        "rocksdb.num-immutable-mem-table-flushed";
    inline static const std::string kMemTableFlushPending = "rocksdb.mem-table-flush-pending";
    inline static const std::string kNumRunningFlushes = "rocksdb.num-running-flushes";
    inline static const std::string kCurSizeActiveMemTable = "rocksdb.cur-size-active-mem-table";
    inline static const std::string kCurSizeAllMemTables = "rocksdb.cur-size-all-mem-tables";
    inline static const std::string kSizeAllMemTables = "rocksdb.size-all-mem-tables";
    inline static const std::string kNumEntriesActiveMemTable =
        "rocksdb.num-entries-active-mem-table";
    inline static const std::string kNumEntriesImmMemTables = "rocksdb.num-entries-imm-mem-tables";
    inline static const std::string kNumDeletesActiveMemTable =
        "rocksdb.num-deletes-active-mem-table";
    inline static const std::string kNumDeletesImmMemTables = "rocksdb.num-deletes-imm-mem-tables";
    // Numbers: compaction and writers.
    inline static const std::string kCompactionPending = "rocksdb.compaction-pending";
    inline static const std::string kNumRunningCompactions = "rocksdb.num-running-compactions";
    // Not supported.
    inline static const std::string kNumRunningCompactionSortedRuns =
        "rocksdb.num-running-compaction-sorted-runs";
    inline static const std::string kEstimatePendingCompactionBytes =
        "rocksdb.estimate-pending-compaction-bytes";
    // The number of calls of AbortAllCompactions without a matching ResumeAllCompactions.
    inline static const std::string kCompactionAbortCount = "rocksdb.compaction-abort-count";
    inline static const std::string kBackgroundErrors = "rocksdb.background-errors";
    inline static const std::string kActualDelayedWriteRate = "rocksdb.actual-delayed-write-rate";
    inline static const std::string kIsWriteStopped = "rocksdb.is-write-stopped";
    // Numbers: contents and files.
    inline static const std::string kEstimateNumKeys = "rocksdb.estimate-num-keys";
    inline static const std::string kEstimateTableReadersMem = "rocksdb.estimate-table-readers-mem";
    inline static const std::string kEstimateLiveDataSize = "rocksdb.estimate-live-data-size";
    // Not supported.
    inline static const std::string kEstimateOldestKeyTime = "rocksdb.estimate-oldest-key-time";
    inline static const std::string kTotalSstFilesSize = "rocksdb.total-sst-files-size";
    inline static const std::string kLiveSstFilesSize = "rocksdb.live-sst-files-size";
    inline static const std::string kObsoleteSstFilesSize = "rocksdb.obsolete-sst-files-size";
    inline static const std::string kIsFileDeletionsEnabled = "rocksdb.is-file-deletions-enabled";
    inline static const std::string kBaseLevel = "rocksdb.base-level";
    inline static const std::string kMinLogNumberToKeep = "rocksdb.min-log-number-to-keep";
    // Not supported.
    inline static const std::string kMinObsoleteSstNumberToKeep =
        "rocksdb.min-obsolete-sst-number-to-keep";
    // Numbers: snapshots and versions.
    inline static const std::string kNumSnapshots = "rocksdb.num-snapshots";
    inline static const std::string kOldestSnapshotTime = "rocksdb.oldest-snapshot-time";
    inline static const std::string kOldestSnapshotSequence = "rocksdb.oldest-snapshot-sequence";
    inline static const std::string kNumLiveVersions = "rocksdb.num-live-versions";
    inline static const std::string kCurrentSuperVersionNumber =
        "rocksdb.current-super-version-number";
    // Numbers: the block cache.
    inline static const std::string kBlockCacheCapacity = "rocksdb.block-cache-capacity";
    inline static const std::string kBlockCacheUsage = "rocksdb.block-cache-usage";
    inline static const std::string kBlockCachePinnedUsage = "rocksdb.block-cache-pinned-usage";
    // Numbers: blob files. They are 0, because there are no blob files.
    inline static const std::string kNumBlobFiles = "rocksdb.num-blob-files";
    inline static const std::string kTotalBlobFileSize = "rocksdb.total-blob-file-size";
    inline static const std::string kLiveBlobFileSize = "rocksdb.live-blob-file-size";
    inline static const std::string kLiveBlobFileGarbageSize =
        "rocksdb.live-blob-file-garbage-size";
    // Not supported, because there is no cache for blobs.
    inline static const std::string kBlobCacheCapacity = "rocksdb.blob-cache-capacity";
    inline static const std::string kBlobCacheUsage = "rocksdb.blob-cache-usage";
    inline static const std::string kBlobCachePinnedUsage = "rocksdb.blob-cache-pinned-usage";
  };

  // Returns false if there is no such property, or it does not have that form.
  virtual bool GetProperty(ColumnFamilyHandle* column_family, const Slice& property,
                           std::string* value) = 0;
  bool GetProperty(const Slice& property, std::string* value) {
    return GetProperty(DefaultColumnFamily(), property, value);
  }
  virtual bool GetMapProperty(ColumnFamilyHandle* column_family, const Slice& property,
                              std::map<std::string, std::string>* value) = 0;
  bool GetMapProperty(const Slice& property, std::map<std::string, std::string>* value) {
    return GetMapProperty(DefaultColumnFamily(), property, value);
  }
  virtual bool GetIntProperty(ColumnFamilyHandle* column_family, const Slice& property,
                              uint64_t* value) = 0;
  bool GetIntProperty(const Slice& property, uint64_t* value) {
    return GetIntProperty(DefaultColumnFamily(), property, value);
  }
  // The sum over all families. A block cache that several families share counts once.
  virtual bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) = 0;
  // Resets the sums over jobs and stalls of all families (rocksdb.stats, rocksdb.cfstats), and the
  // number of lost errors (rocksdb.background-errors). Statistics are not changed.
  virtual Status ResetStats() = 0;

  enum class SizeApproximationFlags : uint8_t {
    NONE = 0,
    INCLUDE_MEMTABLES = 1 << 0,
    INCLUDE_FILES = 1 << 1,
    INCLUDE_BLOB_FILES = 1 << 2  // there are none
  };

  // Approximate size of each range in bytes; sizes has n elements. The error is at most one block
  // at each end. Files count with their compressed size.
  virtual Status GetApproximateSizes(const SizeApproximationOptions& options,
                                     ColumnFamilyHandle* column_family, const Range* ranges, int n,
                                     uint64_t* sizes) = 0;
  Status GetApproximateSizes(
      ColumnFamilyHandle* column_family, const Range* ranges, int n, uint64_t* sizes,
      SizeApproximationFlags include_flags = SizeApproximationFlags::INCLUDE_FILES);
  Status GetApproximateSizes(
      const Range* ranges, int n, uint64_t* sizes,
      SizeApproximationFlags include_flags = SizeApproximationFlags::INCLUDE_FILES) {
    return GetApproximateSizes(DefaultColumnFamily(), ranges, n, sizes, include_flags);
  }
  // Approximate number of entries and bytes of the range in memtables.
  virtual void GetApproximateMemTableStats(ColumnFamilyHandle* column_family, const Range& range,
                                           uint64_t* count, uint64_t* size) = 0;
  void GetApproximateMemTableStats(const Range& range, uint64_t* count, uint64_t* size) {
    GetApproximateMemTableStats(DefaultColumnFamily(), range, count, size);
  }

  // ---- Background work.

  // Compacts the keys in [*begin, *end] (null: unbounded) down to the last level that has data.
  // Memtables are flushed first, unless both ends are given and no memtable has a key or a part of
  // a range deletion between them. Incomplete: canceled, or manual compactions are disabled or
  // aborted. ShutdownInProgress: as from Flush. CompactRangeOptions has the errors of change_level.
  virtual Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* column_family,
                              const Slice* begin, const Slice* end) = 0;
  Status CompactRange(const CompactRangeOptions& options, const Slice* begin, const Slice* end) {
    return CompactRange(options, DefaultColumnFamily(), begin, end);
  }

  // Compacts these tables ("000012.sst", with or without a directory) into output_level, together
  // with the tables that have to move with them: tables that overlap them on the levels down to
  // output_level, older tables of level 0 (unless output_level is 0), and neighbours that share a
  // user key. Writes new tables even where a move would do, unless allow_trivial_move is set.
  // *output_file_names receives the paths of the new tables and *compaction_job_info a report; both
  // may be null. output_path_id: 0 or -1, the database's directory.
  //
  // InvalidArgument: there is no such table, level or path, no table is named, one is on a deeper
  // level than output_level, or compression_opts of the family are out of the codec's range.
  // Aborted: one of the tables is in another compaction, or another compaction writes to the same
  // keys of output_level. Incomplete: canceled, or manual compactions are disabled.
  virtual Status CompactFiles(const CompactionOptions& compact_options,
                              ColumnFamilyHandle* column_family,
                              const std::vector<std::string>& input_file_names, int output_level,
                              int output_path_id = -1,
                              std::vector<std::string>* output_file_names = nullptr,
                              CompactionJobInfo* compaction_job_info = nullptr) = 0;
  Status CompactFiles(const CompactionOptions& compact_options,
                      const std::vector<std::string>& input_file_names, int output_level,
                      int output_path_id = -1,
                      std::vector<std::string>* output_file_names = nullptr,
                      CompactionJobInfo* compaction_job_info = nullptr) {
    return CompactFiles(compact_options, DefaultColumnFamily(), input_file_names, output_level,
                        output_path_id, output_file_names, compaction_job_info);
  }

  // Marks the tables that have keys in [*begin, *end] (null: unbounded) for automatic compaction
  // and returns. Tables on the last level that has tables are not marked. The marks are lost when
  // the database is closed.
  virtual Status SuggestCompactRange(ColumnFamilyHandle* column_family, const Slice* begin,
                                     const Slice* end) = 0;
  Status SuggestCompactRange(const Slice* begin, const Slice* end) {
    return SuggestCompactRange(DefaultColumnFamily(), begin, end);
  }

  // Moves the tables of level 0 to the target level without reading them. It is an exclusive manual
  // compaction, so it waits for others of the family. Memtables are not flushed.
  //
  // InvalidArgument: two tables overlap, a level from 1 to the target level has tables, or there is
  // no such level. Nothing is moved then. NotSupported: FIFO compaction.
  virtual Status PromoteL0(ColumnFamilyHandle* column_family, int target_level) = 0;

  // Cancels the running calls of CompactRange, CompactFiles and PromoteL0, and waits for them. They
  // return Incomplete. A CompactRange that still flushes memtables is not waited for; it returns
  // Incomplete after the flush, unless they are enabled by then. New calls return Incomplete until
  // EnableManualCompaction was called as many times. Do not call it from a listener of such a call.
  virtual void DisableManualCompaction() = 0;
  virtual void EnableManualCompaction() = 0;

  // Cancels all running and waiting compactions, and waits for them. Calls of CompactRange,
  // CompactFiles and PromoteL0 return Incomplete (Status::IsCompactionAborted). Canceled
  // compactions leave no files and change nothing. Until ResumeAllCompactions has been called as
  // many times, no compaction starts, and these calls return Incomplete. Flushes continue, so
  // writes may eventually stall: see level0_stop_writes_trigger. Do not call it from a listener or
  // a filter of a compaction.
  virtual void AbortAllCompactions() = 0;
  virtual void ResumeAllCompactions() = 0;

  // See DeleteFilesInRanges in ashlar/convenience.h.
  virtual Status DeleteFilesInRanges(ColumnFamilyHandle* column_family, const RangePtr* ranges,
                                     size_t n, bool include_end) = 0;

  // Deletes every key outside [begin_key, end_key), flushes, and compacts the whole family, so that
  // its files hold neither these keys nor their deletions. One batch deletes both sides before the
  // compaction. Concurrent writes to the family may survive; do not make any. Versions that a
  // snapshot needs stay until a later compaction. So does data that compactions do not rewrite:
  // everything with FIFO compaction, and the reserved level with allow_ingest_behind.
  //
  // InvalidArgument: end_key is before begin_key. NotSupported: a family of PlainTables. After
  // another error the keys may be deleted and still take space; call it again.
  virtual Status ClipColumnFamily(ColumnFamilyHandle* column_family, const Slice& begin_key,
                                  const Slice& end_key) = 0;

  // Deprecated; use DeleteFilesInRanges. Drops one table ("000012.sst") with all its entries, or
  // deletes one archived log ("archive/000012.log"). The table must be on the deepest level that
  // has tables and, in level 0, must be the oldest, so that no older version of a key can appear. A
  // table that a compaction reads stays, and the call returns Ok. InvalidArgument: the table is not
  // of this kind or does not exist. NotSupported: a log that is not archived. IOError
  // (PathNotFound): the archive has no such log.
  virtual Status DeleteFile(const std::string& name) = 0;

  // Writes everything that the memtables of these families hold into tables. FlushOptions decide
  // what the call waits for. After a background error it returns that error. ShutdownInProgress:
  // background work was canceled, or the database is closed. ColumnFamilyDropped: a family was
  // dropped with writes that are in no table. NotSupported: the database only reads.
  virtual Status Flush(const FlushOptions& options,
                       const std::vector<ColumnFamilyHandle*>& column_families) = 0;
  Status Flush(const FlushOptions& options, ColumnFamilyHandle* column_family);
  Status Flush(const FlushOptions& options) { return Flush(options, DefaultColumnFamily()); }

  // Writes the buffered log to the operating system. With sync, also makes it durable.
  virtual Status FlushWAL(bool sync) = 0;
  virtual Status FlushWAL(const FlushWALOptions& options) { return FlushWAL(options.sync); }
  // Makes every write so far durable.
  virtual Status SyncWAL() = 0;
  // Blocks writers and ingestions until UnlockWAL has been called as many times (by any thread).
  // When LockWAL returns, every write that returned before is in the log's file, as after
  // FlushWAL(false). A write with no_slowdown returns Incomplete instead of waiting. Reads, flushes
  // and compactions continue. Close wakes the writers with ShutdownInProgress.
  virtual Status LockWAL() = 0;
  // Aborted: LockWAL is not in effect.
  virtual Status UnlockWAL() = 0;

  // ---- Logs.

  // Returns an iterator over the writes that starts at the batch with this sequence. If no log has
  // this batch any more, it starts at the first later one (ashlar/transaction_log.h). Set
  // WAL_ttl_seconds or WAL_size_limit_MB; otherwise a log is deleted once its writes are in tables.
  // NotFound: seq_number is above GetLatestSequenceNumber(), and *iter is null. Otherwise returns
  // the iterator's status.
  virtual Status GetUpdatesSince(SequenceNumber seq_number,
                                 std::unique_ptr<TransactionLogIterator>* iter,
                                 const TransactionLogIterator::ReadOptions& read_options = {}) = 0;
  // Lists all logs by number, archived ones first. Logs that are empty or have no readable record
  // are left out. To copy the logs, disable file deletions before this call.
  virtual Status GetSortedWalFiles(VectorWalPtr& files) = 0;
  // NotFound: the database is read-only or closed.
  virtual Status GetCurrentWalFile(std::unique_ptr<WalFile>* current_wal_file) = 0;

  // Waits until nothing is left to flush or compact. That includes work that PauseBackgroundWork or
  // AbortAllCompactions holds back, unless the options say otherwise.
  virtual Status WaitForCompact(const WaitForCompactOptions& options) = 0;
  // Stops running jobs at the next opportunity. No job starts until ContinueBackgroundWork has been
  // called as many times. Calls that need a job wait until then: Flush and CompactRange with
  // unflushed memtables, and writes while every memtable is full.
  virtual Status PauseBackgroundWork() = 0;
  virtual Status ContinueBackgroundWork() = 0;
  // See CancelAllBackgroundWork in ashlar/convenience.h.
  virtual void CancelAllBackgroundWork(bool wait) = 0;
  // Sets disable_auto_compactions to false.
  virtual Status EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& column_families) = 0;

  // Keeps obsolete files (tables, logs, MANIFESTs, OPTIONS files), for instance while they are
  // copied, until EnableFileDeletions has been called as many times.
  virtual Status DisableFileDeletions() = 0;
  // InvalidArgument: they are not disabled.
  virtual Status EnableFileDeletions() = 0;
  // The form of older releases, which returns Ok if they are not disabled. force: enables them at
  // once, so files may be deleted while another thread or a backup copies them.
  Status EnableFileDeletions(bool force);

  // ---- Options.

  // Changes mutable options by name, all or none, and writes a new OPTIONS file. InvalidArgument
  // names the option: it is unknown or fixed, or has a bad value. NotSupported: the value is
  // refused, or the database only reads. With fail_if_options_file_error, an error of the OPTIONS
  // file may be returned after the change was made.
  virtual Status SetOptions(ColumnFamilyHandle* column_family,
                            const std::unordered_map<std::string, std::string>& new_options) = 0;
  Status SetOptions(const std::unordered_map<std::string, std::string>& new_options) {
    return SetOptions(DefaultColumnFamily(), new_options);
  }
  virtual Status SetDBOptions(const std::unordered_map<std::string, std::string>& new_options) = 0;
  // The current options.
  virtual Options GetOptions(ColumnFamilyHandle* column_family) const = 0;
  Options GetOptions() const { return GetOptions(DefaultColumnFamily()); }
  virtual DBOptions GetDBOptions() const = 0;

  // ---- Metadata.

  // The directory.
  virtual const std::string& GetName() const = 0;
  virtual Env* GetEnv() const = 0;
  // The file system of GetEnv().
  virtual FileSystem* GetFileSystem() const = 0;
  virtual SequenceNumber GetLatestSequenceNumber() const = 0;
  virtual int NumberLevels(ColumnFamilyHandle* column_family) = 0;
  int NumberLevels() { return NumberLevels(DefaultColumnFamily()); }
  // The option level0_stop_writes_trigger.
  virtual int Level0StopWriteTrigger(ColumnFamilyHandle* column_family) {
    return GetOptions(column_family).level0_stop_writes_trigger;
  }
  int Level0StopWriteTrigger() { return Level0StopWriteTrigger(DefaultColumnFamily()); }
  // The deepest level into which a flush puts its table: 0.
  virtual int MaxMemCompactionLevel(ColumnFamilyHandle* /*column_family*/) { return 0; }
  int MaxMemCompactionLevel() { return MaxMemCompactionLevel(DefaultColumnFamily()); }
  virtual void GetLiveFilesMetaData(std::vector<LiveFileMetaData>* metadata) = 0;
  virtual void GetColumnFamilyMetaData(ColumnFamilyHandle* column_family,
                                       ColumnFamilyMetaData* metadata) = 0;
  void GetColumnFamilyMetaData(ColumnFamilyMetaData* metadata) {
    GetColumnFamilyMetaData(DefaultColumnFamily(), metadata);
  }
  // The sizes and counts are those of the selected tables.
  void GetColumnFamilyMetaData(ColumnFamilyHandle* column_family,
                               const GetColumnFamilyMetaDataOptions& options,
                               ColumnFamilyMetaData* metadata);
  void GetColumnFamilyMetaData(const GetColumnFamilyMetaDataOptions& options,
                               ColumnFamilyMetaData* metadata) {
    GetColumnFamilyMetaData(DefaultColumnFamily(), options, metadata);
  }
  // The metadata of all families, by id.
  virtual void GetAllColumnFamilyMetaData(std::vector<ColumnFamilyMetaData>* metadata) = 0;
  virtual Status GetPropertiesOfAllTables(ColumnFamilyHandle* column_family,
                                          TablePropertiesCollection* props) = 0;
  Status GetPropertiesOfAllTables(TablePropertiesCollection* props) {
    return GetPropertiesOfAllTables(DefaultColumnFamily(), props);
  }
  // The same, for each level of the family.
  virtual Status GetPropertiesOfTablesByLevel(
      ColumnFamilyHandle* column_family,
      std::vector<std::unique_ptr<TablePropertiesCollection>>* props_by_level);
  // When the oldest table of all families was created, in seconds since 1970. 0: the time of a
  // table is not known. UINT64_MAX: there is no table.
  virtual Status GetCreationTimeOfOldestFile(uint64_t* creation_time);
  // Properties of the tables that may have keys in one of the n ranges, which here include their
  // limits. A range whose limit is before its start has no tables.
  virtual Status GetPropertiesOfTablesInRange(ColumnFamilyHandle* column_family, const Range* range,
                                              size_t n, TablePropertiesCollection* props) = 0;
  // The tables, CURRENT, MANIFEST and OPTIONS file of the current state, and the number of bytes of
  // the MANIFEST that belong to it. Paths are relative to the directory and begin with '/'. Flushes
  // first if flush_memtable is set. Copy them between DisableFileDeletions and EnableFileDeletions.
  virtual Status GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                              bool flush_memtable = true) = 0;
  // All files of the state at one moment, logs included. Copies made as described are a database
  // with every write that returned before the call, and perhaps later ones. The order is the order
  // in which to copy: MANIFEST, CURRENT, OPTIONS, the logs by number, the tables. IDENTITY is left
  // out. Copy them between DisableFileDeletions and EnableFileDeletions. After an error *files is
  // empty. On a database that only reads: TryAgain if its writer has changed the MANIFEST since it
  // was read (catch up, or open it again), IOError if the writer deletes files during the call.
  virtual Status GetLiveFilesStorageInfo(const LiveFilesStorageInfoOptions& options,
                                         std::vector<LiveFileStorageInfo>* files) = 0;
  // Lists the recorded checksums of all tables (ashlar/file_checksum.h), "" and "Unknown" for a
  // table without one. The list is emptied first. GetLiveFilesStorageInfo returns them, too.
  virtual Status GetLiveFilesChecksumInfo(FileChecksumList* checksum_list) = 0;
  virtual Status GetDbIdentity(std::string& identity) const = 0;
  virtual Status GetDbSessionId(std::string& session_id) const = 0;

  // Adds table files that SstFileWriter made, here or in RocksDB, to the database. Their entries
  // replace older ones at the same keys. Files of one call may overlap; later files win. Each file
  // goes to the deepest level that can hold it. If a memtable has keys in its range, or it goes to
  // level 0, the family is flushed first. Reads continue; writes wait while the MANIFEST is
  // written. The files are durable in the database when the call returns.
  //
  // InvalidArgument, NotSupported or Corruption names a file that does not fit: it has another
  // comparator or column family, no entries, a damaged block, or a feature that is not implemented,
  // or SstFileWriter did not make it. After an error, or a crash during the call, the database has
  // no part of it, and the files are as they were. With move_files a crash just after the call may
  // leave the old names.
  virtual Status IngestExternalFile(ColumnFamilyHandle* column_family,
                                    const std::vector<std::string>& external_files,
                                    const IngestExternalFileOptions& options) = 0;
  Status IngestExternalFile(const std::vector<std::string>& external_files,
                            const IngestExternalFileOptions& options) {
    return IngestExternalFile(DefaultColumnFamily(), external_files, options);
  }
  // For several column families, each named once. All files become visible at once, or none.
  virtual Status IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) = 0;

  // Reads every block of every table and checks it. The first error names file and offset.
  virtual Status VerifyChecksum(const ReadOptions& options) = 0;
  Status VerifyChecksum() { return VerifyChecksum(ReadOptions()); }
  // Reads every table that has a recorded checksum, and compares the two (ashlar/file_checksum.h).
  // Corruption names the first file that differs. InvalidArgument: there is no
  // file_checksum_gen_factory, or it lacks the function of a table.
  virtual Status VerifyFileChecksums(const ReadOptions& options) = 0;

  // Records an error for callers that cannot return it, such as functions of the C interface that
  // return nothing. Writes it to the LOG and counts it in the property rocksdb.background-errors.
  // The database stays as it is.
  virtual void ReportLostError(const Slice& call, const Status& error) = 0;

  virtual DB* GetRootDB() { return this; }
};

inline DB::SizeApproximationFlags operator&(DB::SizeApproximationFlags a,
                                            DB::SizeApproximationFlags b) {
  return static_cast<DB::SizeApproximationFlags>(static_cast<uint8_t>(a) & static_cast<uint8_t>(b));
}
inline DB::SizeApproximationFlags operator|(DB::SizeApproximationFlags a,
                                            DB::SizeApproximationFlags b) {
  return static_cast<DB::SizeApproximationFlags>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}

// Deletes every file of the database, and its directory if that is then empty. Ok if there is no
// such directory. Other files stay, and so do logs in options.wal_dir if the OPTIONS file names
// another folder of logs. IOError: the database is open, or another one that has its logs in
// wal_dir.
ASHLAR_API Status DestroyDB(const std::string& name, const Options& options,
                            const std::vector<ColumnFamilyDescriptor>& column_families =
                                std::vector<ColumnFamilyDescriptor>());

// Repairs a damaged database so that it can be opened, with as much of its data as can be read.
// ashlar/repair.h has the contract, and a form that reports. A family that column_families does not
// name gets unknown_cf_opts. Without these it is InvalidArgument, and nothing is changed. The form
// with Options uses them for every family.
ASHLAR_API Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                           const std::vector<ColumnFamilyDescriptor>& column_families);
ASHLAR_API Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           const ColumnFamilyOptions& unknown_cf_opts);
ASHLAR_API Status RepairDB(const std::string& dbname, const Options& options);

}  // namespace ashlar

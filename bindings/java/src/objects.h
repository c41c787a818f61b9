// The objects to which handles refer.
//
// Lifetimes are those of Java programs, which close objects in any order:
//
//   object             keeps alive                            closing it
//   options            comparator, filters, environment       is independent of databases
//   DBObject           the same, of all its options           closes its children first
//   ColumnFamilyObject nothing: a child of its database       -
//   IteratorObject     bounds; child of its database          -
//   SnapshotObject     nothing: child of its database         releases the snapshot
//   SstFileReader...   the same as options                    closes its iterators first
//
// Shared objects of the engine (caches, statistics, filters, merge operators) are counted. Java's
// object and the engine each hold a share.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/backup_engine.h"
#include "ashlar/cache.h"
#include "ashlar/checkpoint.h"
#include "ashlar/compaction_filter.h"
#include "ashlar/comparator.h"
#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/filter_policy.h"
#include "ashlar/iterator.h"
#include "ashlar/listener.h"
#include "ashlar/memtablerep.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/snapshot.h"
#include "ashlar/sst_file_manager.h"
#include "ashlar/sst_file_reader.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/sst_partitioner.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "ashlar/transaction_log.h"
#include "ashlar/wal_filter.h"
#include "ashlar/write_batch.h"
#include "ashlar/write_buffer_manager.h"
#include "handles.h"

namespace ashlar::java {

// Objects that options point to without owning them.
struct Kept {
  std::shared_ptr<const Comparator> comparator;
  std::shared_ptr<const CompactionFilter> compaction_filter;
  std::shared_ptr<Env> env;
  std::shared_ptr<WalFilter> wal_filter;
};

// Options of either kind, with the objects that they point to.
template <typename T, Kind kind>
struct OptionsHolder : Holder<T, kind> {
  OptionsHolder() = default;
  OptionsHolder(T value_in, Kept kept_in)
      : Holder<T, kind>(std::move(value_in)), kept(std::move(kept_in)) {}
  Kept kept;
};
using OptionsObject = OptionsHolder<Options, Kind::kOptions>;
using DBOptionsObject = OptionsHolder<DBOptions, Kind::kDBOptions>;
using ColumnFamilyOptionsObject = OptionsHolder<ColumnFamilyOptions, Kind::kColumnFamilyOptions>;

using BackupEngineObject = Holder<std::unique_ptr<BackupEngine>, Kind::kBackupEngine>;
using CacheObject = Holder<std::shared_ptr<Cache>, Kind::kCache>;
using CompactRangeOptionsObject = Holder<CompactRangeOptions, Kind::kCompactRangeOptions>;
using CompactionFilterObject =
    Holder<std::shared_ptr<const CompactionFilter>, Kind::kCompactionFilter>;
using CompactionFilterFactoryObject =
    Holder<std::shared_ptr<CompactionFilterFactory>, Kind::kCompactionFilterFactory>;
using CompactionJobInfoObject = Holder<CompactionJobInfo, Kind::kCompactionJobInfo>;
using CompactionOptionsObject = Holder<CompactionOptions, Kind::kCompactionOptions>;
using CompactionOptionsFifoObject = Holder<CompactionOptionsFIFO, Kind::kCompactionOptionsFifo>;
using CompactionOptionsUniversalObject =
    Holder<CompactionOptionsUniversal, Kind::kCompactionOptionsUniversal>;
using ComparatorObject = Holder<std::shared_ptr<const Comparator>, Kind::kComparator>;
using CompressionOptionsObject = Holder<CompressionOptions, Kind::kCompressionOptions>;
using EventListenerObject = Holder<std::shared_ptr<EventListener>, Kind::kEventListener>;
using FilterPolicyObject = Holder<std::shared_ptr<const FilterPolicy>, Kind::kFilterPolicy>;
using FlushOptionsObject = Holder<FlushOptions, Kind::kFlushOptions>;
using IngestExternalFileOptionsObject =
    Holder<IngestExternalFileOptions, Kind::kIngestExternalFileOptions>;
using LoggerObject = Holder<std::shared_ptr<Logger>, Kind::kLogger>;
using MemTableFactoryObject = Holder<std::shared_ptr<MemTableRepFactory>, Kind::kMemTableFactory>;
using MergeOperatorObject = Holder<std::shared_ptr<MergeOperator>, Kind::kMergeOperator>;
using RateLimiterObject = Holder<std::shared_ptr<RateLimiter>, Kind::kRateLimiter>;
using RestoreOptionsObject = Holder<RestoreOptions, Kind::kRestoreOptions>;
using SstFileManagerObject = Holder<std::shared_ptr<SstFileManager>, Kind::kSstFileManager>;
using SstPartitionerFactoryObject =
    Holder<std::shared_ptr<SstPartitionerFactory>, Kind::kSstPartitionerFactory>;
using StatisticsObject = Holder<std::shared_ptr<Statistics>, Kind::kStatistics>;
using TableFactoryObject = Holder<std::shared_ptr<TableFactory>, Kind::kTableFactory>;
using TableFilterObject = Holder<std::function<bool(const TableProperties&)>, Kind::kTableFilter>;
using WalFilterObject = Holder<std::shared_ptr<WalFilter>, Kind::kWalFilter>;
using WriteBatchObject = Holder<WriteBatch, Kind::kWriteBatch>;
using WriteBufferManagerObject =
    Holder<std::shared_ptr<WriteBufferManager>, Kind::kWriteBufferManager>;
using WriteOptionsObject = Holder<WriteOptions, Kind::kWriteOptions>;
// The default environment is shared but not owned.
using EnvObject = Holder<std::shared_ptr<Env>, Kind::kEnv>;
// Java compares this handle to recognise the default environment, which is never closed.
inline jlong DefaultEnvHandle() {
  static const jlong handle =
      Register(new EnvObject(std::shared_ptr<Env>(std::shared_ptr<Env>(), Env::Default())));
  return handle;
}

struct BackupEngineOptionsObject : Object {
  static constexpr Kind kKind = Kind::kBackupEngineOptions;
  explicit BackupEngineOptionsObject(const std::string& dir) : value(dir) {}
  BackupEngineOptions value;
  std::shared_ptr<Env> env;
  std::shared_ptr<Logger> info_log;  // not used, because the backup engine writes no messages
};

struct ConfigOptionsObject : Object {
  static constexpr Kind kKind = Kind::kConfigOptions;
  ConfigOptions value;
  std::shared_ptr<Env> env;  // the one that value points to; null: the default one
};

struct CompactionJobStatsObject : Object {
  static constexpr Kind kKind = Kind::kCompactionJobStats;
  CompactionJobStats value;
  uint64_t input_files_at_output_level = 0;
};

struct EnvOptionsObject : Object {
  static constexpr Kind kKind = Kind::kEnvOptions;
  EnvOptions value;
  std::shared_ptr<RateLimiter> rate_limiter;         // the one that value points to
  jlong random_access_max_buffer_size = 1024 << 10;  // accepted, but the engine has no such option
};

// Keeps the objects that its options point to.
struct SstFileWriterObject : Object {
  static constexpr Kind kKind = Kind::kSstFileWriter;
  SstFileWriterObject(const EnvOptionsObject& files, const Options& options, Kept kept_in)
      : kept(std::move(kept_in)), rate_limiter(files.rate_limiter), writer(files.value, options) {}

  const Kept kept;
  const std::shared_ptr<RateLimiter> rate_limiter;
  SstFileWriter writer;
};

// Shared by Java's reader and its iterators.
struct SstFile {
  SstFile(const Options& options, Kept kept_in) : kept(std::move(kept_in)), reader(options) {}

  const Kept kept;
  SstFileReader reader;
  std::mutex mutex;
  std::set<jlong> iterators;  // the existing ones; under mutex
};

// Closes its iterators, because Java's classes do not dispose of them after their reader.
struct SstFileReaderObject : Object {
  static constexpr Kind kKind = Kind::kSstFileReader;
  explicit SstFileReaderObject(std::shared_ptr<SstFile> file) : value(std::move(file)) {}
  ~SstFileReaderObject() override;
  const char* ReasonNotToClose(const ThreadRecord& own) const override;

  const std::shared_ptr<SstFile> value;
};

// The bytes of Java's Slice and DirectSlice: a copy, or the bytes of a direct buffer that the
// program keeps alive.
struct SliceObject : Object {
  static constexpr Kind kKind = Kind::kSlice;
  std::string own;
  Slice slice;
};

struct ReadOptionsObject : Object {
  static constexpr Kind kKind = Kind::kReadOptions;
  ReadOptions value;
  bool managed = false;  // no effect: RocksDB dropped it, but Java's classes still have it
  jlong snapshot = 0;    // each read looks it up, since it may have been released
  jlong lower_bound = 0;
  jlong upper_bound = 0;
};

class Child;

// A database's handle for its listeners, or 0 until it exists. Listeners are called before that.
using OwnHandle = std::shared_ptr<std::atomic<jlong>>;

// Invariants:
//   I1  children_ has every child whose destructor has not ended
class DBObject : public Object {
 public:
  static constexpr Kind kKind = Kind::kDB;

  DBObject(std::unique_ptr<DB> db, std::vector<Kept> kept);
  // Wraps a database of the engine for the duration of a callback.
  explicit DBObject(DB* borrowed);
  // Closes the children and the database.
  ~DBObject() override;

  const char* ReasonNotToClose(const ThreadRecord& own) const override;

  DB& db() { return *db_; }
  // Closes the children, so that later use of them is detected, and the database.
  Status Close();
  // Keeps the objects to which the options of later families point.
  void Keep(const Kept& kept);
  // Returns the kept objects to which the options point.
  Kept KeptFor(const ColumnFamilyOptions& options) const;

  // Counts as RocksDB does: force ends all disables made through this object, otherwise only the
  // last one ends. OK if there is none. Disables by checkpoints and backups are not affected.
  Status DisableFileDeletions();
  Status EnableFileDeletions(bool force);

  // Registers a child, which is closed no later than the database.
  template <typename T>
  jlong RegisterChild(T* child) {
    const jlong handle = Register(child);
    AddChild(child, handle);
    return handle;
  }
  // The handle of the default family, which all of Java's objects for the family share.
  jlong DefaultColumnFamily();
  // The same for the environment. Java does not dispose of it, so it ends with the database.
  jlong Environment();

 private:
  friend class Child;
  void AddChild(Child* child, jlong handle);
  void RemoveChild(jlong handle);
  void CloseChildren();
  bool TakeFileDeletionDisable();

  mutable std::mutex mutex_;
  std::condition_variable child_removed_;
  std::set<jlong> children_;  // under mutex_, as are the next four members
  std::vector<Kept> kept_;
  jlong default_family_ = 0;
  jlong environment_ = 0;
  uint64_t file_deletion_disables_ = 0;
  std::unique_ptr<DB> owned_;  // declared after what it points to; null: borrowed
  DB* const db_;
};

// A part of a database. The database waits for its children before it is closed.
class Child : public Object {
 public:
  explicit Child(DBObject& parent) : parent_(&parent) {}
  ~Child() override;

  bool IsChildOf(const DBObject& db) const { return parent_ == &db; }
  // Null if the database is being opened or closed.
  const DBObject* parent() const { return parent_; }

 protected:
  // For a database without an object, which is being opened or closed.
  Child() : parent_(nullptr) {}

  DBObject* const parent_;

 private:
  friend class DBObject;
  jlong handle_ = 0;
};

struct ColumnFamilyObject : Child {
  static constexpr Kind kKind = Kind::kColumnFamily;
  ColumnFamilyObject(DBObject& parent, ColumnFamilyHandle* family_in, bool owned_in)
      : Child(parent), family(family_in), owned(owned_in) {}
  explicit ColumnFamilyObject(ColumnFamilyHandle* family_in) : family(family_in), owned(false) {}
  ~ColumnFamilyObject() override {
    if (owned) delete family;
  }

  ColumnFamilyHandle* family;
  bool owned;  // false: the default family's own handle, or that of a callback
};

// The bounds to which an iterator refers.
struct Bounds {
  std::string lower, upper;
  Slice lower_slice, upper_slice;
};

struct IteratorObject : Child {
  static constexpr Kind kKind = Kind::kIterator;
  using Child::Child;

  std::shared_ptr<Bounds> bounds;  // null: none
  std::unique_ptr<Iterator> iterator;
};

struct SstFileReaderIteratorObject : Object {
  static constexpr Kind kKind = Kind::kSstFileReaderIterator;
  explicit SstFileReaderIteratorObject(std::shared_ptr<SstFile> file_in)
      : file(std::move(file_in)) {}
  ~SstFileReaderIteratorObject() override;

  const std::shared_ptr<SstFile> file;
  jlong handle = 0;                // in the file's set of iterators
  std::shared_ptr<Bounds> bounds;  // null: none
  std::unique_ptr<Iterator> iterator;
};

struct SnapshotObject : Child {
  static constexpr Kind kKind = Kind::kSnapshot;
  SnapshotObject(DBObject& parent, const Snapshot* snapshot_in)
      : Child(parent), snapshot(snapshot_in) {}
  ~SnapshotObject() override { parent_->db().ReleaseSnapshot(snapshot); }

  const Snapshot* snapshot;
};

struct TransactionLogIteratorObject : Child {
  static constexpr Kind kKind = Kind::kTransactionLogIterator;
  using Child::Child;
  std::unique_ptr<TransactionLogIterator> iterator;
};

struct CheckpointObject : Child {
  static constexpr Kind kKind = Kind::kCheckpoint;
  using Child::Child;
  std::unique_ptr<Checkpoint> checkpoint;
};

}  // namespace ashlar::java

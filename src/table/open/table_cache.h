// TableCache: the open tables of one column family. OpenTables: the limit on open tables that all
// column families of a database share.
//
//   file->reader   null ──Acquire: opens outside locks and guards, publishes──> reader
//                  reader ──limit reached, Evict, Close──> null; reader->Drop()
//                  A dropped reader lives on while cursors or pins have counts on it.
//
// I1: file->reader is written only under OpenTables' lock. It is non-null exactly while the file is
//     in OpenTables' ring.
// I2: Evict(file) is called for every file before its FileMetaData is freed, and no Acquire of the
//     file runs concurrently or later.
// I3: the number of published tables is within the limit. Unlinked tables with counts are extra.
// I4: file->ring_index is the position of the file in the ring, so a drop of thousands of files
//     does not search the ring.
//
// The magic number at the end of a file gives the kind of its table.
//
// Memory orders: file->reader is stored with release and loaded with acquire inside an epoch guard.
// Lifetime: OpenTables outlives its TableCaches. The caller evicts or closes before the block cache
// and the file system are destroyed. Thread safety: all methods from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/slice_transform.h"
#include "ashlar/vfs.h"
#include "base/result.h"
#include "cache/block_cache.h"
#include "key/key_comparator.h"
#include "key/prefix_extractors.h"
#include "observe/recorder.h"
#include "platform/mutex.h"
#include "table/blockbased/table_config.h"
#include "table/file_metadata.h"
#include "table/open/pinned_tables.h"
#include "table/plain/plain_table_config.h"
#include "table/table_opener.h"
#include "table/table_reader.h"

namespace ashlar {

class TableCache;

class OpenTables {
 public:
  // tables_max: 0 for no limit.
  OpenTables(EpochDomain* epochs, size_t tables_max) : epochs_(*epochs), tables_max_(tables_max) {}
  // Requires: every file was evicted.
  ~OpenTables();
  OpenTables(const OpenTables&) = delete;
  OpenTables& operator=(const OpenTables&) = delete;

  void SetLimit(size_t tables_max);
  // TableCache::Evict, for a file of any family.
  void Evict(FileMetaData* file) { Remove(file); }
  size_t Count() const;

 private:
  friend class TableCache;
  struct OpenTable {
    FileMetaData* file;
    const TableCache* owner;
  };

  // Publishes the reader in the file. Returns the published reader, which is another one if a
  // concurrent call has published first.
  TableRef Publish(FileMetaData* file, const TableCache* owner, TableReaderPtr reader);
  void Remove(FileMetaData* file);
  void RemoveAll(const TableCache* owner);
  void EvictTo(size_t tables) ASHLAR_REQUIRES(mutex_);
  void Unlink(size_t index) ASHLAR_REQUIRES(mutex_);
  // Asserts I1 and I4 for the files in the ring, and I3.
  void CheckInvariants() const ASHLAR_REQUIRES(mutex_);

  EpochDomain& epochs_;
  mutable Mutex mutex_;
  size_t tables_max_ ASHLAR_GUARDED_BY(mutex_);
  std::vector<OpenTable> ring_ ASHLAR_GUARDED_BY(mutex_);
  size_t hand_ ASHLAR_GUARDED_BY(mutex_) = 0;
};

struct TableCacheArgs {
  vfs::FileSystem* file_system = nullptr;
  EpochDomain* epochs = nullptr;  // domain of the guards that find tables; as in open_tables
  std::string directory{};        // tables are directory/NNNNNN.sst, or NNNNNN.ldb
  std::string path{};             // path of the only table; if set, used instead of the directory
  KeyComparator comparator{nullptr};
  BlockBasedTableConfig config{};
  PlainTableConfig plain_config{};
  std::shared_ptr<BlockCache> block_cache{};  // null: none
  OpenTables* open_tables = nullptr;
  // Searched for a file before it is opened by name. Null: none.
  PinnedTables* pinned_tables = nullptr;
  bool mmap_reads = false;
  bool direct_reads = false;
  Recorder recorder{};
  std::atomic<int64_t>* live_blocks = nullptr;  // counts the family's blocks in memory; null: none
  bool random_access_hint = true;               // advise_random_on_open
  std::shared_ptr<const SliceTransform> prefix_extractor{};  // null: none
  bool tolerant = false;  // damaged tables are opened as far as they are readable
};

class TableCache final : public TableOpener {
 public:
  explicit TableCache(TableCacheArgs args)
      : args_(std::move(args)),
        config_(args_.config),
        prefix_extractors_(std::make_shared<PrefixExtractors>(args_.prefix_extractor)) {}
  ~TableCache() override { Close(); }

  // The open table, valid inside the caller's epoch guard. Null if the file is not open.
  static TableReader* FindOpen(FileMetaData* file) {
    TableReader* reader = file->reader.load(std::memory_order_acquire);
    if (reader != nullptr) [[likely]]
      reader->MarkUsed();
    return reader;
  }
  // Returns the open table. Opens the file if it is not open, and waits for the file system.
  // Returns Incomplete if the file is not open and options.cached_only is set. Requires: no guard,
  // or a ReadGuard::Pause; a count on the file, or on a version that lists it.
  Result<TableRef> Acquire(FileMetaData* file, const TableReadOptions& options);

  // Both require the same as Acquire.
  Result<std::unique_ptr<InternalCursor>> NewCursor(FileMetaData* file,
                                                    const TableReadOptions& options) override;
  bool MayMatch(FileMetaData* file, const TableReadOptions& options,
                const Slice& internal_target) override;
  // Sets the extractor of tables that are opened later. Open tables keep theirs.
  void SetPrefixExtractor(std::shared_ptr<const SliceTransform> prefix_extractor) {
    prefix_extractors_->SetCurrent(std::move(prefix_extractor));
  }
  // Sets the config of tables that are opened later.
  void SetConfig(const BlockBasedTableConfig& config) {
    MutexLock lock(mutex_);
    config_ = config;
  }
  // Opens the table if it is not open, and calls Verify.
  Status Verify(FileMetaData* file);

  // Unlinks the open table of a file that will be deleted. Pinned bytes and cursors stay valid.
  void Evict(FileMetaData* file);
  // Unlinks all open tables of this column family. Files may be opened again.
  void Close();

 private:
  Result<TableRef> OpenAndPublish(FileMetaData* file);
  // pinned: the open file, if the table was pinned.
  Result<TableReaderPtr> Open(const FileMetaData* file, PinnedTables::Taken pinned) const;
  Result<TableReaderPtr> OpenPlain(std::unique_ptr<vfs::RandomAccessFile> opened, std::string path,
                                   uint64_t file_bytes) const;
  static Result<uint64_t> ReadMagic(const vfs::RandomAccessFile& file, const std::string& path,
                                    uint64_t file_bytes);

  BlockBasedTableConfig Config() const {
    MutexLock lock(mutex_);
    return config_;
  }

  const TableCacheArgs args_;  // config and prefix_extractor: only the initial ones
  mutable Mutex mutex_;
  BlockBasedTableConfig config_ ASHLAR_GUARDED_BY(mutex_);
  const std::shared_ptr<PrefixExtractors> prefix_extractors_;
};

}  // namespace ashlar

#include "table/open/table_cache.h"

#include <utility>

#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "execute/epoch.h"
#include "filesystem/filename.h"
#include "table/block/block_format.h"
#include "table/blockbased/block_based_table.h"
#include "table/plain/plain_table.h"

namespace ashlar {

const PinOps TableReader::kPinOps = {
    [](void* reader) { static_cast<TableReader*>(reader)->AddRef(); },
    [](void* reader, void*) { static_cast<TableReader*>(reader)->Release(); },
};

OpenTables::~OpenTables() {
  MutexLock lock(mutex_);
  ASHLAR_ASSERT(ring_.empty());  // I2
}

size_t OpenTables::Count() const {
  MutexLock lock(mutex_);
  return ring_.size();
}

void OpenTables::SetLimit(size_t tables_max) {
  {
    MutexLock lock(mutex_);
    tables_max_ = tables_max;
    if (tables_max_ != 0) EvictTo(tables_max_);
  }
  epochs_.Reclaim();
}

TableRef OpenTables::Publish(FileMetaData* file, const TableCache* owner, TableReaderPtr reader) {
  TableReader* published;
  {
    MutexLock lock(mutex_);
    published = file->reader.load(std::memory_order_relaxed);
    ASHLAR_DCHECK(reader != nullptr);  // the caller opened it
    if (published == nullptr) {
      if (tables_max_ != 0) EvictTo(tables_max_ - 1);
      ring_.push_back({file, owner});
      file->ring_index = ring_.size() - 1;
      published = reader.release();
      file->reader.store(published, std::memory_order_release);
    }
    if constexpr (kDebugChecks) CheckInvariants();
    // A linked reader has not been dropped, because Drop is called under this lock.
    published->AddRef();
  }
  // A reader that was not published is closed outside the lock.
  epochs_.Reclaim();
  return TableRef(published);
}

void OpenTables::Unlink(size_t index) {
  ASHLAR_DCHECK(index < ring_.size());  // the caller found it in the ring
  TableReader* const reader = ring_[index].file->reader.load(std::memory_order_relaxed);
  ASHLAR_ASSERT(reader != nullptr);  // I1
  ring_[index].file->reader.store(nullptr, std::memory_order_release);
  ring_[index] = ring_.back();
  ring_[index].file->ring_index = index;
  ring_.pop_back();
  reader->Drop();
}

void OpenTables::CheckInvariants() const {
  ASHLAR_ASSERT(tables_max_ == 0 || ring_.size() <= tables_max_);  // I3
  for (size_t i = 0; i < ring_.size(); ++i) {
    ASHLAR_ASSERT(ring_[i].file->reader.load(std::memory_order_relaxed) != nullptr);  // I1
    ASHLAR_ASSERT(ring_[i].file->ring_index == i);                                    // I4
  }
}

void OpenTables::EvictTo(size_t tables) {
  while (ring_.size() > tables) {
    if (hand_ >= ring_.size()) hand_ = 0;
    TableReader* const reader = ring_[hand_].file->reader.load(std::memory_order_relaxed);
    ASHLAR_DCHECK(reader != nullptr);  // I1
    if (reader->TakeUsed()) {
      ++hand_;
    } else {
      Unlink(hand_);
    }
  }
}

void OpenTables::Remove(FileMetaData* file) {
  {
    MutexLock lock(mutex_);
    if (file->reader.load(std::memory_order_relaxed) == nullptr) return;                     // I1
    ASHLAR_ASSERT(file->ring_index < ring_.size() && ring_[file->ring_index].file == file);  // I4
    Unlink(file->ring_index);
  }
  epochs_.Reclaim();
}

void OpenTables::RemoveAll(const TableCache* owner) {
  {
    MutexLock lock(mutex_);
    for (size_t i = ring_.size(); i-- > 0;) {
      if (ring_[i].owner == owner) Unlink(i);
    }
  }
  epochs_.Reclaim();
}

Result<TableRef> TableCache::Acquire(FileMetaData* file, const TableReadOptions& options) {
  {
    const EpochGuard guard(*args_.epochs);
    if (TableReader* const reader = FindOpen(file); reader != nullptr) {
      reader->AddRef();
      return TableRef(reader);
    }
  }
  if (options.cached_only)
    return Status::Incomplete(TableFileName(args_.directory, file->number),
                              "the table is not open");
  return OpenAndPublish(file);
}

Result<std::unique_ptr<InternalCursor>> TableCache::NewCursor(FileMetaData* file,
                                                              const TableReadOptions& options) {
  // The filter is code of the program, which runs outside of guards.
  if (options.table_filter == nullptr) [[likely]] {
    const EpochGuard guard(*args_.epochs);
    if (TableReader* const reader = FindOpen(file); reader != nullptr)
      return reader->NewCursor(options);
  }
  ASHLAR_ASSIGN_OR_RETURN(const TableRef table, Acquire(file, options));
  if (options.table_filter != nullptr && !(*options.table_filter)(table->properties()))
    return std::unique_ptr<InternalCursor>();
  return table->NewCursor(options);
}

bool TableCache::MayMatch(FileMetaData* file, const TableReadOptions& options,
                          const Slice& internal_target) {
  {
    const EpochGuard guard(*args_.epochs);
    if (const TableReader* const reader = FindOpen(file); reader != nullptr)
      return reader->MayMatch(options.seek_prefix, internal_target);
  }
  const Result<TableRef> table = Acquire(file, options);
  return !table.ok() || (*table)->MayMatch(options.seek_prefix, internal_target);
}

Status TableCache::Verify(FileMetaData* file) {
  ASHLAR_ASSIGN_OR_RETURN(const TableRef table, Acquire(file, {}));
  return table->Verify();
}

void TableCache::Evict(FileMetaData* file) { args_.open_tables->Remove(file); }

void TableCache::Close() { args_.open_tables->RemoveAll(this); }

namespace {

// The file of a pinned table, whose name may no longer exist. It is given back if the table is not
// opened, for example because an allocation fails.
class GivesBack {
 public:
  GivesBack(PinnedTables* tables, uint64_t number, std::shared_ptr<vfs::RandomAccessFile> file)
      : tables_(tables), number_(number), file_(std::move(file)) {}
  ~GivesBack() {
    if (file_ != nullptr) tables_->GiveBack(number_, std::move(file_));
  }
  GivesBack(const GivesBack&) = delete;
  GivesBack& operator=(const GivesBack&) = delete;

  void Release() { file_.reset(); }

 private:
  PinnedTables* const tables_;
  const uint64_t number_;
  std::shared_ptr<vfs::RandomAccessFile> file_;
};

}  // namespace

Result<TableRef> TableCache::OpenAndPublish(FileMetaData* file) {
  PinnedTables::Taken pinned;
  if (args_.pinned_tables != nullptr) pinned = args_.pinned_tables->Take(file->number);
  GivesBack gives_back(args_.pinned_tables, file->number, std::move(pinned.shared));
  StopWatch watch(args_.recorder, TABLE_OPEN_IO_MICROS);
  Result<TableReaderPtr> opened = Open(file, std::move(pinned));
  watch.Stop();
  args_.recorder.Tick(NO_FILE_OPENS);
  if (!opened.ok()) {
    args_.recorder.Tick(NO_FILE_ERRORS);
    return opened.status();
  }
  TableReaderPtr reader = std::move(opened).value();
  file->has_ranges.store(reader->HasRanges() ? HasRanges::kYes : HasRanges::kNo,
                         std::memory_order_relaxed);
  file->LearnCounts(reader->properties());
  TableRef table = args_.open_tables->Publish(file, this, std::move(reader));
  gives_back.Release();
  return table;
}

Result<TableReaderPtr> TableCache::Open(const FileMetaData* file,
                                        PinnedTables::Taken pinned) const {
  const vfs::FileOptions file_options{.use_mmap_reads = args_.mmap_reads,
                                      .use_direct_io = args_.direct_reads};
  std::string path = pinned.file != nullptr ? std::move(pinned.path)
                     : !args_.path.empty()  ? args_.path
                                            : TableFileName(args_.directory, file->number);
  std::unique_ptr<vfs::RandomAccessFile> opened = std::move(pinned.file);
  Status status = opened != nullptr
                      ? Status::OK()
                      : args_.file_system->NewRandomAccessFile(path, file_options, &opened);
  if (status.IsPathNotFound() && args_.path.empty()) {
    const std::string legacy = LegacyTableFileName(args_.directory, file->number);
    if (args_.file_system->NewRandomAccessFile(legacy, file_options, &opened).ok()) {
      status = Status::OK();
      path = legacy;
    }
  }
  if (status.IsPathNotFound() && args_.pinned_tables != nullptr) {
    return Status::PathNotFound(path,
                                "the process that writes the database has deleted the table, which "
                                "was not held open; catch up with it or open the database again, "
                                "and read again");
  }
  ASHLAR_RETURN_IF_ERROR(status);
  ASHLAR_ASSIGN_OR_RETURN(const uint64_t magic, ReadMagic(*opened, path, file->file_bytes));
  switch (magic) {
    case kBlockBasedTableMagic:
    case kLegacyBlockBasedTableMagic: break;
    case kPlainTableMagic:
    case kLegacyPlainTableMagic:
      return OpenPlain(std::move(opened), std::move(path), file->file_bytes);
    case kCuckooTableMagic: return Status::NotSupported(path, "cuckoo table files");
    default:
      return Status::Corruption(path, StrCat("offset ", file->file_bytes - sizeof(magic),
                                             ": not a table, its magic number is unknown"));
  }
  if (args_.random_access_hint) opened->Hint(vfs::AccessPattern::kRandom, 0, file->file_bytes);
  return BlockBasedTable::Open({.file = std::move(opened),
                                .file_name = path,
                                .file_bytes = file->file_bytes,
                                .epochs = args_.epochs,
                                .comparator = args_.comparator,
                                .config = Config(),
                                .block_cache = args_.block_cache,
                                .mmap_reads = args_.mmap_reads,
                                .recorder = args_.recorder,
                                .live_blocks = args_.live_blocks,
                                .largest_sequence = file->largest_sequence,
                                .smallest = file->smallest,
                                .largest = file->largest,
                                .prefix_extractors = prefix_extractors_,
                                .tolerant = args_.tolerant});
}

Result<TableReaderPtr> TableCache::OpenPlain(std::unique_ptr<vfs::RandomAccessFile> opened,
                                             std::string path, uint64_t file_bytes) const {
  return PlainTable::Open({.file = std::move(opened),
                           .file_name = std::move(path),
                           .file_bytes = file_bytes,
                           .epochs = args_.epochs,
                           .comparator = args_.comparator,
                           .config = args_.plain_config,
                           .prefix_extractor = prefix_extractors_->Current(),
                           .recorder = args_.recorder,
                           .live_blocks = args_.live_blocks,
                           .random_access_hint = args_.random_access_hint});
}

Result<uint64_t> TableCache::ReadMagic(const vfs::RandomAccessFile& file, const std::string& path,
                                       uint64_t file_bytes) {
  constexpr size_t kMagicBytes = sizeof(uint64_t);
  uint64_t actual_bytes = 0;
  ASHLAR_RETURN_IF_ERROR(file.Size(&actual_bytes));
  if (actual_bytes != file_bytes)
    return Status::Corruption(
        path, StrCat("the file has ", actual_bytes, " bytes, the MANIFEST says ", file_bytes));
  if (file_bytes < kLegacyFooterBytes)
    return Status::Corruption(path, StrCat("a file of ", file_bytes, " bytes is no table"));
  char scratch[kMagicBytes];
  Slice tail;
  ASHLAR_RETURN_IF_ERROR(file.Read(file_bytes - kMagicBytes, kMagicBytes, &tail, scratch));
  uint64_t magic = 0;
  if (!DecodeTableMagic(tail, &magic)) return Status::Corruption(path, "the file ends early");
  return magic;
}

}  // namespace ashlar

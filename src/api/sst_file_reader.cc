// SstFileReader: one open table, read through the cursors of the engine.
#include "ashlar/sst_file_reader.h"

#include <utility>

#include "ashlar/convenience.h"
#include "ashlar/snapshot.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "config/validate.h"
#include "execute/epoch.h"
#include "iterate/error_iterator.h"
#include "iterate/range_cover.h"
#include "iterate/saved_key.h"
#include "iterate/undeleted_cursor.h"
#include "iterate/user_iterator.h"
#include "lsm/resolve_options.h"
#include "table/open/standalone_table.h"
#include "table/property_collectors.h"
#include "table/table_reader.h"

namespace ashlar {

namespace {

// The entries of a table as they are stored.
class TableEntryIterator final : public Iterator {
 public:
  explicit TableEntryIterator(std::unique_ptr<InternalCursor> cursor)
      : cursor_(std::move(cursor)) {}

  bool Valid() const override { return status_.ok() && cursor_->Valid(); }
  void SeekToFirst() override {
    Move([this] { cursor_->SeekToFirst(); });
  }
  void SeekToLast() override {
    Move([this] { cursor_->SeekToLast(); });
  }
  void Seek(const Slice& target) override {
    if (CheckTarget(target)) Move([&] { cursor_->Seek(CopyOf(target)); });
  }
  void SeekForPrev(const Slice& target) override {
    if (CheckTarget(target)) Move([&] { cursor_->SeekForPrev(CopyOf(target)); });
  }
  void Next() override {
    Move([this] { cursor_->Next(); });
  }
  void Prev() override {
    Move([this] { cursor_->Prev(); });
  }
  Slice key() const override { return cursor_->key(); }
  Slice value() const override { return cursor_->value(); }
  Status status() const override { return status_.ok() ? cursor_->status() : status_; }

 private:
  bool CheckTarget(const Slice& target) {
    if (target.size() >= kTagBytes) return true;
    status_ = Status::InvalidArgument("the target is not a key of a table iterator");
    return false;
  }
  // The target may be in the cursor's memory, which a seek overwrites.
  Slice CopyOf(const Slice& target) {
    target_.Assign(target);
    return target_.key();
  }
  template <typename Function>
  void Move(const Function& move) {
    status_ = CatchBadAlloc([&] {
      move();
      return Status::OK();
    });
  }

  const std::unique_ptr<InternalCursor> cursor_;
  SavedKey target_;
  Status status_;
};

}  // namespace

struct SstFileReader::Rep {
  Options options;
  KeyComparator comparator{nullptr};
  std::shared_ptr<Cache> block_cache;  // null: none
  std::unique_ptr<StandaloneTable> table;
  FileMetaData* files[1] = {};  // the run of the one file
  std::shared_ptr<const TableProperties> properties;

  Status CheckIsOpen() const {
    return table != nullptr ? Status::OK()
                            : Status::InvalidArgument("no table is open; call Open first");
  }
  static TableReadOptions ReadOptionsOf(const ReadOptions& options) {
    return {.verify_checksums = options.verify_checksums,
            .fill_cache = options.fill_cache,
            .cached_only = options.read_tier == kBlockCacheTier,
            .readahead_bytes = options.readahead_size};
  }
  Recorder recorder() const { return Recorder(options.statistics.get()); }
  static SequenceNumber SequenceOf(const ReadOptions& options) {
    return options.snapshot != nullptr ? options.snapshot->GetSequenceNumber() : kSequenceNumberMax;
  }

  Status Open(const std::string& path) {
    if (table != nullptr)
      return Status::InvalidArgument(
          path, "the reader has a table already; make a reader for each table");
    ASHLAR_RETURN_IF_ERROR(CheckObjects(options).WithContext(path));
    block_cache = ResolveBlockCache(&options);
    ASHLAR_ASSIGN_OR_RETURN(
        table,
        StandaloneTable::Open({.file_system = options.env->EngineFiles().get(),
                               .path = path,
                               .comparator = comparator,
                               .config = ResolveTableConfig(options),
                               .plain_config = ResolvePlainTableConfig(options),
                               .block_cache = std::static_pointer_cast<BlockCache>(block_cache),
                               .mmap_reads = options.allow_mmap_reads,
                               .direct_reads = options.use_direct_reads,
                               .recorder = recorder(),
                               .prefix_extractor = options.prefix_extractor},
                              {}));
    files[0] = table->file();
    properties = std::make_shared<const TableProperties>(table->reader()->properties());
    return Status::OK();
  }

  IteratorSource NewSource(const ReadOptions& read_options) {
    const TableReadOptions table_options = ReadOptionsOf(read_options);
    IteratorSource source;
    source.cursor = table->reader()->NewCursor(table_options);
    source.sequence = SequenceOf(read_options);
    source.prefix_extractor = options.prefix_extractor.get();
    if (!table->reader()->HasRanges() || read_options.ignore_range_deletions) return source;
    RangeCover cover({.comparator = comparator,
                      .tables = table->cache(),
                      .read_options = table_options,
                      .visible = SequenceOf(read_options)});
    cover.AddFiles(files);
    std::vector<std::unique_ptr<InternalCursor>> children;
    children.push_back(std::move(source.cursor));
    auto undeleted = std::make_unique<UndeletedCursor>(
        UndeletedCursor::Args{.comparator = comparator,
                              .children = std::move(children),
                              .cover = std::move(cover),
                              .met_ranges = std::make_unique<bool>(true)});
    source.undeleted = undeleted.get();
    source.cursor = std::move(undeleted);
    return source;
  }

  Status NewIterator(const ReadOptions& read_options, std::unique_ptr<Iterator>* iterator) {
    ASHLAR_RETURN_IF_ERROR(CheckIsOpen());
    *iterator = std::make_unique<UserIterator>(
        UserIteratorArgs{.comparator = comparator,
                         .merge_operator = options.merge_operator.get(),
                         .lower_bound = read_options.iterate_lower_bound,
                         .upper_bound = read_options.iterate_upper_bound,
                         .prefix_same_as_start = read_options.prefix_same_as_start,
                         .max_sequential_skip = options.max_sequential_skip_in_iterations,
                         .max_skippable_entries = read_options.max_skippable_internal_keys,
                         .recorder = recorder(),
                         .logger = options.info_log.get(),
                         .source = NewSource(read_options)});
    return Status::OK();
  }

  Status Get(const ReadOptions& read_options, const Slice& key, PinnableSlice* value) {
    value->Reset();
    ASHLAR_RETURN_IF_ERROR(CheckIsOpen());
    Lookup lookup({.user_key = key,
                   .snapshot = SequenceOf(read_options),
                   .merge_operator = options.merge_operator.get()});
    if (read_options.ignore_range_deletions) lookup.IgnoreRanges();
    TableReader* const reader = table->reader();
    {
      const EpochGuard guard(*table->epochs());
      if (reader->HasRanges())
        lookup.RaiseCoveringSequence(reader->ranges().CoveringSequence(key, lookup.snapshot()));
      reader->Get(ReadOptionsOf(read_options), &lookup);
    }
    return lookup.Finish(recorder(), options.info_log.get(), value);
  }
};

SstFileReader::SstFileReader(const Options& options) : rep_(std::make_unique<Rep>()) {
  rep_->options = options;
  FillDefaults(&rep_->options);
  rep_->comparator = KeyComparator(options.comparator);
}

SstFileReader::~SstFileReader() = default;

Status SstFileReader::Open(const std::string& file_path) {
  return CatchBadAlloc([&] { return rep_->Open(file_path); });
}

Iterator* SstFileReader::NewIterator(const ReadOptions& options) {
  std::unique_ptr<Iterator> iterator;
  const Status status = CatchBadAlloc([&] { return rep_->NewIterator(options, &iterator); });
  return status.ok() ? iterator.release() : MakeErrorIterator(status).release();
}

std::unique_ptr<Iterator> SstFileReader::NewTableIterator() {
  std::unique_ptr<Iterator> iterator;
  const Status status = CatchBadAlloc([&]() -> Status {
    ASHLAR_RETURN_IF_ERROR(rep_->CheckIsOpen());
    iterator = std::make_unique<TableEntryIterator>(
        rep_->table->reader()->NewCursor({.fill_cache = false}));
    return Status::OK();
  });
  return status.ok() ? std::move(iterator) : MakeErrorIterator(status);
}

Status SstFileReader::ParseTableIteratorKey(const Slice& raw_table_key,
                                            ParsedEntryInfo* parsed_key) const {
  if (raw_table_key.size() < kTagBytes)
    return Status::InvalidArgument("a key of a table iterator has at least 8 bytes");
  const uint64_t tag = ExtractTag(raw_table_key);
  *parsed_key = {.user_key = ExtractUserKey(raw_table_key),
                 .timestamp = Slice(),
                 .sequence = TagSequence(tag),
                 .type = ToEntryType(TagType(tag))};
  return Status::OK();
}

Status SstFileReader::Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) {
  return CatchBadAlloc([&] { return rep_->Get(options, key, value); });
}

Status SstFileReader::Get(const ReadOptions& options, const Slice& key, std::string* value) {
  return CatchBadAlloc([&]() -> Status {
    PinnableSlice pinned(value);
    ASHLAR_RETURN_IF_ERROR(rep_->Get(options, key, &pinned));
    if (pinned.IsPinned()) value->assign(pinned.data(), pinned.size());
    return Status::OK();
  });
}

std::vector<Status> SstFileReader::MultiGet(const ReadOptions& options,
                                            const std::vector<Slice>& keys,
                                            std::vector<std::string>* values) {
  values->assign(keys.size(), std::string());
  std::vector<Status> statuses(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) statuses[i] = Get(options, keys[i], &(*values)[i]);
  return statuses;
}

std::vector<Status> SstFileReader::MultiGet(const ReadOptions& options,
                                            const std::vector<Slice>& keys,
                                            std::vector<PinnableSlice>* values) {
  *values = std::vector<PinnableSlice>(keys.size());
  std::vector<Status> statuses(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) statuses[i] = Get(options, keys[i], &(*values)[i]);
  return statuses;
}

std::shared_ptr<const TableProperties> SstFileReader::GetTableProperties() const {
  return rep_->properties;
}

Status SstFileReader::VerifyChecksum(const ReadOptions& /*options*/) {
  ASHLAR_RETURN_IF_ERROR(rep_->CheckIsOpen());
  return CatchBadAlloc([&] { return rep_->table->reader()->Verify(); });
}

// ---- ashlar/convenience.h

Status VerifySstFileChecksum(const Options& options, const EnvOptions& env_options,
                             const std::string& file_path) {
  return VerifySstFileChecksum(options, env_options, ReadOptions(), file_path);
}

Status VerifySstFileChecksum(const Options& options, const EnvOptions& /*env_options*/,
                             const ReadOptions& read_options, const std::string& file_path,
                             const SequenceNumber& /*largest_seqno*/) {
  return CatchBadAlloc([&]() -> Status {
    SstFileReader reader(options);
    ASHLAR_RETURN_IF_ERROR(reader.Open(file_path));
    return reader.VerifyChecksum(read_options);
  });
}

}  // namespace ashlar

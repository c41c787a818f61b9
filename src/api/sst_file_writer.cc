// SstFileWriter: checks arguments. CompactionOutput, the path of flushes, writes the file.
//
// I1: entries reach the output in ascending order of user keys, each with sequence 0.
// I2: range deletions are kept until Finish, which cuts them into fragments.
#include "ashlar/sst_file_writer.h"

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "compact/run/compaction_output.h"
#include "config/validate.h"
#include "execute/rate_limiter.h"
#include "lsm/recovery.h"
#include "lsm/resolve_options.h"
#include "ranges/fragmented_ranges.h"
#include "table/table_properties.h"

namespace ashlar {

namespace {

constexpr uint32_t kUnknownFamily = TablePropertiesCollectorFactory::Context::kUnknownColumnFamily;

// The file's level is not known yet. A file that overlaps nothing is ingested into the last level.
CompressionType CompressionOf(const ColumnFamilyOptions& options) {
  if (options.bottommost_compression != kDisableCompressionOption)
    return options.bottommost_compression;
  return options.compression_per_level.empty() ? options.compression
                                               : options.compression_per_level.back();
}

// A session and a number identify a table.
uint64_t NextNumber() {
  static std::atomic<uint64_t> number{1};
  return number.fetch_add(1, std::memory_order_relaxed);
}

struct KeyRange {
  std::string begin;
  std::string end;
};

}  // namespace

struct SstFileWriter::Rep {
  EnvOptions env_options;
  Options options;
  KeyComparator comparator{nullptr};
  uint32_t family_id = kUnknownFamily;
  std::string family_name;
  IORequestPriority priority = IO_TOTAL;
  const std::string session_id = NewSessionId();

  // The state of the open file, or of the last one if none is open.
  std::string path;
  CompactionOutputArgs args;
  std::unique_ptr<CompactionOutput> output;  // null: no file is open
  std::string key;                           // internal key of the last entry
  std::string smallest;                      // user key
  uint64_t entries = 0;
  std::vector<KeyRange> ranges;
  uint64_t file_bytes = 0;
  Status status;

  Slice last_key() const { return ExtractUserKey(key); }

  Status Bad(const char* why) const { return Status::InvalidArgument(path, why); }
  Status CheckIsOpen() const {
    if (output == nullptr) return Status::InvalidArgument(path, "no file is open; call Open first");
    return status;
  }

  void MakeArgs() {
    const bool bottommost = options.bottommost_compression != kDisableCompressionOption;
    args = CompactionOutputArgs();
    ResolveOutput(options, options, &args);
    args.file_system = options.env->EngineFiles().get();
    args.path = path;
    args.file_options.use_direct_io = env_options.use_direct_writes;
    args.file_options.use_mmap_writes = false;
    args.bytes_per_sync = env_options.bytes_per_sync;
    args.creation_unix_seconds = args.oldest_ancestor_unix_seconds = 0;
    args.new_file_number = &NextNumber;
    TableWriteArgs& table = args.table;
    table.is_external = true;
    table.comparator = comparator;
    table.config.filter_kind = ResolveFilterKind(options, kUnknownFilterLevel);
    table.compression = CompressionOf(options);
    table.compression_parameters = ResolveCompressionParameters(options, bottommost);
    table.dictionary = ResolveDictionary(options, bottommost);
    table.rate_limiter = priority == IO_TOTAL ? nullptr : env_options.rate_limiter;
    table.priority = priority;
    table.column_family_id = family_id;
    table.column_family_name = family_name;
    if (options.merge_operator != nullptr)
      table.merge_operator_name = options.merge_operator->Name();
    table.db_id = "SST Writer";
    table.db_session_id = session_id;
  }

  // Runs one call. Latches MemoryLimit, because the failed call may have added half of an entry.
  template <typename Call>
  Status Run(const Call& call) {
    Status result = CatchBadAlloc(call);
    if (result.IsMemoryLimit() && output != nullptr) status = result;
    return result;
  }

  Status Open(const std::string& file_path) {
    if (output != nullptr) return Bad("the file is still open; call Finish first");
    path = file_path;
    status = Status::OK();
    key.clear();
    smallest.clear();
    entries = file_bytes = 0;
    ranges.clear();
    ASHLAR_RETURN_IF_ERROR(
        ValidateOptions(options, {ColumnFamilyDescriptor(kDefaultColumnFamilyName, options)})
            .WithContext(path));
    if (WritesPlainTables(options)) {
      return Status::NotSupported(
          path, "table_factory: PlainTables have no place for a global sequence number");
    }
    MakeArgs();
    ASHLAR_RETURN_IF_ERROR(CheckRateLimiter(args.table.rate_limiter)
                               .WithContext(StrCat(path, ": EnvOptions::rate_limiter")));
    // Deletes an old file instead of overwriting it, because a database may have a link to it.
    const Status removed = args.file_system->DeleteFile(path);
    if (!removed.ok() && !removed.IsPathNotFound()) return removed;
    auto opened = std::make_unique<CompactionOutput>(args);
    ASHLAR_RETURN_IF_ERROR(opened->Begin());
    output = std::move(opened);
    return Status::OK();
  }

  Status Add(const Slice& user_key, ValueType type, const Slice& value) {
    ASHLAR_RETURN_IF_ERROR(CheckIsOpen());
    if (entries > 0 && comparator.Compare(last_key(), user_key) >= 0) [[unlikely]]
      return Bad("a key is not larger than the one before it; add keys in ascending order");  // I1
    if (!EntryFits(user_key.size(), value.size())) [[unlikely]]
      return Bad("a key and its value have more than 512 MiB together");
    key.assign(user_key.data(), user_key.size());
    PutFixed64(&key, PackTag(0, type));
    if (entries == 0) smallest.assign(user_key.data(), user_key.size());
    ++entries;
    status = output->Add(key, value, true);
    return status;
  }

  Status DeleteRange(const Slice& begin, const Slice& end) {
    ASHLAR_RETURN_IF_ERROR(CheckIsOpen());
    const int r = comparator.Compare(begin, end);
    if (r > 0) return Bad("a range ends before it begins");
    if (r < 0) ranges.push_back({begin.ToString(), end.ToString()});
    return Status::OK();
  }

  Status Finish(ExternalSstFileInfo* info) {
    ASHLAR_RETURN_IF_ERROR(CheckIsOpen());
    const FragmentedRanges fragments = FragmentedRanges::Make(comparator, Tombstones());  // I2
    output->WriteRanges(&fragments);
    ASHLAR_RETURN_IF_ERROR(entries > 0 || !ranges.empty() ? output->Finish()
                                                          : Bad("the file has no entries"));
    const std::vector<std::unique_ptr<FileMetaData>> files = output->TakeFiles();
    ASHLAR_ASSERT(files.size() == 1);  // target_file_bytes is unlimited
    file_bytes = files.front()->file_bytes;
    if (info != nullptr) Describe(*files.front(), info);
    return Status::OK();
  }

  std::vector<RangeTombstone> Tombstones() const {
    std::vector<RangeTombstone> tombstones;
    for (const KeyRange& range : ranges)
      tombstones.push_back({.begin = range.begin, .end = range.end, .sequence = 0});
    return tombstones;
  }

  void Describe(const FileMetaData& file, ExternalSstFileInfo* info) const {
    *info = ExternalSstFileInfo();
    info->file_path = path;
    info->smallest_key = smallest;
    if (entries > 0) info->largest_key = last_key().ToString();
    for (const KeyRange& range : ranges) {
      const bool first = &range == &ranges.front();
      if (first || comparator.Compare(range.begin, info->smallest_range_del_key) < 0)
        info->smallest_range_del_key = range.begin;
      if (first || comparator.Compare(info->largest_range_del_key, range.end) < 0)
        info->largest_range_del_key = range.end;
    }
    info->file_checksum = file.checksum;
    info->file_checksum_func_name = file.checksum_function;
    info->file_size = file_bytes;
    info->num_entries = entries;
    info->num_range_del_entries = ranges.size();
    info->version = kExternalVersion;
  }
};

SstFileWriter::SstFileWriter(const EnvOptions& env_options, const Options& options,
                             const Comparator* user_comparator, ColumnFamilyHandle* column_family,
                             bool /*invalidate_page_cache*/, Env::IOPriority io_priority)
    : rep_(std::make_unique<Rep>()) {
  rep_->env_options = env_options;
  rep_->options = options;
  rep_->options.comparator = user_comparator;
  FillDefaults(&rep_->options);
  rep_->comparator = KeyComparator(user_comparator);
  rep_->priority = io_priority;
  if (column_family == nullptr) return;
  rep_->family_id = column_family->GetID();
  rep_->family_name = column_family->GetName();
}

SstFileWriter::~SstFileWriter() = default;

Status SstFileWriter::Open(const std::string& file_path, Temperature /*temp*/) {
  return CatchBadAlloc([&] { return rep_->Open(file_path); });
}

Status SstFileWriter::Put(const Slice& user_key, const Slice& value) {
  return rep_->Run([&] { return rep_->Add(user_key, ValueType::kValue, value); });
}

Status SstFileWriter::Merge(const Slice& user_key, const Slice& value) {
  return rep_->Run([&] { return rep_->Add(user_key, ValueType::kMerge, value); });
}

Status SstFileWriter::Delete(const Slice& user_key) {
  return rep_->Run([&] { return rep_->Add(user_key, ValueType::kDeletion, Slice()); });
}

Status SstFileWriter::DeleteRange(const Slice& begin_key, const Slice& end_key) {
  return rep_->Run([&] { return rep_->DeleteRange(begin_key, end_key); });
}

Status SstFileWriter::Finish(ExternalSstFileInfo* file_info) {
  const bool was_open = rep_->output != nullptr;
  Status status = CatchBadAlloc([&] { return rep_->Finish(file_info); });
  // After a failure this deletes the file.
  if (was_open) rep_->output.reset();
  return status;
}

uint64_t SstFileWriter::FileSize() {
  // Before the first entry, OpenFileBytes returns the size of an empty block.
  if (rep_->output == nullptr) return rep_->file_bytes;
  return rep_->entries == 0 ? 0 : rep_->output->OpenFileBytes();
}

bool SstFileWriter::CreatedBySstFileWriter(const TableProperties& properties) {
  return properties.user_collected_properties.contains(kPropertyExternalVersion);
}

}  // namespace ashlar

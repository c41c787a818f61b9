#include "repair/table_rewriter.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "compact/run/deletions_cursor.h"
#include "filesystem/filename.h"
#include "iterate/merging_cursor.h"
#include "lsm/resolve_options.h"
#include "memtable/memtable_cursor.h"

namespace ashlar {

namespace {

// Adds entries in order. Adds one of the entries with the same user key and sequence.
class EntryWriter {
 public:
  EntryWriter(const KeyComparator& comparator, CompactionOutput* output)
      : comparator_(comparator), output_(*output) {}

  Status Add(const Slice& key, const Slice& value) {
    const bool first_of_user_key =
        !has_last_ || comparator_.Compare(ExtractUserKey(key), ExtractUserKey(key_)) != 0;
    if (!first_of_user_key && Sequence(key) == Sequence(key_)) {
      if (IsOperand(ExtractType(key_))) Take(key, value);  // I2
      return Status::OK();
    }
    ASHLAR_RETURN_IF_ERROR(Flush());
    first_of_user_key_ = first_of_user_key;
    Take(key, value);
    return Status::OK();
  }
  // Call after the last Add.
  Status Flush() {
    return has_last_ ? output_.Add(key_, value_, first_of_user_key_) : Status::OK();
  }

 private:
  static SequenceNumber Sequence(const Slice& key) { return TagSequence(ExtractTag(key)); }
  void Take(const Slice& key, const Slice& value) {
    key_.assign(key.data(), key.size());
    value_.assign(value.data(), value.size());
    has_last_ = true;
  }

  const KeyComparator comparator_;
  CompactionOutput& output_;
  bool has_last_ = false;  // the entry below is not written yet
  bool first_of_user_key_ = false;
  std::string key_;
  std::string value_;
};

// Keeps tables open until a rewrite has ended.
class OpenInputs {
 public:
  explicit OpenInputs(TableCache* cache) : cache_(*cache) {}
  ~OpenInputs() {
    tables_.clear();
    for (const auto& file : files_) cache_.Evict(file.get());
  }
  OpenInputs(const OpenInputs&) = delete;
  OpenInputs& operator=(const OpenInputs&) = delete;

  Status Add(std::unique_ptr<FileMetaData> file) {
    files_.push_back(std::move(file));
    ASHLAR_ASSIGN_OR_RETURN(TableRef table, cache_.Acquire(files_.back().get(), {}));
    tables_.push_back(std::move(table));
    return Status::OK();
  }
  const std::vector<TableRef>& tables() const { return tables_; }

 private:
  TableCache& cache_;
  std::vector<std::unique_ptr<FileMetaData>> files_;
  std::vector<TableRef> tables_;
};

}  // namespace

CompactionOutputArgs TableRewriter::OutputArgs(Level level) const {
  const ColumnFamilyOptions& options = *args_.options;
  CompactionOutputArgs output;
  output.file_system = args_.file_system;
  output.directory = args_.directory;
  output.file_options.use_direct_io = args_.db_options->use_direct_io_for_flush_and_compaction;
  output.checksums = args_.db_options->file_checksum_gen_factory.get();
  output.creation_unix_seconds = args_.db_options->env->NowMicros() / 1000000;
  output.new_file_number = args_.new_file_number;
  output.bytes_per_sync = args_.db_options->bytes_per_sync;
  output.table.comparator = KeyComparator(options.comparator);
  output.table.config = ResolveTableConfig(options);
  output.table.config.filter_kind = ResolveFilterKind(options, static_cast<int>(level));
  if (WritesPlainTables(options)) output.plain = ResolvePlainTableConfig(options);
  output.table.prefix_extractor = options.prefix_extractor;
  // Unlike flushed tables, these need not be the newest part of the tree.
  output.table.compression = ResolveLevel0Compression(options);
  output.table.compression_parameters = ResolveCompressionParameters(options, false);
  output.table.collector_factories = options.table_properties_collector_factories;
  output.table.level = static_cast<int>(level);
  output.table.num_levels = options.num_levels;
  output.table.column_family_id = args_.family;
  output.table.column_family_name = args_.family_name;
  output.table.merge_operator_name = args_.merge_operator_name;
  output.table.db_id = args_.database_id;
  return output;
}

Result<TableRewriter::Files> TableRewriter::Salvage(const TableSurvey& table) {
  OpenInputs input(args_.surveyor->CacheFor(args_.options->comparator));
  ASHLAR_RETURN_IF_ERROR(input.Add(MetadataOf(table)));
  TableReader& reader = *input.tables().front().get();
  const CompactionOutputArgs output_args = OutputArgs(table.level);
  CompactionOutput output(output_args);
  output.WriteRanges(&reader.file_ranges().searched());
  EntryWriter writer(output_args.table.comparator, &output);
  TableDamage damage;
  ASHLAR_RETURN_IF_ERROR(reader.VisitReadable(
      [&](const Slice& key, const Slice& value) { return writer.Add(key, value); }, &damage));
  ASHLAR_RETURN_IF_ERROR(writer.Flush());
  ASHLAR_RETURN_IF_ERROR(output.Finish());
  Files files = output.TakeFiles();
  if (!files.empty() && !table.recorded_smallest.empty()) {  // I1
    files.front()->smallest = table.recorded_smallest;
    files.back()->largest = table.recorded_largest;
  }
  for (auto& file : files)  // I1; 0 if no trusted sequence is recorded
    file->largest_sequence = std::max(file->largest_sequence, table.recorded_largest_sequence);
  return files;
}

Result<TableRewriter::Files> TableRewriter::Write(const MemTable& memtable) {
  const CompactionOutputArgs output_args = OutputArgs(0);
  FragmentedRanges ranges;  // must outlive the output
  CompactionOutput output(output_args);
  if (memtable.HasRangeDeletions()) {
    const SequenceNumber newest[] = {kSequenceNumberMax};
    ranges = memtable.Ranges(newest);
    output.WriteRanges(&ranges);
  }
  EntryWriter writer(output_args.table.comparator, &output);
  MemTableCursor cursor(&memtable, MemTableCursor::PinMode::kBorrowed, nullptr);
  for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next())
    ASHLAR_RETURN_IF_ERROR(writer.Add(cursor.key(), cursor.value()));
  ASHLAR_RETURN_IF_ERROR(writer.Flush());
  ASHLAR_RETURN_IF_ERROR(output.Finish());
  return output.TakeFiles();
}

Result<TableRewriter::Files> TableRewriter::Merge(const std::vector<const TableSurvey*>& tables,
                                                  Files newer, Level level) {
  CompactionOutputArgs output_args = OutputArgs(level);
  const KeyComparator& comparator = output_args.table.comparator;
  if (IsSorted(level)) output_args.target_file_bytes = args_.options->target_file_size_base;
  std::vector<FileNumber> intermediate;
  OpenInputs inputs(args_.surveyor->CacheFor(args_.options->comparator));
  const auto add_made = [&](Files files) -> Status {
    for (auto& file : files) {
      intermediate.push_back(file->number);
      ASHLAR_RETURN_IF_ERROR(inputs.Add(std::move(file)));
    }
    return Status::OK();
  };
  ASHLAR_RETURN_IF_ERROR(add_made(std::move(newer)));
  // For equal keys, the merging cursor returns the first child's entry first, so add newest first.
  for (auto table = tables.rbegin(); table != tables.rend(); ++table) {
    if ((*table)->IsIntact()) {
      ASHLAR_RETURN_IF_ERROR(inputs.Add(MetadataOf(**table)));
      continue;
    }
    ASHLAR_ASSIGN_OR_RETURN(Files salvaged, Salvage(**table));
    ASHLAR_RETURN_IF_ERROR(add_made(std::move(salvaged)));
  }
  std::vector<std::unique_ptr<InternalCursor>> cursors;
  MetTombstones tombstones(/*snapshots=*/{});
  std::vector<std::string> deletions;
  for (const TableRef& table : inputs.tables()) {
    cursors.push_back(table->NewCursor({.fill_cache = false}));
    const FileRanges& ranges = table->file_ranges();
    tombstones.Add(ranges.before_largest());
    for (const SequenceNumber sequence : ranges.largest_sequences())
      deletions.push_back(MakeInternalKey(ranges.largest(), sequence, ValueType::kDeletion));
  }
  if (!deletions.empty())
    cursors.push_back(std::make_unique<DeletionsCursor>(comparator, std::move(deletions)));
  const FragmentedRanges ranges = FragmentedRanges::Make(comparator, tombstones.Take());
  CompactionOutput output(output_args);
  output.WriteRanges(&ranges);
  EntryWriter writer(comparator, &output);
  {
    const std::unique_ptr<InternalCursor> cursor = NewMergingCursor(comparator, std::move(cursors));
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next())
      ASHLAR_RETURN_IF_ERROR(writer.Add(cursor->key(), cursor->value()));
    ASHLAR_RETURN_IF_ERROR(cursor->status());
  }
  ASHLAR_RETURN_IF_ERROR(writer.Flush());
  ASHLAR_RETURN_IF_ERROR(output.Finish());
  // The next open deletes files that remain.
  for (const FileNumber number : intermediate)
    static_cast<void>(args_.file_system->DeleteFile(TableFileName(args_.directory, number)).ok());
  return output.TakeFiles();
}

}  // namespace ashlar

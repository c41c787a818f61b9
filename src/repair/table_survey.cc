#include "repair/table_survey.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "filesystem/filename.h"
#include "lsm/resolve_options.h"
#include "table/table_properties.h"

namespace ashlar {

std::unique_ptr<FileMetaData> MetadataOf(const TableSurvey& table) {
  auto file = std::make_unique<FileMetaData>();
  file->number = table.number;
  file->file_bytes = table.file_bytes;
  const bool has_recorded_bounds = !table.recorded_smallest.empty();
  file->smallest = has_recorded_bounds ? table.recorded_smallest : table.smallest;
  file->largest = has_recorded_bounds ? table.recorded_largest : table.largest;
  file->smallest_sequence = table.smallest_sequence;
  // The MANIFEST alone may have an ingested table's sequence. Without a record the table has it.
  file->largest_sequence = table.IsPlaced() ? table.recorded_largest_sequence : kSequenceNumberMax;
  file->creation_unix_seconds = table.creation_unix_seconds;
  file->oldest_ancestor_unix_seconds = table.oldest_ancestor_unix_seconds;
  return file;
}

TableCache* TableSurveyor::CacheFor(const Comparator* comparator) {
  std::unique_ptr<TableCache>& cache = caches_[comparator];
  if (cache == nullptr) {
    cache =
        std::make_unique<TableCache>(TableCacheArgs{.file_system = args_.file_system,
                                                    .epochs = &epochs_,
                                                    .directory = args_.directory,
                                                    .comparator = KeyComparator(comparator),
                                                    .open_tables = &open_tables_,
                                                    .mmap_reads = args_.options->allow_mmap_reads,
                                                    .direct_reads = args_.options->use_direct_reads,
                                                    .random_access_hint = false,
                                                    .tolerant = true});
  }
  return cache.get();
}

Status TableSurveyor::Survey(TableSurvey* table) {
  if (table->is_recorded) {
    const ColumnFamilyOptions* const options = args_.families->Find(table->family_name);
    return SurveyOrdered(options->comparator, table);
  }
  Status refused;
  for (const Comparator* comparator : args_.families->Comparators()) {
    refused = SurveyOrdered(comparator, table);
    if (!refused.IsInvalidArgument()) return refused;
  }
  return refused.WithContext("the options of its column family are needed");
}

bool TableSurveyor::HasCopy(const TableSurvey& table) const {
  ASHLAR_ASSERT(!table.is_recorded);  // Requires
  const auto newest = newest_.find({table.family, table.largest_sequence});
  // Compactions zero the sequences of tables that have nothing in common.
  return table.largest_sequence != 0 && newest != newest_.end() && newest->second;
}

Status TableSurveyor::SurveyOrdered(const Comparator* comparator, TableSurvey* table) {
  TableCache* const cache = CacheFor(comparator);
  const std::unique_ptr<FileMetaData> file = MetadataOf(*table);
  const auto read = [&]() -> Status {
    ASHLAR_ASSIGN_OR_RETURN(const TableRef reader, cache->Acquire(file.get(), {}));
    return Read(reader.get(), KeyComparator(comparator), table);
  };
  const Status status = read();
  cache->Evict(file.get());
  if (!table->is_recorded && table->HasContents())
    newest_.emplace(std::pair(table->family, table->largest_sequence), false);
  table->state = status.ok() ? TableSurvey::State::kReadable : TableSurvey::State::kUnreadable;
  if (!status.IsCorruption()) return status;
  table->damage.first = status;
  return Status::OK();
}

Status TableSurveyor::Read(TableReader* reader, const KeyComparator& comparator,
                           TableSurvey* table) {
  const TableProperties& properties = reader->properties();
  if (!table->is_recorded) {
    // Tables of old releases name no family, because there was only one.
    table->family = properties.column_family_name.empty()
                        ? kDefaultFamilyId
                        : static_cast<ColumnFamilyId>(properties.column_family_id);
    table->family_name =
        properties.column_family_name.empty() ? kDefaultFamilyName : properties.column_family_name;
  }
  table->creation_unix_seconds = properties.file_creation_time;
  table->oldest_ancestor_unix_seconds = properties.creation_time;
  if (properties.merge_operator_name != "nullptr")
    table->merge_operator_name = properties.merge_operator_name;
  const LoggedKeys* const logged = LoggedKeysOf(*table);
  const auto visit = [&](const Slice& key, const Slice&) {
    if (table->entries == 0) table->smallest.assign(key.data(), key.size());
    table->largest.assign(key.data(), key.size());
    const SequenceNumber sequence = TagSequence(ExtractTag(key));
    TakeSequence(sequence, table);
    if (logged != nullptr) {
      logged->TakeVersion({.key_hash = Hash64(ExtractUserKey(key)),
                           .sequence = sequence,
                           .is_operand = IsOperand(ExtractType(key))},
                          &table->logged_keys);
    }
    ++table->entries;
    return Status::OK();
  };
  ASHLAR_RETURN_IF_ERROR(reader->VisitReadable(visit, &table->damage));
  TakeRanges(reader, comparator, table);
  return Status::OK();
}

const LoggedKeys* TableSurveyor::LoggedKeysOf(const TableSurvey& table) const {
  const auto logged = args_.logged_keys->find(table.family);
  return logged == args_.logged_keys->end() ? nullptr : &logged->second;
}

void TableSurveyor::TakeSequence(SequenceNumber sequence, TableSurvey* table) {
  if (table->is_recorded) {
    const auto newest = newest_.find({table->family, sequence});
    if (newest != newest_.end()) newest->second = true;
  }
  table->smallest_sequence = std::min(table->smallest_sequence, sequence);
  table->largest_sequence = std::max(table->largest_sequence, sequence);
}

void TableSurveyor::TakeRanges(TableReader* reader, const KeyComparator& comparator,
                               TableSurvey* table) {
  // A tombstone has many fragments where others overlap it.
  std::set<SequenceNumber, std::greater<>> sequences;
  FragmentedRanges::Cursor range(&reader->file_ranges().searched());
  for (range.SeekToFirst(); range.Valid(); range.Next()) {
    for (const SequenceNumber sequence : range.sequences()) {
      TakeSequence(sequence, table);
      sequences.insert(sequence);
    }
    const std::string begin =
        MakeInternalKey(range.begin(), range.sequences().front(), ValueType::kRangeDeletion);
    std::string end;
    AppendInternalKey(&end, range.end(), kRangeEndTag);
    const bool is_first = !table->HasContents();
    if (is_first || comparator.CompareInternal(begin, table->smallest) < 0) table->smallest = begin;
    if (is_first || comparator.CompareInternal(end, table->largest) > 0) table->largest = end;
    table->has_ranges = true;
  }
  if (const LoggedKeys* const logged = LoggedKeysOf(*table); logged != nullptr) {
    for (const SequenceNumber sequence : sequences)
      logged->TakeVersion({.key_hash = KeyVersion::kRangeHash, .sequence = sequence},
                          &table->logged_keys);
  }
}

}  // namespace ashlar

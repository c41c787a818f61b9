#include "lsm/coverage_scan.h"

#include <utility>

#include "base/assert.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "lsm/tree_inputs.h"
#include "manifest/file_marks.h"

namespace ashlar {

namespace {
constexpr TableReadOptions kOpenOnly{.cached_only = true};  // I2

uint64_t OpenTableBytes(TableCache* tables, FileMetaData* file, const Slice& begin,
                        const Slice& end) {
  const Result<TableRef> table = tables->Acquire(file, kOpenOnly);
  if (!table.ok()) return 0;
  const std::string from = MakeInternalKey(begin, kSequenceNumberMax, ValueType::kMax);
  const std::string to = MakeInternalKey(end, kSequenceNumberMax, ValueType::kMax);
  const uint64_t begin_offset = (*table)->ApproximateOffsetOf(from);
  const uint64_t end_offset = (*table)->ApproximateOffsetOf(to);
  return end_offset > begin_offset ? end_offset - begin_offset : 0;
}
}  // namespace

void CoverageScan::Run(const std::shared_ptr<ColumnFamily>& family) noexcept {
  IgnoreBadAlloc([&] { Scan(family); });
}

void CoverageScan::Scan(const std::shared_ptr<ColumnFamily>& family) {
  if (family->dropped()) return;
  const ViewRef view = family->PinView();
  const Version& version = *view->version;
  if (!version.MayHaveRanges()) return;
  std::vector<Table> tables = TablesWithRanges(version);
  if (tables.empty()) return;
  TreeView tree;
  {
    MutexLock lock(state_->mutex());
    if (family->version() != &version) return;  // I1
    tree = MakeTreeView(*state_, *family);
    tree.running.clear();
    for (Table& table : tables) table.count_bytes = MustCountCoveredBytes(*table.file, table.level);
  }
  for (Table& table : tables) FindIn(tree, family->tables(), &table);
  Record(family, &version, tables);
}

std::vector<CoverageScan::Table> CoverageScan::TablesWithRanges(const Version& version) {
  std::vector<Table> tables;
  for (Level level = 0; level < version.levels(); ++level) {
    for (FileMetaData* const file : version.files(level)) {
      if (file->has_ranges.load(std::memory_order_relaxed) == HasRanges::kYes)
        tables.push_back({.file = file, .level = level});
    }
  }
  return tables;
}

void CoverageScan::FindIn(const TreeView& tree, TableCache* tables, Table* table) {
  const Result<TableRef> open = tables->Acquire(table->file, kOpenOnly);
  if (!open.ok()) {
    table->count_bytes = false;
    return;
  }
  const auto bytes_of = [tables](FileMetaData* file, const Slice& begin, const Slice& end) {
    return OpenTableBytes(tables, file, begin, end);
  };
  const BytesOfRange bytes_of_range(bytes_of);
  table->found =
      FindRangeCoverage(tree, table->level, *table->file, (*open)->file_ranges().before_largest(),
                        table->count_bytes ? &bytes_of_range : nullptr);
}

void CoverageScan::Record(const std::shared_ptr<ColumnFamily>& family, const Version* version,
                          const std::vector<Table>& tables) {
  MutexLock lock(state_->mutex());
  if (family->version() != version) return;  // I1
  bool found = false;
  for (const Table& table : tables) {
    ASHLAR_ASSERT(table.level < version->levels());  // I1: of this version
    for (const RangeCoverage::HiddenFile& hidden : table.found.hidden) {
      // A tombstone above the published sequence is from a hostile table. A snapshot taken while
      // the file is dropped could have an older sequence.
      if (hidden.since > state_->PublishedSequence()) continue;
      RecordHidden(hidden.file, hidden.since);
      found = true;
    }
    if (!table.count_bytes) continue;
    RecordCoveredBytes(table.file, table.level, table.found.covered_bytes);
    found |= table.found.covered_bytes > 0;
  }
  if (found) observer_->ViewChanged(family);
}

}  // namespace ashlar

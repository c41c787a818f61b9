#include "table/open/standalone_table.h"

#include <utility>

#include "base/assert.h"

namespace ashlar {

StandaloneTable::StandaloneTable(TableCacheArgs args)
    : path_(args.path), file_system_(args.file_system), cache_(Completed(std::move(args))) {}

TableCacheArgs StandaloneTable::Completed(TableCacheArgs args) {
  args.epochs = &epochs_;
  args.open_tables = &open_tables_;
  return args;
}

Status StandaloneTable::FindBounds(const KeyComparator& comparator) {
  const std::unique_ptr<InternalCursor> cursor = reader()->NewCursor({.fill_cache = false});
  cursor->SeekToFirst();
  if (cursor->Valid()) file_.smallest = cursor->key().ToString();
  ASHLAR_RETURN_IF_ERROR(cursor->status());
  cursor->SeekToLast();
  if (cursor->Valid()) file_.largest = cursor->key().ToString();
  ASHLAR_RETURN_IF_ERROR(cursor->status());
  const FragmentedRanges& ranges = reader()->ranges();
  if (!ranges.IsEmpty()) {
    FragmentedRanges::Cursor at(&ranges);
    at.SeekToFirst();
    ASHLAR_ASSERT(at.Valid() && !at.sequences().empty());  // I3 of fragmented_ranges.h
    const std::string begin =
        MakeInternalKey(at.begin(), at.sequences().front(), ValueType::kRangeDeletion);
    at.SeekToLast();
    std::string end;
    AppendInternalKey(&end, at.end(), kRangeEndTag);
    const bool only_ranges = file_.smallest.empty();
    if (only_ranges || comparator.CompareInternal(begin, file_.smallest) < 0)
      file_.smallest = begin;
    if (only_ranges || comparator.CompareInternal(file_.largest, end) < 0)
      file_.largest = std::move(end);
  }
  if (file_.smallest.empty() || comparator.CompareInternal(file_.smallest, file_.largest) <= 0)
    return Status::OK();
  return Status::Corruption(path_, "its keys are out of order");
}

Result<std::unique_ptr<StandaloneTable>> StandaloneTable::Open(TableCacheArgs args, Record record) {
  const KeyComparator comparator = args.comparator;
  std::unique_ptr<StandaloneTable> opened(new StandaloneTable(std::move(args)));
  ASHLAR_RETURN_IF_ERROR(
      opened->file_system_->GetFileSize(opened->path_, &opened->file_.file_bytes));
  opened->file_.number = 1;
  opened->file_.smallest = std::move(record.smallest);
  opened->file_.largest = std::move(record.largest);
  opened->file_.largest_sequence = record.largest_sequence;
  ASHLAR_ASSIGN_OR_RETURN(TableRef table, opened->cache_.Acquire(&opened->file_, {}));
  opened->table_ = std::make_unique<TableRef>(std::move(table));
  if (opened->file_.smallest.empty()) ASHLAR_RETURN_IF_ERROR(opened->FindBounds(comparator));
  return opened;
}

}  // namespace ashlar

#include "table/open/standalone_table.h"

#include <utility>

namespace ashlar {

StandaloneTable::StandaloneTable(TableCacheArgs args)
    : path_(args.path), file_system_(args.file_system), cache_(Completed(std::move(args))) {}

TableCacheArgs StandaloneTable::Completed(TableCacheArgs args) {
  args.epochs = &epochs_;
  args.open_tables = &open_tables_;
  return args;
}

Result<std::unique_ptr<StandaloneTable>> StandaloneTable::Open(TableCacheArgs args) {
  std::unique_ptr<StandaloneTable> opened(new StandaloneTable(std::move(args)));
  ASHLAR_RETURN_IF_ERROR(
      opened->file_system_->GetFileSize(opened->path_, &opened->file_.file_bytes));
  opened->file_.number = 1;
  opened->file_.largest_sequence = kSequenceNumberMax;
  ASHLAR_ASSIGN_OR_RETURN(TableRef table, opened->cache_.Acquire(&opened->file_, {}));
  opened->table_ = std::make_unique<TableRef>(std::move(table));
  return opened;
}

}  // namespace ashlar

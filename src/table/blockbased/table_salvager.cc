// BlockBasedTable::VisitReadable: visits the entries of a table whose blocks may be damaged.
//
//   block   checksum, entries and order are intact   its entries are visited
//           otherwise                                it is left out and counted
//
// A key that is not after the previous key was damaged before its checksum was computed, so the
// rest of its block is left out. Blocks are read from the file and not offered to the cache.
// Thread safety: concurrent with readers of the table.
#include <string>

#include "base/assert.h"
#include "table/blockbased/block_based_table.h"

namespace ashlar {

namespace {

class TableSalvager {
 public:
  TableSalvager(BlockBasedTable* table, TableReader::EntryVisitor visit, TableDamage* damage)
      : table_(*table), visit_(visit), damage_(damage) {}

  Status Run() {
    *damage_ = table_.damage_at_open();
    for (uint32_t i = 0; i < table_.index().blocks(); ++i) {
      Status visited = VisitBlock(i);
      if (!damaged_) {
        ASHLAR_RETURN_IF_ERROR(std::move(visited));
        continue;
      }
      damaged_ = false;
      ++damage_->lost_blocks;
      damage_->Note(visited);
    }
    return Status::OK();
  }

 private:
  Status Damaged(Status status) {
    damaged_ = true;
    return status;
  }

  Status VisitBlock(uint32_t block) {
    ASHLAR_ASSERT(!damaged_);  // Run cleared it
    Result<BlockRef> read = table_.Read({.block = block,
                                         .verify_checksum = true,
                                         .fill_cache = false,
                                         .side_index = true,
                                         .at_hand = nullptr});
    if (!read.ok()) return read.status().IsCorruption() ? Damaged(read.status()) : read.status();
    const BlockRef& ref = *read;
    KeyBuffer buffer;
    DataBlock::KeyWalk keys(*ref.get(), 0, &buffer);
    for (uint32_t i = 0; i < ref->entries(); ++i) {
      const Slice stored = keys.Next();
      ASHLAR_DCHECK(stored.size() >= kTagBytes);  // DataBlock::Create refuses shorter ones
      if (!IsPointType(ExtractType(stored))) {
        return table_.file().AddPlace(Status::NotSupported("entry of a type that is not supported"),
                                      table_.index().handle(block).offset);
      }
      if (has_last_ && table_.comparator().CompareInternal(last_key_, stored) >= 0)
        return Damaged(
            table_.file().CorruptionAt(table_.index().handle(block).offset, "keys out of order"));
      last_key_.assign(stored.data(), stored.size());
      has_last_ = true;
      key_.clear();
      AppendInternalKey(&key_, ExtractUserKey(stored),
                        table_.sequence_override().Apply(ExtractTag(stored)));
      ASHLAR_RETURN_IF_ERROR(visit_(key_, ref->View(i).value()));
    }
    return Status::OK();
  }

  BlockBasedTable& table_;
  const TableReader::EntryVisitor visit_;
  TableDamage* const damage_;
  bool damaged_ = false;  // VisitBlock found damage
  bool has_last_ = false;
  std::string last_key_;  // as stored
  std::string key_;
};

}  // namespace

Status BlockBasedTable::VisitReadable(EntryVisitor visit, TableDamage* damage) {
  return TableSalvager(this, visit, damage).Run();
}

}  // namespace ashlar

// BlockBasedTable::Verify: reads every block of a table and makes the checks that reads omit.
//
//   every block     its checksum
//   every entry     Its type is supported. Its key is larger than the previous key and than the
//                   separator of the previous block, and at most the separator of its own block.
//   every restart   An entry with its whole key begins there. The first is the first entry.
//   range deletions the checks of DecodeRangeBlock
//   the table       It has as many entries as its properties say.
//
// Blocks are read from the file, even if they are cached, and are not offered to the cache.
// Thread safety: concurrent with readers of the table.
#include <string>

#include "base/assert.h"
#include "base/format.h"
#include "table/block/block_entries.h"
#include "table/blockbased/block_based_table.h"

namespace ashlar {

namespace {

class TableVerifier {
 public:
  explicit TableVerifier(BlockBasedTable* table) : table_(*table) {}

  Status Run() {
    ASHLAR_RETURN_IF_ERROR(VerifyMetaBlocks());
    for (uint32_t i = 0; i < table_.index().blocks(); ++i) ASHLAR_RETURN_IF_ERROR(VerifyBlock(i));
    ASHLAR_RETURN_IF_ERROR(VerifyRanges());
    table_.recorder().Tick(VERIFY_CHECKSUM_READ_BYTES, table_.file().file_bytes());
    return CheckEntryCount();
  }

 private:
  Status VerifyMetaBlocks() const {
    for (const BlockHandle& handle : table_.meta_blocks()) {
      ASHLAR_RETURN_IF_ERROR(
          table_.file()
              .ReadBlock({.handle = handle, .verify_checksum = true, .stays = true})
              .status());
    }
    return Status::OK();
  }

  Status VerifyRanges() {
    const BlockHandle* const handle = table_.range_block();
    if (handle == nullptr) return Status::OK();
    ASHLAR_ASSIGN_OR_RETURN(
        const BlockContents contents,
        table_.file().ReadBlock({.handle = *handle, .verify_checksum = true, .stays = true}));
    const Result<RangeBlock> decoded =
        DecodeRangeBlock(contents.data, {.comparator = table_.comparator(),
                                         .sequence_override = table_.sequence_override(),
                                         .ordered = table_.ranges_are_ordered()});
    if (!decoded.ok()) return table_.file().AddPlace(decoded.status(), handle->offset);
    range_deletions_ = decoded->entries;
    return Status::OK();
  }

  Status VerifyBlock(uint32_t block) {
    ASHLAR_ASSIGN_OR_RETURN(const BlockRef ref, table_.Read({.block = block,
                                                             .verify_checksum = true,
                                                             .fill_cache = false,
                                                             .side_index = true,
                                                             .at_hand = nullptr}));
    KeyBuffer buffer;
    DataBlock::KeyWalk keys(*ref.get(), 0, &buffer);
    Status status;
    for (uint32_t i = 0; i < ref->entries() && status.ok(); ++i)
      status = CheckEntry(block, keys.Next());
    if (status.ok()) status = CheckRestarts(*ref.get());
    return status.ok() ? status
                       : table_.file().AddPlace(status, table_.index().handle(block).offset);
  }

  // Searches in blocks that are not cached begin at a restart.
  static Status CheckRestarts(const DataBlock& block) {
    BlockLayout layout;
    ASHLAR_RETURN_IF_ERROR(ParseBlockLayout(Slice(block.first(), block.contents_bytes()), &layout));
    if (layout.entries == layout.entries_end) return Status::OK();
    uint32_t restarts = 0;
    for (const char* p = layout.entries; p < layout.entries_end;) {
      BlockEntry entry;
      if (!DecodeStoredEntry(p, layout.entries_end, &entry)) return DamagedEntryError();
      const bool is_restart = restarts < layout.restarts &&
                              layout.Restart(restarts) == static_cast<size_t>(p - layout.entries);
      if (is_restart && entry.shared != 0)
        return Status::Corruption("a block restart without its whole key");
      if (is_restart) ++restarts;
      if (restarts == 0 && layout.restarts > 0)
        return Status::Corruption("the first block restart is not at the first entry");
      p = entry.end();
    }
    if (restarts == layout.restarts) return Status::OK();
    return Status::Corruption("a block restart that is not where an entry begins");
  }

  Status CheckEntry(uint32_t block, const Slice& key) {
    ASHLAR_DCHECK(key.size() >= kTagBytes);  // I1 of data_block.h
    const KeyComparator& comparator = table_.comparator();
    if (!IsPointType(ExtractType(key)))
      return Status::NotSupported("entry of a type that is not supported");
    if (entries_ > 0 && comparator.CompareInternal(last_key_, key) >= 0)
      return Status::Corruption("keys out of order");
    last_key_.assign(key.data(), key.size());
    ++entries_;
    if (CompareWithSeparator(key, block) > 0)
      return Status::Corruption("a key is after its block's separator");
    // Otherwise a search for the key would end in the previous block.
    if (block > 0 && CompareWithSeparator(key, block - 1) <= 0)
      return Status::Corruption("a key is not after the separator of the block before");
    return Status::OK();
  }

  int CompareWithSeparator(const Slice& key, uint32_t block) const {
    const BlockIndex& index = table_.index();
    const Slice separator = index.separator(block);
    return index.user_keys() ? table_.comparator().Compare(ExtractUserKey(key), separator)
                             : table_.comparator().CompareInternal(key, separator);
  }

  Status CheckEntryCount() const {
    const uint64_t recorded = table_.properties().num_entries;
    // RocksDB counts range deletions as entries since version 6.
    if (recorded == entries_ + range_deletions_ || recorded == entries_) return Status::OK();
    // LevelDB does not record the number.
    if (recorded == 0 && table_.properties().num_range_deletions == 0) return Status::OK();
    return Status::Corruption(
        table_.file().name(),
        StrCat("holds ", entries_ + range_deletions_, " entries, its properties say ", recorded));
  }

  BlockBasedTable& table_;
  std::string last_key_;
  uint64_t entries_ = 0;
  uint64_t range_deletions_ = 0;
};

}  // namespace

Status BlockBasedTable::Verify() { return TableVerifier(this).Run(); }

}  // namespace ashlar

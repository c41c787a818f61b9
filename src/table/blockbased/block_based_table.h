// BlockBasedTable: an open block-based table. Its constant parts are in memory. Data blocks are
// read through the block cache, by direct pointers.
//
//   Get   filter ──no──> done
//           └─yes─> index.Find ──> slot ──> block: prefix, heads, entry ──> lookup->Offer
//                                   └─ null: the block is read and checked, and then
//                                      with a cache:  gets its side index, is offered to the cache
//                                      without:       is searched by its restarts
//
// LoadTable loads the parts, Verify (table_verifier.cc) reads the complete file, and TableCursor
// iterates over the entries.
//
// I1: the parts are constant, except the slots of the index, which the cache writes.
// I2: the index has slots if and only if there is a cache, and only blocks with a side index get
//     into a slot.
// I3: a block with a wrong checksum is never in the cache, not even for a read that skips the
//     check. A compaction uses cached blocks, and would write this block with a good checksum.
// I4: a mapping counts as one block in memory, from the open until the table's last access to its
//     database, because values in it are pinned through the table.
// Thread safety: table_reader.h. Lifetime: table_reader.h. The destructor erases the table's blocks
// from the cache.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/vfs.h"
#include "base/result.h"
#include "cache/block_cache.h"
#include "key/key_comparator.h"
#include "key/prefix_extractors.h"
#include "key/seek_prefix.h"
#include "observe/recorder.h"
#include "table/block/data_block.h"
#include "table/blockbased/table_config.h"
#include "table/blockbased/table_loader.h"
#include "table/table_reader.h"

namespace ashlar {

struct TableOpenArgs {
  std::unique_ptr<vfs::RandomAccessFile> file{};
  std::string file_name{};  // for error texts
  uint64_t file_bytes = 0;
  EpochDomain* epochs = nullptr;  // domain of the guards in which table and blocks are found
  KeyComparator comparator{nullptr};
  BlockBasedTableConfig config{};
  std::shared_ptr<BlockCache> block_cache{};  // kept alive by the table; null: none
  bool mmap_reads = false;
  Recorder recorder{};
  // Counts the data blocks in memory, and a mapping as one; null: none.
  std::atomic<int64_t>* live_blocks = nullptr;
  // As recorded in the MANIFEST. kSequenceNumberMax: not known.
  SequenceNumber largest_sequence = kSequenceNumberMax;
  Slice smallest{};  // the file's bounds, as in TableLoadArgs
  Slice largest{};
  std::shared_ptr<PrefixExtractors> prefix_extractors{};  // the family's
  bool tolerant = false;                                  // as in TableLoadArgs
};

class BlockBasedTable final : public TableReader {
 public:
  static Result<TableReaderPtr> Open(TableOpenArgs args);

  void Get(const TableReadOptions& options, Lookup* lookup) override;
  void GetStaged(const TableReadOptions& options, const StagedLookup& staged) override;
  std::unique_ptr<InternalCursor> NewCursor(const TableReadOptions& options) override;
  bool MayMatch(SeekPrefix* seek, const Slice& internal_target) const override;
  uint64_t ApproximateOffsetOf(const Slice& internal_key) override;
  std::vector<std::string> Anchors(size_t pieces) override;
  Status Verify() override;                                                // table_verifier.cc
  Status VisitReadable(EntryVisitor visit, TableDamage* damage) override;  // table_salvager.cc
  const TableProperties& properties() const override { return parts_.properties; }
  size_t MemoryBytes() const override;
  BlockCensus CountBlocks() const override;
  std::atomic<int64_t>* live_blocks() const { return live_blocks_; }
  // Asserts I2 and the invariants of the parts.
  void CheckInvariants() const;

  // ---- For TableCursor and TableVerifier.

  struct ReadArgs {
    uint32_t block;
    bool verify_checksum;
    bool fill_cache;
    bool side_index;
    const FileSpan* at_hand;
  };
  // Returns the cached block with a count, or an empty reference. Enters a guard.
  BlockRef FindCached(uint32_t block);
  // Prefetches a cached block that will be searched soon.
  void PrefetchSideIndex(uint32_t block) const;
  // The address of the first entry of a cached block, for an iteration that prefetches it. The
  // block may be freed at any time, so the address must not be read. Null: not cached. Prefetches
  // the header of the next block.
  const char* WhereCached(uint32_t block) const;
  // Prefetches the side index and the last entries of a cached block that a backward iteration
  // reaches next, and the header of the block before it.
  void PrefetchBackwards(uint32_t block) const;
  // Whether blocks that are read with these options are offered to the cache. Other blocks need no
  // side index for a single search.
  bool FillsCache(const TableReadOptions& options) const {
    return cache_ != nullptr && options.fill_cache;
  }
  // Reads the block from the file and, if asked to, offers it to the cache.
  Result<BlockRef> Read(const ReadArgs& args);
  const Recorder& recorder() const { return recorder_; }
  const BlockIndex& index() const { return parts_.index; }
  const BlockFile& file() const { return parts_.file; }
  const std::vector<BlockHandle>& meta_blocks() const { return parts_.meta_blocks; }
  const KeyComparator& comparator() const { return comparator_; }
  const BlockBasedTableConfig& config() const { return config_; }
  const SequenceOverride& sequence_override() const { return parts_.sequence_override; }
  // Null: the table has no range deletions.
  const BlockHandle* range_block() const {
    return parts_.range_block.has_value() ? &*parts_.range_block : nullptr;
  }
  bool ranges_are_ordered() const { return parts_.ranges_are_ordered; }
  const TableDamage& damage_at_open() const { return parts_.damage; }
  // The owner of the values of a block of this table.
  PinSource OwnerOf(DataBlock* block) {
    return block->in_mapping() ? pin_source() : block->pin_source();
  }

 private:
  BlockBasedTable(const TableOpenArgs& args, TableParts parts);
  ~BlockBasedTable() override;

  static void SearchInStages(std::span<StagedLookup> batch);
  // The stages, in order. Each does nothing if an earlier one ended the search.
  void FindGroup(StagedLookup* staged) const;
  void FindBlock(StagedLookup* staged) const;
  void FindCached(StagedLookup* staged) const;
  void FindEntry(StagedLookup* staged) const;
  // Charges the index and the filter to the cache, if the config says so and the cache has room.
  Status ChargeMetadata();
  // Null: not cached. Requires: inside a guard.
  DataBlock* CachedAt(uint32_t block) const {
    return cache_ == nullptr
               ? nullptr
               : static_cast<DataBlock*>(parts_.index.slot(block).load(std::memory_order_acquire));
  }

  void CountPrefixCheck(Lookup* lookup, bool may_match) const;
  void CountFilterInPerfContext(Lookup* lookup, bool may_match) const;
  void CountFilter(Lookup* lookup, bool may_match) const;
  void CountHit(const DataBlock& block) const;
  void CountMiss() const;
  // Runs `search` if the filter may match, and counts its result.
  template <typename Search>
  void GetFiltered(bool may_match, Lookup* lookup, const Search& search);
  // Searches the blocks from `block` on. Requires: the filter may match.
  void GetFromBlocks(const TableReadOptions& options, uint32_t block, Lookup* lookup);
  // The largest stored tag that an entry for this lookup may have.
  uint64_t CandidateTag(const Lookup& lookup) const {
    return parts_.sequence_override.SoughtTag(lookup.seek_tag());
  }
  // Offers one entry whose user key is the sought key. Returns false if no more are needed.
  ASHLAR_ALWAYS_INLINE bool OfferEntry(uint64_t stored_tag, const Slice& value,
                                       const PinSource& owner, Lookup* lookup) const;
  // Two ways to search a block: through the side index of a block that is or will be cached, and
  // through the restarts of a block that is read for this lookup only. They return false if the
  // lookup needs no further block.
  bool GetFromBlock(DataBlock* block, Lookup* lookup);
  Result<bool> GetFromEntries(const Slice& contents, const PinSource& owner, Lookup* lookup) const;
  // The second half of GetFromBlock, after FindCandidates.
  ASHLAR_ALWAYS_INLINE bool GetFromCandidates(DataBlock* block, uint64_t head, uint32_t first,
                                              Lookup* lookup);
  Result<bool> GetFromFile(uint32_t block, const TableReadOptions& options, Lookup* lookup);
  Result<bool> GetFromUncached(uint32_t block, const TableReadOptions& options, Lookup* lookup);

  const KeyComparator comparator_;
  const BlockBasedTableConfig config_;
  // The destructor uses the cache, after the last user of the family has finished.
  const std::shared_ptr<BlockCache> keeps_cache_;
  BlockCache* const cache_;  // the same cache; saves one load
  const Recorder recorder_;
  std::atomic<int64_t>* const live_blocks_;
  const bool counts_mapping_;  // I4
  const TableParts parts_;
  size_t charged_bytes_ = 0;  // written by Open
};

}  // namespace ashlar

// BlockBasedTable: an open block-based table. Index and filter are held ready in memory; data
// blocks come through the block cache, by direct pointer.
//
//   Get     filter ──no──> done      index.Find ──> slot ──> block: prefix, heads, entry ──> lookup->Offer
//                                                    ├─ null: read, check, build the side index, offer to the cache
//                                                    └─ null, and no cache to fill: read, check, search by the restarts
//
// What a table may hold that Ashlar does not implement is refused when it is opened: range
// deletions, unknown index types, keys and values stored apart. Entries of unknown types fail the
// lookup or the cursor that meets them.
//
// Filter: it holds whole keys, prefixes of keys, or both, as the properties say. Its prefixes are
// those of the transform that the properties name, which stays the table's own when the family goes
// over to another; a transform that is not at hand leaves them unused.
//
// Global sequence: every entry of an ingested file has the one sequence that its properties or the
// MANIFEST name, whatever its key says.
//
// I1: opened only if footer, metaindex, properties and index are readable and the comparator is the
//     one that wrote it.
// I2: the index and filter checks hold (block_index.h, filter_reader.h).
// Thread safety: table_reader.h. Lifetime: table_reader.h; erases its blocks from the cache when it
// goes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/file_system.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table_properties.h"
#include "base/result.h"
#include "cache/block_cache.h"
#include "key/key_comparator.h"
#include "key/prefix_extractors.h"
#include "key/seek_prefix.h"
#include "observe/recorder.h"
#include "table/block/data_block.h"
#include "table/blockbased/block_file.h"
#include "table/blockbased/block_index.h"
#include "table/blockbased/table_config.h"
#include "table/filter/filter_reader.h"
#include "table/table_reader.h"

namespace ashlar {

struct TableOpenArgs {
  std::unique_ptr<RandomAccessFile> file{};
  std::string file_name{};  // for error texts
  uint64_t file_bytes = 0;
  EpochDomain* epochs = nullptr;  // of the guards in which the table and its blocks are found
  KeyComparator comparator{nullptr};
  BlockBasedTableConfig config{};
  BlockCache* block_cache = nullptr;  // null: none
  bool mmap_reads = false;
  Recorder recorder{};
  std::atomic<int64_t>* live_blocks =
      nullptr;  // counts the data blocks in memory; null: nobody counts
  SequenceNumber largest_sequence =
      kSequenceNumberMax;  // as the MANIFEST has it; kSequenceNumberMax: not known
  std::shared_ptr<PrefixExtractors> prefix_extractors{};  // the family's
};

// A data block and one count on it.
class BlockRef {
 public:
  BlockRef() = default;
  explicit BlockRef(DataBlock* block) : block_(block) {}  // adopts the count
  BlockRef(BlockRef&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  BlockRef& operator=(BlockRef&& other) noexcept {
    if (this != &other) {
      Reset();
      block_ = std::exchange(other.block_, nullptr);
    }
    return *this;
  }
  BlockRef(const BlockRef&) = delete;
  BlockRef& operator=(const BlockRef&) = delete;
  ~BlockRef() { Reset(); }

  void Reset() {
    if (block_ != nullptr) std::exchange(block_, nullptr)->Release();
  }
  DataBlock* get() const { return block_; }
  DataBlock* operator->() const { return block_; }
  explicit operator bool() const { return block_ != nullptr; }

 private:
  DataBlock* block_ = nullptr;
};

class BlockBasedTable final : public TableReader {
 public:
  static Result<TableReaderPtr> Open(TableOpenArgs args);

  void Get(const TableReadOptions& options, Lookup* lookup) override;
  bool PrefetchStep(Lookup* lookup, StagedLookup* staged) const override;
  void GetStaged(const TableReadOptions& options, const StagedLookup& staged,
                 Lookup* lookup) override;
  std::unique_ptr<InternalCursor> NewCursor(const TableReadOptions& options) override;
  bool MayMatch(SeekPrefix* seek, const Slice& internal_target) const override;
  uint64_t ApproximateOffsetOf(const Slice& internal_key) override;
  std::vector<std::string> Anchors(size_t pieces) override;
  Status Verify() override;
  const TableProperties& properties() const override { return properties_; }
  size_t MemoryBytes() const override;
  BlockCensus CountBlocks() const override;
  std::atomic<int64_t>* live_blocks() const { return live_blocks_; }

  // For TableCursor.
  struct ReadArgs {
    uint32_t block;
    bool verify_checksum;
    bool fill_cache;
    bool side_index;
    const FileSpan* at_hand;
  };
  // The cached block with a count, or none. Enters a guard.
  BlockRef FindCached(uint32_t block);
  // Asks for the memory of a cached block that will be searched soon.
  void PrefetchSideIndex(uint32_t block) const;
  // Where the entries of a cached block begin that a walk will come to soon, so that it may ask for
  // their memory; the block may go at any moment. Null: not cached. Asks for the header of the
  // block behind it.
  const char* WhereCached(uint32_t block) const;
  // Asks for the side index and the last entries of a cached block that a walk backwards comes to
  // next, and for the header of the one before it.
  void PrefetchBackwards(uint32_t block) const;
  // Whether blocks that are read with these options are offered to the cache. Those that are not
  // need no side index for a single search.
  bool FillsCache(const TableReadOptions& options) const {
    return cache_ != nullptr && options.fill_cache;
  }
  // Reads the block from the file; offers it to the cache if asked to.
  Result<BlockRef> Read(const ReadArgs& args);
  const Recorder& recorder() const { return recorder_; }
  const BlockIndex& index() const { return index_; }
  const BlockFile& file() const { return file_; }
  const KeyComparator& comparator() const { return comparator_; }
  const BlockBasedTableConfig& config() const { return config_; }
  const std::optional<SequenceNumber>& global_sequence() const { return global_sequence_; }
  // Who keeps the values of a block of this table alive.
  PinSource OwnerOf(DataBlock* block) {
    return block->in_mapping() ? pin_source() : block->pin_source();
  }

 private:
  // Null: not cached. Inside a guard.
  DataBlock* CachedAt(uint32_t block) const {
    return cache_ == nullptr
               ? nullptr
               : static_cast<DataBlock*>(index_.slot(block).load(std::memory_order_acquire));
  }

  struct MetaBlock {
    std::string name;
    BlockHandle handle;
  };
  struct FilterPartition {
    FilterReader reader;
    BlockContents contents;
  };

  explicit BlockBasedTable(TableOpenArgs* args);
  ~BlockBasedTable() override;

  // The steps of Open.
  Status Load(const TableOpenArgs& args);
  Status LoadTail();
  Status LoadMetaIndex(const Footer& footer);
  Status LoadProperties();
  Status CheckSupported() const;
  Status FindGlobalSequence(SequenceNumber largest_sequence);
  Status LoadDictionary();
  Status LoadIndex();
  Status LoadIndexPartitions(const Slice& top_level, const IndexCoding& coding);
  // What the filter's prefixes were taken with; null: it has none that can be used.
  std::shared_ptr<const SliceTransform> FindPrefixExtractor(PrefixExtractors* known) const;
  Status LoadFilter();
  Status LoadFilterPartitions(const BlockHandle& handle);
  IndexCoding Coding() const;
  const BlockHandle* FindMeta(const Slice& name) const;
  Result<BlockContents> ReadMeta(const BlockHandle& handle) const;

  bool HasFilter() const { return !filter_.MatchesAll() || !filter_partitions_.empty(); }
  bool FilterMayMatch(Lookup* lookup) const;
  bool FilterMayMatchPrefix(Lookup* lookup) const;
  void CountPrefixCheck(Lookup* lookup, bool may_match) const;
  void CountFilterInPerfContext(Lookup* lookup, bool may_match) const;
  void CountFilter(Lookup* lookup, bool may_match) const;
  void CountHit(const DataBlock& block) const;
  void CountMiss() const;
  // Runs `search` if the filter may match, and counts what came of it.
  template <typename Search>
  void GetFiltered(bool may_match, Lookup* lookup, const Search& search);
  // Looks into the blocks from `block` on; the filter was asked.
  void GetFromBlocks(const TableReadOptions& options, uint32_t block, Lookup* lookup);
  // The largest tag that an entry of a block may have for this lookup, for FindCandidates. Stored
  // tags say nothing when the table has a global sequence.
  uint64_t CandidateTag(const Lookup& lookup) const {
    return global_sequence_ ? ~uint64_t{0} : lookup.seek_tag();
  }
  // The two ways through a block: by the side index of one that is in the cache or goes there, and
  // by the restarts of one that is read for this lookup alone. False: the lookup is through with
  // this table.
  bool GetFromBlock(DataBlock* block, Lookup* lookup);
  // GetFromBlock after FindCandidates.
  ASHLAR_ALWAYS_INLINE bool GetFromCandidates(DataBlock* block, uint64_t head, uint32_t first,
                                              Lookup* lookup);
  Result<bool> GetFromEntries(const Slice& contents, const PinSource& owner, Lookup* lookup) const;
  Result<bool> GetFromFile(uint32_t block, const TableReadOptions& options, Lookup* lookup);
  struct VerifyState;
  Status VerifyBlock(uint32_t block, VerifyState* state);

  const KeyComparator comparator_;
  const BlockBasedTableConfig config_;
  BlockCache* const cache_;
  const Recorder recorder_;
  std::atomic<int64_t>* const live_blocks_;
  BlockFile file_;
  TableProperties properties_;
  std::optional<SequenceNumber> global_sequence_;
  BlockIndex index_;
  bool filters_whole_keys_ = true;
  std::shared_ptr<const SliceTransform>
      prefix_extractor_;  // null: the filter has no prefixes that can be used
  FilterReader filter_;   // full filter; matches all when there is none
  BlockContents filter_contents_;
  std::optional<BlockIndex> filter_index_;  // partitioned filter
  std::vector<FilterPartition> filter_partitions_;
  std::vector<MetaBlock> meta_blocks_;  // in the order of the metaindex
  BlockHandle metaindex_handle_;
  BlockHandle index_handle_;
  std::vector<BlockHandle> index_partitions_;
  size_t charged_bytes_ = 0;

  // While opening: the end of the file, read in one piece.
  std::unique_ptr<char[]> tail_buffer_;
  FileSpan tail_;
};

}  // namespace ashlar

#include "pmem/recovery.h"

#include <algorithm>
#include <bitset>

#include "base/coding.h"
#include "base/crc32c.h"
#include "base/format.h"
#include "execute/parallel.h"
#include "pmem/pool.h"

namespace ashlar::pmem {
namespace {

constexpr uint64_t kWordBytes = 16;

Status DecodeBatchLog(const Medium& medium, PoolOffset log, std::vector<BatchWord>* words) {
  const auto damaged = [&] {
    return Status::Corruption(medium.path(), StrCat("a damaged batch log at offset ", log));
  };
  if (log % kUnitBytes != 0 || log > medium.bytes() - kBatchPredecessorRecorderBytes)
    return damaged();
  const char* const start = medium.view() + log;
  const uint64_t bytes = DecodeFixed64(start);
  if (bytes % kWordBytes != 0 || bytes > medium.bytes() - log - kBatchPredecessorRecorderBytes)
    return damaged();
  if (crc32c::Mask(crc32c::Value(start + kBatchPredecessorRecorderBytes, bytes)) !=
      DecodeFixed64(start + 8))
    return damaged();
  for (uint64_t at = 0; at < bytes; at += kWordBytes) {
    const char* const word = start + kBatchPredecessorRecorderBytes + at;
    words->push_back({.offset = DecodeFixed64(word), .word = DecodeFixed64(word + 8)});
    if (words->back().offset % 8 != 0 || words->back().offset > medium.bytes() - 8)
      return damaged();
  }
  return Status::OK();
}

Status FinishBatch(Medium* medium) {
  const PoolOffset log = medium->Load(kBatchMarkOffset);
  if (log == 0) return Status::OK();
  std::vector<BatchWord> words;
  ASHLAR_RETURN_IF_ERROR(DecodeBatchLog(*medium, log, &words));
  PoolOperation op(*medium);
  ApplyBatchWords(&op, words);
  op.Fence();
  op.Store(kBatchMarkOffset, 0);
  op.Flush(kBatchMarkOffset, 8);
  op.Fence();
  op.Commit();
  return op.AwaitDurable();
}

// What a leaf's header line says. Leaves are numbered through all spans of leaves, in the order of
// memory.
struct LeafHeader {
  PoolOffset separator;
  uint32_t next;  // number of the leaf, or one of those below
  uint16_t entries;
  bool has_tag;
  bool is_in_chain;
};
constexpr uint32_t kNoLeaf = ~uint32_t{0};
constexpr uint32_t kBadLink = kNoLeaf - 1;

class LeafReader {
 public:
  LeafReader(TreeState* state, const RecoveryConfig& config)
      : state_(*state),
        medium_(*state->medium),
        spans_(state->heap.LeafSpans()),
        headers_(spans_.size() * kLeavesPerSpan),
        span_at_page_(medium_.bytes() / kPageBytes, kNoLeaf),
        threads_(static_cast<uint32_t>(std::min<size_t>(
            config.threads, std::max<size_t>(1, spans_.size() / config.spans_per_thread_min)))) {
    for (size_t span = 0; span < spans_.size(); ++span) {
      std::fill_n(span_at_page_.begin() + static_cast<ptrdiff_t>(spans_[span] / kPageBytes),
                  kSpanBytes / kPageBytes, static_cast<uint32_t>(span));
    }
  }

  // The leaves in order, with their separators.
  Status Read(std::vector<LeafIndex::Entry>* entries) {
    RunPieces(threads_, spans_.size(), [this](size_t span) { ReadHeaders(span); });
    ASHLAR_RETURN_IF_ERROR(FollowChain());
    ASHLAR_RETURN_IF_ERROR(CheckSeparators());
    MarkLeaves();
    entries->reserve(chain_.size());
    for (const uint32_t leaf : chain_) {
      const PoolOffset separator = headers_[leaf].separator;
      entries->push_back({.separator = separator == 0 ? nullptr : medium_.view() + separator,
                          .leaf = state_.index.NewRef(OffsetOf(leaf))});
    }
    state_.leaves.store(chain_.size(), std::memory_order_relaxed);
    return Status::OK();
  }

 private:
  static constexpr size_t kPieceLeaves = 1024;
  static constexpr size_t kLeavesAhead = 8;

  Status Damaged(uint32_t leaf, const char* what) const {
    return Status::Corruption(medium_.path(),
                              StrCat("the leaf at offset ", OffsetOf(leaf), ": ", what));
  }

  PoolOffset OffsetOf(uint32_t leaf) const {
    return spans_[leaf / kLeavesPerSpan] + leaf % kLeavesPerSpan * kLeafBytes;
  }
  uint32_t NumberOf(PoolOffset leaf) const {
    if (leaf == 0) return kNoLeaf;
    const uint64_t page = leaf / kPageBytes;
    if (page >= span_at_page_.size() || span_at_page_[page] == kNoLeaf || leaf % kLeafBytes != 0)
      return kBadLink;
    const uint32_t span = span_at_page_[page];
    return static_cast<uint32_t>(span * kLeavesPerSpan + (leaf - spans_[span]) / kLeafBytes);
  }

  // Leaves that are not in use are read as well: what they say is not looked at.
  void ReadHeaders(size_t span) {
    for (uint64_t i = 0; i < kLeavesPerSpan; ++i) {
      if (i + kLeavesAhead < kLeavesPerSpan)
        ASHLAR_PREFETCH(medium_.view() + spans_[span] + (i + kLeavesAhead) * kLeafBytes);
      const LeafView view(medium_, spans_[span] + i * kLeafBytes);
      const uint64_t commit = view.Commit();
      headers_[span * kLeavesPerSpan + i] = {
          .separator = view.Separator(),
          .next = NumberOf(view.Next(commit)),
          .entries = static_cast<uint16_t>(std::popcount(Occupied(commit))),
          .has_tag = view.Tag() == LeafTag(view.offset()),
          .is_in_chain = false};
    }
  }

  Status FollowChain() {
    const uint32_t first = NumberOf(state_.first_leaf);
    if (first >= kBadLink)
      return Status::Corruption(medium_.path(), StrCat("no leaf can be at offset ",
                                                       state_.first_leaf, ", the first one"));
    uint64_t entries = 0;
    uint32_t before = first;
    for (uint32_t leaf = first; leaf != kNoLeaf; leaf = headers_[leaf].next) {
      if (leaf == kBadLink || headers_[leaf].is_in_chain)
        return Damaged(before, "a link that leads to no leaf, or back");
      LeafHeader& header = headers_[leaf];
      if (!header.has_tag) return Damaged(leaf, "a wrong tag");
      if ((header.separator == 0) != (leaf == first)) return Damaged(leaf, "a wrong separator");
      header.is_in_chain = true;
      chain_.push_back(leaf);
      entries += header.entries;
      before = leaf;
    }
    state_.entries.store(entries, std::memory_order_relaxed);
    return Status::OK();
  }

  Status CheckSeparators() const {
    const size_t pieces = (chain_.size() + kPieceLeaves - 1) / kPieceLeaves;
    std::vector<Status> found(pieces);
    RunPieces(threads_, pieces,
              [&](size_t piece) { found[piece] = CheckPiece(piece * kPieceLeaves); });
    for (Status& status : found) ASHLAR_RETURN_IF_ERROR(std::move(status));
    return Status::OK();
  }

  // The separators of one piece of the chain are whole, and each is above the one before it.
  Status CheckPiece(size_t begin) const {
    const size_t end = std::min(chain_.size(), begin + kPieceLeaves);
    std::optional<Record> before;
    // The first leaf has none.
    if (begin > 1) before = ReadRecord(medium_, headers_[chain_[begin - 1]].separator);
    for (size_t i = std::max<size_t>(begin, 1); i < end; ++i) {
      // Any offset may be prefetched, also one that damage makes up.
      if (i + kLeavesAhead < end)
        ASHLAR_PREFETCH(medium_.view() + headers_[chain_[i + kLeavesAhead]].separator);
      const std::optional<Record> record = ReadRecord(medium_, headers_[chain_[i]].separator);
      if (!record || !ChecksumMatches(*record)) return Damaged(chain_[i], "a damaged separator");
      if (before && state_.order.Compare(before->key(), record->key()) >= 0)
        return Damaged(chain_[i], "out of order");
      before = record;
    }
    return Status::OK();
  }

  void MarkLeaves() {
    for (size_t span = 0; span < spans_.size(); ++span) {
      std::bitset<kLeavesPerSpan> in_use;
      for (size_t i = 0; i < kLeavesPerSpan; ++i)
        in_use[i] = headers_[span * kLeavesPerSpan + i].is_in_chain;
      state_.heap.MarkLeaves(spans_[span], in_use);
    }
  }

  TreeState& state_;
  const Medium& medium_;
  const std::vector<PoolOffset> spans_;
  std::vector<LeafHeader> headers_;
  std::vector<uint32_t> span_at_page_;  // kNoLeaf: no leaves there
  const uint32_t threads_;
  std::vector<uint32_t> chain_;
};

}  // namespace

uint64_t BatchLogBytes(size_t words) { return kBatchPredecessorRecorderBytes + words * kWordBytes; }

std::string EncodeBatchLog(const std::vector<BatchWord>& words) {
  std::string log(kBatchPredecessorRecorderBytes, '\0');
  log.reserve(BatchLogBytes(words.size()));
  for (const BatchWord& word : words) {
    PutFixed64(&log, word.offset);
    PutFixed64(&log, word.word);
  }
  EncodeFixed64(log.data(), log.size() - kBatchPredecessorRecorderBytes);
  EncodeFixed64(log.data() + 8,
                crc32c::Mask(crc32c::Value(log.data() + kBatchPredecessorRecorderBytes,
                                           log.size() - kBatchPredecessorRecorderBytes)));
  return log;
}

void ApplyBatchWords(PoolOperation* op, const std::vector<BatchWord>& words) {
  PoolOffset line = ~PoolOffset{0};
  for (const BatchWord& word : words) {
    if (line != ~PoolOffset{0} && word.offset / kLineBytes != line)
      op->Flush(line * kLineBytes, kLineBytes);
    line = word.offset / kLineBytes;
    op->Store(word.offset, word.word);
  }
  if (!words.empty()) op->Flush(line * kLineBytes, kLineBytes);
}

Result<std::unique_ptr<TreeState>> RecoverTree(std::unique_ptr<Medium> medium,
                                               RecoveryConfig config) {
  const Slice page(medium->view(), static_cast<size_t>(std::min(medium->bytes(), kPageBytes)));
  ASHLAR_ASSIGN_OR_RETURN(
      const PoolHeader header,
      DecodePoolHeader(medium->path(), page, medium->bytes(), *config.comparator));
  auto state =
      std::make_unique<TreeState>(std::move(medium), header, config.comparator,
                                  config.split_strategy, std::move(config.refuse_allocation));
  ASHLAR_RETURN_IF_ERROR(state->heap.ReadMap());
  ASHLAR_RETURN_IF_ERROR(FinishBatch(state->medium.get()));
  std::vector<LeafIndex::Entry> leaves;
  ASHLAR_RETURN_IF_ERROR(LeafReader(state.get(), config).Read(&leaves));
  state->index.Build(leaves);
  return state;
}

}  // namespace ashlar::pmem

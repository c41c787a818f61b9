#include "pmem/recovery.h"

#include <algorithm>
#include <bitset>
#include <iterator>

#include "base/assert.h"
#include "base/coding.h"
#include "base/crc32c.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "execute/parallel.h"
#include "pmem/pool.h"

namespace ashlar::pmem {
namespace {

uint64_t BatchLogChecksum(const char* piece, uint64_t bytes) {
  return crc32c::Mask(crc32c::Value(piece + 16, kBatchLogHeaderBytes - 16 + bytes));
}

// Appends the words of one piece. Returns false if it is damaged. *next is the next piece, or 0.
bool DecodePiece(const Medium& medium, PoolOffset piece, std::vector<BatchWord>* words,
                 PoolOffset* next) {
  if (piece % kUnitBytes != 0 || piece > medium.bytes() - kBatchLogHeaderBytes) return false;
  const char* const start = medium.view() + piece;
  const uint64_t bytes = DecodeFixed64(start);
  if (bytes % kBatchWordBytes != 0 || bytes > medium.bytes() - piece - kBatchLogHeaderBytes)
    return false;
  if (BatchLogChecksum(start, bytes) != DecodeFixed64(start + 8)) return false;
  *next = DecodeFixed64(start + 16);
  // Each piece except the last has words, so that a cycle of damaged pieces ends.
  if (*next != 0 && (bytes == 0 || words->size() > medium.bytes() / kBatchWordBytes)) return false;
  for (uint64_t at = 0; at < bytes; at += kBatchWordBytes) {
    const char* const word = start + kBatchLogHeaderBytes + at;
    words->push_back({.offset = DecodeFixed64(word), .word = DecodeFixed64(word + 8)});
    if (words->back().offset % 8 != 0 || words->back().offset > medium.bytes() - 8) return false;
  }
  return true;
}

Status DecodeBatchLog(const Medium& medium, PoolOffset log, std::vector<BatchWord>* words) {
  for (PoolOffset piece = log; piece != 0;) {
    PoolOffset next = 0;
    if (!DecodePiece(medium, piece, words, &next))
      return Status::Corruption(medium.path(), StrCat("a damaged batch log at offset ", piece));
    piece = next;
  }
  return Status::OK();
}

// Whether the word can be in a leaf. `spans`: the offsets of the spans of leaves, ascending.
bool IsInLeaf(const std::vector<PoolOffset>& spans, PoolOffset word) {
  const auto after = std::upper_bound(spans.begin(), spans.end(), word);
  return after != spans.begin() && word - *std::prev(after) < kSpanBytes;
}

// Call after reading the span map. The words are only in leaves, so they do not change the map.
Status FinishBatch(Medium* medium, const Heap& heap) {
  const uint64_t mark = medium->Load(kBatchMarkOffset);
  if (mark == kNoBatchMark) return Status::OK();
  const PoolOffset log = BatchMarkLog(mark);
  if (log < kSmallBatchLogOffset || log > medium->bytes() - kBatchLogHeaderBytes ||
      mark != EncodeBatchMark(log, medium->Load(log + 8))) {
    return Status::Corruption(medium->path(),
                              StrCat("the batch mark at offset ", kBatchMarkOffset,
                                     " does not belong to the batch log at offset ", log));
  }
  std::vector<BatchWord> words;
  ASHLAR_RETURN_IF_ERROR(DecodeBatchLog(*medium, log, &words));
  const std::vector<PoolOffset> leaf_spans = heap.LeafSpans();
  for (const BatchWord& word : words) {
    if (IsInLeaf(leaf_spans, word.offset)) continue;
    return Status::Corruption(
        medium->path(), StrCat("the batch log at offset ", log, " stores to offset ", word.offset,
                               ", where no leaf can be"));
  }
  PoolOperation op(*medium);
  CompleteBatch(&op, words);
  op.Commit();
  return op.AwaitDurable();
}

// The contents of a leaf's header. Leaves are numbered through all spans of leaves, in the
// order of memory.
struct LeafHeader {
  PoolOffset separator;
  uint32_t next;  // number of the next leaf, or a constant below
  uint8_t entries;
  bool has_tag;
  bool is_commit;
  bool is_in_chain;
};
static_assert(sizeof(LeafHeader) == 16, "an open touches one for each leaf");
constexpr uint32_t kNoLeaf = ~uint32_t{0};
constexpr uint32_t kBadLink = kNoLeaf - 1;

class LeafReader {
 public:
  LeafReader(TreeState* state, const RecoveryConfig& config)
      : state_(*state),
        medium_(*state->medium),
        spans_(state->heap.LeafSpans()),
        headers_(spans_.size() * kLeavesPerSpan),
        span_at_page_(spans_.empty() ? 0 : spans_.back() / kPageBytes + kSpanPages, kNoLeaf),
        threads_(static_cast<uint32_t>(std::min<size_t>(
            config.threads, std::max<size_t>(1, spans_.size() / config.spans_per_thread_min)))) {
    for (size_t span = 0; span < spans_.size(); ++span) {
      std::fill_n(span_at_page_.begin() + static_cast<ptrdiff_t>(spans_[span] / kPageBytes),
                  kSpanPages, static_cast<uint32_t>(span));
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

  void PrefetchHeader(PoolOffset leaf) const {
    ASHLAR_PREFETCH(medium_.view() + leaf);
    ASHLAR_PREFETCH(medium_.view() + leaf + kLineBytes);
  }

  // Also reads leaves that are not in use, and ignores their contents.
  void ReadHeaders(size_t span) {
    for (uint64_t i = 0; i < kLeavesPerSpan; ++i) {
      if (i + kLeavesAhead < kLeavesPerSpan)
        PrefetchHeader(spans_[span] + (i + kLeavesAhead) * kLeafBytes);
      const LeafView view(medium_, spans_[span] + i * kLeafBytes);
      const uint64_t commit = view.Commit();
      const PoolOffset next = view.Next(commit);
      headers_[span * kLeavesPerSpan + i] = {
          .separator = view.Separator(),
          .next = NumberOf(next),
          .entries = static_cast<uint8_t>(std::popcount(Occupied(commit))),
          .has_tag = view.Tag() == LeafTag(view.offset()),
          .is_commit = IsCommit(view.offset(), next, commit),
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
      if (!header.is_commit) return Damaged(leaf, "a wrong check in its commit word");
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

  // Checks that the separators of one piece of the chain are intact and ascending.
  Status CheckPiece(size_t begin) const {
    const size_t end = std::min(chain_.size(), begin + kPieceLeaves);
    std::optional<Record> before;
    // The first leaf has no separator.
    if (begin > 1) before = ReadRecord(medium_, headers_[chain_[begin - 1]].separator);
    for (size_t i = std::max<size_t>(begin, 1); i < end; ++i) {
      // Any offset may be prefetched, even one from damaged bytes.
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
  std::vector<uint32_t> span_at_page_;  // kNoLeaf: no leaves there; none after its end
  const uint32_t threads_;
  std::vector<uint32_t> chain_;
};

Status ReadTree(TreeState* state, const RecoveryConfig& config) {
  ASHLAR_RETURN_IF_ERROR(state->heap.ReadMap());
  ASHLAR_RETURN_IF_ERROR(FinishBatch(state->medium.get(), state->heap));
  std::vector<LeafIndex::Entry> leaves;
  ASHLAR_RETURN_IF_ERROR(LeafReader(state, config).Read(&leaves));
  state->index.Build(leaves);
  return Status::OK();
}

}  // namespace

void StoreBatchMark(PoolOperation* op, uint64_t mark) {
  op->Store(kBatchMarkOffset, mark);
  op->Flush(kBatchMarkOffset, 8);
  op->Fence();
}

uint64_t WriteBatchLog(PoolOperation* op, std::span<const PoolObject> pieces,
                       std::span<const BatchWord> words) {
  uint64_t mark = kNoBatchMark;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const bool is_last = i + 1 == pieces.size() || words.size() <= BatchWordsIn(pieces[i].bytes);
    const size_t count = is_last ? words.size() : BatchWordsIn(pieces[i].bytes);
    ASHLAR_ASSERT(count <= BatchWordsIn(pieces[i].bytes));  // Requires: the pieces have room
    std::string piece(kBatchLogHeaderBytes, '\0');
    piece.reserve(BatchLogBytes(count));
    for (const BatchWord& word : words.first(count)) {
      PutFixed64(&piece, word.offset);
      PutFixed64(&piece, word.word);
    }
    const uint64_t bytes = count * kBatchWordBytes;
    EncodeFixed64(piece.data(), bytes);
    EncodeFixed64(piece.data() + 16, is_last ? 0 : pieces[i + 1].offset);
    const uint64_t checksum = BatchLogChecksum(piece.data(), bytes);
    EncodeFixed64(piece.data() + 8, checksum);
    if (i == 0) mark = EncodeBatchMark(pieces[0].offset, checksum);
    op->Copy(pieces[i].offset, piece.data(), piece.size());
    op->Flush(pieces[i].offset, piece.size());
    words = words.subspan(count);
    if (is_last) break;
  }
  return mark;
}

void CompleteBatch(PoolOperation* op, const std::vector<BatchWord>& words) {
  PoolOffset line = ~PoolOffset{0};
  for (const BatchWord& word : words) {
    if (line != ~PoolOffset{0} && word.offset / kLineBytes != line)
      op->Flush(line * kLineBytes, kLineBytes);
    line = word.offset / kLineBytes;
    op->Store(word.offset, word.word);
  }
  if (!words.empty()) op->Flush(line * kLineBytes, kLineBytes);
  op->Fence();
  StoreBatchMark(op, kNoBatchMark);
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
  const Status read = CatchBadAlloc([&] { return ReadTree(state.get(), config); });
  if (read.ok()) return state;
  // Otherwise the pool would need its empty log from here on, even if it is copied alone.
  IgnoreBadAlloc([&] { static_cast<void>(state->medium->Close()); });
  return read;
}

}  // namespace ashlar::pmem

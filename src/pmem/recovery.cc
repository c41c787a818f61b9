#include "pmem/recovery.h"

#include "base/coding.h"
#include "base/crc32c.h"
#include "base/format.h"
#include "pmem/pool.h"

namespace ashlar::pmem {
namespace {

constexpr uint64_t kWordBytes = 16;

Status DecodeBatchLog(const Medium& medium, PoolOffset log, std::vector<BatchWord>* words) {
  const auto damaged = [&] { return Status::Corruption(medium.path(), StrCat("a damaged batch log at offset ", log)); };
  if (log % kUnitBytes != 0 || log > medium.bytes() - kBatchLogHeaderBytes) return damaged();
  const char* const start = medium.view() + log;
  const uint64_t bytes = DecodeFixed64(start);
  if (bytes % kWordBytes != 0 || bytes > medium.bytes() - log - kBatchLogHeaderBytes) return damaged();
  if (crc32c::Mask(crc32c::Value(start + kBatchLogHeaderBytes, bytes)) != DecodeFixed64(start + 8)) return damaged();
  for (uint64_t at = 0; at < bytes; at += kWordBytes) {
    const char* const word = start + kBatchLogHeaderBytes + at;
    words->push_back({.offset = DecodeFixed64(word), .word = DecodeFixed64(word + 8)});
    if (words->back().offset % 8 != 0 || words->back().offset > medium.bytes() - 8) return damaged();
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

// The leaves in order, with their separators.
Status ReadLeaves(TreeState* state, std::vector<LeafIndex::Entry>* entries) {
  const Medium& medium = *state->medium;
  const auto damaged = [&](PoolOffset leaf, const char* what) {
    return Status::Corruption(medium.path(), StrCat("the leaf at offset ", leaf, ": ", what));
  };
  uint64_t count = 0;
  const char* before = nullptr;
  for (PoolOffset leaf = state->first_leaf; leaf != 0;) {
    ASHLAR_RETURN_IF_ERROR(state->heap.MarkLeaf(leaf));
    const LeafView view(medium, leaf);
    if (view.Tag() != LeafTag(leaf)) return damaged(leaf, "a wrong tag");
    const uint64_t commit = view.Commit();
    const PoolOffset next = view.Next(commit);
    if (next != 0 && next < medium.bytes()) ASHLAR_PREFETCH(medium.view() + next);
    const PoolOffset separator = view.Separator();
    const char* key = nullptr;
    if ((separator == 0) != (leaf == state->first_leaf)) return damaged(leaf, "a wrong separator");
    if (separator != 0) {
      const std::optional<Record> record = ReadRecord(medium, separator);
      if (!record || !ChecksumMatches(*record)) return damaged(leaf, "a damaged separator");
      key = record->start;
      if (before != nullptr && state->order.Compare(KeyOfRecord(before), KeyOfRecord(key)) >= 0) return damaged(leaf, "out of order");
    }
    before = key;
    entries->push_back({.separator = key, .leaf = state->index.NewRef(leaf)});
    count += static_cast<uint64_t>(std::popcount(Occupied(commit)));
    leaf = next;
  }
  state->entries.store(count, std::memory_order_relaxed);
  state->leaves.store(entries->size(), std::memory_order_relaxed);
  return Status::OK();
}

}  // namespace

uint64_t BatchLogBytes(size_t words) { return kBatchLogHeaderBytes + words * kWordBytes; }

std::string EncodeBatchLog(const std::vector<BatchWord>& words) {
  std::string log(kBatchLogHeaderBytes, '\0');
  log.reserve(BatchLogBytes(words.size()));
  for (const BatchWord& word : words) {
    PutFixed64(&log, word.offset);
    PutFixed64(&log, word.word);
  }
  EncodeFixed64(log.data(), log.size() - kBatchLogHeaderBytes);
  EncodeFixed64(log.data() + 8, crc32c::Mask(crc32c::Value(log.data() + kBatchLogHeaderBytes, log.size() - kBatchLogHeaderBytes)));
  return log;
}

void ApplyBatchWords(PoolOperation* op, const std::vector<BatchWord>& words) {
  PoolOffset line = ~PoolOffset{0};
  for (const BatchWord& word : words) {
    if (line != ~PoolOffset{0} && word.offset / kLineBytes != line) op->Flush(line * kLineBytes, kLineBytes);
    line = word.offset / kLineBytes;
    op->Store(word.offset, word.word);
  }
  if (!words.empty()) op->Flush(line * kLineBytes, kLineBytes);
}

Result<std::unique_ptr<TreeState>> RecoverTree(std::unique_ptr<Medium> medium, RecoveryConfig config) {
  const Slice page(medium->view(), static_cast<size_t>(std::min(medium->bytes(), kPageBytes)));
  ASHLAR_ASSIGN_OR_RETURN(const PoolHeader header, DecodePoolHeader(medium->path(), page, medium->bytes(), *config.comparator));
  auto state = std::make_unique<TreeState>(std::move(medium), header, config.comparator, config.split_strategy, std::move(config.refuse_allocation));
  ASHLAR_RETURN_IF_ERROR(state->heap.ReadMap());
  ASHLAR_RETURN_IF_ERROR(FinishBatch(state->medium.get()));
  std::vector<LeafIndex::Entry> leaves;
  ASHLAR_RETURN_IF_ERROR(ReadLeaves(state.get(), &leaves));
  state->index.Build(leaves);
  return state;
}

}  // namespace ashlar::pmem

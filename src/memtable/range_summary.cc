#include "memtable/range_summary.h"

#include <algorithm>
#include <new>

#include "base/assert.h"
#include "base/out_of_memory.h"
#include "platform/cpu.h"

namespace ashlar {

namespace {

// With fewer tombstones, their tree is small enough to search.
constexpr size_t kSummaryTombstonesMin = 16;
constexpr uint32_t kChunkSpansMin = 16;
constexpr uint32_t kChunkSpansMax = 1024;

}  // namespace

struct RangeSummary::Chunk {
  Chunk* older;
  uint32_t count;
  uint32_t capacity;

  HeadSpan* spans() { return reinterpret_cast<HeadSpan*>(this + 1); }
};

// Updates the heads of the log after a position began to vary.
void RangeSummary::InsertByte(size_t slot, uint8_t byte, size_t limit_before) {
  bool zeros_lost = true;
  for (size_t position = varying_.limit(); position < limit_before; ++position)
    zeros_lost = zeros_lost && varying_.common(position) == 0;
  const bool loses_byte = varying_.limit() < limit_before;
  for (Chunk* chunk = newest_; chunk != nullptr; chunk = chunk->older) {
    for (uint32_t i = 0; i < chunk->count; ++i) {
      HeadSpan& span = chunk->spans()[i];
      if (loses_byte && (!zeros_lost || (span.end & 0xff) != 0)) span.end_bytes = HeadSpan::kNoSize;
      span.begin = VaryingBytes::InsertByte(span.begin, slot, byte);
      span.end = VaryingBytes::InsertByte(span.end, slot, byte);
    }
  }
  // In the current summary the position is constant, so the summary must be rebuilt.
  if (current_.load(std::memory_order_relaxed) != nullptr) remake_at_ = count_;
}

void RangeSummary::Append(const HeadSpan& span) {
  if (newest_ == nullptr || newest_->count == newest_->capacity) {
    const uint32_t capacity =
        newest_ == nullptr ? kChunkSpansMin : std::min(2 * newest_->capacity, kChunkSpansMax);
    newest_ = new (arena_->AllocateAligned(sizeof(Chunk) + capacity * sizeof(HeadSpan)))
        Chunk{.older = newest_, .count = 0, .capacity = capacity};
  }
  new (newest_->spans() + newest_->count) HeadSpan(span);
  ++newest_->count;
  ++count_;
}

void RangeSummary::Remake() {
  CoverSummary::Geometry geometry(varying_);
  for (Chunk* chunk = newest_; chunk != nullptr; chunk = chunk->older) {
    for (uint32_t i = 0; i < chunk->count; ++i) {
      geometry.Include(chunk->spans()[i].begin);
      geometry.Include(chunk->spans()[i].end);
    }
  }
  geometry.WidenFirstByte();
  geometry.Finish(4 * count_);
  auto* const words = reinterpret_cast<CoverSummary::Word*>(
      arena_->AllocateAligned(geometry.words() * sizeof(CoverSummary::Word), kCacheLineBytes));
  for (size_t i = 0; i < geometry.words(); ++i) new (words + i) CoverSummary::Word(0);
  auto* const made = new (arena_->AllocateAligned(sizeof(CoverSummary), kCacheLineBytes))
      CoverSummary(comparator_, geometry, words);
  for (Chunk* chunk = newest_; chunk != nullptr; chunk = chunk->older) {
    for (uint32_t i = 0; i < chunk->count; ++i) made->Add(chunk->spans()[i]);
  }
  current_.store(made, std::memory_order_release);
  unknown_ = 0;
  remake_at_ = 2 * count_;
}

void RangeSummary::Add(const RangeTombstone& tombstone) {
  if (!comparator_.HasHeads()) return;
  if (newest_ == nullptr) remake_at_ = kSummaryTombstonesMin;
  for (const Slice& key : {ComparedPart(tombstone.begin), ComparedPart(tombstone.end)}) {
    size_t limit = varying_.limit();
    varying_.Include(key, [&](size_t slot, uint8_t byte) {
      InsertByte(slot, byte, limit);
      limit = varying_.limit();
    });
  }
  Append(HeadSpan::Of(varying_, ComparedPart(tombstone.begin), ComparedPart(tombstone.end)));
  CoverSummary* const current = current_.load(std::memory_order_relaxed);
  if (current != nullptr &&
      !current->Add(ComparedPart(tombstone.begin), ComparedPart(tombstone.end)))
    ++unknown_;
  // If this fails, the previous summary stays correct.
  if (count_ >= remake_at_ || (current != nullptr && unknown_ > count_ / 4))
    IgnoreBadAlloc([this] { Remake(); });
}

void RangeSummary::CheckInvariants() const {
  size_t count = 0;
  for (const Chunk* chunk = newest_; chunk != nullptr; chunk = chunk->older) count += chunk->count;
  ASHLAR_ASSERT(count == count_);  // I1
  const CoverSummary* const current = current_.load(std::memory_order_acquire);
  if (current != nullptr) current->CheckInvariants();
}

}  // namespace ashlar

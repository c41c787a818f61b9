#include "memtable/range_summary.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/assert.h"
#include "base/out_of_memory.h"
#include "key/key_head.h"

namespace ashlar {

namespace {

// Below this many tombstones their tree is small enough.
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

// All bounds begin with the prefix again after this.
void RangeSummary::ShortenPrefix(const RangeTombstone& tombstone) {
  const size_t bytes = std::min(CommonPrefixBytes(log_prefix_, ComparedPart(tombstone.begin)),
                                CommonPrefixBytes(log_prefix_, ComparedPart(tombstone.end)));
  if (bytes == log_prefix_.size()) return;
  const auto shorter = [&](const HeadSpan& span) {
    return span.AfterShorterPrefix(comparator_, log_prefix_, bytes);
  };
  for (Chunk* chunk = newest_; chunk != nullptr; chunk = chunk->older)
    std::transform(chunk->spans(), chunk->spans() + chunk->count, chunk->spans(), shorter);
  all_ = shorter(all_);
  all_before_ = shorter(all_before_);
  log_prefix_ = Slice(log_prefix_.data(), bytes);
  // The current summary knows only keys with the longer prefix.
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
  all_.begin = count_ == 1 ? span.begin : std::min(all_.begin, span.begin);
  all_.end = std::max(all_.end, span.end);
}

void RangeSummary::Remake() {
  // Tombstones that have gone on in one direction will go on.
  HeadSpan room = all_;
  const uint64_t width = all_.end - all_.begin;
  if (all_before_.begin - all_.begin > width / 4) room.begin -= std::min(room.begin, width);
  if (all_.end - all_before_.end > width / 4) room.end += std::min(UINT64_MAX - room.end, width);
  const auto geometry = CoverSummary::Geometry::For(room.begin, room.end, 4 * count_);
  auto* const words = reinterpret_cast<CoverSummary::Word*>(
      arena_->AllocateAligned(geometry.words() * sizeof(CoverSummary::Word), 64));
  for (size_t i = 0; i < geometry.words(); ++i) new (words + i) CoverSummary::Word(0);
  auto* const made = new (arena_->AllocateAligned(sizeof(CoverSummary), 64))
      CoverSummary(comparator_, log_prefix_, geometry, words);
  for (Chunk* chunk = newest_; chunk != nullptr; chunk = chunk->older) {
    for (uint32_t i = 0; i < chunk->count; ++i) made->Add(chunk->spans()[i]);
  }
  current_.store(made, std::memory_order_release);
  all_before_ = all_;
  remake_at_ = 2 * count_;
}

void RangeSummary::Add(const RangeTombstone& tombstone) {
  if (!comparator_.HasHeads()) return;
  if (newest_ == nullptr) {
    const size_t bytes =
        CommonPrefixBytes(ComparedPart(tombstone.begin), ComparedPart(tombstone.end));
    char* const prefix = arena_->Allocate(bytes);
    if (bytes > 0) memcpy(prefix, tombstone.begin.data(), bytes);
    log_prefix_ = Slice(prefix, bytes);
    remake_at_ = kSummaryTombstonesMin;
  }
  ShortenPrefix(tombstone);
  Append(HeadSpan::Of(comparator_, tombstone.begin, tombstone.end, log_prefix_.size()));
  if (CoverSummary* const current = current_.load(std::memory_order_relaxed); current != nullptr)
    current->Add(tombstone.begin, tombstone.end);
  // The summary before stays correct.
  if (count_ >= remake_at_) IgnoreBadAlloc([this] { Remake(); });
}

void RangeSummary::CheckInvariants() const {
  size_t count = 0;
  for (Chunk* chunk = newest_; chunk != nullptr; chunk = chunk->older) {
    for (uint32_t i = 0; i < chunk->count; ++i) {
      const HeadSpan& span = chunk->spans()[i];
      ASHLAR_ASSERT(all_.begin <= span.begin && span.begin <= span.end && span.end <= all_.end);
    }
    count += chunk->count;
  }
  ASHLAR_ASSERT(count == count_);  // I1
}

}  // namespace ashlar

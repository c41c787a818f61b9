#include "memtable/vector_index.h"

#include <algorithm>

#include "memtable/entry.h"

namespace ashlar {

void VectorIndex::Add(const char* entry) {
  const size_t size = size_.load(std::memory_order_relaxed);
  const size_t at = size % kChunkEntries;
  if (at == 0) {
    auto* const chunk = new (arena_->AllocateAligned(sizeof(Chunk), alignof(Chunk))) Chunk;
    (last_ == nullptr ? first_ : last_->next) = chunk;
    last_ = chunk;
  }
  last_->entries[at] = entry;
  size_.store(size + 1, std::memory_order_release);
}

template <typename Visit>
void VectorIndex::ForEach(Visit visit) const {
  constexpr size_t kAhead = 16;
  size_t left = size_.load(std::memory_order_acquire);
  if (left == 0) return;
  for (const Chunk* chunk = first_;; chunk = chunk->next) {
    const size_t here = std::min(left, kChunkEntries);
    for (size_t i = 0; i < here; ++i) {
      if (i + kAhead < here) ASHLAR_PREFETCH(chunk->entries[i + kAhead]);
      visit(chunk->entries[i]);
    }
    left -= here;
    if (left == 0) return;
  }
}

void VectorIndex::Get(Lookup* lookup, const PinSource& owner) const {
  std::vector<DecodedEntry> versions;
  ForEach([&](const char* entry) {
    const DecodedEntry decoded = DecodeEntry(entry);
    if (comparator_.Equal(decoded.user_key(), lookup->user_key()) && lookup->Sees(decoded.tag()))
      versions.push_back(decoded);
  });
  std::sort(versions.begin(), versions.end(), [](const DecodedEntry& a, const DecodedEntry& b) {
    return CompareTags(a.tag(), b.tag()) < 0;
  });
  for (const DecodedEntry& entry : versions) {
    const uint64_t tag = entry.tag();
    if (!lookup->Offer(TagType(tag), TagSequence(tag), entry.value(), owner)) return;
  }
}

void VectorIndex::Collect(std::vector<const char*>* entries) const {
  ForEach([entries](const char* entry) { entries->push_back(entry); });
}

}  // namespace ashlar

#include "memtable/entry_buckets.h"

#include <memory>
#include <type_traits>

#include "base/hash.h"
#include "memtable/entry.h"

namespace ashlar {

static_assert(std::is_trivially_destructible_v<EntryTree>, "trees go with the arena");

void EntryBuckets::Allocate() {
  auto* const buckets =
      reinterpret_cast<Word*>(arena_->AllocateAligned(bucket_count_ * sizeof(Word), alignof(Word)));
  std::uninitialized_value_construct_n(buckets, bucket_count_);
  buckets_.store(buckets, std::memory_order_release);
}

EntryBuckets::Bucket EntryBuckets::Decode(uintptr_t word) {
  if ((word & kTreeBit) != 0) return {.tree = reinterpret_cast<const EntryTree*>(word - kTreeBit)};
  return {.list = reinterpret_cast<const Node*>(word)};
}

EntryBuckets::Word* EntryBuckets::WordOf(uint64_t hash) const {
  Word* const buckets = buckets_.load(std::memory_order_acquire);
  return buckets == nullptr ? nullptr : &buckets[FastRange64(hash, bucket_count_)];
}

EntryBuckets::Bucket EntryBuckets::Find(uint64_t hash) const {
  const Word* const word = WordOf(hash);
  return word == nullptr ? Bucket() : Decode(word->load(std::memory_order_acquire));
}

void EntryBuckets::Add(uint64_t hash, const Slice& user_key, uint64_t tag, const Slice& value) {
  Word* const word = WordOf(hash);
  const uintptr_t content = word->load(std::memory_order_relaxed);
  auto* tree =
      (content & kTreeBit) != 0 ? reinterpret_cast<EntryTree*>(content - kTreeBit) : nullptr;
  if (tree == nullptr) {
    auto* const first = reinterpret_cast<Node*>(content);
    if (first == nullptr || first->entries < list_entries_max_)
      return AddToList(word, first, user_key, tag, value);
    tree = MakeTree(first);
    word->store(reinterpret_cast<uintptr_t>(tree) | kTreeBit, std::memory_order_release);
  }
  tree->Insert(NewEntry(arena_, user_key, tag, value));
}

void EntryBuckets::AddToList(Word* word, Node* first, const Slice& user_key, uint64_t tag,
                             const Slice& value) {
  char* const memory =
      arena_->AllocateAligned(Node::kEntryOffset + EntryBytes(user_key, value), alignof(Node));
  auto* const node = new (memory) Node;
  WriteEntry(memory + Node::kEntryOffset, user_key, tag, value);

  Node* before = nullptr;
  Node* after = first;
  while (after != nullptr && CompareEntry(comparator_, after->entry(), {user_key, tag}) < 0) {
    before = after;
    after = after->next.load(std::memory_order_relaxed);
  }
  node->next.store(after, std::memory_order_relaxed);
  if (before == nullptr) {
    if (first != nullptr) node->entries = first->entries + 1;
    word->store(reinterpret_cast<uintptr_t>(node), std::memory_order_release);
  } else {
    ++first->entries;
    before->next.store(node, std::memory_order_release);
  }
}

EntryTree* EntryBuckets::MakeTree(const Node* first) {
  auto* const tree = new (arena_->AllocateAligned(sizeof(EntryTree), alignof(EntryTree)))
      EntryTree(comparator_, arena_);
  for (const Node* node = first; node != nullptr; node = node->next.load(std::memory_order_relaxed))
    tree->Insert(node->entry());
  return tree;
}

void EntryBuckets::Get(uint64_t hash, Lookup* lookup, const PinSource& owner) const {
  const Bucket bucket = Find(hash);
  if (bucket.tree != nullptr) return bucket.tree->Get(lookup, owner);
  for (const Node* node = bucket.list; node != nullptr;
       node = node->next.load(std::memory_order_acquire)) {
    const DecodedEntry entry = DecodeEntry(node->entry());
    const int r = comparator_.Compare(entry.user_key(), lookup->user_key());
    if (r > 0) return;
    if (r < 0) continue;
    const uint64_t tag = entry.tag();
    if (lookup->Sees(tag) && !lookup->Offer(TagType(tag), TagSequence(tag), entry.value(), owner))
      return;
  }
}

void EntryBuckets::Collect(std::vector<const char*>* entries) const {
  const Word* const buckets = buckets_.load(std::memory_order_acquire);
  if (buckets == nullptr) return;
  for (size_t i = 0; i < bucket_count_; ++i) {
    const Bucket bucket = Decode(buckets[i].load(std::memory_order_acquire));
    for (const Node* node = bucket.list; node != nullptr;
         node = node->next.load(std::memory_order_acquire))
      entries->push_back(node->entry());
    if (bucket.tree == nullptr) continue;
    EntryTree::Walk walk(bucket.tree);
    for (walk.SeekToFirst(); walk.Valid(); walk.Next()) entries->push_back(walk.entry());
  }
}

uint64_t EntryBuckets::CheckInvariants() const {
  const Word* const buckets = buckets_.load(std::memory_order_acquire);
  if (buckets == nullptr) return 0;
  uint64_t entries = 0;
  for (size_t i = 0; i < bucket_count_; ++i) {
    const Bucket bucket = Decode(buckets[i].load(std::memory_order_acquire));
    if (bucket.tree != nullptr) entries += bucket.tree->CheckInvariants();
    uint64_t in_list = 0;
    for (const Node* node = bucket.list; node != nullptr;) {
      ++in_list;
      const Node* const next = node->next.load(std::memory_order_acquire);
      if (next != nullptr) {
        // A list is in order.
        ASHLAR_ASSERT(CompareEntry(comparator_, node->entry(), TargetOf(next->entry())) <= 0);
      }
      node = next;
    }
    if (bucket.list != nullptr) ASHLAR_ASSERT(bucket.list->entries == in_list);  // Node::entries
    entries += in_list;
  }
  return entries;
}

// --- ListWalk ---

void EntryBuckets::ListWalk::GoBefore(const Node* end) {
  at_ = nullptr;
  for (const Node* node = list_; node != end; node = node->next.load(std::memory_order_acquire))
    at_ = node;
}

void EntryBuckets::ListWalk::Seek(const Slice& user_key, uint64_t tag) {
  at_ = list_;
  while (at_ != nullptr && CompareEntry(comparator_, at_->entry(), {user_key, tag}) < 0)
    at_ = at_->next.load(std::memory_order_acquire);
}

void EntryBuckets::ListWalk::SeekForPrev(const Slice& user_key, uint64_t tag) {
  at_ = nullptr;
  for (const Node* node = list_;
       node != nullptr && CompareEntry(comparator_, node->entry(), {user_key, tag}) <= 0;) {
    at_ = node;
    node = node->next.load(std::memory_order_acquire);
  }
}

}  // namespace ashlar

// The peer: a tree on libpmemobj with linked leaves of 48 slots. Every change is one of its
// transactions, and the inner nodes are in ordinary memory. There are three ways to store an entry
// and to split a leaf, as published for pmemkv's engines:
//
//   naive copy      a slot holds two strings, short ones inline, long ones in objects of their own;
//                   a split copies both into the new leaf
//   copy-or-swap    the same slot; a split copies inline strings and passes on the objects of long
//                   ones
//   zero-copy       a slot holds one object with key and value; a split passes it on
//
// This is kinder to libpmemobj than pmemkv was, because the index has one key per leaf instead of
// one per entry.
#include <libpmemobj.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <vector>

#include "bench/pmem/pmdk_counters.h"
#include "bench/pmem/store.h"
#include "pmem/fingerprint.h"

namespace ashlar::bench {
namespace {

constexpr size_t kSlots = 48;
// One byte less than the pointer that replaces the bytes, as in pmemkv.
constexpr size_t kInlineBytes = sizeof(PMEMoid) - 1;
constexpr char kLayout[] = "ashlar-bench";
enum TypeNumber : uint64_t { kLeafType = 1, kBytesType = 2 };

// Copies the texts into a new object of this transaction.
PMEMoid NewBytes(std::string_view first, std::string_view second) {
  const PMEMoid object = pmemobj_tx_alloc(first.size() + second.size(), kBytesType);
  char* const to = static_cast<char*>(pmemobj_direct(object));
  memcpy(to, first.data(), first.size());
  if (!second.empty()) memcpy(to + first.size(), second.data(), second.size());
  return object;
}

struct StoredString {
  uint64_t bytes;
  union {
    char here[kInlineBytes];
    PMEMoid elsewhere;
  };

  bool IsHere() const { return bytes <= kInlineBytes; }
  std::string_view Get() const {
    return {IsHere() ? here : static_cast<const char*>(pmemobj_direct(elsewhere)), bytes};
  }
  // Requires a transaction that has this slot.
  void Set(std::string_view from) {
    bytes = from.size();
    if (IsHere()) {
      memcpy(here, from.data(), from.size());
    } else {
      elsewhere = NewBytes(from, {});
    }
  }
  void Free() const {
    if (!IsHere()) pmemobj_tx_free(elsewhere);
  }
};

struct StringSlot {
  StoredString key;
  StoredString value;

  std::string_view Key() const { return key.Get(); }
  std::string_view Value() const { return value.Get(); }
  void Set(std::string_view new_key, std::string_view new_value) {
    key.Set(new_key);
    value.Set(new_value);
  }
  void Replace(std::string_view new_value) {
    value.Free();
    value.Set(new_value);
  }
  void Free() const {
    key.Free();
    value.Free();
  }
};

struct BufferSlot {
  uint32_t key_bytes;
  uint32_t value_bytes;
  PMEMoid buffer;

  const char* Start() const { return static_cast<const char*>(pmemobj_direct(buffer)); }
  std::string_view Key() const { return {Start(), key_bytes}; }
  std::string_view Value() const { return {Start() + key_bytes, value_bytes}; }
  void Set(std::string_view key, std::string_view value) {
    key_bytes = static_cast<uint32_t>(key.size());
    value_bytes = static_cast<uint32_t>(value.size());
    buffer = NewBytes(key, value);
  }
  void Replace(std::string_view value) {
    const PMEMoid old = buffer;
    Set({Start(), key_bytes}, value);
    pmemobj_tx_free(old);
  }
  void Free() const { pmemobj_tx_free(buffer); }
};

// How a slot moves to a new leaf.
struct NaiveCopy {
  using Slot = StringSlot;
  static void Move(const Slot& from, Slot* to) {
    to->Set(from.Key(), from.Value());
    from.Free();
  }
};
struct CopyOrSwap {
  using Slot = StringSlot;
  static void Move(const Slot& from, Slot* to) { *to = from; }
};
struct ZeroCopy {
  using Slot = BufferSlot;
  static void Move(const Slot& from, Slot* to) { *to = from; }
};

template <typename Strategy>
class PmdkStore final : public Store {
  using Slot = typename Strategy::Slot;
  struct Leaf {
    PMEMoid next;
    uint8_t hashes[kSlots];  // 0: free
    Slot slots[kSlots];
  };
  struct Root {
    PMEMoid first;
  };

 public:
  explicit PmdkStore(const StoreRequest& request) {
    pmdk_is_counted = request.count;
    pool_ = request.create ? pmemobj_create(request.path.c_str(), kLayout, request.pool_bytes, 0600)
                           : pmemobj_open(request.path.c_str(), kLayout);
    if (pool_ == nullptr) Fail(std::string("libpmemobj: ") + pmemobj_errormsg());
    root_ = static_cast<Root*>(pmemobj_direct(pmemobj_root(pool_, sizeof(Root))));
    if (request.create) {
      Transact([&] {
        Snapshot(root_, sizeof(Root));
        root_->first = pmemobj_tx_zalloc(sizeof(Leaf), kLeafType);
      });
    }
    // Recovery finds the smallest key of each leaf.
    for (Leaf* leaf = Direct(root_->first); leaf != nullptr; leaf = Direct(leaf->next)) {
      std::string_view least;
      bool found = false;
      for (size_t i = 0; i < kSlots; ++i) {
        if (leaf->hashes[i] == 0) continue;
        const std::string_view key = leaf->slots[i].Key();
        if (!found || key < least) least = key;
        found = true;
      }
      if (found || index_.empty())
        index_.emplace(index_.empty() ? std::string() : std::string(least), leaf);
    }
  }
  ~PmdkStore() override { pmemobj_close(pool_); }

  void Put(std::string_view key, std::string_view value) override {
    const uint8_t hash = HashOf(key);
    Leaf* leaf = LeafOf(key);
    if (const size_t at = Find(*leaf, key, hash); at < kSlots) {
      Transact([&] {
        Snapshot(&leaf->slots[at], sizeof(Slot));
        leaf->slots[at].Replace(value);
      });
      return;
    }
    if (const size_t at = Find(*leaf, 0); at < kSlots) return Insert(leaf, at, key, value, hash);
    Split(leaf, key, value, hash);
  }
  void Remove(std::string_view key) override {
    Leaf* const leaf = LeafOf(key);
    const size_t at = Find(*leaf, key, HashOf(key));
    if (at == kSlots) return;
    Transact([&] {
      Snapshot(&leaf->hashes[at], 1);
      leaf->hashes[at] = 0;
      leaf->slots[at].Free();
    });
  }
  uint64_t Get(std::string_view key) override {
    const Leaf* const leaf = LeafOf(key);
    const size_t at = Find(*leaf, key, HashOf(key));
    return at == kSlots ? 0 : LookAt(leaf->slots[at].Value());
  }
  bool Has(std::string_view key) override { return Get(key) != 0; }
  uint64_t Splits() const override { return splits_; }
  uint64_t UsedBytes() const override {
    constexpr uint64_t kObjectHeader = 16;
    uint64_t bytes = 0;
    for (PMEMoid object = pmemobj_first(pool_); !OID_IS_NULL(object);
         object = pmemobj_next(object)) {
      bytes += pmemobj_alloc_usable_size(object) + kObjectHeader;
    }
    return bytes;
  }
  Durables Counted() const override { return pmdk_counted; }

 private:
  static Leaf* Direct(PMEMoid oid) { return static_cast<Leaf*>(pmemobj_direct(oid)); }
  static uint8_t HashOf(std::string_view key) {
    const uint8_t hash = pmem::Fingerprint(key);
    return hash == 0 ? 1 : hash;
  }
  // Takes the snapshot that undoes the following changes.
  static void Snapshot(const void* start, size_t bytes) {
    pmemobj_tx_add_range_direct(start, bytes);
  }

  template <typename Body>
  void Transact(const Body& body) {
    if (pmemobj_tx_begin(pool_, nullptr, TX_PARAM_NONE) != 0) Fail("libpmemobj: no transaction");
    // A failed call aborts, which changes the stage.
    body();
    if (pmemobj_tx_stage() != TX_STAGE_WORK) Fail(std::string("libpmemobj: ") + pmemobj_errormsg());
    pmemobj_tx_commit();
    static_cast<void>(pmemobj_tx_end());
  }

  Leaf* LeafOf(std::string_view key) const {
    const auto after = index_.upper_bound(key);
    return after == index_.begin() ? after->second : std::prev(after)->second;
  }
  static size_t Find(const Leaf& leaf, uint8_t hash) {
    return static_cast<size_t>(std::find(std::begin(leaf.hashes), std::end(leaf.hashes), hash) -
                               std::begin(leaf.hashes));
  }
  static size_t Find(const Leaf& leaf, std::string_view key, uint8_t hash) {
    for (size_t i = 0; i < kSlots; ++i) {
      if (leaf.hashes[i] == hash && leaf.slots[i].Key() == key) return i;
    }
    return kSlots;
  }

  void Insert(Leaf* leaf, size_t at, std::string_view key, std::string_view value, uint8_t hash) {
    Transact([&] { InsertInside(leaf, at, key, value, hash); });
  }
  void InsertInside(Leaf* leaf, size_t at, std::string_view key, std::string_view value,
                    uint8_t hash) {
    Snapshot(&leaf->hashes[at], 1);
    Snapshot(&leaf->slots[at], sizeof(Slot));
    leaf->slots[at].Set(key, value);
    leaf->hashes[at] = hash;
  }

  // Moves the upper half to a new leaf to the right, and adds the new entry in its place, in one
  // transaction.
  void Split(Leaf* leaf, std::string_view key, std::string_view value, uint8_t hash) {
    std::array<size_t, kSlots> order;
    for (size_t i = 0; i < kSlots; ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return leaf->slots[a].Key() < leaf->slots[b].Key(); });
    const std::string least(leaf->slots[order[kSlots / 2]].Key());
    Leaf* right = nullptr;
    Transact([&] {
      const PMEMoid fresh = pmemobj_tx_zalloc(sizeof(Leaf), kLeafType);
      right = Direct(fresh);
      Snapshot(&leaf->next, sizeof(leaf->next) + sizeof(leaf->hashes));
      for (size_t i = kSlots / 2; i < kSlots; ++i) {
        const size_t from = order[i];
        const size_t to = i - kSlots / 2;
        Strategy::Move(leaf->slots[from], &right->slots[to]);
        right->hashes[to] = leaf->hashes[from];
        leaf->hashes[from] = 0;
      }
      right->next = leaf->next;
      leaf->next = fresh;
      Leaf* const target = key < least ? leaf : right;
      InsertInside(target, Find(*target, 0), key, value, hash);
    });
    index_.emplace(least, right);
    splits_++;
  }

  PMEMobjpool* pool_ = nullptr;
  Root* root_ = nullptr;
  std::map<std::string, Leaf*, std::less<>> index_;
  uint64_t splits_ = 0;
};

}  // namespace

std::unique_ptr<Store> OpenPmdk(const StoreRequest& request) {
  if (request.kind == "pmdk-naive-copy") return std::make_unique<PmdkStore<NaiveCopy>>(request);
  if (request.kind == "pmdk-copy-or-swap") return std::make_unique<PmdkStore<CopyOrSwap>>(request);
  if (request.kind == "pmdk-zero-copy") return std::make_unique<PmdkStore<ZeroCopy>>(request);
  Fail("no store called " + request.kind);
}

}  // namespace ashlar::bench

#include "table/block/data_block.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/assert.h"
#include "base/coding.h"
#include "base/kept_by_thread.h"
#include "key/key_head.h"
#include "platform/cpu.h"
#include "table/block/block_builder.h"
#include "table/block/block_format.h"

namespace ashlar {

namespace {

constexpr size_t kPrefixBytesMax = 0xffff;
// Heads are wide if more than one in this many neighbouring heads differ only in the second half.
constexpr size_t kFewOf = 16;
constexpr ptrdiff_t kNarrowBytesMax = ptrdiff_t{1} << 16;
// Aligned to cache lines, because Prefetch counts lines from the start of the block.
constexpr std::align_val_t kAlignment{kCacheLineBytes};
// The bytes that the two allocations of a block need in addition to its own: the block's trailer
// and the allocator's headers.
constexpr size_t kAllocationBytes = 48;
// Longer runs of equal heads are searched by bisection.
constexpr uint32_t kLinearRunMax = 8;

// The results of the checking pass. Each thread keeps one, so loading a block allocates only
// memory that the block keeps.
struct Scan {
  std::vector<uint32_t> offsets;
  std::vector<uint64_t> heads;
  std::vector<uint32_t> restarts;   // custom orders only
  uint32_t equal_narrow_heads = 0;  // neighbours whose heads differ only in the second half
  std::vector<KeyAnchor> anchors;
  std::string key;

  void Clear() {
    // The thread keeps no memory of a huge block.
    if (offsets.capacity() > kKeptMax || key.capacity() > kKeptMax) *this = Scan();
    offsets.clear();
    heads.clear();
    restarts.clear();
    equal_narrow_heads = 0;
    anchors.clear();
  }

 private:
  static constexpr size_t kKeptMax = size_t{1} << 16;
};

// I5.
uint64_t SharedBytesMax(const BlockLayout& layout) {
  const auto bytes = static_cast<uint64_t>(layout.entries_end - layout.entries);
  return std::max(kBlockSharedBytesMax, kBlockSharedExpansionMax * bytes);
}

Status ExpansionError() {
  return Status::Corruption("block keys that expand to far more than the block");
}

// Checks I5 of a block that is iterated over without a scan. Leaves damage to that iteration.
Status CheckSharedBytes(const BlockLayout& layout) {
  // A block of n bytes has at most n * n / 16 shared bytes. That takes a key of n / 2 bytes, and
  // entries that share it, of at least 4 bytes each, in the other half.
  constexpr uint64_t kSafeBytes = uint64_t{1} << 17;
  static_assert(kSafeBytes * kSafeBytes / 16 <= kBlockSharedBytesMax);
  if (static_cast<uint64_t>(layout.entries_end - layout.entries) <= kSafeBytes) return Status::OK();
  uint64_t shared_bytes = 0;
  size_t key_bytes = 0;
  for (const char* p = layout.entries; p < layout.entries_end;) {
    BlockEntry entry;
    if (!DecodeEntry(p, layout.entries_end, key_bytes, 0, &entry)) return Status::OK();
    key_bytes = entry.key_bytes();
    shared_bytes += entry.shared;
    p = entry.end();
  }
  return shared_bytes > SharedBytesMax(layout) ? ExpansionError() : Status::OK();
}

// Reads the last internal key of the block, starting at the last restart.
Status ReadLastKey(const BlockLayout& layout, std::string* key) {
  const auto bytes = static_cast<size_t>(layout.entries_end - layout.entries);
  const size_t from = layout.restarts == 0 ? 0 : layout.Restart(layout.restarts - 1);
  if (from >= bytes) return Status::Corruption("block restart outside the entries");
  const char* p = layout.entries + from;
  key->clear();
  while (p < layout.entries_end) {
    BlockEntry entry;
    if (!DecodeEntry(p, layout.entries_end, key->size(), 0, &entry)) return DamagedEntryError();
    key->resize(entry.shared);
    key->append(entry.suffix, entry.unshared);
    p = entry.end();
  }
  return Status::OK();
}

struct CommonPrefix {
  const char* bytes = nullptr;
  size_t n = 0;
};

// In a sorted block all user keys share the common prefix of the first and the last key. The scan
// verifies this.
Status FindCommonPrefix(const BlockLayout& layout, const KeyComparator& comparator,
                        std::string* scratch, CommonPrefix* prefix) {
  BlockEntry first;
  if (!DecodeEntry(layout.entries, layout.entries_end, 0, kTagBytes, &first))
    return Status::Corruption("damaged first entry of a block");
  prefix->bytes = first.suffix;
  if (!comparator.HasHeads()) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(ReadLastKey(layout, scratch));
  if (scratch->size() < kTagBytes) return Status::Corruption("block key too short");
  prefix->n = std::min(
      CommonKeyPrefixBytes(Slice(first.suffix, first.user_bytes()), ExtractUserKey(*scratch)),
      kPrefixBytesMax);
  return Status::OK();
}

Status ScanEntries(const BlockLayout& layout, const KeyComparator& comparator, Scan* scan,
                   CommonPrefix* prefix) {
  if (layout.entries == layout.entries_end) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(FindCommonPrefix(layout, comparator, &scan->key, prefix));
  KeyBuffer buffer;
  size_t key_bytes = 0;
  uint64_t previous_head = 0;
  uint32_t run_begin = 0;  // the last entry that stores its whole key
  uint64_t shared_bytes = 0;
  const uint64_t shared_bytes_max = SharedBytesMax(layout);
  for (const char* p = layout.entries; p < layout.entries_end;) {
    BlockEntry entry;
    if (!DecodeEntry(p, layout.entries_end, key_bytes, 0, &entry)) return DamagedEntryError();
    key_bytes = entry.key_bytes();
    if (key_bytes < kTagBytes + prefix->n) return Status::Corruption("block key too short");
    shared_bytes += entry.shared;
    if (shared_bytes > shared_bytes_max) return ExpansionError();
    char* const key = buffer.Reserve(key_bytes, entry.shared);
    memcpy(key + entry.shared, entry.suffix, entry.unshared);
    // The shared bytes are from a key that has the prefix.
    if (entry.shared < prefix->n &&
        memcmp(entry.suffix, prefix->bytes + entry.shared, prefix->n - entry.shared) != 0)
      return Status::Corruption("block keys out of order");
    const uint64_t head = comparator.Head(Slice(key, key_bytes - kTagBytes), prefix->n);
    if (head < previous_head) return Status::Corruption("block keys out of order");
    if (head != previous_head && head >> 32 == previous_head >> 32 && !scan->heads.empty())
      ++scan->equal_narrow_heads;
    previous_head = head;
    const auto i = static_cast<uint32_t>(scan->offsets.size());
    if (entry.shared == 0) run_begin = i;
    if (i - run_begin > DataBlock::kRunMax && i % DataBlock::kAnchorDistance == 0) [[unlikely]] {
      scan->anchors.push_back({.entry = i, .key = std::string(key, key_bytes)});
    }
    if (!comparator.HasHeads()) scan->restarts.push_back(run_begin);
    scan->offsets.push_back(static_cast<uint32_t>(p - layout.entries));
    scan->heads.push_back(head);
    p = entry.end();
  }
  return Status::OK();
}

// Returns the index of the first of n > 0 ascending heads that is >= `head`, or n if none is.
template <typename Head>
uint32_t LowerBoundIn(const Head* heads, uint32_t n, Head head) {
  const Head* base = heads;
  while (n > 1) {
    const uint32_t half = n / 2;
    // Branch-free, because a branch would be mispredicted half of the time.
    base += half & (uint32_t{0} - static_cast<uint32_t>(base[half - 1] < head));
    n -= half;
  }
  return static_cast<uint32_t>(base - heads) + (*base < head ? 1 : 0);
}

}  // namespace

void KeyBuffer::Grow(size_t n, size_t keep) {
  ASHLAR_DCHECK(keep <= n && keep <= capacity_);  // Requires
  const size_t capacity = std::max(2 * capacity_, n + n / 2 + kSlackBytes);
  auto larger = std::make_unique_for_overwrite<char[]>(capacity);
  memcpy(larger.get(), data_, keep);
  heap_ = std::move(larger);
  data_ = heap_.get();
  capacity_ = capacity;
}

Result<DataBlock*> DataBlock::Create(Args args) {
  BlockLayout layout;
  ASHLAR_RETURN_IF_ERROR(ParseBlockLayout(args.contents, &layout));
  const KeptByThread<Scan> kept;
  Scan& scan = *kept;
  scan.Clear();
  CommonPrefix prefix;
  if (args.side_index) {
    Status scanned = ScanEntries(layout, args.comparator, &scan, &prefix);
    if (!scanned.ok()) {
      scan.Clear();
      return scanned;
    }
  } else if (args.is_walked) {
    ASHLAR_RETURN_IF_ERROR(CheckSharedBytes(layout));
  }

  const size_t entries = scan.offsets.size();
  ASHLAR_DCHECK(scan.heads.size() == entries);                              // I1
  ASHLAR_DCHECK(scan.restarts.empty() || scan.restarts.size() == entries);  // I2
  const Shape shape{.entries = static_cast<uint32_t>(entries),
                    .prefix_bytes = static_cast<uint16_t>(prefix.n),
                    .wide_heads = scan.equal_narrow_heads > entries / kFewOf,
                    .wide_numbers = layout.entries_end - layout.entries > kNarrowBytesMax};
  const size_t object_bytes = sizeof(DataBlock) + shape.SideIndexBytes(!scan.restarts.empty());
  size_t charge = object_bytes + args.owned.capacity() + kAllocationBytes;
  std::unique_ptr<const Anchors> anchors;
  if (!scan.anchors.empty()) [[unlikely]] {
    for (const KeyAnchor& anchor : scan.anchors) charge += sizeof(anchor) + anchor.key.capacity();
    anchors = std::make_unique<const Anchors>(std::move(scan.anchors));
  }
  // A block that is searched once and dropped needs no alignment.
  void* const memory =
      args.side_index ? ::operator new(object_bytes, kAlignment) : ::operator new(object_bytes);
  auto* const block = new (memory) DataBlock(&args, layout, shape, std::move(anchors), charge);
  if (entries > 0) {
    memcpy(block->prefix(), prefix.bytes, prefix.n);
    block->PutHeads(scan.heads);
    block->PutNumbers(0, scan.offsets);
    block->PutNumbers(entries, scan.restarts);
  }
  scan.Clear();
  if constexpr (kDebugChecks) block->CheckInvariants(args.comparator);
  return block;
}

DataBlock::DataBlock(Args* args, const BlockLayout& layout, const Shape& shape,
                     std::unique_ptr<const Anchors> anchors, size_t charge)
    : CacheEntry(args->side_index ? &DataBlock::DestroyIndexed : &DataBlock::DestroyPlain, charge),
      begin_(layout.entries),
      shape_(shape),
      entries_bytes_(static_cast<uint32_t>(layout.entries_end - layout.entries)),
      contents_bytes_(static_cast<uint32_t>(args->contents.size())),
      owned_(std::move(args->owned)),
      has_side_index_(args->side_index),
      live_count_(args->live_count),
      anchors_(std::move(anchors)) {
  if (live_count_ != nullptr) live_count_->fetch_add(1, std::memory_order_relaxed);
}

void DataBlock::PutHeads(const std::vector<uint64_t>& heads) {
  if (shape_.wide_heads) {
    memcpy(this->heads(), heads.data(), heads.size() * sizeof(uint64_t));
    return;
  }
  auto* const narrow = reinterpret_cast<uint32_t*>(this->heads());
  for (size_t i = 0; i < heads.size(); ++i) narrow[i] = static_cast<uint32_t>(heads[i] >> 32);
}

void DataBlock::PutNumbers(size_t from, const std::vector<uint32_t>& numbers) {
  if (shape_.wide_numbers) {
    std::copy(numbers.begin(), numbers.end(), reinterpret_cast<uint32_t*>(this->numbers()) + from);
    return;
  }
  auto* const narrow = reinterpret_cast<uint16_t*>(this->numbers()) + from;
  for (size_t i = 0; i < numbers.size(); ++i) narrow[i] = static_cast<uint16_t>(numbers[i]);
}

DataBlock::~DataBlock() {
  if (live_count_ != nullptr) live_count_->fetch_sub(1, std::memory_order_release);
}

// Two functions with one deallocation each, because clang 19 compiles a single function that
// chooses between them to code that frees in both ways.
void DataBlock::DestroyIndexed(CacheEntry* entry) {
  auto* const block = static_cast<DataBlock*>(entry);
  block->~DataBlock();
  ::operator delete(block, kAlignment);
}

void DataBlock::DestroyPlain(CacheEntry* entry) {
  auto* const block = static_cast<DataBlock*>(entry);
  block->~DataBlock();
  ::operator delete(block);
}

BlockEntry DataBlock::View(uint32_t i) const {
  ASHLAR_DCHECK(i < shape_.entries);  // Requires
  BlockEntry view;
  static_cast<void>(DecodeStoredEntry(entry(i), entries_end(), &view));  // I1: it fits
  return view;
}

void DataBlock::CheckInvariants(const KeyComparator& comparator) const {
  static_assert(kPrefixBytesMax <= UINT16_MAX);                 // Shape::prefix_bytes
  static_assert(kBlockBytesMax <= UINT32_MAX);                  // offsets
  static_assert(kNarrowBytesMax - 1 <= ptrdiff_t{UINT16_MAX});  // narrow offsets
  // The layout: I1, and I3 where no entry was checked.
  ASHLAR_ASSERT(entries_bytes_ <= contents_bytes_);
  ASHLAR_ASSERT(has_side_index_ || shape_.entries == 0);                                     // I3
  ASHLAR_ASSERT(comparator.HasHeads() || (shape_.prefix_bytes == 0 && !shape_.wide_heads));  // I2
  size_t previous_bytes = 0;
  for (uint32_t i = 0; i < shape_.entries; ++i) {
    BlockEntry view;
    const bool is_sound = DecodeEntry(entry(i), entries_end(), previous_bytes,
                                      kTagBytes + shape_.prefix_bytes, &view);
    ASHLAR_ASSERT(is_sound);                                                               // I1
    ASHLAR_ASSERT(view.end() == (i + 1 < shape_.entries ? entry(i + 1) : entries_end()));  // I1
    ASHLAR_ASSERT(i == 0 || head(i - 1) <= head(i));                                       // I1
    if (!comparator.HasHeads())
      ASHLAR_ASSERT(head(i) == 0 && restart(i) <= i && View(restart(i)).shared == 0);  // I2
    previous_bytes = view.key_bytes();
  }
  if (anchors_ == nullptr) return;
  KeyBuffer buffer;
  KeyWalk walk(*this, 0, &buffer);
  uint32_t walked = 0;
  for (const KeyAnchor& anchor : *anchors_) {
    ASHLAR_ASSERT(walked <= anchor.entry && anchor.entry < shape_.entries);  // I4: ascending
    for (; walked < anchor.entry; ++walked) static_cast<void>(walk.Next());
    const Slice key = walk.Next();
    ++walked;
    ASHLAR_ASSERT(key == Slice(anchor.key));  // I4
  }
}

const KeyAnchor* DataBlock::AnchorBefore(uint32_t end) const {
  if (anchors_ == nullptr) return nullptr;
  const auto after =
      std::partition_point(anchors_->begin(), anchors_->end(),
                           [end](const KeyAnchor& anchor) { return anchor.entry < end; });
  return after == anchors_->begin() ? nullptr : &*(after - 1);
}

Slice DataBlock::Key(const KeyComparator& comparator, uint32_t i, KeyBuffer* buffer) const {
  if (!comparator.HasHeads()) {
    uint32_t j = restart(i);
    if (i - j > kRunMax) [[unlikely]] {
      const KeyAnchor* const anchor = AnchorBefore(i);
      if (anchor != nullptr && anchor->entry > j) {
        const size_t bytes = anchor->key.size();
        memcpy(buffer->Reserve(bytes, 0), anchor->key.data(), bytes);
        j = anchor->entry + 1;
      }
    }
    KeyWalk walk(*this, j, buffer);
    for (; j < i; ++j) static_cast<void>(walk.Next());
    return walk.Next();
  }
  const BlockEntry view = View(i);
  char* const key = buffer->Reserve(view.key_bytes(), 0);
  return CompleteKey(i, view, PutKnownBytes(comparator, i, view, key), key);
}

size_t DataBlock::PutKnownBytes(const KeyComparator& comparator, uint32_t i, const BlockEntry& view,
                                char* key) const {
  static_assert(sizeof(uint64_t) <= kTagBytes);  // the whole head fits: a key has a tag at least
  memcpy(key, prefix(), shape_.prefix_bytes);
  const uint64_t padded = shape_.wide_heads ? head(i) : head(i) << 32;
  StoreBigEndian64(key + shape_.prefix_bytes,
                   comparator.kind() == KeyComparator::Kind::kBytewise ? padded : ~padded);
  return std::min<size_t>(view.user_bytes(), shape_.prefix_bytes + shape_.HeadBytes());
}

Slice DataBlock::CompleteKey(uint32_t i, const BlockEntry& view, size_t known, char* key) const {
  if (view.unshared > 0) memcpy(key + view.shared, view.suffix, view.unshared);
  // Byte b < shared is stored in the nearest earlier entry with shared <= b.
  size_t missing = view.shared;
  const KeyAnchor* anchor = nullptr;
  for (uint32_t j = i; missing > known;) {
    ASHLAR_DCHECK(j > 0);  // I1: the first entry shares nothing
    if (i - j >= kRunMax) [[unlikely]] {
      if (i - j == kRunMax) anchor = AnchorBefore(j);
      if (anchor != nullptr && anchor->entry == j - 1) {
        ASHLAR_DCHECK(anchor->key.size() >= missing);  // the entries after it share that many
        memcpy(key + known, anchor->key.data() + known, missing - known);
        break;
      }
    }
    const BlockEntry before = View(--j);
    if (before.shared >= missing) continue;
    const size_t from = std::max<size_t>(before.shared, known);
    memcpy(key + from, before.suffix + (from - before.shared), missing - from);
    missing = from;
  }
  return Slice(key, view.key_bytes());
}

int DataBlock::ComparePrefix(const KeyComparator& comparator, const Slice& user_key) const {
  if (shape_.prefix_bytes == 0) return 0;
  const size_t n = std::min<size_t>(user_key.size(), shape_.prefix_bytes);
  int r = n == 0 ? 0 : memcmp(user_key.data(), prefix(), n);
  if (r == 0 && n < shape_.prefix_bytes) r = -1;
  return comparator.kind() == KeyComparator::Kind::kBytewise ? r : -r;
}

uint32_t DataBlock::LowerBoundOfHead(uint64_t head) const {
  return shape_.wide_heads
             ? LowerBoundIn(wide_heads(), shape_.entries, head)
             : LowerBoundIn(narrow_heads(), shape_.entries, static_cast<uint32_t>(head));
}

uint32_t DataBlock::UpperBoundOfHead(uint64_t head) const {
  const uint64_t largest = shape_.wide_heads ? ~uint64_t{0} : uint64_t{0xffffffff};
  return head == largest ? shape_.entries : LowerBoundOfHead(head + 1);
}

int DataBlock::CompareTail(const KeyComparator& comparator, uint32_t i, const BlockEntry& view,
                           const Slice& user_key) const {
  const size_t user_bytes = view.user_bytes();
  if (!comparator.HasHeads()) {
    KeyBuffer buffer;
    return comparator.Compare(ExtractUserKey(Key(comparator, i, &buffer)), user_key);
  }
  int r;
  const size_t compared = shape_.prefix_bytes + shape_.HeadBytes();
  if (user_bytes <= compared || user_key.size() <= compared) {
    // Heads are padded with zeros, so if they agree, the shorter key is a prefix of the longer one.
    r = user_bytes < user_key.size() ? -1 : (user_bytes > user_key.size() ? 1 : 0);
  } else {
    const Slice wanted(user_key.data() + compared, user_key.size() - compared);
    if (view.shared <= compared) [[likely]] {
      r = Slice(view.suffix + (compared - view.shared), user_bytes - compared).compare(wanted);
    } else {
      KeyBuffer buffer;
      const Slice key = ExtractUserKey(Key(comparator, i, &buffer));
      r = Slice(key.data() + compared, key.size() - compared).compare(wanted);
    }
  }
  return comparator.kind() == KeyComparator::Kind::kBytewise ? r : -r;
}

uint64_t DataBlock::Tag(const KeyComparator& comparator, uint32_t i, const BlockEntry& view) const {
  if (view.unshared >= kTagBytes) [[likely]] {
    return DecodeFixed64(view.suffix + view.unshared - kTagBytes);
  }
  KeyBuffer buffer;
  return ExtractTag(Key(comparator, i, &buffer));
}

int DataBlock::CompareEntry(const KeyComparator& comparator, uint32_t i, const Slice& user_key,
                            uint64_t tag) const {
  const BlockEntry view = View(i);
  const int r = CompareTail(comparator, i, view, user_key);
  if (r != 0) return r;
  return CompareTags(Tag(comparator, i, view), tag);
}

uint32_t DataBlock::LowerBoundOfKey(const KeyComparator& comparator, const Slice& user_key,
                                    uint64_t tag) const {
  KeyBuffer buffer;
  uint32_t low = 0;
  uint32_t high = shape_.entries;
  while (low < high) {
    const uint32_t middle = restart(low + (high - low) / 2);
    if (middle < low) break;  // no restart between low and the middle
    const BlockEntry view = View(middle);
    if (comparator.CompareInternal(Slice(view.suffix, view.unshared), user_key, tag) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == high) return low;
  ASHLAR_DCHECK(low < high && high <= shape_.entries);  // the halving keeps low <= high
  uint32_t i = restart(low);
  KeyWalk walk(*this, i, &buffer);
  for (; i < low; ++i) static_cast<void>(walk.Next());
  while (i < high && comparator.CompareInternal(walk.Next(), user_key, tag) < 0) ++i;
  return i;
}

uint32_t DataBlock::LowerBound(const KeyComparator& comparator, const Slice& user_key,
                               uint64_t tag) const {
  if (shape_.entries == 0) return 0;
  if (!comparator.HasHeads()) return LowerBoundOfKey(comparator, user_key, tag);
  const int r = ComparePrefix(comparator, user_key);
  if (r != 0) return r < 0 ? 0 : shape_.entries;
  const uint64_t wanted = HeadOf(comparator, user_key);
  uint32_t low = LowerBoundOfHead(wanted);
  // Whole keys decide among equal heads.
  uint32_t high = low;
  while (high < shape_.entries && high - low < kLinearRunMax && head(high) == wanted) ++high;
  if (high - low == kLinearRunMax) high = UpperBoundOfHead(wanted);
  ASHLAR_DCHECK(high <= shape_.entries);  // both searches end at entries()
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (CompareEntry(comparator, middle, user_key, tag) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool DataBlock::FindCandidates(const KeyComparator& comparator, const Slice& user_key, uint64_t tag,
                               uint64_t* head, uint32_t* first) const {
  if (shape_.entries == 0 || user_key.size() < shape_.prefix_bytes) return false;
  if (shape_.prefix_bytes != 0 && memcmp(user_key.data(), prefix(), shape_.prefix_bytes) != 0)
    return false;
  *head = HeadOf(comparator, user_key);
  if (!comparator.HasHeads()) {
    *first = LowerBoundOfKey(comparator, user_key, tag);
    return true;
  }
  const uint32_t low = LowerBoundOfHead(*head);
  *first = low;
  if (low == shape_.entries || this->head(low) != *head) return false;
  if (shape_.entries - low > kLinearRunMax && this->head(low + kLinearRunMax) == *head) {
    *first = LowerBound(comparator, user_key, tag);
  }
  return true;
}

}  // namespace ashlar

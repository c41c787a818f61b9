#include "table/block/data_block.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/coding.h"
#include "table/block/block_builder.h"

namespace ashlar {

namespace {

constexpr size_t kPrefixBytesMax = 0xffff;
// Heads are widened when that tells apart more than one neighbour in so many.
constexpr size_t kFewOf = 16;
constexpr ptrdiff_t kNarrowBytesMax = ptrdiff_t{1} << 16;
// Whole cache lines, so that a lookup's prefetch covers what it looks like.
constexpr std::align_val_t kAlignment{64};
// What the two allocations of a block cost beside its bytes: the trailer that is read with it, the
// allocator's own.
constexpr size_t kAllocationBytes = 48;
// Runs of equal heads longer than this are searched by halves.
constexpr uint32_t kLinearRunMax = 8;

// What the checking pass finds out. Kept per thread, so that loading a block allocates only what it
// keeps.
struct Scan {
  std::vector<uint32_t> offsets;
  std::vector<uint64_t> heads;
  std::vector<uint32_t> restarts;  // custom orders only
  uint32_t told_apart_late = 0;    // neighbours whose heads agree in the first half only
  std::string key;
};

// The last internal key of the block, read from the last restart on.
Status ReadLastKey(const BlockLayout& layout, std::string* key) {
  const auto bytes = static_cast<size_t>(layout.entries_end - layout.entries);
  const size_t from = layout.restarts == 0 ? 0 : layout.Restart(layout.restarts - 1);
  if (from >= bytes) return Status::Corruption("block restart outside the entries");
  const char* p = layout.entries + from;
  key->clear();
  while (p < layout.entries_end) {
    EntryHeader header;
    const char* const suffix = DecodeEntryHeader(p, layout.entries_end, &header);
    if (suffix == nullptr || header.shared > key->size())
      return Status::Corruption("damaged block entry");
    key->resize(header.shared);
    key->append(suffix, header.unshared);
    p = suffix + header.unshared + header.value_bytes;
  }
  return Status::OK();
}

struct CommonPrefix {
  const char* bytes = nullptr;
  size_t n = 0;
};

// In a sorted block, what the first and the last user key share, all share. (The scan checks that.)
Status FindCommonPrefix(const BlockLayout& layout, const KeyComparator& comparator,
                        std::string* scratch, CommonPrefix* prefix) {
  EntryHeader header;
  const char* const first = DecodeEntryHeader(layout.entries, layout.entries_end, &header);
  if (first == nullptr || header.shared != 0 || header.unshared < kTagBytes)
    return Status::Corruption("damaged first entry of a block");
  prefix->bytes = first;
  if (!comparator.HasHeads()) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(ReadLastKey(layout, scratch));
  if (scratch->size() < kTagBytes) return Status::Corruption("block key too short");
  prefix->n = std::min(
      CommonPrefixBytes(Slice(first, header.unshared - kTagBytes), ExtractUserKey(*scratch)),
      kPrefixBytesMax);
  return Status::OK();
}

Status ScanEntries(const BlockLayout& layout, const KeyComparator& comparator, Scan* scan,
                   CommonPrefix* prefix) {
  scan->offsets.clear();
  scan->heads.clear();
  scan->restarts.clear();
  scan->told_apart_late = 0;
  if (layout.entries == layout.entries_end) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(FindCommonPrefix(layout, comparator, &scan->key, prefix));
  KeyBuffer buffer;
  size_t key_bytes = 0;
  uint64_t previous_head = 0;
  for (const char* p = layout.entries; p < layout.entries_end;) {
    EntryHeader header;
    const char* const suffix = DecodeEntryHeader(p, layout.entries_end, &header);
    if (suffix == nullptr || header.shared > key_bytes)
      return Status::Corruption("damaged block entry");
    key_bytes = size_t{header.shared} + header.unshared;
    if (key_bytes < kTagBytes + prefix->n) return Status::Corruption("block key too short");
    char* const key = buffer.Reserve(key_bytes, header.shared);
    memcpy(key + header.shared, suffix, header.unshared);
    if (header.shared < prefix->n && memcmp(key, prefix->bytes, prefix->n) != 0)
      return Status::Corruption("block keys out of order");
    const uint64_t head = comparator.Head(Slice(key, key_bytes - kTagBytes), prefix->n);
    if (head < previous_head) return Status::Corruption("block keys out of order");
    if (head != previous_head && head >> 32 == previous_head >> 32 && !scan->heads.empty())
      ++scan->told_apart_late;
    previous_head = head;
    if (!comparator.HasHeads())
      scan->restarts.push_back(header.shared == 0 ? static_cast<uint32_t>(scan->offsets.size())
                                                  : scan->restarts.back());
    scan->offsets.push_back(static_cast<uint32_t>(p - layout.entries));
    scan->heads.push_back(head);
    p = suffix + header.unshared + header.value_bytes;
  }
  return Status::OK();
}

// The first of n > 0 ascending heads that is not before `head`; n when there is none.
template <typename Head>
uint32_t LowerBoundIn(const Head* heads, uint32_t n, Head head) {
  const Head* base = heads;
  while (n > 1) {
    const uint32_t half = n / 2;
    // No branch: it would be a toss.
    base += half & (uint32_t{0} - static_cast<uint32_t>(base[half - 1] < head));
    n -= half;
  }
  return static_cast<uint32_t>(base - heads) + (*base < head ? 1 : 0);
}

}  // namespace

void KeyBuffer::Grow(size_t n, size_t keep) {
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
  thread_local Scan scan;
  scan.offsets.clear();
  scan.restarts.clear();
  CommonPrefix prefix;
  if (args.side_index) ASHLAR_RETURN_IF_ERROR(ScanEntries(layout, args.comparator, &scan, &prefix));

  const size_t entries = scan.offsets.size();
  const Shape shape{.entries = static_cast<uint32_t>(entries),
                    .prefix_bytes = static_cast<uint16_t>(prefix.n),
                    .wide_heads = scan.told_apart_late > entries / kFewOf,
                    .wide_numbers = layout.entries_end - layout.entries > kNarrowBytesMax};
  const size_t object_bytes = sizeof(DataBlock) + shape.SideIndexBytes(!scan.restarts.empty());
  const size_t charge = object_bytes + args.owned.capacity() + kAllocationBytes;
  // A block that is searched once and dropped need not lie well.
  void* const memory =
      args.side_index ? ::operator new(object_bytes, kAlignment) : ::operator new(object_bytes);
  auto* const block = new (memory) DataBlock(&args, layout, shape, charge);
  if (entries > 0) {
    memcpy(block->prefix(), prefix.bytes, prefix.n);
    block->PutHeads(scan.heads);
    block->PutNumbers(0, scan.offsets);
    block->PutNumbers(entries, scan.restarts);
  }
  return block;
}

DataBlock::DataBlock(Args* args, const BlockLayout& layout, const Shape& shape, size_t charge)
    : CacheEntry(args->side_index ? &DataBlock::DestroyIndexed : &DataBlock::DestroyPlain, charge),
      begin_(layout.entries),
      shape_(shape),
      entries_bytes_(static_cast<uint32_t>(layout.entries_end - layout.entries)),
      contents_bytes_(static_cast<uint32_t>(args->contents.size())),
      owned_(std::move(args->owned)),
      has_side_index_(args->side_index),
      live_count_(args->live_count) {
  if (live_count_ != nullptr) live_count_->fetch_add(1, std::memory_order_relaxed);
  static_assert(sizeof(DataBlock) % alignof(uint64_t) == 0);
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
  if (live_count_ != nullptr) live_count_->fetch_sub(1, std::memory_order_relaxed);
}

// Two functions, each with one way to free: from one that chooses, clang 19 makes code that frees
// both ways.
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

EntryView DataBlock::View(uint32_t i) const {
  EntryHeader header;
  const char* const suffix = DecodeEntryHeader(entry(i), entries_end(), &header);
  return {header.shared, header.shared + header.unshared, suffix,
          Slice(suffix + header.unshared, header.value_bytes)};
}

// Keys from a restart on, each from the one before it. Custom orders only.
class DataBlock::KeyWalk {
 public:
  // at: a restart.
  KeyWalk(const DataBlock& block, uint32_t at, KeyBuffer* buffer)
      : block_(block), next_(at), buffer_(*buffer) {}

  // The internal key of the next entry.
  Slice Next() {
    const EntryView view = block_.View(next_++);
    char* const key = buffer_.Reserve(view.key_bytes, view.shared);
    memcpy(key + view.shared, view.suffix, view.key_bytes - view.shared);
    return Slice(key, view.key_bytes);
  }

 private:
  const DataBlock& block_;
  uint32_t next_;
  KeyBuffer& buffer_;
};

Slice DataBlock::Key(const KeyComparator& comparator, uint32_t i, KeyBuffer* buffer) const {
  if (!comparator.HasHeads()) {
    uint32_t j = restart(i);
    KeyWalk walk(*this, j, buffer);
    for (; j < i; ++j) static_cast<void>(walk.Next());
    return walk.Next();
  }
  const EntryView view = View(i);
  char* const key = buffer->Reserve(view.key_bytes, 0);
  return CompleteKey(i, view, PutKnownBytes(comparator, i, view, key), key);
}

size_t DataBlock::PutKnownBytes(const KeyComparator& comparator, uint32_t i, const EntryView& view,
                                char* key) const {
  // A key has prefix_bytes and a tag at least: there is room for all of the head.
  memcpy(key, prefix(), shape_.prefix_bytes);
  const uint64_t padded = shape_.wide_heads ? head(i) : head(i) << 32;
  StoreBigEndian64(key + shape_.prefix_bytes,
                   comparator.kind() == KeyComparator::Kind::kBytewise ? padded : ~padded);
  return std::min<size_t>(view.user_bytes(), shape_.prefix_bytes + shape_.HeadBytes());
}

Slice DataBlock::CompleteKey(uint32_t i, const EntryView& view, size_t known, char* key) const {
  if (view.key_bytes > view.shared)
    memcpy(key + view.shared, view.suffix, view.key_bytes - view.shared);
  // Byte b < shared is the one that the nearest entry before with shared <= b brought along.
  size_t missing = view.shared;
  for (uint32_t j = i; missing > known;) {
    const EntryView before = View(--j);
    if (before.shared >= missing) continue;
    const size_t from = std::max<size_t>(before.shared, known);
    memcpy(key + from, before.suffix + (from - before.shared), missing - from);
    missing = from;
  }
  return Slice(key, view.key_bytes);
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

int DataBlock::CompareTail(const KeyComparator& comparator, uint32_t i, const EntryView& view,
                           const Slice& user_key) const {
  const size_t user_bytes = view.user_bytes();
  if (!comparator.HasHeads()) {
    KeyBuffer buffer;
    return comparator.Compare(ExtractUserKey(Key(comparator, i, &buffer)), user_key);
  }
  int r;
  const size_t compared = shape_.prefix_bytes + shape_.HeadBytes();
  if (user_bytes <= compared || user_key.size() <= compared) {
    // Heads pad with zeros: where they agree, the shorter key is a prefix of the longer one.
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

uint64_t DataBlock::Tag(const KeyComparator& comparator, uint32_t i, const EntryView& view) const {
  if (view.key_bytes - view.shared >= kTagBytes) [[likely]] {
    return DecodeFixed64(view.suffix + (view.key_bytes - view.shared) - kTagBytes);
  }
  KeyBuffer buffer;
  return ExtractTag(Key(comparator, i, &buffer));
}

int DataBlock::CompareEntry(const KeyComparator& comparator, uint32_t i, const Slice& user_key,
                            uint64_t tag) const {
  const EntryView view = View(i);
  const int r = CompareTail(comparator, i, view, user_key);
  if (r != 0) return r;
  const uint64_t own = Tag(comparator, i, view);
  return own > tag ? -1 : (own < tag ? 1 : 0);
}

uint32_t DataBlock::LowerBoundOfKey(const KeyComparator& comparator, const Slice& user_key,
                                    uint64_t tag) const {
  KeyBuffer buffer;
  uint32_t low = 0;
  uint32_t high = shape_.entries;
  while (low < high) {
    const uint32_t middle = restart(low + (high - low) / 2);
    if (middle < low) break;  // from low to the middle there is none
    const EntryView view = View(middle);
    if (comparator.CompareInternal(Slice(view.suffix, view.key_bytes), user_key, tag) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == high) return low;
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
  // Among equal heads whole keys decide.
  uint32_t high = low;
  while (high < shape_.entries && high - low < kLinearRunMax && head(high) == wanted) ++high;
  if (high - low == kLinearRunMax) high = UpperBoundOfHead(wanted);
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

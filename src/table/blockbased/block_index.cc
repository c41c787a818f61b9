#include "table/blockbased/block_index.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/coding.h"
#include "base/compiler.h"
#include "key/key_head.h"
#include "table/block/block_builder.h"
#include "table/block/block_entries.h"

namespace ashlar {

namespace {

// Parses the value at p. Returns the first byte after it, or null if it is damaged. The value is
// relative to `previous`, unless that is null.
const char* DecodeIndexValue(const char* p, const char* limit, const IndexCoding& coding,
                             const BlockHandle* previous, BlockHandle* handle) {
  if (previous == nullptr) {
    p = GetVarint64Ptr(p, limit, &handle->offset);
    if (p == nullptr) return nullptr;
    p = GetVarint64Ptr(p, limit, &handle->size);
  } else {
    uint64_t difference = 0;
    p = GetVarint64Ptr(p, limit, &difference);
    // Both may wrap. The caller checks the handle against the file.
    handle->offset = previous->offset + previous->size + kBlockTrailerBytes;
    handle->size = previous->size + static_cast<uint64_t>(ZigZagDecode(difference));
  }
  if (p == nullptr || !coding.first_keys) return p;
  uint32_t first_key_bytes = 0;
  p = GetVarint32Ptr(p, limit, &first_key_bytes);
  if (p == nullptr || static_cast<size_t>(limit - p) < first_key_bytes) return nullptr;
  return p + first_key_bytes;
}

// Decodes the entry at p of an index block into *key and *handle, which hold the previous entry's
// key and handle. Returns the first byte after it, or null if it is damaged. DecodeEntry would not
// do: with delta_values an entry has no value length.
const char* DecodeIndexEntry(const char* p, const char* limit, const IndexCoding& coding,
                             std::string* key, BlockHandle* handle) {
  uint32_t shared = 0;
  uint32_t unshared = 0;
  uint32_t value_bytes = 0;
  p = GetVarint32Ptr(p, limit, &shared);
  if (p != nullptr) p = GetVarint32Ptr(p, limit, &unshared);
  if (p != nullptr && !coding.delta_values) p = GetVarint32Ptr(p, limit, &value_bytes);
  if (p == nullptr || shared > key->size() || static_cast<size_t>(limit - p) < unshared)
    return nullptr;
  key->resize(shared);
  key->append(p, unshared);
  p += unshared;
  if (coding.delta_values) {
    const BlockHandle previous = *handle;
    return DecodeIndexValue(p, limit, coding, shared == 0 ? nullptr : &previous, handle);
  }
  if (static_cast<size_t>(limit - p) < value_bytes) return nullptr;
  const char* const end = p + value_bytes;
  return DecodeIndexValue(p, end, coding, nullptr, handle) == nullptr ? nullptr : end;
}

}  // namespace

Status VisitIndexBlock(const Slice& block, const IndexCoding& coding,
                       const std::function<Status(const IndexBlockEntry&)>& visit) {
  BlockLayout layout;
  ASHLAR_RETURN_IF_ERROR(ParseBlockLayout(block, &layout));
  std::string key;
  BlockHandle handle;
  for (const char* p = layout.entries; p < layout.entries_end;) {
    p = DecodeIndexEntry(p, layout.entries_end, coding, &key, &handle);
    if (p == nullptr) return Status::Corruption("damaged index entry");
    if (!coding.user_keys && key.size() < kTagBytes)
      return Status::Corruption("index key too short");
    ASHLAR_RETURN_IF_ERROR(visit({key, handle}));
  }
  return Status::OK();
}

Status BlockIndex::Add(const IndexBlockEntry& entry, bool user_key, uint64_t file_bytes) {
  const BlockHandle& handle = entry.handle;
  if (handle.size > kBlockBytesMax || handle.offset > file_bytes ||
      handle.size + kBlockTrailerBytes > file_bytes - handle.offset) {
    return Status::Corruption("index entry points outside the file");
  }
  const uint32_t n = blocks();
  ASHLAR_ASSERT(heads_.empty() && slots_.empty());  // before Seal
  if (n == UINT32_MAX) return Status::NotSupported("table with 2^32 blocks");
  if (entry.separator.size() > UINT32_MAX - separators_.size())
    return Status::NotSupported("index with more than 4 GiB of keys");
  if (n > 0) {
    // Blocks do not overlap, so together they are no larger than the file.
    if (handle.offset < offsets_.back() + sizes_.back() + kBlockTrailerBytes)
      return Status::Corruption("index entries out of order");
    const int r = user_key ? comparator_.Compare(separator(n - 1), entry.separator)
                           : comparator_.CompareInternal(separator(n - 1), entry.separator);
    if (r > 0) return Status::Corruption("index keys out of order");
  }
  ASHLAR_ASSERT(n == 0 || user_key == user_keys_);  // all separators are of one form
  user_keys_ = user_key;
  offsets_.push_back(handle.offset);
  sizes_.push_back(static_cast<uint32_t>(handle.size));
  separators_.insert(separators_.end(), entry.separator.data(),
                     entry.separator.data() + entry.separator.size());
  separator_ends_.push_back(static_cast<uint32_t>(separators_.size()));
  return Status::OK();
}

void BlockIndex::Seal(bool with_slots) {
  ASHLAR_ASSERT(heads_.empty() && slots_.empty());  // once
  if (with_slots) slots_ = ZeroedArray<BlockSlot>(sizes_.size());
  offsets_.shrink_to_fit();
  sizes_.shrink_to_fit();
  separators_.shrink_to_fit();
  separator_ends_.shrink_to_fit();
  searched_ = sizes_.empty() ? 0 : blocks() - 1;
  if (searched_ == 0 || !comparator_.HasHeads()) return;
  prefix_bytes_ = static_cast<uint32_t>(
      CommonKeyPrefixBytes(separator_user_key(0), separator_user_key(searched_ - 1)));
  heads_.reserve((searched_ + kFanout - 1) / kFanout * kFanout);
  for (uint32_t i = 0; i < searched_; ++i)
    heads_.push_back(comparator_.Head(separator_user_key(i), prefix_bytes_));
  heads_.resize((searched_ + kFanout - 1) / kFanout * kFanout, ~uint64_t{0});
  // Builds the levels of I3, from the heads up to a level of one group.
  const PagedVector<uint64_t>* below = &heads_;
  std::vector<PagedVector<uint64_t>> upwards;
  while (below->size() > kFanout) {
    PagedVector<uint64_t> level;
    const size_t groups = below->size() / kFanout;
    level.reserve((groups + kFanout - 1) / kFanout * kFanout);
    for (size_t group = 0; group < groups; ++group)
      level.push_back((*below)[group * kFanout + kFanout - 1]);
    level.resize((groups + kFanout - 1) / kFanout * kFanout, ~uint64_t{0});
    upwards.push_back(std::move(level));
    below = &upwards.back();
  }
  ASHLAR_ASSERT(below->size() == kFanout);  // I3: the first level is one group
  levels_.assign(std::make_move_iterator(upwards.rbegin()),
                 std::make_move_iterator(upwards.rend()));
}

void BlockIndex::PrefetchGroup(size_t first) const {
  constexpr size_t kHalf = kFanout / 2;
  ASHLAR_PREFETCH(&heads_[first]);
  ASHLAR_PREFETCH(&heads_[first + kHalf]);
  // The arrays of the blocks are shorter, because they are not padded.
  const size_t second = std::min<size_t>(first + kHalf, searched_);
  if (!slots_.empty()) {
    ASHLAR_PREFETCH(&slots_[first]);
    ASHLAR_PREFETCH(&slots_[second]);
  } else {
    ASHLAR_PREFETCH(&offsets_[first]);
    ASHLAR_PREFETCH(&offsets_[second]);
    ASHLAR_PREFETCH(&sizes_[first]);
  }
}

int BlockIndex::CompareSeparator(uint32_t i, const Slice& user_key, uint64_t tag) const {
  if (user_keys_) return comparator_.Compare(separator(i), user_key);
  return comparator_.CompareInternal(separator(i), user_key, tag);
}

BlockIndex::Group BlockIndex::FindGroup(const Slice& user_key) const {
  if (heads_.empty()) return {};
  if (prefix_bytes_ != 0) {
    const size_t n = std::min<size_t>(user_key.size(), prefix_bytes_);
    int r = n == 0 ? 0 : memcmp(user_key.data(), separators_.data(), n);
    if (r == 0 && n < prefix_bytes_) r = -1;
    if (r != 0)
      return {.first =
                  (r < 0) == (comparator_.kind() == KeyComparator::Kind::kBytewise) ? 0 : searched_,
              .decided = true};
  }
  const uint64_t head = comparator_.Head(user_key, prefix_bytes_);
  size_t group = 0;
  for (size_t l = 0; l < levels_.size(); ++l) {
    group = group * kFanout + CountSmallerInGroup(levels_[l].data() + group * kFanout, head);
    // Past the last group, or in the padding: every head is smaller than the key's.
    const size_t groups_below =
        (l + 1 < levels_.size() ? levels_[l + 1].size() : heads_.size()) / kFanout;
    if (group >= groups_below) return {.first = searched_, .decided = true};
  }
  ASHLAR_DCHECK(group * kFanout < heads_.size());  // I3
  PrefetchGroup(group * kFanout);
  return {.head = head, .first = static_cast<uint32_t>(group * kFanout)};
}

uint32_t BlockIndex::FindInGroup(const Group& group, const Slice& user_key, uint64_t tag) const {
  ASHLAR_DCHECK(group.first <= searched_);  // a result of FindGroup
  if (group.decided) return group.first;
  uint32_t low = 0;
  uint32_t high = searched_;
  if (!heads_.empty()) {
    low = std::min(group.first + CountSmallerInGroup(heads_.data() + group.first, group.head),
                   searched_);
    if (low == searched_ || heads_[low] != group.head) return low;
    high = low + 1;
    while (high < searched_ && high - low < 4 && heads_[high] == group.head) ++high;
    if (high < searched_ && heads_[high] == group.head) {
      high = static_cast<uint32_t>(
          std::upper_bound(heads_.begin() + high, heads_.begin() + searched_, group.head) -
          heads_.begin());
    }
  }
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (CompareSeparator(middle, user_key, tag) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

uint32_t BlockIndex::BlockAtOffset(uint64_t offset) const {
  return static_cast<uint32_t>(std::lower_bound(offsets_.begin(), offsets_.end(), offset) -
                               offsets_.begin());
}

void BlockIndex::CheckInvariants() const {
  const uint32_t n = blocks();
  // One of each per block; slots only with a cache.
  ASHLAR_ASSERT(offsets_.size() == n && separator_ends_.size() == n + size_t{1});
  ASHLAR_ASSERT(slots_.empty() || slots_.size() == n);
  for (uint32_t i = 1; i < n; ++i) {
    ASHLAR_ASSERT(offsets_[i] >= offsets_[i - 1] + sizes_[i - 1] + kBlockTrailerBytes);  // I1
    ASHLAR_ASSERT((user_keys_
                       ? comparator_.Compare(separator(i - 1), separator(i))
                       : comparator_.CompareInternal(separator(i - 1), separator(i))) <= 0);  // I1
  }
  ASHLAR_ASSERT(heads_.size() % kFanout == 0);                  // I3
  ASHLAR_ASSERT(std::is_sorted(heads_.begin(), heads_.end()));  // I3
  for (size_t l = 0; l < levels_.size(); ++l) {
    const PagedVector<uint64_t>& below = l + 1 < levels_.size() ? levels_[l + 1] : heads_;
    for (size_t i = 0; i < levels_[l].size(); ++i) {
      const size_t last = (i + 1) * kFanout - 1;
      ASHLAR_ASSERT(levels_[l][i] == (last < below.size() ? below[last] : ~uint64_t{0}));  // I3
    }
  }
}

size_t BlockIndex::MemoryBytes() const {
  size_t bytes = heads_.capacity() * sizeof(uint64_t) + offsets_.capacity() * sizeof(uint64_t) +
                 sizes_.capacity() * sizeof(uint32_t);
  for (const PagedVector<uint64_t>& level : levels_) bytes += level.capacity() * sizeof(uint64_t);
  return bytes + separators_.capacity() + separator_ends_.capacity() * sizeof(uint32_t) +
         slots_.size() * sizeof(BlockSlot);
}

}  // namespace ashlar

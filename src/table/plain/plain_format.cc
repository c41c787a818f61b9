#include "table/plain/plain_format.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "base/hash.h"

namespace ashlar {

namespace {

constexpr size_t kHandlesBytes = 40;
constexpr uint32_t kProbes = 6;
constexpr uint32_t kLineBytes = 64;
constexpr uint32_t kLineBits = kLineBytes * 8;
constexpr uint32_t kNoPlace = static_cast<uint32_t>(kPlainFileBytesMax);
constexpr uint32_t kSubIndexBit = uint32_t{1} << 31;
// The number of bits must fit into 32 bits.
constexpr uint64_t kBloomBitsMax = (uint64_t{1} << 32) - 2 * kLineBits;

void SetBit(char* bits, uint32_t bit) {
  bits[bit / 8] = static_cast<char>(static_cast<uint8_t>(bits[bit / 8]) | (1u << (bit % 8)));
}

void AddLocal(uint32_t hash, uint32_t lines, char* bits) {
  char* const line = bits + uint64_t{std::rotr(hash, 11) % lines} * kLineBytes;
  const uint32_t delta = std::rotr(hash, 17);
  for (uint32_t i = 0; i < kProbes; ++i) {
    SetBit(line, hash % kLineBits);
    hash = std::rotr(hash, 9) + delta;
  }
}

void AddAnywhere(uint32_t hash, uint32_t bits_total, char* bits) {
  const uint32_t delta = std::rotr(hash, 17);
  for (uint32_t i = 0; i < kProbes; ++i, hash += delta) SetBit(bits, hash % bits_total);
}

}  // namespace

void PutPlainFooter(std::string* out, const BlockHandle& metaindex) {
  const size_t start = out->size();
  PutBlockHandle(out, metaindex);
  PutBlockHandle(out, {});
  ASHLAR_ASSERT(out->size() - start <= kHandlesBytes);  // two handles of at most 20 bytes
  out->resize(start + kHandlesBytes, '\0');
  PutFixed64(out, kLegacyPlainTableMagic);
}

Result<BlockHandle> DecodePlainFooter(const Slice& tail, uint64_t file_bytes) {
  uint64_t magic = 0;
  if (!DecodeTableMagic(tail, &magic))
    return Status::Corruption("the file is too short to be a table");
  const bool legacy = magic == kLegacyPlainTableMagic;
  if (!legacy && magic != kPlainTableMagic)
    return Status::Corruption("bad magic number: not a PlainTable");
  const size_t footer_bytes = legacy ? kLegacyFooterBytes : kFooterBytes;
  if (tail.size() < footer_bytes || file_bytes < footer_bytes)
    return Status::Corruption("the file is too short to be a table");
  const char* const footer = tail.data() + tail.size() - footer_bytes;
  if (!legacy) {
    const uint32_t version = DecodeFixed32(footer + 1 + kHandlesBytes);
    if (version == 0 || version > 5)
      return Status::NotSupported(
          StrCat("footer: PlainTable of version ", version, " (or the footer is damaged)"));
  }
  Slice handles(footer + (legacy ? 0 : 1), kHandlesBytes);
  BlockHandle metaindex;
  if (!GetBlockHandle(&handles, &metaindex)) return Status::Corruption("footer: bad block handle");
  const uint64_t limit = file_bytes - footer_bytes;
  if (metaindex.offset > limit || metaindex.size > limit - metaindex.offset) {
    return Status::Corruption("footer: the metaindex handle points outside the file");
  }
  return metaindex;
}

uint32_t PlainTableHash(const Slice& bytes) {
  return LegacyHash32(bytes.data(), bytes.size(), kPlainTableHashSeed);
}

PlainBloomBlock BuildPlainBloom(const std::vector<uint32_t>& hashes, uint32_t bits_per_key,
                                bool local) {
  const auto bits =
      static_cast<uint32_t>(std::min(uint64_t{hashes.size()} * bits_per_key, kBloomBitsMax));
  ASHLAR_ASSERT(bits > 0);  // Requires
  PlainBloomBlock block;
  if (local) {
    // Odd, so that the line depends on every bit of the hash.
    block.lines = ((bits + kLineBits - 1) / kLineBits) | 1;
    block.bytes.resize(size_t{block.lines} * kLineBytes);
    for (const uint32_t hash : hashes) AddLocal(hash, block.lines, block.bytes.data());
  } else {
    block.bytes.resize((bits + 7) / 8);
    for (const uint32_t hash : hashes)
      AddAnywhere(hash, static_cast<uint32_t>(block.bytes.size() * 8), block.bytes.data());
  }
  return block;
}

uint64_t PlainBloomBytesMax(uint64_t hashes, uint32_t bits_per_key) {
  // The number of lines is rounded up, and made odd.
  return std::min(hashes * bits_per_key, kBloomBitsMax) / 8 + 2 * kLineBytes;
}

void PlainIndexBlockBuilder::Add(bool new_prefix, uint32_t prefix_hash, uint32_t offset) {
  if (new_prefix) {
    ++prefixes_;
    since_place_ = 0;
  }
  ASHLAR_DCHECK(places_.empty() || places_.back().offset < offset);  // in the order of the file
  if (since_place_ == 0) places_.push_back({prefix_hash, offset});
  if (++since_place_ == sparseness_) since_place_ = 0;
}

uint32_t PlainIndexBlockBuilder::Buckets(uint32_t prefixes) const {
  if (hash_table_ratio_ <= 0) return 1;
  return static_cast<uint32_t>(std::min(prefixes / hash_table_ratio_, double{kNoPlace})) + 1;
}

uint64_t PlainIndexBlockBuilder::BytesMax(uint32_t more_entries) const {
  // The number of a sub-index's places takes at most half a byte for each place.
  const uint64_t places = places_.size() + more_entries;
  return 2 * kVarint32BytesMax + places * (sizeof(uint32_t) + 1) +
         uint64_t{Buckets(prefixes_ + more_entries)} * sizeof(uint32_t);
}

std::string PlainIndexBlockBuilder::Finish() const {
  const uint32_t buckets = Buckets(prefixes_);
  std::vector<uint32_t> places_of_bucket(buckets, 0);
  for (const Place& place : places_) ++places_of_bucket[place.hash % buckets];

  std::string out;
  PutVarint32(&out, buckets);
  PutVarint32(&out, prefixes_);
  const size_t first_bucket = out.size();
  const size_t first_sub_index = first_bucket + size_t{buckets} * sizeof(uint32_t);
  out.resize(first_sub_index);
  // The position in `out` of each bucket's next place.
  std::vector<size_t> next(buckets);
  for (uint32_t i = 0; i < buckets; ++i) {
    next[i] = first_bucket + size_t{i} * sizeof(uint32_t);
    if (places_of_bucket[i] == 0) EncodeFixed32(&out[next[i]], kNoPlace);
    if (places_of_bucket[i] <= 1) continue;
    EncodeFixed32(&out[next[i]],
                  static_cast<uint32_t>(out.size() - first_sub_index) | kSubIndexBit);
    PutVarint32(&out, places_of_bucket[i]);
    next[i] = out.size();
    out.resize(out.size() + size_t{places_of_bucket[i]} * sizeof(uint32_t));
  }
  for (const Place& place : places_) {
    size_t& at = next[place.hash % buckets];
    EncodeFixed32(&out[at], place.offset);
    at += sizeof(uint32_t);
  }
  return out;
}

}  // namespace ashlar

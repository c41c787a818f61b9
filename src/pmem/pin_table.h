// PinTable: the records that pinned slices and iterators refer to. It is volatile and has one word
// for each hash of a record's address.
//
//   63 .. 28   sum of addresses / 16     27 .. 0   pins
//
// A word with one pin identifies its record. With two pins, a record counts as pinned only if the
// rest can be the pin of a record of the same hash, which is rarely so for a record without a pin.
// A word with more pins counts for every record of its hash and delays the reuse of unpinned ones.
// Without the sum one pin did that, and 10,000 pinned values blocked the reuse of half a pool.
//
// A reader pins inside the epoch guard in which it found the record. IsPinned is called after that
// epoch is over, so it sees every pin that will ever be taken. The release at the end of the guard
// pairs with the acquire of the reclaimer's scan.
//
// I1: a word is the sum of its pins. Requires: fewer than 2^28 pins.
// I2: IsPinned is true for every pinned record. If the word of the record has another pin, that pin
//     belongs to a record of the pool that has the same hash.
//
// A table has a word for each 256 bytes of its pool, but at most 65,536, because an open maps it
// and the end of a tree reads it. A larger table was rejected: each Get would miss the cache.
//
// A count in the record was rejected, because readers would write to the pool. An exact table (a
// hash map with locks) was rejected, because each Get would pay for it.
//
// Thread safety: any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include "base/assert.h"
#include "platform/memory.h"
#include "pmem/layout.h"

namespace ashlar::pmem {

class PinTable {
 public:
  using Word = std::atomic<uint64_t>;

  // `pool`: the address at which the pool is mapped.
  PinTable(const char* pool, uint64_t pool_bytes)
      : pool_(reinterpret_cast<uintptr_t>(pool)),
        pool_units_(pool_bytes / kUnitBytes),
        word_bits_(WordBitsOf(pool_bytes)),
        // Zeros, and no memory until it is used, so that a pool opens in microseconds.
        words_(static_cast<Word*>(MapPages(VolatileBytes()))) {
    if (words_ == nullptr) throw std::bad_alloc();
  }
  ~PinTable() { UnmapPages(words_, VolatileBytes()); }
  PinTable(const PinTable&) = delete;
  PinTable& operator=(const PinTable&) = delete;

  // Takes a pin; give it back with Unpin.
  Word* Pin(PoolOffset record) {
    const uint64_t units = UnitsOf(pool_ + record);
    Word* const word = &words_[Hash(units)];
    word->fetch_add(PinOf(units), std::memory_order_relaxed);
    return word;
  }
  void Unpin(PoolOffset record) {
    const uint64_t units = UnitsOf(pool_ + record);
    Subtract(&words_[Hash(units)], units);
  }
  // For a holder without the table: the word that Pin returned, and the record's address.
  static void Unpin(Word* word, const void* record) {
    Subtract(word, UnitsOf(reinterpret_cast<uintptr_t>(record)));
  }

  bool IsPinned(PoolOffset record) const {
    const uint64_t units = UnitsOf(pool_ + record);
    const uint64_t word = words_[Hash(units)].load(std::memory_order_acquire);
    const uint64_t pins = word & kPinsMask;
    if (pins <= 1) return pins == 1 && word == PinOf(units);  // I1
    return pins > 2 || MayBePinOf(word - PinOf(units), Hash(units));
  }
  bool AnyPinned() const {
    for (size_t i = 0; i < words(); ++i) {
      if (words_[i].load(std::memory_order_acquire) != 0) return true;
    }
    return false;
  }

  // Asserts I1: a word without pins is 0, and the pin of a word with one pin belongs to a record of
  // the pool with that hash.
  void CheckInvariants() const {
    for (size_t i = 0; i < words(); ++i) {
      const uint64_t word = words_[i].load(std::memory_order_relaxed);
      const uint64_t pins = word & kPinsMask;
      ASHLAR_ASSERT(pins != 0 || word == 0);            // I1
      ASHLAR_ASSERT(pins != 1 || MayBePinOf(word, i));  // I1
    }
  }

  size_t words() const { return size_t{1} << word_bits_; }
  // Bytes of volatile state.
  size_t VolatileBytes() const { return words() * sizeof(Word); }

 private:
  static constexpr uint64_t kPoolBytesPerWord = 256;
  static constexpr uint64_t kWordsMin = 512;  // a page
  static constexpr uint64_t kWordsMax = uint64_t{1} << 16;
  static constexpr uint32_t kPinsBits = 28;
  static constexpr uint64_t kPinsMask = (uint64_t{1} << kPinsBits) - 1;

  static uint32_t WordBitsOf(uint64_t pool_bytes) {
    const uint64_t words = std::clamp(pool_bytes / kPoolBytesPerWord, kWordsMin, kWordsMax);
    return static_cast<uint32_t>(std::bit_width(words)) - 1;
  }
  static uint64_t UnitsOf(uint64_t address) { return address / kUnitBytes; }
  static uint64_t PinOf(uint64_t units) { return units << kPinsBits | 1; }
  // Release: the holder's reads happen before the reuse that IsPinned permits.
  static void Subtract(Word* word, uint64_t units) {
    word->fetch_sub(PinOf(units), std::memory_order_release);
  }
  // Whether a record of the pool with this hash can have this pin (I2). A pin has the low bits of
  // an address, which several records of a pool above 1 TiB may share.
  bool MayBePinOf(uint64_t pin, size_t hash) const {
    constexpr uint64_t kAddressesOfPins = uint64_t{1} << (64 - kPinsBits);
    const uint64_t pool = UnitsOf(pool_);
    for (uint64_t at = ((pin >> kPinsBits) - pool) % kAddressesOfPins; at < pool_units_;
         at += kAddressesOfPins) {
      if (Hash(pool + at) == hash) return true;
    }
    return false;
  }
  size_t Hash(uint64_t units) const {
    return static_cast<size_t>(units * 0x9e3779b97f4a7c15u >> (64 - word_bits_));
  }

  const uint64_t pool_;
  const uint64_t pool_units_;
  const uint32_t word_bits_;
  Word* const words_;
};

}  // namespace ashlar::pmem

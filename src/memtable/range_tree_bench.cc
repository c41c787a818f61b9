// Measures the CPU time of range tombstones: one Add compared with one Put, and what a search among
// 100,000 of them adds to a lookup, in the memtable's tree and in the fragments of a table.
//
//   warm    searches alone, so the structure has the processor's caches for itself
//   among   between two searches 12 cache lines of 24 MiB of other data are touched, as by a Get in
//           a database of 200,000 keys; the time that this takes is subtracted
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "base/random.h"
#include "execute/epoch.h"
#include "memtable/memtable.h"
#include "memtable/range_tree.h"

namespace ashlar {
namespace {

constexpr uint64_t kCount = 100000;
constexpr int kRounds = 5;

std::string Decimal(uint64_t i) {
  const std::string digits = std::to_string(i);
  return "tenant/" + std::string(9 - std::min<size_t>(9, digits.size()), '0') + digits;
}

std::string BigEndian(uint64_t i) {
  std::string bytes(8, '\0');
  for (int at = 7; at >= 0; --at, i >>= 8) bytes[static_cast<size_t>(at)] = static_cast<char>(i);
  return bytes;
}

template <typename Body>
double NanosEach(uint64_t n, const Body& body) {
  const std::clock_t start = std::clock();
  for (uint64_t i = 0; i < n; ++i) body(i);
  return 1e9 / CLOCKS_PER_SEC * static_cast<double>(std::clock() - start) / static_cast<double>(n);
}

struct Range {
  std::string begin;
  std::string end;
};

// --- Add ---

template <typename MakeRange>
void MeasureAdd(const char* name, const MakeRange& range) {
  ArenaBlockPool blocks{ArenaBlockPool::Options{}};
  Random random(3);
  std::vector<Range> ranges;
  for (uint64_t i = 0; i < kCount; ++i) {
    const std::pair<uint64_t, uint64_t> both = range(i, &random);
    ranges.push_back({Decimal(both.first), Decimal(both.second)});
  }
  double add = 1e9;
  double find = 1e9;
  double find_old = 1e9;
  size_t bytes = 0;
  uint64_t sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    Arena arena(&blocks);
    RangeTree tree(KeyComparator(BytewiseComparator()), &arena);
    add = std::min(add, NanosEach(kCount, [&](uint64_t i) {
                     tree.Add({.begin = ranges[i].begin, .end = ranges[i].end, .sequence = i + 1});
                   }));
    bytes = arena.MemoryUsed();
    Random choice(11);
    std::vector<std::string> keys;
    for (uint64_t i = 0; i < kCount; ++i) keys.push_back(Decimal(choice.Uniform(4 * kCount)));
    find = std::min(find, NanosEach(kCount, [&](uint64_t i) {
                      sum += tree.CoveringSequence(keys[i], kSequenceNumberMax);
                    }));
    find_old = std::min(find_old, NanosEach(kCount, [&](uint64_t i) {
                          sum += tree.CoveringSequence(keys[i], kCount / 2);
                        }));
  }
  std::printf("%-16s add %5.0f ns %5zu bytes   find %4.0f ns   find old %5.0f ns   (%d)\n", name,
              add, bytes / kCount, find, find_old, static_cast<int>(sum & 1));
}

void MeasurePut(const char* name, uint64_t step) {
  EpochDomain epochs;
  ArenaBlockPool blocks{ArenaBlockPool::Options{}};
  const std::string value(100, 'v');
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < kCount; ++i) keys.push_back(Decimal(i * step % kCount));
  double put = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const MemTable::Owner memtable =
        MemTable::Create({.comparator = KeyComparator(BytewiseComparator()),
                          .arena_blocks = &blocks,
                          .epochs = &epochs});
    put = std::min(put, NanosEach(kCount, [&](uint64_t i) {
                     memtable->Add(i + 1, ValueType::kValue, keys[i], value);
                   }));
  }
  epochs.Synchronize();
  std::printf("%-16s put %5.0f ns\n", name, put);
}

// --- Searches ---

// At each index: a tombstone, a key inside it, and a key outside all tombstones.
struct Searched {
  std::string name;
  std::vector<Range> ranges;
  std::vector<std::string> inside;
  std::vector<std::string> outside;
};

class OtherData {
 public:
  OtherData() : lines_(kLines) {}
  void Touch() {
    for (int i = 0; i < 12; ++i) sum_ += ++lines_[random_.Uniform(kLines)].word;
  }
  uint64_t sum() const { return sum_; }

 private:
  struct alignas(64) Line {
    uint64_t word = 0;
  };
  static constexpr uint64_t kLines = (uint64_t{24} << 20) / sizeof(Line);

  Random random_{5};
  std::vector<Line> lines_;
  uint64_t sum_ = 0;
};

template <typename Search>
void MeasureSearch(const char* structure, const std::vector<std::string>& keys,
                   const Search& search) {
  static OtherData other;
  uint64_t sum = 0;
  double warm = 1e9;
  double among = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    warm = std::min(warm, NanosEach(keys.size(), [&](uint64_t i) { sum += search(keys[i]); }));
    const double alone = NanosEach(keys.size(), [&](uint64_t) { other.Touch(); });
    among = std::min(among, NanosEach(keys.size(), [&](uint64_t i) {
                              other.Touch();
                              sum += search(keys[i]);
                            }) - alone);
  }
  std::printf("   %s %4.0f %4.0f", structure, warm, among);
  if (sum + other.sum() == 1) std::printf(".");
}

void Measure(Searched searched) {
  ArenaBlockPool blocks{ArenaBlockPool::Options{}};
  Arena arena(&blocks);
  RangeTree tree(KeyComparator(BytewiseComparator()), &arena);
  Random random(9);
  const auto shuffle = [&random](auto* all) {
    for (size_t i = all->size(); i > 1; --i) std::swap((*all)[i - 1], (*all)[random.Uniform(i)]);
    // Allocate them in this order, too, because a Get has its key in the cache.
    *all = std::vector(all->begin(), all->end());
  };
  shuffle(&searched.ranges);
  shuffle(&searched.inside);
  shuffle(&searched.outside);
  SequenceNumber sequence = 0;
  for (const Range& range : searched.ranges)
    tree.Add({.begin = range.begin, .end = range.end, .sequence = ++sequence});
  const SequenceNumber all[] = {kSequenceNumberMax};
  FragmentedRanges fragments = tree.Fragments(all);
  fragments.PrepareForLookups();
  for (const auto& [place, keys] :
       {std::pair{"outside", &searched.outside}, std::pair{"inside", &searched.inside}}) {
    std::printf("%-22s %-7s", searched.name.c_str(), place);
    MeasureSearch("tree", *keys,
                  [&](const Slice& key) { return tree.CoveringSequence(key, kSequenceNumberMax); });
    MeasureSearch("fragments", *keys, [&](const Slice& key) {
      return fragments.CoveringSequence(key, kSequenceNumberMax);
    });
    std::printf("\n");
  }
}

template <typename MakeKey>
Searched Make(const char* name, uint64_t step, uint64_t width, const MakeKey& key) {
  Searched searched{.name = name, .ranges = {}, .inside = {}, .outside = {}};
  for (uint64_t i = 0; i < kCount; ++i) {
    searched.ranges.push_back({key(step * i), key(step * i + width)});
    searched.inside.push_back(key(step * i + width / 2));
    searched.outside.push_back(key(step * i + width + i % (step - width)));
  }
  return searched;
}

// Sorted numbers, used as keys by their rank, to get heads of any distribution.
template <typename Number>
std::vector<uint64_t> Numbers(const Number& number) {
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < 8 * kCount; ++i) numbers.push_back(number());
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void MeasureSearches() {
  std::printf("\nns a search: warm, among other data\n");
  const std::string zeros(8, '\0');
  Measure(Make("integers, dense", 4, 1, [&](uint64_t i) { return BigEndian(i) + zeros; }));
  Measure(Make("integers, half", 8, 4, [&](uint64_t i) { return BigEndian(i); }));
  Measure(Make("text, half", 8, 4, Decimal));
  Random random(77);
  const auto uniform = Numbers([&] { return random.Next(); });
  Measure(Make("random, narrow", 8, 1, [&](uint64_t i) {
    return BigEndian(uniform[std::min<size_t>(i, uniform.size() - 1)]);
  }));
  const auto skewed = Numbers([&] { return random.Next() >> random.Uniform(60); });
  Measure(Make("skewed, narrow", 8, 1, [&](uint64_t i) {
    return BigEndian(skewed[std::min<size_t>(i, skewed.size() - 1)]) + BigEndian(i);
  }));
  // A log for each of 1,000 tenants, the front of which is truncated 100 times.
  Measure(Make("logs of 1,000 tenants", 64, 32, [&](uint64_t i) {
    return "log" + BigEndian(i / 6400 * 77) + "\x01" + BigEndian(i % 6400);
  }));
}

void Run() {
  using Pair = std::pair<uint64_t, uint64_t>;
  MeasurePut("ascending", 1);
  MeasurePut("scattered", 7919);
  MeasureAdd("ascending", [](uint64_t i, Random*) { return Pair{4 * i, 4 * i + 2}; });
  MeasureAdd("scattered", [](uint64_t i, Random*) {
    return Pair{i * 7919 % kCount * 4, i * 7919 % kCount * 4 + 3};
  });
  MeasureAdd("nested inwards", [](uint64_t i, Random*) { return Pair{i, 4 * kCount - i}; });
  MeasureAdd("nested outwards",
             [](uint64_t i, Random*) { return Pair{kCount - i, 3 * kCount + i}; });
  MeasureAdd("overlapping", [](uint64_t i, Random*) { return Pair{i, i + kCount}; });
  MeasureAdd("random", [](uint64_t, Random* random) {
    const uint64_t a = random->Uniform(4 * kCount);
    const uint64_t b = random->Uniform(4 * kCount);
    return Pair{std::min(a, b), std::max(a, b) + 1};
  });
  MeasureSearches();
}

}  // namespace
}  // namespace ashlar

int main() { ashlar::Run(); }

// Range tombstones of a memtable: one Add next to one Put, and the search at 100,000 of them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "base/random.h"
#include "execute/epoch.h"
#include "memtable/memtable.h"
#include "memtable/range_tree.h"

namespace ashlar {
namespace {

constexpr uint64_t kCount = 100000;

std::string Key(uint64_t i) {
  const std::string digits = std::to_string(i);
  return "tenant/" + std::string(9 - std::min<size_t>(9, digits.size()), '0') + digits;
}

template <typename Body>
double NanosEach(uint64_t n, const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < n; ++i) body(i);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / static_cast<double>(n);
}

struct Range {
  std::string begin;
  std::string end;
};

template <typename MakeRange>
void Measure(const char* name, const MakeRange& range) {
  ArenaBlockPool blocks{ArenaBlockPool::Options{}};
  Random random(3);
  std::vector<Range> ranges;
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < kCount; ++i) {
    const std::pair<uint64_t, uint64_t> both = range(i, &random);
    ranges.push_back({Key(both.first), Key(both.second)});
    keys.push_back(Key(random.Uniform(4 * kCount)));
  }
  double add = 1e9;
  double find = 1e9;
  double find_old = 1e9;
  double fragments_find = 1e9;
  size_t bytes = 0;
  uint64_t sum = 0;
  for (int round = 0; round < 3; ++round) {
    Arena arena(&blocks);
    RangeTree tree(KeyComparator(BytewiseComparator()), &arena);
    add = std::min(add, NanosEach(kCount, [&](uint64_t i) {
                     tree.Add({.begin = ranges[i].begin, .end = ranges[i].end, .sequence = i + 1});
                   }));
    bytes = arena.MemoryUsed();
    find = std::min(find, NanosEach(kCount, [&](uint64_t i) {
                      sum += tree.CoveringSequence(keys[i], kSequenceNumberMax);
                    }));
    find_old = std::min(find_old, NanosEach(kCount, [&](uint64_t i) {
                          sum += tree.CoveringSequence(keys[i], kCount / 2);
                        }));
    const SequenceNumber all[] = {kSequenceNumberMax};
    const FragmentedRanges fragments = tree.Fragments(all);
    fragments_find = std::min(fragments_find, NanosEach(kCount, [&](uint64_t i) {
                                sum += fragments.CoveringSequence(keys[i], kSequenceNumberMax);
                              }));
  }
  std::printf(
      "%-16s add %5.0f ns %5zu bytes   find %4.0f ns   find old %4.0f ns   "
      "find in fragments %4.0f ns   (%d)\n",
      name, add, bytes / kCount, find, find_old, fragments_find, static_cast<int>(sum & 1));
}

void MeasurePut(const char* name, uint64_t step) {
  EpochDomain epochs;
  ArenaBlockPool blocks{ArenaBlockPool::Options{}};
  const std::string value(100, 'v');
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < 2 * kCount; ++i) keys.push_back(Key(i * step % (2 * kCount)));
  double put = 1e9;
  for (int round = 0; round < 3; ++round) {
    const MemTable::Owner memtable =
        MemTable::Create({.comparator = KeyComparator(BytewiseComparator()),
                          .arena_blocks = &blocks,
                          .epochs = &epochs});
    put = std::min(put, NanosEach(2 * kCount, [&](uint64_t i) {
                     memtable->Add(i + 1, ValueType::kValue, keys[i], value);
                   }));
  }
  epochs.Synchronize();
  std::printf("%-16s put %5.0f ns\n", name, put);
}

void Run() {
  using Pair = std::pair<uint64_t, uint64_t>;
  MeasurePut("ascending", 1);
  MeasurePut("scattered", 7919);
  Measure("ascending", [](uint64_t i, Random*) { return Pair{4 * i, 4 * i + 2}; });
  Measure("scattered", [](uint64_t i, Random*) {
    return Pair{i * 7919 % kCount * 4, i * 7919 % kCount * 4 + 3};
  });
  Measure("nested inwards", [](uint64_t i, Random*) { return Pair{i, 4 * kCount - i}; });
  Measure("nested outwards", [](uint64_t i, Random*) { return Pair{kCount - i, 3 * kCount + i}; });
  Measure("overlapping", [](uint64_t i, Random*) { return Pair{i, i + kCount}; });
  Measure("random", [](uint64_t, Random* random) {
    const uint64_t a = random->Uniform(4 * kCount);
    const uint64_t b = random->Uniform(4 * kCount);
    return Pair{std::min(a, b), std::max(a, b) + 1};
  });
}

}  // namespace
}  // namespace ashlar

int main() { ashlar::Run(); }

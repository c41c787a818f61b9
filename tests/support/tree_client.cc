#include "tests/support/tree_client.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "ashlar/write_batch.h"
#include "base/assert.h"
#include "base/format.h"

namespace ashlar::test {
namespace {

constexpr char kLeft[] = "left of ";
constexpr char kRight[] = "right of ";
// Groups of fillers in key order.
constexpr const char* kGroups[] = {"", kLeft, kRight};

// Of each group. A batch makes leaves of 40 entries, and an insert into a leaf of 47 splits it.
constexpr uint64_t kFillersOfALeaf = 40;
constexpr uint64_t kFillersAtFirst = 46;
constexpr uint64_t kFillersMax = 56;
constexpr int kFillersAtOnce = 6;

std::string FillerOf(const char* group, uint64_t number) {
  return StrCat(group, "key/", number / 10, number % 10);
}

}  // namespace

TreeClient::TreeClient(PersistentTree* tree, HistoryRecorder* recorder, uint64_t keys,
                       uint64_t seed)
    : HistoryClient(recorder, keys, seed), tree_(tree) {
  ASHLAR_ASSERT(keys <= 10);
}

void TreeClient::Fill(PersistentTree* tree) {
  const auto fill = [tree](uint64_t begin, uint64_t end) {
    WriteBatch batch;
    for (const char* group : kGroups) {
      for (uint64_t i = begin; i < end; ++i) EXPECT_OK(batch.Put(FillerOf(group, i), "at first"));
    }
    EXPECT_OK(tree->Write(batch));
  };
  fill(0, kFillersOfALeaf);
  fill(kFillersOfALeaf, kFillersAtFirst);
}

std::vector<std::string> TreeClient::Entries() const {
  std::vector<std::string> entries;
  for (const char* group : kGroups) {
    for (uint64_t i = 0; i < kFillersMax; ++i) entries.push_back(FillerOf(group, i));
    for (uint64_t i = 0; i < keys_; ++i) entries.push_back(group + KeyOf(i));
  }
  return entries;
}

std::string TreeClient::RecordedKeyOf(const Slice& entry) {
  const std::string key = entry.ToString();
  for (const std::string half : {kLeft, kRight}) {
    if (key.starts_with(half) && !key.starts_with(half + "key/"))
      return PairOf(key.substr(half.size()));
  }
  return key;
}

std::string TreeClient::DrawFiller() {
  const char* const group = kGroups[random_.Uniform(std::size(kGroups))];
  return FillerOf(group, random_.Between(kFillersOfALeaf, kFillersMax - 1));
}

void TreeClient::Call(uint64_t which, const std::string& key, const std::string& value) {
  // Values of several size classes.
  const std::string padded = value + std::string(40 * random_.Uniform(3), '.');
  switch (which) {
    case 0: Put(key, padded); break;
    case 1: Put(DrawFiller(), padded); break;
    case 2: PutManyFillers(padded); break;
    case 3:
      Delete(key);
      for (int i = 0; i < kFillersAtOnce; ++i) Delete(DrawFiller());
      break;
    case 4:
    case 5: WritePair(key, padded); break;
    case 6: DeleteRanges(); break;
    case 7: ReadPair(key); break;
    case 8: Scan(random_.OneIn(2)); break;
    case 9: ReadMany(); break;
    case 10: ReadPinned(key, padded); break;
    default: Read(key, key);
  }
}

void TreeClient::Put(const std::string& entry, const std::string& value) {
  Record(entry, Kind::kPut, value, [&] { return tree_->Put(entry, value); });
}

void TreeClient::Delete(const std::string& entry) {
  Record(entry, Kind::kDelete, {}, [&] { return tree_->Delete(entry); });
}

void TreeClient::Read(const std::string& recorded_key, const std::string& entry) {
  RecordGet(recorded_key, [&](std::string* found) { return tree_->Get({}, entry, found); });
}

void TreeClient::PutManyFillers(const std::string& value) {
  WriteBatch batch;
  std::set<std::string> fillers;
  for (int i = 0; i < kFillersAtOnce; ++i) fillers.insert(DrawFiller());
  for (const std::string& filler : fillers) EXPECT_OK(batch.Put(filler, value));
  const uint64_t begin = log_.Begin();
  EXPECT_OK(tree_->Write(batch));
  const uint64_t end = log_.End();
  for (const std::string& filler : fillers) log_.Add(filler, {Kind::kPut, value, begin, end});
}

void TreeClient::WritePair(const std::string& key, const std::string& value) {
  WriteBatch batch;
  EXPECT_OK(batch.Put(kLeft + key, value));
  EXPECT_OK(batch.Put(kRight + key, value));
  Record(PairOf(key), Kind::kPut, value, [&] { return tree_->Write(batch); });
}

// Deletes ranges that include either both halves of a pair or neither.
void TreeClient::DeleteRanges() {
  using Range = std::pair<std::string, std::string>;
  const std::string first_half = kLeft + KeyOf(0);
  const std::string after_all = "s";
  switch (random_.Uniform(8)) {
    case 0: return DeleteRanges({Range("", after_all)});
    case 1:
    case 2: return DeleteRanges({Range(KeyOf(0), first_half)});
    case 3:
    case 4: return DeleteRanges({Range(first_half, after_all)});
    // After this, a few deletions make leaves merge.
    default: {
      std::vector<Range> most_fillers;
      for (const char* group : kGroups)
        most_fillers.emplace_back(FillerOf(group, 0), FillerOf(group, kFillersOfALeaf));
      DeleteRanges(most_fillers);
    }
  }
}

void TreeClient::DeleteRanges(const std::vector<std::pair<std::string, std::string>>& ranges) {
  WriteBatch batch;
  for (const auto& [begin, end] : ranges) EXPECT_OK(batch.DeleteRange(begin, end));
  const uint64_t from = log_.Begin();
  EXPECT_OK(ranges.size() > 1
                ? tree_->Write(batch)
                : tree_->DeleteRange(KeyRange::Between(ranges[0].first, ranges[0].second)));
  const uint64_t to = log_.End();
  for (const std::string& entry : Entries()) {
    for (const auto& [begin, end] : ranges) {
      if (begin <= entry && entry < end)
        log_.Add(RecordedKeyOf(entry), {Kind::kDelete, {}, from, to});
    }
  }
}

// The read of each half is recorded as a read of the pair.
void TreeClient::ReadPair(const std::string& key) {
  const bool is_left_first = random_.OneIn(2);
  Read(PairOf(key), (is_left_first ? kLeft : kRight) + key);
  Read(PairOf(key), (is_left_first ? kRight : kLeft) + key);
}

// A pinned value does not change when its key is changed or deleted.
void TreeClient::ReadPinned(const std::string& key, const std::string& value) {
  ReadOptions options;
  options.verify_checksums = true;
  PinnableSlice pinned;
  RecordGet(key, [&](std::string* found) {
    const Status status = tree_->Get(options, key, &pinned);
    *found = pinned.ToString();
    return status;
  });
  const std::string before = pinned.ToString();
  Put(key, value);
  Read(key, key);
  EXPECT_EQ(pinned.ToString(), before);
}

void TreeClient::ReadMany() {
  std::vector<std::string> entries;
  for (uint64_t i = 0; i < keys_; ++i) {
    for (const char* group : kGroups) entries.push_back(group + KeyOf(i));
  }
  const std::vector<Slice> slices(entries.begin(), entries.end());
  const uint64_t begin = log_.Begin();
  std::vector<PinnableSlice> values;
  const std::vector<Status> statuses = tree_->MultiGet({}, slices, &values);
  const uint64_t end = log_.End();
  for (size_t i = 0; i < entries.size(); ++i)
    log_.Add(RecordedKeyOf(entries[i]), {Kind::kGet, Found(statuses[i], values[i]), begin, end});
}

// Each move reads the entry that it shows and those that it skips.
void TreeClient::Scan(bool forward) {
  std::vector<std::string> entries = Entries();
  if (!forward) std::reverse(entries.begin(), entries.end());
  const auto is_before = [forward](const std::string& entry, const Slice& key) {
    return forward ? Slice(entry).compare(key) < 0 : Slice(entry).compare(key) > 0;
  };
  const std::unique_ptr<Iterator> it = tree_->NewIterator(ReadOptions());
  uint64_t begin = log_.Begin();
  forward ? it->SeekToFirst() : it->SeekToLast();
  for (size_t next = 0;;) {
    const uint64_t end = log_.End();
    EXPECT_OK(it->status());
    for (; next < entries.size() && (!it->Valid() || is_before(entries[next], it->key())); ++next)
      log_.Add(RecordedKeyOf(entries[next]), {Kind::kGet, {}, begin, end});
    if (!it->Valid()) return;
    if (next == entries.size() || it->key() != Slice(entries[next])) {
      ADD_FAILURE() << it->key().ToString() << " is not in order";
      return;
    }
    log_.Add(RecordedKeyOf(entries[next++]), {Kind::kGet, it->value().ToString(), begin, end});
    begin = log_.Begin();
    forward ? it->Next() : it->Prev();
  }
}

HistoryContents TreeClient::Contents(PersistentTree* tree) {
  HistoryContents contents;
  std::map<std::string, int> halves;
  const std::unique_ptr<Iterator> it = tree->NewIterator(ReadOptions());
  std::string last;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    EXPECT_GT(it->key().ToString(), last);
    last = it->key().ToString();
    const std::string key = RecordedKeyOf(it->key());
    if (key != last) halves[key]++;
    const auto [entry, is_new] = contents.emplace(key, it->value().ToString());
    EXPECT_TRUE(is_new || it->value() == Slice(entry->second)) << "half of a batch: " << key;
  }
  EXPECT_OK(it->status());
  for (const auto& [pair, count] : halves) EXPECT_EQ(count, 2) << "half of a batch: " << pair;
  return contents;
}

}  // namespace ashlar::test

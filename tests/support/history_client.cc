#include "tests/support/history_client.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/format.h"
#include "tests/support/expect_ok.h"

namespace ashlar::test {
namespace {

using Kind = RecordedCall::Kind;

std::string PairOf(const std::string& key) { return "pair of " + key; }
void Expect(const Status& status) { EXPECT_OK(status); }

std::optional<std::string> Found(const Status& status, const Slice& value) {
  if (status.ok()) return value.ToString();
  EXPECT_TRUE(status.IsNotFound()) << status.ToString();
  return {};
}

}  // namespace

HistoryClient::HistoryClient(DB* db, ColumnFamilyHandle* first, ColumnFamilyHandle* second,
                             HistoryRecorder* recorder, uint64_t keys, uint64_t seed)
    : db_(db),
      families_{first, second},
      log_(recorder),
      keys_(keys),
      random_(seed),
      name_(std::to_string(seed)) {}

void HistoryClient::Run(int calls) {
  for (int i = 0; i < calls; ++i) {
    const std::string key = StrCat("key", random_.Uniform(keys_));
    const std::string value = StrCat(name_, ".", i);
    switch (random_.Uniform(12)) {
      case 0:
      case 1: Record(key, Kind::kPut, value, [&] { Expect(db_->Put({}, key, value)); }); break;
      case 2: Record(key, Kind::kDelete, {}, [&] { Expect(db_->Delete({}, key)); }); break;
      case 3: Record(key, Kind::kMerge, value, [&] { Expect(db_->Merge({}, key, value)); }); break;
      case 4:
      case 5: WritePair(key, value); break;
      case 6: ReadPair(key); break;
      case 7: ReadByIterators(); break;
      case 8: ReadAtSnapshot(key); break;
      case 9: ReadMany(); break;
      default: ReadOne(key); break;
    }
  }
}

template <typename Call>
void HistoryClient::Record(const std::string& key, Kind kind, Value value, const Call& call) {
  const uint64_t begin = log_.Begin();
  call();
  log_.Add(key, {kind, std::move(value), begin, log_.End()});
}

void HistoryClient::ReadOne(const std::string& key) {
  const uint64_t begin = log_.Begin();
  std::string value;
  const Status status = db_->Get({}, key, &value);
  log_.Add(key, {Kind::kGet, Found(status, value), begin, log_.End()});
}

// One batch puts the same value under a name of its own into both families.
void HistoryClient::WritePair(const std::string& key, const std::string& value) {
  WriteBatch batch;
  for (ColumnFamilyHandle* family : families_) EXPECT_OK(batch.Put(family, PairOf(key), value));
  Record(PairOf(key), Kind::kPut, value, [&] { Expect(db_->Write({}, &batch)); });
}

void HistoryClient::ReadPair(const std::string& key) {
  const std::string pair = PairOf(key);
  const uint64_t begin = log_.Begin();
  std::vector<std::string> values;
  const std::vector<Status> statuses =
      db_->MultiGet({}, {families_[0], families_[1]}, {Slice(pair), Slice(pair)}, &values);
  const uint64_t end = log_.End();
  const Value first = Found(statuses[0], values[0]);
  EXPECT_EQ(first, Found(statuses[1], values[1])) << "MultiGet saw half of a batch";
  log_.Add(pair, {Kind::kGet, first, begin, end});
}

// What the iterators show is the state at a moment of their creation.
void HistoryClient::ReadByIterators() {
  const uint64_t begin = log_.Begin();
  std::vector<Iterator*> made;
  EXPECT_OK(db_->NewIterators({}, {families_[0], families_[1]}, &made));
  const uint64_t end = log_.End();
  const std::unique_ptr<Iterator> first(made[0]);
  const std::unique_ptr<Iterator> second(made[1]);
  const auto at = [](Iterator* it, const std::string& key) {
    it->Seek(key);
    EXPECT_OK(it->status());
    return it->Valid() && it->key() == Slice(key) ? Value(it->value().ToString()) : Value();
  };
  for (uint64_t i = 0; i < keys_; ++i) {
    const std::string key = StrCat("key", i);
    log_.Add(key, {Kind::kGet, at(first.get(), key), begin, end});
    const Value pair = at(first.get(), PairOf(key));
    EXPECT_EQ(pair, at(second.get(), PairOf(key))) << "iterators saw half of a batch";
    log_.Add(PairOf(key), {Kind::kGet, pair, begin, end});
  }
}

void HistoryClient::ReadAtSnapshot(const std::string& key) {
  const uint64_t begin = log_.Begin();
  const Snapshot* const snapshot = db_->GetSnapshot();
  const uint64_t end = log_.End();
  ReadOptions options;
  options.snapshot = snapshot;
  std::string value;
  const Status status = db_->Get(options, key, &value);
  log_.Add(key, {Kind::kGet, Found(status, value), begin, end});
  std::string values[2];
  Value pair[2];
  for (int i = 0; i < 2; ++i) {
    const Status read = db_->Get(options, families_[i], PairOf(key), &values[i]);
    pair[i] = Found(read, values[i]);
  }
  EXPECT_EQ(pair[0], pair[1]) << "a snapshot saw half of a batch";
  log_.Add(PairOf(key), {Kind::kGet, pair[0], begin, end});
  db_->ReleaseSnapshot(snapshot);
}

void HistoryClient::ReadMany() {
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < keys_; ++i) keys.push_back(StrCat("key", i));
  const std::vector<Slice> slices(keys.begin(), keys.end());
  const uint64_t begin = log_.Begin();
  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->MultiGet({}, slices, &values);
  const uint64_t end = log_.End();
  for (size_t i = 0; i < keys.size(); ++i)
    log_.Add(keys[i], {Kind::kGet, Found(statuses[i], values[i]), begin, end});
}

}  // namespace ashlar::test

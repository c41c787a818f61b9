#include "tests/support/database_client.h"

#include <memory>
#include <vector>

#include "ashlar/write_batch.h"

namespace ashlar::test {

DatabaseClient::DatabaseClient(DB* db, ColumnFamilyHandle* second, HistoryRecorder* recorder,
                               uint64_t keys, uint64_t seed, Deletions deletions)
    : HistoryClient(recorder, keys, seed),
      db_(db),
      families_{db->DefaultColumnFamily(), second},
      deletions_(deletions) {}

void DatabaseClient::Call(uint64_t which, const std::string& key, const std::string& value) {
  switch (which) {
    case 0:
    case 1: Record(key, Kind::kPut, value, [&] { return db_->Put({}, key, value); }); break;
    case 2: Delete(key); break;
    case 3: Record(key, Kind::kMerge, value, [&] { return db_->Merge({}, key, value); }); break;
    case 4:
    case 5: WritePair(PairOf(key), value); break;
    case 6: ReadPair(PairOf(key)); break;
    case 7: ReadByIterators(); break;
    case 8: ReadAtSnapshot(key); break;
    case 9: ReadMany(); break;
    default: RecordGet(key, [&](std::string* found) { return db_->Get({}, key, found); });
  }
}

void DatabaseClient::Delete(const std::string& key) {
  if (++deleted_ % 2 != 0 || deletions_ == Deletions::kOfKeys)
    return Record(key, Kind::kDelete, {}, [&] { return db_->Delete({}, key); });
  const uint64_t begin = log_.Begin();
  EXPECT_OK(db_->DeleteRange({}, families_[0], "key", "kez"));
  const uint64_t end = log_.End();
  for (uint64_t i = 0; i < keys_; ++i) log_.Add(KeyOf(i), {Kind::kDelete, {}, begin, end});
}

void DatabaseClient::WritePair(const std::string& pair, const std::string& value) {
  WriteBatch batch;
  for (ColumnFamilyHandle* family : families_) EXPECT_OK(batch.Put(family, pair, value));
  Record(pair, Kind::kPut, value, [&] { return db_->Write({}, &batch); });
}

void DatabaseClient::ReadPair(const std::string& pair) {
  const uint64_t begin = log_.Begin();
  std::vector<std::string> values;
  const std::vector<Status> statuses =
      db_->MultiGet({}, {families_[0], families_[1]}, {Slice(pair), Slice(pair)}, &values);
  const uint64_t end = log_.End();
  const Value first = Found(statuses[0], values[0]);
  EXPECT_EQ(first, Found(statuses[1], values[1])) << "MultiGet saw half of a batch";
  log_.Add(pair, {Kind::kGet, first, begin, end});
}

// The iterators show the state at one moment during their creation.
void DatabaseClient::ReadByIterators() {
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
    const std::string key = KeyOf(i);
    log_.Add(key, {Kind::kGet, at(first.get(), key), begin, end});
    const Value pair = at(first.get(), PairOf(key));
    EXPECT_EQ(pair, at(second.get(), PairOf(key))) << "iterators saw half of a batch";
    log_.Add(PairOf(key), {Kind::kGet, pair, begin, end});
  }
}

void DatabaseClient::ReadAtSnapshot(const std::string& key) {
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

void DatabaseClient::ReadMany() {
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < keys_; ++i) keys.push_back(KeyOf(i));
  const std::vector<Slice> slices(keys.begin(), keys.end());
  const uint64_t begin = log_.Begin();
  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->MultiGet({}, slices, &values);
  const uint64_t end = log_.End();
  for (size_t i = 0; i < keys.size(); ++i)
    log_.Add(keys[i], {Kind::kGet, Found(statuses[i], values[i]), begin, end});
}

HistoryContents DatabaseClient::Contents(DB* db, ColumnFamilyHandle* second, uint64_t keys) {
  HistoryContents contents;
  const auto add = [&](const std::string& key, const Value& value) {
    if (value) contents.emplace(key, *value);
  };
  const auto get = [&](ColumnFamilyHandle* family, const std::string& key) {
    std::string value;
    const Status status = db->Get({}, family, key, &value);
    return Found(status, value);
  };
  for (uint64_t i = 0; i < keys; ++i) {
    const std::string key = KeyOf(i);
    add(key, get(db->DefaultColumnFamily(), key));
    const Value pair = get(db->DefaultColumnFamily(), PairOf(key));
    EXPECT_EQ(pair, get(second, PairOf(key))) << "half of a batch";
    add(PairOf(key), pair);
  }
  return contents;
}

}  // namespace ashlar::test

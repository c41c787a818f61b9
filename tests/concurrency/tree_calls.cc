#include "tests/concurrency/tree_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/format.h"
#include "tests/support/expect_ok.h"

namespace ashlar::pmem {
namespace {

std::string TemporaryKey(const TreeCallArgs& args) {
  return StrCat("t", args.thread, "-", args.number);
}

void ExpectValue(const TreeCallArgs& args, const std::string& key, const std::string& wanted) {
  std::string value;
  ASSERT_OK(args.tree()->Get(ReadOptions(), key, &value));
  EXPECT_EQ(value, wanted) << key;
}

void ExpectAbsent(const TreeCallArgs& args, const std::string& key) {
  std::string value;
  const Status got = args.tree()->Get(ReadOptions(), key, &value);
  EXPECT_TRUE(got.IsNotFound()) << key << ": " << got.ToString();
}

// ---- Writes.

void Put(const TreeCallArgs& args) {
  const std::string key = TemporaryKey(args);
  // A value of another length, and one of the same length.
  for (const size_t bytes : {size_t{10}, size_t{500}, size_t{500}}) {
    const std::string value(bytes, static_cast<char>('a' + args.random->Uniform(26)));
    ASSERT_OK(args.tree()->Put(key, value));
    ExpectValue(args, key, value);
  }
  ASSERT_OK(args.tree()->Delete(key));
}

void Delete(const TreeCallArgs& args) {
  const std::string key = TemporaryKey(args);
  ASSERT_OK(args.tree()->Put(key, "temporary"));
  ASSERT_OK(args.tree()->Delete(key));
  ExpectAbsent(args, key);
  ASSERT_OK(args.tree()->Delete(key));
}

void Write(const TreeCallArgs& args) {
  const std::string prefix = TemporaryKey(args) + "-";
  WriteBatch batch(0, 0, args.random->OneIn(2) ? 8 : 0, 0);
  for (const char* const end : {"a", "b", "c", "d"})
    EXPECT_OK(batch.Put(prefix + end, std::string(args.random->Uniform(300), 'x')));
  EXPECT_OK(batch.DeleteRange(prefix + "b", prefix + "d"));
  EXPECT_OK(batch.Put(prefix + "c", "after the range deletion"));
  ASSERT_OK(args.tree()->Write(batch));
  ExpectAbsent(args, prefix + "b");
  ExpectValue(args, prefix + "c", "after the range deletion");
  batch.Clear();
  for (const char* const end : {"a", "c", "d"}) EXPECT_OK(batch.Delete(prefix + end));
  ASSERT_OK(args.tree()->Write(batch));
  for (const char* const end : {"a", "c", "d"}) ExpectAbsent(args, prefix + end);
}

// Deletes a range of more keys than a leaf has.
void DeleteRange(const TreeCallArgs& args) {
  constexpr int kKeys = 60;
  const std::string prefix = TemporaryKey(args) + "-";
  const std::string end = prefix + "~";
  for (int i = 0; i < kKeys; ++i)
    ASSERT_OK(args.tree()->Put(StrCat(prefix, i), std::string(100, 'x')));
  EXPECT_EQ(args.tree()->Count(KeyRange::Between(prefix, end)), uint64_t{kKeys});
  ASSERT_OK(args.tree()->DeleteRange(KeyRange::Between(prefix, end)));
  EXPECT_EQ(args.tree()->Count(KeyRange::Between(prefix, end)), 0U);
}

// ---- Reads.

void Get(const TreeCallArgs& args) {
  const TreeScene::ModelKey key = TreeScene::PickKey(args.random);
  const uint64_t floor = args.scene->FloorOf(key);
  std::string value;
  const Status got = args.tree()->Get(ReadOptions(), key.text, &value);
  if (got.IsNotFound()) {
    EXPECT_EQ(floor, 0U) << key.text << " is lost";
    return;
  }
  ASSERT_OK(got);
  EXPECT_GE(TreeScene::VersionOf(value), std::max<uint64_t>(floor, 1)) << key.text;
}

// The pinned bytes do not change while their key does.
void GetPinned(const TreeCallArgs& args) {
  const std::string key = TemporaryKey(args);
  ASSERT_OK(args.tree()->Put(key, "first"));
  PinnableSlice own;
  ASSERT_OK(args.tree()->Get(ReadOptions(), key, &own));
  const TreeScene::ModelKey other = TreeScene::PickKey(args.random);
  const uint64_t floor = args.scene->FloorOf(other);
  PinnableSlice value;
  const Status got = args.tree()->Get(ReadOptions(), other.text, &value);
  ASSERT_TRUE(got.ok() || (got.IsNotFound() && floor == 0)) << got.ToString();
  const std::string before = got.ok() ? value.ToString() : "";
  ASSERT_OK(args.tree()->Put(key, "second"));
  ASSERT_OK(args.tree()->Delete(key));
  EXPECT_EQ(own.ToString(), "first");
  if (!got.ok()) return;
  EXPECT_EQ(value.ToString(), before);
  EXPECT_GE(TreeScene::VersionOf(value), std::max<uint64_t>(floor, 1)) << other.text;
}

void Exists(const TreeCallArgs& args) {
  const TreeScene::ModelKey key = TreeScene::PickKey(args.random);
  const uint64_t floor = args.scene->FloorOf(key);
  EXPECT_TRUE(args.tree()->Exists(key.text) || floor == 0) << key.text;
  EXPECT_FALSE(args.tree()->Exists(TemporaryKey(args)));
}

// Reads more keys than are looked up together.
void MultiGet(const TreeCallArgs& args) {
  std::vector<TreeScene::ModelKey> model;
  for (int i = 0; i < 20; ++i) model.push_back(TreeScene::PickKey(args.random));
  std::vector<Slice> keys;
  std::vector<uint64_t> floors;
  for (const TreeScene::ModelKey& key : model) {
    keys.emplace_back(key.text);
    floors.push_back(args.scene->FloorOf(key));
  }
  std::vector<PinnableSlice> values;
  const std::vector<Status> statuses = args.tree()->MultiGet(ReadOptions(), keys, &values);
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_TRUE(statuses[i].ok() || (statuses[i].IsNotFound() && floors[i] == 0))
        << model[i].text << ": " << statuses[i].ToString();
    if (!statuses[i].ok()) continue;
    EXPECT_GE(TreeScene::VersionOf(values[i]), std::max<uint64_t>(floors[i], 1)) << model[i].text;
  }
}

void IterateForward(const TreeCallArgs& args) {
  args.scene->CheckIteration(TreeScene::Direction::kForward, args.scene->Floor());
}

void IterateBackward(const TreeCallArgs& args) {
  args.scene->CheckIteration(TreeScene::Direction::kBackward, args.scene->Floor());
}

// Counts a range from which nothing is deleted permanently, and an empty one.
void Count(const TreeCallArgs& args) {
  const TreeScene::Versions floor = args.scene->Floor();
  uint64_t present = 0;
  for (const auto& versions : floor) {
    for (const uint64_t version : versions) present += version > 0 ? uint64_t{2} : uint64_t{0};
  }
  const uint64_t count = args.tree()->Count(KeyRange::Between("m", "o"));
  EXPECT_GE(count, present);
  EXPECT_LE(count, 2 * TreeScene::kWriters * TreeScene::kKeysPerWriter);
  EXPECT_EQ(args.tree()->Count(KeyRange::AtOrAbove("u")), 0U);
}

// ---- The rest.

void Stats(const TreeCallArgs& args) {
  const PersistentTreeStats stats = args.tree()->Stats();
  EXPECT_EQ(stats.used_bytes + stats.free_bytes, stats.pool_bytes);
  EXPECT_GT(stats.leaves, 0U);
}

void Verify(const TreeCallArgs& args) { ASSERT_OK(args.tree()->Verify()); }

void Defragment(const TreeCallArgs& args) { ASSERT_OK(args.tree()->Defragment()); }

// In the meantime class logged makes a checkpoint, in steps of several threads.
void Checkpoint(const TreeCallArgs& args) {
  const std::string key = TemporaryKey(args);
  const std::string value(4096, static_cast<char>('a' + args.random->Uniform(26)));
  for (uint64_t bytes = 0; bytes < TreeScene::kLogBytesMax; bytes += value.size())
    ASSERT_OK(args.tree()->Put(key, value));
  ExpectValue(args, key, value);
  ASSERT_OK(args.tree()->Delete(key));
}

}  // namespace

const std::vector<TreeCall>& TreeCalls() {
  static const std::vector<TreeCall> kCalls = {
      {"Put", Put},
      {"Delete", Delete},
      {"Write", Write},
      {"DeleteRange", DeleteRange},
      {"Get", Get},
      {"GetPinned", GetPinned},
      {"Exists", Exists},
      {"MultiGet", MultiGet},
      {"IterateForward", IterateForward},
      {"IterateBackward", IterateBackward},
      {"Count", Count},
      {"Stats", Stats},
      {"Verify", Verify},
      {"Defragment", Defragment},
      {"Checkpoint", Checkpoint},
  };
  return kCalls;
}

size_t CheckpointCall() { return TreeCalls().size() - 1; }

}  // namespace ashlar::pmem

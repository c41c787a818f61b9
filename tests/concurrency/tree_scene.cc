#include "tests/concurrency/tree_scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/format.h"
#include "pmem/log_replay.h"
#include "pmem/logged_medium.h"
#include "pmem/mapped_medium.h"
#include "tests/support/expect_ok.h"
#include "tests/support/verify_tree.h"

namespace ashlar::pmem {
namespace {

constexpr uint64_t kPoolBytes = uint64_t{8} << 20;
constexpr size_t kVersionDigits = 12;
constexpr size_t kPaddingBytesMax = 400;
constexpr char kLetters[] = {'m', 'n'};

std::string Digits(uint64_t number, size_t width) {
  const std::string digits = StrCat(number);
  return std::string(width - digits.size(), '0') + digits;
}
std::string KeyOf(char letter, size_t writer, size_t i) {
  return StrCat(letter, writer, "-", Digits(i, 4));
}
std::string ValueOf(uint64_t version) {
  return Digits(version, kVersionDigits) + std::string(version * 37 % kPaddingBytesMax, 'v');
}
bool IsOfModel(const std::string& key) { return key[0] == kLetters[0] || key[0] == kLetters[1]; }

// Returns the entries of an iterator, and checks that they are in its order.
std::map<std::string, std::string> Collect(Iterator* it, TreeScene::Direction direction) {
  const bool is_forward = direction == TreeScene::Direction::kForward;
  std::map<std::string, std::string> entries;
  std::string last;
  for (is_forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
       is_forward ? it->Next() : it->Prev()) {
    const std::string key = it->key().ToString();
    EXPECT_TRUE(last.empty() || (is_forward ? last < key : key < last)) << key << " after " << last;
    entries[key] = it->value().ToString();
    last = key;
  }
  EXPECT_OK(it->status());
  return entries;
}

}  // namespace

TreeScene::TreeScene(DurabilityClass durability) : durability_(durability), pool_(kPoolBytes) {}

std::unique_ptr<Medium> TreeScene::OpenMedium() {
  PoolFile* const file = pool_.file();
  if (durability_ == DurabilityClass::kProcessCrashOnly) {
    return std::make_unique<MappedMedium>(file->path(), file->Map(PoolMapMode::kShared).value(),
                                          durability_, FlushInstruction::kNone);
  }
  auto storage = std::make_unique<MemoryStorage>(file, log_);
  storage->SetPoolSync([this] { ++pool_syncs_; });
  EXPECT_OK(ReplayLog(storage.get(), {.pool_id = TestPool::kId}));
  return LoggedMedium::Create(std::move(storage), {.pool_id = TestPool::kId,
                                                   .log_bytes_max = kLogBytesMax,
                                                   .private_bytes_max = uint64_t{256} << 10,
                                                   .pages_per_step = 4})
      .value();
}

void TreeScene::Open() {
  TreeConfig config;
  config.recovery.comparator = pool_.comparator();
  Result<std::unique_ptr<PersistentTree>> opened = OpenTree(OpenMedium(), std::move(config));
  ASSERT_OK(opened.status());
  tree_ = std::move(opened).value();
}

void TreeScene::Reopen() {
  ASSERT_OK(tree_->Close());
  tree_.reset();
  Open();
  if (!::testing::Test::HasFatalFailure()) CheckContents();
}

void TreeScene::WriteOne(size_t writer, Random* random) {
  const size_t i = random->Uniform(kKeysPerWriter);
  const uint64_t version = ++last_version_[writer];
  const std::string value = ValueOf(version);
  if (version % 4 == 0) {
    for (const char letter : kLetters) ASSERT_OK(tree_->Put(KeyOf(letter, writer, i), value));
  } else {
    WriteBatch batch;
    for (const char letter : kLetters) {
      EXPECT_OK(batch.Delete(KeyOf(letter, writer, i)));
      EXPECT_OK(batch.Put(KeyOf(letter, writer, i), value));
    }
    ASSERT_OK(tree_->Write(batch));
  }
  acknowledged_[writer][i].store(version, std::memory_order_release);
}

TreeScene::Versions TreeScene::Floor() const {
  Versions floor;
  for (size_t writer = 0; writer < kWriters; ++writer) {
    for (size_t i = 0; i < kKeysPerWriter; ++i)
      floor[writer][i] = acknowledged_[writer][i].load(std::memory_order_acquire);
  }
  return floor;
}

TreeScene::ModelKey TreeScene::PickKey(Random* random) {
  ModelKey key{
      .writer = random->Uniform(kWriters), .i = random->Uniform(kKeysPerWriter), .text = {}};
  key.text = KeyOf(kLetters[random->Uniform(2)], key.writer, key.i);
  return key;
}

uint64_t TreeScene::VersionOf(const Slice& value) {
  if (value.size() < kVersionDigits) return 0;
  const std::string digits(value.data(), kVersionDigits);
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return 0;
  const uint64_t version = std::stoull(digits);
  return value == Slice(ValueOf(version)) ? version : 0;
}

void TreeScene::CheckIteration(Direction direction, const Versions& floor) const {
  const std::unique_ptr<Iterator> it = tree_->NewIterator(ReadOptions());
  const std::map<std::string, std::string> entries = Collect(it.get(), direction);
  for (const auto& [key, value] : entries) {
    ASSERT_TRUE(!IsOfModel(key) || VersionOf(value) > 0) << key << " holds " << value;
  }
  for (size_t writer = 0; writer < kWriters; ++writer) {
    for (size_t i = 0; i < kKeysPerWriter; ++i) {
      for (const char letter : kLetters) {
        const auto found = entries.find(KeyOf(letter, writer, i));
        const uint64_t version = found == entries.end() ? 0 : VersionOf(found->second);
        ASSERT_GE(version, floor[writer][i]) << KeyOf(letter, writer, i);
      }
    }
  }
}

void TreeScene::CheckContents() const {
  ASSERT_OK(VerifyAndCheck(tree_.get()));
  size_t present = 0;
  for (size_t writer = 0; writer < kWriters; ++writer) {
    for (size_t i = 0; i < kKeysPerWriter; ++i) {
      const uint64_t wanted = acknowledged_[writer][i].load();
      for (const char letter : kLetters) {
        const std::string key = KeyOf(letter, writer, i);
        std::string value;
        const Status got = tree_->Get(ReadOptions(), key, &value);
        ASSERT_TRUE(wanted == 0 ? got.IsNotFound() : got.ok()) << key << ": " << got.ToString();
        ASSERT_EQ(got.ok() ? VersionOf(value) : 0, wanted) << key;
        present += got.ok() ? size_t{1} : size_t{0};
      }
    }
  }
  // No temporary key is left.
  EXPECT_EQ(tree_->Count(KeyRange::All()), present);
  EXPECT_EQ(tree_->Stats().entries, present);
}

}  // namespace ashlar::pmem

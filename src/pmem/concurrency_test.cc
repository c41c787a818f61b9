// Concurrent readers and writers.
#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "platform/pool_file.h"
#include "pmem/mapped_medium.h"
#include "pmem/pool.h"
#include "pmem/tree.h"

namespace ashlar::pmem {
namespace {

constexpr uint64_t kPoolBytes = uint64_t{32} << 20;
constexpr uint64_t kKeys = 400;  // few, so that leaves split and merge during other operations

std::unique_ptr<PersistentTree> OpenShared() {
  std::unique_ptr<PoolFile> file = PoolFile::CreateAnonymous(kPoolBytes).value();
  std::unique_ptr<PoolMapping> mapping = file->Map(PoolMapMode::kShared).value();
  auto medium =
      std::make_unique<MappedMedium>(file->path(), std::move(mapping),
                                     DurabilityClass::kProcessCrashOnly, FlushInstruction::kNone);
  medium->Keep(std::move(file));
  FormatPool(medium.get(), 1, *BytewiseComparator());
  return OpenTree(std::move(medium), {.recovery = {.comparator = BytewiseComparator(),
                                                   .split_strategy = {},
                                                   .refuse_allocation = {}},
                                      .mark = MarkRun::kBackground})
      .value();
}

std::string KeyOf(uint64_t number) {
  char key[32];
  snprintf(key, sizeof(key), "key%06llu", static_cast<unsigned long long>(number));
  return key;
}

// A value begins with its key and repeats one character after it, so that a torn or reused value is
// noticed.
std::string ValueOf(uint64_t number, Random* random) {
  return KeyOf(number) +
         std::string(random->Uniform(200), static_cast<char>('a' + random->Uniform(26)));
}
void ExpectWhole(const Slice& key, const Slice& value) {
  ASSERT_TRUE(value.starts_with(key)) << key.ToString() << " holds " << value.ToString();
  for (size_t i = key.size() + 1; i < value.size(); ++i)
    ASSERT_EQ(value[i], value[key.size()]) << key.ToString();
}

TEST(ConcurrencyTest, ReadersSeeWholeValuesWhileSeveralWritersChangeEverything) {
  const std::unique_ptr<PersistentTree> tree = OpenShared();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (uint64_t writer = 0; writer < 3; ++writer) {
    threads.emplace_back([&, writer] {
      Random random(100 + writer);
      for (int i = 0; i < 30000; ++i) {
        const uint64_t number = random.Uniform(kKeys);
        const bool growing = i / 5000 % 2 == 0;
        if (random.Uniform(100) < (growing ? 80U : 20U)) {
          ASSERT_TRUE(tree->Put(KeyOf(number), ValueOf(number, &random)).ok());
        } else if (random.OneIn(300)) {
          ASSERT_TRUE(
              tree->DeleteRange(KeyRange::Between(KeyOf(number), KeyOf(number + 100))).ok());
        } else {
          ASSERT_TRUE(tree->Delete(KeyOf(number)).ok());
        }
      }
    });
  }
  for (uint64_t reader = 0; reader < 2; ++reader) {
    threads.emplace_back([&, reader] {
      Random random(200 + reader);
      PinnableSlice value;
      std::string copy;
      while (!stop.load()) {
        const uint64_t number = random.Uniform(kKeys);
        const Status status = tree->Get(ReadOptions(), KeyOf(number), &value);
        ASSERT_TRUE(status.ok() || status.IsNotFound()) << status.ToString();
        if (status.ok()) ExpectWhole(KeyOf(number), value);
        const Status copied = tree->Get(ReadOptions(), KeyOf(number), &copy);
        ASSERT_TRUE(copied.ok() || copied.IsNotFound()) << copied.ToString();
        if (copied.ok()) ExpectWhole(KeyOf(number), copy);
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop.load()) {
      std::unique_ptr<Iterator> it = tree->NewIterator(ReadOptions());
      std::string before;
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        const std::string key = it->key().ToString();
        ASSERT_LT(before, key);
        ExpectWhole(key, it->value());
        before = key;
      }
      ASSERT_TRUE(it->status().ok()) << it->status().ToString();
      before = "z";
      for (it->SeekToLast(); it->Valid(); it->Prev()) {
        const std::string key = it->key().ToString();
        ASSERT_GT(before, key);
        before = key;
      }
    }
  });
  for (size_t i = 0; i < 3; ++i) threads[i].join();
  stop.store(true);
  for (size_t i = 3; i < threads.size(); ++i) threads[i].join();
  ASSERT_TRUE(tree->Verify().ok()) << tree->Verify().ToString();
  EXPECT_EQ(tree->Count(KeyRange::All()), tree->Stats().entries);
  ASSERT_TRUE(tree->DeleteRange(KeyRange::All()).ok());
  ASSERT_TRUE(tree->Close().ok());
}

// Each writer has its own keys and records its last writes in a model.
TEST(ConcurrencyTest, NoWriteOfAnyWriterIsLost) {
  const std::unique_ptr<PersistentTree> tree = OpenShared();
  constexpr uint64_t kWriters = 4;
  std::vector<std::map<std::string, std::string>> models(kWriters);
  std::vector<std::thread> threads;
  for (uint64_t writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      Random random(300 + writer);
      std::map<std::string, std::string>& model = models[writer];
      for (int i = 0; i < 20000; ++i) {
        const uint64_t number = random.Uniform(1000) * kWriters + writer;
        if (random.OneIn(50)) {
          WriteBatch batch;
          for (uint64_t j = 0; j < 10; ++j) {
            const uint64_t other = random.Uniform(1000) * kWriters + writer;
            model[KeyOf(other)] = ValueOf(other, &random);
            ASSERT_TRUE(batch.Put(KeyOf(other), model[KeyOf(other)]).ok());
          }
          ASSERT_TRUE(tree->Write(batch).ok());
        } else if (random.OneIn(3)) {
          model.erase(KeyOf(number));
          ASSERT_TRUE(tree->Delete(KeyOf(number)).ok());
        } else {
          model[KeyOf(number)] = ValueOf(number, &random);
          ASSERT_TRUE(tree->Put(KeyOf(number), model[KeyOf(number)]).ok());
        }
        if (i % 7000 == 0) {
          ASSERT_TRUE(tree->Defragment().ok());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t entries = 0;
  for (const auto& model : models) {
    entries += model.size();
    for (const auto& [key, value] : model) {
      std::string found;
      ASSERT_TRUE(tree->Get(ReadOptions(), key, &found).ok()) << key;
      ASSERT_EQ(found, value);
    }
  }
  EXPECT_EQ(tree->Count(KeyRange::All()), entries);
  ASSERT_TRUE(tree->Verify().ok()) << tree->Verify().ToString();
}

}  // namespace
}  // namespace ashlar::pmem

// The public interface on real files: classes, refusals, and what a log brings back.
#include "ashlar/persistent_tree.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ashlar::pmem {
namespace {

using ::testing::HasSubstr;

class PersistentTreeTest : public ::testing::Test {
 protected:
  PersistentTreeTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("ashlar-pmem-" +
                 std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    options_.create_if_missing = true;
    options_.pool_bytes = uint64_t{4} << 20;
    options_.durability = DurabilityClass::kLogged;
  }
  ~PersistentTreeTest() override {
    tree_.reset();
    std::filesystem::remove_all(folder_);
  }
  std::string Path(const std::string& name = "pool") const { return (folder_ / name).string(); }
  Status Open(const std::string& name = "pool") {
    return PersistentTree::Open(options_, Path(name), &tree_);
  }
  std::string Get(const std::string& key) {
    std::string value;
    const Status status = tree_->Get(ReadOptions(), key, &value);
    return status.ok() ? value : status.ToString();
  }
  // What a crash of the machine would leave, if everything synced and nothing else survived: the
  // tree's files as they are now.
  void CopyFiles(const std::string& to) {
    for (const char* const ending : {"", ".log"}) {
      // Not every standard library copies over a file that is there.
      std::filesystem::remove(Path(to) + ending);
      std::filesystem::copy_file(Path() + ending, Path(to) + ending);
    }
  }

  const std::filesystem::path folder_;
  PersistentTreeOptions options_;
  std::unique_ptr<PersistentTree> tree_;
};

TEST_F(PersistentTreeTest, EveryClassStoresAndReopens) {
  for (const DurabilityClass durability :
       {DurabilityClass::kProcessCrashOnly, DurabilityClass::kLogged}) {
    options_.durability = durability;
    const std::string name = DurabilityClassName(durability);
    ASSERT_TRUE(Open(name).ok());
    EXPECT_EQ(tree_->durability_class(), durability);
    EXPECT_EQ(tree_->path(), Path(name));
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(tree_->Put("key" + std::to_string(i), "value").ok());
    ASSERT_TRUE(tree_->Close().ok());
    ASSERT_TRUE(Open(name).ok());
    EXPECT_EQ(tree_->Count(KeyRange::All()), 200U);
    ASSERT_TRUE(tree_->Verify().ok());
    ASSERT_TRUE(tree_->Close().ok());
    EXPECT_FALSE(std::filesystem::exists(Path(name) + ".log"));
  }
}

TEST_F(PersistentTreeTest, WhatIsNoPoolIsRefusedAndWhatIsInUseToo) {
  ASSERT_TRUE(Open().ok());
  std::unique_ptr<PersistentTree> second;
  EXPECT_THAT(PersistentTree::Open(options_, Path(), &second).ToString(), HasSubstr("in use"));
  EXPECT_EQ(second, nullptr);
  ASSERT_TRUE(tree_->Close().ok());
  std::ofstream(Path("foreign")) << "something else";
  EXPECT_THAT(Open("foreign").ToString(), HasSubstr("is not a pool"));
  std::ofstream(Path("empty"));
  EXPECT_THAT(Open("empty").ToString(), HasSubstr("is not a pool"));
  EXPECT_FALSE(Open("no such folder/pool").ok());
  ASSERT_TRUE(Open().ok());
}

TEST_F(PersistentTreeTest, APoolOfAnotherSizeIsRefused) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(tree_->Close().ok());
  std::filesystem::resize_file(Path(), options_.pool_bytes - 4096);
  EXPECT_THAT(Open().ToString(), HasSubstr("the file has"));
}

// At many moments, the files as they are hold exactly what was acknowledged.
TEST_F(PersistentTreeTest, TheLogBringsBackEverythingAcknowledged) {
  const uint64_t seed = 17;
  Random random(seed);
  options_.log_bytes_max = 100000;  // a checkpoint now and then
  ASSERT_TRUE(Open().ok());
  std::map<std::string, std::string> model;
  for (int step = 0; step < 1500; ++step) {
    const std::string key = std::to_string(random.Uniform(400));
    if (random.OneIn(10)) {
      WriteBatch batch;
      for (int i = 0; i < 5; ++i) {
        model[key + std::to_string(i)] = random.Bytes(random.Uniform(200));
        ASSERT_TRUE(batch.Put(key + std::to_string(i), model[key + std::to_string(i)]).ok());
      }
      ASSERT_TRUE(tree_->Write(batch).ok());
    } else if (random.OneIn(4)) {
      model.erase(key);
      ASSERT_TRUE(tree_->Delete(key).ok());
    } else {
      model[key] = random.Bytes(random.Uniform(300));
      ASSERT_TRUE(tree_->Put(key, model[key]).ok());
    }
    if (step % 100 != 99) continue;
    CopyFiles("copy");
    std::unique_ptr<PersistentTree> copy;
    const Status opened = PersistentTree::Open(options_, Path("copy"), &copy);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    ASSERT_EQ(copy->Count(KeyRange::All()), model.size()) << "seed " << seed << " step " << step;
    for (const auto& [name, value] : model) {
      std::string found;
      ASSERT_TRUE(copy->Get(ReadOptions(), name, &found).ok())
          << name << " seed " << seed << " step " << step;
      ASSERT_EQ(found, value);
    }
    ASSERT_TRUE(copy->Verify().ok()) << copy->Verify().ToString();
  }
}

// A log that ends anywhere gives the state after some whole number of changes.
TEST_F(PersistentTreeTest, ATornLogGivesAWholeNumberOfChanges) {
  ASSERT_TRUE(Open().ok());
  constexpr int kChanges = 120;
  for (int i = 0; i < kChanges; ++i)
    ASSERT_TRUE(tree_->Put("key" + std::to_string(1000 + i), std::string(50, 'v')).ok());
  const auto log_bytes = static_cast<uint64_t>(std::filesystem::file_size(Path() + ".log"));
  Random random(3);
  uint64_t last = 0;
  for (int round = 0; round < 40; ++round) {
    CopyFiles("copy");
    if (round % 2 == 0) {
      std::filesystem::resize_file(Path("copy") + ".log", random.Uniform(log_bytes + 1));
    } else {
      std::fstream log(Path("copy") + ".log", std::ios::in | std::ios::out | std::ios::binary);
      log.seekp(static_cast<std::streamoff>(random.Uniform(log_bytes)));
      log.put(static_cast<char>(random.Next()));
    }
    std::unique_ptr<PersistentTree> copy;
    ASSERT_TRUE(PersistentTree::Open(options_, Path("copy"), &copy).ok());
    const uint64_t count = copy->Count(KeyRange::All());
    for (uint64_t i = 0; i < count; ++i)
      ASSERT_TRUE(copy->Exists("key" + std::to_string(1000 + i)));
    ASSERT_TRUE(copy->Verify().ok());
    last = std::max(last, count);
  }
  EXPECT_GT(last, 50U);
}

TEST_F(PersistentTreeTest, SeveralWritersShareSyncsAndCheckpoints) {
  options_.log_bytes_max = 50000;
  ASSERT_TRUE(Open().ok());
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 4; ++writer) {
    threads.emplace_back([&, writer] {
      for (int i = 0; i < 300; ++i)
        ASSERT_TRUE(tree_->Put(std::to_string(writer * 1000 + i), std::string(100, 'v')).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tree_->Count(KeyRange::All()), 1200U);
  CopyFiles("copy");
  std::unique_ptr<PersistentTree> copy;
  ASSERT_TRUE(PersistentTree::Open(options_, Path("copy"), &copy).ok());
  EXPECT_EQ(copy->Count(KeyRange::All()), 1200U);
  ASSERT_TRUE(copy->Verify().ok());
}

TEST_F(PersistentTreeTest, WritersChangeEverythingWhileTheMarkLooksForFreeSpace) {
  options_.durability = DurabilityClass::kProcessCrashOnly;
  ASSERT_TRUE(Open().ok());
  std::vector<std::map<std::string, std::string>> models(3);
  Random seeds(23);
  for (int round = 0; round < 12; ++round) {
    std::vector<std::thread> threads;
    for (size_t writer = 0; writer < models.size(); ++writer) {
      threads.emplace_back([&, writer, seed = seeds.Next()] {
        Random random(seed);
        std::map<std::string, std::string>& model = models[writer];
        for (int i = 0; i < 1500; ++i) {
          const std::string key =
              std::to_string(random.Uniform(1500)) + "/" + std::to_string(writer);
          if (random.OneIn(round % 2 == 0 ? 4 : 2)) {
            model.erase(key);
            ASSERT_TRUE(tree_->Delete(key).ok());
          } else {
            model[key] = random.Bytes(random.Uniform(200));
            ASSERT_TRUE(tree_->Put(key, model[key]).ok());
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const Status verified = tree_->Verify();
    ASSERT_TRUE(verified.ok()) << "round " << round << ": " << verified.ToString();
    ASSERT_TRUE(tree_->Close().ok());
    ASSERT_TRUE(Open().ok());
    uint64_t entries = 0;
    for (const auto& model : models) {
      entries += model.size();
      for (const auto& [key, value] : model) ASSERT_EQ(Get(key), value) << "round " << round;
    }
    ASSERT_EQ(tree_->Count(KeyRange::All()), entries);
    // Open again: the next round begins with the mark.
    ASSERT_TRUE(tree_->Close().ok());
    ASSERT_TRUE(Open().ok());
  }
}

TEST_F(PersistentTreeTest, AHalfMadePoolIsMadeAgain) {
  std::ofstream(Path() + ".creating") << "half";
  ASSERT_TRUE(Open().ok());
  EXPECT_FALSE(std::filesystem::exists(Path() + ".creating"));
}

TEST_F(PersistentTreeTest, APinnedValueSurvivesCheckpoints) {
  options_.log_bytes_max = 20000;
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(tree_->Put("key", std::string(1000, 'k')).ok());
  PinnableSlice pinned;
  ASSERT_TRUE(tree_->Get(ReadOptions(), "key", &pinned).ok());
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(tree_->Put("key", std::string(1000, 'x')).ok());
  EXPECT_EQ(pinned, Slice(std::string(1000, 'k')));
}

}  // namespace
}  // namespace ashlar::pmem

// Several threads use one secondary while its primary is written, flushed and compacted. Two catch
// up, and the others read. Iterators over all families and MultiGet show one state, and a key that
// Get reads never becomes older. In the end the secondary is closed while threads still call it.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/format.h"
#include "tests/concurrency/scene.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

constexpr size_t kVersionDigits = 12;

class SecondaryThreads {
 public:
  explicit SecondaryThreads(bool recycles_logs) : scene_({.recycles_logs = recycles_logs}) {
    scene_.Open();
    EXPECT_OK(scene_.OpenSecondary(&secondary_, &owned_));
    for (const auto& handle : owned_) handles_.push_back(handle.get());
  }

  void Run() {
    constexpr uint64_t kBatches = 1500;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) threads.emplace_back([this] { CatchUpForEver(); });
    std::vector<std::thread> readers;
    readers.emplace_back([this] { IterateForEver(); });
    readers.emplace_back([this] { MultiGetForEver(); });
    for (size_t writer = 0; writer < Scene::kWriters; ++writer)
      threads.emplace_back([this, writer] { GetForEver(writer); });
    std::vector<std::thread> writers;
    for (size_t writer = 0; writer < Scene::kWriters; ++writer) {
      writers.emplace_back([this, writer] {
        Random random(writer + 1);
        for (uint64_t i = 0; i < kBatches; ++i) {
          scene_.WriteOne(writer, &random);
          if (i % 100 == 0) scene_.DropVictim();
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
    ASSERT_OK(secondary_->TryCatchUpWithPrimary());
    Check(scene_.Floor());
    // Iterators end before Close, while the other threads still call the secondary.
    reads_end_.store(true);
    for (std::thread& reader : readers) reader.join();
    Status closed = secondary_->Close();
    while (closed.IsAborted()) closed = secondary_->Close();
    EXPECT_OK(closed);
    ends_.store(true);
    for (std::thread& thread : threads) thread.join();
    owned_.clear();
    secondary_.reset();
  }

 private:
  bool Goes() const { return !ends_.load() && !::testing::Test::HasFailure(); }

  void Check(const Scene::Versions& floor) {
    std::vector<Iterator*> made;
    ASSERT_OK(secondary_->NewIterators(ReadOptions(), handles_, &made));
    const std::vector<std::unique_ptr<Iterator>> iterators(made.begin(), made.end());
    scene_.CheckIterators(iterators, floor);
  }
  void CatchUpForEver() {
    while (Goes()) {
      const Scene::Versions floor = scene_.Floor();
      const Status caught_up = secondary_->TryCatchUpWithPrimary();
      if (caught_up.IsShutdownInProgress()) return;
      ASSERT_OK(caught_up);
      if (!reads_end_.load()) Check(floor);
    }
  }
  void IterateForEver() {
    while (Goes() && !reads_end_.load()) Check({});
  }
  void MultiGetForEver() {
    Random random(3);
    while (Goes() && !reads_end_.load()) {
      const std::string key = KeyOf(random.Uniform(Scene::kWriters), &random);
      const std::vector<Slice> keys(handles_.size(), key);
      std::vector<std::string> values;
      const std::vector<Status> statuses =
          secondary_->MultiGet(ReadOptions(), handles_, keys, &values);
      for (size_t i = 1; i < keys.size(); ++i) {
        if (statuses[i].IsNotFound() && handles_[i]->GetName() == "fifo") continue;
        ASSERT_EQ(statuses[i].ok(), statuses[0].ok())
            << key << " of " << handles_[i]->GetName() << ": " << statuses[i].ToString();
        ASSERT_EQ(values[i].substr(0, kVersionDigits), values[0].substr(0, kVersionDigits))
            << "half of a batch";
      }
    }
  }
  // Reads keys of one writer in the two families that lose none.
  void GetForEver(size_t writer) {
    Random random(writer + 10);
    std::map<std::pair<size_t, std::string>, std::string> newest;
    while (Goes()) {
      const size_t family = random.Uniform(2);
      const std::string key = KeyOf(writer, &random);
      std::string value;
      const Status got = secondary_->Get(ReadOptions(), handles_[family], key, &value);
      ASSERT_TRUE(got.ok() || got.IsNotFound()) << got.ToString();
      value.resize(got.ok() ? kVersionDigits : 0);
      std::string& before = newest[{family, key}];
      ASSERT_GE(value, before) << key << " went back";
      before = value;
    }
  }
  static std::string KeyOf(size_t writer, Random* random) {
    const std::string digits = StrCat(random->Uniform(Scene::kKeysPerWriter));
    return StrCat("m", writer, "-", std::string(4 - digits.size(), '0'), digits);
  }

  Scene scene_;
  std::unique_ptr<DB> secondary_;
  std::vector<std::unique_ptr<ColumnFamilyHandle>> owned_;
  std::vector<ColumnFamilyHandle*> handles_;
  std::atomic<bool> reads_end_{false};
  std::atomic<bool> ends_{false};
};

TEST(SecondaryThreadsTest, SeeGrowingPrefixes) { SecondaryThreads(false).Run(); }

TEST(SecondaryThreadsTest, SeeGrowingPrefixesOfLogsThatAreWrittenOver) {
  SecondaryThreads(true).Run();
}

}  // namespace
}  // namespace ashlar

// Allocation failure in every call of a persistent tree. One workload runs repeatedly, and each
// time another allocation fails. The call in which it fails returns MemoryLimit, changes nothing,
// and holds no lock afterwards. Acknowledged changes are found, at once and after a reopen, and
// space is reused.
//
// Class logged has one more result: the log finds no memory for a change that is in the pool's
// memory. Then the tree is read-only, and a reopen may or may not find the change.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/out_of_memory.h"
#include "pmem/log_replay.h"
#include "pmem/logged_medium.h"
#include "pmem/pool.h"
#include "tests/out_of_memory/failing_new.h"
#include "tests/support/memory_storage.h"
#include "tests/support/test_pool.h"

namespace ashlar::pmem {
namespace {

using Contents = std::map<std::string, std::string>;

constexpr uint64_t kPoolBytes = uint64_t{1} << 20;
constexpr int kEntries = 120;

std::string Key(int i) { return StrCat("key", 1000 + i); }

Result<std::unique_ptr<Medium>> OpenLoggedMedium(PoolFile* pool,
                                                 const std::shared_ptr<MemoryStorage::Log>& log) {
  auto storage = std::make_unique<MemoryStorage>(pool, log);
  ASHLAR_RETURN_IF_ERROR(ReplayLog(storage.get(), {.pool_id = TestPool::kId}));
  // The small bounds make the workload run checkpoints.
  return LoggedMedium::Create(std::move(storage), {.pool_id = TestPool::kId,
                                                   .log_bytes_max = uint64_t{64} << 10,
                                                   .private_bytes_max = uint64_t{128} << 10,
                                                   .pages_per_step = 4});
}

// Like PersistentTree::Open, but with the mark in this thread.
Result<std::unique_ptr<PersistentTree>> OpenOn(std::unique_ptr<Medium> medium) {
  TreeConfig config = {.recovery = {.comparator = BytewiseComparator(), .refuse_allocation = {}},
                       .mark = MarkRun::kAtOpen};
  return OpenTree(std::move(medium), std::move(config));
}

// The files that a process leaves if it dies here.
struct Files {
  std::string pool;
  MemoryStorage::Log log;
};
Files CopyFiles(PoolFile* pool, const MemoryStorage::Log& log) {
  Files files = {.pool = std::string(pool->bytes(), 0), .log = log};
  EXPECT_TRUE(pool->ReadAt(0, files.pool.size(), files.pool.data()).ok());
  return files;
}
void PutBack(const Files& files, PoolFile* pool, MemoryStorage::Log* log) {
  EXPECT_TRUE(pool->WriteAt(0, files.pool.data(), files.pool.size()).ok());
  *log = files.log;
}

class TreeWorkload {
 public:
  TreeWorkload(TestPool* pool, DurabilityClass durability, const Contents& contents)
      : pool_(*pool), durability_(durability), possible_{contents} {}

  void Run() {
    if (!Open().ok()) return;
    for (int i = 0; i < 60; ++i) Put(Key(kEntries + i), "a new value");  // splits
    Put(Key(3), "another value");
    Put(Key(4), std::string(20'000, 'l'));
    Put(Key(4), "short");
    for (int i = 10; i < 100; ++i) Delete(Key(i));  // merges
    Delete("missing");
    CheckContents("before other changes of these keys");
    Read();
    WriteSmallBatch();
    WriteLargeBatch();
    DeleteRange(Key(60), Key(110));
    Read();
    CheckError(Call("Defragment", [&] { return tree_->Defragment(); }));
    const Status verified = Call("Verify", [&] { return tree_->Verify(); });
    if (!verified.ok()) CheckError(verified);
    CheckContents("before the close");
  }

  // Recovers without failures, first after a close, and then as if the process had died after Run.
  void Recover(uint64_t used_bytes_max) {
    const Files files = CopyFiles(pool_.file(), *log_);
    RecoverAfterClose(used_bytes_max);
    // Only class logged has changes in memory that is lost with the process.
    if (durability_ != DurabilityClass::kLogged) return;
    PutBack(files, pool_.file(), log_.get());
    ASSERT_TRUE(Open().ok());
    CheckContents("after the death of the process");
    EXPECT_TRUE(tree_->Verify().ok());
    ASSERT_TRUE(tree_->Close().ok());
    tree_.reset();
  }

 private:
  void RecoverAfterClose(uint64_t used_bytes_max) {
    if (tree_ != nullptr) {
      CheckContents("with memory");
      // A failed mark is not damage.
      const Status verified = tree_->Verify();
      EXPECT_TRUE(verified.ok() || verified.IsMemoryLimit()) << verified.ToString();
      const Status closed = tree_->Close();
      EXPECT_TRUE(closed.ok() || closed.IsMemoryLimit()) << closed.ToString();
      tree_.reset();
    }
    const Status opened = Open();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    CheckContents("after a reopen");
    EXPECT_TRUE(tree_->Verify().ok());
    ASSERT_TRUE(tree_->Put("last", "value").ok());
    ASSERT_TRUE(tree_->DeleteRange(KeyRange::All()).ok());
    ASSERT_TRUE(tree_->Defragment().ok());
    EXPECT_LE(tree_->Stats().used_bytes, used_bytes_max);
    ASSERT_TRUE(tree_->Close().ok());
    tree_.reset();
  }

  static void CheckError(const Status& status) {
    if (status.ok()) return;
    EXPECT_TRUE(FailingNew::HasFailed()) << status.ToString();
    EXPECT_TRUE(status.IsMemoryLimit()) << status.ToString();
  }

  Result<std::unique_ptr<Medium>> OpenMedium() {
    if (durability_ != DurabilityClass::kLogged)
      return std::unique_ptr<Medium>(CountingMedium::Create(pool_.file()));
    return OpenLoggedMedium(pool_.file(), log_);
  }

  Status Open() {
    const Status status = Call("Open", [&] {
      return CatchBadAlloc([&]() -> Status {
        ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<Medium> medium, OpenMedium());
        ASHLAR_ASSIGN_OR_RETURN(tree_, OpenOn(std::move(medium)));
        return Status::OK();
      });
    });
    CheckError(status);
    return status;
  }

  // A failed call has changed nothing, if a later one succeeds.
  template <typename Function>
  void Change(const char* name, const Function& call, const std::function<void(Contents*)>& apply) {
    const Status status = Call(name, call);
    CheckError(status);
    Contents changed = possible_.front();
    apply(&changed);
    if (status.ok()) {
      possible_ = {std::move(changed)};
    } else if (durability_ == DurabilityClass::kLogged && possible_.size() == 1) {
      possible_.push_back(std::move(changed));
    }
  }
  void Put(const std::string& key, const std::string& value) {
    Change(
        "Put", [&] { return tree_->Put(key, value); },
        [&](Contents* contents) { (*contents)[key] = value; });
  }
  void Delete(const std::string& key) {
    Change(
        "Delete", [&] { return tree_->Delete(key); },
        [&](Contents* contents) { contents->erase(key); });
  }
  void DeleteRange(const std::string& begin, const std::string& end) {
    Change(
        "DeleteRange", [&] { return tree_->DeleteRange(KeyRange::Between(begin, end)); },
        [&](Contents* contents) {
          contents->erase(contents->lower_bound(begin), contents->lower_bound(end));
        });
  }
  // Writes to leaves that have room.
  void WriteSmallBatch() {
    WriteBatch batch;
    ASSERT_TRUE(batch.Put(Key(5), "in a batch").ok());
    ASSERT_TRUE(batch.Put(Key(70), "in a batch").ok());
    ASSERT_TRUE(batch.Delete(Key(100)).ok());
    Change(
        "Write", [&] { return tree_->Write(batch); },
        [&](Contents* contents) {
          (*contents)[Key(5)] = "in a batch";
          (*contents)[Key(70)] = "in a batch";
          contents->erase(Key(100));
        });
  }
  // Creates new leaves, and drops others.
  void WriteLargeBatch() {
    WriteBatch batch;
    Contents added;
    for (int i = 0; i < 150; ++i) added[StrCat(Key(80), i)] = StrCat("value ", i);
    ASSERT_TRUE(batch.DeleteRange(Key(110), Key(170)).ok());
    for (const auto& [key, value] : added) ASSERT_TRUE(batch.Put(key, value).ok());
    Change(
        "Write", [&] { return tree_->Write(batch); },
        [&](Contents* contents) {
          contents->erase(contents->lower_bound(Key(110)), contents->lower_bound(Key(170)));
          for (const auto& [key, value] : added) (*contents)[key] = value;
        });
  }

  void Read() {
    for (const int i : {3, 4, 30, 70}) {
      std::string value;
      const Status got = Call("Get", [&] { return tree_->Get(ReadOptions(), Key(i), &value); });
      if (!got.IsNotFound()) CheckError(got);
    }
    ReadWithoutStatus();
    std::unique_ptr<Iterator> it;
    CheckError(Call("NewIterator", [&] {
      it = tree_->NewIterator(ReadOptions());
      return it == nullptr ? Status::MemoryLimit() : it->status();
    }));
    if (it == nullptr || !it->status().ok()) return;
    CheckError(Call("iteration", [&] {
      for (it->SeekToFirst(); it->Valid();) it->Next();
      return it->status();
    }));
    CheckError(Call("iteration backwards", [&] {
      for (it->SeekToLast(); it->Valid();) it->Prev();
      return it->status();
    }));
    // A failure leaves the iterator usable.
    it->Seek(Key(1));
    EXPECT_TRUE(it->Valid() && it->key() == Slice(Key(1)));
  }

  // These calls throw.
  void ReadWithoutStatus() {
    const std::string first = Key(3);
    const std::string last = Key(70);
    bool exists = true;
    CheckError(Call("Exists", [&] {
      return CatchBadAlloc([&] {
        exists = tree_->Exists(first);
        return Status::OK();
      });
    }));
    EXPECT_TRUE(exists);
    // Both ends are within leaves, so the call reads the leaves' keys.
    CheckError(Call("Count", [&] {
      return CatchBadAlloc([&] {
        static_cast<void>(tree_->Count(KeyRange::Between(first, last)));
        return Status::OK();
      });
    }));
    const std::vector<Slice> keys = {Slice(first), Slice(last)};
    std::vector<PinnableSlice> values;
    CheckError(Call("MultiGet", [&] {
      return CatchBadAlloc(
          [&]() -> Status { return tree_->MultiGet(ReadOptions(), keys, &values).front(); });
    }));
  }

  void CheckContents(const char* when) {
    Contents found;
    const std::unique_ptr<Iterator> it = tree_->NewIterator(ReadOptions());
    for (it->SeekToFirst(); it->Valid(); it->Next())
      found[it->key().ToString()] = it->value().ToString();
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    bool is_possible = false;
    for (const Contents& contents : possible_) is_possible |= found == contents;
    EXPECT_TRUE(is_possible) << when << ": " << found.size() << " entries";
  }

  TestPool& pool_;
  const DurabilityClass durability_;
  // Belongs to the pool, like a file on the disk.
  const std::shared_ptr<MemoryStorage::Log> log_ = std::make_shared<MemoryStorage::Log>();
  std::vector<Contents> possible_;  // the last may result from a change that failed
  std::unique_ptr<PersistentTree> tree_;
};

class TreeAllocationFailure
    : public ::testing::TestWithParam<std::tuple<FailingNew::Kind, DurabilityClass>> {};

TEST_P(TreeAllocationFailure, OfEachCallLosesNothing) {
  const auto [kind, durability] = GetParam();
  TestPool pool(kPoolBytes);
  Contents contents;
  uint64_t used_bytes = 0;
  {
    const std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool);
    used_bytes = tree->Stats().used_bytes;
    for (int i = 0; i < kEntries; ++i) {
      ASSERT_TRUE(tree->Put(Key(i), "an old value").ok());
      contents[Key(i)] = "an old value";
    }
    ASSERT_TRUE(tree->Close().ok());
  }
  const std::unique_ptr<PoolMapping> raw = pool.file()->Map(PoolMapMode::kShared).value();
  const std::string image(raw->data(), raw->bytes());
  // Includes the reserve of a split.
  const uint64_t used_bytes_max = used_bytes + kLeafBytes + kLineBytes * 2;
  uint64_t number = 1;
  for (bool failed = true; failed && !HasFailure(); ++number) {
    SCOPED_TRACE(StrCat("allocation ", number));
    memcpy(raw->data(), image.data(), image.size());
    TreeWorkload workload(&pool, durability, contents);
    FailingNew::Arm(number, kind);
    workload.Run();
    failed = FailingNew::HasFailed();
    FailingNew::Arm(0, kind);
    workload.Recover(used_bytes_max);
  }
  EXPECT_GT(number, 100U);
}

INSTANTIATE_TEST_SUITE_P(
    All, TreeAllocationFailure,
    ::testing::Combine(::testing::Values(FailingNew::Kind::kOnce, FailingNew::Kind::kUntilEnds),
                       ::testing::Values(DurabilityClass::kCpuFlush, DurabilityClass::kLogged)),
    [](const ::testing::TestParamInfo<TreeAllocationFailure::ParamType>& param) {
      const bool once = std::get<0>(param.param) == FailingNew::Kind::kOnce;
      const bool logged = std::get<1>(param.param) == DurabilityClass::kLogged;
      return std::string(once ? "Once" : "UntilTheCallEnds") + (logged ? "Logged" : "Mapped");
    });

// If a put fails to allocate between its stores and its commit, it must not leave a slot in memory
// that is not in the log. Otherwise a batch that takes the same record for that slot stores nothing
// there, and after a crash its entry refers to something else.
TEST(FailedPutTest, LeavesNoSlotThatABatchTakesForStored) {
  uint64_t failures = 0;
  for (size_t value_bytes = 0; value_bytes <= 40; value_bytes += 4) {
    const std::string value(value_bytes, 'v');
    for (uint64_t number = 1;; ++number) {
      SCOPED_TRACE(StrCat("a value of ", value_bytes, " bytes, allocation ", number));
      TestPool pool(kPoolBytes);
      const auto log = std::make_shared<MemoryStorage::Log>();
      std::unique_ptr<PersistentTree> tree =
          OpenOn(OpenLoggedMedium(pool.file(), log).value()).value();
      ASSERT_TRUE(tree->Put(Key(1), "before").ok());
      FailingNew::Arm(number, FailingNew::Kind::kOnce);
      const Status put = Call("Put", [&] { return tree->Put(Key(2), value); });
      const bool failed = FailingNew::HasFailed();
      FailingNew::Arm(0, FailingNew::Kind::kOnce);
      if (!failed) break;
      if (put.ok()) continue;
      failures++;
      WriteBatch batch;
      ASSERT_TRUE(batch.Put(Key(2), value).ok());
      ASSERT_TRUE(batch.Put(Key(3), value).ok());
      // Uses another thread, because this one has reserved other objects.
      Status written;
      std::thread([&] { written = tree->Write(batch); }).join();
      if (!written.ok()) {
        // The log had no room for the put, so the tree is read-only.
        EXPECT_TRUE(written.IsMemoryLimit()) << written.ToString();
        continue;
      }
      const Files files = CopyFiles(pool.file(), *log);
      tree.reset();
      PutBack(files, pool.file(), log.get());
      tree = OpenOn(OpenLoggedMedium(pool.file(), log).value()).value();
      for (const int key : {2, 3}) {
        std::string found;
        const Status got = tree->Get(ReadOptions(), Key(key), &found);
        ASSERT_TRUE(got.ok()) << Key(key) << ": " << got.ToString();
        EXPECT_EQ(found, value);
      }
      const Status verified = tree->Verify();
      ASSERT_TRUE(verified.ok()) << verified.ToString();
    }
  }
  EXPECT_GT(failures, 20U);
}

// The error that makes the tree read-only is MemoryLimit, a kind of Aborted. The destructor must
// not take it for a pin that outlives the tree.
TEST(FailedCommitTest, LeavesATreeThatCanBeDestroyed) {
  bool failed = true;
  uint64_t read_only = 0;
  for (uint64_t number = 1; failed; ++number) {
    SCOPED_TRACE(StrCat("allocation ", number));
    TestPool pool(kPoolBytes);
    const auto log = std::make_shared<MemoryStorage::Log>();
    std::unique_ptr<PersistentTree> tree =
        OpenOn(OpenLoggedMedium(pool.file(), log).value()).value();
    FailingNew::Arm(number, FailingNew::Kind::kOnce);
    static_cast<void>(Call("Put", [&] { return tree->Put(Key(1), "value"); }));
    failed = FailingNew::HasFailed();
    FailingNew::Arm(0, FailingNew::Kind::kOnce);
    read_only += tree->Put(Key(2), "value").ok() ? uint64_t{0} : 1;
    tree.reset();
  }
  EXPECT_GT(read_only, 0U);
}

// A put whose log record cannot be allocated during a step of a checkpoint must leave no part of
// the record for the next log. Otherwise the checkpoint's end makes that log the pool's, and the
// next open refuses it as damaged.
TEST(FailedCommitTest, WithinAStepOfACheckpointLeavesALogThatOpens) {
  bool failed = true;
  for (uint64_t number = 1; failed; ++number) {
    SCOPED_TRACE(StrCat("allocation ", number));
    TestPool pool(kPoolBytes);
    const auto log = std::make_shared<MemoryStorage::Log>();
    bool is_done = false;
    auto own_storage = std::make_unique<MemoryStorage>(pool.file(), log);
    MemoryStorage* const storage = own_storage.get();
    ASSERT_TRUE(ReplayLog(storage, {.pool_id = TestPool::kId}).ok());
    std::unique_ptr<PersistentTree> tree =
        OpenOn(
            LoggedMedium::Create(std::move(own_storage), {.pool_id = TestPool::kId,
                                                          .log_bytes_max = uint64_t{16} << 10,
                                                          .private_bytes_max = uint64_t{1} << 30})
                .value())
            .value();
    storage->SetPoolSync([&] {
      // The first sync belongs to the step, during which operations continue.
      if (std::exchange(is_done, true)) return;
      std::thread([&] {
        FailingNew::Arm(number, FailingNew::Kind::kOnce);
        static_cast<void>(Call("Put", [&] { return tree->Put("other", "value"); }));
        failed = FailingNew::HasFailed();
        FailingNew::Arm(0, FailingNew::Kind::kOnce);
      }).join();
    });
    Contents acknowledged;
    for (int i = 0; !is_done; ++i) {
      ASSERT_LT(i, 1000) << "no checkpoint";
      if (tree->Put(Key(i), "a value").ok()) acknowledged[Key(i)] = "a value";
    }
    const Files files = CopyFiles(pool.file(), *log);
    tree.reset();
    PutBack(files, pool.file(), log.get());
    Result<std::unique_ptr<Medium>> medium = OpenLoggedMedium(pool.file(), log);
    ASSERT_TRUE(medium.ok()) << medium.status().ToString();
    tree = OpenOn(std::move(medium).value()).value();
    for (const auto& [key, value] : acknowledged) {
      std::string found;
      const Status got = tree->Get(ReadOptions(), key, &found);
      ASSERT_TRUE(got.ok()) << key << ": " << got.ToString();
      EXPECT_EQ(found, value);
    }
    EXPECT_TRUE(tree->Verify().ok());
  }
}

}  // namespace
}  // namespace ashlar::pmem

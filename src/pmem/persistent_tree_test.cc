// Tests the public interface on real files: classes, refusals and what a log restores.
#include "ashlar/persistent_tree.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "base/coding.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "platform/clock.h"
#include "pmem/pool.h"
#include "pmem/redo_log.h"
#include "tests/support/gate.h"
#include "tests/support/memory_log.h"

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
  // Copies the tree's files as they are now. This is the state after a crash of the machine in
  // which synced data survive and nothing else.
  void CopyFiles(const std::string& to) {
    for (const char* const ending : {"", ".log"}) {
      // Not every standard library copies over an existing file.
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

TEST_F(PersistentTreeTest, NoComparatorIsRefused) {
  options_.comparator = nullptr;
  EXPECT_TRUE(Open().IsInvalidArgument());
  EXPECT_EQ(tree_, nullptr);
  EXPECT_FALSE(std::filesystem::exists(Path()));
  options_.comparator = BytewiseComparator();
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(tree_->Close().ok());
  options_.comparator = nullptr;
  EXPECT_THAT(Open().ToString(), HasSubstr("comparator"));
  EXPECT_EQ(tree_, nullptr);
}

// Bytewise, with a name of a given length.
class NameOfLength final : public Comparator {
 public:
  explicit NameOfLength(size_t bytes) : name_(bytes, 'n') {}
  const char* Name() const override { return name_.c_str(); }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  const std::string name_;
};

TEST_F(PersistentTreeTest, AComparatorsNameHasAtMost1024Bytes) {
  const NameOfLength longest(1024);
  const NameOfLength too_long(1025);
  options_.comparator = &too_long;
  EXPECT_TRUE(Open().IsInvalidArgument());
  EXPECT_FALSE(std::filesystem::exists(Path()));
  options_.comparator = &longest;
  for (int i = 0; i < 2; ++i) {
    const Status opened = Open();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    ASSERT_TRUE(tree_->Put("key", "value").ok());
    ASSERT_TRUE(tree_->Close().ok());
  }
  tree_.reset();
}

TEST_F(PersistentTreeTest, APoolKeepsTheSizeThatItWasMadeWith) {
  struct Size {
    uint64_t asked;
    uint64_t made;
  };
  constexpr uint64_t kLeast = uint64_t{1} << 20;
  for (const Size& size : {Size{1, kLeast}, Size{kLeast + 1, kLeast + 4096}}) {
    const std::string name = std::to_string(size.asked);
    options_.pool_bytes = size.asked;
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(Open(name).ok());
      EXPECT_EQ(tree_->Stats().pool_bytes, size.made);
      ASSERT_TRUE(tree_->Close().ok());
      EXPECT_EQ(std::filesystem::file_size(Path(name)), size.made);
      options_.pool_bytes = 2 * kLeast;
    }
  }
  options_.pool_bytes = kPoolBytesMax + 1;
  EXPECT_TRUE(Open("huge").IsInvalidArgument());
  EXPECT_FALSE(std::filesystem::exists(Path("huge")));
}

TEST_F(PersistentTreeTest, APoolOfAnotherSizeIsRefused) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(tree_->Close().ok());
  std::filesystem::resize_file(Path(), options_.pool_bytes - 4096);
  EXPECT_THAT(Open().ToString(), HasSubstr("the file has"));
}

// A refused open must not leave a log. The closed pool would need it, and a copy of the pool alone
// would be refused.
TEST_F(PersistentTreeTest, ARefusedOpenLeavesAClosedPoolWithoutALog) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(tree_->Put("key", "value").ok());
  ASSERT_TRUE(tree_->Close().ok());
  tree_.reset();
  const auto flip = [&](PoolOffset offset) {
    std::fstream pool(Path(), std::ios::in | std::ios::out | std::ios::binary);
    pool.seekg(static_cast<std::streamoff>(offset));
    const int byte = pool.get();
    pool.seekp(static_cast<std::streamoff>(offset));
    pool.put(static_cast<char>(byte ^ 1));
    EXPECT_TRUE(pool.good());
  };
  const PoolOffset tag = FirstLeafOf(options_.pool_bytes) + kLeafTag;
  flip(tag);
  const Status refused = Open();
  EXPECT_TRUE(refused.IsCorruption()) << refused.ToString();
  EXPECT_THAT(refused.ToString(), HasSubstr("a wrong tag"));
  EXPECT_FALSE(std::filesystem::exists(Path() + ".log"));
  flip(tag);
  std::filesystem::copy_file(Path(), Path("copy"));
  const Status opened = Open("copy");
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  EXPECT_EQ(Get("key"), "value");
}

TEST_F(PersistentTreeTest, ACloseLeavesThePoolAlone) {
  options_.log_bytes_max = 20'000;  // causes checkpoints
  ASSERT_TRUE(Open().ok());
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(tree_->Put(std::to_string(i), std::string(1000, 'v')).ok());
  EXPECT_TRUE(std::filesystem::exists(Path() + ".log"));
  ASSERT_TRUE(tree_->Close().ok());
  for (const auto& file : std::filesystem::directory_iterator(folder_))
    EXPECT_EQ(file.path().filename().string(), "pool");
}

TEST_F(PersistentTreeTest, AnOpenInAnotherClassReplaysTheLogOfACrash) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(tree_->Put("key", "value").ok());
  CopyFiles("copy");
  ASSERT_TRUE(tree_->Close().ok());
  options_.durability = DurabilityClass::kProcessCrashOnly;
  ASSERT_TRUE(Open("copy").ok());
  EXPECT_EQ(tree_->durability_class(), DurabilityClass::kProcessCrashOnly);
  EXPECT_EQ(Get("key"), "value");
  EXPECT_FALSE(std::filesystem::exists(Path("copy") + ".log"));
  ASSERT_TRUE(tree_->Put("key", "newer").ok());
  ASSERT_TRUE(tree_->Close().ok());
  options_.durability = DurabilityClass::kLogged;
  ASSERT_TRUE(Open("copy").ok());
  EXPECT_EQ(Get("key"), "newer");
}

// At many moments the files hold exactly the acknowledged changes.
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

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// The files of a process that died: pool "copy" and its log, with kChanges acknowledged entries.
class LogDamageTest : public PersistentTreeTest {
 protected:
  static constexpr int kChanges = 120;
  static constexpr size_t kLogHeader = 4096;

  void SetUp() override {
    ASSERT_TRUE(Open().ok());
    for (int i = 0; i < kChanges; ++i) ASSERT_TRUE(tree_->Put(KeyOf(i), ValueOf(i)).ok());
    CopyFiles("copy");
    pool_ = ReadFile(Path("copy"));
    log_ = ReadFile(LogOf("copy"));
    records_end_ = log_.find_last_not_of('\0') + 1;
  }

  static std::string KeyOf(int i) { return "key" + std::to_string(1000 + i); }
  static std::string ValueOf(int i) { return std::string(50, 'v') + std::to_string(i); }
  std::string LogOf(const std::string& name) const { return Path(name) + ".log"; }
  // Returns a redo of so many bytes that writes zeros where the pool has zeros.
  std::string RedoWithoutEffect(size_t bytes) const {
    constexpr size_t kPieceHead = 16;
    std::string redo;
    PutFixed64(&redo, pool_.size() - (bytes - kPieceHead));
    PutFixed64(&redo, bytes - kPieceHead);
    redo.resize(bytes);
    return redo;
  }
  void Restore() {
    copy_.reset();
    for (const auto& file : std::filesystem::directory_iterator(folder_)) {
      if (file.path().filename().string().starts_with("copy")) std::filesystem::remove(file.path());
    }
    WriteFile(Path("copy"), pool_);
    WriteFile(LogOf("copy"), log_);
  }
  Status OpenCopy() { return PersistentTree::Open(options_, Path("copy"), &copy_); }
  // Expects the first so many changes and no others.
  void ExpectPrefix(uint64_t entries) {
    ASSERT_EQ(copy_->Count(KeyRange::All()), entries);
    for (int i = 0; i < static_cast<int>(entries); ++i) {
      std::string value;
      ASSERT_TRUE(copy_->Get(ReadOptions(), KeyOf(i), &value).ok()) << i;
      ASSERT_EQ(value, ValueOf(i));
    }
    const Status verified = copy_->Verify();
    ASSERT_TRUE(verified.ok()) << verified.ToString();
  }
  // `log` is null if there is no log.
  void ExpectRefused(const std::string& what, const std::string* log) {
    SCOPED_TRACE(what);
    Restore();
    std::filesystem::remove(LogOf("copy"));
    if (log != nullptr) WriteFile(LogOf("copy"), *log);
    for (int i = 0; i < 2; ++i) {
      const Status refused = OpenCopy();
      ASSERT_TRUE(refused.IsCorruption()) << refused.ToString();
      EXPECT_THAT(refused.ToString(), HasSubstr("copy.log"));
      EXPECT_THAT(refused.ToString(), HasSubstr("accept_log_damage"));
      EXPECT_EQ(ReadFile(Path("copy")), pool_);
      EXPECT_EQ(std::filesystem::exists(LogOf("copy")), log != nullptr);
      if (log != nullptr) {
        EXPECT_EQ(ReadFile(LogOf("copy")), *log);
      }
    }
    options_.accept_log_damage = true;
    const Status accepted = OpenCopy();
    options_.accept_log_damage = false;
    ASSERT_TRUE(accepted.ok()) << accepted.ToString();
    const uint64_t entries = copy_->Count(KeyRange::All());
    ExpectPrefix(entries);
    if (log != nullptr) {
      EXPECT_EQ(ReadFile(LogOf("copy") + ".lost-1"), *log);
    }
    ASSERT_TRUE(copy_->Put("more", "value").ok());
    ASSERT_TRUE(copy_->Close().ok());
    ASSERT_TRUE(OpenCopy().ok());
    EXPECT_EQ(copy_->Count(KeyRange::All()), entries + 1);
    ASSERT_TRUE(copy_->Close().ok());
    EXPECT_FALSE(std::filesystem::exists(LogOf("copy")));
  }

  std::string pool_;
  std::string log_;
  size_t records_end_ = 0;
  std::unique_ptr<PersistentTree> copy_;
};

// A process that dies leaves a part of its last write at the log's end.
TEST_F(LogDamageTest, ATornLogGivesAWholeNumberOfChanges) {
  const std::string whole = log_;
  Random random(3);
  uint64_t last = 0;
  for (int round = 0; round < 40; ++round) {
    const size_t end = kLogHeader + random.Uniform(records_end_ + 1 - kLogHeader);
    log_ = whole.substr(0, end) + std::string(whole.size() - end, '\0');
    Restore();
    const Status opened = OpenCopy();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    const uint64_t count = copy_->Count(KeyRange::All());
    ExpectPrefix(count);
    last = std::max(last, count);
  }
  EXPECT_GT(last, 50U);
}

// Without its checks, one flipped bit in the log's header would lose every acknowledged change, and
// one in the middle half of them. Open and Verify would return OK, and the log would be removed.
TEST_F(LogDamageTest, ADamagedLogIsRefusedAndKept) {
  const auto flip = [&](size_t at) {
    std::string log = log_;
    log[at] = static_cast<char>(log[at] ^ 1);
    return log;
  };
  std::string damaged = flip(kLogHeader + (records_end_ - kLogHeader) / 2);
  ExpectRefused("a bit in the middle", &damaged);
  for (size_t word = 0; word < 6; ++word) {
    damaged = flip(word * 8 + 1);
    ExpectRefused("a bit of the header, word " + std::to_string(word), &damaged);
  }
  damaged = flip(kLogHeader);
  ExpectRefused("a bit of the first record's length", &damaged);
  damaged = log_;
  damaged.replace(kLogHeader, 4096, std::string(4096, '\0'));
  ExpectRefused("a page of zeros", &damaged);
}

// Damage within the last record looks like a write that a crash has cut off. The change is lost,
// but the log must be kept.
TEST_F(LogDamageTest, ALogWithAPartOfARecordAtItsEndIsKept) {
  LogHeader header;
  ASSERT_TRUE(DecodeLogHeader(log_, &header));
  const size_t end = ScanMemoryLog(log_, header, false).end;
  const std::string whole = log_;
  const MemoryLog source(whole);
  LogWindow window(&source);
  size_t last = kLogHeader;
  std::string last_redo;
  for (size_t at = last; at < end; at += RecordBytesFor(last_redo)) {
    last = at;
    last_redo = ReadRedo(&window, at).value().ToString();
  }
  const auto expect = [&](const std::string& log, bool is_kept, const std::string& what) {
    SCOPED_TRACE(what);
    log_ = log;
    Restore();
    ASSERT_TRUE(OpenCopy().ok());
    ExpectPrefix(static_cast<uint64_t>(log == whole ? kChanges : kChanges - 1));
    ASSERT_EQ(std::filesystem::exists(LogOf("copy") + ".lost-1"), is_kept);
    ASSERT_TRUE(copy_->Close().ok());
    ASSERT_TRUE(OpenCopy().ok());
    EXPECT_FALSE(std::filesystem::exists(LogOf("copy") + ".lost-2"));
    if (!is_kept) return;
    EXPECT_EQ(ReadFile(LogOf("copy") + ".lost-1"), log);
    // The log changes nothing if it is put back.
    ASSERT_TRUE(copy_->Put(KeyOf(0), "newer").ok());
    ASSERT_TRUE(copy_->Close().ok());
    WriteFile(LogOf("copy"), log);
    ASSERT_TRUE(OpenCopy().ok());
    std::string value;
    ASSERT_TRUE(copy_->Get(ReadOptions(), KeyOf(0), &value).ok());
    EXPECT_EQ(value, "newer");
  };
  for (size_t at = last; at < end; at += 8) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    expect(flipped, true, "a bit of byte " + std::to_string(at - last));
  }
  const auto cut = [&](size_t bytes) {
    return whole.substr(0, last + bytes) + std::string(whole.size() - last - bytes, '\0');
  };
  expect(cut(end - last - 1 - (whole[end - 1] == '\0' ? 8 : 0)), true, "cut near its end");
  expect(cut(40), true, "cut in its head");
  // As after every other crash, nothing is kept.
  expect(whole, false, "whole");
  expect(cut(0), false, "zeros");
  // A log is written over an older one, which may have had a record of this length here.
  LogHeader older = header;
  older.generation--;
  std::string rest;
  AppendRecord(older, kChanges, last_redo, &rest);
  std::string over_older = whole;
  over_older.replace(last, rest.size(), rest);
  expect(over_older, false, "over an older log");
}

TEST_F(LogDamageTest, ALogThatWasCutOrIsMissingIsRefused) {
  std::string cut;
  ExpectRefused("empty", &cut);
  for (const size_t bytes : {size_t{100}, kLogHeader, (kLogHeader + records_end_) / 2}) {
    cut = log_.substr(0, bytes);
    ExpectRefused("cut to " + std::to_string(bytes), &cut);
  }
  ExpectRefused("missing", nullptr);
}

// An interrupted copy leaves such a log, whose length is one that logs have.
TEST_F(LogDamageTest, ALogThatEndsWithinARecordIsRefused) {
  ASSERT_TRUE(tree_->Put("large", std::string(100'000, 'l')).ok());
  CopyFiles("copy");
  pool_ = ReadFile(Path("copy"));
  const std::string cut = ReadFile(LogOf("copy")).substr(0, size_t{64} << 10);
  if (BootId() != 0) {
    ExpectRefused("cut to 64 KiB", &cut);
    return;
  }
  // If the system does not tell its boots apart, a power cut may have left the record, so the
  // changes before it count.
  Restore();
  WriteFile(LogOf("copy"), cut);
  ASSERT_TRUE(OpenCopy().ok());
  ExpectPrefix(kChanges);
}

// A copy may end within the head of a record, at a length that logs have. It is refused if at least
// 32 bytes of the head are left. With fewer it is opened, but the log is kept.
TEST_F(LogDamageTest, ALogThatEndsWithinAHeadIsRefusedOrKept) {
  constexpr size_t kFile = size_t{64} << 10;
  constexpr size_t kHead = 48;
  constexpr size_t kIdentityEnd = 32;
  LogHeader header;
  ASSERT_TRUE(DecodeLogHeader(log_, &header));
  LogHeader older = header;
  older.generation--;
  const LogScan scan = ScanMemoryLog(log_, header, false);
  for (size_t rest = 1; rest < kHead; ++rest) {
    SCOPED_TRACE(rest);
    std::string log = log_.substr(0, scan.end);
    AppendRecord(header, scan.records, RedoWithoutEffect(kFile - rest - scan.end - kHead), &log);
    ASSERT_EQ(log.size(), kFile - rest);
    std::string cut = log;
    AppendRecord(header, scan.records + 1, RedoWithoutEffect(100), &cut);
    cut.resize(kFile);
    // After a power loss this may be the first part of a write.
    const LogScan after_power_loss = ScanMemoryLog(cut, header, true);
    EXPECT_FALSE(after_power_loss.is_damaged);
    EXPECT_TRUE(after_power_loss.has_rest);
    if (rest >= kIdentityEnd && BootId() != 0) {
      ExpectRefused("cut within a head", &cut);
    } else {
      Restore();
      WriteFile(LogOf("copy"), cut);
      ASSERT_TRUE(OpenCopy().ok());
      ExpectPrefix(kChanges);
      EXPECT_EQ(ReadFile(LogOf("copy") + ".lost-1"), cut);
    }
    // If the log was not cut, it is written over an older one or has grown by zeros.
    std::string over_older = log;
    AppendRecord(older, scan.records + 1, RedoWithoutEffect(100), &over_older);
    over_older.resize(kFile);
    EXPECT_FALSE(ScanMemoryLog(over_older, header, false).is_damaged);
    // The first 24 bytes of a head do not show the older generation.
    EXPECT_EQ(ScanMemoryLog(over_older, header, false).has_rest, rest <= 24);
    log.resize(kFile);
    EXPECT_FALSE(ScanMemoryLog(log, header, false).is_damaged);
    EXPECT_FALSE(ScanMemoryLog(log, header, false).has_rest);
  }
}

TEST_F(LogDamageTest, ALogOfAnotherPoolIsNotReplayed) {
  std::unique_ptr<PersistentTree> other;
  ASSERT_TRUE(PersistentTree::Open(options_, Path("other"), &other).ok());
  ASSERT_TRUE(other->Put("other", "value").ok());
  const std::string log = ReadFile(LogOf("other"));
  ASSERT_TRUE(other->Close().ok());
  ExpectRefused("of another pool", &log);
  // A pool that was closed needs no log.
  WriteFile(LogOf("other"), log_);
  ASSERT_TRUE(PersistentTree::Open(options_, Path("other"), &other).ok());
  EXPECT_EQ(other->Count(KeyRange::All()), 1U);
  EXPECT_EQ(ReadFile(LogOf("other") + ".lost-1"), log_);
}

// A log that is put back after later sessions must not restore the values from before them.
TEST_F(LogDamageTest, AStaleLogIsNotReplayed) {
  Restore();
  ASSERT_TRUE(OpenCopy().ok());
  for (int i = 0; i < kChanges; ++i) ASSERT_TRUE(copy_->Put(KeyOf(i), "new").ok());
  const std::string newer_log = ReadFile(LogOf("copy"));
  ASSERT_TRUE(copy_->Close().ok());
  WriteFile(LogOf("copy"), log_);
  ASSERT_TRUE(OpenCopy().ok());
  for (int i = 0; i < kChanges; ++i) {
    std::string value;
    ASSERT_TRUE(copy_->Get(ReadOptions(), KeyOf(i), &value).ok());
    ASSERT_EQ(value, "new");
  }
  EXPECT_EQ(ReadFile(LogOf("copy") + ".lost-1"), log_);
  ASSERT_TRUE(copy_->Close().ok());
  ExpectRefused("of a later session", &newer_log);
}

// A pool is put back that is older than the changes of this log.
TEST_F(LogDamageTest, ALogThatIsNewerThanAClosedPoolIsRefused) {
  Restore();
  ASSERT_TRUE(OpenCopy().ok());
  ASSERT_TRUE(copy_->Close().ok());
  pool_ = ReadFile(Path("copy"));
  ASSERT_TRUE(OpenCopy().ok());
  ASSERT_TRUE(copy_->Put("later", "value").ok());
  const std::string log = ReadFile(LogOf("copy"));
  ASSERT_TRUE(copy_->Close().ok());
  ExpectRefused("newer", &log);
}

// With its only record damaged or cut off, the log looks like one that an open has just made. It
// must not be removed.
TEST_F(LogDamageTest, ALogThatIsNewerThanAClosedPoolIsRefusedWithoutAReadableRecord) {
  Restore();
  ASSERT_TRUE(OpenCopy().ok());
  ASSERT_TRUE(copy_->Close().ok());
  pool_ = ReadFile(Path("copy"));
  ASSERT_TRUE(OpenCopy().ok());
  const std::string file = ReadFile(LogOf("copy"));
  ASSERT_TRUE(copy_->Close().ok());
  LogHeader header;
  ASSERT_TRUE(DecodeLogHeader(file, &header));
  const std::string begun = file.substr(0, kLogHeader);
  const std::string redo = RedoWithoutEffect(100);
  for (size_t at = 0; at < RecordBytesFor(redo); at += 8) {
    std::string damaged = begun;
    AppendRecord(header, 0, redo, &damaged);
    damaged.resize(file.size());
    damaged[kLogHeader + at] = static_cast<char>(damaged[kLogHeader + at] ^ 1);
    ExpectRefused("a bit of byte " + std::to_string(at), &damaged);
  }
  ExpectRefused("cut after the header", &begun);
  // A crash within an open leaves such a log.
  log_ = begun;
  log_.resize(file.size());
  Restore();
  ASSERT_TRUE(OpenCopy().ok());
  EXPECT_FALSE(std::filesystem::exists(LogOf("copy") + ".lost-1"));
}

// A log next to the link would be missed if the pool is opened by its own name. The next open by
// the link would then replay its changes over newer ones.
TEST_F(PersistentTreeTest, TheLogIsNextToThePoolWhateverLinkItIsOpenedThrough) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(tree_->Close().ok());
  std::error_code error;
  std::filesystem::create_symlink(Path(), Path("link"), error);
  if (error) GTEST_SKIP() << "no links here: " << error.message();
  ASSERT_TRUE(Open("link").ok());
  ASSERT_TRUE(tree_->Put("key", "value").ok());
  EXPECT_EQ(tree_->path(), Path("link"));
  EXPECT_TRUE(std::filesystem::exists(Path() + ".log"));
  EXPECT_FALSE(std::filesystem::exists(Path("link") + ".log"));
}

// Returns to the original folder of the process when it is destroyed.
class FolderKeeper {
 public:
  FolderKeeper() = default;
  ~FolderKeeper() { std::filesystem::current_path(before_); }
  FolderKeeper(const FolderKeeper&) = delete;
  FolderKeeper& operator=(const FolderKeeper&) = delete;

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
};

// On Windows, too, a checkpoint must not make the next log in the folder that is current by then.
TEST_F(PersistentTreeTest, TheLogStaysNextToThePoolWhenTheProcessChangesItsFolder) {
  options_.log_bytes_max = 20'000;
  const FolderKeeper keeper;
  const std::filesystem::path next = folder_ / "next";
  std::filesystem::create_directory(next);
  std::filesystem::current_path(folder_);
  const Status opened = PersistentTree::Open(options_, "pool", &tree_);
  std::filesystem::current_path(next);
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(tree_->Put(std::to_string(i), std::string(1000, 'v')).ok());
  EXPECT_TRUE(std::filesystem::exists(Path() + ".log"));
  EXPECT_FALSE(std::filesystem::exists(next / "pool.log"));
  ASSERT_TRUE(tree_->Close().ok());
  EXPECT_FALSE(std::filesystem::exists(Path() + ".log"));
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(tree_->Count(KeyRange::All()), 100U);
}

// A crash leaves the spare log, too. A user who puts a closed copy of the pool back removes only
// the log, and the spare log may be damaged.
TEST_F(PersistentTreeTest, ASpareLogOfAnotherSessionIsNotUsed) {
  options_.log_bytes_max = 20'000;
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(tree_->Close().ok());
  WriteFile(Path() + ".log.spare", std::string(70'000, 's'));
  ASSERT_TRUE(Open().ok());
  const std::string value(1000, 'v');
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(tree_->Put(std::to_string(i), value).ok());
    if (i % 5 != 4) continue;
    CopyFiles("copy");
    std::unique_ptr<PersistentTree> copy;
    const Status opened = PersistentTree::Open(options_, Path("copy"), &copy);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    ASSERT_EQ(copy->Count(KeyRange::All()), static_cast<uint64_t>(i) + 1);
  }
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

// Each round begins with the mark of an open.
TEST_F(PersistentTreeTest, WritersChangeEverythingWhileTheMarkLooksForFreeSpace) {
  options_.durability = DurabilityClass::kProcessCrashOnly;
  ASSERT_TRUE(Open().ok());
  std::vector<std::map<std::string, std::string>> models(3);
  Random seeds(23);
  for (int round = 0; round < 12; ++round) {
    std::vector<std::thread> threads;
    for (size_t writer = 0; writer < models.size(); ++writer) {
      threads.emplace_back([&, writer, round, seed = seeds.Next()] {
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
    // Open again, so that the next round begins with the mark.
    ASSERT_TRUE(tree_->Close().ok());
    ASSERT_TRUE(Open().ok());
  }
}

TEST_F(PersistentTreeTest, AHalfMadePoolIsMadeAgain) {
  std::ofstream(Path() + ".creating") << "half";
  ASSERT_TRUE(Open().ok());
  EXPECT_FALSE(std::filesystem::exists(Path() + ".creating"));
}

// The second of two creators must not replace the pool of the first, which is in use.
TEST_F(PersistentTreeTest, ACreatorLeavesThePoolThatAnotherOneHasMade) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(tree_->Put("key", "value").ok());
  const Result<bool> made = CreatePool(Path(), options_.pool_bytes, 0, *options_.comparator);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_FALSE(made.value());
  EXPECT_FALSE(std::filesystem::exists(Path() + ".creating"));
  ASSERT_TRUE(tree_->Close().ok());
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Get("key"), "value");
}

// Without exclusion, twelve of 100 rounds would lose an acknowledged put.
TEST_F(PersistentTreeTest, WhatTwoCreatorsHaveAcknowledgedIsThere) {
  options_.durability = DurabilityClass::kProcessCrashOnly;
  options_.pool_bytes = uint64_t{1} << 20;
  int acknowledged = 0;
  for (int round = 0; round < 100; ++round) {
    const std::string name = "made" + std::to_string(round);
    std::array<bool, 2> has_put = {};
    Gate begin;
    std::vector<std::thread> creators;
    for (size_t i = 0; i < has_put.size(); ++i) {
      creators.emplace_back([&, i] {
        begin.Wait();
        std::unique_ptr<PersistentTree> tree;
        const Status opened = PersistentTree::Open(options_, Path(name), &tree);
        if (!opened.ok()) {
          EXPECT_TRUE(opened.IsIOError()) << opened.ToString();
          return;
        }
        has_put[i] = tree->Put("creator" + std::to_string(i), "value").ok();
        EXPECT_TRUE(has_put[i]);
      });
    }
    begin.Open();
    for (std::thread& creator : creators) creator.join();
    ASSERT_TRUE(Open(name).ok());
    for (size_t i = 0; i < has_put.size(); ++i) {
      if (!has_put[i]) continue;
      ASSERT_EQ(Get("creator" + std::to_string(i)), "value") << "round " << round;
      ++acknowledged;
    }
    ASSERT_TRUE(tree_->Close().ok());
    std::filesystem::remove(Path(name));
  }
  EXPECT_GT(acknowledged, 0);
}

TEST_F(PersistentTreeTest, OneCreatorAtATimeMakesAPool) {
  {
    const std::unique_ptr<PoolFile> other = PoolFile::Create(Path() + ".creating", 4096, 0).value();
    EXPECT_THAT(Open().ToString(), HasSubstr("in use"));
    EXPECT_TRUE(std::filesystem::exists(Path() + ".creating"));
  }
  ASSERT_TRUE(Open().ok());
}

// A creator that dies leaves its temporary file, which is empty, complete or also the pool's file.
TEST_F(PersistentTreeTest, ACreatorThatDiedIsNoObstacle) {
  ASSERT_TRUE(Open("made").ok());
  ASSERT_TRUE(tree_->Close().ok());
  std::ofstream(Path() + ".creating");
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(tree_->Close().ok());
  std::filesystem::remove(Path());
  std::filesystem::copy_file(Path("made"), Path() + ".creating");
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(tree_->Put("key", "value").ok());
  ASSERT_TRUE(tree_->Close().ok());
  std::filesystem::create_hard_link(Path(), Path() + ".creating");
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Get("key"), "value");
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

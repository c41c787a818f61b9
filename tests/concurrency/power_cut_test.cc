// Power cuts of a database on which threads write, sync the log, flush and ingest at once.
//
//   SyncWAL, FlushWAL(true)    all writes that were acknowledged before the call survive
//   IngestExternalFile         the file and those writes survive; after a call that did not end,
//                              those writes survive if the file does
//   MarkWalTerminationPoint    the part of a batch after the point does not survive without the
//                              part before it
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/sst_file_writer.h"
#include "base/format.h"
#include "platform/mutex.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

constexpr char kPath[] = "/db";
constexpr size_t kWriters = 2;
constexpr uint64_t kBatches = 200;
constexpr uint64_t kSyncs = 60;
constexpr uint64_t kFlushes = 20;
constexpr uint64_t kFiles = 10;
constexpr uint64_t kCuts = 60;
constexpr CrashKind kKinds[] = {CrashKind::kDurableOnly, CrashKind::kPrefix, CrashKind::kEntryLost,
                                CrashKind::kRandomSubset};

// The last version of each writer. 0: none.
using Versions = std::array<uint64_t, kWriters>;

std::string LoggedKey(size_t writer) { return StrCat("logged", writer); }
std::string UnloggedKey(size_t writer) { return StrCat("unlogged", writer); }
std::string FileKey(uint64_t file) { return StrCat("file", file); }

// The data that survive every cut after `operations` operations of the file system.
struct Promise {
  uint64_t operations = 0;
  Versions versions = {};
  uint64_t files = 0;
};

// manual_wal_flush: the log waits in memory for the syncs.
class PowerCutThreads : public ::testing::TestWithParam<bool> {
 protected:
  PowerCutThreads() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.manual_wal_flush = GetParam();
    options_.level0_file_num_compaction_trigger = 4;
    options_.info_log = std::make_shared<SilentLogger>();
    EXPECT_OK(DB::Open(options_, kPath, &db_));
    ColumnFamilyHandle* made = nullptr;
    EXPECT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "other", &made));
    other_.reset(made);
    operations_at_begin_ = files_->OperationCount();
  }

  Versions Acknowledged() const {
    Versions versions = {};
    for (size_t writer = 0; writer < kWriters; ++writer) versions[writer] = acknowledged_[writer];
    return versions;
  }
  void Keep(Promise promise) {
    promise.operations = files_->OperationCount();
    MutexLock lock(mutex_);
    promises_.push_back(promise);
  }

  // ---- The threads.

  void Write(size_t writer) {
    for (uint64_t version = 1; version <= kBatches; ++version) {
      WriteBatch batch;
      ASSERT_OK(batch.Put(LoggedKey(writer), StrCat(version)));
      batch.MarkWalTerminationPoint();
      ASSERT_OK(batch.Put(other_.get(), UnloggedKey(writer), StrCat(version)));
      ASSERT_OK(db_->Write(WriteOptions(), &batch));
      acknowledged_[writer] = version;
    }
  }
  void Sync() {
    for (uint64_t i = 0; i < kSyncs; ++i) {
      const Promise promise{.versions = Acknowledged()};
      ASSERT_OK(i % 2 == 0 ? db_->SyncWAL() : db_->FlushWAL(true));
      Keep(promise);
    }
  }
  void Flush() {
    for (uint64_t i = 0; i < kFlushes; ++i)
      ASSERT_OK(db_->Flush(FlushOptions(), i % 3 == 0 ? db_->DefaultColumnFamily() : other_.get()));
  }
  void Ingest() {
    for (uint64_t file = 1; file <= kFiles; ++file) {
      const std::string path = StrCat("/external", file);
      SstFileWriter writer(EnvOptions(), options_);
      ASSERT_OK(writer.Open(path));
      ASSERT_OK(writer.Put(FileKey(file), "ingested"));
      ASSERT_OK(writer.Finish());
      before_file_[file - 1] = Acknowledged();
      ASSERT_OK(db_->IngestExternalFile({path}, IngestExternalFileOptions()));
      Keep({.versions = before_file_[file - 1], .files = file});
    }
  }

  // ---- The cuts.

  Promise PromisedAfter(uint64_t operations) const {
    Promise all{.operations = operations};
    MutexLock lock(mutex_);
    for (const Promise& promise : promises_) {
      if (promise.operations > operations) continue;
      all.files = std::max(all.files, promise.files);
      for (size_t i = 0; i < kWriters; ++i)
        all.versions[i] = std::max(all.versions[i], promise.versions[i]);
    }
    return all;
  }

  static uint64_t Read(DB* db, ColumnFamilyHandle* family, const std::string& key) {
    std::string value;
    const Status got = db->Get(ReadOptions(), family, key, &value);
    EXPECT_TRUE(got.ok() || got.IsNotFound()) << key << ": " << got.ToString();
    return got.ok() ? std::stoull(value) : 0;
  }

  void CheckImage(const CrashImage& image, const Promise& promised) const {
    SCOPED_TRACE(StrCat(CrashKindName(image.kind), " after ", promised.operations));
    const std::unique_ptr<Env> env(NewCompositeEnv(image.file_system));
    Options options = options_;
    options.env = env.get();
    std::vector<ColumnFamilyHandle*> handles;
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(DBOptions(options), kPath,
                       {{kDefaultColumnFamilyName, ColumnFamilyOptions(options)},
                        {"other", ColumnFamilyOptions(options)}},
                       &handles, &db));
    const std::unique_ptr<ColumnFamilyHandle> owned(handles[0]);
    const std::unique_ptr<ColumnFamilyHandle> other(handles[1]);
    Versions logged = {};
    for (size_t writer = 0; writer < kWriters; ++writer) {
      logged[writer] = Read(db.get(), handles[0], LoggedKey(writer));
      EXPECT_GE(logged[writer], promised.versions[writer]) << "of writer " << writer;
      EXPECT_GE(logged[writer], Read(db.get(), handles[1], UnloggedKey(writer)))
          << "half of a batch of writer " << writer;
    }
    for (uint64_t file = 1; file <= kFiles; ++file) {
      std::string value;
      const Status got = db->Get(ReadOptions(), FileKey(file), &value);
      ASSERT_TRUE(got.ok() || got.IsNotFound()) << got.ToString();
      EXPECT_TRUE(got.ok() || file > promised.files) << "file " << file;
      for (size_t i = 0; got.ok() && i < kWriters; ++i)
        EXPECT_GE(logged[i], before_file_[file - 1][i]) << "older than file " << file;
    }
  }

  const std::shared_ptr<CrashFileSystem> files_ = std::make_shared<CrashFileSystem>();
  const std::unique_ptr<Env> env_{NewCompositeEnv(files_)};
  Options options_;
  std::unique_ptr<DB> db_;
  std::unique_ptr<ColumnFamilyHandle> other_;
  uint64_t operations_at_begin_ = 0;
  std::array<std::atomic<uint64_t>, kWriters> acknowledged_{};
  std::array<Versions, kFiles> before_file_{};  // used by the thread that ingests
  mutable Mutex mutex_;
  std::vector<Promise> promises_ ASHLAR_GUARDED_BY(mutex_);
};

TEST_P(PowerCutThreads, SyncsAndIngestionsKeepWhatWasAcknowledgedBefore) {
  std::vector<std::thread> threads;
  for (size_t writer = 0; writer < kWriters; ++writer)
    threads.emplace_back([this, writer] { Write(writer); });
  threads.emplace_back([this] { Sync(); });
  threads.emplace_back([this] { Flush(); });
  threads.emplace_back([this] { Ingest(); });
  for (std::thread& thread : threads) thread.join();
  ASSERT_FALSE(HasFailure());
  const uint64_t operations = files_->OperationCount() - operations_at_begin_;
  for (uint64_t cut = 1; cut <= kCuts && !HasFailure(); ++cut) {
    const uint64_t k = operations_at_begin_ + operations * cut / kCuts;
    for (const CrashKind kind : kKinds)
      CheckImage(files_->MakeCrashImage(k, kind, cut), PromisedAfter(k));
  }
}

INSTANTIATE_TEST_SUITE_P(Logs, PowerCutThreads, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& manual) -> std::string {
                           return manual.param ? "FlushedByHand" : "FlushedByWrites";
                         });

}  // namespace
}  // namespace ashlar

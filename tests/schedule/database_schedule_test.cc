// A database under the scheduler: clients on a few keys of two families, while memtables are
// flushed, tables compacted, families created and dropped, options changed and the database closed.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/db.h"
#include "ashlar/listener.h"
#include "ashlar/merge_operator.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/table.h"
#include "base/format.h"
#include "execute/clock.h"
#include "execute/thread_pool_executor.h"
#include "filesystem/memory_file_system.h"
#include "platform/mutex.h"
#include "tests/schedule/scheduler.h"
#include "tests/schedule/schedules.h"
#include "tests/support/database_client.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/linearizability.h"
#include "tests/support/manual_env.h"
#include "tests/support/world_env.h"

namespace ashlar::test {
namespace {

// An environment with files in memory and background threads that start and end with it.
class OwnThreadsEnv final : public WorldEnv {
 public:
  explicit OwnThreadsEnv(const std::shared_ptr<vfs::FileSystem>& file_system)
      : WorldEnv(file_system),
        clock_(MachineClock()),
        executor_(ThreadPoolExecutor::Start({.high_threads = 1, .low_threads = 1}).value()) {}
  ~OwnThreadsEnv() override { executor_->Shutdown(); }

  void SetBackgroundThreads(int, Priority) override {}
  void IncBackgroundThreadsIfNeeded(int, Priority) override {}
  int GetBackgroundThreads(Priority) override { return 1; }
  Executor* executor() override { return executor_.get(); }
  Clock* clock() override { return clock_.get(); }

 private:
  const std::shared_ptr<Clock> clock_;
  const std::unique_ptr<ThreadPoolExecutor> executor_;
};

constexpr char kPath[] = "/db";
constexpr uint64_t kKeys = 2;

// With kTiny, a few values of kLargeValueBytes fill a memtable and one or two fill a level, so that
// the base level moves during a test, and writers are delayed and stopped. Only two tables may be
// open and one block cached, so both are closed and evicted while others read them.
enum class Levels : uint8_t { kDefault, kTiny };
constexpr size_t kLargeValueBytes = 12 << 10;

class Database {
 public:
  explicit Database(Levels levels = Levels::kDefault,
                    std::shared_ptr<vfs::FileSystem> files = std::make_shared<MemoryFileSystem>())
      : files_(std::move(files)) {
    options_.create_if_missing = true;
    options_.create_missing_column_families = true;
    options_.compression = kNoCompression;
    options_.info_log = std::make_shared<SilentLogger>();
    options_.merge_operator = MergeOperators::CreateStringAppendOperator(',');
    options_.level0_file_num_compaction_trigger = 2;
    if (levels == Levels::kDefault) return;
    options_.write_buffer_size = 64 << 10;  // the minimum
    options_.level0_slowdown_writes_trigger = 4;
    options_.level0_stop_writes_trigger = 6;
    options_.target_file_size_base = kLargeValueBytes;
    options_.max_bytes_for_level_base = 2 * kLargeValueBytes;
    options_.max_bytes_for_level_multiplier = 2;
    options_.max_open_files = 2;
    BlockBasedTableOptions table;
    table.block_cache = NewLRUCache(2 * kLargeValueBytes);
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }
  ~Database() { Close(); }

  // Requires: Open was not called.
  void AddListener(std::shared_ptr<EventListener> listener) {
    options_.listeners.push_back(std::move(listener));
  }
  void Open() {
    env_ = std::make_unique<OwnThreadsEnv>(files_);
    options_.env = env_.get();
    std::vector<std::string> there;
    static_cast<void>(DB::ListColumnFamilies(options_, kPath, &there).ok());
    std::vector<ColumnFamilyDescriptor> families = {{"default", options_}, {"second", options_}};
    // Families that were not dropped before Close.
    for (const std::string& name : there) {
      if (name.starts_with("other")) families.emplace_back(name, options_);
    }
    std::vector<ColumnFamilyHandle*> handles;
    ASSERT_OK(DB::Open(options_, kPath, families, &handles, &db_));
    for (ColumnFamilyHandle* const handle : handles) handles_.emplace_back(handle);
  }
  void Close() {
    handles_.clear();
    db_.reset();
    env_.reset();
  }

  DB* db() { return db_.get(); }
  ColumnFamilyHandle* first() { return handles_[0].get(); }
  ColumnFamilyHandle* second() { return handles_[1].get(); }
  // Null if there was none at the open.
  ColumnFamilyHandle* other() { return handles_.size() > 2 ? handles_[2].get() : nullptr; }
  const Options& options() const { return options_; }
  HistoryContents Contents() { return DatabaseClient::Contents(db(), second(), kKeys); }

 private:
  const std::shared_ptr<vfs::FileSystem> files_;
  std::unique_ptr<OwnThreadsEnv> env_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::vector<std::unique_ptr<ColumnFamilyHandle>> handles_;
};

// Changes the shape of the database but not its contents. When it is closing, the change may fail.
void Change(Database* database, Random* random, bool closing) {
  DB* const db = database->db();
  const auto check = [closing](const Status& status) {
    EXPECT_TRUE(status.ok() || (closing && !status.IsCorruption())) << status.ToString();
    return status.ok();
  };
  switch (random->Uniform(5)) {
    case 0: check(db->Flush(FlushOptions(), {database->first(), database->second()})); break;
    case 1: check(db->Flush(FlushOptions(), database->first())); break;
    case 2: check(db->CompactRange(CompactRangeOptions(), nullptr, nullptr)); break;
    case 3:
      check(db->SetOptions(database->second(), {{"level0_file_num_compaction_trigger", "3"}}));
      break;
    default: {
      ColumnFamilyHandle* other = nullptr;
      if (!check(db->CreateColumnFamily(database->options(), "other", &other))) return;
      const std::unique_ptr<ColumnFamilyHandle> owned(other);
      check(db->Put(WriteOptions(), other, "key", "value"));
      check(db->DropColumnFamily(other));
    }
  }
}

// Family "other", which one thread drops and creates again while others use it. Its values are
// "LIFE VERSION": LIFE is a number that rises with each new family, and VERSION one that rises with
// each write.
class SharedFamily {
 public:
  struct Life {
    std::unique_ptr<ColumnFamilyHandle> handle;
    int number = 0;
    std::atomic<int> acknowledged{0};  // version of "key"
    std::atomic<bool> ends{false};     // set before the drop

    std::string Value(int version) const { return StrCat(number, " ", version); }
    // Returns whether a call succeeded. If not, it must have failed in an allowed way.
    bool Check(const Status& status) const {
      EXPECT_TRUE(status.ok() ||
                  (ends && (status.IsColumnFamilyDropped() || status.IsInvalidArgument())))
          << status.ToString();
      return status.ok();
    }
  };

  explicit SharedFamily(Database* database) : database_(database) { Make(); }

  std::shared_ptr<Life> Take() const {
    const MutexLock lock(mutex_);
    return life_;
  }
  // Called by only one thread.
  void Replace() {
    const std::shared_ptr<Life> old = Take();
    old->ends = true;
    EXPECT_OK(database_->db()->DropColumnFamily(old->handle.get()));
    Make();
  }

 private:
  void Make() {
    auto made = std::make_shared<Life>();
    made->number = ++lives_;
    ColumnFamilyHandle* handle = nullptr;
    ASSERT_OK(database_->db()->CreateColumnFamily(database_->options(), "other", &handle));
    made->handle.reset(handle);
    for (const char* const key : {"key", "own"})
      EXPECT_OK(database_->db()->Put(WriteOptions(), handle, key, made->Value(0)));
    const MutexLock lock(mutex_);
    life_ = std::move(made);
  }

  Database* const database_;
  int lives_ = 0;
  mutable Mutex mutex_;
  std::shared_ptr<Life> life_ ASHLAR_GUARDED_BY(mutex_);
};

struct LifeAndVersion {
  int life = 0;
  int version = 0;
};

LifeAndVersion Parse(const std::string& value) {
  const size_t space = value.find(' ');
  if (space == std::string::npos) return {};
  return {.life = std::stoi(value), .version = std::stoi(value.substr(space))};
}

// Reads "key" of the shared family, alone or at one moment with that of the default family.
void ReadShared(Database* database, const SharedFamily::Life& life, Random* random) {
  DB* const db = database->db();
  const std::vector<ColumnFamilyHandle*> families = {database->first(), life.handle.get()};
  const int floor = life.acknowledged;
  std::vector<std::string> found(2);
  switch (random->Uniform(3)) {
    case 0: EXPECT_OK(db->Get(ReadOptions(), families[1], "key", &found[1])); break;
    case 1: {
      const std::vector<Status> statuses =
          db->MultiGet(ReadOptions(), families, {Slice("key"), Slice("key")}, &found);
      EXPECT_TRUE(statuses[0].ok() || statuses[0].IsNotFound()) << statuses[0].ToString();
      EXPECT_OK(statuses[1]);
      break;
    }
    default: {
      std::vector<Iterator*> made;
      EXPECT_OK(db->NewIterators(ReadOptions(), families, &made));
      for (size_t i = 0; i < made.size(); ++i) {
        const std::unique_ptr<Iterator> it(made[i]);
        it->Seek("key");
        EXPECT_OK(it->status());
        if (it->Valid()) found[i] = it->value().ToString();
      }
    }
  }
  const LifeAndVersion shared = Parse(found[1]);
  EXPECT_EQ(shared.life, life.number) << "another family's value: " << found[1];
  EXPECT_GE(shared.version, floor);
  const LifeAndVersion first = Parse(found[0]);
  if (first.life == shared.life) {
    EXPECT_EQ(first.version, shared.version) << "half of a batch";
  }
}

// A read through a handle of a dropped family returns its data. A write succeeds and is readable,
// or it is refused completely.
TEST(DatabaseScheduleTest, AFamilyThatIsDroppedInUseHasItsDataOrRefuses) {
  ForEachSchedule(1000, [](uint64_t seed) {
    Database database;
    database.Open();
    DB* const db = database.db();
    auto shared = std::make_unique<SharedFamily>(&database);
    std::string last;  // value of "key" in the default family
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) shared->Replace();
    });
    threads.emplace_back([&] {
      for (int version = 1; version <= 8; ++version) {
        const std::shared_ptr<SharedFamily::Life> life = shared->Take();
        const std::string value = life->Value(version);
        WriteBatch batch;
        EXPECT_OK(batch.Put(database.first(), "key", value));
        EXPECT_OK(batch.Put(life->handle.get(), "key", value));
        std::string found;
        if (life->Check(db->Write(WriteOptions(), &batch))) {
          life->acknowledged = version;
          last = value;
          EXPECT_OK(db->Get(ReadOptions(), life->handle.get(), "key", &found));
          EXPECT_EQ(found, value) << "an acknowledged write is lost";
        }
        const Status got = db->Get(ReadOptions(), "key", &found);
        EXPECT_EQ(got.ok() ? found : std::string(), last) << "half of a batch";
      }
    });
    threads.emplace_back([&] {
      Random random(seed);
      for (int version = 1; version <= 6; ++version) {
        const std::shared_ptr<SharedFamily::Life> life = shared->Take();
        ColumnFamilyHandle* const handle = life->handle.get();
        switch (random.Uniform(5)) {
          case 0: life->Check(db->Flush(FlushOptions(), handle)); break;
          case 1: life->Check(db->Flush(FlushOptions(), {database.first(), handle})); break;
          case 2:
            life->Check(db->CompactRange(CompactRangeOptions(), handle, nullptr, nullptr));
            break;
          case 3:
            life->Check(db->SetOptions(handle, {{"level0_file_num_compaction_trigger", "3"}}));
            break;
          default: {
            if (!life->Check(db->Put(WriteOptions(), handle, "own", life->Value(version)))) break;
            std::string found;
            EXPECT_OK(db->Get(ReadOptions(), handle, "own", &found));
            EXPECT_EQ(found, life->Value(version)) << "an acknowledged write is lost";
          }
        }
      }
    });
    for (uint64_t reader = 0; reader < 2; ++reader) {
      threads.emplace_back([&, reader] {
        Random random(seed * 2 + reader);
        for (int i = 0; i < 6; ++i) ReadShared(&database, *shared->Take(), &random);
      });
    }
    for (std::thread& thread : threads) thread.join();
    const int number = shared->Take()->number;
    const int acknowledged = shared->Take()->acknowledged;
    shared.reset();
    database.Close();
    database.Open();
    ASSERT_NE(database.other(), nullptr);
    std::string found;
    EXPECT_OK(database.db()->Get(ReadOptions(), database.other(), "key", &found));
    EXPECT_EQ(found, StrCat(number, " ", acknowledged));
    const Status got = database.db()->Get(ReadOptions(), "key", &found);
    EXPECT_EQ(got.ok() ? found : std::string(), last);
  });
}

void ExpectEveryKeyLinearizable(uint64_t schedules, DatabaseClient::Deletions deletions) {
  ForEachSchedule(schedules, [deletions](uint64_t seed) {
    Database database;
    database.Open();
    HistoryRecorder recorder;
    std::vector<std::unique_ptr<HistoryClient>> clients;
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < 3; ++i) {
      clients.push_back(std::make_unique<DatabaseClient>(
          database.db(), database.second(), &recorder, kKeys, seed * 3 + i, deletions));
    }
    for (const auto& client : clients) threads.emplace_back([&client] { client->Run(8); });
    threads.emplace_back([&] {
      Random random(seed);
      for (int i = 0; i < 4; ++i) Change(&database, &random, false);
    });
    for (std::thread& thread : threads) thread.join();
    ExpectLinearizable(clients, {}, database.Contents());
    database.Close();
    database.Open();
    ExpectLinearizable(clients, {}, database.Contents());
  });
}

TEST(DatabaseScheduleTest, EveryKeyIsLinearizableWhileTheShapeChanges) {
  ExpectEveryKeyLinearizable(2000, DatabaseClient::Deletions::kOfKeys);
}

TEST(DatabaseScheduleTest, EveryKeyIsLinearizableWithDeletionsOfRanges) {
  ExpectEveryKeyLinearizable(1000, DatabaseClient::Deletions::kOfRanges);
}

TEST(DatabaseScheduleTest, OneSeedIsOneSchedule) {
  const auto body = [] {
    Database database;
    database.Open();
    std::thread writer([&] {
      for (int i = 0; i < 5; ++i)
        EXPECT_OK(database.db()->Put(WriteOptions(), StrCat("key", i), "value"));
    });
    for (int i = 0; i < 3; ++i) EXPECT_OK(database.db()->Flush(FlushOptions()));
    writer.join();
  };
  PrepareSchedules(body);
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const ScheduleResult first = RunScheduled(seed, body);
    const ScheduleResult second = RunScheduled(seed, body);
    EXPECT_EQ(first.hash, second.hash) << seed;
    EXPECT_EQ(first.switches, second.switches) << seed;
  }
}

// One key is overwritten continuously, so a table from a flush has only its newest version.
TEST(DatabaseScheduleTest, AReadIsNotOlderThanWhatWasAcknowledged) {
  ForEachSchedule(3000, [](uint64_t seed) {
    Database database;
    database.Open();
    DB* const db = database.db();
    std::atomic<int> acknowledged{-1};
    const auto write = [&](int version) {
      WriteBatch batch;
      EXPECT_OK(batch.Put(database.first(), "key", StrCat(version)));
      EXPECT_OK(batch.Put(database.second(), "key", StrCat(version)));
      EXPECT_OK(db->Write(WriteOptions(), &batch));
      acknowledged = version;
    };
    write(0);
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      for (int version = 1; version < 10; ++version) write(version);
    });
    threads.emplace_back([&] {
      for (int i = 0; i < 4; ++i)
        EXPECT_OK(db->Flush(FlushOptions(), {database.first(), database.second()}));
    });
    for (uint64_t reader = 0; reader < 2; ++reader) {
      threads.emplace_back([&, reader] {
        Random random(seed * 2 + reader);
        for (int i = 0; i < 8; ++i) {
          const int floor = acknowledged;
          std::vector<std::string> found(2);
          switch (random.Uniform(3)) {
            case 0:
              EXPECT_OK(db->Get(ReadOptions(), "key", &found[0]));
              found[1] = found[0];
              break;
            case 1:
              for (const Status& status :
                   db->MultiGet(ReadOptions(), {database.first(), database.second()},
                                {Slice("key"), Slice("key")}, &found))
                EXPECT_OK(status);
              break;
            default: {
              std::vector<Iterator*> made;
              EXPECT_OK(
                  db->NewIterators(ReadOptions(), {database.first(), database.second()}, &made));
              for (size_t family = 0; family < 2; ++family) {
                const std::unique_ptr<Iterator> it(made[family]);
                it->SeekToFirst();
                EXPECT_TRUE(it->Valid());
                if (it->Valid()) found[family] = it->value().ToString();
              }
            }
          }
          EXPECT_EQ(found[0], found[1]) << "half of a batch";
          EXPECT_GE(found[0].empty() ? -1 : std::stoi(found[0]), floor);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
}

// The same with Get alone. It has few points, so few schedules would stop in it among other reads.
TEST(DatabaseScheduleTest, AGetIsNotOlderThanWhatWasAcknowledged) {
  ForEachSchedule(2000, [](uint64_t) {
    Database database;
    database.Open();
    DB* const db = database.db();
    std::atomic<int> acknowledged{-1};
    const auto write = [&](int version) {
      EXPECT_OK(db->Put(WriteOptions(), "key", StrCat(version)));
      acknowledged = version;
    };
    write(0);
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      for (int version = 1; version < 6; ++version) {
        write(version);
        EXPECT_OK(db->Flush(FlushOptions()));
      }
    });
    threads.emplace_back([&] {
      for (int i = 0; i < 16; ++i) {
        const int floor = acknowledged;
        std::string found;
        EXPECT_OK(db->Get(ReadOptions(), "key", &found));
        EXPECT_GE(found.empty() ? -1 : std::stoi(found), floor);
      }
    });
    for (std::thread& thread : threads) thread.join();
  });
}

// Each write follows an ingestion. Its memtable has none of the file's keys and is not flushed. A
// read that finds the write finds the entries that were ingested before it.
TEST(DatabaseScheduleTest, AReadThatFindsAWriteFindsTheIngestionBeforeIt) {
  constexpr int kFiles = 3;
  ForEachSchedule(3000, [](uint64_t seed) {
    Database database;
    database.Open();
    DB* const db = database.db();
    EXPECT_OK(db->Put(WriteOptions(), "write", "0"));
    for (int file = 1; file <= kFiles; ++file)
      EXPECT_OK(db->Put(WriteOptions(), StrCat("both", file), "old"));
    EXPECT_OK(db->Flush(FlushOptions()));
    for (int file = 1; file <= kFiles; ++file) {
      SstFileWriter writer(EnvOptions(), database.options());
      EXPECT_OK(writer.Open(StrCat("/file", file)));
      EXPECT_OK(writer.Put(StrCat("both", file), "new"));
      EXPECT_OK(writer.Finish());
    }
    std::atomic<int> begun{1};  // the file that is being ingested
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      for (int file = 1; file <= kFiles; ++file) {
        begun = file;
        IngestExternalFileOptions options;
        options.move_files = true;
        EXPECT_OK(db->IngestExternalFile({StrCat("/file", file)}, options));
        WriteBatch batch;
        EXPECT_OK(batch.Put("write", StrCat(file)));
        EXPECT_OK(batch.Merge(StrCat("both", file), "merged"));
        EXPECT_OK(db->Write(WriteOptions(), &batch));
      }
    });
    for (uint64_t reader = 0; reader < 3; ++reader) {
      threads.emplace_back([&, reader] {
        Random random(seed * 3 + reader);
        std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
        for (int i = 0; i < 6; ++i) {
          std::string found;
          switch (random.Uniform(4)) {
            case 0: EXPECT_OK(it->Refresh()); break;
            case 1: it.reset(db->NewIterator(ReadOptions())); break;
            default:
              EXPECT_OK(db->Get(ReadOptions(), StrCat("both", begun.load()), &found));
              EXPECT_NE(found, "old,merged") << "a merge without the ingestion before it";
              continue;
          }
          it->Seek("write");
          EXPECT_TRUE(it->Valid());
          if (it->Valid()) found = it->value().ToString();
          if (found == "0") continue;
          it->Seek(StrCat("both", found));
          EXPECT_TRUE(it->Valid());
          if (it->Valid()) found = it->value().ToString();
          EXPECT_EQ(found, "new,merged") << "a write without the ingestion before it";
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
}

TEST(DatabaseScheduleTest, CloseLosesNothingThatWasAcknowledged) {
  ForEachSchedule(2000, [](uint64_t seed) {
    Database database;
    database.Open();
    std::atomic<int> acknowledged[2] = {-1, -1};
    std::vector<std::thread> threads;
    for (uint64_t writer = 0; writer < 2; ++writer) {
      threads.emplace_back([&, writer] {
        for (int i = 0; i < 8; ++i) {
          WriteBatch batch;
          EXPECT_OK(batch.Put(database.first(), StrCat("key", writer), StrCat(i)));
          EXPECT_OK(batch.Put(database.second(), StrCat("key", writer), StrCat(i)));
          const Status status = database.db()->Write(WriteOptions(), &batch);
          if (!status.ok()) return;
          acknowledged[writer] = i;
        }
      });
    }
    threads.emplace_back([&] {
      Random random(seed);
      for (int i = 0; i < 3; ++i) Change(&database, &random, true);
    });
    threads.emplace_back([&] {
      const std::unique_ptr<Iterator> it(database.db()->NewIterator(ReadOptions()));
      for (it->SeekToFirst(); it->Valid(); it->Next()) EXPECT_TRUE(it->key().starts_with("key"));
    });
    threads.emplace_back([&] { static_cast<void>(database.db()->Close().ok()); });
    for (std::thread& thread : threads) thread.join();
    database.Close();
    database.Open();
    for (uint64_t writer = 0; writer < 2; ++writer) {
      std::string values[2];
      const Status first =
          database.db()->Get(ReadOptions(), database.first(), StrCat("key", writer), &values[0]);
      const Status second =
          database.db()->Get(ReadOptions(), database.second(), StrCat("key", writer), &values[1]);
      EXPECT_EQ(first.code(), second.code());
      EXPECT_EQ(values[0], values[1]) << "half of a batch";
      const int found = first.ok() ? std::stoi(values[0]) : -1;
      EXPECT_GE(found, acknowledged[writer].load());
    }
  });
}

// One sync of the log fails, in SyncWAL or in the concurrent writer, and the writer resumes.
// SyncWAL must not make the database read-only afterwards with an error of a log that is gone.
TEST(DatabaseScheduleTest, AnErrorOfSyncWALDoesNotComeBackAfterAResume) {
  ForEachSchedule(2000, [](uint64_t) {
    const auto files = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
    Database database(Levels::kDefault, files);
    database.Open();
    DB* const db = database.db();
    EXPECT_OK(db->Put(WriteOptions(), "key", "first"));
    FaultRule rule;
    rule.operations = FaultOperation::kSync;
    rule.name_contains = ".log";
    files->AddRule(rule);
    bool resumed = false;
    std::thread syncer([&] { static_cast<void>(db->SyncWAL().ok()); });
    std::thread writer([&] {
      WriteOptions synced;
      synced.sync = true;
      if (!db->Put(synced, "key", "second").ok()) resumed = db->Resume().ok();
    });
    syncer.join();
    writer.join();
    if (resumed) {
      EXPECT_OK(db->Put(WriteOptions(), "key", "third"));
    }
    files->ClearRules();
  });
}

// Counts the entries of tables whose flush was reported to it.
class HeardFlushes final : public EventListener {
 public:
  void OnFlushCompleted(DB* /*db*/, const FlushJobInfo& info) override {
    MutexLock lock(mutex_);
    entries_ += info.table_properties.num_entries;
  }
  uint64_t entries() const {
    MutexLock lock(mutex_);
    return entries_;
  }

 private:
  mutable Mutex mutex_;
  uint64_t entries_ ASHLAR_GUARDED_BY(mutex_) = 0;
};

// With two threads, one may find its write in a table of the other's flush.
TEST(DatabaseScheduleTest, AFlushThatWaitsForListenersReturnsAfterThem) {
  ForEachSchedule(200, [](uint64_t) {
    const auto heard = std::make_shared<HeardFlushes>();
    Database database;
    database.AddListener(heard);
    database.Open();
    DB* const db = database.db();
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 2; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 2; ++i) {
          EXPECT_OK(db->Put(WriteOptions(), StrCat("key", thread, ".", i), "value"));
          const SequenceNumber writes = db->GetLatestSequenceNumber();
          FlushOptions flush;
          flush.listener_wait = true;
          EXPECT_OK(db->Flush(flush));
          EXPECT_GE(heard->entries(), writes);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    database.Close();
    EXPECT_EQ(heard->entries(), 4u);
  });
}

// If automatic compactions move the base level while a manual compaction waits, its first step must
// not use the base level that it found at its start, or it puts newer data below older data.
TEST(DatabaseScheduleTest, NothingIsLostWhenManualCompactionsMeetAMovingBaseLevel) {
  constexpr uint64_t kWriters = 2;
  constexpr int kKeysOfAWriter = 4;
  constexpr int kVersions = 3;
  ForEachSchedule(1000, [](uint64_t seed) {
    Database database(Levels::kTiny);
    database.Open();
    const auto key_of = [](uint64_t writer, int key) { return StrCat("key", key, ".", writer); };
    const auto check = [&](uint64_t writer, int key, int version_min) {
      std::string value;
      EXPECT_OK(database.db()->Get(ReadOptions(), key_of(writer, key), &value));
      EXPECT_GE(value.empty() ? -1 : std::stoi(value), version_min) << key_of(writer, key);
    };
    std::vector<std::thread> threads;
    for (uint64_t writer = 0; writer < kWriters; ++writer) {
      threads.emplace_back([&, writer] {
        for (int version = 0; version < kVersions; ++version) {
          for (int key = 0; key < kKeysOfAWriter; ++key) {
            EXPECT_OK(database.db()->Put(WriteOptions(), key_of(writer, key),
                                         StrCat(version, std::string(kLargeValueBytes, ' '))));
          }
          for (int key = 0; key < kKeysOfAWriter; ++key) check(writer, key, version);
        }
      });
    }
    threads.emplace_back([&] {
      Random random(seed);
      for (int i = 0; i < 4; ++i) {
        if (random.OneIn(2)) {
          EXPECT_OK(database.db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
        } else {
          EXPECT_OK(database.db()->Flush(FlushOptions()));
        }
      }
    });
    for (std::thread& thread : threads) thread.join();
    const auto check_all = [&] {
      for (uint64_t writer = 0; writer < kWriters; ++writer) {
        for (int key = 0; key < kKeysOfAWriter; ++key) check(writer, key, kVersions - 1);
      }
    };
    check_all();
    database.Close();
    database.Open();
    check_all();
  });
}

}  // namespace
}  // namespace ashlar::test

// Env::GetThreadList, called by a listener during the flushes and compactions of a database.
#include "ashlar/thread_status.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "platform/mutex.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

// The status of the calling thread at one event.
struct Seen {
  ThreadStatus status;
  uint64_t job = 0;
  uint64_t bytes = 0;  // of the table, or of the inputs
};

class Watcher final : public EventListener {
 public:
  explicit Watcher(Env* env) : env_(env) {}

  void OnFlushBegin(DB*, const FlushJobInfo& info) override {
    Look("flush begins", static_cast<uint64_t>(info.job_id), 0);
  }
  void OnFlushCompleted(DB*, const FlushJobInfo& info) override {
    Look("flush ends", static_cast<uint64_t>(info.job_id), 0);
  }
  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    Look(info.reason == TableFileCreationReason::kFlush ? "flush writes" : "compaction writes",
         static_cast<uint64_t>(info.job_id), info.file_size);
  }
  void OnCompactionBegin(DB*, const CompactionJobInfo& info) override {
    Look("compaction begins", static_cast<uint64_t>(info.job_id), info.stats.total_input_bytes);
  }
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
    Look("compaction ends", static_cast<uint64_t>(info.job_id), info.stats.total_input_bytes);
  }

  // The last status at each event.
  std::map<std::string, Seen> seen() const {
    const MutexLock lock(mutex_);
    return seen_;
  }

 private:
  void Look(const std::string& event, uint64_t job, uint64_t bytes) {
    std::vector<ThreadStatus> threads;
    EXPECT_OK(env_->GetThreadList(&threads));
    int found = 0;
    for (const ThreadStatus& status : threads) {
      if (status.thread_id != env_->GetThreadID()) continue;
      ++found;
      const MutexLock lock(mutex_);
      seen_.erase(event);
      seen_.emplace(event, Seen{.status = status, .job = job, .bytes = bytes});
    }
    EXPECT_EQ(found, 1) << event;
  }

  Env* const env_;
  mutable Mutex mutex_;
  std::map<std::string, Seen> seen_ ASHLAR_GUARDED_BY(mutex_);
};

// Returns the statuses that a listener saw during two flushes and a compaction of their tables.
std::map<std::string, Seen> WatchADatabase(Env* env, bool is_tracked) {
  const auto watcher = std::make_shared<Watcher>(env);
  Options options;
  options.env = env;
  options.create_if_missing = true;
  options.level0_file_num_compaction_trigger = 2;
  options.enable_thread_tracking = is_tracked;
  options.listeners = {watcher};
  std::unique_ptr<DB> db;
  EXPECT_OK(DB::Open(options, "/db", &db));
  if (db == nullptr) return {};
  for (const char* const value : {"first", "second"}) {
    EXPECT_OK(db->Put(WriteOptions(), "a", value));
    EXPECT_OK(db->Put(WriteOptions(), "b", value));
    EXPECT_OK(db->Flush(FlushOptions()));
  }
  EXPECT_OK(db->WaitForCompact(WaitForCompactOptions()));
  EXPECT_OK(db->Close());
  return watcher->seen();
}

TEST(ThreadStatusTest, AThreadSaysWhatItFlushes) {
  const std::unique_ptr<Env> env(NewMemEnv(nullptr));
  const std::map<std::string, Seen> seen = WatchADatabase(env.get(), true);
  for (const char* const event : {"flush begins", "flush writes", "flush ends"}) {
    SCOPED_TRACE(event);
    ASSERT_TRUE(seen.contains(event));
    const auto& [status, job, bytes] = seen.at(event);
    EXPECT_EQ(status.thread_type, ThreadStatus::HIGH_PRIORITY);
    EXPECT_EQ(status.operation_type, ThreadStatus::OP_FLUSH);
    EXPECT_EQ(status.db_name, "/db");
    EXPECT_EQ(status.cf_name, "default");
    EXPECT_EQ(status.op_properties[ThreadStatus::FLUSH_JOB_ID], job);
    EXPECT_GT(status.op_properties[ThreadStatus::FLUSH_BYTES_MEMTABLES], 0u);
  }
  EXPECT_EQ(seen.at("flush begins").status.operation_stage, ThreadStatus::STAGE_FLUSH_RUN);
  EXPECT_EQ(seen.at("flush begins").status.op_properties[ThreadStatus::FLUSH_BYTES_WRITTEN], 0u);
  EXPECT_EQ(seen.at("flush writes").status.operation_stage, ThreadStatus::STAGE_FLUSH_WRITE_L0);
  EXPECT_EQ(seen.at("flush writes").status.op_properties[ThreadStatus::FLUSH_BYTES_WRITTEN],
            seen.at("flush writes").bytes);
  EXPECT_EQ(seen.at("flush ends").status.operation_stage,
            ThreadStatus::STAGE_MEMTABLE_INSTALL_FLUSH_RESULTS);
}

TEST(ThreadStatusTest, AThreadSaysWhatItCompacts) {
  const std::unique_ptr<Env> env(NewMemEnv(nullptr));
  const std::map<std::string, Seen> seen = WatchADatabase(env.get(), true);
  for (const char* const event : {"compaction begins", "compaction writes", "compaction ends"}) {
    SCOPED_TRACE(event);
    ASSERT_TRUE(seen.contains(event));
    const ThreadStatus& status = seen.at(event).status;
    EXPECT_EQ(status.thread_type, ThreadStatus::LOW_PRIORITY);
    EXPECT_EQ(status.operation_type, ThreadStatus::OP_COMPACTION);
    EXPECT_EQ(status.db_name, "/db");
    EXPECT_EQ(status.op_properties[ThreadStatus::COMPACTION_JOB_ID], seen.at(event).job);
    EXPECT_EQ(status.op_properties[ThreadStatus::COMPACTION_TOTAL_INPUT_BYTES],
              seen.at("compaction begins").bytes);
    const std::map<std::string, uint64_t> named =
        ThreadStatus::InterpretOperationProperties(status.operation_type, status.op_properties);
    EXPECT_EQ(named.at("IsManual"), 0u);
    EXPECT_EQ(named.at("IsTrivialMove"), 0u);
    EXPECT_EQ(named.at("BaseInputLevel"), 0u);
    EXPECT_GT(named.at("OutputLevel"), 0u);
  }
  EXPECT_EQ(seen.at("compaction begins").status.operation_stage,
            ThreadStatus::STAGE_COMPACTION_RUN);
  EXPECT_EQ(seen.at("compaction writes").status.operation_stage,
            ThreadStatus::STAGE_COMPACTION_PROCESS_KV);
  EXPECT_EQ(
      seen.at("compaction writes").status.op_properties[ThreadStatus::COMPACTION_BYTES_WRITTEN],
      seen.at("compaction writes").bytes);
  EXPECT_EQ(seen.at("compaction ends").status.operation_stage,
            ThreadStatus::STAGE_COMPACTION_INSTALL);
}

TEST(ThreadStatusTest, NothingIsSaidWithoutTracking) {
  const std::unique_ptr<Env> env(NewMemEnv(nullptr));
  const std::map<std::string, Seen> seen = WatchADatabase(env.get(), false);
  ASSERT_TRUE(seen.contains("flush begins"));
  for (const auto& [event, what] : seen) {
    SCOPED_TRACE(event);
    EXPECT_NE(what.status.thread_type, ThreadStatus::USER);
    EXPECT_EQ(what.status.operation_type, ThreadStatus::OP_UNKNOWN);
    EXPECT_EQ(what.status.db_name, "");
    EXPECT_EQ(what.status.op_elapsed_micros, 0u);
  }
}

TEST(ThreadStatusTest, AStatusEndsWithItsJob) {
  const std::unique_ptr<Env> env(NewMemEnv(nullptr));
  ASSERT_FALSE(WatchADatabase(env.get(), true).empty());
  std::vector<ThreadStatus> threads;
  ASSERT_OK(env->GetThreadList(&threads));
  EXPECT_GE(threads.size(), 2u);
  for (const ThreadStatus& status : threads) {
    EXPECT_EQ(status.operation_type, ThreadStatus::OP_UNKNOWN);
    EXPECT_EQ(status.operation_stage, ThreadStatus::STAGE_UNKNOWN);
  }
}

}  // namespace
}  // namespace ashlar

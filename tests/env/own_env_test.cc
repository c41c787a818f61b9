// A program's class that derives from Env itself, not from EnvWrapper. It has the pure virtual
// methods, and the database uses its files and its time.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "base/format.h"
#include "tests/env/call_counts.h"
#include "tests/support/expect_ok.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

// Its paths begin with /own, which is not a directory of the system.
class OwnEnv final : public Env {
 public:
  explicit OwnEnv(std::string root) : root_(std::move(root)) {}

  const CallCounts& counts() const { return counts_; }

  Status NewSequentialFile(const std::string& path, std::unique_ptr<SequentialFile>* result,
                           const EnvOptions& options) override {
    return system_->NewSequentialFile(Real(path), result, options);
  }
  Status NewRandomAccessFile(const std::string& path, std::unique_ptr<RandomAccessFile>* result,
                             const EnvOptions& options) override {
    return system_->NewRandomAccessFile(Real(path), result, options);
  }
  Status NewWritableFile(const std::string& path, std::unique_ptr<WritableFile>* result,
                         const EnvOptions& options) override {
    return system_->NewWritableFile(Real(path), result, options);
  }
  Status NewDirectory(const std::string& path, std::unique_ptr<Directory>* result) override {
    return system_->NewDirectory(Real(path), result);
  }
  Status FileExists(const std::string& path) override { return system_->FileExists(Real(path)); }
  Status GetChildren(const std::string& dir, std::vector<std::string>* names) override {
    return system_->GetChildren(Real(dir), names);
  }
  Status DeleteFile(const std::string& path) override { return system_->DeleteFile(Real(path)); }
  Status CreateDir(const std::string& dir) override { return system_->CreateDir(Real(dir)); }
  Status CreateDirIfMissing(const std::string& dir) override {
    return system_->CreateDirIfMissing(Real(dir));
  }
  Status DeleteDir(const std::string& dir) override { return system_->DeleteDir(Real(dir)); }
  Status GetFileSize(const std::string& path, uint64_t* bytes) override {
    return system_->GetFileSize(Real(path), bytes);
  }
  Status GetFileModificationTime(const std::string& path, uint64_t* unix_seconds) override {
    return system_->GetFileModificationTime(Real(path), unix_seconds);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    return system_->RenameFile(Real(from), Real(to));
  }
  Status LockFile(const std::string& path, FileLock** lock) override {
    return system_->LockFile(Real(path), lock);
  }
  Status UnlockFile(FileLock* lock) override { return system_->UnlockFile(lock); }
  Status GetTestDirectory(std::string* path) override { return system_->GetTestDirectory(path); }
  Status GetAbsolutePath(const std::string& path, std::string* absolute) override {
    *absolute = path;
    return Status::OK();
  }

  void Schedule(void (*function)(void* arg), void* arg, Priority pri, void* tag,
                void (*unschedule)(void* arg)) override {
    counts_.Add("Schedule");
    system_->Schedule(function, arg, pri, tag, unschedule);
  }
  void StartThread(void (*function)(void* arg), void* arg) override {
    system_->StartThread(function, arg);
  }
  void SetBackgroundThreads(int number, Priority pri) override {
    system_->SetBackgroundThreads(number, pri);
  }
  int GetBackgroundThreads(Priority pri) override { return system_->GetBackgroundThreads(pri); }
  void IncBackgroundThreadsIfNeeded(int number, Priority pri) override {
    system_->IncBackgroundThreadsIfNeeded(number, pri);
  }

  // Each reading of the clock is one microsecond later.
  uint64_t NowMicros() override {
    counts_.Add("NowMicros");
    return micros_.fetch_add(1);
  }
  void SleepForMicroseconds(int micros) override {
    micros_.fetch_add(static_cast<uint64_t>(micros));
  }
  Status GetCurrentTime(int64_t* unix_time) override {
    *unix_time = static_cast<int64_t>(NowMicros() / 1000000);
    return Status::OK();
  }
  std::string TimeToString(uint64_t unix_seconds) override { return StrCat(unix_seconds); }
  Status GetHostName(char*, uint64_t) override { return Status::NotSupported("no name"); }

 private:
  std::string Real(const std::string& path) {
    counts_.Add("path");
    EXPECT_TRUE(path.starts_with("/own")) << path;
    return root_ + path.substr(4);
  }

  const std::string root_;
  Env* const system_ = Env::Default();
  CallCounts counts_;
  std::atomic<uint64_t> micros_{1'000'000'000'000'000};  // in 2001
};

TEST(OwnEnvTest, ADatabaseUsesItsFilesAndItsTime) {
  const ScratchDirectory scratch;
  OwnEnv env(scratch.path());
  Options options;
  options.env = &env;
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/own/db", &db));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 200; ++i) ASSERT_OK(db->Put(WriteOptions(), StrCat("key", i), "value"));
    ASSERT_OK(db->Flush(FlushOptions()));
  }
  ASSERT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ASSERT_OK(db->Put(WriteOptions(), "in the log", "value"));
  ASSERT_OK(db->Close());
  ASSERT_OK(DB::Open(options, "/own/db", &db));
  std::string value;
  ASSERT_OK(db->Get(ReadOptions(), "key7", &value));
  ASSERT_OK(db->Get(ReadOptions(), "in the log", &value));
  EXPECT_EQ(value, "value");
  ASSERT_OK(db->Close());
  db.reset();
  EXPECT_OK(Env::Default()->FileExists(scratch.File("db/CURRENT")));

  EXPECT_GT(env.counts().Of("path"), 0);
  EXPECT_GT(env.counts().Of("NowMicros"), 0);
  // The background work runs on the threads of Env::Default(), without Schedule.
  EXPECT_EQ(env.counts().Of("Schedule"), 0);
  std::string log;
  ASSERT_OK(ReadFileToString(&env, "/own/db/LOG", &log));
  EXPECT_TRUE(log.starts_with("2001/09/09-")) << log.substr(0, 40);
}

TEST(OwnEnvTest, WhatItDoesNotHaveIsNotSupported) {
  OwnEnv env("");
  uint64_t number = 0;
  bool answer = false;
  std::unique_ptr<RandomRWFile> file;
  std::unique_ptr<MemoryMappedFileBuffer> buffer;
  for (const Status& status :
       {env.LinkFile("/own/a", "/own/b"), env.NumFileLinks("/own/a", &number),
        env.AreFilesSame("/own/a", "/own/b", &answer), env.Truncate("/own/a", 0),
        env.GetFreeSpace("/own", &number), env.IsDirectory("/own", &answer),
        env.NewRandomRWFile("/own/a", &file, EnvOptions()),
        env.NewMemoryMappedFileBuffer("/own/a", &buffer)}) {
    EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  }
  EXPECT_EQ(env.NowCPUNanos(), 0u);
  EXPECT_EQ(env.UnSchedule(&env, Env::LOW), 0);
  std::string name;
  EXPECT_TRUE(env.GetHostNameString(&name).IsNotSupported());
}

TEST(OwnEnvTest, TheDefaultsAreMadeOfTheOtherMethods) {
  const ScratchDirectory scratch;
  OwnEnv env(scratch.path());
  ASSERT_OK(WriteStringToFile(&env, "bytes", "/own/a", /*should_sync=*/true));
  std::vector<Env::FileAttributes> attributes;
  ASSERT_OK(env.GetChildrenFileAttributes("/own", &attributes));
  ASSERT_EQ(attributes.size(), 1u);
  EXPECT_EQ(attributes[0].name, "a");
  EXPECT_EQ(attributes[0].size_bytes, 5u);
  std::unique_ptr<WritableFile> file;
  ASSERT_OK(env.ReuseWritableFile("/own/b", "/own/a", &file, EnvOptions()));
  ASSERT_OK(file->Append("new"));
  ASSERT_OK(file->Close());
  EXPECT_TRUE(env.FileExists("/own/a").IsNotFound());
  std::string bytes;
  ASSERT_OK(ReadFileToString(&env, "/own/b", &bytes));
  EXPECT_EQ(bytes, "new");
}

}  // namespace
}  // namespace ashlar

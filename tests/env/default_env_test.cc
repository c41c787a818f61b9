// Env::Default() as a program uses it: files, threads, time, loggers. Also NewMemEnv.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "ashlar/perf_context.h"
#include "base/format.h"
#include "execute/executor.h"
#include "platform/clock.h"
#include "platform/program.h"
#include "tests/support/expect_ok.h"
#include "tests/support/gate.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

class DefaultEnvTest : public testing::Test {
 protected:
  std::string File(const std::string& name) const { return scratch_.File(name); }
  void Write(const std::string& name, const std::string& bytes) {
    ASSERT_OK(WriteStringToFile(env_, bytes, File(name)));
  }
  std::string Read(const std::string& name) {
    std::string bytes;
    const Status read = ReadFileToString(env_, File(name), &bytes);
    return read.ok() ? bytes : read.ToString();
  }

  const ScratchDirectory scratch_;
  Env* const env_ = Env::Default();
};

TEST_F(DefaultEnvTest, AppendsAreSeenBeforeAFlush) {
  std::unique_ptr<WritableFile> file;
  ASSERT_OK(env_->NewWritableFile(File("f"), &file, EnvOptions()));
  ASSERT_OK(file->Append("one "));
  EXPECT_EQ(Read("f"), "one ");
  ASSERT_OK(file->Append("two"));
  EXPECT_EQ(file->GetFileSize(), 7u);
  EXPECT_TRUE(file->IsSyncThreadSafe());
  ASSERT_OK(file->Flush());
  ASSERT_OK(file->Fsync());
  ASSERT_OK(file->RangeSync(0, 7));
  ASSERT_OK(file->Close());
  EXPECT_EQ(Read("f"), "one two");

  ASSERT_OK(env_->ReopenWritableFile(File("f"), &file, EnvOptions()));
  EXPECT_EQ(file->GetFileSize(), 7u);
  ASSERT_OK(file->Append(" three"));
  ASSERT_OK(file->Close());
  EXPECT_EQ(Read("f"), "one two three");
  ASSERT_OK(env_->SyncFile(File("f"), EnvOptions(), /*use_fsync=*/true));
  ASSERT_OK(env_->Truncate(File("f"), 3));
  EXPECT_EQ(Read("f"), "one");
}

TEST_F(DefaultEnvTest, AFileThatIsWrittenIsNotCutAndSaysSo) {
  std::unique_ptr<WritableFile> file;
  ASSERT_OK(env_->NewWritableFile(File("f"), &file, EnvOptions()));
  ASSERT_OK(file->Append("0123456789"));
  ASSERT_OK(file->Truncate(10));
  for (const uint64_t bytes : {9u, 11u}) EXPECT_TRUE(file->Truncate(bytes).IsNotSupported());
  ASSERT_OK(file->Close());
  EXPECT_EQ(Read("f"), "0123456789");
}

TEST_F(DefaultEnvTest, MappedWritesEndWhereTheAppendsDo) {
  EnvOptions options;
  options.use_mmap_writes = true;
  std::unique_ptr<WritableFile> file;
  ASSERT_OK(env_->NewWritableFile(File("f"), &file, options));
  ASSERT_OK(file->Append("mapped"));
  ASSERT_OK(file->Close());
  EXPECT_EQ(Read("f"), "mapped");
}

TEST_F(DefaultEnvTest, ReadsInEveryWay) {
  Write("f", "0123456789");
  std::unique_ptr<RandomAccessFile> file;
  EnvOptions mapped;
  mapped.use_mmap_reads = true;
  for (const EnvOptions& options : {EnvOptions(), mapped}) {
    ASSERT_OK(env_->NewRandomAccessFile(File("f"), &file, options));
    std::array<char, 16> scratch;
    Slice read;
    ASSERT_OK(file->Read(3, 4, &read, scratch.data()));
    EXPECT_EQ(read, Slice("3456"));
    ASSERT_OK(file->Read(8, 10, &read, scratch.data()));
    EXPECT_EQ(read, Slice("89"));
    uint64_t bytes = 0;
    ASSERT_OK(file->GetFileSize(&bytes));
    EXPECT_EQ(bytes, 10u);
    file->Hint(RandomAccessFile::RANDOM);
    ASSERT_OK(file->Prefetch(0, 10));
    std::array<char, 4> first;
    std::array<char, 4> second;
    std::array<ReadRequest, 2> requests;
    requests[0].len = 2;
    requests[0].scratch = first.data();
    requests[1].offset = 5;
    requests[1].len = 3;
    requests[1].scratch = second.data();
    ASSERT_OK(file->MultiRead(requests.data(), requests.size()));
    ASSERT_OK(requests[0].status);
    ASSERT_OK(requests[1].status);
    EXPECT_EQ(requests[0].result, Slice("01"));
    EXPECT_EQ(requests[1].result, Slice("567"));
  }
  std::unique_ptr<SequentialFile> sequential;
  ASSERT_OK(env_->NewSequentialFile(File("f"), &sequential, EnvOptions()));
  ASSERT_OK(sequential->Skip(7));
  std::array<char, 16> scratch;
  Slice read;
  ASSERT_OK(sequential->Read(16, &read, scratch.data()));
  EXPECT_EQ(read, Slice("789"));
  EXPECT_TRUE(env_->NewSequentialFile(File("no"), &sequential, EnvOptions()).IsPathNotFound());
}

TEST_F(DefaultEnvTest, AFileIsReadAndWrittenAtAnyOffset) {
  std::unique_ptr<RandomRWFile> file;
  EXPECT_TRUE(env_->NewRandomRWFile(File("f"), &file, EnvOptions()).IsPathNotFound());
  Write("f", "0123456789");
  ASSERT_OK(env_->NewRandomRWFile(File("f"), &file, EnvOptions()));
  ASSERT_OK(file->Write(2, "ab"));
  ASSERT_OK(file->Write(12, "end"));
  std::array<char, 16> scratch;
  Slice read;
  ASSERT_OK(file->Read(1, 4, &read, scratch.data()));
  EXPECT_EQ(read, Slice("1ab4"));
  ASSERT_OK(file->Flush());
  ASSERT_OK(file->Fsync());
  ASSERT_OK(file->Close());
  EXPECT_EQ(Read("f"), std::string("01ab456789\0\0end", 15));
}

TEST_F(DefaultEnvTest, AFileIsMemory) {
  Write("f", std::string(10000, 'x'));
  {
    std::unique_ptr<MemoryMappedFileBuffer> buffer;
    ASSERT_OK(env_->NewMemoryMappedFileBuffer(File("f"), &buffer));
    ASSERT_EQ(buffer->GetLen(), 10000u);
    char* const bytes = static_cast<char*>(buffer->GetBase());
    EXPECT_EQ(bytes[9999], 'x');
    memcpy(bytes + 5000, "mapped", 6);
  }
  EXPECT_EQ(Read("f"), std::string(5000, 'x') + "mapped" + std::string(4994, 'x'));
}

TEST_F(DefaultEnvTest, FilesAndDirectoriesByPath) {
  ASSERT_OK(env_->CreateDir(File("dir")));
  EXPECT_FALSE(env_->CreateDir(File("dir")).ok());
  ASSERT_OK(env_->CreateDirIfMissing(File("dir")));
  Write("dir/a", "bytes");
  bool answer = false;
  ASSERT_OK(env_->IsDirectory(File("dir"), &answer));
  EXPECT_TRUE(answer);
  ASSERT_OK(env_->IsDirectory(File("dir/a"), &answer));
  EXPECT_FALSE(answer);
  ASSERT_OK(env_->LinkFile(File("dir/a"), File("dir/b")));
  uint64_t number = 0;
  ASSERT_OK(env_->NumFileLinks(File("dir/a"), &number));
  EXPECT_EQ(number, 2u);
  ASSERT_OK(env_->AreFilesSame(File("dir/a"), File("dir/b"), &answer));
  EXPECT_TRUE(answer);
  Write("dir/c", "bytes");
  ASSERT_OK(env_->AreFilesSame(File("dir/a"), File("dir/c"), &answer));
  EXPECT_FALSE(answer);
  EXPECT_TRUE(env_->AreFilesSame(File("dir/a"), File("no"), &answer).IsPathNotFound());
  ASSERT_OK(env_->GetFileModificationTime(File("dir/a"), &number));
  EXPECT_GT(number, 1600000000u);
  ASSERT_OK(env_->GetFreeSpace(File("dir"), &number));
  EXPECT_GT(number, 0u);
  std::vector<Env::FileAttributes> attributes;
  ASSERT_OK(env_->GetChildrenFileAttributes(File("dir"), &attributes));
  ASSERT_EQ(attributes.size(), 3u);
  for (const Env::FileAttributes& file : attributes) EXPECT_EQ(file.size_bytes, 5u) << file.name;
  std::unique_ptr<Directory> directory;
  ASSERT_OK(env_->NewDirectory(File("dir"), &directory));
  ASSERT_OK(directory->Fsync());
  ASSERT_OK(directory->Close());
  std::unique_ptr<WritableFile> file;
  ASSERT_OK(env_->ReuseWritableFile(File("dir/d"), File("dir/c"), &file, EnvOptions()));
  ASSERT_OK(file->Close());
  EXPECT_TRUE(env_->FileExists(File("dir/c")).IsNotFound());
  std::string absolute;
  ASSERT_OK(env_->GetAbsolutePath("relative", &absolute));
  EXPECT_GT(absolute.size(), std::string("relative").size());
  EXPECT_TRUE(absolute.ends_with("relative")) << absolute;
}

TEST_F(DefaultEnvTest, ALockIsHeldUntilItIsGivenBack) {
  FileLock* lock = nullptr;
  ASSERT_OK(env_->LockFile(File("LOCK"), &lock));
  FileLock* second = nullptr;
  EXPECT_TRUE(env_->LockFile(File("LOCK"), &second).IsIOError());
  EXPECT_EQ(second, nullptr);
  ASSERT_OK(env_->UnlockFile(lock));
  ASSERT_OK(env_->LockFile(File("LOCK"), &second));
  ASSERT_OK(env_->UnlockFile(second));
}

TEST_F(DefaultEnvTest, ATestDirectoryIsThereInEveryEnv) {
  const std::unique_ptr<Env> memory(NewMemEnv(nullptr));
  for (Env* const env : {env_, memory.get()}) {
    std::string path;
    ASSERT_OK(env->GetTestDirectory(&path));
    EXPECT_OK(env->FileExists(path));
    // A name shared by all users would let the first user of the machine keep the others out.
    EXPECT_TRUE(path.ends_with(StrCat("-", CurrentUserId()))) << path;
  }
}

TEST_F(DefaultEnvTest, ADroppedFileLeavesNothing) {
  EXPECT_FALSE(WriteStringToFile(env_, "bytes", File("no/f")).ok());
  std::string bytes = "old";
  EXPECT_TRUE(ReadFileToString(env_, File("no"), &bytes).IsPathNotFound());
  EXPECT_EQ(bytes, "");
}

// ---- Threads

void WaitAtGate(void* gate) { static_cast<Gate*>(gate)->Wait(); }
void Count(void* counter) { static_cast<std::atomic<int>*>(counter)->fetch_add(1); }

struct Signal {
  Gate gate;
  std::atomic<int> ran = 0;
};
void CountAndOpen(void* arg) {
  Signal* const signal = static_cast<Signal*>(arg);
  signal->ran.fetch_add(1);
  signal->gate.Open();
}

TEST_F(DefaultEnvTest, AScheduledFunctionRunsInEveryPool) {
  for (const Env::Priority pool : {Env::BOTTOM, Env::LOW, Env::HIGH, Env::USER}) {
    Signal signal;
    env_->Schedule(&CountAndOpen, &signal, pool);
    signal.gate.Wait();
    EXPECT_EQ(signal.ran.load(), 1);
  }
}

TEST_F(DefaultEnvTest, WhatHasNotBegunIsUnscheduledByItsTag) {
  Gate gate;
  const int threads = env_->GetBackgroundThreads(Env::LOW);
  for (int i = 0; i < threads; ++i) env_->Schedule(&WaitAtGate, &gate, Env::LOW);
  std::atomic<int> ran = 0;
  std::atomic<int> unscheduled = 0;
  int tag = 0;
  int other_tag = 0;
  env_->Schedule(&Count, &ran, Env::LOW, &other_tag);
  env_->Schedule(&Count, &unscheduled, Env::LOW, &tag, &Count);
  env_->Schedule(&Count, &unscheduled, Env::LOW, &tag);
  EXPECT_EQ(env_->UnSchedule(&tag, Env::HIGH), 0);
  EXPECT_EQ(env_->UnSchedule(&tag, Env::LOW), 2);
  EXPECT_EQ(unscheduled.load(), 1);  // the second job has no function for it
  EXPECT_EQ(env_->UnSchedule(&tag, Env::LOW), 0);
  gate.Open();
  env_->executor()->WaitForIdle();
  EXPECT_EQ(ran.load(), 1);
  EXPECT_EQ(unscheduled.load(), 1);
  EXPECT_EQ(env_->UnSchedule(&other_tag, Env::LOW), 0);
}

TEST_F(DefaultEnvTest, ThreadsAreJoined) {
  std::atomic<int> ran = 0;
  for (int i = 0; i < 3; ++i) env_->StartThread(&Count, &ran);
  int sum = 0;
  env_->StartThreadTyped(
      [](int* to, int a, const std::string& b) { *to = a + static_cast<int>(b.size()); }, &sum, 5,
      std::string("seven"));
  env_->WaitForJoin();
  EXPECT_EQ(ran.load(), 3);
  EXPECT_EQ(sum, 10);
}

// ---- Time, and the machine

TEST_F(DefaultEnvTest, TheMachineIsDescribed) {
  std::string host;
  ASSERT_OK(env_->GetHostNameString(&host));
  EXPECT_FALSE(host.empty());
  std::array<char, 3> cut = {'x', 'x', 'x'};
  ASSERT_OK(env_->GetHostName(cut.data(), 2));
  EXPECT_EQ(cut[0], host[0]);
  EXPECT_EQ(cut[1], '\0');
  EXPECT_EQ(cut[2], 'x');
  EXPECT_EQ(env_->GetThreadID(), env_->GetThreadID());
  const std::string id = env_->GenerateUniqueId();
  EXPECT_EQ(id.size(), 36u);
  EXPECT_NE(id, env_->GenerateUniqueId());
  EXPECT_TRUE(env_->TimeToString(1'000'000'000).starts_with("2001/09/09-01:46:40"));
  EXPECT_EQ(Env::PriorityToString(Env::HIGH), "High");
  EXPECT_EQ(Env::IOActivityToString(Env::IOActivity::kFlush), "Flush");
  const uint64_t before = env_->NowMicros();
  env_->SleepForMicroseconds(1000);
  EXPECT_GE(env_->NowMicros() - before, 1000u);
}

TEST_F(DefaultEnvTest, OptionsOfADatabaseBecomeThoseOfFiles) {
  DBOptions db_options;
  db_options.use_direct_reads = true;
  db_options.wal_bytes_per_sync = 7;
  const EnvOptions options(db_options);
  EXPECT_TRUE(options.use_direct_reads);
  EXPECT_FALSE(env_->OptimizeForLogRead(options).use_direct_reads);
  EXPECT_EQ(env_->OptimizeForLogWrite(options, db_options).bytes_per_sync, 7u);
  const FileOptions file_options(options);
  EXPECT_TRUE(file_options.use_direct_reads);
  EXPECT_EQ(file_options.io_options.rate_limiter_priority, Env::IO_TOTAL);
}

// ---- Loggers

TEST_F(DefaultEnvTest, ALoggerWritesLines) {
  std::shared_ptr<Logger> logger;
  ASSERT_OK(env_->NewLogger(File("program.log"), &logger));
  logger->Log(WARN_LEVEL, "careful");
  logger->Flush();
  EXPECT_NE(Read("program.log").find("[WARN] careful\n"), std::string::npos) << Read("program.log");
  ASSERT_OK(logger->Close());
}

// A logger like that of a program written for RocksDB.
class FormatLogger final : public Logger {
 public:
  ~FormatLogger() override { EXPECT_OK(Close()); }
  using Logger::Logv;
  void Logv(const char* format, va_list ap) override {
    std::array<char, 200> text;
    vsnprintf(text.data(), text.size(), format, ap);
    lines.emplace_back(text.data());
  }
  std::vector<std::string> lines;
  int* closed = nullptr;

 protected:
  Status CloseImpl() override {
    if (closed != nullptr) ++*closed;
    return Status::OK();
  }
};

TEST(LoggerTest, ALoggerOfFormatsGetsEveryMessage) {
  int closed = 0;
  {
    FormatLogger logger;
    logger.closed = &closed;
    logger.Log(INFO_LEVEL, "100% of it");
    logger.Log(ERROR_LEVEL, "it is broken");
    logger.Log(DEBUG_LEVEL, "below the level");
    LoggerWrapper wrapper(&logger);
    wrapper.Log(HEADER_LEVEL, "the head");
    EXPECT_EQ(logger.lines,
              (std::vector<std::string>{"100% of it", "[ERROR] it is broken", "the head"}));
    EXPECT_OK(wrapper.Close());
  }
  EXPECT_EQ(closed, 1);
}

class FlushedLogger final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char* format, va_list ap) override { lines.push_back(FormatMessage(format, ap)); }
  void LogHeader(const char* format, va_list ap) override {
    lines.push_back("head: " + FormatMessage(format, ap));
  }
  void Flush() override { ++flushes; }
  std::vector<std::string> lines;
  int flushes = 0;
};

TEST(LoggerTest, FunctionsWriteMessagesOfPrintfsForm) {
  const auto shared = std::make_shared<FlushedLogger>();
  Logger* const raw = shared.get();
  const std::shared_ptr<Logger> logger = shared;
  Debug(logger, "below %s", "the level");
  Info(logger, "%d of %s", 3, "four");
  Warn(raw, "%c", 'w');
  Error(logger, "error %d", 1);
  Fatal(raw, "fatal");
  Log(logger, "without a %s", "level");
  Log(ERROR_LEVEL, raw, "with %d", 2);
  EXPECT_EQ(shared->lines,
            (std::vector<std::string>{"3 of four", "[WARN] w", "[ERROR] error 1", "[FATAL] fatal",
                                      "without a level", "[ERROR] with 2"}));
  shared->lines.clear();
  logger->SetInfoLogLevel(FATAL_LEVEL);
  Error(raw, "below");
  Log(raw, "below");
  Header(logger, "%s", "always");
  Log(HEADER_LEVEL, logger, "too");
  EXPECT_EQ(shared->lines, (std::vector<std::string>{"head: always", "head: too"}));
  LogFlush(logger);
  LogFlush(raw);
  EXPECT_EQ(shared->flushes, 2);
  const std::shared_ptr<Logger> none;
  Info(none, "nobody");
  Header(none.get(), "nobody");
  LogFlush(none);
}

TEST_F(DefaultEnvTest, FunctionsKeepTheLevelInALogFile) {
  std::shared_ptr<Logger> logger;
  ASSERT_OK(env_->NewLogger(File("program.log"), &logger));
  logger->SetInfoLogLevel(WARN_LEVEL);
  Info(logger, "quiet");
  Warn(logger, "careful %d", 7);
  Header(logger, "the head");
  LogFlush(logger);
  const std::string text = Read("program.log");
  EXPECT_EQ(text.find("quiet"), std::string::npos) << text;
  EXPECT_NE(text.find(" [WARN] careful 7\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("[INFO]"), std::string::npos) << text;
  EXPECT_NE(text.find("the head\n"), std::string::npos) << text;
  ASSERT_OK(logger->Close());
}

// ---- NewMemEnv and NewTimedEnv

TEST(MemEnvTest, AFileIsReadAndWrittenAtAnyOffset) {
  const std::unique_ptr<Env> env(NewMemEnv(nullptr));
  std::unique_ptr<RandomRWFile> file;
  EXPECT_TRUE(env->NewRandomRWFile("/f", &file, EnvOptions()).IsPathNotFound());
  ASSERT_OK(WriteStringToFile(env.get(), "0123456789", "/f"));
  ASSERT_OK(env->NewRandomRWFile("/f", &file, EnvOptions()));
  ASSERT_OK(file->Write(2, "ab"));
  ASSERT_OK(file->Write(12, "end"));
  std::array<char, 16> scratch;
  Slice read;
  ASSERT_OK(file->Read(1, 4, &read, scratch.data()));
  EXPECT_EQ(read, Slice("1ab4"));
  ASSERT_OK(file->Sync());
  ASSERT_OK(file->Close());
  EXPECT_TRUE(file->Write(0, "x").IsIOError());
  std::string bytes;
  ASSERT_OK(ReadFileToString(env.get(), "/f", &bytes));
  EXPECT_EQ(bytes, std::string("01ab456789\0\0end", 15));
}

// CreateDir takes long enough for the clock to measure.
class SlowFiles final : public FileSystemWrapper {
 public:
  explicit SlowFiles(const std::shared_ptr<FileSystem>& target) : FileSystemWrapper(target) {}
  const char* Name() const override { return "SlowFiles"; }
  IOStatus CreateDir(const std::string& dir, const IOOptions& options,
                     IODebugContext* dbg) override {
    const uint64_t begin = MonotonicNanos();
    while (MonotonicNanos() == begin) {
    }
    return FileSystemWrapper::CreateDir(dir, options, dbg);
  }
};

TEST(TimedEnvTest, CallsOnFilesAreTimesOfTheThread) {
  const std::unique_ptr<Env> memory(NewMemEnv(nullptr));
  const std::unique_ptr<Env> slow =
      NewCompositeEnv(std::make_shared<SlowFiles>(memory->GetFileSystem()), memory.get());
  const std::unique_ptr<Env> env(NewTimedEnv(slow.get()));
  const PerfLevel level = GetPerfLevel();
  PerfContext& perf = *get_perf_context();
  perf.Reset();
  SetPerfLevel(kEnableCount);
  ASSERT_OK(env->CreateDir("/untimed"));
  EXPECT_EQ(perf.env_create_dir_nanos, 0u);
  SetPerfLevel(kEnableTimeExceptForMutex);
  ASSERT_OK(env->CreateDir("/timed"));
  EXPECT_GT(perf.env_create_dir_nanos, 0u);
  EXPECT_EQ(perf.env_delete_dir_nanos, 0u);
  EXPECT_NE(perf.ToString(true).find("env_create_dir_nanos = "), std::string::npos);
  EXPECT_OK(memory->FileExists("/timed"));
  perf.Reset();
  SetPerfLevel(level);
}

}  // namespace
}  // namespace ashlar

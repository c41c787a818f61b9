#include "observe/info_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/file_system.h"

namespace ashlar {
namespace {

class InfoLog : public testing::Test {
 protected:
  InfoLog() { EXPECT_TRUE(file_system_->CreateDir("/db").ok()); }

  FileLogger::Options Options() {
    return {.file_system = file_system_, .directory = "/db", .now_unix_micros = [this] {
              return now_micros_;
            }};
  }
  static std::shared_ptr<FileLogger> Open(const FileLogger::Options& options) {
    Result<std::shared_ptr<FileLogger>> logger = FileLogger::Open(options);
    EXPECT_TRUE(logger.ok()) << logger.status().ToString();
    return logger.ok() ? std::move(logger).value() : nullptr;
  }
  std::string Read(const std::string& path) {
    std::unique_ptr<vfs::RandomAccessFile> file;
    const Status opened = file_system_->NewRandomAccessFile(path, vfs::FileOptions(), &file);
    if (!opened.ok()) return opened.ToString();
    std::string scratch(1 << 20, '\0');
    Slice text;
    EXPECT_TRUE(file->Read(0, scratch.size(), &text, scratch.data()).ok());
    return text.ToString();
  }
  std::vector<std::string> Names(const std::string& directory = "/db") {
    std::vector<std::string> names;
    EXPECT_TRUE(file_system_->GetChildren(directory, &names).ok());
    std::sort(names.begin(), names.end());
    return names;
  }

  void Create(const std::string& path) {
    std::unique_ptr<vfs::WritableFile> file;
    EXPECT_TRUE(file_system_->NewWritableFile(path, vfs::FileOptions(), &file).ok());
  }

  const std::unique_ptr<Env> env_{NewMemEnv(nullptr)};
  const std::shared_ptr<vfs::FileSystem> file_system_ = env_->EngineFiles();
  uint64_t now_micros_ = 1795221733123456;  // 2026/11/21-00:42:13.123456
};

using NameList = std::vector<std::string>;

TEST_F(InfoLog, TimesAreWrittenInFull) {
  EXPECT_EQ(FormatUnixMicros(1795221733123456), "2026/11/21-00:42:13.123456");
  EXPECT_EQ(FormatUnixMicros(0), "1970/01/01-00:00:00.000000");
  EXPECT_EQ(FormatUnixMicros(951782400000001), "2000/02/29-00:00:00.000001");
}

TEST_F(InfoLog, ALineHasTimeThreadLevelAndMessage) {
  const auto logger = Open(Options());
  logger->Log(WARN_LEVEL, "slow");
  logger->Log(DEBUG_LEVEL, "unseen");
  logger->Log(HEADER_LEVEL, "head");
  const std::string text = Read("/db/LOG");
  EXPECT_TRUE(text.starts_with("2026/11/21-00:42:13.123456 ")) << text;
  EXPECT_NE(text.find(" [WARN] slow\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(" head\n")) << text;
  EXPECT_EQ(text.find("unseen"), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_EQ(logger->GetLogFileSize(), text.size());
  logger->SetInfoLogLevel(DEBUG_LEVEL);
  logger->Log(DEBUG_LEVEL, "seen");
  EXPECT_NE(Read("/db/LOG").find("[DEBUG] seen\n"), std::string::npos);
}

TEST_F(InfoLog, ControlCharactersAreMadeVisible) {
  Open(Options())->Log(INFO_LEVEL, "a\nb\x1b[31m\xc3\xa9\x7f");
  EXPECT_TRUE(Read("/db/LOG").ends_with("[INFO] a\\x0ab\\x1b[31m\xc3\xa9\\x7f\n"));
}

TEST_F(InfoLog, OpeningKeepsTheOldFileUnderItsTime) {
  Open(Options())->Log(INFO_LEVEL, "first");
  Open(Options())->Log(INFO_LEVEL, "second");
  Open(Options())->Log(INFO_LEVEL, "third");
  EXPECT_EQ(Names(), (NameList{"LOG", "LOG.old.1795221733123456", "LOG.old.1795221733123457"}))
      << "at one time, still under names of their own";
  EXPECT_TRUE(Read("/db/LOG").ends_with("third\n"));
  EXPECT_TRUE(Read("/db/LOG.old.1795221733123457").ends_with("second\n"));
}

TEST_F(InfoLog, SizeAndAgeBeginANewFile) {
  FileLogger::Options options = Options();
  options.file_bytes_max = 100;
  options.file_seconds_max = 60;
  const auto logger = Open(options);
  logger->Log(INFO_LEVEL, std::string(200, 'x'));
  EXPECT_EQ(Names().size(), 1u);
  logger->Log(INFO_LEVEL, "in the next");
  EXPECT_EQ(Names().size(), 2u);
  now_micros_ += 59 * 1000000;
  logger->Log(INFO_LEVEL, "x");
  EXPECT_EQ(Names().size(), 2u);
  now_micros_ += 1 * 1000000;
  logger->Log(INFO_LEVEL, "x");
  EXPECT_EQ(Names().size(), 3u);
}

TEST_F(InfoLog, OnlyTheNewestFilesStay) {
  Create("/db/LOG.old.007");
  Create("/db/LOG.old.x");
  FileLogger::Options options = Options();
  options.files_max = 3;
  for (int i = 0; i < 5; ++i, ++now_micros_) Open(options)->Log(INFO_LEVEL, "line");
  EXPECT_EQ(Names(), (NameList{"LOG", "LOG.old.007", "LOG.old.1795221733123459",
                               "LOG.old.1795221733123460", "LOG.old.x"}))
      << "files with other names are not ours to remove";
}

TEST_F(InfoLog, AnOldFileThatCannotBeRemovedStaysAndNothingElseFails) {
  ASSERT_TRUE(file_system_->CreateDir("/db/LOG.old.1").ok());  // no file to delete
  Create("/db/LOG.old.2");
  FileLogger::Options options = Options();
  options.files_max = 1;
  const std::shared_ptr<FileLogger> logger = Open(options);
  ASSERT_NE(logger, nullptr);
  logger->Log(INFO_LEVEL, "written");
  EXPECT_NE(Read("/db/LOG").find("written"), std::string::npos);
  EXPECT_EQ(Names(), (NameList{"LOG", "LOG.old.1"}));
}

// A disk that can be full. While it is full, it takes only `room` more bytes.
class FullDisk final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "FullDisk"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    return Wrapped(target()->NewWritableFile(path, options, result, dbg), result);
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* result,
                              IODebugContext* dbg) override {
    return Wrapped(target()->ReopenWritableFile(path, options, result, dbg), result);
  }

  bool is_full = false;
  size_t room = 0;

 private:
  class File final : public FSWritableFileOwnerWrapper {
   public:
    File(FullDisk* disk, std::unique_ptr<FSWritableFile>&& file)
        : FSWritableFileOwnerWrapper(std::move(file)), disk_(disk) {}
    using FSWritableFileOwnerWrapper::Append;
    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
      if (!disk_->is_full) return target()->Append(data, options, dbg);
      const size_t part = std::min(data.size(), std::exchange(disk_->room, 0));
      IOStatus written = target()->Append(Slice(data.data(), part), options, dbg);
      if (written.ok()) written = target()->Flush(options, dbg);
      return written.ok() ? IOStatus::NoSpace("the disk is full") : written;
    }

   private:
    FullDisk* const disk_;
  };

  IOStatus Wrapped(IOStatus opened, std::unique_ptr<FSWritableFile>* file) {
    if (opened.ok()) *file = std::make_unique<File>(this, std::move(*file));
    return opened;
  }
};

// A file object is final after an error, so the log must be reopened or all later lines are lost.
TEST_F(InfoLog, AFullDiskLosesTheLinesOfItsTimeOnly) {
  const auto disk = std::make_shared<FullDisk>(env_->GetFileSystem());
  FileLogger::Options options = Options();
  options.file_system = vfs::ToEngineFiles(disk);
  const auto logger = Open(options);
  logger->Log(INFO_LEVEL, "before");
  disk->is_full = true;
  logger->Log(INFO_LEVEL, "lost");
  now_micros_ += 1000000;
  logger->Log(INFO_LEVEL, "lost");
  disk->is_full = false;
  logger->Log(INFO_LEVEL, "lost: it is tried once a second");
  now_micros_ += 1000000;
  logger->Log(INFO_LEVEL, "after");
  const std::string text = Read("/db/LOG");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  EXPECT_NE(text.find("before\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("after\n")) << text;
  EXPECT_EQ(logger->GetLogFileSize(), text.size());
  EXPECT_EQ(Names(), NameList{"LOG"});
  EXPECT_TRUE(logger->Close().ok());
}

TEST_F(InfoLog, ALineThatAFullDiskHasCutIsEnded) {
  const auto disk = std::make_shared<FullDisk>(env_->GetFileSystem());
  FileLogger::Options options = Options();
  options.file_system = vfs::ToEngineFiles(disk);
  const auto logger = Open(options);
  disk->is_full = true;
  disk->room = 4;
  logger->Log(INFO_LEVEL, "lost");
  disk->is_full = false;
  now_micros_ += 1000000;
  logger->Log(INFO_LEVEL, "after");
  const std::string text = Read("/db/LOG");
  EXPECT_TRUE(text.starts_with("2026\n2026/11/21-")) << text;
  EXPECT_TRUE(text.ends_with("after\n")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
}

TEST_F(InfoLog, ADirectoryThatIsNotThereIsAnError) {
  FileLogger::Options options = Options();
  options.directory = "/none";
  EXPECT_FALSE(FileLogger::Open(options).ok());
}

TEST_F(InfoLog, ClosingEndsWriting) {
  const auto logger = Open(Options());
  logger->Log(INFO_LEVEL, "before");
  EXPECT_TRUE(logger->Close().ok());
  EXPECT_TRUE(logger->Close().ok());
  logger->Log(INFO_LEVEL, "after");
  EXPECT_TRUE(Read("/db/LOG").ends_with("before\n"));
  EXPECT_EQ(Names().size(), 1u);
}

TEST_F(InfoLog, LinesOfManyThreadsDoNotMix) {
  FileLogger::Options options = Options();
  options.file_bytes_max = 4000;
  const auto logger = Open(options);
  std::vector<std::thread> threads;
  for (const char c : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([&logger, c] {
      for (int i = 0; i < 50; ++i) logger->Log(INFO_LEVEL, std::string(30, c));
    });
  }
  for (std::thread& thread : threads) thread.join();
  size_t lines = 0;
  for (const std::string& name : Names()) {
    const std::string text = Read("/db/" + name);
    for (size_t begin = 0; begin < text.size(); ++lines) {
      const size_t end = text.find('\n', begin);
      ASSERT_NE(end, std::string::npos);
      const std::string message = text.substr(end - 30, 30);
      EXPECT_EQ(message, std::string(30, message[0]));
      begin = end + 1;
    }
  }
  EXPECT_EQ(lines, 200u);
}

TEST_F(InfoLog, OptionsChooseDirectoryAndName) {
  DBOptions options;
  options.env = env_.get();
  options.info_log_level = WARN_LEVEL;
  {
    Result<std::shared_ptr<Logger>> logger = OpenLogFile(options, "/db");
    ASSERT_TRUE(logger.ok());
    EXPECT_EQ((*logger)->GetInfoLogLevel(), WARN_LEVEL);
  }
  options.db_log_dir = "/logs";
  ASSERT_TRUE(OpenLogFile(options, "/db").ok());
  ASSERT_TRUE(OpenLogFile(options, "/other db/x").ok());
  EXPECT_EQ(Names(), NameList{"LOG"});
  EXPECT_EQ(Names("/logs"), (NameList{"db_LOG", "other_db_x_LOG"}));
}

class HomeDirectory final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "HomeDirectory"; }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* absolute,
                           IODebugContext*) override {
    *absolute = "/home/me/" + path;
    return IOStatus::OK();
  }
};

// Otherwise programs that each have a database "data" would rename each other's LOG.
TEST_F(InfoLog, ARelativeNameIsMadeAbsoluteFirst) {
  const std::unique_ptr<Env> env =
      NewCompositeEnv(std::make_shared<HomeDirectory>(env_->GetFileSystem()), env_.get());
  DBOptions options;
  options.env = env.get();
  options.db_log_dir = "/logs";
  ASSERT_TRUE(OpenLogFile(options, "data").ok());
  EXPECT_EQ(Names("/logs"), NameList{"home_me_data_LOG"});
}

TEST_F(InfoLog, AProgramGetsTheLoggerOfItsOptions) {
  DBOptions options;
  options.env = env_.get();
  std::shared_ptr<Logger> logger;
  ASSERT_TRUE(CreateLoggerFromOptions("/new", options, &logger).ok());
  Info(logger, "line %d", 1);
  EXPECT_NE(Read("/new/LOG").find("[INFO] line 1\n"), std::string::npos);
  options.info_log = logger;
  std::shared_ptr<Logger> same;
  ASSERT_TRUE(CreateLoggerFromOptions("/never", options, &same).ok());
  EXPECT_EQ(same, logger);
  EXPECT_FALSE(file_system_->FileExists("/never").ok());
  options.info_log = nullptr;
  options.db_log_dir = "/logs";
  ASSERT_TRUE(CreateLoggerFromOptions("/never", options, &same).ok());
  EXPECT_NE(same, logger);
  EXPECT_FALSE(file_system_->FileExists("/never").ok());
  EXPECT_EQ(Names("/logs"), NameList{"never_LOG"});
}

}  // namespace
}  // namespace ashlar

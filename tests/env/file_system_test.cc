// Databases on a FileSystem of the program, and the contracts of the adapters between the two
// interfaces to files (src/environment).
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/checkpoint.h"
#include "ashlar/db.h"
#include "ashlar/file_system.h"
#include "ashlar/vfs.h"
#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "tests/env/call_counts.h"
#include "tests/env/small_file_system.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

class CountedFile final : public FSWritableFileOwnerWrapper {
 public:
  CountedFile(std::unique_ptr<FSWritableFile>&& file, CallCounts* counts)
      : FSWritableFileOwnerWrapper(std::move(file)), counts_(counts) {}
  using FSWritableFileOwnerWrapper::Append;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    counts_->Add("Append");
    return FSWritableFileOwnerWrapper::Append(data, options, dbg);
  }

 private:
  CallCounts* const counts_;
};

class CountingFileSystem final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "CountingFileSystem"; }
  const CallCounts& counts() const { return counts_; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override {
    counts_.Add("NewSequentialFile");
    return FileSystemWrapper::NewSequentialFile(path, options, result, dbg);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    counts_.Add("NewRandomAccessFile");
    return FileSystemWrapper::NewRandomAccessFile(path, options, result, dbg);
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    counts_.Add("NewWritableFile");
    IOStatus opened = FileSystemWrapper::NewWritableFile(path, options, result, dbg);
    if (opened.ok()) *result = std::make_unique<CountedFile>(std::move(*result), &counts_);
    return opened;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    counts_.Add("RenameFile");
    return FileSystemWrapper::RenameFile(from, to, options, dbg);
  }
  IOStatus LockFile(const std::string& path, const IOOptions& options, FileLock** lock,
                    IODebugContext* dbg) override {
    counts_.Add("LockFile");
    return FileSystemWrapper::LockFile(path, options, lock, dbg);
  }
  IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) override {
    counts_.Add("UnlockFile");
    return FileSystemWrapper::UnlockFile(lock, options, dbg);
  }

 private:
  CallCounts counts_;
};

Options OptionsOn(Env* env) {
  Options options;
  options.env = env;
  options.create_if_missing = true;
  options.compression = kNoCompression;
  return options;
}

void WriteFlushAndCompact(DB* db) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 500; ++i)
      ASSERT_OK(db->Put(WriteOptions(), StrCat("key", i), StrCat("value", round)));
    ASSERT_OK(db->Flush(FlushOptions()));
  }
  ASSERT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  WriteOptions durable;
  durable.sync = true;
  ASSERT_OK(db->Put(durable, "in the log", "yes"));
}

void ExpectContents(DB* db) {
  std::string value;
  for (int i = 0; i < 500; ++i) {
    ASSERT_OK(db->Get(ReadOptions(), StrCat("key", i), &value));
    ASSERT_EQ(value, "value1");
  }
  ASSERT_OK(db->Get(ReadOptions(), "in the log", &value));
  EXPECT_EQ(value, "yes");
}

TEST(FileSystemWrapperTest, ALifeOfADatabaseGoesThroughIt) {
  const std::shared_ptr<vfs::FileSystem> memory = std::make_shared<MemoryFileSystem>();
  const auto files = std::make_shared<CountingFileSystem>(vfs::ToRocksFiles(memory));
  const std::unique_ptr<Env> env = NewCompositeEnv(std::shared_ptr<FileSystem>(files));
  EXPECT_EQ(env->GetFileSystem(), files);
  const Options options = OptionsOn(env.get());
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  EXPECT_EQ(db->GetFileSystem(), files.get());
  WriteFlushAndCompact(db.get());
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db.get(), &made));
  ASSERT_OK(std::unique_ptr<Checkpoint>(made)->CreateCheckpoint("/checkpoint"));
  ASSERT_OK(db->Close());
  for (const char* const path : {"/db", "/checkpoint"}) {
    SCOPED_TRACE(path);
    ASSERT_OK(DB::Open(options, path, &db));
    ExpectContents(db.get());
    ASSERT_OK(db->Close());
  }
  db.reset();
  for (const char* const method : {"NewSequentialFile", "NewRandomAccessFile", "NewWritableFile",
                                   "Append", "RenameFile", "LockFile"}) {
    EXPECT_GT(files->counts().Of(method), 0) << method;
  }
  EXPECT_EQ(files->counts().Of("LockFile"), files->counts().Of("UnlockFile"));
}

TEST(SmallFileSystemTest, ADatabaseNeedsThePureMethodsOnly) {
  const auto files = std::make_shared<SmallFileSystem>();
  const std::unique_ptr<Env> env = NewCompositeEnv(std::shared_ptr<FileSystem>(files));
  const Options options = OptionsOn(env.get());
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  WriteFlushAndCompact(db.get());
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(db->Close());
    ASSERT_OK(DB::Open(options, "/db", &db));
    ExpectContents(db.get());
  }
  std::unique_ptr<DB> second;
  EXPECT_FALSE(DB::Open(options, "/db", &second).ok());
  db.reset();
  ASSERT_OK(DestroyDB("/db", options));
}

TEST(SmallFileSystemTest, AnErrorReachesTheWriterWithItsText) {
  const auto files = std::make_shared<SmallFileSystem>();
  const std::unique_ptr<Env> env = NewCompositeEnv(std::shared_ptr<FileSystem>(files));
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(OptionsOn(env.get()), "/db", &db));
  ASSERT_OK(db->Put(WriteOptions(), "key", "value"));
  files->FailAppends(".sst", IOStatus::IOFenced("the other leader", "has the lease"));
  const Status flushed = db->Flush(FlushOptions());
  EXPECT_TRUE(flushed.IsIOFenced()) << flushed.ToString();
  EXPECT_NE(flushed.ToString().find("has the lease"), std::string::npos) << flushed.ToString();
}

TEST(SmallFileSystemTest, ADatabaseResumesAfterItsLogFailed) {
  const auto files = std::make_shared<SmallFileSystem>();
  const std::unique_ptr<Env> env = NewCompositeEnv(std::shared_ptr<FileSystem>(files));
  const Options options = OptionsOn(env.get());
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  ASSERT_OK(db->Put(WriteOptions(), "before", "value"));
  files->FailAppends(".log", IOStatus::IOError("no connection"));
  EXPECT_TRUE(db->Put(WriteOptions(), "failed", "value").IsIOError());
  files->FailAppends("", IOStatus::OK());
  ASSERT_OK(db->Resume());
  ASSERT_OK(db->Put(WriteOptions(), "after", "value"));
  ASSERT_OK(db->Close());
  ASSERT_OK(DB::Open(options, "/db", &db));
  std::string value;
  EXPECT_OK(db->Get(ReadOptions(), "before", &value));
  EXPECT_TRUE(db->Get(ReadOptions(), "failed", &value).IsNotFound());
  EXPECT_OK(db->Get(ReadOptions(), "after", &value));
}

TEST(SmallFileSystemTest, TheNextOpenDeletesACopyThatACrashLeft) {
  const auto files = std::make_shared<SmallFileSystem>();
  const std::unique_ptr<Env> env = NewCompositeEnv(std::shared_ptr<FileSystem>(files));
  Options options = OptionsOn(env.get());
  options.wal_dir = "/logs";
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  ASSERT_OK(db->Put(WriteOptions(), "key", "value"));
  ASSERT_OK(db->Close());
  const std::vector<std::string> copies = {"/db/000004.sst.dbtmp", "/logs/000004.log.dbtmp"};
  for (const std::string& copy : copies)
    ASSERT_OK(WriteStringToFile(files.get(), "half of a file", copy));
  ASSERT_OK(DB::Open(options, "/db", &db));
  for (const std::string& copy : copies)
    EXPECT_TRUE(files->FileExists(copy, IOOptions(), nullptr).IsNotFound()) << copy;
  std::string value;
  EXPECT_OK(db->Get(ReadOptions(), "key", &value));
  ASSERT_OK(db->Close());
  db.reset();
  for (const std::string& copy : copies)
    ASSERT_OK(WriteStringToFile(files.get(), "half of a file", copy));
  ASSERT_OK(DestroyDB("/db", options));
  for (const std::string& copy : copies)
    EXPECT_TRUE(files->FileExists(copy, IOOptions(), nullptr).IsNotFound()) << copy;
}

class ProgramFilesTest : public testing::Test {
 protected:
  ProgramFilesTest() { EXPECT_OK(files_->CreateDir("/dir")); }
  void Write(const std::string& path, const std::string& bytes) {
    ASSERT_OK(WriteStringToFile(small_.get(), bytes, path));
  }

  const std::shared_ptr<SmallFileSystem> small_ = std::make_shared<SmallFileSystem>();
  const std::shared_ptr<vfs::FileSystem> files_ = vfs::ToEngineFiles(small_);
};

TEST_F(ProgramFilesTest, ShortReadsAreContinuedToTheEndOfTheFile) {
  const std::string bytes = "more than seven bytes";
  Write("/dir/f", bytes);
  std::unique_ptr<vfs::SequentialFile> file;
  ASSERT_OK(files_->NewSequentialFile("/dir/f", {}, &file));
  char scratch[64];
  Slice read;
  ASSERT_OK(file->Read(10, &read, scratch));
  EXPECT_EQ(read.ToString(), bytes.substr(0, 10));
  ASSERT_OK(file->Read(sizeof(scratch), &read, scratch));
  EXPECT_EQ(read.ToString(), bytes.substr(10));
  ASSERT_OK(file->Read(sizeof(scratch), &read, scratch));
  EXPECT_TRUE(read.empty());
}

TEST_F(ProgramFilesTest, AFileCountsItsOwnBytes) {
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_OK(files_->NewWritableFile("/dir/f", {}, &file));
  EXPECT_EQ(file->Size(), 0u);
  ASSERT_OK(file->Append("12345"));
  EXPECT_EQ(file->Size(), 5u);
  ASSERT_OK(file->Append(std::string(100000, 'x')));
  EXPECT_EQ(file->Size(), 100005u);
  ASSERT_OK(file->Close());
  std::unique_ptr<vfs::RandomAccessFile> reader;
  ASSERT_OK(files_->NewRandomAccessFile("/dir/f", {}, &reader));
  uint64_t bytes = 0;
  ASSERT_OK(reader->Size(&bytes));
  EXPECT_EQ(bytes, 100005u);
}

TEST_F(ProgramFilesTest, AFileThatCannotBeReopenedIsCopied) {
  Write("/dir/f", "first");
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_OK(files_->ReopenWritableFile("/dir/f", {}, &file));
  EXPECT_EQ(file->Size(), 5u);
  ASSERT_OK(file->Append(" second"));
  ASSERT_OK(file->Close());
  std::string bytes;
  ASSERT_OK(ReadFileToString(small_.get(), "/dir/f", &bytes));
  EXPECT_EQ(bytes, "first second");
  std::vector<std::string> names;
  ASSERT_OK(files_->GetChildren("/dir", &names));
  EXPECT_EQ(names, std::vector<std::string>{"f"});
}

TEST_F(ProgramFilesTest, AFileThatCannotBeCutIsCopied) {
  const std::string whole(100000, 'x');
  Write("/dir/f", whole + "end");
  ASSERT_OK(files_->Truncate("/dir/f", whole.size()));
  std::string bytes;
  ASSERT_OK(ReadFileToString(small_.get(), "/dir/f", &bytes));
  EXPECT_EQ(bytes, whole);
  EXPECT_TRUE(files_->Truncate("/dir/f", whole.size() + 1).IsIOError()) << "it does not grow";
  ASSERT_OK(ReadFileToString(small_.get(), "/dir/f", &bytes));
  EXPECT_EQ(bytes, whole);
  EXPECT_TRUE(files_->Truncate("/dir/missing", 0).IsPathNotFound());
  std::vector<std::string> names;
  ASSERT_OK(files_->GetChildren("/dir", &names));
  EXPECT_EQ(names, std::vector<std::string>{"f"});
  Write("/dir/000007.sst.trash", whole);
  EXPECT_TRUE(files_->Truncate("/dir/000007.sst.trash", 1).IsNotSupported());
}

TEST_F(ProgramFilesTest, SmallAppendsAreCollectedUnlessTheyMayNot) {
  for (const bool is_unbuffered : {false, true}) {
    const int before = small_->appends();
    vfs::FileOptions options;
    options.unbuffered_appends = is_unbuffered;
    std::unique_ptr<vfs::WritableFile> file;
    ASSERT_OK(files_->NewWritableFile("/dir/f", options, &file));
    EXPECT_FALSE(file->AppendsAtOnce()) << "the program's file may have a buffer";
    for (int i = 0; i < 10; ++i) ASSERT_OK(file->Append("ten bytes."));
    EXPECT_EQ(small_->appends() - before, is_unbuffered ? 10 : 0);
    ASSERT_OK(file->Flush());
    EXPECT_EQ(small_->appends() - before, is_unbuffered ? 10 : 1);
    std::string bytes;
    ASSERT_OK(ReadFileToString(small_.get(), "/dir/f", &bytes));
    EXPECT_EQ(bytes.size(), 100u);
  }
}

TEST_F(ProgramFilesTest, TheFirstErrorOfAFileIsFinal) {
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_OK(files_->NewWritableFile("/dir/f", {}, &file));
  ASSERT_OK(file->Append("lost"));
  IOStatus failure = IOStatus::IOError("the first", "error");
  failure.SetRetryable(true);
  failure.SetDataLoss(true);
  failure.SetScope(IOStatus::kIOErrorScopeFile);
  small_->FailAppends("/dir/f", failure);
  const Status first = file->Flush();
  EXPECT_EQ(first.ToString(), failure.ToString());
  small_->FailAppends("/dir/f", IOStatus::IOError("another"));
  EXPECT_EQ(file->Append("x").ToString(), failure.ToString());
  EXPECT_EQ(file->Sync().ToString(), failure.ToString());
  EXPECT_EQ(file->Close().ToString(), failure.ToString());

  // The other facts that the program gave about the error have been passed on, too.
  const IOStatus facts = status_to_io_status(Status(first));
  EXPECT_TRUE(facts.GetRetryable());
  EXPECT_TRUE(facts.GetDataLoss());
  EXPECT_EQ(facts.GetScope(), IOStatus::kIOErrorScopeFile);
  EXPECT_FALSE(IOStatus::IOError("no facts").GetRetryable());
}

TEST_F(ProgramFilesTest, AMissingFileIsFoundMissingByEveryMethod) {
  std::unique_ptr<vfs::SequentialFile> sequential;
  std::unique_ptr<vfs::RandomAccessFile> random;
  std::unique_ptr<vfs::Directory> directory;
  std::vector<std::string> names;
  uint64_t bytes = 0;
  for (const Status& status :
       {files_->NewSequentialFile("/no", {}, &sequential),
        files_->NewRandomAccessFile("/no", {}, &random), files_->NewDirectory("/no", &directory),
        files_->GetChildren("/no", &names), files_->GetFileSize("/no", &bytes),
        files_->DeleteFile("/no"), files_->RenameFile("/no", "/to")}) {
    EXPECT_TRUE(status.IsPathNotFound()) << status.ToString();
    EXPECT_TRUE(status.IsNotFound()) << status.ToString();
    EXPECT_EQ(status.ToString(), "NotFound: /no: is not there");
  }
  EXPECT_TRUE(files_->FileExists("/no").IsNotFound());
}

TEST_F(ProgramFilesTest, AnExclusiveCreationFindsTheFile) {
  Write("/dir/f", "there");
  vfs::FileOptions options;
  options.exclusive_create = true;
  std::unique_ptr<vfs::WritableFile> file;
  EXPECT_TRUE(files_->NewWritableFile("/dir/f", options, &file).IsIOError());
  ASSERT_OK(files_->NewWritableFile("/dir/g", options, &file));
}

TEST_F(ProgramFilesTest, ALockEndsWithItsObject) {
  std::unique_ptr<vfs::FileLock> lock;
  ASSERT_OK(files_->LockFile("/dir/LOCK", &lock));
  std::unique_ptr<vfs::FileLock> second;
  EXPECT_TRUE(files_->LockFile("/dir/LOCK", &second).IsIOError());
  lock.reset();
  ASSERT_OK(files_->LockFile("/dir/LOCK", &second));
}

// A file system without locks, which grants every lock but returns no lock object.
class LockFreeFileSystem final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "LockFreeFileSystem"; }
  IOStatus LockFile(const std::string&, const IOOptions&, FileLock** lock,
                    IODebugContext*) override {
    *lock = nullptr;
    return IOStatus::OK();
  }
  IOStatus UnlockFile(FileLock* lock, const IOOptions&, IODebugContext*) override {
    EXPECT_NE(lock, nullptr);
    return IOStatus::OK();
  }
};

TEST_F(ProgramFilesTest, ALockThatIsNotThereIsNotReleased) {
  const auto files = vfs::ToEngineFiles(std::make_shared<LockFreeFileSystem>(small_));
  std::unique_ptr<vfs::FileLock> lock;
  ASSERT_OK(files->LockFile("/dir/LOCK", &lock));
  EXPECT_NE(lock, nullptr);
}

TEST_F(ProgramFilesTest, DirectIoAndMappingsAreRefused) {
  Write("/dir/f", "there");
  vfs::FileOptions direct;
  direct.use_direct_io = true;
  std::unique_ptr<vfs::RandomAccessFile> file;
  EXPECT_TRUE(files_->NewRandomAccessFile("/dir/f", direct, &file).IsNotSupported());
  vfs::FileOptions mapped;
  mapped.use_mmap_reads = true;
  ASSERT_OK(files_->NewRandomAccessFile("/dir/f", mapped, &file));
  Slice contents;
  EXPECT_TRUE(file->Map(&contents).IsNotSupported());
}

// A file that requires aligned calls.
class DirectFile final : public FSRandomAccessFileOwnerWrapper {
 public:
  using FSRandomAccessFileOwnerWrapper::FSRandomAccessFileOwnerWrapper;
  bool use_direct_io() const override { return true; }
};
class DirectFileSystem final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "DirectFileSystem"; }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    IOStatus opened = FileSystemWrapper::NewRandomAccessFile(path, options, result, dbg);
    if (opened.ok()) *result = std::make_unique<DirectFile>(std::move(*result));
    return opened;
  }
};

TEST_F(ProgramFilesTest, AFileThatInsistsOnAlignmentIsRefused) {
  Write("/dir/f", "there");
  const auto direct = vfs::ToEngineFiles(std::make_shared<DirectFileSystem>(small_));
  std::unique_ptr<vfs::RandomAccessFile> file;
  const Status opened = direct->NewRandomAccessFile("/dir/f", {}, &file);
  EXPECT_TRUE(opened.IsNotSupported()) << opened.ToString();
  EXPECT_NE(opened.ToString().find("use_direct_io"), std::string::npos) << opened.ToString();
}

TEST(AdaptersTest, EachUndoesTheOther) {
  const std::shared_ptr<vfs::FileSystem> memory = std::make_shared<MemoryFileSystem>();
  EXPECT_EQ(vfs::ToEngineFiles(vfs::ToRocksFiles(memory)), memory);
  const std::shared_ptr<FileSystem> small = std::make_shared<SmallFileSystem>();
  EXPECT_EQ(vfs::ToRocksFiles(vfs::ToEngineFiles(small)), small);
  EXPECT_EQ(Env::Default()->EngineFiles(), vfs::FileSystem::Default());
  EXPECT_EQ(Env::Default()->GetFileSystem(), FileSystem::Default());
}

TEST(IOStatusTest, FactsStayWithEveryCopy) {
  IOStatus status = IOStatus::NoSpace("a", "b");
  status.SetRetryable(true);
  status.SetScope(IOStatus::kIOErrorScopeRange);
  const Status copy = Status(status).WithContext("context");
  EXPECT_TRUE(copy.IsNoSpace());
  EXPECT_EQ(copy.ToString(), "IO error: context: a: b");
  const IOStatus again = status_to_io_status(Status(copy));
  EXPECT_TRUE(again.GetRetryable());
  EXPECT_FALSE(again.GetDataLoss());
  EXPECT_EQ(again.GetScope(), IOStatus::kIOErrorScopeRange);
  EXPECT_TRUE(IOStatus::IOError(IOStatus::kPathNotFound).IsPathNotFound());
}

TEST(IODebugContextTest, ACopyOwnsItsRequestId) {
  IODebugContext copy;
  {
    const std::string id = "request 7";
    IODebugContext context;
    context.SetRequestId(&id);
    copy = context;
  }
  ASSERT_NE(copy.request_id, nullptr);
  EXPECT_EQ(*copy.request_id, "request 7");
}

// Files of a program that has one of the two forms of ReadAsync.
class FileOfLetters : public FSRandomAccessFile {
 public:
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    for (size_t i = 0; i < n; ++i) scratch[i] = static_cast<char>('a' + offset + i);
    *result = Slice(scratch, n);
    return IOStatus::OK();
  }
};

class FileOf78 final : public FileOfLetters {
 public:
  using FileOfLetters::ReadAsync;
  IOStatus ReadAsync(FSReadRequest& request, const IOOptions&,
                     std::function<void(const FSReadRequest&, void*)> callback, void* callback_arg,
                     void**, IOHandleDeleter*, IODebugContext*) override {
    request.result = "78";
    callback(request, callback_arg);
    return IOStatus::OK();
  }
};

class FileOf11 final : public FileOfLetters {
 public:
  using FileOfLetters::ReadAsync;
  IOStatus ReadAsync(FSReadRequest& request, const IOOptions&,
                     std::function<void(FSReadRequest&, void*)> callback, void* callback_arg,
                     void**, IOHandleDeleter*, IODebugContext*) override {
    request.result = "11";
    callback(request, callback_arg);
    return IOStatus::OK();
  }
};

TEST(ReadAsyncTest, BothFormsAreThere) {
  const std::function<void(const FSReadRequest&, void*)> of_78 = [](const FSReadRequest& request,
                                                                    void* seen) {
    *static_cast<std::string*>(seen) = request.result.ToString();
  };
  const std::function<void(FSReadRequest&, void*)> of_11 = of_78;
  const auto read = [](FSRandomAccessFile* file, const auto& callback) {
    std::array<char, 2> scratch;
    FSReadRequest request;
    request.offset = 1;
    request.len = scratch.size();
    request.scratch = scratch.data();
    std::string seen;
    EXPECT_TRUE(
        file->ReadAsync(request, IOOptions(), callback, &seen, nullptr, nullptr, nullptr).ok());
    return seen;
  };
  FileOfLetters plain;
  FileOf78 old_file;
  FileOf11 new_file;
  FSRandomAccessFileWrapper wrapped(&old_file);
  EXPECT_EQ(read(&plain, of_78), "bc");
  EXPECT_EQ(read(&plain, of_11), "bc");
  EXPECT_EQ(read(&old_file, of_78), "78");
  EXPECT_EQ(read(&wrapped, of_78), "78");
  EXPECT_EQ(read(&new_file, of_78), "11");
  EXPECT_EQ(read(&new_file, of_11), "11");
  // A function that both forms accept.
  EXPECT_EQ(read(&new_file,
                 [](const FSReadRequest& request, void* seen) {
                   *static_cast<std::string*>(seen) = request.result.ToString();
                 }),
            "11");
}

}  // namespace
}  // namespace ashlar

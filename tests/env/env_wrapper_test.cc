// Databases on a program's Env that wraps another one. The engine opens every file through it.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/backup_engine.h"
#include "ashlar/checkpoint.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/table.h"
#include "base/format.h"
#include "platform/mutex.h"
#include "tests/env/call_counts.h"
#include "tests/support/expect_ok.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

class CountedSequentialFile final : public SequentialFileWrapper {
 public:
  CountedSequentialFile(std::unique_ptr<SequentialFile> file, CallCounts* counts)
      : SequentialFileWrapper(file.get()), owned_(std::move(file)), counts_(counts) {}
  Status Read(size_t n, Slice* result, char* scratch) override {
    counts_->Add("SequentialFile::Read");
    return SequentialFileWrapper::Read(n, result, scratch);
  }

 private:
  const std::unique_ptr<SequentialFile> owned_;
  CallCounts* const counts_;
};

class CountedRandomAccessFile final : public RandomAccessFileWrapper {
 public:
  CountedRandomAccessFile(std::unique_ptr<RandomAccessFile> file, CallCounts* counts)
      : RandomAccessFileWrapper(file.get()), owned_(std::move(file)), counts_(counts) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    counts_->Add("RandomAccessFile::Read");
    return RandomAccessFileWrapper::Read(offset, n, result, scratch);
  }

 private:
  const std::unique_ptr<RandomAccessFile> owned_;
  CallCounts* const counts_;
};

// The error with which appends fail while it is set.
class Disk {
 public:
  void FailAppendsTo(const std::string& name, const Status& failure) {
    const MutexLock lock(mutex_);
    name_ = name;
    failure_ = failure;
  }
  Status OnAppend(const std::string& path) const {
    const MutexLock lock(mutex_);
    return !name_.empty() && path.find(name_) != std::string::npos ? failure_ : Status::OK();
  }

 private:
  mutable Mutex mutex_;
  std::string name_ ASHLAR_GUARDED_BY(mutex_);
  Status failure_ ASHLAR_GUARDED_BY(mutex_);
};

class CountedWritableFile final : public WritableFileWrapper {
 public:
  CountedWritableFile(std::string path, std::unique_ptr<WritableFile> file, CallCounts* counts,
                      const Disk* disk)
      : WritableFileWrapper(file.get()),
        path_(std::move(path)),
        owned_(std::move(file)),
        counts_(counts),
        disk_(disk) {}
  using WritableFileWrapper::Append;
  Status Append(const Slice& data) override {
    counts_->Add("WritableFile::Append");
    const Status failed = disk_->OnAppend(path_);
    return failed.ok() ? WritableFileWrapper::Append(data) : failed;
  }
  Status Flush() override {
    counts_->Add("WritableFile::Flush");
    return WritableFileWrapper::Flush();
  }
  Status Sync() override {
    counts_->Add("WritableFile::Sync");
    return WritableFileWrapper::Sync();
  }
  Status Close() override {
    counts_->Add("WritableFile::Close");
    return WritableFileWrapper::Close();
  }

 private:
  const std::string path_;
  const std::unique_ptr<WritableFile> owned_;
  CallCounts* const counts_;
  const Disk* const disk_;
};

class CountedDirectory final : public DirectoryWrapper {
 public:
  CountedDirectory(std::unique_ptr<Directory> directory, CallCounts* counts)
      : DirectoryWrapper(directory.get()), owned_(std::move(directory)), counts_(counts) {}
  Status Fsync() override {
    counts_->Add("Directory::Fsync");
    return DirectoryWrapper::Fsync();
  }

 private:
  const std::unique_ptr<Directory> owned_;
  CallCounts* const counts_;
};

class CountingEnv final : public EnvWrapper {
 public:
  explicit CountingEnv(Env* target) : EnvWrapper(target) {}

  const CallCounts& counts() const { return counts_; }
  Disk* disk() { return &disk_; }

  Status NewSequentialFile(const std::string& path, std::unique_ptr<SequentialFile>* result,
                           const EnvOptions& options) override {
    counts_.Add("NewSequentialFile");
    Status opened = EnvWrapper::NewSequentialFile(path, result, options);
    if (opened.ok())
      *result = std::make_unique<CountedSequentialFile>(std::move(*result), &counts_);
    return opened;
  }
  Status NewRandomAccessFile(const std::string& path, std::unique_ptr<RandomAccessFile>* result,
                             const EnvOptions& options) override {
    counts_.Add("NewRandomAccessFile");
    Status opened = EnvWrapper::NewRandomAccessFile(path, result, options);
    if (opened.ok())
      *result = std::make_unique<CountedRandomAccessFile>(std::move(*result), &counts_);
    return opened;
  }
  Status NewWritableFile(const std::string& path, std::unique_ptr<WritableFile>* result,
                         const EnvOptions& options) override {
    counts_.Add("NewWritableFile");
    Status opened = EnvWrapper::NewWritableFile(path, result, options);
    if (opened.ok()) {
      *result = std::make_unique<CountedWritableFile>(path, std::move(*result), &counts_, &disk_);
    }
    return opened;
  }
  Status NewDirectory(const std::string& path, std::unique_ptr<Directory>* result) override {
    counts_.Add("NewDirectory");
    Status opened = EnvWrapper::NewDirectory(path, result);
    if (opened.ok()) *result = std::make_unique<CountedDirectory>(std::move(*result), &counts_);
    return opened;
  }
  Status FileExists(const std::string& path) override {
    counts_.Add("FileExists");
    return EnvWrapper::FileExists(path);
  }
  Status GetChildren(const std::string& dir, std::vector<std::string>* names) override {
    counts_.Add("GetChildren");
    return EnvWrapper::GetChildren(dir, names);
  }
  Status DeleteFile(const std::string& path) override {
    counts_.Add("DeleteFile");
    return EnvWrapper::DeleteFile(path);
  }
  Status CreateDir(const std::string& dir) override {
    counts_.Add("CreateDir");
    return EnvWrapper::CreateDir(dir);
  }
  Status CreateDirIfMissing(const std::string& dir) override {
    counts_.Add("CreateDirIfMissing");
    return EnvWrapper::CreateDirIfMissing(dir);
  }
  Status DeleteDir(const std::string& dir) override {
    counts_.Add("DeleteDir");
    return EnvWrapper::DeleteDir(dir);
  }
  Status GetFileSize(const std::string& path, uint64_t* bytes) override {
    counts_.Add("GetFileSize");
    return EnvWrapper::GetFileSize(path, bytes);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    counts_.Add("RenameFile");
    return EnvWrapper::RenameFile(from, to);
  }
  Status LinkFile(const std::string& from, const std::string& to) override {
    counts_.Add("LinkFile");
    return EnvWrapper::LinkFile(from, to);
  }
  Status LockFile(const std::string& path, FileLock** lock) override {
    counts_.Add("LockFile");
    return EnvWrapper::LockFile(path, lock);
  }
  Status UnlockFile(FileLock* lock) override {
    counts_.Add("UnlockFile");
    return EnvWrapper::UnlockFile(lock);
  }
  uint64_t NowMicros() override {
    counts_.Add("NowMicros");
    return EnvWrapper::NowMicros();
  }

 private:
  CallCounts counts_;
  Disk disk_;
};

// A file that is opened without the Env would not be found, because the files are in memory.
class EnvWrapperTest : public testing::Test {
 protected:
  EnvWrapperTest() {
    options_.env = &env_;
    options_.create_if_missing = true;
    options_.compression = kNoCompression;
  }
  Status Open(const std::string& path) { return DB::Open(options_, path, &db_); }
  void Fill() {
    for (int i = 0; i < 500; ++i)
      ASSERT_OK(db_->Put(WriteOptions(), StrCat("key", i), std::string(100, 'v')));
  }
  std::string Get(const std::string& key) {
    std::string value;
    const Status read = db_->Get(ReadOptions(), key, &value);
    return read.ok() ? value : read.ToString();
  }

  const std::unique_ptr<Env> memory_{NewMemEnv(nullptr)};
  CountingEnv env_{memory_.get()};
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(EnvWrapperTest, ALifeOfADatabaseGoesThroughIt) {
  ASSERT_OK(Open("/db"));
  Fill();
  WriteOptions durable;
  durable.sync = true;
  ASSERT_OK(db_->Put(durable, "durable", "yes"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  Fill();
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ASSERT_OK(db_->Put(WriteOptions(), "in the log", "yes"));

  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ASSERT_OK(checkpoint->CreateCheckpoint("/checkpoint"));

  const BackupEngineOptions backup_options("/backups");
  BackupEngine* opened = nullptr;
  ASSERT_OK(BackupEngine::Open(&env_, backup_options, &opened));
  {
    const std::unique_ptr<BackupEngine> backups(opened);
    ASSERT_OK(backups->CreateNewBackup(db_.get()));
    ASSERT_OK(backups->RestoreDBFromLatestBackup("/restored", "/restored"));
  }

  ASSERT_OK(db_->Close());
  for (const char* const path : {"/db", "/checkpoint", "/restored"}) {
    SCOPED_TRACE(path);
    ASSERT_OK(Open(path));
    EXPECT_EQ(Get("key7"), std::string(100, 'v'));
    EXPECT_EQ(Get("durable"), "yes");
    EXPECT_EQ(Get("in the log"), "yes");
    ASSERT_OK(db_->Close());
  }
  db_.reset();
  ASSERT_OK(DestroyDB("/db", options_));
  EXPECT_TRUE(memory_->FileExists("/db").IsNotFound());

  for (const char* const method : {"NewSequentialFile",
                                   "NewRandomAccessFile",
                                   "NewWritableFile",
                                   "NewDirectory",
                                   "FileExists",
                                   "GetChildren",
                                   "DeleteFile",
                                   "CreateDir",
                                   "CreateDirIfMissing",
                                   "DeleteDir",
                                   "GetFileSize",
                                   "RenameFile",
                                   "LinkFile",
                                   "LockFile",
                                   "UnlockFile",
                                   "SequentialFile::Read",
                                   "RandomAccessFile::Read",
                                   "WritableFile::Append",
                                   "WritableFile::Flush",
                                   "WritableFile::Sync",
                                   "WritableFile::Close",
                                   "Directory::Fsync",
                                   "NowMicros"}) {
    EXPECT_GT(env_.counts().Of(method), 0) << method;
  }
  EXPECT_EQ(env_.counts().Of("LockFile"), env_.counts().Of("UnlockFile"));
}

TEST_F(EnvWrapperTest, AnErrorOfTheProgramsTableIsTheBackgroundError) {
  ASSERT_OK(Open("/db"));
  Fill();
  env_.disk()->FailAppendsTo(".sst", Status::IOError("the program's disk", "is made of glass"));
  const Status flushed = db_->Flush(FlushOptions());
  EXPECT_TRUE(flushed.IsIOError()) << flushed.ToString();
  EXPECT_NE(flushed.ToString().find("is made of glass"), std::string::npos) << flushed.ToString();
  const Status refused = db_->Put(WriteOptions(), "key", "value");
  EXPECT_NE(refused.ToString().find("is made of glass"), std::string::npos) << refused.ToString();
  EXPECT_EQ(Get("key7"), std::string(100, 'v'));

  // The log has every write.
  env_.disk()->FailAppendsTo("", Status::OK());
  static_cast<void>(db_->Close().ok());
  ASSERT_OK(Open("/db"));
  EXPECT_EQ(Get("key7"), std::string(100, 'v'));
}

TEST_F(EnvWrapperTest, AnErrorOfTheProgramsLogIsTheAnswerToTheWrite) {
  ASSERT_OK(Open("/db"));
  ASSERT_OK(db_->Put(WriteOptions(), "before", "value"));
  env_.disk()->FailAppendsTo(".log", Status::NoSpace("the program's disk", "is a thimble"));
  const Status written = db_->Put(WriteOptions(), "after", "value");
  EXPECT_TRUE(written.IsNoSpace()) << written.ToString();
  EXPECT_NE(written.ToString().find("is a thimble"), std::string::npos) << written.ToString();
  EXPECT_EQ(Get("before"), "value");
}

TEST_F(EnvWrapperTest, AnotherDatabaseIsRefusedWhileOneIsOpen) {
  ASSERT_OK(Open("/db"));
  std::unique_ptr<DB> second;
  EXPECT_TRUE(DB::Open(options_, "/db", &second).IsIOError());
}

// Below a wrapper of Env::Default(), the engine's files are those of the system, too.
TEST(EnvWrapperOnDiskTest, ADatabaseOfTheSystemIsReadThroughAWrapper) {
  const ScratchDirectory scratch;
  Options options;
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, scratch.File("db"), &db));
  ASSERT_OK(db->Put(WriteOptions(), "key", "value"));
  ASSERT_OK(db->Flush(FlushOptions()));
  ASSERT_OK(db->Close());

  CountingEnv env(nullptr);
  EXPECT_EQ(env.target(), Env::Default());
  options.env = &env;
  options.allow_mmap_reads = true;  // tables are read, not mapped
  ASSERT_OK(DB::Open(options, scratch.File("db"), &db));
  std::string value;
  ASSERT_OK(db->Get(ReadOptions(), "key", &value));
  EXPECT_EQ(value, "value");
  EXPECT_GT(env.counts().Of("RandomAccessFile::Read"), 0);
  EXPECT_EQ(db->GetFileSystem(), env.GetFileSystem().get());
  db.reset();
}

// A wrapper maps no files, so PlainTables are read completely, even from files in memory.
TEST(EnvWrapperOnDiskTest, PlainTablesAreReadWhole) {
  const ScratchDirectory scratch;
  const std::unique_ptr<Env> memory(NewMemEnv(nullptr));
  for (Env* const target : {Env::Default(), memory.get()}) {
    CountingEnv env(target);
    Options options;
    options.create_if_missing = true;
    options.env = &env;
    options.allow_mmap_reads = true;
    PlainTableOptions table;
    table.hash_table_ratio = 0;
    options.table_factory.reset(NewPlainTableFactory(table));
    const std::string path = target == memory.get() ? "/db" : scratch.File("db");
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(options, path, &db));
    ASSERT_OK(db->Put(WriteOptions(), "key", "value"));
    ASSERT_OK(db->Flush(FlushOptions()));
    std::string value;
    ASSERT_OK(db->Get(ReadOptions(), "key", &value));
    EXPECT_EQ(value, "value");
    const auto reads = env.counts().Of("RandomAccessFile::Read");
    EXPECT_GT(reads, 0);
    ASSERT_OK(db->Get(ReadOptions(), "key", &value));
    EXPECT_EQ(env.counts().Of("RandomAccessFile::Read"), reads) << "a Get reads memory";
  }
}

TEST(EnvWrapperOnDiskTest, DirectReadsAreRefusedWithTheRemedy) {
  const ScratchDirectory scratch;
  CountingEnv env(Env::Default());
  Options options;
  options.create_if_missing = true;
  options.env = &env;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, scratch.File("db"), &db));
  ASSERT_OK(db->Put(WriteOptions(), "key", "value"));
  ASSERT_OK(db->Flush(FlushOptions()));
  ASSERT_OK(db->Close());
  db.reset();

  options.use_direct_reads = true;
  Status read = DB::Open(options, scratch.File("db"), &db);
  std::string value;
  if (read.ok()) read = db->Get(ReadOptions(), "key", &value);
  EXPECT_FALSE(read.ok());
  EXPECT_NE(read.ToString().find("use_direct_reads"), std::string::npos) << read.ToString();
}

TEST(EnvWrapperOwnershipTest, TheTargetLivesAsLongAsTheWrapper) {
  EnvWrapper owner(std::unique_ptr<Env>(NewMemEnv(nullptr)));
  ASSERT_OK(owner.CreateDir("/dir"));
  EXPECT_OK(owner.FileExists("/dir"));
  const std::shared_ptr<Env> shared(NewMemEnv(nullptr));
  const EnvWrapper sharer(shared);
  EXPECT_EQ(sharer.target(), shared.get());
  EXPECT_EQ(shared.use_count(), 2);
}

}  // namespace
}  // namespace ashlar

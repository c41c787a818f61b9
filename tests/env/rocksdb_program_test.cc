// A program written for RocksDB that provides its own files. It uses RocksDB's header names and
// namespace, in the forms that such programs use.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/io_status.h"
#include "rocksdb/options.h"

namespace ROCKSDB_NAMESPACE {

// Counts the bytes that are written.
class MeteredWritableFile : public WritableFileWrapper {
 public:
  MeteredWritableFile(std::unique_ptr<WritableFile> file, std::atomic<uint64_t>* bytes)
      : WritableFileWrapper(file.get()), file_(std::move(file)), bytes_(bytes) {}
  using WritableFileWrapper::Append;
  Status Append(const Slice& data) override {
    bytes_->fetch_add(data.size());
    return WritableFileWrapper::Append(data);
  }

 private:
  std::unique_ptr<WritableFile> file_;
  std::atomic<uint64_t>* bytes_;
};

class MeteredEnv : public EnvWrapper {
 public:
  explicit MeteredEnv(Env* base) : EnvWrapper(base) {}
  static const char* kClassName() { return "MeteredEnv"; }
  const char* Name() const override { return kClassName(); }
  Status NewWritableFile(const std::string& fname, std::unique_ptr<WritableFile>* result,
                         const EnvOptions& options) override {
    Status s = EnvWrapper::NewWritableFile(fname, result, options);
    if (s.ok()) result->reset(new MeteredWritableFile(std::move(*result), &bytes));
    return s;
  }
  std::atomic<uint64_t> bytes{0};
};

class MeteredFSWritableFile : public FSWritableFileOwnerWrapper {
 public:
  MeteredFSWritableFile(std::unique_ptr<FSWritableFile>&& file, std::atomic<uint64_t>* bytes)
      : FSWritableFileOwnerWrapper(std::move(file)), bytes_(bytes) {}
  using FSWritableFileOwnerWrapper::Append;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    IOStatus s = target()->Append(data, options, dbg);
    if (s.ok()) bytes_->fetch_add(data.size());
    return s;
  }

 private:
  std::atomic<uint64_t>* bytes_;
};

class MeteredFileSystem : public FileSystemWrapper {
 public:
  explicit MeteredFileSystem(const std::shared_ptr<FileSystem>& base) : FileSystemWrapper(base) {}
  const char* Name() const override { return "MeteredFileSystem"; }
  IOStatus NewWritableFile(const std::string& fname, const FileOptions& file_opts,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    IOStatus s = target()->NewWritableFile(fname, file_opts, result, dbg);
    if (s.ok()) result->reset(new MeteredFSWritableFile(std::move(*result), &bytes));
    return s;
  }
  IOStatus GetFreeSpace(const std::string& path, const IOOptions& options, uint64_t* diskfree,
                        IODebugContext* dbg) override {
    return FileSystemWrapper::GetFreeSpace(path, options, diskfree, dbg);
  }
  std::atomic<uint64_t> bytes{0};
};

}  // namespace ROCKSDB_NAMESPACE

namespace {

class CollectingLogger : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list ap) override {
    char line[512];
    vsnprintf(line, sizeof(line), format, ap);
    lines.fetch_add(1);
  }
  std::atomic<int> lines{0};
};

std::string TestPath(rocksdb::Env* env, const char* name) {
  std::string path;
  EXPECT_TRUE(env->GetTestDirectory(&path).ok());
  return path + "/" + name;
}

void WriteAndReadBack(const rocksdb::Options& options, const std::string& path) {
  rocksdb::DB* opened = nullptr;
  rocksdb::Status s = rocksdb::DB::Open(options, path, &opened);
  ASSERT_TRUE(s.ok()) << s.ToString();
  std::unique_ptr<rocksdb::DB> db(opened);
  ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), "key", std::string(1000, 'v')).ok());
  ASSERT_TRUE(db->Flush(rocksdb::FlushOptions()).ok());
  std::string value;
  ASSERT_TRUE(db->Get(rocksdb::ReadOptions(), "key", &value).ok());
  EXPECT_EQ(value.size(), 1000U);
  db.reset();
  ASSERT_TRUE(rocksdb::DestroyDB(path, options).ok());
}

TEST(RocksDbProgramTest, AnEnvThatMetersItsFiles) {
  std::unique_ptr<rocksdb::Env> base(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  rocksdb::MeteredEnv env(base.get());
  rocksdb::Options options;
  options.env = &env;
  options.create_if_missing = true;
  const auto logger = std::make_shared<CollectingLogger>();
  options.info_log = logger;
  WriteAndReadBack(options, TestPath(&env, "ashlar_metered_env"));
  EXPECT_GT(env.bytes.load(), 1000U);
  EXPECT_GT(logger->lines.load(), 0);
  EXPECT_STREQ(env.Name(), "MeteredEnv");
}

TEST(RocksDbProgramTest, AFileSystemThatMetersItsFiles) {
  std::unique_ptr<rocksdb::Env> memory(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  auto fs = std::make_shared<rocksdb::MeteredFileSystem>(memory->GetFileSystem());
  std::unique_ptr<rocksdb::Env> env(rocksdb::NewCompositeEnv(fs));
  rocksdb::Options options;
  options.env = env.get();
  options.create_if_missing = true;
  WriteAndReadBack(options, TestPath(env.get(), "ashlar_metered_fs"));
  EXPECT_GT(fs->bytes.load(), 1000U);
}

TEST(RocksDbProgramTest, CallsOfTheFileSystemOfTheSystem) {
  const std::shared_ptr<rocksdb::FileSystem> fs = rocksdb::FileSystem::Default();
  const std::string path = TestPath(rocksdb::Env::Default(), "ashlar_program_file");
  rocksdb::IODebugContext dbg;
  std::unique_ptr<rocksdb::FSWritableFile> file;
  rocksdb::IOStatus s = fs->NewWritableFile(path, rocksdb::FileOptions(), &file, &dbg);
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_TRUE(file->Append("bytes", rocksdb::IOOptions(), &dbg).ok());
  ASSERT_TRUE(file->Close(rocksdb::IOOptions(), nullptr).ok());
  uint64_t size = 0;
  ASSERT_TRUE(fs->GetFileSize(path, rocksdb::IOOptions(), &size, nullptr).ok());
  EXPECT_EQ(size, 5U);
  std::string data;
  ASSERT_TRUE(rocksdb::ReadFileToString(fs.get(), path, &data).ok());
  EXPECT_EQ(data, "bytes");
  ASSERT_TRUE(fs->DeleteFile(path, rocksdb::IOOptions(), nullptr).ok());
  EXPECT_TRUE(fs->FileExists(path, rocksdb::IOOptions(), nullptr).IsNotFound());
  // A conversion that programs make.
  rocksdb::Status status = fs->DeleteFile(path, rocksdb::IOOptions(), nullptr);
  EXPECT_TRUE(status.IsPathNotFound());
  rocksdb::IOStatus back = rocksdb::status_to_io_status(std::move(status));
  EXPECT_FALSE(back.ok());
  back.PermitUncheckedError();
}

}  // namespace

// FaultFileSystem: wraps a file system and makes chosen calls fail or report a false success.
//
//   FaultRule rule;                                      the 3rd and every later Sync of a log
//   rule.operations = FaultOperation::kSync;             reports EIO
//   rule.name_contains = ".log";
//   rule.nth = 3;
//   rule.sticky = true;
//   faults.AddRule(rule);
//
// A sweep runs a workload once and asks CallCount(), then runs it again for every n with a rule for
// call n.
//
// Rules are tried in the order in which they were added; the first that fires decides. Each counts
// the calls that match it, from 1. Rules apply to files already open, too.
//
// Thread safety: any thread.
// Lifetime: files opened here must not outlive this object.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/vfs.h"
#include "platform/mutex.h"

namespace ashlar {

// A set of kinds of calls: combine with |.
enum class FaultOperation : uint32_t {
  kOpenForReading = 1u << 0,
  kOpenForWriting = 1u << 1,
  kRead = 1u << 2,  // of both kinds of readers, and Map
  kAppend = 1u << 3,
  kFlush = 1u << 4,
  kSync = 1u << 5,
  kClose = 1u << 6,
  kSyncDirectory = 1u << 7,  // and opening a directory
  kRename = 1u << 8,
  kDelete = 1u << 9,  // of files and directories
  kCreateDirectory = 1u << 10,
  kList = 1u << 11,
  kInspect = 1u << 12,  // FileExists, GetFileSize, times, links, free space
  kLink = 1u << 13,
  kTruncate = 1u << 14,
  kLock = 1u << 15,
  kRangeSync = 1u << 16,  // advice: part of no write
  kReuse = 1u << 17,      // by the new name
  kAnyRead = kOpenForReading | kRead | kList | kInspect,
  kAnyWrite = kOpenForWriting | kAppend | kFlush | kSync | kClose | kSyncDirectory | kRename |
              kDelete | kCreateDirectory | kLink | kTruncate | kReuse,
  kAny = (1u << 18) - 1,
};
constexpr FaultOperation operator|(FaultOperation a, FaultOperation b) {
  return static_cast<FaultOperation>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
constexpr bool Includes(FaultOperation set, FaultOperation operation) {
  return (static_cast<uint32_t>(set) & static_cast<uint32_t>(operation)) != 0;
}

enum class FaultEffect {
  kFailBefore,  // nothing happens, the error is returned
  kFailAfter,   // it happens, the error is returned all the same
  // half of the data is appended, then the error is returned; other calls: kFailBefore
  kPartialAppend,
  // half of the bytes read is returned with Ok, as if the file ended there; calls other than kRead
  // are left alone
  kShortRead,
  // one bit of the bytes read is inverted, by the seed; calls other than kRead are left alone
  kBitFlip,
  // the bytes of the neighbouring place (n further, or the start) are returned; only for
  // RandomAccessFile
  kMisdirectedRead,
  // std::bad_alloc is thrown, as by a file system that finds no memory
  kThrowBadAlloc,
  // the rule's action runs, then the call goes on: a step of another process between two calls of
  // this one
  kRunAction,
};

struct FaultRule {
  FaultOperation operations = FaultOperation::kAny;
  std::string name_contains;          // in the path; empty: any
  std::string path_begins_with = {};  // empty: any
  uint64_t nth = 1;                   // the first matching call that it fires at
  bool sticky = false;                // and at every later one
  FaultEffect effect = FaultEffect::kFailBefore;
  Status error = Status::IOError("injected fault");
  uint64_t seed = 1;
  // For kRunAction. It may use this file system if the rule is not sticky.
  std::function<void()> action = {};
};

class FaultFileSystem final : public vfs::FileSystem {
 public:
  explicit FaultFileSystem(std::shared_ptr<vfs::FileSystem> base);
  ~FaultFileSystem() override;

  void AddRule(const FaultRule& rule);
  void ClearRules();
  // Calls since the construction or ResetCounts that these operations include, whether a rule fired
  // or not.
  uint64_t CallCount(FaultOperation operations) const;
  uint64_t FaultsInjected() const;
  void ResetCounts();

  const char* Name() const override { return "FaultFileSystem"; }

  Status NewSequentialFile(const std::string& path, const vfs::FileOptions& options,
                           std::unique_ptr<vfs::SequentialFile>* result) override;
  Status NewRandomAccessFile(const std::string& path, const vfs::FileOptions& options,
                             std::unique_ptr<vfs::RandomAccessFile>* result) override;
  Status NewWritableFile(const std::string& path, const vfs::FileOptions& options,
                         std::unique_ptr<vfs::WritableFile>* result) override;
  Status ReopenWritableFile(const std::string& path, const vfs::FileOptions& options,
                            std::unique_ptr<vfs::WritableFile>* result) override;
  Status ReuseWritableFile(const std::string& from, const std::string& to,
                           const vfs::FileOptions& options,
                           std::unique_ptr<vfs::WritableFile>* result) override;
  Status NewDirectory(const std::string& path, std::unique_ptr<vfs::Directory>* result) override;

  Status FileExists(const std::string& path) override;
  Status GetChildren(const std::string& path, std::vector<std::string>* names) override;
  Status DeleteFile(const std::string& path) override;
  Status CreateDir(const std::string& path) override;
  Status CreateDirIfMissing(const std::string& path) override;
  Status DeleteDir(const std::string& path) override;
  Status GetFileSize(const std::string& path, uint64_t* bytes) override;
  Status GetFileModificationTime(const std::string& path, uint64_t* unix_seconds) override;
  Status RenameFile(const std::string& from, const std::string& to) override;
  Status LinkFile(const std::string& from, const std::string& to) override;
  Status NumFileLinks(const std::string& path, uint64_t* count) override;
  Status Truncate(const std::string& path, uint64_t bytes) override;
  Status LockFile(const std::string& path, std::unique_ptr<vfs::FileLock>* lock) override;
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override;

 private:
  friend class FaultSequentialFile;
  friend class FaultRandomAccessFile;
  friend class FaultWritableFile;
  friend class FaultDirectory;

  struct ArmedRule {
    FaultRule rule;
    uint64_t matches = 0;
  };
  struct Fault {
    bool fires = false;
    FaultEffect effect = FaultEffect::kFailBefore;
    Status error;
    uint64_t seed = 0;
  };

  // Counts the call and finds its rule.
  Fault Decide(FaultOperation operation, const std::string& path);
  // The same, with the actions to run once the mutex is released.
  Fault Decide(FaultOperation operation, const std::string& path,
               std::vector<std::function<void()>>* actions);
  // Runs `call`, or the action of a rule instead, for calls whose effect is all or nothing.
  template <typename Call>
  Status Run(FaultOperation operation, const std::string& path, Call call);

  const std::shared_ptr<vfs::FileSystem> base_;
  mutable Mutex mutex_;
  std::vector<ArmedRule> rules_ ASHLAR_GUARDED_BY(mutex_);
  std::vector<uint64_t> calls_ ASHLAR_GUARDED_BY(mutex_);  // by the operation's bit
  uint64_t faults_injected_ ASHLAR_GUARDED_BY(mutex_) = 0;
};

}  // namespace ashlar

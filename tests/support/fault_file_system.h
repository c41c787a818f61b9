// FaultFileSystem: wraps a file system and makes chosen calls fail or report a false success.
//
//   FaultRule rule;                                      the 3rd and every later Sync of a log
//   rule.operations = FaultOperation::kSync;             reports EIO
//   rule.name_contains = ".log";
//   rule.nth = 3;
//   rule.sticky = true;
//   faults.AddRule(rule);
//
// A sweep runs a workload once, reads CallCount(), and repeats the workload for every n with a rule
// for call n.
//
// Rules are tried in the order in which they were added, and the first that fires decides. Each
// counts the calls that match it, starting at 1. Rules also apply to files that are already open.
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
  kRangeSync = 1u << 16,  // advice, not part of a write, so not in kAnyWrite
  kReuse = 1u << 17,      // matches the new name
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
  kFailBefore,  // nothing happens; the error is returned
  kFailAfter,   // the call takes effect, but the error is returned
  // half of the data is appended, then the error is returned; other calls fail as with kFailBefore
  kPartialAppend,
  // half of the bytes read is returned with Ok, as if the file ended there; does not apply to calls
  // other than kRead
  kShortRead,
  // one bit of the bytes read is inverted, drawn from the seed; applies to kRead only
  kBitFlip,
  // the n bytes before the requested ones are returned, or the n bytes after them if fewer than n
  // precede them; applies to reads of a RandomAccessFile only
  kMisdirectedRead,
  // std::bad_alloc is thrown, as by a file system in which an allocation fails
  kThrowBadAlloc,
  // the rule's action runs, then the call proceeds; simulates a step of another process between two
  // calls of this process
  kRunAction,
};

struct FaultRule {
  FaultOperation operations = FaultOperation::kAny;
  std::string name_contains;          // substring of the path; empty: any path
  std::string path_begins_with = {};  // empty: any path
  uint64_t nth = 1;                   // the number of the first matching call at which it fires
  bool sticky = false;                // also fires at every later one
  FaultEffect effect = FaultEffect::kFailBefore;
  Status error = Status::IOError("injected fault");
  uint64_t seed = 1;
  // For kRunAction. The action may use this file system if the rule is not sticky.
  std::function<void()> action = {};
};

class FaultFileSystem final : public vfs::FileSystem {
 public:
  explicit FaultFileSystem(std::shared_ptr<vfs::FileSystem> base);
  ~FaultFileSystem() override;

  void AddRule(const FaultRule& rule);
  void ClearRules();
  // The number of calls of these operations since construction or ResetCounts, including those at
  // which a rule fired.
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

  // Counts the call and returns the fault of the first rule that fires.
  Fault Decide(FaultOperation operation, const std::string& path);
  // The same, and returns the actions, which the caller runs after the mutex is released.
  Fault Decide(FaultOperation operation, const std::string& path,
               std::vector<std::function<void()>>* actions);
  // Runs `call` with the fault that fires, if any. The call's effect must be all or nothing.
  template <typename Call>
  Status Run(FaultOperation operation, const std::string& path, Call call);

  const std::shared_ptr<vfs::FileSystem> base_;
  mutable Mutex mutex_;
  std::vector<ArmedRule> rules_ ASHLAR_GUARDED_BY(mutex_);
  std::vector<uint64_t> calls_ ASHLAR_GUARDED_BY(mutex_);  // indexed by the operation's bit
  uint64_t faults_injected_ ASHLAR_GUARDED_BY(mutex_) = 0;
};

}  // namespace ashlar

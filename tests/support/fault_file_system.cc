#include "tests/support/fault_file_system.h"

#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "base/assert.h"
#include "base/random.h"
#include "base/result.h"

namespace ashlar {
namespace {

constexpr size_t kOperationKinds =
    static_cast<size_t>(std::bit_width(static_cast<uint32_t>(FaultOperation::kAny)));

size_t BitIndex(FaultOperation operation) {
  return static_cast<size_t>(std::countr_zero(static_cast<uint32_t>(operation)));
}

// Applies the fault to the result of a read. The bytes may be in a mapping, so an inverted bit is
// written to a copy in scratch.
void CorruptRead(FaultEffect effect, uint64_t seed, Slice* result, char* scratch) {
  if (result->empty()) return;
  if (effect == FaultEffect::kShortRead) {
    *result = Slice(result->data(), result->size() / 2);
  } else if (effect == FaultEffect::kBitFlip) {
    memmove(scratch, result->data(), result->size());
    Random random(seed);
    const size_t at = static_cast<size_t>(random.Uniform(result->size()));
    scratch[at] = static_cast<char>(scratch[at] ^ (1 << random.Uniform(8)));
    *result = Slice(scratch, result->size());
  }
}

bool FailsARead(FaultEffect effect) {
  return effect == FaultEffect::kFailBefore || effect == FaultEffect::kFailAfter ||
         effect == FaultEffect::kPartialAppend;
}

bool IsForReadsOnly(FaultEffect effect) {
  return effect == FaultEffect::kShortRead || effect == FaultEffect::kBitFlip ||
         effect == FaultEffect::kMisdirectedRead;
}

}  // namespace

class FaultSequentialFile final : public vfs::SequentialFile {
 public:
  FaultSequentialFile(FaultFileSystem* owner, std::string path,
                      std::unique_ptr<vfs::SequentialFile> base)
      : owner_(owner), path_(std::move(path)), base_(std::move(base)) {}

  Status Read(size_t n, Slice* result, char* scratch) override {
    const FaultFileSystem::Fault fault = owner_->Decide(FaultOperation::kRead, path_);
    if (fault.fires && FailsARead(fault.effect)) return fault.error;
    const Status status = base_->Read(n, result, scratch);
    if (fault.fires && status.ok()) CorruptRead(fault.effect, fault.seed, result, scratch);
    return status;
  }
  Status Skip(uint64_t n) override { return base_->Skip(n); }

 private:
  FaultFileSystem* const owner_;
  const std::string path_;
  const std::unique_ptr<vfs::SequentialFile> base_;
};

class FaultRandomAccessFile final : public vfs::RandomAccessFile {
 public:
  FaultRandomAccessFile(FaultFileSystem* owner, std::string path,
                        std::unique_ptr<vfs::RandomAccessFile> base)
      : owner_(owner), path_(std::move(path)), base_(std::move(base)) {}

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    const FaultFileSystem::Fault fault = owner_->Decide(FaultOperation::kRead, path_);
    if (fault.fires && FailsARead(fault.effect)) return fault.error;
    if (fault.fires && fault.effect == FaultEffect::kMisdirectedRead)
      offset = offset >= n ? offset - n : offset + n;
    const Status status = base_->Read(offset, n, result, scratch);
    if (fault.fires && status.ok()) CorruptRead(fault.effect, fault.seed, result, scratch);
    return status;
  }
  Status Map(Slice* contents) const override {
    const FaultFileSystem::Fault fault = owner_->Decide(FaultOperation::kRead, path_);
    if (fault.fires && FailsARead(fault.effect)) return fault.error;
    return base_->Map(contents);
  }
  Status Size(uint64_t* bytes) const override {
    return owner_->Run(FaultOperation::kInspect, path_, [&] { return base_->Size(bytes); });
  }
  void Hint(vfs::AccessPattern pattern, uint64_t offset, uint64_t bytes) const override {
    base_->Hint(pattern, offset, bytes);
  }

 private:
  FaultFileSystem* const owner_;
  const std::string path_;
  const std::unique_ptr<vfs::RandomAccessFile> base_;
};

// The caller flushes every file except a reused one, so that the flush can fail.
class FaultWritableFile final : public vfs::WritableFile {
 public:
  enum class Kind { kNew, kReused };
  FaultWritableFile(FaultFileSystem* owner, std::string path,
                    std::unique_ptr<vfs::WritableFile> base, Kind kind)
      : owner_(owner), path_(std::move(path)), base_(std::move(base)), kind_(kind) {}

  bool AppendsAtOnce() const override { return kind_ == Kind::kReused && base_->AppendsAtOnce(); }
  Status Append(const Slice& data) override {
    const FaultFileSystem::Fault fault = owner_->Decide(FaultOperation::kAppend, path_);
    if (!fault.fires) return base_->Append(data);
    if (fault.effect == FaultEffect::kFailAfter) ASHLAR_RETURN_IF_ERROR(base_->Append(data));
    if (fault.effect == FaultEffect::kPartialAppend)
      ASHLAR_RETURN_IF_ERROR(base_->Append(Slice(data.data(), data.size() / 2)));
    return fault.error;
  }
  Status Flush() override {
    return owner_->Run(FaultOperation::kFlush, path_, [&] { return base_->Flush(); });
  }
  Status Sync() override {
    return owner_->Run(FaultOperation::kSync, path_, [&] { return base_->Sync(); });
  }
  Status Close() override {
    return owner_->Run(FaultOperation::kClose, path_, [&] { return base_->Close(); });
  }
  uint64_t Size() const override { return base_->Size(); }
  Status RangeSync(uint64_t offset, uint64_t bytes) override {
    return owner_->Run(FaultOperation::kRangeSync, path_,
                       [&] { return base_->RangeSync(offset, bytes); });
  }

 private:
  FaultFileSystem* const owner_;
  const std::string path_;
  const std::unique_ptr<vfs::WritableFile> base_;
  const Kind kind_;
};

class FaultDirectory final : public vfs::Directory {
 public:
  FaultDirectory(FaultFileSystem* owner, std::string path, std::unique_ptr<vfs::Directory> base)
      : owner_(owner), path_(std::move(path)), base_(std::move(base)) {}
  Status Sync() override {
    return owner_->Run(FaultOperation::kSyncDirectory, path_, [&] { return base_->Sync(); });
  }

 private:
  FaultFileSystem* const owner_;
  const std::string path_;
  const std::unique_ptr<vfs::Directory> base_;
};

FaultFileSystem::FaultFileSystem(std::shared_ptr<vfs::FileSystem> base)
    : base_(std::move(base)), calls_(kOperationKinds, 0) {}

FaultFileSystem::~FaultFileSystem() = default;

void FaultFileSystem::AddRule(const FaultRule& rule) {
  ASHLAR_ASSERT(rule.nth > 0);
  ASHLAR_ASSERT(!rule.error.ok());
  MutexLock lock(mutex_);
  rules_.push_back({.rule = rule});
}

void FaultFileSystem::ClearRules() {
  MutexLock lock(mutex_);
  rules_.clear();
}

uint64_t FaultFileSystem::CallCount(FaultOperation operations) const {
  MutexLock lock(mutex_);
  uint64_t count = 0;
  for (size_t i = 0; i < kOperationKinds; i++) {
    if (Includes(operations, static_cast<FaultOperation>(1u << i))) count += calls_[i];
  }
  return count;
}

uint64_t FaultFileSystem::FaultsInjected() const {
  MutexLock lock(mutex_);
  return faults_injected_;
}

void FaultFileSystem::ResetCounts() {
  MutexLock lock(mutex_);
  calls_.assign(kOperationKinds, 0);
  faults_injected_ = 0;
}

FaultFileSystem::Fault FaultFileSystem::Decide(FaultOperation operation, const std::string& path) {
  std::vector<std::function<void()>> actions;
  const Fault fault = Decide(operation, path, &actions);
  for (const std::function<void()>& action : actions) action();
  return fault;
}

FaultFileSystem::Fault FaultFileSystem::Decide(FaultOperation operation, const std::string& path,
                                               std::vector<std::function<void()>>* actions) {
  MutexLock lock(mutex_);
  calls_[BitIndex(operation)]++;
  Fault fault;
  for (ArmedRule& armed : rules_) {
    const FaultRule& rule = armed.rule;
    if (!Includes(rule.operations, operation) ||
        path.find(rule.name_contains) == std::string::npos ||
        !path.starts_with(rule.path_begins_with))
      continue;
    if (operation != FaultOperation::kRead && IsForReadsOnly(rule.effect)) continue;
    armed.matches++;
    const bool fires = rule.sticky ? armed.matches >= rule.nth : armed.matches == rule.nth;
    if (!fires || fault.fires) continue;
    if (rule.effect == FaultEffect::kRunAction) {
      actions->push_back(rule.action);
      continue;
    }
    faults_injected_++;
    fault = {.fires = true,
             .effect = rule.effect,
             .error = rule.error.WithContext(path),
             .seed = rule.seed + armed.matches};
  }
  if (fault.fires && fault.effect == FaultEffect::kThrowBadAlloc) throw std::bad_alloc();
  return fault;
}

template <typename Call>
Status FaultFileSystem::Run(FaultOperation operation, const std::string& path, Call call) {
  const Fault fault = Decide(operation, path);
  if (!fault.fires) return call();
  if (fault.effect == FaultEffect::kFailAfter) ASHLAR_RETURN_IF_ERROR(call());
  return fault.error;
}

Status FaultFileSystem::NewSequentialFile(const std::string& path, const vfs::FileOptions& options,
                                          std::unique_ptr<vfs::SequentialFile>* result) {
  std::unique_ptr<vfs::SequentialFile> base;
  ASHLAR_RETURN_IF_ERROR(Run(FaultOperation::kOpenForReading, path,
                             [&] { return base_->NewSequentialFile(path, options, &base); }));
  *result = std::make_unique<FaultSequentialFile>(this, path, std::move(base));
  return Status::OK();
}

Status FaultFileSystem::NewRandomAccessFile(const std::string& path,
                                            const vfs::FileOptions& options,
                                            std::unique_ptr<vfs::RandomAccessFile>* result) {
  std::unique_ptr<vfs::RandomAccessFile> base;
  ASHLAR_RETURN_IF_ERROR(Run(FaultOperation::kOpenForReading, path,
                             [&] { return base_->NewRandomAccessFile(path, options, &base); }));
  *result = std::make_unique<FaultRandomAccessFile>(this, path, std::move(base));
  return Status::OK();
}

Status FaultFileSystem::NewWritableFile(const std::string& path, const vfs::FileOptions& options,
                                        std::unique_ptr<vfs::WritableFile>* result) {
  std::unique_ptr<vfs::WritableFile> base;
  ASHLAR_RETURN_IF_ERROR(Run(FaultOperation::kOpenForWriting, path,
                             [&] { return base_->NewWritableFile(path, options, &base); }));
  *result = std::make_unique<FaultWritableFile>(this, path, std::move(base),
                                                FaultWritableFile::Kind::kNew);
  return Status::OK();
}

Status FaultFileSystem::ReopenWritableFile(const std::string& path, const vfs::FileOptions& options,
                                           std::unique_ptr<vfs::WritableFile>* result) {
  std::unique_ptr<vfs::WritableFile> base;
  ASHLAR_RETURN_IF_ERROR(Run(FaultOperation::kOpenForWriting, path,
                             [&] { return base_->ReopenWritableFile(path, options, &base); }));
  *result = std::make_unique<FaultWritableFile>(this, path, std::move(base),
                                                FaultWritableFile::Kind::kNew);
  return Status::OK();
}

Status FaultFileSystem::ReuseWritableFile(const std::string& from, const std::string& to,
                                          const vfs::FileOptions& options,
                                          std::unique_ptr<vfs::WritableFile>* result) {
  std::unique_ptr<vfs::WritableFile> base;
  ASHLAR_RETURN_IF_ERROR(Run(FaultOperation::kReuse, to,
                             [&] { return base_->ReuseWritableFile(from, to, options, &base); }));
  *result = std::make_unique<FaultWritableFile>(this, to, std::move(base),
                                                FaultWritableFile::Kind::kReused);
  return Status::OK();
}

Status FaultFileSystem::NewDirectory(const std::string& path,
                                     std::unique_ptr<vfs::Directory>* result) {
  std::unique_ptr<vfs::Directory> base;
  ASHLAR_RETURN_IF_ERROR(
      Run(FaultOperation::kSyncDirectory, path, [&] { return base_->NewDirectory(path, &base); }));
  *result = std::make_unique<FaultDirectory>(this, path, std::move(base));
  return Status::OK();
}

Status FaultFileSystem::FileExists(const std::string& path) {
  return Run(FaultOperation::kInspect, path, [&] { return base_->FileExists(path); });
}
Status FaultFileSystem::GetChildren(const std::string& path, std::vector<std::string>* names) {
  return Run(FaultOperation::kList, path, [&] { return base_->GetChildren(path, names); });
}
Status FaultFileSystem::DeleteFile(const std::string& path) {
  return Run(FaultOperation::kDelete, path, [&] { return base_->DeleteFile(path); });
}
Status FaultFileSystem::CreateDir(const std::string& path) {
  return Run(FaultOperation::kCreateDirectory, path, [&] { return base_->CreateDir(path); });
}
Status FaultFileSystem::CreateDirIfMissing(const std::string& path) {
  return Run(FaultOperation::kCreateDirectory, path,
             [&] { return base_->CreateDirIfMissing(path); });
}
Status FaultFileSystem::DeleteDir(const std::string& path) {
  return Run(FaultOperation::kDelete, path, [&] { return base_->DeleteDir(path); });
}
Status FaultFileSystem::GetFileSize(const std::string& path, uint64_t* bytes) {
  return Run(FaultOperation::kInspect, path, [&] { return base_->GetFileSize(path, bytes); });
}
Status FaultFileSystem::GetFileModificationTime(const std::string& path, uint64_t* unix_seconds) {
  return Run(FaultOperation::kInspect, path,
             [&] { return base_->GetFileModificationTime(path, unix_seconds); });
}
Status FaultFileSystem::RenameFile(const std::string& from, const std::string& to) {
  return Run(FaultOperation::kRename, to, [&] { return base_->RenameFile(from, to); });
}
Status FaultFileSystem::NumFileLinks(const std::string& path, uint64_t* count) {
  return Run(FaultOperation::kInspect, path, [&] { return base_->NumFileLinks(path, count); });
}
Status FaultFileSystem::LinkFile(const std::string& from, const std::string& to) {
  return Run(FaultOperation::kLink, to, [&] { return base_->LinkFile(from, to); });
}
Status FaultFileSystem::Truncate(const std::string& path, uint64_t bytes) {
  return Run(FaultOperation::kTruncate, path, [&] { return base_->Truncate(path, bytes); });
}
Status FaultFileSystem::LockFile(const std::string& path, std::unique_ptr<vfs::FileLock>* lock) {
  return Run(FaultOperation::kLock, path, [&] { return base_->LockFile(path, lock); });
}
Status FaultFileSystem::GetFreeSpace(const std::string& path, uint64_t* bytes) {
  return Run(FaultOperation::kInspect, path, [&] { return base_->GetFreeSpace(path, bytes); });
}

}  // namespace ashlar

#include "table/open/pinned_tables.h"

#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/result.h"

namespace ashlar {

namespace {

// Shares the ownership of a file.
class SharedFile final : public vfs::RandomAccessFile {
 public:
  explicit SharedFile(std::shared_ptr<vfs::RandomAccessFile> file) : file_(std::move(file)) {}

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return file_->Read(offset, n, result, scratch);
  }
  Status Map(Slice* contents) const override { return file_->Map(contents); }
  Status Size(uint64_t* bytes) const override { return file_->Size(bytes); }
  void Hint(vfs::AccessPattern pattern, uint64_t offset, uint64_t bytes) const override {
    file_->Hint(pattern, offset, bytes);
  }

 private:
  const std::shared_ptr<vfs::RandomAccessFile> file_;
};

}  // namespace

Status PinnedTables::Pin(uint64_t number, const std::string& path, uint64_t* bytes) {
  bool has_room = false;
  {
    MutexLock lock(mutex_);
    if (const auto pinned = pinned_.find(number); pinned != pinned_.end()) {
      std::shared_ptr<vfs::RandomAccessFile> file = pinned->second.file;
      if (file == nullptr) file = pinned->second.taken.lock();
      if (file != nullptr) return file->Size(bytes);
    }
    has_room = HasRoom();
  }
  if (has_room) {
    std::unique_ptr<vfs::RandomAccessFile> opened;
    const Status status = args_.file_system->NewRandomAccessFile(path, args_.file_options, &opened);
    if (status.IsPathNotFound()) return status;
    if (status.ok()) {
      ASHLAR_RETURN_IF_ERROR(opened->Size(bytes));
      std::shared_ptr<vfs::RandomAccessFile> file = std::move(opened);
      MutexLock lock(mutex_);
      // Without the mutex, a GiveBack may have taken the room.
      if (!HasRoom()) return Status::OK();
      pinned_[number] = {.file = std::move(file), .taken = {}, .path = path};
      ++held_;
      if constexpr (kDebugChecks) CheckInvariants();
      return Status::OK();
    }
  }
  return args_.file_system->GetFileSize(path, bytes);
}

PinnedTables::Taken PinnedTables::Take(uint64_t number) {
  Taken taken;
  MutexLock lock(mutex_);
  const auto found = pinned_.find(number);
  if (found == pinned_.end()) return taken;
  Pinned& pinned = found->second;
  taken.shared = pinned.file != nullptr ? pinned.file : pinned.taken.lock();
  if (taken.shared == nullptr) {
    pinned_.erase(found);
    return taken;
  }
  taken.path = pinned.path;
  taken.file = std::make_unique<SharedFile>(taken.shared);
  // Nothing fails from here on.
  if (pinned.file != nullptr) {
    pinned.taken = pinned.file;
    pinned.file.reset();
    ASHLAR_ASSERT(held_ > 0);  // I1
    --held_;
  }
  return taken;
}

void PinnedTables::GiveBack(uint64_t number, std::shared_ptr<vfs::RandomAccessFile> file) noexcept {
  MutexLock lock(mutex_);
  const auto pinned = pinned_.find(number);
  if (pinned == pinned_.end() || pinned->second.file != nullptr) return;
  if (!HasRoom()) return;
  pinned->second.file = std::move(file);
  ++held_;
  if constexpr (kDebugChecks) CheckInvariants();
}

void PinnedTables::Retain(const std::unordered_set<uint64_t>& numbers) {
  std::vector<std::shared_ptr<vfs::RandomAccessFile>> closed;  // destroyed without the mutex
  MutexLock lock(mutex_);
  for (auto pinned = pinned_.begin(); pinned != pinned_.end();) {
    if (numbers.contains(pinned->first)) {
      ++pinned;
      continue;
    }
    if (pinned->second.file != nullptr) {
      ASHLAR_ASSERT(held_ > 0);  // I1
      closed.push_back(std::move(pinned->second.file));
      --held_;  // not earlier, because push_back may throw
    }
    pinned = pinned_.erase(pinned);
  }
  if constexpr (kDebugChecks) CheckInvariants();
}

void PinnedTables::CheckInvariants() const {
  size_t held = 0;
  for (const auto& [number, pinned] : pinned_) {
    ASHLAR_ASSERT(!pinned.path.empty());  // the path that Pin opened
    held += pinned.file != nullptr ? size_t{1} : 0;
  }
  ASHLAR_ASSERT(held == held_);                                     // the count for I1
  ASHLAR_ASSERT(args_.files_max == 0 || held_ <= args_.files_max);  // I1
}

void PinnedTables::Forget(uint64_t number) {
  std::shared_ptr<vfs::RandomAccessFile> closed;  // destroyed without the mutex
  MutexLock lock(mutex_);
  const auto pinned = pinned_.find(number);
  if (pinned == pinned_.end()) return;
  closed = std::move(pinned->second.file);
  if (closed != nullptr) --held_;
  pinned_.erase(pinned);
  if constexpr (kDebugChecks) CheckInvariants();
}

size_t PinnedTables::Count() const {
  MutexLock lock(mutex_);
  return held_;
}

}  // namespace ashlar

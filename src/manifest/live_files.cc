#include "manifest/live_files.h"

#include <new>
#include <utility>

#include "base/assert.h"

namespace ashlar {

LiveFiles::~LiveFiles() {
  MutexLock lock(mutex_);
  ASHLAR_ASSERT(numbers_.empty());  // Lifetime: no Version is left
}

FileMetaData* LiveFiles::Adopt(std::unique_ptr<FileMetaData> file) {
  ASHLAR_ASSERT(file->refs.load(std::memory_order_relaxed) == 0);  // I1: adopted once
  file->refs.store(1, std::memory_order_relaxed);
  try {
    MutexLock lock(mutex_);
    numbers_.insert(file->number);
  } catch (const std::bad_alloc&) {
    Discard(std::move(file));
    throw;
  }
  if (adopted_) adopted_(*file);
  return file.release();
}

void LiveFiles::Discard(std::unique_ptr<FileMetaData> file) noexcept {
  if (file != nullptr && drop_) drop_(file.get());
}

void LiveFiles::Release(FileMetaData* file) {
  // Release: publishes this holder's writes to the file. Acquire: the last holder sees all of them.
  const auto before = file->refs.fetch_sub(1, std::memory_order_acq_rel);
  ASHLAR_ASSERT(before > 0);  // I2: the count was held
  if (before != 1) return;
  const std::unique_ptr<FileMetaData> owned(file);
  {
    MutexLock lock(mutex_);
    const auto number = numbers_.find(file->number);
    ASHLAR_ASSERT(number != numbers_.end());  // I1
    numbers_.erase(number);
  }
  if (drop_) drop_(file);
}

void LiveFiles::CheckIsLive(const FileMetaData& file) const {
  ASHLAR_ASSERT(file.refs.load(std::memory_order_relaxed) > 0);  // I1
  MutexLock lock(mutex_);
  ASHLAR_ASSERT(numbers_.contains(file.number));  // I1
}

void LiveFiles::AppendNumbers(std::unordered_set<uint64_t>* numbers) const {
  MutexLock lock(mutex_);
  numbers->insert(numbers_.begin(), numbers_.end());
}

bool LiveFiles::Contains(uint64_t number) const {
  MutexLock lock(mutex_);
  return numbers_.contains(number);
}

}  // namespace ashlar

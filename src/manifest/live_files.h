// LiveFiles: the tables that some Version still has, and the release of the others.
//
//   the edit owns the metadata --Adopt--> adopted(file), LIVE, counted by level lists
//     --Release of the last count--> drop(file), then the metadata is deleted
//
// I1: a file is live from its Adopt to its last Release.
// I2: `adopted` is called before a version has the file. `drop` is called once per file, without
//     any lock, on the thread that released the last count. It evicts the file's open table
//     (TableCache::Evict). VersionSet::LiveTables decides whether the file may be deleted, because
//     a MANIFEST may still name it.
//
// Thread safety: all methods. Lifetime: outlives every Version.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

#include "platform/mutex.h"
#include "table/file_metadata.h"

namespace ashlar {

class LiveFiles {
 public:
  using Adopted = std::function<void(const FileMetaData& file)>;
  using Drop = std::function<void(FileMetaData* file)>;

  // Either may be empty. They must not throw.
  LiveFiles(Drop drop, Adopted adopted) : drop_(std::move(drop)), adopted_(std::move(adopted)) {}
  ~LiveFiles();
  LiveFiles(const LiveFiles&) = delete;
  LiveFiles& operator=(const LiveFiles&) = delete;

  // Takes over the file with one count. If an allocation fails, it discards the file and throws
  // std::bad_alloc.
  FileMetaData* Adopt(std::unique_ptr<FileMetaData> file);
  // Drops a file that no version takes. `file` may be null.
  void Discard(std::unique_ptr<FileMetaData> file) noexcept;
  static void Acquire(FileMetaData* file) { file->refs.fetch_add(1, std::memory_order_relaxed); }
  void Release(FileMetaData* file);

  // Asserts I1 of a file that a version has.
  void CheckIsLive(const FileMetaData& file) const;
  void AppendNumbers(std::unordered_set<uint64_t>* numbers) const;
  bool Contains(uint64_t number) const;

 private:
  const Drop drop_;
  const Adopted adopted_;
  mutable Mutex mutex_;
  std::unordered_multiset<uint64_t> numbers_ ASHLAR_GUARDED_BY(mutex_);
};

}  // namespace ashlar

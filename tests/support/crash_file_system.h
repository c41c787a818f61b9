// CrashFileSystem: a file system that computes the possible states after a power cut.
//
// It is a MemoryFileSystem that keeps a journal: every change and every sync gets an index. From
// the journal, the state after the first k operations is split into a durable and a pending part:
//
//                      file                                  directory
//   pending            writes and size changes               links, unlinks, renames
//   made durable by    Sync of that file                     Sync of that directory (a rename: of
//                                                            either)
//   a power cut may    keep or lose each one, in any         keep or lose each one, in any
//                      combination; tear the last write      combination
//
// A file named LOG (or LOG.old.*) has messages for operators and no promise: all that happened to
// it survives, so that its many unsynced writes do not hide the ones that matter. Sync of a file
// does not make its name durable. A write whose predecessor was lost leaves a hole of zeros; a lost
// write over old bytes leaves those. A process that dies without a power cut loses nothing that was
// flushed: that is the image kEverything. A power cut later may still take what was not synced
// (AfterProcessDeath).
//
// I1: an image contains every operation that a sync among the first k made durable.
// I2: the images of one k depend on the journal and the seed only.
//
// Thread safety: as MemoryFileSystem while the workload runs; the functions that make images by one
// thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "filesystem/memory_file_system.h"

namespace ashlar {

enum class CrashKind {
  kDurableOnly,         // nothing pending survived
  kEverything,          // all of it did: also the state after kill -9
  kPrefix,              // the first n pending operations
  kOneDropped,          // all but one
  kOneKept,             // only one
  kTornWrite512,        // all, but the last write ends at a multiple of 512 bytes
  kTornWrite4096,       // the same, at a multiple of 4096
  kPageLost,            // all, but one page of the last write holds zeros
  kGrownWithZeros,      // sizes as if all survived, but the bytes that were not durable are zeros
  kGrownWithGarbage,    // the same, with garbage
  kEntryLost,           // all, but one change of a directory
  kDataWithoutEntries,  // all writes, no change of a directory
  kEntriesWithoutData,  // the other way round: a rename before what it renames
  kUnlinksFirst,        // all writes, and of the directories' changes only removals
  kUnlinksLate,         // all, but removals
  kMixedSectors,        // all, but sectors of old bytes are as after some of the writes over them
  kRandomSubset,
  kRandomDamage,  // the same, with a torn write, a lost page, or sizes without bytes
};
inline constexpr int kCrashKinds = static_cast<int>(CrashKind::kRandomDamage) + 1;
std::string_view CrashKindName(CrashKind kind);

struct CrashImage {
  CrashKind kind;
  uint64_t seed;         // CrashFileSystem::MakeCrashImage(k, kind, seed) makes it again
  uint64_t fingerprint;  // of its contents
  std::shared_ptr<MemoryFileSystem> file_system;
};

class CrashFileSystem final : public MemoryFileSystem {
 public:
  CrashFileSystem();
  // Starts with an image, all of it durable: for a crash inside a recovery.
  explicit CrashFileSystem(const MemoryImage& image);
  ~CrashFileSystem() override;

  const char* Name() const override { return "CrashFileSystem"; }

  // Operations so far: a workload notes it when a write is acknowledged, and every image of k >=
  // that number must contain the write.
  uint64_t OperationCount() const;
  // Of operation k in [0, OperationCount()): whether it writes bytes of a file.
  bool IsWrite(uint64_t k) const;
  // One line for a person about it.
  std::string DescribeOperation(uint64_t k) const;

  // The state after the process alone has died, after the first k operations, for the next process.
  // All of it is there, and its journal begins with these operations: those that were not synced
  // are pending still.
  std::shared_ptr<CrashFileSystem> AfterProcessDeath(uint64_t k);

  // A possible state after a crash after the first k operations, k in [0, OperationCount()]. The
  // seed makes the choices that the kind does not.
  CrashImage MakeCrashImage(uint64_t k, CrashKind kind, uint64_t seed);
  // Visits images of every kind for this k: each prefix, each operation dropped and each kept while
  // at most kExhaustiveMax are pending; that many drawn by the seed otherwise. Images with equal
  // contents are visited once. The visitor asks this object for no other image.
  void EnumerateCrashImages(uint64_t k, uint64_t seed,
                            const std::function<void(const CrashImage&)>& visitor);
  // The same, of those images that are wanted: asked before an image is made, once for each choice
  // of what survives. To make all images of all k costs their bytes each time.
  void EnumerateCrashImages(uint64_t k, uint64_t seed, const std::function<bool()>& is_wanted,
                            const std::function<void(const CrashImage&)>& visitor);

  static constexpr uint64_t kExhaustiveMax = 16;

 private:
  class Journal;
  class State;

  // seen: by processes. start: all of it durable; the journal leads from it to `seen`.
  CrashFileSystem(const MemoryImage& seen, const MemoryImage& start,
                  std::unique_ptr<Journal> journal);

  State& StateAfter(uint64_t k);

  const MemoryImage start_;
  const std::unique_ptr<Journal> journal_;
  // After some number of operations; moved forward, or rebuilt to go back.
  std::unique_ptr<State> state_;
};

}  // namespace ashlar

// CrashFileSystem: a file system that computes the possible states after a power cut.
//
// It is a MemoryFileSystem that keeps a journal, in which every change and every sync has an index.
// The journal splits the state after the first k operations into a durable and a pending part:
//
//                      file                                  directory
//   pending            writes and size changes               links, unlinks, renames
//   made durable by    Sync of that file                     Sync of that directory (a rename: of
//                                                            either)
//   a power cut may    keep or lose each one, in any         keep or lose each one, in any
//                      combination; tear the last write      combination
//
// A file named LOG (or LOG.old.*) holds messages for operators and promises nothing. All of its
// operations survive, so that its many unsynced writes do not hide the ones that matter. Sync of a
// file does not make its name durable. If a write is lost, the bytes that it would have replaced
// stay, and a later write past the end leaves a hole of zeros. A process that dies without a power
// cut loses nothing that was flushed; the image kEverything shows this. A later power cut may still
// take what was not synced (AfterProcessDeath).
//
// I1: an image contains every operation that a sync among the first k operations made durable.
// I2: the images of one k depend only on the journal and the seed.
//
// Thread safety: that of MemoryFileSystem while the workload runs. The functions that make images
// require one thread at a time.
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
  kDurableOnly,         // no pending operation survives
  kEverything,          // all of them do, as after kill -9
  kPrefix,              // only the first n pending operations
  kOneDropped,          // all but one
  kOneKept,             // only one
  kTornWrite512,        // all, but the last write ends at a multiple of 512 bytes
  kTornWrite4096,       // the same at a multiple of 4096 bytes
  kPageLost,            // all, but one page of the last write contains zeros
  kGrownWithZeros,      // sizes as if all survived, but the bytes that were not durable are zeros
  kGrownWithGarbage,    // the same with garbage
  kEntryLost,           // all but one change of a directory
  kDataWithoutEntries,  // all writes, but no change of a directory
  kEntriesWithoutData,  // the reverse, such as a rename without the renamed data
  kUnlinksFirst,        // all writes, but of the changes of directories only removals
  kUnlinksLate,         // all but removals
  kMixedSectors,        // all, but each sector of old bytes may lack the last writes over it
  kRandomSubset,
  kRandomDamage,  // the same with a torn write, a lost page, or sizes without bytes
};
inline constexpr int kCrashKinds = static_cast<int>(CrashKind::kRandomDamage) + 1;
std::string_view CrashKindName(CrashKind kind);

struct CrashImage {
  CrashKind kind;
  uint64_t seed;         // CrashFileSystem::MakeCrashImage(k, kind, seed) makes it again
  uint64_t fingerprint;  // of the image's contents
  std::shared_ptr<MemoryFileSystem> file_system;
};

class CrashFileSystem final : public MemoryFileSystem {
 public:
  CrashFileSystem();
  // Starts with an image that is durable in full. For crashes during a recovery.
  explicit CrashFileSystem(const MemoryImage& image);
  ~CrashFileSystem() override;

  const char* Name() const override { return "CrashFileSystem"; }

  // The number of operations so far. A workload notes it when a write is acknowledged, because
  // every image of a k at or above it must contain the write.
  uint64_t OperationCount() const;
  // True if operation k, in [0, OperationCount()), writes bytes of a file.
  bool IsWrite(uint64_t k) const;
  // Describes operation k in one line for a person.
  std::string DescribeOperation(uint64_t k) const;

  // The file system that the next process finds if the process dies without a power cut after the
  // first k operations. It contains all of them. Its journal starts with the same operations, so
  // those that were not synced are still pending.
  std::shared_ptr<CrashFileSystem> AfterProcessDeath(uint64_t k);

  // A possible state after a power cut that follows the first k operations, k in [0,
  // OperationCount()]. The seed makes the choices that the kind leaves open.
  CrashImage MakeCrashImage(uint64_t k, CrashKind kind, uint64_t seed);
  // Visits images of every kind for this k. Up to kExhaustiveMax pending operations, this includes
  // each prefix and each operation dropped or kept; above it, as many drawn by the seed. Images
  // with equal contents are visited once. The visitor must not request other images here.
  void EnumerateCrashImages(uint64_t k, uint64_t seed,
                            const std::function<void(const CrashImage&)>& visitor);
  // The same for wanted images only. is_wanted is called before an image is made, once for each
  // choice of what survives, because making all images of all k copies their bytes each time.
  void EnumerateCrashImages(uint64_t k, uint64_t seed, const std::function<bool()>& is_wanted,
                            const std::function<void(const CrashImage&)>& visitor);

  static constexpr uint64_t kExhaustiveMax = 16;

 private:
  class Journal;
  class State;

  // seen: what processes see. start: a durable state, from which the journal leads to `seen`.
  CrashFileSystem(const MemoryImage& seen, const MemoryImage& start,
                  std::unique_ptr<Journal> journal);

  State& StateAfter(uint64_t k);

  const MemoryImage start_;
  const std::unique_ptr<Journal> journal_;
  // The state after some number of operations. Advances with k; going back rebuilds it.
  std::unique_ptr<State> state_;
};

}  // namespace ashlar

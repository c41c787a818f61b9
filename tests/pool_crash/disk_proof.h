// DiskProof: a tree of class `logged` on a CrashDisk, and for each operation the states of the disk
// that a power cut during it may leave.
//
//   Run(change) ──> epochs ──> images: one version for each written sector ──> replay, open
//   replay, open ──> the entries before the change, or after it
//        └──> epochs of the recovery ──> images ──> ...
//
// If an epoch has few sectors, every image is checked. Otherwise the images are: none, all, each
// sector alone, all but one, after each single write in order (so a checkpoint stops after each
// page), and random ones. Logs are also cut after each byte, and bytes of an older log may follow a
// log.
//
// Thread safety: one thread; RunTogether starts its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pmem/tree.h"
#include "tests/pool_crash/change.h"
#include "tests/pool_crash/crash_disk.h"
#include "tests/pool_crash/proof_counts.h"

namespace ashlar::pmem {

// Returns the bytes of a new pool with bytewise order.
std::string FormattedPool(uint64_t pool_bytes, uint64_t pool_id);

struct DiskProofOptions {
  uint64_t pool_bytes = uint64_t{1} << 20;
  uint64_t log_bytes_max = uint64_t{1} << 30;
  uint64_t private_bytes_max = uint64_t{1} << 30;
  uint64_t pages_per_step = 256;  // of a checkpoint
  bool sync = true;
  uint64_t images_per_epoch_max = 64;  // all are checked up to this number
  uint64_t samples_per_epoch = 32;
  uint64_t bytes_per_cut = 1;       // of a log: 1 cuts it after each byte
  uint64_t recoveries_cut_max = 2;  // of an operation's images
  uint64_t seed = 1;
};

class DiskProof {
 public:
  explicit DiskProof(const DiskProofOptions& options);
  ~DiskProof();

  Problem Run(const Change& change, Status* status = nullptr);
  // See CrashProof.
  Problem RunTogether(const std::vector<std::vector<Change>>& writers,
                      const std::function<size_t(const std::string&)>& writer_of);
  // Closes the tree, which makes a checkpoint, and opens it.
  Problem Reopen();

  // Opens a copy of the durable contents after `damage` has changed it, and returns the status of
  // Open. `problem` says how a tree that opened differs from the entries.
  Status OpenDamaged(const std::function<void(DiskContents*)>& damage, Problem* problem);
  const DiskContents& durable() const { return levels_[0].durable; }

  PersistentTree* tree() { return tree_.get(); }
  const Model& model() const { return model_; }
  const ProofCounts& counts() const { return counts_; }

 private:
  // One level for crashes, one for crashes in the recovery from them.
  static constexpr size_t kLevels = 2;

  struct Sector {
    DiskFile file;
    uint64_t index;
    std::vector<std::string> versions;  // the durable one first
    std::vector<size_t> writes;         // [n]: the write that made versions[n + 1]
  };
  struct Level {
    std::unique_ptr<CrashDisk> disk;
    DiskContents durable;
  };

  using PermittedIn = std::function<Permitted(const DiskEpoch&, size_t)>;

  Problem LookAtEpochs(size_t level, const std::vector<DiskEpoch>& epochs,
                       const PermittedIn& permitted_in);
  Problem LookAtEpoch(size_t level, const DiskEpoch& epoch, const Permitted& permitted);
  Problem LookAtSectors(size_t level, const DiskEpoch& epoch, const std::vector<Sector>& sectors,
                        const Permitted& permitted);
  Problem LookAtCutLogs(size_t level, const DiskEpoch& epoch, const Permitted& permitted);
  Problem LookAtChoice(size_t level, const std::vector<Sector>& sectors,
                       const std::vector<size_t>& chosen, const Permitted& permitted);
  Problem LookAtImage(size_t level, const std::map<uint64_t, std::string>& sectors,
                      const std::optional<std::string>& log, const Permitted& permitted);
  std::vector<Sector> SectorsOf(size_t level, const DiskEpoch& epoch) const;
  void Advance(size_t level, const DiskEpoch& epoch);
  Result<std::unique_ptr<PersistentTree>> Open(CrashDisk* disk);

  const DiskProofOptions options_;
  Random random_;
  CrashDisk disk_;
  std::vector<Level> levels_;
  std::string old_log_;  // its bytes may follow a new log
  Model model_{KeyLess{BytewiseComparator()}};
  std::vector<Model> unsynced_;  // states that a crash may restore, if the log is not synced
  uint64_t recoveries_cut_ = 0;
  ProofCounts counts_;
  std::unique_ptr<PersistentTree> tree_;
};

}  // namespace ashlar::pmem

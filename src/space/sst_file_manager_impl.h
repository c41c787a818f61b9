// SstFileManagerImpl: the tables of open databases, the limit on their bytes, and the trash.
//
//   DatabaseSpace (one per open database) --account--> tables by number, with their bytes
//   total = tables of all accounts + trash        reserved = inputs of running compactions
//
// I1: tables_bytes_ is the sum over all accounts; a table is in one account at most.
// I2: a compaction may begin only if total, reserved, its inputs and the buffer are together within
//     the limit. Its reservation ends with it.
//
// A table is counted from the edit that adds it until it is deleted or becomes trash. Outputs of
// running compactions are in the reservation instead, which is why a limit cannot be exceeded by
// much between two checks.
//
// Rejected: counting each file from its creation, as RocksDB does. A compaction would then reach
// the limit halfway, fail, and delete the output that would have made room.
//
// Thread safety: all methods; the mutex is a leaf, and so is the bin's.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "ashlar/sst_file_manager.h"
#include "platform/mutex.h"
#include "space/trash_bin.h"

namespace ashlar {

class SstFileManagerImpl final : public SstFileManager {
 public:
  explicit SstFileManagerImpl(TrashBin::Options options)
      : bin_(TrashBin::Create(std::move(options))) {}
  ~SstFileManagerImpl() override { bin_->End(); }

  void SetMaxAllowedSpaceUsage(uint64_t max_allowed_space) override;
  void SetCompactionBufferSize(uint64_t compaction_buffer_size) override;
  bool IsMaxAllowedSpaceReached() override;
  bool IsMaxAllowedSpaceReachedIncludingCompactions() override;
  uint64_t GetTotalSize() override;
  std::unordered_map<std::string, uint64_t> GetTrackedFiles() override;
  int64_t GetDeleteRateBytesPerSecond() override { return bin_->BytesPerSecond(); }
  void SetDeleteRateBytesPerSecond(int64_t delete_rate) override {
    bin_->SetBytesPerSecond(delete_rate);
  }
  double GetMaxTrashDBRatio() override { return bin_->RatioMax(); }
  void SetMaxTrashDBRatio(double ratio) override { bin_->SetRatioMax(ratio); }
  uint64_t GetTotalTrashSize() override { return bin_->TrashBytes(); }
  void SetStatisticsPtr(const std::shared_ptr<Statistics>& stats) override {
    bin_->SetStatistics(stats);
  }

  // ---- For DatabaseSpace.

  struct Account {
    std::string directory;
    std::unordered_map<uint64_t, uint64_t> tables;  // bytes by number; guarded by mutex_
  };
  Account* OpenAccount(const std::string& directory);
  // The account's tables are no longer counted.
  void CloseAccount(const Account* account) noexcept;
  // Counts the table with this many bytes. A second call for the table replaces the number.
  void Track(Account* account, uint64_t number, uint64_t bytes);
  // Does nothing if the table is not tracked.
  void Untrack(Account* account, uint64_t number) noexcept;

  // I2. Returns false if the compaction does not fit, and then reserves nothing.
  bool ReserveForCompaction(uint64_t bytes);
  void EndReservation(uint64_t bytes) noexcept;

  // The methods of TrashBin, with the total.
  Status Delete(const TrashBin::File& file) { return bin_->Delete(file, GetTotalSize()); }
  Status Adopt(const TrashBin::File& trash) { return bin_->Adopt(trash, GetTotalSize()); }

 private:
  void CheckInvariants() const ASHLAR_REQUIRES(mutex_);

  const std::shared_ptr<TrashBin> bin_;
  mutable Mutex mutex_;
  std::list<Account> accounts_ ASHLAR_GUARDED_BY(mutex_);
  uint64_t tables_bytes_ ASHLAR_GUARDED_BY(mutex_) = 0;    // I1
  uint64_t reserved_bytes_ ASHLAR_GUARDED_BY(mutex_) = 0;  // I2
  uint64_t limit_bytes_ ASHLAR_GUARDED_BY(mutex_) = 0;     // 0: none
  uint64_t buffer_bytes_ ASHLAR_GUARDED_BY(mutex_) = 0;
};

}  // namespace ashlar

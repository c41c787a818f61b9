// DatabaseSpace: the account of one open database in an SstFileManager. Without a manager each
// method only tests a pointer.
//
//   default (no manager, or not open for writing) --Open--> counted --Close--> counted no longer
//
// I1: Track, Untrack and Delete are not called after Close. Installs and deletions are stopped by
//     then. A Resume concurrent with Close may still call IsManaged and IsLimitReached.
//
// Thread safety: call Open before another thread has the database; the rest from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/sst_file_manager.h"
#include "space/sst_file_manager_impl.h"

namespace ashlar {

class DatabaseSpace {
 public:
  // Space that a compaction may fill. The destructor ends the reservation.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(SstFileManagerImpl* manager, uint64_t bytes) : manager_(manager), bytes_(bytes) {}
    ~Reservation() {
      if (manager_ != nullptr) manager_->EndReservation(bytes_);
    }
    Reservation(Reservation&& other) noexcept
        : manager_(std::exchange(other.manager_, nullptr)), bytes_(other.bytes_) {}
    Reservation& operator=(Reservation&& other) noexcept {
      std::swap(manager_, other.manager_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }

   private:
    SstFileManagerImpl* manager_ = nullptr;
    uint64_t bytes_ = 0;
  };

  struct Args {
    std::shared_ptr<SstFileManager> manager;
    std::string directory;
    bool maps_tables = false;  // a mapped table is not cut
    bool has_logs = false;     // logs are in `directory`
  };

  DatabaseSpace() = default;
  ~DatabaseSpace() { Close(); }
  DatabaseSpace(const DatabaseSpace&) = delete;
  DatabaseSpace& operator=(const DatabaseSpace&) = delete;

  void Open(const Args& args);
  void Close() noexcept;
  bool IsManaged() const { return manager() != nullptr; }
  // Sets how long after a failed deletion trash is tried again.
  void SetRetryPeriod(uint64_t micros) { retry_micros_.store(micros, std::memory_order_relaxed); }

  // If an allocation fails, the table is not counted.
  void Track(uint64_t number, uint64_t bytes) noexcept;
  void Untrack(uint64_t number) noexcept;
  bool IsLimitReached() const {
    SstFileManagerImpl* const managed_by = manager();
    return managed_by != nullptr && managed_by->IsMaxAllowedSpaceReached();
  }
  // CompactionTooLarge: there is no room for it.
  Status ReserveForCompaction(uint64_t bytes, Reservation* reservation) const;

  // True if this obsolete file is deleted at a limited rate: a table, trash or, with has_logs, a
  // log in the database's directory.
  bool Paces(const std::string& path) const;
  // OK: the file is deleted, or will be. Requires: Paces(path).
  Status Delete(const std::string& path) const;

 private:
  SstFileManagerImpl* manager() const { return manager_.load(std::memory_order_acquire); }
  // True if an account was open and is closed.
  bool IsClosed() const { return args_.manager != nullptr && !IsManaged(); }

  Args args_;
  // args_.manager while the account is open. Written by Open and Close (release), read by any
  // thread (acquire).
  std::atomic<SstFileManagerImpl*> manager_{nullptr};
  SstFileManagerImpl::Account* account_ = nullptr;
  std::atomic<uint64_t> retry_micros_{0};  // relaxed: it orders nothing
};

}  // namespace ashlar

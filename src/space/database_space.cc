#include "space/database_space.h"

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "filesystem/filename.h"

namespace ashlar {

void DatabaseSpace::Open(const Args& args) {
  ASHLAR_ASSERT(!IsManaged());  // opened once
  if (args.manager == nullptr) return;
  args_ = args;
  // NewSstFileManager creates the only implementation.
  auto* const managed_by = static_cast<SstFileManagerImpl*>(args_.manager.get());
  account_ = managed_by->OpenAccount(args_.directory);
  manager_.store(managed_by, std::memory_order_release);
}

void DatabaseSpace::Close() noexcept {
  SstFileManagerImpl* const managed_by = manager_.exchange(nullptr, std::memory_order_acq_rel);
  if (managed_by == nullptr) return;
  managed_by->CloseAccount(account_);
  account_ = nullptr;
}

void DatabaseSpace::Track(uint64_t number, uint64_t bytes) noexcept {
  ASHLAR_DCHECK(!IsClosed());  // I1
  if (!IsManaged()) return;
  IgnoreBadAlloc([&] { manager()->Track(account_, number, bytes); });
}

void DatabaseSpace::Untrack(uint64_t number) noexcept {
  ASHLAR_DCHECK(!IsClosed());  // I1
  if (IsManaged()) manager()->Untrack(account_, number);
}

Status DatabaseSpace::ReserveForCompaction(uint64_t bytes, Reservation* reservation) const {
  SstFileManagerImpl* const managed_by = manager();
  if (managed_by == nullptr) return Status::OK();
  if (!managed_by->ReserveForCompaction(bytes))
    return Status::CompactionTooLarge(
        args_.directory,
        StrCat("a compaction of ", bytes,
               " bytes would not stay within SstFileManager::SetMaxAllowedSpaceUsage"));
  *reservation = Reservation(managed_by, bytes);
  return Status::OK();
}

bool DatabaseSpace::Paces(const std::string& path) const {
  if (!IsManaged()) return false;
  const std::string_view name = BaseName(path);
  if (path != StrCat(args_.directory, "/", name)) return false;
  uint64_t number = 0;
  FileType type;
  if (!ParseFileName(name, &number, &type)) return false;
  return type == FileType::kTableFile || (type == FileType::kWalFile && args_.has_logs) ||
         IsTrashFileName(name);
}

Status DatabaseSpace::Delete(const std::string& path) const {
  ASHLAR_ASSERT(IsManaged());  // Paces, and I1
  const std::string_view name = BaseName(path);
  const bool is_trash = IsTrashFileName(name);
  // Mapped tables, and logs that a TransactionLogIterator has open, may be read after deletion.
  const bool may_be_open = args_.maps_tables || HasType(name, FileType::kWalFile);
  const TrashBin::File file{.path = path,
                            .is_whole = may_be_open,
                            .retry_micros = retry_micros_.load(std::memory_order_relaxed)};
  return is_trash ? manager()->Adopt(file) : manager()->Delete(file);
}

}  // namespace ashlar

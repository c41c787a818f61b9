#include "space/sst_file_manager_impl.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ashlar/vfs.h"
#include "base/assert.h"
#include "base/format.h"
#include "base/result.h"
#include "filesystem/filename.h"

namespace ashlar {

// ---- The limit.

void SstFileManagerImpl::SetMaxAllowedSpaceUsage(uint64_t max_allowed_space) {
  MutexLock lock(mutex_);
  limit_bytes_ = max_allowed_space;
}

void SstFileManagerImpl::SetCompactionBufferSize(uint64_t compaction_buffer_size) {
  MutexLock lock(mutex_);
  buffer_bytes_ = compaction_buffer_size;
}

bool SstFileManagerImpl::IsMaxAllowedSpaceReached() {
  const uint64_t trash_bytes = bin_->TrashBytes();
  MutexLock lock(mutex_);
  return limit_bytes_ > 0 && tables_bytes_ + trash_bytes >= limit_bytes_;
}

bool SstFileManagerImpl::IsMaxAllowedSpaceReachedIncludingCompactions() {
  const uint64_t trash_bytes = bin_->TrashBytes();
  MutexLock lock(mutex_);
  return limit_bytes_ > 0 && tables_bytes_ + trash_bytes + reserved_bytes_ >= limit_bytes_;
}

bool SstFileManagerImpl::ReserveForCompaction(uint64_t bytes) {
  const uint64_t trash_bytes = bin_->TrashBytes();
  MutexLock lock(mutex_);
  const uint64_t needed_bytes = tables_bytes_ + trash_bytes + reserved_bytes_ + bytes;
  // The program may set a buffer of any size, so a sum with it could overflow.
  const bool fits = needed_bytes <= limit_bytes_ && buffer_bytes_ <= limit_bytes_ - needed_bytes;
  if (limit_bytes_ > 0 && !fits) return false;
  reserved_bytes_ += bytes;
  return true;
}

void SstFileManagerImpl::EndReservation(uint64_t bytes) noexcept {
  MutexLock lock(mutex_);
  ASHLAR_ASSERT(reserved_bytes_ >= bytes);  // I2
  reserved_bytes_ -= bytes;
}

// ---- Files.

uint64_t SstFileManagerImpl::GetTotalSize() {
  const uint64_t trash_bytes = bin_->TrashBytes();
  MutexLock lock(mutex_);
  return tables_bytes_ + trash_bytes;
}

std::unordered_map<std::string, uint64_t> SstFileManagerImpl::GetTrackedFiles() {
  std::unordered_map<std::string, uint64_t> bytes_by_path;
  bin_->AddFiles(&bytes_by_path);
  MutexLock lock(mutex_);
  for (const Account& account : accounts_) {
    for (const auto& [number, bytes] : account.tables)
      bytes_by_path.emplace(TableFileName(account.directory, number), bytes);
  }
  return bytes_by_path;
}

SstFileManagerImpl::Account* SstFileManagerImpl::OpenAccount(const std::string& directory) {
  MutexLock lock(mutex_);
  return &accounts_.emplace_back(Account{.directory = directory, .tables = {}});
}

void SstFileManagerImpl::CloseAccount(const Account* account) noexcept {
  std::list<Account> closed;  // freed after the mutex is released
  MutexLock lock(mutex_);
  const auto found = std::find_if(accounts_.begin(), accounts_.end(),
                                  [account](const Account& each) { return &each == account; });
  ASHLAR_ASSERT(found != accounts_.end());  // OpenAccount
  for (const auto& [number, bytes] : found->tables) tables_bytes_ -= bytes;
  closed.splice(closed.end(), accounts_, found);
  if constexpr (kDebugChecks) CheckInvariants();
}

void SstFileManagerImpl::Track(Account* account, uint64_t number, uint64_t bytes) {
  MutexLock lock(mutex_);
  uint64_t& tracked = account->tables[number];
  tables_bytes_ += bytes - tracked;
  tracked = bytes;
  if constexpr (kDebugChecks) CheckInvariants();
}

void SstFileManagerImpl::Untrack(Account* account, uint64_t number) noexcept {
  MutexLock lock(mutex_);
  const auto found = account->tables.find(number);
  if (found == account->tables.end()) return;
  tables_bytes_ -= found->second;
  account->tables.erase(found);
  if constexpr (kDebugChecks) CheckInvariants();
}

void SstFileManagerImpl::CheckInvariants() const {
  uint64_t bytes = 0;
  for (const Account& account : accounts_) {
    for (const auto& [number, table_bytes] : account.tables) bytes += table_bytes;
  }
  ASHLAR_ASSERT(bytes == tables_bytes_);  // I1
}

// ---- Creation.

namespace {

// For the folder of old releases. Nothing in it belongs to a database any more.
Status DeleteFilesIn(vfs::FileSystem* file_system, const std::string& folder,
                     SstFileManagerImpl* manager) {
  std::vector<std::string> names;
  ASHLAR_RETURN_IF_ERROR(file_system->GetChildren(folder, &names));
  Status first_error;
  for (const std::string& name : names) {
    const Status deleted = manager->Delete({.path = StrCat(folder, "/", name)});
    if (first_error.ok()) first_error = deleted;
  }
  return first_error;
}

}  // namespace

SstFileManager* NewSstFileManager(Env* env, const std::shared_ptr<FileSystem>& file_system,
                                  std::shared_ptr<Logger> info_log, const std::string& trash_dir,
                                  int64_t rate_bytes_per_sec, bool delete_existing_trash,
                                  Status* status, double max_trash_db_ratio,
                                  uint64_t bytes_max_delete_chunk) {
  const std::shared_ptr<vfs::FileSystem> files = vfs::ToEngineFiles(file_system);
  auto manager = std::make_unique<SstFileManagerImpl>(
      TrashBin::Options{.env = env == nullptr ? Env::Default() : env,
                        .file_system = files,
                        .logger = std::move(info_log),
                        .bytes_per_second = rate_bytes_per_sec,
                        .ratio_max = max_trash_db_ratio,
                        .chunk_bytes_max = bytes_max_delete_chunk});
  Status deleted;
  if (!trash_dir.empty() && delete_existing_trash)
    deleted = DeleteFilesIn(files.get(), trash_dir, manager.get());
  if (status != nullptr) *status = std::move(deleted);
  return manager.release();
}

SstFileManager* NewSstFileManager(Env* env, std::shared_ptr<Logger> info_log,
                                  const std::string& trash_dir, int64_t rate_bytes_per_sec,
                                  bool delete_existing_trash, Status* status,
                                  double max_trash_db_ratio, uint64_t bytes_max_delete_chunk) {
  Env* const world = env == nullptr ? Env::Default() : env;
  return NewSstFileManager(world, world->GetFileSystem(), std::move(info_log), trash_dir,
                           rate_bytes_per_sec, delete_existing_trash, status, max_trash_db_ratio,
                           bytes_max_delete_chunk);
}

}  // namespace ashlar

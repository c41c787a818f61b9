// OsFileLock, of platform/file.h.
//
// While the lock is held, every other open of the file fails, also by another path, in another
// process, or for reading. Its name cannot be removed. The table names a holder in this process,
// because a file can be identified although it cannot be opened. One process-wide mutex is held
// during the few system calls of an acquisition, because the lookup and the lock must be one step.
#include <algorithm>
#include <vector>

#include "base/format.h"
#include "platform/file.h"
#include "platform/mutex.h"
#include "platform/thread.h"
#include "platform/windows/file_io.h"
#include "platform/windows/handle.h"
#include "platform/windows/windows_error.h"
#include "platform/windows/windows_path.h"

namespace ashlar {
namespace {

constexpr DWORD kShareNothing = 0;

struct HeldLock {
  uint64_t ticket;
  FileIdentity identity;
  std::string path;
  UniqueHandle handle;
};

struct HeldLocks {
  Mutex mutex;
  std::vector<HeldLock> locks ASHLAR_GUARDED_BY(mutex);
  uint64_t next_ticket ASHLAR_GUARDED_BY(mutex) = 1;
};

// Never destroyed, because locks may be released by destructors of static objects.
HeldLocks& Table() {
  static HeldLocks& table = *new HeldLocks;
  return table;
}

// Returns ok if the file is missing or not held by this process. A directory is an error.
Status CheckNotHeldHere(HeldLocks& table, const std::string& path) ASHLAR_REQUIRES(table.mutex) {
  const Result<UniqueHandle> look = OpenName("lock", path, FILE_READ_ATTRIBUTES);
  if (!look.ok()) return look.status().IsPathNotFound() ? Status::OK() : look.status();
  ASHLAR_ASSIGN_OR_RETURN(const HandleInfo found, InspectHandle(look->get(), path));
  if (found.info.is_directory) return Status::IOError(StrCat("lock ", path), "is a directory");
  ASHLAR_ASSIGN_OR_RETURN(const FileIdentity identity, IdentifyHandle(look->get(), path));
  for (const HeldLock& held : table.locks) {
    if (held.identity != identity) continue;
    return Status::Error(
        Status::kIOError, Status::kFileLocked, StrCat("lock ", path),
        StrCat("held by this process (", CurrentProcessId(), "), through ", held.path));
  }
  return Status::OK();
}

}  // namespace

Result<std::unique_ptr<OsFileLock>> OsFileLock::Acquire(const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(const std::wstring name, ToSystemPath(path));
  // Allocated first, so that every acquired lock has an owner.
  std::unique_ptr<OsFileLock> taken(new OsFileLock);
  HeldLocks& table = Table();
  MutexLock lock(table.mutex);
  ASHLAR_RETURN_IF_ERROR(CheckNotHeldHere(table, path));
  UniqueHandle handle;
  const bool opened = RetryWhileShared([&] {
    handle = UniqueHandle(
        CreateFileW(name.c_str(), GENERIC_READ | GENERIC_WRITE, kShareNothing, nullptr, OPEN_ALWAYS,
                    FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
    return handle.valid();
  });
  if (!opened) {
    const DWORD error = GetLastError();
    if (IsHeldByOthers(error))
      return Status::Error(Status::kIOError, Status::kFileLocked, StrCat("lock ", path),
                           "held by another process");
    return PathError("lock", path, name, error);
  }
  ASHLAR_ASSIGN_OR_RETURN(const HandleInfo found, InspectHandle(handle.get(), path));
  if (found.is_link) return Status::IOError(StrCat("lock ", path), "is a symbolic link");
  ASHLAR_ASSIGN_OR_RETURN(const FileIdentity identity, IdentifyHandle(handle.get(), path));
  const uint64_t ticket = table.next_ticket++;
  // `handle` closes the file if this fails.
  table.locks.push_back(
      {.ticket = ticket, .identity = identity, .path = path, .handle = std::move(handle)});
  taken->ticket_ = ticket;
  return taken;
}

OsFileLock::~OsFileLock() {
  if (ticket_ == 0) return;
  HeldLocks& table = Table();
  MutexLock lock(table.mutex);
  const auto held = std::find_if(table.locks.begin(), table.locks.end(),
                                 [this](const HeldLock& entry) { return entry.ticket == ticket_; });
  if (held != table.locks.end()) table.locks.erase(held);
}

}  // namespace ashlar

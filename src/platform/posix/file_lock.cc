// OsFileLock, of platform/file.h.
//
// A record lock (fcntl) belongs to the process. It does not stop a second open in the same process,
// and closing any descriptor of the file drops it. Acquire therefore searches the table below
// first, by the file's identity and without opening it. One process-wide mutex is held during the
// few system calls of an acquisition, because the lookup and the lock must be one step.
//
//   byte 0        a lock of the open file (Linux), which another descriptor's close does not drop
//   from byte 1   a record lock, because only for that kind does the system report the process
//
// RocksDB's record lock covers all bytes. Locks of the two kinds exclude each other, even within a
// process. On a system without the first kind, a record lock covers all bytes.
//
// A forked child inherits the table and the descriptors. The descriptors would keep byte 0 locked
// as long as the child lives, so the child closes them. Each entry names the process that made it,
// and entries of other processes are ignored.
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/format.h"
#include "platform/file.h"
#include "platform/mutex.h"
#include "platform/posix/posix_error.h"

namespace ashlar {
namespace {

struct FileIdentity {
  dev_t device;
  ino_t inode;
  bool operator==(const FileIdentity&) const = default;
};

struct HeldLock {
  uint64_t ticket = 0;
  FileIdentity identity = {};
  pid_t process = 0;
  std::string path;
  // The one that holds the lock, then strays, which cannot be closed while it is held.
  std::vector<int> descriptors = {};
};

struct HeldLocks {
  Mutex mutex;
  std::vector<HeldLock> locks ASHLAR_GUARDED_BY(mutex);
  uint64_t next_ticket ASHLAR_GUARDED_BY(mutex) = 1;
};

HeldLocks& Table();

// No other thread changes an entry during a fork. The analysis does not support a mutex that one
// function locks and another one unlocks.
void BeforeFork() ASHLAR_NO_THREAD_SAFETY_ANALYSIS { Table().mutex.Lock(); }
void InParentAfterFork() ASHLAR_NO_THREAD_SAFETY_ANALYSIS { Table().mutex.Unlock(); }
void InChildAfterFork() ASHLAR_NO_THREAD_SAFETY_ANALYSIS {
  HeldLocks& table = Table();
  for (HeldLock& held : table.locks) {
    for (const int fd : held.descriptors) ::close(fd);
    held.descriptors.clear();
  }
  table.mutex.Unlock();
}

// Never destroyed, because locks may be released by destructors of static objects.
HeldLocks& Table() {
  static HeldLocks& table = *[] {
    auto* const made = new HeldLocks;
    // If the handlers cannot be allocated, a child keeps the locks until it ends.
    static_cast<void>(::pthread_atfork(BeforeFork, InParentAfterFork, InChildAfterFork));
    return made;
  }();
  return table;
}

HeldLock* FindHeld(HeldLocks& table, const FileIdentity& identity) ASHLAR_REQUIRES(table.mutex) {
  for (HeldLock& held : table.locks) {
    if (held.identity == identity && held.process == ::getpid()) return &held;
  }
  return nullptr;
}

Status HeldHere(const std::string& path, const HeldLock& held) {
  return Status::Error(Status::kIOError, Status::kFileLocked, StrCat("lock ", path),
                       StrCat("held by this process (", held.process, "), through ", held.path));
}

Status HeldElsewhere(const std::string& path, int fd) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = 1;
  const bool known = ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0;
  return Status::Error(
      Status::kIOError, Status::kFileLocked, StrCat("lock ", path),
      known ? StrCat("held by process ", lock.l_pid) : std::string("held by another process"));
}

// bytes == 0 means all bytes from `first` on.
bool SetLock(int fd, int command, short type, off_t first, off_t bytes) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = first;
  lock.l_len = bytes;
  return RetryInterrupted([&] { return ::fcntl(fd, command, &lock); }) == 0;
}

// On failure errno has the reason, and closing the descriptor releases a partial lock.
bool TakeLock(int fd) {
#if defined(F_OFD_SETLK)
  if (SetLock(fd, F_OFD_SETLK, F_WRLCK, 0, 1)) return SetLock(fd, F_SETLK, F_WRLCK, 1, 0);
  if (errno != EINVAL) return false;
#endif
  return SetLock(fd, F_SETLK, F_WRLCK, 0, 0);
}

// A child that has just been forked may still have the descriptor, so closing it is not enough.
void GiveUpLock([[maybe_unused]] int fd) {
#if defined(F_OFD_SETLK)
  static_cast<void>(SetLock(fd, F_OFD_SETLK, F_UNLCK, 0, 1));
#endif
}

bool GetIdentity(const std::string& path, FileIdentity* identity) {
  struct stat info;
  if (RetryInterrupted([&] { return ::lstat(path.c_str(), &info); }) == -1) return false;
  *identity = {info.st_dev, info.st_ino};
  return true;
}

struct Attempt {
  bool path_changed = false;  // the file was replaced meanwhile; try again
  uint64_t ticket = 0;
};

// On return, the descriptor is closed or belongs to the table. Requires: `entry` has room for a
// descriptor and the table for the entry, so that nothing is allocated once the lock is granted.
Result<Attempt> LockOpened(HeldLocks& table, HeldLock entry, int fd) ASHLAR_REQUIRES(table.mutex) {
  const std::string& path = entry.path;
  struct stat info;
  if (RetryInterrupted([&] { return ::fstat(fd, &info); }) == -1) {
    const int error = errno;
    ::close(fd);
    return SystemError("inspect", path, error);
  }
  const FileIdentity identity{info.st_dev, info.st_ino};
  if (HeldLock* held = FindHeld(table, identity)) {
    held->descriptors.push_back(fd);
    return HeldHere(path, *held);
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    return Status::IOError(StrCat("lock ", path), "is not a regular file");
  }
  if (!TakeLock(fd)) {
    const int error = errno;
    const Status status = error == EACCES || error == EAGAIN ? HeldElsewhere(path, fd)
                                                             : SystemError("lock", path, error);
    ::close(fd);
    return status;
  }
  FileIdentity now;
  if (!GetIdentity(path, &now) || !(now == identity)) {
    ::close(fd);
    return Attempt{.path_changed = true};
  }
  entry.ticket = table.next_ticket++;
  entry.identity = identity;
  entry.descriptors.push_back(fd);
  table.locks.push_back(std::move(entry));
  return Attempt{.ticket = table.locks.back().ticket};
}

Result<Attempt> TryLock(HeldLocks& table, const std::string& path) ASHLAR_REQUIRES(table.mutex) {
  FileIdentity identity;
  if (GetIdentity(path, &identity)) {
    if (const HeldLock* held = FindHeld(table, identity)) return HeldHere(path, *held);
  }
  HeldLock entry{.process = ::getpid(), .path = path};
  entry.descriptors.reserve(1);
  table.locks.reserve(table.locks.size() + 1);
  const int fd = RetryInterrupted([&] {
    return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  });
  if (fd == -1) return SystemError("open", path, errno);
  return LockOpened(table, std::move(entry), fd);
}

}  // namespace

Result<std::unique_ptr<OsFileLock>> OsFileLock::Acquire(const std::string& path) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(path));
  // Allocated first, so that every acquired lock has an owner.
  std::unique_ptr<OsFileLock> taken(new OsFileLock);
  HeldLocks& table = Table();
  MutexLock lock(table.mutex);
  constexpr int kAttemptsMax = 16;
  for (int i = 0; i < kAttemptsMax; i++) {
    ASHLAR_ASSIGN_OR_RETURN(const Attempt attempt, TryLock(table, path));
    taken->ticket_ = attempt.ticket;
    if (!attempt.path_changed) return taken;
  }
  return Status::IOError(StrCat("lock ", path), "the file is being replaced again and again");
}

OsFileLock::~OsFileLock() {
  if (ticket_ == 0) return;
  HeldLocks& table = Table();
  MutexLock lock(table.mutex);
  const auto held = std::find_if(table.locks.begin(), table.locks.end(),
                                 [this](const HeldLock& entry) { return entry.ticket == ticket_; });
  if (held == table.locks.end()) return;
  if (held->process == ::getpid()) GiveUpLock(held->descriptors.front());
  for (const int fd : held->descriptors) ::close(fd);
  table.locks.erase(held);
}

}  // namespace ashlar

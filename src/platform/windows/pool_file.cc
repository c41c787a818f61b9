// PoolFile, of platform/pool_file.h, implemented with sections. A PoolFile holds the file, if any,
// and the section of which all its mappings are views.
//
// Two tasks need the list of existing views (Views). SyncData must flush each shared view before
// the file, because changes of a view do not reach the file until then. A private view can discard
// its stores only by copying the section's bytes over them.
#include "platform/pool_file.h"

#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <vector>

#include "base/format.h"
#include "platform/cache_flush.h"
#include "platform/file.h"
#include "platform/memory.h"
#include "platform/mutex.h"
#include "platform/windows/file_io.h"
#include "platform/windows/handle.h"
#include "platform/windows/windows_error.h"
#include "platform/windows/windows_path.h"

namespace ashlar {
namespace {

constexpr uint64_t kBytesMax = kOffsetMax;
// One byte far beyond the largest possible pool is locked, because the system refuses reads and
// writes of locked bytes.
constexpr uint64_t kLockOffset = kOffsetMax - 1;
// The flag of a volume whose files are mapped without a page cache.
constexpr DWORD kDaxVolume = 0x20000000;

// A view of a section. Its memory stays mapped until the last reference is released.
class View {
 public:
  static Result<std::shared_ptr<View>> Map(HANDLE section, DWORD access, size_t bytes,
                                           const std::string& path) {
    UniqueHandle own;
    HANDLE duplicate = nullptr;
    if (!DuplicateHandle(GetCurrentProcess(), section, GetCurrentProcess(), &duplicate, 0, FALSE,
                         DUPLICATE_SAME_ACCESS)) {
      return SystemError("map", path, GetLastError());
    }
    own = UniqueHandle(duplicate);
    void* const data = MapViewOfFile(own.get(), access, 0, 0, bytes);
    if (data == nullptr) return SystemError("map", path, GetLastError());
    return std::shared_ptr<View>(new View(std::move(own), access, static_cast<char*>(data), bytes));
  }
  ~View() { UnmapViewOfFile(data_); }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  // Returns the unmodified section that belongs to a private view. It is mapped only once, because
  // pages are discarded often.
  Result<const char*> Section(const std::string& path) {
    MutexLock lock(mutex_);
    if (whole_ == nullptr) {
      ASHLAR_ASSIGN_OR_RETURN(whole_, Map(section_.get(), FILE_MAP_READ, bytes_, path));
    }
    return whole_->data_;
  }

  bool is_shared() const { return access_ != FILE_MAP_COPY && (access_ & FILE_MAP_WRITE) != 0; }
  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  View(UniqueHandle section, DWORD access, char* data, size_t bytes)
      : section_(std::move(section)), access_(access), data_(data), bytes_(bytes) {}

  const UniqueHandle section_;
  const DWORD access_;
  char* const data_;
  const size_t bytes_;
  Mutex mutex_;
  std::shared_ptr<View> whole_ ASHLAR_GUARDED_BY(mutex_);
};

struct Pool {
  UniqueHandle file;  // none for an anonymous pool
  UniqueHandle section;
  std::shared_ptr<View> view;  // of an anonymous pool, which has no file to read and write
};

Pool& ToPool(intptr_t handle) { return *reinterpret_cast<Pool*>(handle); }
intptr_t FromPool(std::unique_ptr<Pool> pool) { return reinterpret_cast<intptr_t>(pool.release()); }

struct NamedView {
  intptr_t pool;
  std::shared_ptr<View> view;
};

struct Views {
  Mutex mutex;
  std::map<const char*, NamedView> by_address ASHLAR_GUARDED_BY(mutex);
};

// Never destroyed, because mappings may outlive static objects.
Views& AllViews() {
  static Views& views = *new Views;
  return views;
}

std::shared_ptr<View> FindView(const char* data) {
  Views& views = AllViews();
  MutexLock lock(views.mutex);
  const auto found = views.by_address.find(data);
  return found == views.by_address.end() ? nullptr : found->second.view;
}

Status TakeLock(HANDLE file, const std::string& path) {
  OVERLAPPED where = {};
  where.Offset = static_cast<DWORD>(kLockOffset);
  where.OffsetHigh = static_cast<DWORD>(kLockOffset >> 32);
  if (LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &where))
    return Status::OK();
  const DWORD error = GetLastError();
  if (error != ERROR_LOCK_VIOLATION && error != ERROR_IO_PENDING)
    return SystemError("lock", path, error);
  return Status::IOError(StrCat("open ", path),
                         "in use by another process, or by another handle of this one");
}

Result<UniqueHandle> MakeSection(HANDLE file, const std::string& path, uint64_t bytes) {
  UniqueHandle section(CreateFileMappingW(file, nullptr, PAGE_READWRITE,
                                          static_cast<DWORD>(bytes >> 32),
                                          static_cast<DWORD>(bytes), nullptr));
  if (!section.valid()) return SystemError("map", path, GetLastError());
  return section;
}

}  // namespace

PoolMapping::~PoolMapping() {
  std::shared_ptr<View> view = FindView(data_);
  Views& views = AllViews();
  // Writes the stored bytes to the file. A failure cannot be reported here, and SyncData does not
  // rely on this call.
  if (view->is_shared()) static_cast<void>(TryFlushView(view->data(), view->bytes()));
  MutexLock lock(views.mutex);
  views.by_address.erase(data_);
}

Status PoolMapping::DiscardPages(uint64_t offset, uint64_t bytes) {
  const std::shared_ptr<View> view = FindView(data_);
  ASHLAR_ASSIGN_OR_RETURN(const char* const file, view->Section("a pool's mapping"));
  // Equal pages are not written, because a write would copy them and others may be reading.
  const size_t page_bytes = PageBytes();
  const uint64_t begin = (offset + page_bytes - 1) / page_bytes * page_bytes;
  for (uint64_t at = begin; at + page_bytes <= offset + bytes; at += page_bytes) {
    if (memcmp(data_ + at, file + at, page_bytes) != 0) memcpy(data_ + at, file + at, page_bytes);
  }
  return Status::OK();
}

Result<std::unique_ptr<PoolFile>> PoolFile::Open(const std::string& path) {
  auto pool = std::make_unique<Pool>();
  ASHLAR_ASSIGN_OR_RETURN(
      pool->file, OpenHandle("open", path, GENERIC_READ | GENERIC_WRITE, kShareAll, OPEN_EXISTING,
                             FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OVERLAPPED));
  ASHLAR_ASSIGN_OR_RETURN(const HandleInfo found, InspectHandle(pool->file.get(), path));
  ASHLAR_RETURN_IF_ERROR(TakeLock(pool->file.get(), path));
  // An empty file has no section; Map refuses it.
  if (found.info.bytes > 0) {
    ASHLAR_ASSIGN_OR_RETURN(pool->section, MakeSection(pool->file.get(), path, found.info.bytes));
  }
  return std::unique_ptr<PoolFile>(new PoolFile(path, FromPool(std::move(pool)), found.info.bytes));
}

Result<std::unique_ptr<PoolFile>> PoolFile::Create(const std::string& path, uint64_t bytes,
                                                   double /*huge_pages_effort_max*/) {
  if (bytes > kBytesMax) return Status::InvalidArgument(path, "larger than any file can be");
  auto pool = std::make_unique<Pool>();
  ASHLAR_ASSIGN_OR_RETURN(
      pool->file,
      OpenHandle("create", path, GENERIC_READ | GENERIC_WRITE, kShareAll, CREATE_NEW,
                 FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OVERLAPPED | FILE_FLAG_OPEN_REPARSE_POINT));
  // I1: without the lock the file may be in use, because another process may have opened it.
  ASHLAR_RETURN_IF_ERROR(TakeLock(pool->file.get(), path));
  // Setting the size also allocates the space.
  Status status = ResizeHandle(pool->file.get(), path, bytes);
  if (status.ok() && bytes > 0) {
    Result<UniqueHandle> section = MakeSection(pool->file.get(), path, bytes);
    status = section.status();
    if (status.ok()) pool->section = std::move(section).value();
  }
  if (!status.ok()) {
    static_cast<void>(RemoveFile(path));
    return status;
  }
  return std::unique_ptr<PoolFile>(new PoolFile(path, FromPool(std::move(pool)), bytes));
}

Result<std::unique_ptr<PoolFile>> PoolFile::CreateAnonymous(uint64_t bytes,
                                                            double /*huge_pages_effort_max*/) {
  const std::string name = "(anonymous pool)";
  if (bytes == 0 || bytes > kBytesMax)
    return Status::InvalidArgument(name, "empty, or larger than any file can be");
  auto pool = std::make_unique<Pool>();
  if (bytes > std::numeric_limits<size_t>::max())
    return Status::InvalidArgument(name, "too large to be mapped");
  ASHLAR_ASSIGN_OR_RETURN(pool->section, MakeSection(INVALID_HANDLE_VALUE, name, bytes));
  ASHLAR_ASSIGN_OR_RETURN(pool->view, View::Map(pool->section.get(), FILE_MAP_READ | FILE_MAP_WRITE,
                                                static_cast<size_t>(bytes), name));
  return std::unique_ptr<PoolFile>(new PoolFile(name, FromPool(std::move(pool)), bytes));
}

std::string PoolFile::RealPath() const {
  if (!ToPool(handle_).file.valid()) return path_;
  const Result<std::wstring> absolute = ToSystemPath(path_);
  return absolute.ok() ? ToUtf8(absolute.value()) : path_;
}

PoolFile::~PoolFile() { delete &ToPool(handle_); }

PoolBacking PoolFile::Backing() const {
  const Pool& pool = ToPool(handle_);
  if (!pool.file.valid()) return PoolBacking::kSharedMemory;
  DWORD flags = 0;
  const bool known = GetVolumeInformationByHandleW(pool.file.get(), nullptr, 0, nullptr, nullptr,
                                                   &flags, nullptr, 0) != 0;
  return known && (flags & kDaxVolume) != 0 ? PoolBacking::kDax : PoolBacking::kStorage;
}

Result<std::unique_ptr<PoolMapping>> PoolFile::Map(PoolMapMode mode) const {
  if (bytes_ == 0 || bytes_ > std::numeric_limits<size_t>::max())
    return Status::InvalidArgument(path_, "cannot be mapped: empty or too large");
  if (mode == PoolMapMode::kSharedSync && Backing() != PoolBacking::kDax) {
    return Status::IOError(StrCat("map ", path_),
                           "not on a volume that gives access to persistent memory (DAX)");
  }
  DWORD access = FILE_MAP_READ | FILE_MAP_WRITE;
  if (mode == PoolMapMode::kSharedReadOnly) access = FILE_MAP_READ;
  if (mode == PoolMapMode::kPrivate) access = FILE_MAP_COPY;
  ASHLAR_ASSIGN_OR_RETURN(
      std::shared_ptr<View> view,
      View::Map(ToPool(handle_).section.get(), access, static_cast<size_t>(bytes_), path_));
  Views& views = AllViews();
  MutexLock lock(views.mutex);
  // Inserted first, because the destructor of a mapping looks up its view.
  const auto entry =
      views.by_address.insert_or_assign(view->data(), NamedView{.pool = handle_, .view = view})
          .first;
  std::unique_ptr<PoolMapping> mapping(new (std::nothrow) PoolMapping(view->data(), view->bytes()));
  if (mapping == nullptr) {
    views.by_address.erase(entry);
    return Status::MemoryLimit();
  }
  return mapping;
}

Status PoolFile::ReadAt(uint64_t offset, size_t n, char* to) const {
  const Pool& pool = ToPool(handle_);
  if (offset > bytes_ || n > bytes_ - offset)
    return SystemError(StrCat("read at ", offset, " from"), path_, ERROR_HANDLE_EOF);
  if (pool.file.valid()) {
    ASHLAR_ASSIGN_OR_RETURN(const size_t got, ReadHandle(pool.file.get(), path_, offset, n, to));
    return got == n
               ? Status::OK()
               : SystemError(StrCat("read at ", offset + got, " from"), path_, ERROR_HANDLE_EOF);
  }
  memcpy(to, pool.view->data() + offset, n);
  return Status::OK();
}

Status PoolFile::WriteAt(uint64_t offset, const char* from, size_t n) {
  const Pool& pool = ToPool(handle_);
  if (offset > bytes_ || n > bytes_ - offset)
    return SystemError(StrCat("write at ", offset, " to"), path_, ERROR_HANDLE_EOF);
  if (pool.file.valid()) return WriteHandle(pool.file.get(), path_, offset, from, n);
  memcpy(pool.view->data() + offset, from, n);
  return Status::OK();
}

Status PoolFile::SyncData() {
  const Pool& pool = ToPool(handle_);
  if (!pool.file.valid()) return Status::OK();
  std::vector<std::shared_ptr<View>> shared;
  {
    Views& views = AllViews();
    MutexLock lock(views.mutex);
    for (const auto& [address, named] : views.by_address) {
      if (named.pool == handle_ && named.view->is_shared()) shared.push_back(named.view);
    }
  }
  for (const std::shared_ptr<View>& view : shared)
    ASHLAR_RETURN_IF_ERROR(FlushView(view->data(), view->bytes(), path_));
  return FlushHandle(pool.file.get(), path_);
}

// The system does not report whether the caches are inside the persistence domain.
bool CachesArePersistent() { return false; }

}  // namespace ashlar

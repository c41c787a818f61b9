// Directories and operations on paths, of platform/file.h.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "base/format.h"
#include "platform/file.h"
#include "platform/thread.h"
#include "platform/windows/file_io.h"
#include "platform/windows/handle.h"
#include "platform/windows/windows_error.h"
#include "platform/windows/windows_headers.h"
#include "platform/windows/windows_path.h"

namespace ashlar {
namespace {

constexpr intptr_t kClosed = -1;

// Missing from the headers of some compilers. With these, a name is removed at once even if the
// file is open, and a rename replaces an open file.
constexpr auto kDispositionInfoEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(21);
constexpr auto kRenameInfoEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);
constexpr DWORD kDispositionDelete = 1;
constexpr DWORD kDispositionPosix = 2;
constexpr DWORD kDispositionIgnoreReadOnly = 16;  // newer than the two flags above
constexpr DWORD kRenameReplace = 1;
constexpr DWORD kRenamePosix = 2;

struct FindCloser {
  void operator()(void* find) const { FindClose(find); }
};

bool Rename(HANDLE handle, const std::wstring& to, FILE_INFO_BY_HANDLE_CLASS form, DWORD flags) {
  const size_t name_bytes = to.size() * sizeof(wchar_t);
  // Zero-initialized, because the name must end in a zero.
  std::vector<uint64_t> room((sizeof(FILE_RENAME_INFO) + name_bytes) / sizeof(uint64_t) + 1);
  auto* const info = reinterpret_cast<FILE_RENAME_INFO*>(room.data());
  memcpy(info, &flags, sizeof(flags));
  info->RootDirectory = nullptr;
  info->FileNameLength = static_cast<DWORD>(name_bytes);
  memcpy(info->FileName, to.data(), name_bytes);
  return SetFileInformationByHandle(handle, form, info,
                                    static_cast<DWORD>(room.size() * sizeof(uint64_t))) != 0;
}

// Returns an unused name in the same directory.
std::wstring NameAside(const std::wstring& name) {
  static std::atomic<uint64_t> next{0};
  const std::string aside =
      StrCat(".deleted-", CurrentProcessId(), "-", next.fetch_add(1, std::memory_order_relaxed));
  return name.substr(0, name.rfind(L'\\') + 1) + std::wstring(aside.begin(), aside.end());
}

// Volumes without the newer form (FAT, some shares; Wine) keep a deleted file's name until its last
// handle or view is closed, and refuse to open it meanwhile. There the file is renamed before it is
// deleted.
bool DeleteOnce(HANDLE handle, const std::wstring& name) {
  for (const DWORD more : {kDispositionIgnoreReadOnly, DWORD{0}}) {
    DWORD flags = kDispositionDelete | kDispositionPosix | more;
    if (SetFileInformationByHandle(handle, kDispositionInfoEx, &flags, sizeof(flags))) return true;
    if (!IsUnsupported(GetLastError())) return false;
  }
  const std::wstring aside = NameAside(name);
  const bool moved = Rename(handle, aside, FileRenameInfo, 0);
  FILE_DISPOSITION_INFO disposition{TRUE};
  if (SetFileInformationByHandle(handle, FileDispositionInfo, &disposition, sizeof(disposition)))
    return true;
  // For a mapped file, Wine refuses the disposition but permits DeleteFileW.
  if (DeleteFileW(moved ? aside.c_str() : name.c_str())) return true;
  const DWORD error = GetLastError();
  if (moved) static_cast<void>(Rename(handle, name, FileRenameInfo, 0));
  SetLastError(error);
  return false;
}

// A read-only file is deleted, as on other systems.
bool Delete(HANDLE handle, const std::wstring& name) {
  if (DeleteOnce(handle, name)) return true;
  DWORD error = GetLastError();
  const DWORD attributes = GetFileAttributesW(name.c_str());
  const bool read_only =
      attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_READONLY) != 0;
  if (error == ERROR_ACCESS_DENIED && read_only &&
      SetFileAttributesW(name.c_str(), attributes & ~DWORD{FILE_ATTRIBUTE_READONLY})) {
    if (DeleteOnce(handle, name)) return true;
    error = DeletionError(GetLastError(), false);
    SetFileAttributesW(name.c_str(), attributes);
    SetLastError(error);
    return false;
  }
  SetLastError(DeletionError(error, read_only));
  return false;
}

bool IsDirectory(const std::wstring& name) {
  const DWORD attributes = GetFileAttributesW(name.c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

// Both ways are atomic, so `to` is always the old file or the new one.
bool MoveOver(HANDLE handle, const std::wstring& from, const std::wstring& to) {
  if (Rename(handle, to, kRenameInfoEx, kRenameReplace | kRenamePosix)) return true;
  if (!IsUnsupported(GetLastError())) return false;
  if (MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
    return true;
  // This form does not replace an open file. Readers open such a file only briefly, so retry.
  if (GetLastError() == ERROR_ACCESS_DENIED && !IsDirectory(to))
    SetLastError(ERROR_SHARING_VIOLATION);
  return false;
}

}  // namespace

Result<OsDirectory> OsDirectory::Open(const std::string& path) {
  // Flushing requires write access.
  ASHLAR_ASSIGN_OR_RETURN(UniqueHandle handle,
                          OpenName("open directory", path, GENERIC_READ | GENERIC_WRITE));
  ASHLAR_ASSIGN_OR_RETURN(const HandleInfo found, InspectHandle(handle.get(), path));
  if (!found.info.is_directory)
    return Status::IOError(StrCat("open directory ", path), "is not a directory");
  return OsDirectory(path, reinterpret_cast<intptr_t>(handle.Release()));
}

OsDirectory::OsDirectory(OsDirectory&& other) noexcept
    : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, kClosed)) {}

OsDirectory::~OsDirectory() {
  if (handle_ != kClosed) CloseHandle(reinterpret_cast<HANDLE>(handle_));
}

Status OsDirectory::Sync() { return FlushHandle(reinterpret_cast<HANDLE>(handle_), path_); }

Result<FileInfo> GetFileInfo(const std::string& path) {
  // Uses a handle, because a directory's data about an open file may be stale.
  ASHLAR_ASSIGN_OR_RETURN(const UniqueHandle handle,
                          OpenName("inspect", path, FILE_READ_ATTRIBUTES));
  ASHLAR_ASSIGN_OR_RETURN(const HandleInfo found, InspectHandle(handle.get(), path));
  return found.info;
}

Result<std::vector<std::string>> ListDirectory(const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(const FileInfo info, GetFileInfo(path));
  if (!info.is_directory) return Status::IOError(StrCat("list ", path), "is not a directory");
  ASHLAR_ASSIGN_OR_RETURN(std::wstring pattern, ToSystemPath(path));
  pattern += pattern.ends_with(L'\\') ? L"*" : L"\\*";
  WIN32_FIND_DATAW entry;
  const HANDLE first = FindFirstFileExW(pattern.c_str(), FindExInfoBasic, &entry,
                                        FindExSearchNameMatch, nullptr, FIND_FIRST_EX_LARGE_FETCH);
  std::vector<std::string> names;
  if (first == INVALID_HANDLE_VALUE) {
    // The root of a drive lacks even the entries that every other directory has.
    if (GetLastError() == ERROR_FILE_NOT_FOUND) return names;
    return SystemError("list", path, GetLastError());
  }
  const std::unique_ptr<void, FindCloser> find(first);
  do {
    std::string name = ToUtf8(entry.cFileName);
    if (name != "." && name != "..") names.push_back(std::move(name));
  } while (FindNextFileW(find.get(), &entry));
  if (GetLastError() != ERROR_NO_MORE_FILES) return SystemError("list", path, GetLastError());
  return names;
}

Status MakeDirectory(const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(const std::wstring name, ToSystemPath(path));
  if (!CreateDirectoryW(name.c_str(), nullptr))
    return PathError("create directory", path, name, GetLastError());
  return Status::OK();
}

Status MakeDirectoryIfMissing(const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(const std::wstring name, ToSystemPath(path));
  if (CreateDirectoryW(name.c_str(), nullptr)) return Status::OK();
  const DWORD error = GetLastError();
  // For the root of an existing drive, the system reports "access denied".
  if (IsDirectory(name)) return Status::OK();
  if (error == ERROR_ALREADY_EXISTS)
    return Status::IOError(StrCat("create directory ", path), "exists, but is not a directory");
  return PathError("create directory", path, name, error);
}

Status RemoveDirectory(const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(const std::wstring name, ToSystemPath(path));
  const bool removed = RetryWhileShared([&] { return RemoveDirectoryW(name.c_str()) != 0; });
  return removed ? Status::OK() : PathError("remove directory", path, name, GetLastError());
}

Status RemoveFile(const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(const std::wstring name, ToSystemPath(path));
  ASHLAR_ASSIGN_OR_RETURN(
      const UniqueHandle handle,
      OpenHandle("remove", path, DELETE | FILE_READ_ATTRIBUTES, kShareAll, OPEN_EXISTING,
                 FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS));
  ASHLAR_ASSIGN_OR_RETURN(const HandleInfo found, InspectHandle(handle.get(), path));
  if (found.info.is_directory && !found.is_link)
    return Status::IOError(StrCat("remove ", path), "is a directory");
  if (!RetryWhileShared([&] { return Delete(handle.get(), name); }))
    return SystemError("remove", path, GetLastError());
  return Status::OK();
}

Status RenamePath(const std::string& from, const std::string& to) {
  ASHLAR_ASSIGN_OR_RETURN(const std::wstring from_name, ToSystemPath(from));
  ASHLAR_ASSIGN_OR_RETURN(const std::wstring to_name, ToSystemPath(to));
  const std::string action = StrCat("rename ", from, " to");
  ASHLAR_ASSIGN_OR_RETURN(
      const UniqueHandle handle,
      OpenHandle("rename", from, DELETE | FILE_READ_ATTRIBUTES, kShareAll, OPEN_EXISTING,
                 FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS));
  ASHLAR_ASSIGN_OR_RETURN(const HandleInfo found, InspectHandle(handle.get(), from));
  const bool renamed = RetryWhileShared([&] {
    // A directory must not replace anything, least of all a file.
    return found.info.is_directory
               ? MoveFileExW(from_name.c_str(), to_name.c_str(), MOVEFILE_WRITE_THROUGH) != 0
               : MoveOver(handle.get(), from_name, to_name);
  });
  if (!renamed) return PathError(action, to, to_name, GetLastError());
  return Status::OK();
}

Status RenameToNewPath(const std::string& from, const std::string& to) {
  ASHLAR_ASSIGN_OR_RETURN(const std::wstring from_name, ToSystemPath(from));
  ASHLAR_ASSIGN_OR_RETURN(const std::wstring to_name, ToSystemPath(to));
  if (RetryWhileShared([&] {
        return MoveFileExW(from_name.c_str(), to_name.c_str(), MOVEFILE_WRITE_THROUGH) != 0;
      }))
    return Status::OK();
  const DWORD error = GetLastError();
  if (IsUnsupported(error)) {
    return Status::NotSupported(StrCat("rename ", from, " to ", to),
                                "this file system has no rename that replaces nothing");
  }
  return PathError(StrCat("rename ", from, " to"), to, to_name, error);
}

Status HardLink(const std::string& from, const std::string& to) {
  ASHLAR_ASSIGN_OR_RETURN(const std::wstring from_name, ToSystemPath(from));
  ASHLAR_ASSIGN_OR_RETURN(const std::wstring to_name, ToSystemPath(to));
  if (RetryWhileShared(
          [&] { return CreateHardLinkW(to_name.c_str(), from_name.c_str(), nullptr) != 0; }))
    return Status::OK();
  const DWORD error = GetLastError();
  if (error == ERROR_NOT_SAME_DEVICE || error == ERROR_TOO_MANY_LINKS || IsUnsupported(error)) {
    return Status::NotSupported(StrCat("link ", from, " to ", to),
                                "not on this file system, or not between these two");
  }
  return PathError(StrCat("link ", from, " to"), to, to_name, error);
}

Status TruncatePath(const std::string& path, uint64_t bytes) {
  ASHLAR_ASSIGN_OR_RETURN(const UniqueHandle handle,
                          OpenHandle("truncate", path, GENERIC_WRITE | FILE_READ_ATTRIBUTES,
                                     kShareAll, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT));
  ASHLAR_ASSIGN_OR_RETURN(const HandleInfo found, InspectHandle(handle.get(), path));
  if (found.is_link) return Status::IOError(StrCat("truncate ", path), "is a symbolic link");
  return ResizeHandle(handle.get(), path, bytes);
}

Result<uint64_t> FreeBytes(const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(std::wstring name, ToSystemPath(path));
  ASHLAR_ASSIGN_OR_RETURN(const FileInfo info, GetFileInfo(path));
  // The system call requires a directory.
  if (!info.is_directory) name.resize(name.rfind(L'\\') + 1);
  ULARGE_INTEGER bytes;
  if (!GetDiskFreeSpaceExW(name.c_str(), &bytes, nullptr, nullptr))
    return SystemError("ask for free space of", path, GetLastError());
  return bytes.QuadPart;
}

size_t OpenFilesMax() { return std::numeric_limits<size_t>::max(); }

}  // namespace ashlar

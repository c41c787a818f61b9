#include "tests/support/windows/call_recorder.h"

#include "platform/windows/windows_headers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

#include "base/assert.h"
#include "platform/mutex.h"

namespace ashlar {
namespace {

struct Log {
  Mutex mutex;
  bool recording ASHLAR_GUARDED_BY(mutex) = false;
  std::vector<std::string> calls ASHLAR_GUARDED_BY(mutex);
};

Log& TheLog() {
  static Log& log = *new Log;
  return log;
}

std::string LastComponent(std::wstring_view path) {
  path = path.substr(0, path.find(L'\0'));
  while (path.ends_with(L'\\')) path.remove_suffix(1);
  path = path.substr(path.find_last_of(L"\\/") + 1);
  std::string name;
  std::transform(path.begin(), path.end(), std::back_inserter(name),
                 [](wchar_t c) { return c < 0x80 ? static_cast<char>(c) : '?'; });
  return name;
}

std::string NameOf(HANDLE handle) {
  std::array<wchar_t, 4096> path = {};
  const DWORD length = GetFinalPathNameByHandleW(
      handle, path.data(), static_cast<DWORD>(path.size()), FILE_NAME_NORMALIZED);
  return length == 0 ? "?" : LastComponent(std::wstring_view(path.data(), length));
}

// Preserves the caller's GetLastError.
void Record(std::string call) {
  const DWORD error = GetLastError();
  {
    Log& log = TheLog();
    MutexLock lock(log.mutex);
    if (log.recording) log.calls.push_back(std::move(call));
  }
  SetLastError(error);
}

decltype(&::CreateFileW) real_create_file;
decltype(&::WriteFile) real_write_file;
decltype(&::FlushFileBuffers) real_flush_file_buffers;
decltype(&::FlushViewOfFile) real_flush_view_of_file;
decltype(&::MoveFileExW) real_move_file_ex;

HANDLE WINAPI CreateFileRecorded(LPCWSTR name, DWORD access, DWORD share,
                                 LPSECURITY_ATTRIBUTES security, DWORD disposition, DWORD flags,
                                 HANDLE like) {
  const HANDLE handle = real_create_file(name, access, share, security, disposition, flags, like);
  if ((access & GENERIC_WRITE) != 0 && (flags & FILE_FLAG_BACKUP_SEMANTICS) == 0) {
    Record("CreateFileW " + LastComponent(name) +
           ((flags & FILE_FLAG_NO_BUFFERING) != 0 ? " unbuffered" : ""));
  }
  return handle;
}

BOOL WINAPI WriteFileRecorded(HANDLE file, LPCVOID bytes, DWORD n, LPDWORD written,
                              LPOVERLAPPED overlapped) {
  const BOOL done = real_write_file(file, bytes, n, written, overlapped);
  Record("WriteFile " + NameOf(file));
  return done;
}

BOOL WINAPI FlushFileBuffersRecorded(HANDLE file) {
  const BOOL done = real_flush_file_buffers(file);
  Record("FlushFileBuffers " + NameOf(file));
  return done;
}

BOOL WINAPI FlushViewOfFileRecorded(LPCVOID start, SIZE_T n) {
  const BOOL done = real_flush_view_of_file(start, n);
  Record("FlushViewOfFile");
  return done;
}

BOOL WINAPI MoveFileExRecorded(LPCWSTR from, LPCWSTR to, DWORD flags) {
  const BOOL done = real_move_file_ex(from, to, flags);
  Record("MoveFileExW " + LastComponent(from) + " " + LastComponent(to) +
         ((flags & MOVEFILE_WRITE_THROUGH) != 0 ? " through" : ""));
  return done;
}

// The entry of the import table through which this program calls the function.
void** FindImport(const char* function) {
  char* const image = reinterpret_cast<char*>(GetModuleHandleW(nullptr));
  const auto* const dos = reinterpret_cast<const IMAGE_DOS_HEADER*>(image);
  const auto* const nt = reinterpret_cast<const IMAGE_NT_HEADERS*>(image + dos->e_lfanew);
  const IMAGE_DATA_DIRECTORY& directory =
      nt->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT];
  for (auto* library =
           reinterpret_cast<const IMAGE_IMPORT_DESCRIPTOR*>(image + directory.VirtualAddress);
       library->Name != 0; library++) {
    const auto* name =
        reinterpret_cast<const IMAGE_THUNK_DATA*>(image + library->OriginalFirstThunk);
    auto* entry = reinterpret_cast<IMAGE_THUNK_DATA*>(image + library->FirstThunk);
    for (; name->u1.AddressOfData != 0; name++, entry++) {
      if (IMAGE_SNAP_BY_ORDINAL(name->u1.Ordinal)) continue;
      const auto* const import =
          reinterpret_cast<const IMAGE_IMPORT_BY_NAME*>(image + name->u1.AddressOfData);
      if (strcmp(reinterpret_cast<const char*>(import->Name), function) == 0)
        return reinterpret_cast<void**>(&entry->u1.Function);
    }
  }
  return nullptr;
}

template <typename Function>
void Redirect(const char* name, Function* replacement, Function** real) {
  void** const entry = FindImport(name);
  ASHLAR_ASSERT(entry != nullptr);
  *real = reinterpret_cast<Function*>(*entry);
  DWORD before = 0;
  ASHLAR_ASSERT(VirtualProtect(entry, sizeof(*entry), PAGE_READWRITE, &before) != 0);
  *entry = reinterpret_cast<void*>(replacement);
  VirtualProtect(entry, sizeof(*entry), before, &before);
}

void SetRecording(bool recording) {
  Log& log = TheLog();
  MutexLock lock(log.mutex);
  log.recording = recording;
  log.calls.clear();
}

}  // namespace

CallRecorder::CallRecorder() {
  // Redirects the calls once for the whole program. Other threads may be calling, so undoing it
  // would be no safer than leaving it.
  static const bool redirected = [] {
    Redirect("CreateFileW", &CreateFileRecorded, &real_create_file);
    Redirect("WriteFile", &WriteFileRecorded, &real_write_file);
    Redirect("FlushFileBuffers", &FlushFileBuffersRecorded, &real_flush_file_buffers);
    Redirect("FlushViewOfFile", &FlushViewOfFileRecorded, &real_flush_view_of_file);
    Redirect("MoveFileExW", &MoveFileExRecorded, &real_move_file_ex);
    return true;
  }();
  ASHLAR_ASSERT(redirected);
  SetRecording(true);
}

CallRecorder::~CallRecorder() { SetRecording(false); }

std::vector<std::string> CallRecorder::Calls() const {
  Log& log = TheLog();
  MutexLock lock(log.mutex);
  return log.calls;
}

void CallRecorder::Clear() { SetRecording(true); }

}  // namespace ashlar

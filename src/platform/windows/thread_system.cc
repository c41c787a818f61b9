#include "platform/thread_system.h"

#include "platform/windows/windows_headers.h"
#include "platform/windows/windows_path.h"

// From the C++ ABI. Unlike a thread_local object it can be registered again while thread-locals are
// being destroyed.
extern "C" int __cxa_thread_atexit(void (*function)(void*), void* argument, void* library) noexcept;
extern "C" void* __dso_handle;

namespace ashlar {
namespace {

using SetThreadDescriptionFunction = HRESULT(WINAPI*)(HANDLE, PCWSTR);

// Windows 10 1607 and later have it.
SetThreadDescriptionFunction FindSetThreadDescription() {
  const FARPROC found = GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "SetThreadDescription");
  return reinterpret_cast<SetThreadDescriptionFunction>(reinterpret_cast<void*>(found));
}

}  // namespace

void DescribeCurrentThread(const ThreadOptions& options) {
  static const SetThreadDescriptionFunction set_description = FindSetThreadDescription();
  const Result<std::wstring> name = ToUtf16(options.name);
  if (set_description != nullptr && name.ok())
    static_cast<void>(set_description(GetCurrentThread(), name->c_str()));
  // Not the background mode, which also slows down the thread's reads and writes.
  if (options.priority == ThreadPriority::kBackground)
    SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL);
}

void RunAtThreadExit(void (*function)(void*), void* argument) {
  __cxa_thread_atexit(function, argument, &__dso_handle);
}

uint64_t CurrentThreadSystemId() { return GetCurrentThreadId(); }

uint64_t CurrentProcessId() { return GetCurrentProcessId(); }

}  // namespace ashlar

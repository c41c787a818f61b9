#include "platform/thread_system.h"

#include "platform/windows/windows_headers.h"
#include "platform/windows/windows_path.h"

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

CpuShare CurrentCpuShare() {
  const int priority = GetThreadPriority(GetCurrentThread());
  if (priority <= THREAD_PRIORITY_IDLE) return CpuShare::kIdle;
  return priority <= THREAD_PRIORITY_LOWEST ? CpuShare::kLow : CpuShare::kNormal;
}

void LowerCpuShare(CpuShare share) {
  if (share <= CurrentCpuShare()) return;
  SetThreadPriority(GetCurrentThread(),
                    share == CpuShare::kIdle ? THREAD_PRIORITY_IDLE : THREAD_PRIORITY_LOWEST);
}

// Only the background mode lowers it. The call fails harmlessly for a thread already in that mode.
void LowerIoPriority() { SetThreadPriority(GetCurrentThread(), THREAD_MODE_BACKGROUND_BEGIN); }

uint64_t CurrentThreadSystemId() { return GetCurrentThreadId(); }

uint64_t CurrentProcessId() { return GetCurrentProcessId(); }

}  // namespace ashlar

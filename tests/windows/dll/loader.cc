// A DLL that loads slots.dll from its own directory and forwards the call to it.
#include "platform/windows/windows_headers.h"
#include "tests/windows/dll/slots.h"

extern "C" __declspec(dllexport) void RunThreads(uint32_t threads, SlotsLeft* left) {
  const HMODULE library = LoadLibraryW(L"slots.dll");
  if (library == nullptr) return;
  const auto run = reinterpret_cast<RunThreadsFunction*>(
      reinterpret_cast<void*>(GetProcAddress(library, "RunThreads")));
  run(threads, left);
}

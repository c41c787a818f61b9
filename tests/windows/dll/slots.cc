// A DLL with a copy of the library. The system starts its threads without the compiler's runtime,
// as for a program in another language.
#include "tests/windows/dll/slots.h"

#include <atomic>
#include <set>
#include <string>

#include "platform/thread.h"
#include "platform/windows/windows_headers.h"

namespace {

std::atomic<uint32_t> destructors_run{0};
std::atomic<uint32_t> objects_intact{0};

struct Tracked {
  ~Tracked() {
    destructors_run++;
    if (text == "left by a thread, in memory of its own") objects_intact++;
  }
  std::string text;
};

DWORD WINAPI UseLibrary(void* slot) {
  static thread_local Tracked tracked;
  tracked.text = "left by a thread, in memory of its own";
  *static_cast<ashlar::ThreadSlot**>(slot) = &ashlar::CurrentThreadSlot();
  return 0;
}

}  // namespace

extern "C" __declspec(dllexport) void RunThreads(uint32_t threads, SlotsLeft* left) {
  std::set<ashlar::ThreadSlot*> slots;
  destructors_run = 0;
  objects_intact = 0;
  for (uint32_t i = 0; i < threads; i++) {
    ashlar::ThreadSlot* slot = nullptr;
    const HANDLE thread = CreateThread(nullptr, 0, &UseLibrary, &slot, 0, nullptr);
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
    slots.insert(slot);
  }
  *left = {.different_slots = static_cast<uint32_t>(slots.size()),
           .still_claimed = 0,
           .destructors_run = destructors_run,
           .objects_intact = objects_intact};
  for (const ashlar::ThreadSlot* const slot : slots)
    left->still_claimed += slot == nullptr || slot->claimed ? 1u : 0u;
}

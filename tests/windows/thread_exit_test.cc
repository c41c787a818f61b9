// When threads end, the library takes their slots back, in a program and in a DLL, and destructors
// find their objects as the threads left them.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>

#include "platform/thread.h"
#include "platform/windows/windows_headers.h"
#include "tests/support/places.h"
#include "tests/windows/dll/slots.h"

namespace ashlar {
namespace {

constexpr uint32_t kThreads = 50;

void ExpectNothingLeft(const SlotsLeft& left) {
  EXPECT_EQ(left.different_slots, 1u);
  EXPECT_EQ(left.still_claimed, 0u);
  EXPECT_EQ(left.destructors_run, kThreads);
  EXPECT_EQ(left.objects_intact, kThreads);
}

SlotsLeft RunIn(const std::string& dll) {
  SlotsLeft left = {};
  const HMODULE library = LoadLibraryA((std::string(kBuildDir) + "/tests/" + dll).c_str());
  EXPECT_NE(library, nullptr) << "error " << GetLastError();
  if (library == nullptr) return left;
  const auto run = reinterpret_cast<RunThreadsFunction*>(
      reinterpret_cast<void*>(GetProcAddress(library, "RunThreads")));
  EXPECT_NE(run, nullptr);
  if (run != nullptr) run(kThreads, &left);
  return left;
}

struct Tracked {
  ~Tracked() { intact = text == "left by a thread, in memory of its own"; }
  std::string text;
  static std::atomic<bool> intact;
};
std::atomic<bool> Tracked::intact{false};

DWORD WINAPI UseLibrary(void* slot) {
  static thread_local Tracked tracked;
  tracked.text = "left by a thread, in memory of its own";
  *static_cast<ThreadSlot**>(slot) = &CurrentThreadSlot();
  return 0;
}

TEST(ThreadExit, AThreadOfTheSystemsIsCleanedUpInAProgram) {
  std::set<ThreadSlot*> slots;
  for (uint32_t i = 0; i < kThreads; i++) {
    ThreadSlot* slot = nullptr;
    Tracked::intact = false;
    const HANDLE thread = CreateThread(nullptr, 0, &UseLibrary, &slot, 0, nullptr);
    ASSERT_NE(thread, nullptr);
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
    slots.insert(slot);
    EXPECT_TRUE(Tracked::intact);
  }
  EXPECT_EQ(slots.size(), 1u);
  EXPECT_FALSE((*slots.begin())->claimed.load());
}

TEST(ThreadExit, AThreadOfOursIsCleanedUpInAProgram) {
  for (uint32_t i = 0; i < kThreads; i++) {
    Tracked::intact = false;
    ThreadSlot* slot = nullptr;
    Result<Thread> thread = Thread::Start({.name = "ours", .priority = ThreadPriority::kBackground},
                                          [&] { UseLibrary(&slot); });
    ASSERT_TRUE(thread.ok());
    thread->Join();
    EXPECT_TRUE(Tracked::intact);
    EXPECT_FALSE(slot->claimed.load());
  }
}

TEST(ThreadExit, AThreadIsCleanedUpInADll) { ExpectNothingLeft(RunIn("slots.dll")); }

TEST(ThreadExit, AThreadIsCleanedUpInADllThatADllLoads) { ExpectNothingLeft(RunIn("loader.dll")); }

// If each load took a slot of thread-local storage, the 1,088 slots of a process would run out.
void LoadAndFree(const std::string& path) {
  constexpr int kCycles = 1'300;
  for (int i = 0; i < kCycles; ++i) {
    const HMODULE library = LoadLibraryA(path.c_str());
    ASSERT_NE(library, nullptr) << "cycle " << i << ", error " << GetLastError();
    ASSERT_TRUE(FreeLibrary(library)) << "cycle " << i;
  }
  EXPECT_NE(GetModuleHandleA(path.c_str()), nullptr) << "it stays loaded";
}

TEST(LoadingTheLibrary, MayBeRepeatedForEver) { LoadAndFree(kSharedLibrary); }

TEST(LoadingTheLibrary, MayBeRepeatedForEverAsPartOfADll) {
  LoadAndFree(std::string(kBuildDir) + "/tests/slots.dll");
}

}  // namespace
}  // namespace ashlar

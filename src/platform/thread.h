// Starts threads, and gives every thread that uses the library a small record (slot).
//
//   newest_slot -> [slot n-1] -> ... -> [slot 1] -> [slot 0]    a list that only grows; at most one
//                                                               living thread has a slot
//
// I1: a slot is owned by at most one thread; only its owner writes its words and running_deleters.
// I2: a slot is never freed and its index never changes; indexes are dense: 0 .. (most threads ever
//     alive at once) - 1.
// I3: a thread gives its slot back when it exits, with epoch 0 in each word. A thread that claims a
//     slot again while its thread-locals are being destroyed gives that one back too.
//
// Every read calls CurrentThreadSlot. After the first use it costs one load relative to the thread
// register (initial-exec TLS) and no call.
//
// Thread safety: everything here may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "base/result.h"
#include "platform/cpu.h"
#include "platform/thread_local.h"

namespace ashlar {

// An epoch that a thread has entered. execute/epoch.h defines the memory orders. Fields that other
// threads read are atomic: the owner of the slot writes them, and scans of the slots read them.
struct EpochWord {
  std::atomic<uint64_t> epoch{0};            // 0 outside of an epoch
  std::atomic<const void*> domain{nullptr};  // the domain of the epoch
  uint32_t depth = 0;                        // number of the owner's nested guards
  std::atomic<EpochWord*> next{
      nullptr};  // for a nested guard of another domain; null, or never freed
};

struct alignas(kCacheLineBytes) ThreadSlot {
  explicit ThreadSlot(uint32_t slot_index) : index(slot_index) {}

  EpochWord epoch;
  uint32_t running_deleters = 0;  // > 0 while the owner runs retired objects' deleters
  const uint32_t index;
  std::atomic<bool> claimed{true};
  ThreadSlot* next = nullptr;  // written before the slot is published, constant afterwards
};

namespace internal {
extern constinit thread_local ThreadSlot* current_slot ASHLAR_TLS_MODEL;

ThreadSlot& ClaimThreadSlot();
}  // namespace internal

// The calling thread's slot. The first call of a thread may throw std::bad_alloc.
inline ThreadSlot& CurrentThreadSlot() {
  ThreadSlot* slot = internal::current_slot;
  if (slot != nullptr) [[likely]]
    return *slot;
  return internal::ClaimThreadSlot();
}

// Returns the newest slot; follow `next` to visit all. The iteration may miss a slot that is added
// meanwhile. The caller's fences must make that harmless.
ThreadSlot* FirstThreadSlot();

// Runs function(argument) on the calling thread when it exits. It runs between destructors of
// thread-local objects: after those of objects constructed later, before those of objects
// constructed earlier. May be called while these destructors run. Throws std::bad_alloc.
void RunAtThreadExit(void (*function)(void*), void* argument);

enum class ThreadPriority {
  kNormal,
  // yields the processor to normal threads when there are too few processors; advice only
  kBackground,
};

struct ThreadOptions {
  std::string name;  // shown by debuggers; the system may truncate it
  ThreadPriority priority = ThreadPriority::kNormal;
};

// One running thread. Requires: Join before destruction.
class Thread {
 public:
  // Returns TryAgain if the system refuses another thread.
  static Result<Thread> Start(const ThreadOptions& options, std::function<void()> body);

  Thread() = default;
  ~Thread();
  Thread(Thread&&) noexcept = default;
  // Requires: this object holds no thread that has not been joined.
  Thread& operator=(Thread&& other) noexcept;

  void Join();

 private:
  explicit Thread(std::thread thread) : thread_(std::move(thread)) {}
  std::thread thread_;
};

// A thread's share of processor time relative to other threads, in falling order.
enum class CpuShare : uint8_t {
  kNormal,
  kLow,
  kIdle,  // only time that no other thread uses
};
// The share of the calling thread, as far as the system reports it.
CpuShare CurrentCpuShare();
// Limits the calling thread to this share from now on. Advice only; nothing raises it again.
void LowerCpuShare(CpuShare share);
// Lets reads and writes of other threads precede those of the calling thread, if the system and the
// disk's scheduler support it. On Windows this also lowers the thread's share of the processors.
void LowerIoPriority();

// Lets another thread run on this processor.
void YieldThread();
// A number that identifies the calling thread in the system's own tools.
uint64_t CurrentThreadSystemId();
uint64_t CurrentProcessId();

}  // namespace ashlar

#include "platform/thread.h"

#include <new>
#include <system_error>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "platform/thread_system.h"

// From the C++ ABI. Unlike a thread_local object, a function can be registered again while
// thread-locals are being destroyed.
extern "C" int __cxa_thread_atexit(void (*function)(void*), void* argument, void* library) noexcept;
extern "C" void* __dso_handle;

namespace ashlar {
namespace internal {

constinit thread_local ThreadSlot* current_slot = nullptr;

}  // namespace internal

namespace {

constinit std::atomic<ThreadSlot*> newest_slot{nullptr};
constinit std::atomic<uint32_t> next_slot_index{0};

// The acquire pairs with the release in GiveBackSlot, so the previous owner's writes are visible.
ThreadSlot* ClaimUnusedSlot() {
  for (ThreadSlot* slot = newest_slot.load(std::memory_order_acquire); slot != nullptr;
       slot = slot->next) {
    bool expected = false;
    if (slot->claimed.compare_exchange_strong(expected, true, std::memory_order_acquire,
                                              std::memory_order_relaxed))
      return slot;
  }
  return nullptr;
}

ThreadSlot* AddSlot() {
  ThreadSlot* slot = new ThreadSlot(next_slot_index.fetch_add(1, std::memory_order_relaxed));
  slot->next = newest_slot.load(std::memory_order_relaxed);
  while (!newest_slot.compare_exchange_weak(slot->next, slot, std::memory_order_release,
                                            std::memory_order_relaxed)) {
  }
  return slot;
}

void GiveBackSlot(void* argument) {
  ThreadSlot* slot = static_cast<ThreadSlot*>(argument);
  for (const EpochWord* word = &slot->epoch; word != nullptr;
       word = word->next.load(std::memory_order_relaxed))
    ASHLAR_ASSERT(word->depth == 0 && word->epoch.load(std::memory_order_relaxed) == 0);  // I3
  internal::current_slot = nullptr;
  slot->claimed.store(false, std::memory_order_release);
}

}  // namespace

namespace internal {

ThreadSlot& ClaimThreadSlot() {
  ThreadSlot* slot = ClaimUnusedSlot();
  if (slot == nullptr) slot = AddSlot();
  ASHLAR_DCHECK(slot->claimed.load(std::memory_order_relaxed));  // I1
  ASHLAR_DCHECK(slot->epoch.depth == 0);                         // I3
  try {
    RunAtThreadExit(&GiveBackSlot, slot);
  } catch (const std::bad_alloc&) {
    slot->claimed.store(false, std::memory_order_release);
    throw;
  }
  current_slot = slot;
  return *slot;
}

}  // namespace internal

void RunAtThreadExit(void (*function)(void*), void* argument) {
  if (__cxa_thread_atexit(function, argument, &__dso_handle) != 0) throw std::bad_alloc();
}

// The acquire pairs with the release in AddSlot. Earlier slots were published by the same chain of
// read-modify-writes.
ThreadSlot* FirstThreadSlot() { return newest_slot.load(std::memory_order_acquire); }

Result<Thread> Thread::Start(const ThreadOptions& options, std::function<void()> body) {
  auto run = [options, body = std::move(body)] {
    IgnoreBadAlloc([&] { DescribeCurrentThread(options); });  // only name and priority are lost
    body();
  };
  try {
    return Thread(std::thread(std::move(run)));
  } catch (const std::system_error& error) {
    return Status::TryAgain(StrCat("start thread ", options.name), error.code().message());
  }
}

Thread::~Thread() { ASHLAR_ASSERT(!thread_.joinable()); }  // Requires: Join

Thread& Thread::operator=(Thread&& other) noexcept {
  ASHLAR_ASSERT(!thread_.joinable());  // Requires
  thread_ = std::move(other.thread_);
  return *this;
}

void Thread::Join() { thread_.join(); }

void YieldThread() { std::this_thread::yield(); }

}  // namespace ashlar

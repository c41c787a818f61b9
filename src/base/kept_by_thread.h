// KeptByThread: an object that a thread makes at its first use, and keeps until it ends.
//
//   const KeptByThread<Scan> kept;      the calling thread's object, for one call
//   Scan& scan = *kept;
//
// Unlike a thread_local object it may be used while other thread-local objects are destroyed and,
// on the main thread, by destructors of static objects: a database may be read and closed there.
// Each use then makes an object of its own.
//
// I1: an object is not used after its destruction.
//
// Requires: no two of one T are used at once in a thread. Thread safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>

namespace ashlar {

template <typename T>
class KeptByThread {
 public:
  KeptByThread() : object_(Find(&own_)) {}
  KeptByThread(const KeptByThread&) = delete;
  KeptByThread& operator=(const KeptByThread&) = delete;

  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 private:
  enum class State : uint8_t { kNone, kKept, kEnded };
  // It has no destructor, so its state can be read until the thread is gone.
  struct Place {
    T* object() { return std::launder(reinterpret_cast<T*>(memory)); }

    alignas(T) std::byte memory[sizeof(T)] = {};
    State state = State::kNone;
  };
  static Place& PlaceOfThread() {
    static constinit thread_local Place place;
    return place;
  }
  // Made with the object. Destroys it when the thread ends.
  struct End {
    ~End() {
      Place& place = PlaceOfThread();
      place.state = State::kEnded;
      std::destroy_at(place.object());
    }
  };

  static T* Find(std::optional<T>* own) {
    Place& place = PlaceOfThread();
    if (place.state == State::kKept) [[likely]]
      return place.object();
    if (place.state == State::kEnded) return &own->emplace();  // I1
    new (place.memory) T;
    place.state = State::kKept;
    static thread_local const End end;
    static_cast<void>(&end);
    return place.object();
  }

  mutable std::optional<T> own_;  // the object, once that of the thread was destroyed
  T* const object_;
};

}  // namespace ashlar

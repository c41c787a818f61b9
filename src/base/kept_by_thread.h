// KeptByThread: an object that a thread makes at its first use and keeps until the thread ends.
//
//   const KeptByThread<Scan> kept;      the calling thread's object, for one call
//   Scan& scan = *kept;
//
// Unlike a thread_local object, it may be used while other thread-local objects are destroyed. On
// the main thread, destructors of static objects, which may read and close a database, may use it
// too. Each such use constructs its own object.
//
// I1: an object is not used after its destruction.
//
// Requires: a thread never uses two of the same T at once. Thread safety: one thread.
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
  // It has no destructor, so its state can be read until the thread has ended.
  struct Place {
    T* object() { return std::launder(reinterpret_cast<T*>(memory)); }

    alignas(T) std::byte memory[sizeof(T)] = {};
    State state = State::kNone;
  };
  static Place& PlaceOfThread() {
    static constinit thread_local Place place;
    return place;
  }
  // Constructed with the object. Destroys it when the thread ends.
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

  mutable std::optional<T> own_;  // the object, if the thread's was destroyed
  T* const object_;
};

}  // namespace ashlar

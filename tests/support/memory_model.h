// MemoryModel: models lock-free code by every execution of a few short threads under C++'s release
// and acquire. Explore calls a setup that creates places and starts threads (coroutines), and runs
// them in each way that differs. memory_model_test.cc shows how.
//
// A place keeps all values that were stored to it. A thread's view is the oldest value of each
// place that it may still load. A load may return any value from there on, each in its own
// execution. A release store carries the view of its thread, which an acquire load takes over. So a
// load may return an older value than the last store's, as if that were in a store buffer.
//
// I1: of executions that differ only in the order of independent steps, one is run (sleep sets).
// I2: stores to one place take effect in the order in which they are run, and no load sees a store
//     that runs later. A model of code that depends on more reorderings than that proves nothing.
//
// Thread safety: one thread. Lifetime: a ModelThread ends with its execution.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ashlar {

enum class ModelOrder : uint8_t { kRelaxed, kAcquire, kRelease, kAcqRel };

// The coroutine of a thread. It is a lambda whose captures live as long as the model's Start.
class ModelThread {
 public:
  struct promise_type {
    ModelThread get_return_object() {
      return ModelThread(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  using Handle = std::coroutine_handle<promise_type>;

  explicit ModelThread(Handle handle) : handle_(handle) {}
  ModelThread(ModelThread&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  ModelThread& operator=(ModelThread&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~ModelThread() {
    if (handle_) handle_.destroy();
  }
  Handle handle() const { return handle_; }

 private:
  Handle handle_;
};

class MemoryModel {
 public:
  using Order = ModelOrder;
  struct Place {
    size_t index = 0;
  };
  struct Outcome {
    uint64_t executions = 0;
    uint64_t failures = 0;      // executions in which an Expect failed, or all threads waited
    std::string first_failure;  // the steps of the first of them
  };
  using Body = std::function<ModelThread(MemoryModel*)>;

  static Outcome Explore(const std::function<void(MemoryModel*)>& setup);

  MemoryModel(const MemoryModel&) = delete;
  MemoryModel& operator=(const MemoryModel&) = delete;

  // Requires: the execution has not started.
  Place NewPlace(std::string name, int64_t value);
  void Start(std::string name, Body body);
  // Runs when all threads have ended.
  void AtEnd(std::function<void(MemoryModel*)> check) { at_end_ = std::move(check); }

  // The steps of a thread, which must co_await them.
  auto Load(Place place, Order order) {
    return Step{this, {.kind = Kind::kLoad, .place = place, .order = order}};
  }
  auto Store(Place place, int64_t value, Order order) {
    return Step{this, {.kind = Kind::kStore, .place = place, .order = order, .value = value}};
  }
  // Returns the value before the addition.
  auto FetchAdd(Place place, int64_t value, Order order) {
    return Step{this, {.kind = Kind::kAdd, .place = place, .order = order, .value = value}};
  }
  auto Exchange(Place place, int64_t value, Order order) {
    return Step{this, {.kind = Kind::kExchange, .place = place, .order = order, .value = value}};
  }
  auto Fence(Order order) { return Step{this, {.kind = Kind::kFence, .order = order}}; }
  // A full fence of every thread (platform/asymmetric_fence.h). The light fence needs no step.
  auto HeavyFence() { return Step{this, {.kind = Kind::kHeavyFence}}; }
  // Waits until is_wanted accepts the last value of the place, and acquires that value's view.
  auto Await(Place place, bool (*is_wanted)(int64_t value)) {
    return Step{this, {.kind = Kind::kAwait, .place = place, .is_wanted = is_wanted}};
  }
  // The last value, regardless of the thread's view. For checks such as use after free.
  auto Now(Place place) { return Step{this, {.kind = Kind::kNow, .place = place}}; }

  void Expect(bool holds) { failed_ |= !holds; }
  // The last value. For AtEnd.
  int64_t Final(Place place) const { return places_[place.index].values.back().value; }

 private:
  enum class Kind : uint8_t { kLoad, kStore, kAdd, kExchange, kFence, kHeavyFence, kAwait, kNow };
  using View = std::vector<size_t>;  // the index of the oldest value that may be loaded, by place

  struct Operation {
    Kind kind = Kind::kFence;
    Place place = {};
    Order order = Order::kRelaxed;
    int64_t value = 0;
    bool (*is_wanted)(int64_t value) = nullptr;
  };
  struct Step {
    MemoryModel* model;
    Operation operation;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const { model->Announce(operation); }
    int64_t await_resume() const { return model->result_; }
  };
  struct Value {
    int64_t value;
    View view;
  };
  struct PlaceState {
    std::string name;
    std::vector<Value> values;
  };
  struct Thread {
    std::string name;
    Body body;
    ModelThread coroutine;
    Operation next;
    View view;      // for loads and release stores
    View acquired;  // what an acquire fence takes over
    View released;  // the view at the last release fence
    bool ended = false;
  };
  // One decision of an execution: which thread runs next, or which value a load returns.
  struct Choice {
    std::vector<size_t> options;
    size_t taken = 0;
    std::vector<size_t> asleep;  // threads that need not run here
  };

  MemoryModel() = default;
  void Announce(const Operation& operation) { threads_[running_].next = operation; }
  void Resume(size_t thread);
  bool IsEnabled(const Thread& thread) const;
  bool AreIndependent(const Operation& a, const Operation& b) const;
  size_t Choose(std::vector<size_t> options, const std::vector<size_t>& asleep);
  // Returns true if the execution ended, false if other executions cover it.
  bool Run();
  void Execute(size_t thread);
  void TakeOver(Thread* thread, const Value& value, bool acquires);
  void Append(Thread* thread, Place place, int64_t value, bool releases, const View* before);
  void Log(const Thread& thread, const Operation& operation);

  std::vector<PlaceState> places_;
  std::vector<Thread> threads_;
  std::function<void(MemoryModel*)> at_end_;
  size_t running_ = 0;
  int64_t result_ = 0;
  bool failed_ = false;
  std::string steps_;
  std::vector<Choice>* choices_ = nullptr;
  size_t depth_ = 0;
};

}  // namespace ashlar

#include "tests/support/memory_model.h"

#include <algorithm>
#include <memory>

#include "base/assert.h"
#include "base/format.h"

namespace ashlar {

namespace {

void Join(std::vector<size_t>* to, const std::vector<size_t>& from) {
  for (size_t i = 0; i < from.size(); ++i) (*to)[i] = std::max((*to)[i], from[i]);
}

}  // namespace

MemoryModel::Outcome MemoryModel::Explore(const std::function<void(MemoryModel*)>& setup) {
  Outcome outcome;
  std::vector<Choice> choices;
  for (;;) {
    const std::unique_ptr<MemoryModel> model(new MemoryModel);
    model->choices_ = &choices;
    setup(model.get());
    if (model->Run()) {
      ++outcome.executions;
      if (model->failed_ && outcome.failures++ == 0) outcome.first_failure = model->steps_;
    }
    // Finds the last decision that has another option.
    while (!choices.empty() && choices.back().taken + 1 == choices.back().options.size())
      choices.pop_back();
    if (choices.empty()) return outcome;
    ++choices.back().taken;
  }
}

MemoryModel::Place MemoryModel::NewPlace(std::string name, int64_t value) {
  ASHLAR_ASSERT(threads_.empty());  // a view has one number for each place
  places_.push_back({.name = std::move(name), .values = {}});
  places_.back().values.push_back({.value = value, .view = {}});
  return {places_.size() - 1};
}

void MemoryModel::Start(std::string name, Body body) {
  const View nothing(places_.size(), 0);
  threads_.push_back({.name = std::move(name),
                      .body = std::move(body),
                      .coroutine = ModelThread(ModelThread::Handle()),
                      .next = {},
                      .view = nothing,
                      .acquired = nothing,
                      .released = nothing});
}

void MemoryModel::Resume(size_t thread) {
  running_ = thread;
  const ModelThread::Handle handle = threads_[thread].coroutine.handle();
  handle.resume();
  threads_[thread].ended = handle.done();
}

bool MemoryModel::IsEnabled(const Thread& thread) const {
  if (thread.ended) return false;
  return thread.next.kind != Kind::kAwait || thread.next.is_wanted(Final(thread.next.place));
}

bool MemoryModel::AreIndependent(const Operation& a, const Operation& b) const {
  if (a.kind == Kind::kHeavyFence || b.kind == Kind::kHeavyFence) return false;
  if (a.kind == Kind::kFence || b.kind == Kind::kFence) return true;
  if (a.place.index != b.place.index) return true;
  const auto only_reads = [](const Operation& operation) {
    return operation.kind == Kind::kLoad || operation.kind == Kind::kAwait ||
           operation.kind == Kind::kNow;
  };
  return only_reads(a) && only_reads(b);
}

size_t MemoryModel::Choose(std::vector<size_t> options, const std::vector<size_t>& asleep) {
  if (depth_ == choices_->size())
    choices_->push_back({.options = std::move(options), .taken = 0, .asleep = asleep});
  const Choice& choice = (*choices_)[depth_++];
  return choice.options[choice.taken];
}

bool MemoryModel::Run() {
  for (PlaceState& place : places_) place.values.front().view.assign(places_.size(), 0);
  for (size_t i = 0; i < threads_.size(); ++i) {
    threads_[i].coroutine = threads_[i].body(this);
    Resume(i);
  }
  std::vector<size_t> asleep;
  for (;;) {
    std::vector<size_t> enabled;
    bool all_ended = true;
    for (size_t i = 0; i < threads_.size(); ++i) {
      all_ended &= threads_[i].ended;
      if (IsEnabled(threads_[i])) enabled.push_back(i);
    }
    if (enabled.empty()) {
      if (!all_ended) Expect(false);
      if (all_ended && at_end_) at_end_(this);
      return true;
    }
    std::erase_if(enabled, [&](size_t thread) {
      return std::find(asleep.begin(), asleep.end(), thread) != asleep.end();
    });
    if (enabled.empty()) return false;
    const size_t decision = depth_;
    const size_t thread = Choose(std::move(enabled), asleep);
    // I1: executions that earlier options of this decision explored need not be explored again,
    // until a dependent step runs.
    const Choice& choice = (*choices_)[decision];
    std::vector<size_t> sleepers = choice.asleep;
    sleepers.insert(sleepers.end(), choice.options.begin(),
                    choice.options.begin() + static_cast<ptrdiff_t>(choice.taken));
    const Operation operation = threads_[thread].next;
    std::erase_if(sleepers, [&](size_t sleeper) {
      return !AreIndependent(threads_[sleeper].next, operation);
    });
    asleep = std::move(sleepers);
    Execute(thread);
    Log(threads_[thread], operation);
    Resume(thread);
  }
}

void MemoryModel::TakeOver(Thread* thread, const Value& value, bool acquires) {
  Join(&thread->acquired, value.view);
  if (acquires) Join(&thread->view, value.view);
}

// before: the view of the value that an atomic change replaces, whose release it continues.
void MemoryModel::Append(Thread* thread, Place place, int64_t value, bool releases,
                         const View* before) {
  std::vector<Value>& values = places_[place.index].values;
  View view = releases ? thread->view : thread->released;
  if (before != nullptr) Join(&view, *before);
  view[place.index] = thread->view[place.index] = values.size();
  values.push_back({.value = value, .view = std::move(view)});
}

void MemoryModel::Execute(size_t index) {
  Thread& thread = threads_[index];
  const Operation operation = thread.next;
  const size_t place = operation.place.index;
  const bool acquires = operation.order == Order::kAcquire || operation.order == Order::kAcqRel;
  const bool releases = operation.order == Order::kRelease || operation.order == Order::kAcqRel;
  switch (operation.kind) {
    case Kind::kLoad: {
      std::vector<size_t> visible;
      for (size_t i = places_[place].values.size(); i-- > thread.view[place];) visible.push_back(i);
      const size_t seen = visible.size() == 1 ? visible.front() : Choose(std::move(visible), {});
      thread.view[place] = seen;
      const Value value = places_[place].values[seen];
      result_ = value.value;
      TakeOver(&thread, value, acquires);
      return;
    }
    case Kind::kStore: return Append(&thread, operation.place, operation.value, releases, nullptr);
    case Kind::kAdd:
    case Kind::kExchange: {
      const Value before = places_[place].values.back();
      result_ = before.value;
      TakeOver(&thread, before, acquires);
      const int64_t after =
          operation.kind == Kind::kAdd ? before.value + operation.value : operation.value;
      return Append(&thread, operation.place, after, releases, &before.view);
    }
    case Kind::kFence:
      if (acquires) Join(&thread.view, thread.acquired);
      if (releases) thread.released = thread.view;
      return;
    case Kind::kHeavyFence:
      for (Thread& each : threads_) {
        for (size_t i = 0; i < places_.size(); ++i) each.view[i] = places_[i].values.size() - 1;
      }
      return;
    case Kind::kAwait:
    case Kind::kNow: {
      const Value value = places_[place].values.back();
      result_ = value.value;
      if (operation.kind == Kind::kNow) return;
      thread.view[place] = places_[place].values.size() - 1;
      return TakeOver(&thread, value, true);
    }
  }
}

void MemoryModel::Log(const Thread& thread, const Operation& operation) {
  const auto name = [&] { return places_[operation.place.index].name; };
  StrAppend(&steps_, thread.name, ": ");
  switch (operation.kind) {
    case Kind::kLoad: StrAppend(&steps_, name(), " is ", result_); break;
    case Kind::kStore: StrAppend(&steps_, name(), " = ", operation.value); break;
    case Kind::kAdd: StrAppend(&steps_, name(), " += ", operation.value); break;
    case Kind::kExchange: StrAppend(&steps_, name(), " becomes ", operation.value); break;
    case Kind::kFence: StrAppend(&steps_, "fence"); break;
    case Kind::kHeavyFence: StrAppend(&steps_, "heavy fence"); break;
    case Kind::kAwait: StrAppend(&steps_, "waited until ", name(), " is ", result_); break;
    case Kind::kNow: StrAppend(&steps_, name(), " is now ", result_); break;
  }
  StrAppend(&steps_, "\n");
}

}  // namespace ashlar

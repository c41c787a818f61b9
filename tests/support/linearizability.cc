#include "tests/support/linearizability.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/assert.h"
#include "base/format.h"

namespace ashlar::test {
namespace {

using Value = std::optional<std::string>;

// The value after the call, or none if the call did not return the expected value.
std::optional<Value> Step(const RecordedCall& call, const Value& before) {
  switch (call.kind) {
    case RecordedCall::Kind::kPut: return call.value;
    case RecordedCall::Kind::kDelete: return Value();
    case RecordedCall::Kind::kMerge:
      return Value(before.has_value() ? *before + "," + *call.value : *call.value);
    case RecordedCall::Kind::kGet:
      return call.value == before ? std::optional<Value>(before) : std::nullopt;
  }
  return std::nullopt;
}

std::string Text(const RecordedCall& call) {
  static constexpr const char* kNames[] = {"Put", "Delete", "Merge", "Get"};
  return StrCat(kNames[static_cast<size_t>(call.kind)], " ", call.value.value_or("(none)"), " [",
                call.begin, ", ", call.end, "]");
}

// The begins and ends of calls in temporal order, in a list from which calls are removed.
class Search {
 public:
  Search(const std::vector<RecordedCall>& calls, Value initial)
      : calls_(calls), value_(std::move(initial)), taken_(calls.size()) {
    std::vector<std::pair<uint64_t, size_t>> moments;  // time, event
    for (size_t i = 0; i < calls.size(); ++i) {
      ASHLAR_ASSERT(calls[i].begin < calls[i].end);
      moments.emplace_back(calls[i].begin, BeginOf(i));
      moments.emplace_back(calls[i].end, EndOf(i));
    }
    std::sort(moments.begin(), moments.end());
    const size_t head = Head();
    next_.resize(head + 1);
    previous_.resize(head + 1);
    size_t last = head;
    for (const auto& [time, event] : moments) {
      next_[last] = event;
      previous_[event] = last;
      last = event;
    }
    next_[last] = head;
    previous_[head] = last;
  }

  // Returns the index of the call that the longest order cannot take, or none.
  std::optional<size_t> Run() {
    size_t event = next_[Head()];
    std::optional<size_t> failed;
    while (next_[Head()] != Head()) {
      if (IsBegin(event)) {
        if (Take(event / 2)) {
          event = next_[Head()];
        } else {
          event = next_[event];
        }
        continue;
      }
      // This call has ended, and nothing before it can be taken first.
      if (!failed.has_value() || calls_[event / 2].end > calls_[*failed].end) failed = event / 2;
      if (stack_.empty()) return failed;
      event = next_[GoBack()];
    }
    return std::nullopt;
  }

 private:
  struct Taken {
    size_t call;
    Value before;
  };

  size_t Head() const { return 2 * calls_.size(); }
  static size_t BeginOf(size_t call) { return 2 * call; }
  static size_t EndOf(size_t call) { return 2 * call + 1; }
  static bool IsBegin(size_t event) { return event % 2 == 0; }

  bool Take(size_t call) {
    const std::optional<Value> after = Step(calls_[call], value_);
    if (!after.has_value()) return false;
    taken_[call] = true;
    if (!seen_.emplace(State(*after)).second) {
      taken_[call] = false;
      return false;
    }
    stack_.push_back({call, std::exchange(value_, *after)});
    Unlink(BeginOf(call));
    Unlink(EndOf(call));
    return true;
  }
  // A key of the calls taken and the value. It is short: nearly all calls taken precede the others.
  std::string State(const Value& value) const {
    const auto first = std::find(taken_.begin(), taken_.end(), false);
    std::string state = StrCat(first - taken_.begin(), value.has_value() ? "=" : "-");
    const auto last = std::find(taken_.rbegin(), taken_.rend(), true).base();
    for (auto it = first; it < last; ++it) state.push_back(*it ? '1' : '0');
    return state + value.value_or("");
  }
  // Puts the last call back. Returns its begin event.
  size_t GoBack() {
    const Taken last = std::move(stack_.back());
    stack_.pop_back();
    taken_[last.call] = false;
    value_ = last.before;
    Relink(EndOf(last.call));
    Relink(BeginOf(last.call));
    return BeginOf(last.call);
  }
  void Unlink(size_t event) {
    next_[previous_[event]] = next_[event];
    previous_[next_[event]] = previous_[event];
  }
  void Relink(size_t event) {
    next_[previous_[event]] = event;
    previous_[next_[event]] = event;
  }

  const std::vector<RecordedCall>& calls_;
  Value value_;
  std::vector<bool> taken_;
  std::unordered_set<std::string> seen_;
  std::vector<Taken> stack_;
  std::vector<size_t> next_;
  std::vector<size_t> previous_;
};

}  // namespace

std::string CheckLinearizable(std::vector<RecordedCall> calls, std::optional<std::string> initial) {
  std::sort(calls.begin(), calls.end(),
            [](const RecordedCall& a, const RecordedCall& b) { return a.begin < b.begin; });
  const std::optional<size_t> failed = Search(calls, std::move(initial)).Run();
  if (!failed.has_value()) return {};
  // Also lists the calls that ran concurrently.
  std::string text = "no order takes " + Text(calls[*failed]) + "; at the same time:";
  for (const RecordedCall& call : calls) {
    if (call.end > calls[*failed].begin && call.begin < calls[*failed].end)
      text += "\n  " + Text(call);
  }
  return text;
}

}  // namespace ashlar::test

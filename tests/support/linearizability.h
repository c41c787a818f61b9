// Linearizability: calls on one key are linearizable if some order of them exists in which each
// call takes effect at one moment between its begin and its end, and each read returns the value at
// that moment.
//
//   thread 1   |--Put 1--|        |--Get: 1--|
//   thread 2        |------Put 2-------|          |--Get: 2--|      yes: 1, Get, 2, Get
//   thread 2        |--Put 2--|                   |--Get: 1--|      no: 2 was there before
//
// Wing and Gong's search with Lowe's memoization. It takes calls in the order of their begins,
// backtracks when a call has ended before any order could take it, and never visits a set of calls
// with one value twice. It is fast if few calls overlap, whatever the length.
//
// Thread safety: any number of threads may use a Recorder, each with its own Log. CheckLinearizable
// is pure.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ashlar::test {

struct RecordedCall {
  enum class Kind : uint8_t { kPut, kDelete, kMerge, kGet };
  Kind kind;
  std::optional<std::string> value;  // written, appended with a comma, or read; none: not found
  uint64_t begin;                    // moments; only reads or writes of one call may share them
  uint64_t end;
};

// The calls on each key.
using CallsByKey = std::map<std::string, std::vector<RecordedCall>>;

class HistoryRecorder {
 public:
  // The calls of one thread.
  class Log {
   public:
    explicit Log(HistoryRecorder* recorder) : recorder_(*recorder) {}

    uint64_t Begin() { return recorder_.Tick(); }
    uint64_t End() { return recorder_.Tick(); }
    void Add(const std::string& key, RecordedCall call) { calls_[key].push_back(std::move(call)); }
    const CallsByKey& calls() const { return calls_; }

   private:
    HistoryRecorder& recorder_;
    CallsByKey calls_;
  };

 private:
  uint64_t Tick() { return clock_.fetch_add(1); }

  std::atomic<uint64_t> clock_{0};
};

// Returns an empty string if the calls are linearizable starting at `initial`, otherwise the first
// call that no order can take, as text.
std::string CheckLinearizable(std::vector<RecordedCall> calls, std::optional<std::string> initial);

}  // namespace ashlar::test

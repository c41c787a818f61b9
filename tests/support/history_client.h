// HistoryClient: one thread that makes calls, drawn from a seed, on a few keys of an engine. It
// records the results for CheckLinearizable (linearizability.h). Each engine has its own client:
// database_client.h, tree_client.h.
//
// A pair is two entries to which one batch writes the same value. It is recorded as one key,
// because the batch takes effect at the same moment for both.
//
// Thread safety: one thread until it has ended.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "base/random.h"
#include "tests/support/expect_ok.h"
#include "tests/support/linearizability.h"

namespace ashlar::test {

class HistoryClient {
 public:
  virtual ~HistoryClient() = default;
  HistoryClient(const HistoryClient&) = delete;
  HistoryClient& operator=(const HistoryClient&) = delete;

  void Run(int calls);
  const CallsByKey& calls() const { return log_.calls(); }

 protected:
  using Kind = RecordedCall::Kind;
  using Value = std::optional<std::string>;

  HistoryClient(HistoryRecorder* recorder, uint64_t keys, uint64_t seed);

  static std::string KeyOf(uint64_t number);
  // The key under which a pair is recorded.
  static std::string PairOf(const std::string& key);
  // Returns none for NotFound. Any other error is a test failure.
  static Value Found(const Status& status, const Slice& value);

  // Makes one call on this key or with this value. `which`, in [0, kKinds), selects the call.
  static constexpr uint64_t kKinds = 12;
  virtual void Call(uint64_t which, const std::string& key, const std::string& value) = 0;

  // Makes and records a call that writes one key.
  template <typename Write>
  void Record(const std::string& key, Kind kind, Value value, const Write& write) {
    const uint64_t begin = log_.Begin();
    EXPECT_OK(write());
    log_.Add(key, {kind, std::move(value), begin, log_.End()});
  }
  // Makes and records a call that reads one key; read(&value) returns its Status.
  template <typename Read>
  void RecordGet(const std::string& key, const Read& read) {
    const uint64_t begin = log_.Begin();
    std::string value;
    const Status status = read(&value);
    log_.Add(key, {Kind::kGet, Found(status, value), begin, log_.End()});
  }

  HistoryRecorder::Log log_;
  const uint64_t keys_;
  Random random_;

 private:
  const std::string name_;
};

// Values by the keys under which calls are recorded.
using HistoryContents = std::map<std::string, std::string>;

// Expects the calls of all clients on each key to be linearizable, starting at the contents
// `before` and ending at the contents `after`.
void ExpectLinearizable(const std::vector<std::unique_ptr<HistoryClient>>& clients,
                        const HistoryContents& before, const HistoryContents& after);

}  // namespace ashlar::test

// HistoryClient: one thread's calls on a few keys of two families, drawn from a seed, and what they
// returned, recorded for CheckLinearizable (linearizability.h). What one batch wrote to both
// families is expected to be seen together.
//
// Thread safety: one thread, until it has ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ashlar/db.h"
#include "base/random.h"
#include "tests/support/linearizability.h"

namespace ashlar::test {

class HistoryClient {
 public:
  // The families are two of the database, which has StringAppendOperator with a comma.
  HistoryClient(DB* db, ColumnFamilyHandle* first, ColumnFamilyHandle* second,
                HistoryRecorder* recorder, uint64_t keys, uint64_t seed);

  void Run(int calls);
  const CallsByKey& calls() const { return log_.calls(); }

 private:
  using Value = std::optional<std::string>;

  template <typename Call>
  void Record(const std::string& key, RecordedCall::Kind kind, Value value, const Call& call);
  void ReadOne(const std::string& key);
  void WritePair(const std::string& key, const std::string& value);
  void ReadPair(const std::string& key);
  void ReadByIterators();
  void ReadAtSnapshot(const std::string& key);
  void ReadMany();

  DB* const db_;
  ColumnFamilyHandle* const families_[2];
  HistoryRecorder::Log log_;
  const uint64_t keys_;
  Random random_;
  const std::string name_;
};

}  // namespace ashlar::test

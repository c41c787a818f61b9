// DatabaseClient: the HistoryClient of a DB with two families. A pair is one key in both families.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/db.h"
#include "tests/support/history_client.h"

namespace ashlar::test {

class DatabaseClient final : public HistoryClient {
 public:
  // kOfRanges: every second deletion is a range deletion of all keys, recorded as one of each key.
  enum class Deletions : uint8_t { kOfKeys, kOfRanges };

  // Both families belong to the database, the first is its default family, and both have
  // StringAppendOperator with a comma.
  DatabaseClient(DB* db, ColumnFamilyHandle* second, HistoryRecorder* recorder, uint64_t keys,
                 uint64_t seed, Deletions deletions);

  // The contents of a database with `keys` keys and as many pairs. Expects the two halves of each
  // pair to be equal.
  static HistoryContents Contents(DB* db, ColumnFamilyHandle* second, uint64_t keys);

 private:
  void Call(uint64_t which, const std::string& key, const std::string& value) override;
  void Delete(const std::string& key);
  void WritePair(const std::string& pair, const std::string& value);
  void ReadPair(const std::string& pair);
  void ReadByIterators();
  void ReadAtSnapshot(const std::string& key);
  void ReadMany();

  DB* const db_;
  ColumnFamilyHandle* const families_[2];
  const Deletions deletions_;
  uint64_t deleted_ = 0;  // calls of Delete
};

}  // namespace ashlar::test

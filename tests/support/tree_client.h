// TreeClient: the HistoryClient of a persistent tree. A pair is two keys in distant leaves. Fillers
// are keys that fill the leaves, so that a few inserts split them:
//
//   key/00 ... key/45 key0 key1 | left of key/00 ... left of key0 | right of key/00 ...
//   \___ fillers ___/ \_ keys _/   \__ fillers __/  \__ halves of pairs __/
//
// Each call, including a range deletion, is recorded under all keys that it reads or writes. Each
// key that an iterator skips or shows is a separate read between the begin and the end of the move.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/persistent_tree.h"
#include "tests/support/history_client.h"

namespace ashlar::test {

class TreeClient final : public HistoryClient {
 public:
  // Requires: at most 10 keys.
  TreeClient(PersistentTree* tree, HistoryRecorder* recorder, uint64_t keys, uint64_t seed);

  // Puts enough fillers into an empty tree that each of three leaves is nearly full.
  static void Fill(PersistentTree* tree);
  // The contents of a tree. Expects iterators to return them in order, and both halves of each pair
  // to be equal.
  static HistoryContents Contents(PersistentTree* tree);

 private:
  void Call(uint64_t which, const std::string& key, const std::string& value) override;
  void Put(const std::string& entry, const std::string& value);
  void Delete(const std::string& entry);
  void Read(const std::string& recorded_key, const std::string& entry);
  void PutManyFillers(const std::string& value);
  void WritePair(const std::string& key, const std::string& value);
  void DeleteRanges();
  // Deletes each range [first, second) in one call.
  void DeleteRanges(const std::vector<std::pair<std::string, std::string>>& ranges);
  void ReadPair(const std::string& key);
  void ReadPinned(const std::string& key, const std::string& value);
  void ReadMany();
  void Scan(bool forward);

  // All entries that clients put, in order.
  std::vector<std::string> Entries() const;
  // Returns the entry's own key or, for half of a pair, the key of the pair.
  static std::string RecordedKeyOf(const Slice& entry);
  std::string DrawFiller();

  PersistentTree* const tree_;
};

}  // namespace ashlar::test

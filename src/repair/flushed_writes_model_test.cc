// Compares FlushedWrites with a model. Random histories of one family have values, deletions,
// operands, flushes and compactions. A repair finds their tables and their last logs.
//
//   history -> tables, logs -> TakeVersion, Note, Holds -> tables and missing writes -> contents
//
// I1: the contents of a key are those of the history, if no table with the key is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "repair/flushed_writes.h"

namespace ashlar {
namespace {

// The missing part: the edit of the last flush, the MANIFEST, a table, or the last two of these.
enum class Found { kAll, kFlushWithoutEdit, kNoManifest, kATableLess, kNeither, kCount };

enum class Change { kValue, kDeletion, kOperand };

struct Entry {
  uint64_t key = 0;
  SequenceNumber sequence = 0;
  Change change = Change::kValue;
  std::string text;
};
using Table = std::vector<Entry>;

struct Log {
  FileNumber number = 0;
  Table writes;
};

LoggedWrite WriteOf(const Entry& entry) {
  return {.sequence = entry.sequence,
          .key_hash = entry.key,
          .kind = entry.change == Change::kOperand ? LoggedWrite::Kind::kMerge
                                                   : LoggedWrite::Kind::kPoint};
}

// Sorts by key, newest first. A result of a merge is before an operand with the same sequence.
void Sort(Table* table) {
  std::sort(table->begin(), table->end(), [](const Entry& a, const Entry& b) {
    if (a.key != b.key) return a.key < b.key;
    if (a.sequence != b.sequence) return a.sequence > b.sequence;
    return a.change < b.change;
  });
}

// Applies the entries. Operands are appended.
std::map<uint64_t, std::string> ContentsOf(Table entries) {
  Sort(&entries);
  std::map<uint64_t, std::string> contents;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    const auto newer = std::next(entry);
    const bool is_twice =
        newer != entries.rend() && newer->key == entry->key && newer->sequence == entry->sequence;
    if (is_twice) continue;
    if (entry->change == Change::kDeletion) {
      contents.erase(entry->key);
    } else if (entry->change == Change::kValue) {
      contents[entry->key] = entry->text;
    } else {
      contents[entry->key] += entry->text;
    }
  }
  return contents;
}

class History {
 public:
  History(Found found, uint64_t seed)
      : random_(seed),
        found_(found),
        sets_to_zero_(knows_logs() && random_.Uniform(2) == 0),
        merges_operands_(random_.Uniform(2) == 0) {
    const uint64_t steps = random_.Between(3, 30);
    for (uint64_t i = 0; i < steps; ++i) {
      const uint64_t step = random_.Uniform(10);
      if (step < 6) Write();
      if (step == 6 || step == 7) Flush();
      if (step > 7 && !tables_.empty()) Compact();
    }
    if (found_ == Found::kFlushWithoutEdit) Flush();
    LoseFiles();
  }

  void ExpectThatARepairRestoresIt() const {
    std::map<uint64_t, std::string> expected = ContentsOf(writes_);
    std::map<uint64_t, std::string> contents = ContentsOf(Repaired());
    for (const Entry& entry : lost_) {
      expected.erase(entry.key);
      contents.erase(entry.key);
    }
    EXPECT_EQ(contents, expected);
  }

 private:
  bool knows_logs() const { return found_ != Found::kNoManifest && found_ != Found::kNeither; }
  bool is_lossy() const { return found_ == Found::kATableLess || found_ == Found::kNeither; }

  // Returns the entries of the tables and the writes that the tables lack.
  Table Repaired() const {
    FlushedWrites flushed({.versions = VersionsOfLoggedKeys(),
                           .log_number = found_log_number_,
                           .knows_logs = knows_logs(),
                           .is_lossy = is_lossy()});
    for (const Log& log : logs_) {
      for (const Entry& write : log.writes) flushed.Note(WriteOf(write));
    }
    Table repaired;
    for (const Table& table : tables_) repaired.insert(repaired.end(), table.begin(), table.end());
    for (const Log& log : logs_) {
      for (const Entry& write : log.writes) {
        if (!flushed.Holds(log.number, WriteOf(write))) repaired.push_back(write);
      }
    }
    return repaired;
  }

  std::vector<KeyVersion> VersionsOfLoggedKeys() const {
    LoggedKeys logged;
    for (const Log& log : logs_) {
      for (const Entry& write : log.writes) logged.Add(WriteOf(write));
    }
    std::vector<KeyVersion> all;
    for (const Table& table : tables_) {
      std::vector<KeyVersion> versions;
      for (const Entry& entry : table) {
        logged.TakeVersion({.key_hash = entry.key,
                            .sequence = entry.sequence,
                            .is_operand = entry.change == Change::kOperand},
                           &versions);
      }
      all.insert(all.end(), versions.begin(), versions.end());
    }
    return all;
  }

  void Write() {
    const uint64_t kind = random_.Uniform(4);
    const Change change = kind == 0   ? Change::kDeletion
                          : kind == 1 ? Change::kValue
                                      : Change::kOperand;
    const SequenceNumber sequence = writes_.size() + 1;
    const Entry entry{.key = random_.Uniform(3) + 1,
                      .sequence = sequence,
                      .change = change,
                      .text = StrCat(sequence, ";")};
    for (Table* const place : {&writes_, &memtable_, &logs_.back().writes}) place->push_back(entry);
  }

  void Flush() {
    if (memtable_.empty()) return;
    tables_.push_back(Compacted(std::move(memtable_), false));
    memtable_.clear();
    previous_log_number_ = std::exchange(log_number_, log_number_ + 1);
    logs_.push_back({.number = log_number_, .writes = {}});
    newest_is_flushed_ = true;
  }

  void Compact() {
    newest_is_flushed_ = false;
    const size_t begin = random_.Uniform(tables_.size());
    const size_t end = random_.Between(begin + 1, tables_.size());
    Table inputs;
    for (size_t i = begin; i < end; ++i)
      inputs.insert(inputs.end(), tables_[i].begin(), tables_[i].end());
    tables_[begin] = Compacted(std::move(inputs), begin == 0);
    tables_.erase(tables_.begin() + static_cast<ptrdiff_t>(begin) + 1,
                  tables_.begin() + static_cast<ptrdiff_t>(end));
  }

  // If bottommost, there are no older versions. No snapshot holds a version.
  Table Compacted(Table inputs, bool bottommost) const {
    Sort(&inputs);
    Table outputs;
    for (size_t i = 0; i < inputs.size();) {
      // Collects the operands up to `next`, the value or deletion that precedes them.
      Entry result = inputs[i];
      std::string operands;
      size_t next = i;
      const auto is_of_key = [&] { return next < inputs.size() && inputs[next].key == result.key; };
      for (; is_of_key() && inputs[next].change == Change::kOperand; ++next)
        operands = inputs[next].text + operands;
      const bool has_base = is_of_key();
      const bool is_dropped = bottommost && next == i && result.change == Change::kDeletion;
      if (next > i && (has_base || bottommost)) {
        const bool has_value = has_base && inputs[next].change == Change::kValue;
        result.change = Change::kValue;
        result.text = StrCat(has_value ? inputs[next].text : "", operands);
      } else if (next > i && merges_operands_) {
        result.text = operands;
      } else if (next > i) {
        outputs.insert(outputs.end(), inputs.begin() + static_cast<ptrdiff_t>(i),
                       inputs.begin() + static_cast<ptrdiff_t>(next) - 1);
        result = inputs[next - 1];
      }
      if (bottommost && sets_to_zero_) result.sequence = 0;
      if (!is_dropped) outputs.push_back(result);
      while (is_of_key()) ++next;
      i = next;
    }
    return outputs;
  }

  void LoseFiles() {
    found_log_number_ = log_number_;
    if (found_ == Found::kFlushWithoutEdit && newest_is_flushed_)
      found_log_number_ = previous_log_number_;
    if (!knows_logs() && random_.Uniform(2) == 0) found_log_number_ = 0;
    if (is_lossy() && !tables_.empty()) {
      const size_t lost = random_.Uniform(tables_.size());
      lost_ = tables_[lost];
      tables_.erase(tables_.begin() + static_cast<ptrdiff_t>(lost));
    }
    // Logs that no family needs are deleted, oldest first.
    const FileNumber first =
        random_.Between(1, found_ == Found::kFlushWithoutEdit ? found_log_number_ : log_number_);
    std::erase_if(logs_, [first](const Log& log) { return log.number < first; });
  }

  Random random_;
  const Found found_;
  const bool sets_to_zero_;     // applies to sequences, in bottommost compactions
  const bool merges_operands_;  // even without an earlier value
  Table writes_;                // all of them
  Table memtable_;
  std::vector<Table> tables_;  // oldest first
  std::vector<Log> logs_ = {{.number = 1, .writes = {}}};
  FileNumber log_number_ = 1;
  FileNumber previous_log_number_ = 1;
  bool newest_is_flushed_ = false;  // the newest table is from a flush
  Table lost_;
  FileNumber found_log_number_ = 0;
};

TEST(FlushedWritesModelTest, ARepairRestoresEveryKeyOfWhichNoTableIsLost) {
  constexpr uint64_t kSeeds = 10000;
  for (int found = 0; found < static_cast<int>(Found::kCount); ++found) {
    for (uint64_t seed = 1; seed <= kSeeds && !HasFailure(); ++seed) {
      SCOPED_TRACE(StrCat("found ", found, ", seed ", seed));
      History(static_cast<Found>(found), seed).ExpectThatARepairRestoresIt();
    }
  }
}

}  // namespace
}  // namespace ashlar

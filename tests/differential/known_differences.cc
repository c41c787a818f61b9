#include "tests/differential/known_differences.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "tests/differential/text.h"

namespace ashlar::differential {

namespace {

using Answers = std::vector<std::string>;

// Texts that programs look for, as docs/compatibility.md promises them.
constexpr std::array<std::string_view, 6> kPromisedTexts = {
    "does not match existing comparator", "Merge operator failed",
    "Column families not opened",         "does not exist (create_if_missing is false)",
    "exists (error_if_exists is true)",   "Provide a merge_operator when opening DB",
};

// Sizes of tables depend on how entries are divided among blocks and files.
constexpr uint64_t kSizeSlackBytes = 64 << 10;

// A close loses the sequences of a few entries that cancel out, and an ingested file may take one.
constexpr uint64_t kLostSequencesMax = 16;

// Each library estimates a table's deletions, and tables that it has not read, in its own way. In
// most histories, a table that is counted twice or not at all differs by more.
constexpr uint64_t kEstimateSlackKeys = 8;

bool IsNumber(std::string_view answer) { return answer.starts_with("number "); }
bool IsAbout(std::string_view answer) { return answer.starts_with("about "); }

bool SizesAreAlike(const std::string&, const Answers&, const Answers& answers) {
  if (!std::all_of(answers.begin(), answers.end(), IsAbout)) return false;
  uint64_t smallest = UINT64_MAX, largest = 0;
  for (const std::string& answer : answers) {
    const uint64_t size = std::strtoull(answer.c_str() + std::string("about ").size(), nullptr, 10);
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
  }
  return largest - smallest <= largest / 2 + kSizeSlackBytes;
}

// Ashlar returns InvalidArgument, and RocksDB returns NotSupported.
bool LacksMergeOperator(const std::string& line, const Answers&, const Answers& answers) {
  return line.starts_with("merge ") &&
         std::all_of(answers.begin(), answers.end(), [](const std::string& answer) {
           return answer.find("Provide a merge_operator when opening DB") != std::string::npos;
         });
}

constexpr std::string_view kNewRelease = "rocksdb-11";
constexpr std::string_view kOldRelease = "rocksdb-7";

// Returns whether all libraries except `release` agree and `release` gives `answer`, or any answer
// if `answer` is null.
bool DiffersAlone(std::string_view release, const char* answer, const Answers& libraries,
                  const Answers& answers) {
  std::string_view common;
  bool found = false;
  for (size_t i = 0; i < libraries.size(); ++i) {
    if (libraries[i].starts_with(release)) {
      found = true;
      if (answer != nullptr && answers[i] != answer) return false;
    } else if (!common.empty() && answers[i] != common) {
      return false;
    } else {
      common = answers[i];
    }
  }
  return found;
}

bool RefusesRefresh(const std::string& line, const Answers& libraries, const Answers& answers) {
  return line.starts_with("move ") && line.find(" refresh") != std::string::npos &&
         DiffersAlone(kNewRelease, "error Not implemented", libraries, answers);
}

bool CountsDeletionsOnly(const std::string& line, const Answers& libraries,
                         const Answers& answers) {
  return line.starts_with("number ") && line.find("rocksdb.num-deletes-") != std::string::npos &&
         DiffersAlone(kOldRelease, nullptr, libraries, answers);
}

bool GuessesTheEmptyValue(const std::string& line, const Answers& libraries,
                          const Answers& answers) {
  if (!line.starts_with("mayexist ")) return false;
  for (size_t i = 0; i < libraries.size(); ++i) {
    const bool guesses = libraries[i].starts_with("rocksdb-") && answers[i] == "guessed %";
    if (!guesses && answers[i] != "ok") return false;
  }
  return true;
}

uint64_t NumberOf(const std::string& answer) {
  return std::strtoull(answer.c_str() + std::string("number ").size(), nullptr, 10);
}

// Each library also inherits the sequences of the library whose directory it reads.
bool SequencesAreClose(const std::string& line, const Answers&, const Answers& answers) {
  if (line != "sequence" || !std::all_of(answers.begin(), answers.end(), IsNumber)) return false;
  uint64_t smallest = UINT64_MAX, largest = 0;
  for (const std::string& answer : answers) {
    const uint64_t sequence = NumberOf(answer);
    smallest = std::min(smallest, sequence);
    largest = std::max(largest, sequence);
  }
  return largest - smallest <= kLostSequencesMax;
}

// RocksDB answers 0 until it has read a table. 7.8.3 samples some tables and extrapolates.
bool EstimatesAreClose(const std::string& line, const Answers& libraries, const Answers& answers) {
  if (!line.starts_with("force ") || !std::all_of(answers.begin(), answers.end(), IsNumber))
    return false;
  uint64_t smallest = UINT64_MAX, largest = 0;
  for (size_t i = 0; i < answers.size(); ++i) {
    const uint64_t keys = NumberOf(answers[i]);
    const bool has_not_looked = keys == 0 && libraries[i].starts_with("rocksdb-");
    if (has_not_looked || libraries[i].starts_with(kOldRelease)) continue;
    smallest = std::min(smallest, keys);
    largest = std::max(largest, keys);
  }
  return smallest > largest || largest - smallest <= kEstimateSlackKeys;
}

// Returns the place of the log's first batch, or UINT64_MAX if there is none.
uint64_t FirstPlace(const std::string& answer) {
  const size_t plus = answer.find('+');
  if (!answer.starts_with("batches ") || plus == std::string::npos) return UINT64_MAX;
  return std::strtoull(answer.c_str() + plus + 1, nullptr, 10);
}

// RocksDB's iterator begins after the sequence number, Ashlar's with the batch that contains it.
bool SkipsLogs(const std::string& line, const Answers& libraries, const Answers& answers) {
  constexpr std::string_view kVerb = "updates ";
  if (!line.starts_with(kVerb)) return false;
  const uint64_t since = std::strtoull(line.c_str() + kVerb.size(), nullptr, 10);
  std::string_view common;
  bool found = false;
  for (size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].ends_with(" ok")) return false;
    if (FirstPlace(answers[i]) > since) {
      if (!libraries[i].starts_with("rocksdb-")) return false;
      found = true;
    } else if (common.empty()) {
      common = answers[i];
    } else if (answers[i] != common) {
      return false;
    }
  }
  return found;
}

struct KnownDifference {
  bool (*applies)(const std::string& line, const Answers& libraries, const Answers& answers);
  std::string_view reason;
};

const KnownDifference kKnownDifferences[] = {
    {LacksMergeOperator, "Merge without an operator is InvalidArgument (docs/compatibility.md)"},
    {SizesAreAlike, "approximate sizes are approximate"},
    {RefusesRefresh, "RocksDB refuses the refresh of a read-only database's iterator"},
    {CountsDeletionsOnly, "7.8.3 does not count single deletions among a memtable's deletions"},
    {EstimatesAreClose, "estimates of the keys of tables are estimates"},
    {SequencesAreClose,
     "RocksDB's flush at a close forgets the sequences of entries it drops; an ingested file takes "
     "a number if it overlaps a table, which depends on compactions"},
    {GuessesTheEmptyValue, "RocksDB reports an empty value for a key that it has not read"},
    {SkipsLogs, "RocksDB's search for a log stops at a compressed log without batches"},
};

}  // namespace

std::string Comparable(const std::string& answer) {
  std::string comparable;
  for (size_t at = 0; at < answer.size();) {
    const size_t start = std::min(answer.find("error ", at), answer.size());
    const size_t end = std::min(answer.find(kEndOfError, start), answer.size());
    comparable += answer.substr(at, start - at);
    const std::string text = answer.substr(start, end - start);
    comparable += text.substr(0, text.find(':'));
    for (const std::string_view promised : kPromisedTexts) {
      if (text.find(promised) != std::string::npos) comparable += " / " + std::string(promised);
    }
    at = end + 1;
  }
  return comparable;
}

std::string_view ReasonForDifference(const std::string& line,
                                     const std::vector<std::string>& libraries,
                                     const std::vector<std::string>& answers) {
  for (const KnownDifference& known : kKnownDifferences) {
    if (known.applies(line, libraries, answers)) return known.reason;
  }
  return {};
}

}  // namespace ashlar::differential

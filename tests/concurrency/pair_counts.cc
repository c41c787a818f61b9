#include "tests/concurrency/pair_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/format.h"

namespace ashlar {
namespace {

constexpr size_t kColumns = 100;

constexpr char kHead[] =
    R"(# Calls that run at once

`tests/concurrency` runs public calls against each other and against themselves, while writers and a
reader work: the folder's README.md says on what, and what is compared. A test fails if a method of
`DB` has no entry, or if a pair has not met. This page is written by `./dev pairs`.

Both calls of a pair begin together, round after round, and a short one is repeated until the other
has ended. The numbers are rounds in which a call began while one of the other side was under way.
Pairs with `Close` have a few rounds, each on a database that is open.
)";

class WriteReport final : public ::testing::Environment {
 public:
  void TearDown() override {
    const char* const path = std::getenv("ASHLAR_PAIRS_REPORT");
    if (path == nullptr) return;
    std::ofstream file(path, std::ios::binary);
    file << PairCounts::Get().ToMarkdown();
    EXPECT_TRUE(file.flush().good()) << path;
  }
};

[[maybe_unused]] ::testing::Environment* const kReport =
    ::testing::AddGlobalTestEnvironment(new WriteReport);

// Appends a word, and breaks the line before it if the line would be too long.
void AppendWord(const std::string& word, size_t* column, std::string* text) {
  if (*column + 1 + word.size() > kColumns) {
    *text += "\n ";
    *column = 1;
  }
  StrAppend(text, " ", word);
  *column += 1 + word.size();
}

}  // namespace

PairCounts& PairCounts::Get() {
  static PairCounts counts;
  return counts;
}

void PairCounts::Add(const std::string& title, const std::vector<std::string>& calls, size_t a,
                     size_t b, uint64_t meetings) {
  auto table = std::find_if(tables_.begin(), tables_.end(),
                            [&](const Table& other) { return other.title == title; });
  if (table == tables_.end()) {
    tables_.push_back({.title = title, .calls = calls, .meetings = {}});
    table = tables_.end() - 1;
  }
  table->meetings[{std::min(a, b), std::max(a, b)}] += meetings;
}

std::string PairCounts::ToMarkdown() const {
  std::string text = kHead;
  for (const Table& table : tables_) Append(table, &text);
  return text;
}

void PairCounts::Append(const Table& table, std::string* text) {
  uint64_t least = UINT64_MAX;
  uint64_t all = 0;
  for (const auto& [pair, count] : table.meetings) {
    least = std::min(least, count);
    all += count;
  }
  StrAppend(text, "\n## ", table.title, "\n\n", table.meetings.size(), " pairs ran. They met in ",
            all, " rounds; the rarest pair in ", least,
            ".\nEach pair is once here, under the call that comes first:\n");
  const std::vector<std::string>& calls = table.calls;
  for (size_t a = 0; a < calls.size(); ++a) {
    if (!table.meetings.contains({a, a})) continue;
    const std::string head = StrCat("- **", calls[a], "**:");
    StrAppend(text, "\n", head);
    size_t column = head.size();
    for (size_t b = a; b < calls.size(); ++b) {
      const auto found = table.meetings.find({a, b});
      if (found == table.meetings.end()) continue;
      AppendWord(b == a ? "itself" : calls[b], &column, text);
      AppendWord(StrCat(found->second, b + 1 == calls.size() ? "" : ","), &column, text);
    }
  }
  *text += "\n";
}

}  // namespace ashlar

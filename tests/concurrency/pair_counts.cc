#include "tests/concurrency/pair_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/format.h"
#include "tests/concurrency/calls.h"

namespace ashlar {
namespace {

constexpr size_t kColumns = 100;

constexpr char kHead[] =
    R"(# Calls that run at once

`tests/concurrency` runs each public call of `DB`, `Checkpoint` and `BackupEngine` against each
other and against itself, in loops, while two writers and a reader work: the folder's README.md says
on what, and what is compared. A test fails if a method of `DB` has no entry. This page is written
by `./dev pairs`.

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

// Breaks lines where they would be too long.
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

void PairCounts::Add(size_t a, size_t b, uint64_t began_meanwhile) {
  counts_[{std::min(a, b), std::max(a, b)}] += began_meanwhile;
}

std::string PairCounts::ToMarkdown() const {
  uint64_t least = counts_.empty() ? 0 : UINT64_MAX;
  uint64_t all = 0;
  for (const auto& [pair, count] : counts_) {
    least = std::min(least, count);
    all += count;
  }
  std::string text =
      StrCat(kHead, counts_.size(), " pairs ran. In all, ", all,
             " calls began while one of the other kind was under way;\nof the rarest pair ", least,
             ". For each pair, once, under the call that comes first:\n");
  const std::vector<Call>& calls = Calls();
  for (size_t a = 0; a < calls.size(); ++a) {
    if (!counts_.contains({a, a})) continue;
    std::string head = StrCat("- **", calls[a].name, "**:");
    StrAppend(&text, "\n", head);
    size_t column = head.size();
    for (size_t b = a; b < calls.size(); ++b) {
      const auto found = counts_.find({a, b});
      if (found == counts_.end()) continue;
      AppendWord(b == a ? "itself" : calls[b].name, &column, &text);
      AppendWord(StrCat(found->second, b + 1 == calls.size() ? "" : ","), &column, &text);
    }
  }
  return text + "\n";
}

}  // namespace ashlar

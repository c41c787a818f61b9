// Tests FileCutter with grandparents as a tree in text, entries of ten bytes and the cuts as text.

#include "compact/plan/file_cutter.h"

#include <gtest/gtest.h>

#include <string>

#include "compact/plan/tree_text.h"

namespace ashlar {
namespace {

constexpr uint64_t kEntryBytes = 10;

struct Limits {
  uint64_t target = 100;
  uint64_t overlap_max = UINT64_MAX;
  uint64_t file_bytes_max = UINT64_MAX;
};

// Writes the keys from `first` + 'a' to `last` + 'j' in order. Returns the first key of each file
// except the first file.
std::string Cuts(const std::string& grandparents, char first, char last, const Limits& limits) {
  const TreeText tree(grandparents, 7);
  const auto files = tree.View().files(6);
  const std::vector<FileMetaData*> below(files.begin(), files.end());
  FileCutter cutter({.comparator = KeyComparator(BytewiseComparator()),
                     .target_file_bytes = limits.target,
                     .file_bytes_max = limits.file_bytes_max,
                     .grandparents = &below,
                     .max_grandparent_overlap_bytes = limits.overlap_max});
  std::string cuts;
  uint64_t bytes = 0;
  for (char a = first; a <= last; ++a) {
    for (char b = 'a'; b <= 'j'; ++b) {
      const std::string key{a, b};
      const bool cut = cutter.CutBefore(key, bytes);
      if (cut && bytes > 0) {
        cuts += (cuts.empty() ? "" : " ") + key;
        bytes = 0;
      }
      if (bytes == 0) cutter.Begin();
      bytes += kEntryBytes;
    }
  }
  return cuts;
}

TEST(FileCutter, WithoutGrandparentsTheTargetDecides) {
  EXPECT_EQ(Cuts("", 'a', 'c', {}), "ba ca");
  EXPECT_EQ(Cuts("", 'a', 'c', {.target = 150}), "bf");
  EXPECT_EQ(Cuts("", 'a', 'c', {.target = UINT64_MAX}), "");
}

TEST(FileCutter, FilesEndWhereGrandparentsDo) {
  EXPECT_EQ(Cuts("L6: 1[aa-bb 50] 2[bc-cd 50] 3[ce-dj 50]", 'a', 'd', {}), "bc ce");
}

TEST(FileCutter, TheEdgeClosestToTheTargetIsTaken) {
  // With an edge at every fifth key, the second edge is at the target.
  EXPECT_EQ(Cuts("L6: 1[aa-ae 5] 2[af-aj 5] 3[ba-be 5] 4[bf-bj 5]", 'a', 'b', {}), "ba");
  // With an edge at every fourth key, 80 and 120 are equally close to 100. The earlier is taken.
  EXPECT_EQ(Cuts("L6: 1[aa-ad 5] 2[ae-ah 5] 3[ai-bb 5] 4[bc-bf 5] 5[bg-bj 5]", 'a', 'b', {}),
            "ai bg");
  // With an edge at every seventh key, 70 is closer to 100 than 140 is.
  EXPECT_EQ(Cuts("L6: 1[aa-ag 5] 2[ah-bd 5] 3[be-bj 5]", 'a', 'b', {}), "ah be");
}

TEST(FileCutter, AnEarlyEdgeIsPassed) {
  // The edge at 40 bytes is passed, because one closer to the target is expected at 80.
  EXPECT_EQ(Cuts("L6: 1[aa-ad 5] 2[ae-bb 5] 3[bc-dj 5]", 'a', 'c', {}), "bc");
}

TEST(FileCutter, WithoutAnEdgeAFileHasTwiceItsTarget) {
  EXPECT_EQ(Cuts("L6: 1[aa-zz 50]", 'a', 'e', {}), "ca ea");
  EXPECT_EQ(Cuts("L6: 1[aa-zz 50]", 'a', 'c', {.file_bytes_max = 150}), "bf");
}

TEST(FileCutter, OneFileDoesNotOverlapTooManyGrandparents) {
  EXPECT_EQ(Cuts("L6: 1[aa-ab 60] 2[ac-ad 60] 3[ae-af 60] 4[ag-ah 60] 5[ai-aj 60]", 'a', 'a',
                 {.target = 1000, .overlap_max = 150}),
            "ae ai");
}

TEST(FileCutter, GrandparentsBetweenTwoKeysCountToo) {
  EXPECT_EQ(Cuts("L6: 1[ak-ao 60] 2[ap-az 60]", 'a', 'b', {.target = 1000, .overlap_max = 100}),
            "ba");
}

}  // namespace
}  // namespace ashlar

#include "tools/ashlar/progress.h"

#include <gtest/gtest.h>

namespace ashlar::cli {
namespace {

TEST(ProgressTest, ShowsPartRateAndTimeLeft) {
  EXPECT_EQ(Progress::Line("load", {.bytes_done = 25'000'000,
                                    .bytes_total = 100'000'000,
                                    .entries_done = 1000,
                                    .seconds = 0.5}),
            "load  25 % [#####...............]  1000 entries  50.0 MB/s  ETA 2 s");
}

TEST(ProgressTest, WithoutATotalShowsTheRateOnly) {
  EXPECT_EQ(
      Progress::Line(
          "load",
          {.bytes_done = 25'000'000, .bytes_total = std::nullopt, .entries_done = 7, .seconds = 2}),
      "load  7 entries  12.5 MB/s");
}

TEST(ProgressTest, AFileThatGrowsStaysAtItsEnd) {
  EXPECT_EQ(Progress::Line(
                "load", {.bytes_done = 300, .bytes_total = 200, .entries_done = 1, .seconds = 1}),
            "load 100 % [####################]  1 entries  0.0 MB/s  ETA 0 s");
}

TEST(ProgressTest, NoTimeAndNoBytesDivideByNothing) {
  EXPECT_EQ(
      Progress::Line("load", {.bytes_done = 0, .bytes_total = 10, .entries_done = 0, .seconds = 0}),
      "load   0 % [....................]  0 entries  0.0 MB/s");
  EXPECT_EQ(
      Progress::Line("load", {.bytes_done = 0, .bytes_total = 0, .entries_done = 0, .seconds = 1}),
      "load  0 entries  0.0 MB/s");
}

}  // namespace
}  // namespace ashlar::cli

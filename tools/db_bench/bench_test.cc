#include "tools/db_bench/bench.h"

#include <gtest/gtest.h>

namespace ashlar::bench {
namespace {

std::string StepsText(const std::string& benchmarks) {
  std::vector<Step> steps;
  const Status s = ParseSteps(benchmarks, &steps);
  if (!s.ok()) return s.getState();
  std::string text;
  for (const Step& step : steps) {
    text += std::string(step.workload->name) + " " + std::to_string(step.warm_ups) + " " +
            std::to_string(step.repetitions) + "; ";
  }
  return text;
}

TEST(BenchTest, BenchmarksAreParsed) {
  EXPECT_EQ(StepsText("fillseq,readrandom"), "fillseq 0 1; readrandom 0 1; ");
  EXPECT_EQ(StepsText(",fillseq,,"), "fillseq 0 1; ");
  EXPECT_EQ(StepsText("readrandom[X3],readseq[W1],seekrandom[W2-X4],fillseq[]"),
            "readrandom 0 3; readseq 1 1; seekrandom 2 4; fillseq 0 1; ");
  EXPECT_EQ(StepsText(""), "");
}

TEST(BenchTest, WhatCannotBeParsedIsNamed) {
  EXPECT_EQ(StepsText("fillsec"), "unknown benchmark 'fillsec'; did you mean fillseq?");
  EXPECT_EQ(StepsText("qqqqqqqqqqqqqqqqqqqqq"), "unknown benchmark 'qqqqqqqqqqqqqqqqqqqqq'");
  EXPECT_EQ(StepsText("fillseq[X3"), "'fillseq[X3' lacks a ]");
  for (const char* const wrong : {"Y3", "X", "X0", "Xq", "X3W1", "X-1"}) {
    EXPECT_EQ(StepsText(std::string("fillseq[") + wrong + "]"),
              std::string("unknown benchmark arguments '[") + wrong +
                  "]': X3 runs three times, W1 once before to warm up");
  }
}

}  // namespace
}  // namespace ashlar::bench

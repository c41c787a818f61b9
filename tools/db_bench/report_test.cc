// Tests the lines that scripts parse.
#include "tools/db_bench/report.h"

#include <gtest/gtest.h>

namespace ashlar::bench {
namespace {

RunResult ResultOf(uint64_t ops, double seconds, double thread_seconds, uint64_t bytes) {
  RunResult result;
  result.workload = "fillseq";
  result.totals.ops = ops;
  result.totals.seconds = seconds;
  result.totals.thread_seconds = thread_seconds;
  result.totals.tally.bytes = bytes;
  return result;
}

TEST(ReportTest, AResultLooksLikeRocksDbs) {
  EXPECT_EQ(ResultLine(ResultOf(20000, 0.177, 0.354, 2320000)),
            "fillseq      :      17.700 micros/op 112994 ops/sec 0.177 seconds 20000 operations;   "
            "12.5 MB/s");
  RunResult result = ResultOf(40000, 0.5, 1, 0);
  result.workload = "readrandomwriterandom";
  result.message = "(3 of 4 found)";
  EXPECT_EQ(ResultLine(result),
            "readrandomwriterandom :      25.000 micros/op 80000 ops/sec 0.500 seconds 40000 "
            "operations; (3 of 4 found)");
}

TEST(ReportTest, WithoutOperationsOneIsPretended) {
  EXPECT_EQ(ResultLine(ResultOf(0, 0.5, 0.5, 0)),
            "fillseq      :  500000.000 micros/op 2 ops/sec 0.500 seconds 1 operations;");
}

TEST(ReportTest, RepetitionsLookLikeRocksDbs) {
  const RunResult a = ResultOf(1000, 1, 1, 1048576);
  const RunResult b = ResultOf(1100, 1, 1, 1048576 * 2);
  const RunResult c = ResultOf(1500, 1, 1, 1048576 * 3);
  EXPECT_EQ(RepetitionsText({&a}, false, false), "");
  EXPECT_EQ(RepetitionsText({&a, &b, &c}, false, false),
            "fillseq [AVG 3 runs] : 1200 (± 299) ops/sec;    2.0 (± 1.1) MB/sec\n");
  EXPECT_EQ(RepetitionsText({&a, &b, &c}, false, true),
            "fillseq [CI95 3 runs] : (900, 1499) ops/sec; (0.9, 3.1) MB/sec\n");
  EXPECT_EQ(RepetitionsText({&a, &b, &c}, true, false),
            "fillseq [AVG    3 runs] : 1200 (± 299) ops/sec; 0.833 ms/op;    2.0 (± 1.1) MB/sec\n"
            "fillseq [MEDIAN 3 runs] : 1100 ops/sec;    2.0 MB/sec\n");
}

}  // namespace
}  // namespace ashlar::bench

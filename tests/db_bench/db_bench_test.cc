// Runs db_bench as its users do: each workload briefly, and the effects of the flags. A build whose
// figures are meaningless refuses to run unless it is forced.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/version.h"
#include "base/format.h"
#include "platform/file.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ASHLAR_TEST_SANITIZED 1
#endif
#endif

#if defined(NDEBUG) && !defined(ASHLAR_TEST_SANITIZED)
constexpr bool kMeasures = true;
#else
constexpr bool kMeasures = false;
#endif

class DbBenchTest : public testing::Test {
 protected:
  std::string database() const { return scratch_.File("db"); }
  std::string File(const std::string& name) const { return scratch_.File(name); }

  // Returns standard output and standard error together.
  ToolRun Run(const std::string& flags) const {
    return RunTool(StrCat(ProgramCommand("db_bench"), " --db=", database(), " --seed=17 ",
                          build_flag_, flags));
  }
  // The same for a run that must succeed.
  std::string Output(const std::string& flags) const {
    const ToolRun run = Run(flags);
    EXPECT_EQ(run.exit_code, 0) << flags << "\n" << run.output;
    return run.output;
  }

 protected:
  const char* build_flag_ = "";

 private:
  ScratchDirectory scratch_;
};

// Checks the work done rather than the time it takes, and so runs in every build.
class DbBenchMeasuringTest : public DbBenchTest {
 protected:
  DbBenchMeasuringTest() { build_flag_ = kMeasures ? "" : "--any_build=1 "; }
};

// Returns the last line of a workload's result, or an empty string if there is none.
std::string ResultLineOf(const std::string& output, const std::string& workload) {
  std::istringstream lines(output);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(workload) && line.find(" : ") != std::string::npos) found = line;
  }
  return found;
}

std::string FileText(const std::string& name) {
  std::ifstream file(name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct SmokeCase {
  const char* workload;
  const char* before;  // workloads to run first
  const char* flags;
  // The result line must match this after "operations;"; null if the workload has no such line.
  const char* result;
};

std::ostream& operator<<(std::ostream& out, const SmokeCase& smoke) {
  return out << smoke.workload;
}

const SmokeCase kSmokeCases[] = {
    {"fillseq", "", "", " +[0-9.]+ MB/s"},
    {"fillrandom", "", "", " +[0-9.]+ MB/s"},
    {"filluniquerandom", "", "--threads=2", " +[0-9.]+ MB/s"},
    {"fillsync", "", "", " +[0-9.]+ MB/s \\(2 ops\\)"},
    {"fillbatch", "", "", " +[0-9.]+ MB/s"},
    {"txfillrandom", "", "", " +[0-9.]+ MB/s"},
    {"overwrite", "fillseq,", "", " +[0-9.]+ MB/s"},
    {"bulkload", "", "", " +[0-9.]+ MB/s"},
    {"deleteseq", "fillseq,", "", ""},
    {"deleterandom", "fillseq,", "", ""},
    {"deleterangeseq", "fillseq,", "--range_tombstone_width=10", ""},
    {"deleterangerandom", "fillseq,", "--range_tombstone_width=10", ""},
    {"readseq", "fillseq,", "", " +[0-9.]+ MB/s"},
    {"readreverse", "fillseq,", "", " +[0-9.]+ MB/s"},
    {"readrandom", "fillseq,", "", " +[0-9.]+ MB/s \\(2000 of 2000 found\\)"},
    {"readmissing", "fillseq,", "", " \\(0 of 2000 found\\)"},
    {"readhot", "fillseq,", "", " +[0-9.]+ MB/s \\(2000 of 2000 found\\)"},
    {"multireadrandom", "fillseq,", "--batch_size=30", " +[0-9.]+ MB/s \\(2000 of 2000 found\\)"},
    {"readwhilewriting", "fillseq,", "--threads=2",
     " +[0-9.]+ MB/s \\(4000 of 4000 found\\) \\( meanwhile: [0-9]+ writes [0-9]+ writes/sec \\)"},
    {"readwhilemerging", "fillseq,", "",
     " +[0-9.]+ MB/s \\(2000 of 2000 found\\) \\( meanwhile: .*\\)"},
    {"readrandomwriterandom", "fillseq,", "",
     " \\( reads:1800 writes:200 total:2000 found:1800\\)"},
    {"seekrandom", "fillseq,", "--seek_nexts=10", " +[0-9.]+ MB/s \\(2000 of 2000 found\\)"},
    {"seekrandomwhilewriting", "fillseq,", "", " \\(2000 of 2000 found\\) \\( meanwhile: .*\\)"},
    {"prefixscan", "fillseq,", "--prefix_size=10 --keys_per_prefix=10",
     " +[0-9.]+ MB/s \\(2000 of 2000 found\\)"},
    {"prefixscanwhilewriting", "fillseq,", "--prefix_size=10 --keys_per_prefix=10",
     " +[0-9.]+ MB/s \\(2000 of 2000 found\\) \\( meanwhile: .*\\)"},
    {"mergerandom", "", "--merge_keys=10", " +[0-9.]+ MB/s \\( updates:2000\\)"},
    {"updaterandom", "fillseq,", "", " +[0-9.]+ MB/s \\( updates:2000 found:2000\\)"},
    {"compact", "fillseq,", "", ""},
    {"compactall", "fillseq,", "", nullptr},
    {"waitforcompaction", "fillseq,", "", nullptr},
    {"flush", "fillseq,", "", nullptr},
    {"verifychecksum", "fillseq,flush,", "", ""},
    {"crc32c", "", "--duration=1", " +[0-9.]+ MB/s \\(4096 per op\\)"},
    {"xxh3", "", "--duration=1", " +[0-9.]+ MB/s \\(4096 per op\\)"},
    {"amplification", "", "--readwritepercent=50", nullptr},
    {"stats", "fillseq,", "", nullptr},
    {"levelstats", "fillseq,", "", nullptr},
};

class SmokeTest : public DbBenchMeasuringTest, public testing::WithParamInterface<SmokeCase> {};

TEST_P(SmokeTest, RunsAndPrintsItsResult) {
  const SmokeCase& smoke = GetParam();
  const std::string output =
      Output(StrCat("--num=2000 --merge_operator=put --benchmarks=", smoke.before, smoke.workload,
                    " ", smoke.flags));
  const std::string line = ResultLineOf(output, smoke.workload);
  if (smoke.result == nullptr) {
    EXPECT_EQ(line, "");
    return;
  }
  const std::regex expected(StrCat(
      smoke.workload, " *: +[0-9.]+ micros/op [0-9]+ ops/sec [0-9.]+ seconds [0-9]+ operations;",
      smoke.result));
  EXPECT_TRUE(std::regex_match(line, expected)) << line << "\n" << output;
}

INSTANTIATE_TEST_SUITE_P(Workloads, SmokeTest, testing::ValuesIn(kSmokeCases),
                         [](const testing::TestParamInfo<SmokeCase>& test) {
                           return test.param.workload;
                         });

TEST_F(DbBenchMeasuringTest, AmplificationPrintsARowForEachSetting) {
  const std::string output =
      Output("--num=2000 --benchmarks=amplification --readwritepercent=50 --overwrite_percent=80");
  EXPECT_NE(output.find("50 % of the operations read, 80 % of the writes overwrite"),
            std::string::npos)
      << output;
  for (const char* const setting :
       {"leveled", "leveled, multiplier 4", "leveled, 8 tables in level 0", "universal",
        "universal, amplification 25 %", "universal, incremental", "FIFO, nothing dropped"}) {
    const std::regex row(StrCat("(^|\n)", setting, " +[1-9][0-9.]*( +[0-9]+[.][0-9]+){5}"));
    EXPECT_TRUE(std::regex_search(output, row)) << setting << "\n" << output;
  }
}

TEST_F(DbBenchTest, AnOverwriteShareAboveAHundredIsRefused) {
  const ToolRun run = Run("--any_build=1 --benchmarks=amplification --overwrite_percent=101");
  EXPECT_NE(run.exit_code, 0);
  EXPECT_NE(run.output.find("--overwrite_percent goes from 0 to 100"), std::string::npos)
      << run.output;
}

TEST_F(DbBenchTest, EveryWorkloadOfTheHelpHasASmokeTest) {
  std::istringstream help(Output("--help"));
  std::string line;
  while (std::getline(help, line) && !line.starts_with("Workloads")) {
  }
  int workloads = 0;
  while (std::getline(help, line) && !line.empty()) {
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    ++workloads;
    EXPECT_TRUE(std::any_of(std::begin(kSmokeCases), std::end(kSmokeCases),
                            [&](const SmokeCase& smoke) { return name == smoke.workload; }))
        << name;
  }
  EXPECT_GE(workloads, 36);
}

TEST_F(DbBenchTest, ABuildThatDoesNotMeasureRefuses) {
  const ToolRun run = Run("--benchmarks=fillseq --num=10");
  EXPECT_EQ(run.exit_code, kMeasures ? 0 : 3);
  EXPECT_EQ(run.output.find("measures nothing worth knowing") == std::string::npos, kMeasures)
      << run.output;
}

// ---- The command line.

TEST_F(DbBenchTest, TheVersionIsShownByEveryBuild) {
  EXPECT_EQ(Output("--version"), "db_bench version " + GetAshlarVersionAsString() + "\n");
}

TEST_F(DbBenchTest, AnUnknownFlagIsRefusedWithTheNearestName) {
  const ToolRun run = Run("--value_sise=10");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.output.find("unknown flag --value_sise; did you mean --value_size?"),
            std::string::npos)
      << run.output;
}

TEST_F(DbBenchTest, AnUnknownWorkloadIsRefusedBeforeAnythingRuns) {
  const ToolRun run = Run("--benchmarks=fillseq,readrandm");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.output.find("unknown benchmark 'readrandm'; did you mean readrandom?"),
            std::string::npos)
      << run.output;
  EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(DbBenchTest, AFeatureThatIsAbsentMayStayOff) {
  EXPECT_EQ(Run("--help --use_blob_db=0 --row_cache_size=0 --wal_compression=none").exit_code, 0);
  const ToolRun run = Run("--use_blob_db=1");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(
      run.output.find(
          "--use_blob_db=1 asks for something that Ashlar does not have; only false is accepted"),
      std::string::npos)
      << run.output;
}

TEST_F(DbBenchTest, ValuesThatMakeNoSenseAreRefused) {
  for (const char* const flags :
       {"--num=0", "--num=ten", "--num=1e6", "--threads=-1", "--threads=2147483647",
        "--key_size=2147483647", "--histogram=2", "--prefix_size=17", "--value_size=5000000000",
        "--compression_type=lzma", "--key_distribution=pareto", "--readonly", "--engine=btree",
        "readrandom", "--num", "--writes_per_range_tombstone=-1"}) {
    const ToolRun run = Run(StrCat("--benchmarks=fillseq ", flags));
    EXPECT_NE(run.exit_code, 0) << flags;
    EXPECT_EQ(run.output.find("fillseq  "), std::string::npos) << run.output;
  }
}

TEST_F(DbBenchMeasuringTest, RangesOfExistingKeysAreRefused) {
  (void)Output("--benchmarks=fillseq --num=100");
  for (const char* const workload : {"deleterangeseq", "deleterangerandom"}) {
    const ToolRun run = Run(StrCat("--use_existing_db=1 --use_existing_keys=1 ",
                                   "--range_tombstone_width=10 --benchmarks=", workload));
    EXPECT_EQ(run.exit_code, 1) << run.output;
    EXPECT_NE(run.output.find("without --use_existing_keys"), std::string::npos) << run.output;
  }
}

// fillsync's keys 0 to 19 have the prefixes that other workloads give them, 20 of 200 prefixes.
TEST_F(DbBenchMeasuringTest, FillSyncWritesKeysThatOthersFind) {
  const std::string line = ResultLineOf(
      Output("--num=20000 --prefix_size=8 --keys_per_prefix=100 --writes=200 --reads=2000 "
             "--benchmarks=fillsync,prefixscan"),
      "prefixscan");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(line, found, std::regex("\\(([0-9]+) of 2000 found\\)"))) << line;
  EXPECT_GT(std::stoi(found[1]), 100) << line;
}

TEST_F(DbBenchMeasuringTest, RetiredFlagsAreAcceptedWithOneNotice) {
  const std::string output = Output(
      "--benchmarks=fillseq --num=100 --hard_rate_limit=2 --disable_data_sync=1 --key_id_range=5");
  EXPECT_NE(output.find(
                "db_bench: retired by RocksDB, no effect: --hard_rate_limit --disable_data_sync\n"),
            std::string::npos)
      << output;
  EXPECT_NE(output.find("db_bench: no effect in Ashlar: --key_id_range\n"), std::string::npos)
      << output;
}

TEST_F(DbBenchMeasuringTest, FlagsAreWrittenInAllOfRocksDbsWays) {
  const std::string output = Output(
      "-num=300 --value_size 30 --benchmarks fillseq,readrandom --histogram --nostatistics "
      "--sync=false --disable_wal true");
  EXPECT_NE(output.find("Entries:    300\n"), std::string::npos) << output;
  EXPECT_NE(output.find("Values:     30 bytes each (15 bytes after compression)\n"),
            std::string::npos)
      << output;
  EXPECT_NE(output.find("(300 of 300 found)\nMicroseconds per read:\nCount: 300 Average: "),
            std::string::npos)
      << output;
}

// ---- Counts.

TEST_F(DbBenchMeasuringTest, FoundIsTheSumOverThreadsAndTrue) {
  const std::string output = Output(
      "--num=1000 --threads=3 --benchmarks=fillseq,readrandom,deleteseq,readmissing,seekrandom "
      "--deletes=500 --reads=800");
  EXPECT_NE(ResultLineOf(output, "fillseq").find(" 3000 operations;"), std::string::npos) << output;
  EXPECT_NE(ResultLineOf(output, "readrandom").find(" 2400 operations;"), std::string::npos)
      << output;
  EXPECT_NE(ResultLineOf(output, "readrandom").find("(2400 of 2400 found)"), std::string::npos)
      << output;
  std::smatch match;
  const std::string line = ResultLineOf(output, "seekrandom");
  ASSERT_TRUE(std::regex_search(line, match, std::regex("\\(([0-9]+) of 2400 found\\)"))) << output;
  // Half of the keys are deleted, so about 1200 are found, within eight standard deviations.
  EXPECT_NEAR(std::stoi(match[1]), 1200, 200) << output;
}

TEST_F(DbBenchMeasuringTest, ADurationEndsAWorkload) {
  const std::string output = Output("--num=1000 --duration=1 --benchmarks=fillseq,readrandom");
  std::smatch match;
  const std::string line = ResultLineOf(output, "readrandom");
  ASSERT_TRUE(
      std::regex_search(line, match, std::regex("ops/sec ([0-9.]+) seconds ([0-9]+) operations;")))
      << output;
  EXPECT_GE(std::stod(match[1]), 1.0) << output;
  EXPECT_GT(std::stoll(match[2]), 1000) << output;
  EXPECT_NE(ResultLineOf(output, "fillseq").find(" 1000 operations;"), std::string::npos) << output;
}

TEST_F(DbBenchMeasuringTest, WriteRateIsLimited) {
  // 4000 writes of 116 bytes are 464,000 bytes, at 1,000,000 a second with bursts of a tenth of it.
  const std::string output =
      Output("--num=4000 --benchmarks=fillrandom --benchmark_write_rate_limit=1000000");
  std::smatch match;
  const std::string line = ResultLineOf(output, "fillrandom");
  ASSERT_TRUE(std::regex_search(line, match, std::regex("ops/sec ([0-9.]+) seconds"))) << output;
  EXPECT_GE(std::stod(match[1]), 0.3) << output;
}

TEST_F(DbBenchMeasuringTest, ReadRateIsLimited) {
  const std::string output =
      Output("--num=4000 --benchmarks=fillseq,readrandom --benchmark_read_rate_limit=10000");
  std::smatch match;
  const std::string line = ResultLineOf(output, "readrandom");
  ASSERT_TRUE(std::regex_search(line, match, std::regex("ops/sec ([0-9.]+) seconds"))) << output;
  EXPECT_GE(std::stod(match[1]), 0.2) << output;
}

TEST_F(DbBenchMeasuringTest, RepetitionsAreSummedUp) {
  const std::string output = Output("--num=500 --benchmarks=fillseq,readrandom[W2-X3]");
  EXPECT_NE(output.find("Warming up benchmark by running 2 times\n"), std::string::npos) << output;
  EXPECT_NE(output.find("Running benchmark for 3 times\n"), std::string::npos) << output;
  EXPECT_TRUE(
      std::regex_search(output, std::regex("readrandom \\[AVG 2 runs\\] : [0-9]+ \\(± [0-9]+\\) "
                                           "ops/sec; +[0-9.]+ \\(± [0-9.]+\\) MB/sec\n")))
      << output;
  EXPECT_TRUE(std::regex_search(
      output,
      std::regex(
          "readrandom \\[AVG    3 runs\\] : [0-9]+ \\(± [0-9]+\\) ops/sec; [0-9.]+ ms/op; ")))
      << output;
  EXPECT_TRUE(std::regex_search(
      output, std::regex("readrandom \\[MEDIAN 3 runs\\] : [0-9]+ ops/sec; +[0-9.]+ MB/sec\n")))
      << output;
}

TEST_F(DbBenchMeasuringTest, JsonHoldsMachineFlagsAndResults) {
  (void)Output(StrCat(
      "--num=500 --threads=2 --histogram=1 --benchmarks=fillseq,readrandom[X2],stats --json=",
      File("result.json")));
  const auto json = nlohmann::json::parse(FileText(File("result.json")));
  EXPECT_GT(json["machine"]["memory_bytes"], 0);
  EXPECT_EQ(json["flags"]["num"], "500");
  EXPECT_EQ(json["flags"]["threads"], "2");
  ASSERT_EQ(json["results"].size(), 3u);
  const auto& read = json["results"][2];
  EXPECT_EQ(read["workload"], "readrandom");
  EXPECT_EQ(read["repetition"], 1);
  EXPECT_EQ(read["operations"], 1000);
  EXPECT_EQ(read["found"], 1000);
  EXPECT_GT(read["micros_per_op"], 0.0);
  EXPECT_GT(read["ops_per_second"], 0.0);
  EXPECT_GT(read["megabytes_per_second"], 0.0);
  EXPECT_EQ(read["latency_micros"]["read"]["count"], 1000);
  EXPECT_LE(read["latency_micros"]["read"]["p50"], read["latency_micros"]["read"]["p99"]);
}

TEST_F(DbBenchMeasuringTest, IntervalsAreReported) {
  const std::string output =
      Output(StrCat("--num=2000 --benchmarks=fillseq,readrandom --duration=2 --stats_interval=1000 "
                    "--stats_interval_seconds=1 "
                    "--stats_per_interval=1 --report_interval_seconds=1 --report_file=",
                    File("report.csv")));
  EXPECT_TRUE(std::regex_search(
      output,
      std::regex("thread 0: \\([0-9]+,[0-9]+\\) ops and \\([0-9.]+,[0-9.]+\\) ops/second in ")))
      << output;
  const std::string csv = FileText(File("report.csv"));
  EXPECT_TRUE(
      std::regex_match(csv, std::regex("secs_elapsed,interval_qps\n([0-9]+,[1-9][0-9]*\n)+")))
      << csv;
}

TEST_F(DbBenchMeasuringTest, StatisticsAndPerfContextAreShown) {
  const std::string output =
      Output("--num=500 --benchmarks=fillseq,flush,readrandom --statistics --perf_level=2");
  EXPECT_NE(output.find("STATISTICS:\n"), std::string::npos) << output;
  EXPECT_NE(output.find("rocksdb.number.keys.written COUNT : 500\n"), std::string::npos) << output;
  EXPECT_NE(output.find("PERF_CONTEXT:\n"), std::string::npos) << output;
}

// ---- The database.

TEST_F(DbBenchMeasuringTest, AnExistingDatabaseIsKeptOrDestroyedAsAsked) {
  (void)Output("--num=500 --benchmarks=fillseq");
  const std::string kept = Output("--num=500 --use_existing_db=1 --benchmarks=fillseq,readrandom");
  EXPECT_NE(kept.find("fillseq      : skipped (--use_existing_db is true)\n"), std::string::npos)
      << kept;
  EXPECT_NE(kept.find("(500 of 500 found)"), std::string::npos) << kept;
  EXPECT_NE(Output("--num=500 --use_existing_db=1 --readonly=1 --benchmarks=readrandom")
                .find("(500 of 500 found)"),
            std::string::npos);
  EXPECT_NE(Output("--num=9 --use_existing_db=1 --use_existing_keys=1 --benchmarks=readrandom")
                .find("(500 of 500 found)"),
            std::string::npos);
  EXPECT_NE(Output("--num=500 --benchmarks=readrandom").find("(0 of 500 found)"),
            std::string::npos);
}

TEST_F(DbBenchMeasuringTest, KeysAndValuesOfAllKindsComeBack) {
  for (const char* const flags :
       {"--key_size=10 --value_size=800", "--key_size=4",
        "--value_size_distribution_type=uniform --value_size_min=1 --value_size_max=3000",
        "--value_size_distribution_type=normal --value_size_min=0 --value_size_max=300",
        "--value_size=0", "--key_distribution=zipf", "--key_distribution=zipf --zipf_exponent=1.3",
        "--read_random_exp_range=10", "--num_column_families=3", "--pin_slice=0", "--mmap_read=1",
        "--use_direct_reads=1 --use_direct_io_for_flush_and_compaction=1", "--cache_size=0",
        "--cache_size=-1 --cache_type=lru_cache",
        "--bloom_bits=10 --compression_type=zstd --compression_level=1",
        "--compression_type=none --checksum_type=1 --format_version=4",
        "--disable_wal=1 --max_bytes_for_level_multiplier_additional=1,2,3",
        "--rate_limiter_bytes_per_sec=100000000"}) {
    const std::string output = Output(StrCat(
        "--num=3000 --reads=500 --write_buffer_size=65536 --benchmarks=fillseq,compact,readrandom ",
        flags));
    EXPECT_NE(output.find("(500 of 500 found)"), std::string::npos) << flags << "\n" << output;
  }
}

// The range deletion after the last write starts again at the first key and covers all keys.
TEST_F(DbBenchMeasuringTest, FillsDeleteRanges) {
  const std::string fill =
      "--num=1000 --benchmarks=fillseq,readrandom --writes_per_range_tombstone=1000 "
      "--range_tombstone_width=1000 --max_num_range_tombstones=";
  for (const auto& [flags, found] :
       {std::pair("0", "(1000 of 1000 found)"),
        {"1", "(0 of 1000 found)"},
        {"1 --expand_range_tombstones=1", "(0 of 1000 found)"},
        {"1 --writes_before_delete_range=1", "(1000 of 1000 found)"}}) {
    const std::string output = Output(StrCat(fill, flags));
    EXPECT_NE(output.find(found), std::string::npos) << flags << "\n" << output;
  }
}

TEST_F(DbBenchMeasuringTest, RangesInOrderTouchAndDeleteAsManyKeysAsTheyAreWide) {
  const std::string run =
      "--num=1000 --benchmarks=fillseq,deleterangeseq,readrandom --seed=5 "
      "--read_random_exp_range=0 --range_tombstone_width=";
  for (const auto& [flags, found] : {std::pair("10", "(0 of 1000 found)"),
                                     {"10 --expand_range_tombstones=1", "(0 of 1000 found)"},
                                     {"1000 --deletes=1", "(0 of 1000 found)"},
                                     {"0", "(1000 of 1000 found)"}}) {
    const std::string output = Output(StrCat(run, flags));
    EXPECT_NE(output.find(found), std::string::npos) << flags << "\n" << output;
  }
}

TEST_F(DbBenchMeasuringTest, MultiGetTakesBothForms) {
  for (const char* const flags : {"--batch_size=7", "--batch_size=7 --multiread_batched=1",
                                  "--batch_size=7 --multiread_stride=100",
                                  "--batch_size=7 --multiread_batched=1 --num_column_families=2"}) {
    const std::string output =
        Output(StrCat("--num=1000 --benchmarks=fillseq,multireadrandom ", flags));
    EXPECT_NE(output.find("(1000 of 1000 found)"), std::string::npos) << flags << "\n" << output;
  }
}

TEST_F(DbBenchMeasuringTest, AScanOfAPrefixReadsAllOfItAndNoMore) {
  const std::string output = Output(StrCat(
      "--num=1000 --reads=300 --key_size=20 --value_size=80 --prefix_size=10 --keys_per_prefix=10 "
      "--benchmarks=fillrandom,fillseq,prefixscan,flush,prefixscan --json=",
      File("json")));
  const auto results = nlohmann::json::parse(FileText(File("json")))["results"];
  ASSERT_EQ(results.size(), 4u) << output;
  EXPECT_EQ(results[2]["bytes"], 300 * 10 * 100);
  EXPECT_EQ(results[3]["bytes"], 300 * 10 * 100);
}

TEST_F(DbBenchMeasuringTest, MemtablesOfAllKindsAreMeasured) {
  const std::pair<const char*, const char*> kinds[] = {
      {"skip_list", "SkipListFactory"},
      {"prefix_hash", "HashSkipListRepFactory"},
      {"hash_linkedlist", "HashLinkListRepFactory"},
      {"vector", "VectorRepFactory"}};
  for (const auto& [flag, factory] : kinds) {
    const std::string output =
        Output(StrCat("--num=2000 --reads=500 --prefix_size=12 --keys_per_prefix=10 --key_size=20 "
                      "--hash_bucket_count=1000 "
                      "--memtable_bloom_size_ratio=0.1 --bloom_locality=1 "
                      "--benchmarks=fillseq,readrandom,flush,readrandom "
                      "--memtablerep=",
                      flag));
    EXPECT_TRUE(std::regex_search(output, std::regex(StrCat("\nMemtablerep: [^\n]*", factory))))
        << output;
    EXPECT_TRUE(std::regex_search(output, std::regex("500 of 500 found[^]*500 of 500 found")))
        << output;
  }
  const ToolRun run = Run("--benchmarks=fillseq --memtablerep=prefix_hash");
  EXPECT_NE(run.output.find("--memtablerep=prefix_hash needs --prefix_size"), std::string::npos)
      << run.output;
}

TEST_F(DbBenchMeasuringTest, SeeksAreBounded) {
  for (const char* const flags : {"--seek_nexts=20 --max_scan_distance=5",
                                  "--seek_nexts=20 --max_scan_distance=5 --use_tailing_iterator",
                                  "--seek_nexts=20 --max_scan_distance=5 --reverse_iterator=1"}) {
    const std::string output = Output(
        StrCat("--num=1000 --value_size=84 --benchmarks=fillseq,seekrandom --json=", File("json"),
               " ", flags));
    EXPECT_NE(output.find("(1000 of 1000 found)"), std::string::npos) << output;
    // Each of a thousand seeks reads at most five or six entries of a hundred bytes, and fewer near
    // the ends.
    const auto bytes =
        nlohmann::json::parse(FileText(File("json")))["results"][1]["bytes"].get<int64_t>();
    EXPECT_GT(bytes, 450'000) << flags;
    EXPECT_LE(bytes, 600'000) << flags;
  }
}

TEST_F(DbBenchMeasuringTest, TailsSeekWhileKeysAreWritten) {
  const std::string output =
      Output("--num=500 --benchmarks=fillseq,seekrandomwhilewriting --use_tailing_iterator=1");
  EXPECT_NE(output.find("(500 of 500 found)"), std::string::npos) << output;
  const ToolRun backward =
      Run("--num=100 --benchmarks=fillseq,seekrandom --use_tailing_iterator --reverse_iterator "
          "--seek_nexts=1");
  EXPECT_NE(backward.output.find("moves forward only"), std::string::npos) << backward.output;
}

TEST_F(DbBenchMeasuringTest, AnOptionsFileSetsTheOptions) {
  (void)Output("--num=100 --benchmarks=fillseq --num_levels=5");
  std::string options_file;
  for (const auto& entry : std::filesystem::directory_iterator(database())) {
    if (entry.path().filename().string().starts_with("OPTIONS-"))
      options_file = std::max(options_file, entry.path().string());
  }
  std::filesystem::copy_file(options_file, File("OPTIONS"));
  EXPECT_NE(
      Output(StrCat("--num=100 --benchmarks=fillseq,levelstats --options_file=", File("OPTIONS")))
          .find("\n  4 "),
      std::string::npos);
  const std::string output =
      Output(StrCat("--num=100 --benchmarks=fillseq,levelstats --options_file=", File("OPTIONS")));
  EXPECT_EQ(output.find("\n  5 "), std::string::npos) << output;
}

// Otherwise the logs of the options file's database would be replayed into this one and deleted.
TEST_F(DbBenchMeasuringTest, TheFoldersOfAnOptionsFileAreLeftAlone) {
  (void)Output("--num=100 --benchmarks=fillseq --wal_dir=" + File("logs"));
  const auto names = [](const std::string& folder, const std::string& part) {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().filename().string().find(part) != std::string::npos)
        found.push_back(entry.path().generic_string());  // a shell reads \ as an escape
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  const std::vector<std::string> logs = names(File("logs"), ".log");
  ASSERT_FALSE(logs.empty());
  const std::vector<std::string> options_files = names(database(), "OPTIONS-");
  ASSERT_FALSE(options_files.empty());
  ASSERT_NE(FileText(options_files.back()).find("wal_dir=" + File("logs")), std::string::npos);
  (void)Output(StrCat("--db=", File("other"), " --num=100 --benchmarks=fillseq,fillrandom ",
                      "--options_file=", options_files.back()));
  EXPECT_EQ(names(File("logs"), ".log"), logs);
  EXPECT_FALSE(names(File("other"), ".log").empty());
}

TEST_F(DbBenchMeasuringTest, AnErrorEndsItWithTheWorkloadsName) {
  const ToolRun run = Run("--num=100 --benchmarks=fillseq,mergerandom,readrandom");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.output.find("mergerandom: "), std::string::npos) << run.output;
  EXPECT_EQ(ResultLineOf(run.output, "readrandom"), "") << run.output;
}

TEST_F(DbBenchMeasuringTest, AResultThatCannotBeWrittenIsToldBeforeAnythingIsDestroyed) {
  (void)Output("--num=100 --benchmarks=fillseq");
  const ToolRun run =
      Run(StrCat("--num=10 --benchmarks=fillseq --json=", File("absent/result.json")));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.output.find("cannot write "), std::string::npos) << run.output;
  const std::string kept = Output("--num=100 --benchmarks=readrandom --use_existing_db=1");
  EXPECT_NE(ResultLineOf(kept, "readrandom").find("(100 of 100 found)"), std::string::npos) << kept;
}

TEST_F(DbBenchMeasuringTest, PathsMayHaveAnyName) {
  const std::string name = File("база-данных 東京");
  const ToolRun run = RunTool(
      StrCat(ProgramCommand("db_bench"), " '--db=", name, "/below/db' --seed=17 ", build_flag_,
             "--num=100 --report_interval_seconds=1 --benchmarks=fillseq,readrandom '--json=", name,
             ".json' '--report_file=", name, ".csv'"));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  for (const char* const file : {"/below/db/CURRENT", ".json", ".csv"}) {
    const Result<FileInfo> info = GetFileInfo(name + file);
    ASSERT_TRUE(info.ok()) << info.status().ToString();
    EXPECT_GT(info->bytes, 0u) << file;
  }
}

TEST_F(DbBenchMeasuringTest, ExistingKeysAreNotCalledMissing) {
  (void)Output("--num=100 --benchmarks=fillseq");
  const ToolRun run =
      Run("--num=100 --benchmarks=readmissing --use_existing_db=1 --use_existing_keys=1");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.output.find("every key exists"), std::string::npos) << run.output;
}

// The command line of the in-RAM benchmark that RocksDB published, including retired flags. Only
// --db, --num and the seed differ.
TEST_F(DbBenchMeasuringTest, ThePublishedCommandLineForRamRuns) {
  const std::string output = Output(
      "--num_levels=6 --key_size=20 --prefix_size=20 --keys_per_prefix=0 --value_size=100 "
      "--block_size=4096 --cache_size=17179869184 "
      "--cache_numshardbits=6 --compression_type=none --compression_ratio=1 "
      "--min_level_to_compress=-1 --disable_seek_compaction=1 "
      "--hard_rate_limit=2 --write_buffer_size=134217728 --max_write_buffer_number=2 "
      "--level0_file_num_compaction_trigger=8 "
      "--target_file_size_base=2097152 --max_bytes_for_level_base=1073741824 --disable_wal=0 "
      "--sync=0 --disable_data_sync=1 --verify_checksum=1 "
      "--delete_obsolete_files_period_micros=314572800 --max_grandparent_overlap_factor=10 "
      "--max_background_compactions=4 "
      "--max_background_flushes=0 --level0_slowdown_writes_trigger=16 "
      "--level0_stop_writes_trigger=24 --statistics=0 --stats_per_interval=0 "
      "--stats_interval=1048576 --histogram=0 --use_plain_table=1 --open_files=-1 --mmap_read=1 "
      "--mmap_write=0 --memtablerep=prefix_hash "
      "--bloom_bits=10 --bloom_locality=1 --perf_level=0 "
      "--benchmarks=fillseq,readrandom,readrandom,readrandom --use_existing_db=0 --num=20000 "
      "--threads=1");
  EXPECT_NE(output.find("retired by RocksDB, no effect: --disable_seek_compaction "
                        "--hard_rate_limit --disable_data_sync "
                        "--max_grandparent_overlap_factor\n"),
            std::string::npos)
      << output;
  int found = 0;
  for (size_t at = output.find("(20000 of 20000 found)"); at != std::string::npos;
       at = output.find("(20000 of 20000 found)", at + 1))
    ++found;
  EXPECT_EQ(found, 3) << output;
}

// The other published workloads, with keys and values of the published sizes. Tables are read and
// written without the system's cache.
struct PublishedWorkload {
  std::string name;
  std::string workloads;
  std::string flags;
  std::string result;  // the last workload's line must contain it
};

std::ostream& operator<<(std::ostream& out, const PublishedWorkload& published) {
  return out << published.name;
}

constexpr char kOnFlash[] =
    " --key_size=10 --value_size=800 --use_direct_reads=1 "
    "--use_direct_io_for_flush_and_compaction=1 ";
constexpr char kInRam[] =
    " --key_size=20 --value_size=100 --prefix_size=16 --keys_per_prefix=10 --use_plain_table=1 "
    "--mmap_read=1 --memtablerep=prefix_hash "
    "--bloom_bits=10 --compression_type=none ";

class PublishedWorkloadTest : public DbBenchMeasuringTest,
                              public testing::WithParamInterface<PublishedWorkload> {};

TEST_P(PublishedWorkloadTest, Runs) {
  const PublishedWorkload& published = GetParam();
  const std::string output = Output(StrCat(
      "--num=5000 --write_buffer_size=262144 --benchmarks=", published.workloads, published.flags));
  const std::string line =
      ResultLineOf(output, published.workloads.substr(published.workloads.rfind(',') + 1));
  EXPECT_NE(line.find(published.result), std::string::npos) << line << "\n" << output;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, PublishedWorkloadTest,
    testing::Values(
        PublishedWorkload{"BulkLoadInRandomOrder", "bulkload,compact", kOnFlash, "1 operations"},
        PublishedWorkload{"BulkLoadInOrder", "fillseq", kOnFlash, "5000 operations"},
        PublishedWorkload{"Overwrite", "fillseq,overwrite", kOnFlash, "5000 operations"},
        PublishedWorkload{"ReadInRandomOrder", "fillseq,flush,readrandom", kOnFlash,
                          "(5000 of 5000 found)"},
        PublishedWorkload{"ReadersBesideAWriter", "fillseq,flush,readwhilewriting",
                          StrCat(kOnFlash, "--threads=4"), "(20000 of 20000 found) ( meanwhile: "},
        PublishedWorkload{"LookupsInRamBesideAWriter", "fillseq,flush,readwhilewriting",
                          StrCat(kInRam, "--benchmark_write_rate_limit=9600000"),
                          "(5000 of 5000 found) ( meanwhile: "},
        PublishedWorkload{"PrefixesInRamBesideAWriter", "fillseq,flush,prefixscanwhilewriting",
                          StrCat(kInRam, "--benchmark_write_rate_limit=9600000"),
                          "(5000 of 5000 found) ( meanwhile: "}),
    [](const testing::TestParamInfo<PublishedWorkload>& test) { return test.param.name; });

TEST_F(DbBenchMeasuringTest, APersistentTreeIsMeasured) {
  const std::string output = Output(
      "--engine=pmem --num=5000 --threads=2 "
      "--benchmarks=fillseq,readseq,readreverse,readrandom,readmissing,readwhilewriting,"
      "readrandomwriterandom,deleterandom,deleteseq,fillrandom,fillbatch,filluniquerandom,"
      "txfillrandom");
  EXPECT_NE(ResultLineOf(output, "readrandom ").find("(10000 of 10000 found)"), std::string::npos)
      << output;
  EXPECT_NE(ResultLineOf(output, "readmissing").find("(0 of 10000 found)"), std::string::npos)
      << output;
  EXPECT_NE(ResultLineOf(output, "readseq").find("10000 operations"), std::string::npos) << output;
  EXPECT_NE(ResultLineOf(output, "readwhilewriting").find("(10000 of 10000 found) ( meanwhile: "),
            std::string::npos)
      << output;
  EXPECT_NE(ResultLineOf(output, "readrandomwriterandom")
                .find("( reads:9000 writes:1000 total:10000 found:9000)"),
            std::string::npos)
      << output;
  for (const char* const workload : {"readreverse", "deleterandom", "deleteseq", "fillrandom",
                                     "fillbatch", "filluniquerandom", "txfillrandom"}) {
    EXPECT_NE(ResultLineOf(output, workload), "") << workload << "\n" << output;
  }
  EXPECT_NE(Output("--engine=pmem --use_existing_db --num=5000 --durability=process-crash-only "
                   "--benchmarks=readrandom")
                .find("found)"),
            std::string::npos);
}

TEST_F(DbBenchMeasuringTest, APersistentTreeDestroysPoolsOnly) {
  std::ofstream(database()) << "not a pool";
  const ToolRun foreign = Run("--engine=pmem --num=10 --benchmarks=fillseq");
  EXPECT_EQ(foreign.exit_code, 1);
  EXPECT_NE(foreign.output.find("not destroyed"), std::string::npos) << foreign.output;
  EXPECT_EQ(FileText(database()), "not a pool");
  const ToolRun unable = Run("--engine=pmem --num=10 --benchmarks=fillseq,compact");
  EXPECT_EQ(unable.exit_code, 1);
  EXPECT_NE(unable.output.find("benchmark 'compact' does not run with --engine=pmem"),
            std::string::npos)
      << unable.output;
}

TEST_F(DbBenchMeasuringTest, PlainTablesAreMeasured) {
  const std::string output = Output(
      "--num=5000 --key_size=20 --prefix_size=12 --keys_per_prefix=10 --use_plain_table=1 "
      "--mmap_read=1 --bloom_bits=10 --memtablerep=prefix_hash "
      "--compression_type=none --write_buffer_size=65536 "
      "--benchmarks=fillrandom,fillseq,flush,waitforcompaction,readrandom,levelstats");
  EXPECT_NE(output.find("(5000 of 5000 found)"), std::string::npos) << output;
}

// Keys have the same bytes as those of RocksDB's db_bench.
TEST_F(DbBenchMeasuringTest, RocksDbsBenchFindsTheKeys) {
  ASSERT_TRUE(HaveRocksDbTools());
  for (const char* const flags : {"--key_size=16", "--key_size=5", "--key_size=30"}) {
    (void)Output(StrCat("--num=1000 --benchmarks=fillseq ", flags));
    const ToolRun run =
        RunTool(StrCat("db_bench --db=", database(),
                       " --num=1000 --use_existing_db=1 --benchmarks=readrandom ", flags));
    EXPECT_NE(run.output.find("(1000 of 1000 found)"), std::string::npos) << flags << "\n"
                                                                          << run.output;
  }
}

}  // namespace
}  // namespace ashlar

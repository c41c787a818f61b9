#include "tools/db_bench/flags.h"

#include <gtest/gtest.h>

#include <set>

#include "tools/db_bench/foreign_flags.h"

namespace ashlar::bench {
namespace {

std::string ErrorOf(const std::vector<std::string>& arguments) {
  CommandLine line;
  const Status s = ParseCommandLine(arguments, &line);
  return s.ok() ? std::string() : std::string(s.getState());
}

Flags FlagsOf(const std::vector<std::string>& arguments) {
  CommandLine line;
  const Status s = ParseCommandLine(arguments, &line);
  EXPECT_TRUE(s.ok()) << s.ToString();
  return line.flags;
}

TEST(FlagsTest, EveryWayToWriteAFlag) {
  const Flags flags =
      FlagsOf({"--num=7", "-threads=2", "--value_size", "30", "--histogram", "--nopin_slice",
               "--sync", "false", "--disable_wal=true", "--db", "a b", "--bloom_bits=9.5",
               "--benchmark_write_rate_limit=-0", "--wal_dir="});
  EXPECT_EQ(flags.num, 7);
  EXPECT_EQ(flags.threads, 2);
  EXPECT_EQ(flags.value_size, 30);
  EXPECT_TRUE(flags.histogram);
  EXPECT_FALSE(flags.pin_slice);
  EXPECT_FALSE(flags.sync);
  EXPECT_TRUE(flags.disable_wal);
  EXPECT_EQ(flags.db, "a b");
  EXPECT_DOUBLE_EQ(flags.bloom_bits, 9.5);
  EXPECT_EQ(flags.wal_dir, "");
}

TEST(FlagsTest, ABooleanTakesOnlyBooleanWordsFromBehind) {
  const Flags flags = FlagsOf({"--histogram", "--num=5"});
  EXPECT_TRUE(flags.histogram);
  EXPECT_EQ(flags.num, 5);
}

TEST(FlagsTest, TheLastOfTwoCounts) { EXPECT_EQ(FlagsOf({"--num=5", "--num=6"}).num, 6); }

TEST(FlagsTest, WrongValuesAreNamed) {
  EXPECT_EQ(ErrorOf({"--num=1e6"}), "--num takes a 64-bit number, not '1e6'");
  EXPECT_EQ(ErrorOf({"--value_size=5000000000"}),
            "--value_size takes a 32-bit number, not '5000000000'");
  EXPECT_EQ(ErrorOf({"--ttl_seconds=-1"}),
            "--ttl_seconds takes an unsigned 64-bit number, not '-1'");
  EXPECT_EQ(ErrorOf({"--histogram=2"}), "--histogram takes 0, 1, true or false, not '2'");
  EXPECT_EQ(ErrorOf({"--num"}), "--num needs a value");
  EXPECT_EQ(ErrorOf({"readrandom"}), "'readrandom' is no flag; flags begin with --");
  EXPECT_EQ(ErrorOf({"-"}), "'-' is no flag; flags begin with --");
}

TEST(FlagsTest, FlagsMustFitTogether) {
  EXPECT_EQ(ErrorOf({"--prefix_size=17"}), "--prefix_size must not exceed --key_size");
  EXPECT_EQ(ErrorOf({"--keys_per_prefix=10"}), "--keys_per_prefix needs --prefix_size");
  EXPECT_EQ(ErrorOf({"--readonly"}), "--readonly needs --use_existing_db");
  EXPECT_EQ(ErrorOf({"--prefix_size=17", "--help"}), "");
}

TEST(FlagsTest, UnknownNamesGetTheNearest) {
  EXPECT_EQ(ErrorOf({"--nun=5"}), "unknown flag --nun; did you mean --num?");
  EXPECT_EQ(ErrorOf({"--cache-size=5"}), "unknown flag --cache-size; did you mean --cache_size?");
  EXPECT_EQ(ErrorOf({"--zzzzzzzzzzzzzzz=5"}), "unknown flag --zzzzzzzzzzzzzzz");
  EXPECT_EQ(ErrorOf({"--nothreads"}), "unknown flag --nothreads; did you mean --threads?");
}

TEST(FlagsTest, WhatIsAbsentIsAcceptedWithItsDefaultOnly) {
  EXPECT_EQ(ErrorOf({"--use_blob_db=false", "--use_blob_db=0", "--row_cache_size=0",
                     "--wal_compression=none", "--backup_dir="}),
            "");
  EXPECT_EQ(ErrorOf({"--row_cache_size=5"}),
            "--row_cache_size=5 asks for something that Ashlar does not have; only 0 is accepted");
  EXPECT_EQ(ErrorOf({"--use_blob_db"}),
            "--use_blob_db=1 asks for something that Ashlar does not have; only false is accepted");
  EXPECT_EQ(ErrorOf({"--backup_dir=x"}),
            "--backup_dir=x asks for something that Ashlar does not have; only the empty text is "
            "accepted");
}

TEST(FlagsTest, EachKindOfUnusedFlagHasOneNotice) {
  CommandLine line;
  ASSERT_TRUE(
      ParseCommandLine(
          {"--hard_rate_limit=2", "--min_blob_size", "5", "--disable_data_sync", "--num=5"}, &line)
          .ok());
  EXPECT_EQ(line.notices,
            (std::vector<std::string>{
                "retired by RocksDB, no effect: --hard_rate_limit --disable_data_sync",
                "no effect in Ashlar: --min_blob_size"}));
  EXPECT_EQ(line.flags.num, 5);
}

TEST(FlagsTest, NoNameIsKnownTwice) {
  std::set<std::string> names;
  for (const auto& [name, value] : FlagValues(Flags()))
    EXPECT_TRUE(names.insert(name).second) << name;
  for (const ForeignFlag& flag : ForeignFlags())
    EXPECT_TRUE(names.insert(std::string(flag.name)).second) << flag.name;
}

TEST(FlagsTest, ValuesCanBeReadBack) {
  Flags flags;
  flags.num = 12;
  flags.histogram = true;
  flags.compression_ratio = 0.25;
  flags.json = "x=y";
  std::vector<std::string> arguments;
  for (const auto& [name, value] : FlagValues(flags))
    arguments.push_back("--" + name + "=" + value);
  EXPECT_EQ(FlagValues(FlagsOf(arguments)), FlagValues(flags));
}

TEST(FlagsTest, TheMissionsCommandLineIsUnderstood) {
  CommandLine line;
  ASSERT_TRUE(ParseCommandLine({"--db=DIR",
                                "--num_levels=6",
                                "--key_size=20",
                                "--prefix_size=20",
                                "--keys_per_prefix=0",
                                "--value_size=100",
                                "--block_size=4096",
                                "--cache_size=17179869184",
                                "--cache_numshardbits=6",
                                "--compression_type=none",
                                "--compression_ratio=1",
                                "--min_level_to_compress=-1",
                                "--disable_seek_compaction=1",
                                "--hard_rate_limit=2",
                                "--write_buffer_size=134217728",
                                "--max_write_buffer_number=2",
                                "--level0_file_num_compaction_trigger=8",
                                "--target_file_size_base=2097152",
                                "--max_bytes_for_level_base=1073741824",
                                "--disable_wal=0",
                                "--sync=0",
                                "--disable_data_sync=1",
                                "--verify_checksum=1",
                                "--delete_obsolete_files_period_micros=314572800",
                                "--max_grandparent_overlap_factor=10",
                                "--max_background_compactions=4",
                                "--max_background_flushes=0",
                                "--level0_slowdown_writes_trigger=16",
                                "--level0_stop_writes_trigger=24",
                                "--statistics=0",
                                "--stats_per_interval=0",
                                "--stats_interval=1048576",
                                "--histogram=0",
                                "--use_plain_table=1",
                                "--open_files=-1",
                                "--mmap_read=1",
                                "--mmap_write=0",
                                "--memtablerep=prefix_hash",
                                "--bloom_bits=10",
                                "--bloom_locality=1",
                                "--perf_level=0",
                                "--benchmarks=fillseq,readrandom,readrandom,readrandom",
                                "--use_existing_db=0",
                                "--num=52428800",
                                "--threads=1"},
                               &line)
                  .ok());
  EXPECT_EQ(line.notices,
            (std::vector<std::string>{"retired by RocksDB, no effect: --disable_seek_compaction "
                                      "--hard_rate_limit --disable_data_sync "
                                      "--max_grandparent_overlap_factor"}));
}

}  // namespace
}  // namespace ashlar::bench

#include "tests/differential/history.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <random>

#include "tests/differential/text.h"

namespace ashlar::differential {

namespace {

constexpr size_t kSlots = 4;
// A family that may be created again after a drop, with the same comparator. RocksDB 7.8.3 and
// Ashlar refuse to open a database in which a dropped family of that name has another comparator.
const char* const kReusedName = "again";

// Options as "name=value;..." text.
class OptionText {
 public:
  void Add(const std::string& name, const std::string& value) {
    if (!text_.empty()) text_ += ";";
    text_ += name + "=" + value;
  }
  std::string text() const { return text_.empty() ? "-" : text_; }

 private:
  std::string text_;
};

class Generator {
 public:
  Generator(uint64_t seed, const HistoryLimits& limits) : random_(seed), limits_(limits) {
    tiny_memtables_ = OneIn(3);
    without_log_ = OneIn(4);
    prefixes_ = OneIn(3);
    archives_logs_ = OneIn(4);
    recycles_logs_ = OneIn(3);
    has_secondary_ = !tiny_memtables_ && !without_log_ && OneIn(3);
    limits_logs_ = !has_secondary_ && OneIn(3);
  }

  History Run();

 private:
  struct Family {
    std::string name, comparator, merge;
    size_t prefix_bytes;
    std::string fixed_options;
  };

  static bool IsUniversal(const Family& family) {
    return family.fixed_options.find("kCompactionStyleUniversal") != std::string::npos;
  }
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  std::string Between(uint64_t low, uint64_t high) {
    return std::to_string(low + Below(high - low + 1));
  }
  std::string Pick(std::initializer_list<const char*> choices) {
    return choices.begin()[Below(choices.size())];
  }
  std::string Truth() { return OneIn(2) ? "true" : "false"; }
  void Say(const std::string& line) { history_.push_back(line); }

  std::string Key();
  std::string NewSingleKey();
  std::string Value();
  std::string Slot(char kind) { return std::string(1, kind) + std::to_string(Below(kSlots)); }
  std::string SnapshotOrNone() { return OneIn(3) ? Slot('s') : "-"; }
  std::string How();
  Family& AnyFamily() { return families_[Below(families_.size())]; }

  Family NewFamily(const std::string& name);
  std::string DescribeFamily(const Family& family);
  std::string TableOptions(const Family& family);
  std::string DbOptions();
  std::string OpenLine(const std::string& mode, const std::string& db_options);
  void Open();
  void ProbeOpen();
  void ReadOnlyPhase();
  void Exchange();
  void Operation();
  void Write();
  std::string SingleDelete(const std::string& how);
  std::string BatchPart();
  void Read();
  void Iterate();
  void Maintain();
  void ChangeFamilies();
  void Inspect();
  void Copy();
  std::string IngestLine();
  void Finish();

  std::mt19937_64 random_;
  const HistoryLimits limits_;
  History history_;
  std::vector<Family> families_;
  std::vector<std::pair<std::string, std::string>> single_keys_;  // family and key
  size_t single_count_ = 0;
  size_t family_count_ = 0;
  std::string reused_comparator_;  // empty: not created yet
  bool tiny_memtables_;
  bool without_log_;  // writes without log, and no kills
  bool prefixes_;
  bool archives_logs_;
  bool recycles_logs_;
  bool has_secondary_;  // and no flush or compaction in the background
  bool limits_logs_;
  bool exists_ = false;
};

std::string Generator::Key() {
  static constexpr std::array kLetters = {'a', 'b', 'c', 'd'};
  if (OneIn(60)) return Pick({"%", "%00", "%FF", "%FF%FF%FF", "a%00", "b%FF", "aaa%00%00"});
  std::string key;
  if (OneIn(12)) key = "a-long-shared-beginning/of-many-keys/";
  const size_t length = 1 + Below(prefixes_ ? 6 : 5);
  for (size_t i = 0; i < length; i++) key += kLetters[Below(kLetters.size())];
  return key;
}

std::string Generator::NewSingleKey() {
  std::string key = "once";
  key += std::to_string(single_count_++);
  return key;
}

std::string Generator::Value() {
  if (OneIn(30)) return "%";
  if (OneIn(tiny_memtables_ ? 3 : 10))
    return "~" + Between(10, tiny_memtables_ ? 4000 : 600) + "." + Between(1, 999);
  return "v" + Between(1, 9999);
}

std::string Generator::How() {
  if (without_log_ && OneIn(4)) return "n";
  return OneIn(12) ? "s" : "-";
}

Generator::Family Generator::NewFamily(const std::string& name) {
  Family family;
  family.name = name;
  family.prefix_bytes = prefixes_ && OneIn(2) ? 1 + Below(3) : 0;
  // Keys with a common prefix are not contiguous in numeric order, which sorts by length first.
  family.comparator = family.prefix_bytes > 0
                          ? Pick({"bytewise", "bytewise", "reverse"})
                          : Pick({"bytewise", "bytewise", "reverse", "numeric"});
  if (name == kReusedName) {
    if (reused_comparator_.empty()) reused_comparator_ = family.comparator;
    family.comparator = reused_comparator_;
    if (family.comparator == "numeric") family.prefix_bytes = 0;
  }
  family.merge = Pick({"-", "append", "append", "full", "max"});
  family.fixed_options = "num_levels=" + Between(2, 7);
  family.fixed_options += ";level_compaction_dynamic_level_bytes=" + Truth();
  if (OneIn(3)) family.fixed_options += ";compaction_style=kCompactionStyleUniversal";
  if (family.prefix_bytes > 0)
    family.fixed_options += ";prefix_extractor=fixed:" + std::to_string(family.prefix_bytes);
  return family;
}

std::string Generator::TableOptions(const Family& family) {
  OptionText table;
  table.Add("format_version", Between(2, 5));
  table.Add("block_size", Pick({"64", "256", "1024", "4096"}));
  if (OneIn(2)) table.Add("block_restart_interval", Between(1, 16));
  if (OneIn(4)) table.Add("index_block_restart_interval", Between(1, 8));
  if (OneIn(2))
    table.Add("checksum", Pick({"kNoChecksum", "kCRC32c", "kxxHash", "kxxHash64", "kXXH3"}));
  // A filter assumes that equal keys have equal bytes, which is true of all comparators here.
  if (OneIn(2)) {
    table.Add("filter_policy", OneIn(3)
                                   ? "ribbonfilter:" + Between(1, 16) + ":" + Pick({"-1", "0", "2"})
                                   : "bloomfilter:" + Between(1, 16) + ":false");
  }
  if (OneIn(3)) {
    // Never kHashSearch, because RocksDB 7.8.3 ends the process at a key for which the prefix
    // extractor has no prefix, and at an index_block_restart_interval other than 1.
    const std::string type = family.prefix_bytes > 0
                                 ? "kTwoLevelIndexSearch"
                                 : Pick({"kTwoLevelIndexSearch", "kBinarySearchWithFirstKey"});
    table.Add("index_type", type);
    // RocksDB ends the process if the index has no partitions.
    if (type == "kTwoLevelIndexSearch") table.Add("partition_filters", Truth());
    table.Add("metadata_block_size", Pick({"64", "512", "4096"}));
  }
  if (family.prefix_bytes > 0 && OneIn(2)) table.Add("whole_key_filtering", Truth());
  // These two options exclude each other.
  if (OneIn(3)) table.Add(Pick({"no_block_cache", "cache_index_and_filter_blocks"}), "true");
  if (OneIn(4)) table.Add("enable_index_compression", Truth());
  if (OneIn(4))
    table.Add("index_shortening",
              Pick({"kNoShortening", "kShortenSeparators", "kShortenSeparatorsAndSuccessor"}));
  if (OneIn(6)) table.Add("data_block_index_type", "kDataBlockBinaryAndHash");
  return "{" + table.text() + "}";
}

std::string Generator::DescribeFamily(const Family& family) {
  OptionText options;
  options.Add("write_buffer_size", tiny_memtables_ ? "65536" : "4194304");
  options.Add("compression", Pick({"kNoCompression", "kSnappyCompression", "kZlibCompression",
                                   "kLZ4Compression", "kLZ4HCCompression", "kZSTD"}));
  if (OneIn(3))
    options.Add("compression_opts", "{max_dict_bytes=" + Pick({"100", "4000"}) +
                                        ";zstd_max_train_bytes=" + Pick({"0", "20000"}) + ";}");
  options.Add("level0_file_num_compaction_trigger", Between(1, 6));
  options.Add("target_file_size_base", Pick({"500", "2000", "20000"}));
  options.Add("max_bytes_for_level_base", Pick({"1000", "5000", "50000"}));
  if (OneIn(2)) options.Add("max_bytes_for_level_multiplier", Between(2, 5));
  if (has_secondary_ || OneIn(4)) options.Add("disable_auto_compactions", "true");
  if (OneIn(3)) options.Add("max_sequential_skip_in_iterations", Between(0, 4));
  if (OneIn(4)) options.Add("max_successive_merges", Between(0, 3));
  if (OneIn(4)) options.Add("optimize_filters_for_hits", "true");
  if (OneIn(4)) options.Add("memtable_prefix_bloom_size_ratio", "0.1");
  if (OneIn(4)) options.Add("memtable_whole_key_filtering", "true");
  if (OneIn(4)) options.Add("max_write_buffer_number", Between(2, 5));
  if (OneIn(4)) options.Add("min_write_buffer_number_to_merge", Between(1, 3));
  options.Add("block_based_table_factory", TableOptions(family));
  return family.name + "|" + family.comparator + "|" + family.merge + "|" + family.fixed_options +
         ";" + options.text();
}

std::string Generator::DbOptions() {
  OptionText options;
  options.Add("create_if_missing", "true");
  options.Add("create_missing_column_families", "true");
  options.Add("info_log_level", "FATAL_LEVEL");
  if (OneIn(3)) options.Add("max_background_jobs", Between(1, 4));
  if (OneIn(3)) options.Add("max_subcompactions", Between(1, 3));
  if (OneIn(4)) options.Add("max_open_files", Pick({"-1", "10", "1000"}));
  if (OneIn(4)) options.Add("max_manifest_file_size", "1000");
  if (OneIn(4)) options.Add("avoid_flush_during_recovery", "true");
  if (!without_log_ && OneIn(4)) options.Add("avoid_flush_during_shutdown", "true");
  if (OneIn(6)) options.Add("allow_mmap_reads", "true");
  if (limits_logs_ && OneIn(2)) options.Add("max_total_wal_size", Pick({"20000", "200000"}));
  if (archives_logs_) options.Add("WAL_ttl_seconds", "100000");
  if (OneIn(4)) options.Add("enable_pipelined_write", "true");
  // RocksDB 11.8.1 refuses writes without log to a database that recycles logs. A secondary may
  // read the rest of an older log in a recycled one.
  if (recycles_logs_ && !without_log_ && !has_secondary_ && OneIn(2))
    options.Add("recycle_log_file_num", Between(1, 3));
  if (OneIn(4)) options.Add("wal_compression", "kZSTD");
  // Never kSkipAnyCorruptedRecords, with which RocksDB 7.8.3 hangs in an open or ends the process.
  // kAbsoluteConsistency takes the rest of an older log in a recycled one for damage.
  if (OneIn(4)) {
    options.Add("wal_recovery_mode",
                recycles_logs_ ? Pick({"kPointInTimeRecovery", "kTolerateCorruptedTailRecords"})
                               : Pick({"kPointInTimeRecovery", "kTolerateCorruptedTailRecords",
                                       "kAbsoluteConsistency"}));
  }
  return options.text();
}

std::string Generator::OpenLine(const std::string& mode, const std::string& db_options) {
  std::string line = "open @ " + mode + " " + db_options;
  for (const Family& family : families_) line += " " + DescribeFamily(family);
  return line;
}

void Generator::Open() {
  if (OneIn(6)) ProbeOpen();
  if (exists_ && OneIn(5)) ReadOnlyPhase();
  Say(OpenLine("rw", DbOptions()));
  exists_ = true;
  if (!OneIn(3)) return;
  for (const Family& family : families_) Say("dump " + family.name + " -");
}

// Generates opens that fail, or that open something other than the complete database.
void Generator::ProbeOpen() {
  const std::string everything = "create_if_missing=true;create_missing_column_families=true";
  if (!exists_) {
    Say(OpenLine("rw", "-"));
    Say(OpenLine("ro", "-"));
    return;
  }
  switch (Below(4)) {
    case 0: Say(OpenLine("rw", "error_if_exists=true")); break;
    case 1:
      if (families_.size() > 1) Say("open @ rw - " + DescribeFamily(families_[0]));
      break;
    case 2:
      // Otherwise RocksDB flushes the recovered entries before it refuses. Ashlar changes nothing.
      Say(OpenLine("rw", "avoid_flush_during_recovery=true") + " absent|bytewise|-|-");
      break;
    default: {
      Family other = families_[0];
      other.comparator = other.comparator == "reverse" ? "bytewise" : "reverse";
      std::string line = "open @ rw " + everything + " " + DescribeFamily(other);
      for (size_t i = 1; i < families_.size(); i++) line += " " + DescribeFamily(families_[i]);
      Say(line);
      Say("close");
    }
  }
  Say("families @");
}

void Generator::ReadOnlyPhase() {
  Say(OpenLine("ro", OneIn(2) ? "-" : "max_open_files=10"));
  for (const Family& family : families_) Say("dump " + family.name + " -");
  for (int i = 0; i < 6; i++) OneIn(2) ? Read() : Iterate();
  Say("put " + AnyFamily().name + " - " + Key() + " " + Value());
  Say("flush " + AnyFamily().name);
  Say("close");
}

void Generator::Exchange() {
  Say(!without_log_ && OneIn(3) ? "kill" : "exchange");
  Open();
}

std::string Generator::SingleDelete(const std::string& how) {
  const size_t at = Below(single_keys_.size());
  const auto [family, key] = single_keys_[at];
  single_keys_.erase(single_keys_.begin() + static_cast<ptrdiff_t>(at));
  return "single " + family + " " + how + key;
}

std::string Generator::BatchPart() {
  const Family& family = AnyFamily();
  switch (Below(15)) {
    case 0: return Pick({"save", "rollback", "pop"});
    case 1: return "log " + Value();
    case 2:
    case 3: return "delete " + family.name + " " + Key();
    case 4: {
      return "range " + family.name + " " + Key() + " " + Key();
    }
    case 8:
      if (!single_keys_.empty()) return SingleDelete("");
      [[fallthrough]];
    case 5:
    case 6:
    case 7:
      if (family.merge != "-") return "merge " + family.name + " " + Key() + " " + Value();
      [[fallthrough]];
    default: return "put " + family.name + " " + Key() + " " + Value();
  }
}

void Generator::Write() {
  const Family& family = AnyFamily();
  const std::string place = " " + family.name + " " + How() + " ";
  switch (Below(20)) {
    case 0:
    case 1:
    case 2: Say("delete" + place + Key()); return;
    case 3: {
      Say("range" + place + Key() + " " + Key());
      return;
    }
    case 4: {
      const std::string key = NewSingleKey();
      Say("put" + place + key + " " + Value());
      single_keys_.emplace_back(family.name, key);
      return;
    }
    case 5: {
      if (single_keys_.empty()) return;
      Say(SingleDelete(How() + " "));
      return;
    }
    case 6:
    case 7:
    case 8: {
      std::string line = "batch " + How();
      if (OneIn(5)) line += OneIn(2) ? "d" : "r";
      for (uint64_t parts = Below(8); parts-- > 0;) line += " " + BatchPart();
      Say(line);
      return;
    }
    case 9:
    case 10:
    case 11:
    case 12: Say("merge" + place + Key() + " " + Value()); return;
    default: Say("put" + place + Key() + " " + Value());
  }
}

void Generator::Read() {
  const Family& family = AnyFamily();
  switch (Below(6)) {
    case 0:
    case 1: Say("get " + family.name + " " + SnapshotOrNone() + " " + Key()); return;
    case 2: Say("pinned " + family.name + " " + SnapshotOrNone() + " " + Key()); return;
    case 3: {
      std::string line = "multi " + SnapshotOrNone();
      for (uint64_t keys = 1 + Below(6); keys-- > 0;) line += " " + AnyFamily().name + " " + Key();
      Say(line);
      return;
    }
    case 4: {
      std::string line = "many " + family.name + " " + SnapshotOrNone();
      for (uint64_t keys = 1 + Below(10); keys-- > 0;) line += " " + Key();
      Say(line);
      return;
    }
    default: Say("mayexist " + family.name + " " + Key());
  }
}

void Generator::Iterate() {
  const std::string slot = Slot('i');
  if (OneIn(4)) {
    const Family& family = AnyFamily();
    std::string flags = Pick({"-", "t", "t", "p", "x", "a"});
    const std::string lower = OneIn(3) ? Key() : "-";
    std::string upper = OneIn(3) ? Key() : "-";
    // With an upper bound, RocksDB may leave out short keys in auto prefix mode.
    if (flags == "a") upper = "-";
    if (OneIn(4)) flags += "c";
    Say("iterator " + slot + " " + family.name + " " + SnapshotOrNone() + " " + flags + " " +
        lower + " " + upper);
  }
  const std::string move = Pick({"seek", "seek", "seekprev", "first", "last", "next", "next",
                                 "prev", "forward", "backward", "refresh", "drop"});
  Say("move " + slot + " " + move + (move.starts_with("seek") ? " " + Key() : std::string()));
  if (move.starts_with("seek") || move == "first" || move == "last")
    Say("move " + slot + " " + Pick({"next", "prev", "forward", "backward"}));
}

void Generator::Maintain() {
  const Family& family = AnyFamily();
  switch (Below(8)) {
    case 0:
    case 1:
    case 2: Say("flush " + family.name); return;
    case 3: Say("compact " + family.name + " - -"); return;
    case 4:
      Say("compact " + family.name + " " + (OneIn(3) ? "-" : Key()) + " " +
          (OneIn(3) ? "-" : Key()));
      return;
    case 5: Say("force " + family.name); return;
    default: Say("flushwal " + Pick({"s", "-"}));
  }
}

void Generator::ChangeFamilies() {
  if (families_.size() < 4 && OneIn(2)) {
    std::string name = OneIn(4) ? kReusedName : "f" + std::to_string(family_count_++);
    for (const Family& family : families_) {
      if (family.name != name) continue;
      Say("create " + DescribeFamily(family));
      return;
    }
    families_.push_back(NewFamily(name));
    Say("create " + DescribeFamily(families_.back()));
  } else if (families_.size() > 1) {
    const size_t at = 1 + Below(families_.size() - 1);
    Say("drop " + families_[at].name);
    families_.erase(families_.begin() + static_cast<ptrdiff_t>(at));
  } else {
    Say("drop default");
  }
}

void Generator::Inspect() {
  const Family& family = AnyFamily();
  switch (Below(7)) {
    case 0: Say("sequence"); return;
    case 1: Say("sizes " + family.name + " " + Key() + " " + Key()); return;
    case 2:
      // With tiny memtables, the time of a switch depends on the memory that a library counts. With
      // a limit on the logs, it depends on the counted log bytes and on the deletion of logs. If
      // a file enters level 0 of a universal tree, Ashlar flushes (I3 of file_ingestion.h), but
      // RocksDB does so only if a memtable has a key in the range of the file.
      Say("number " + family.name + " " +
          (tiny_memtables_ || limits_logs_ || IsUniversal(family)
               ? Pick({"rocksdb.num-snapshots", "rocksdb.background-errors"})
               : Pick({"rocksdb.num-snapshots", "rocksdb.num-entries-active-mem-table",
                       "rocksdb.num-deletes-active-mem-table", "rocksdb.num-entries-imm-mem-tables",
                       "rocksdb.num-deletes-imm-mem-tables", "rocksdb.background-errors",
                       "rocksdb.is-write-stopped", "rocksdb.is-file-deletions-enabled",
                       "rocksdb.actual-delayed-write-rate"})));
      return;
    case 3:
      Say("property " + family.name + " " +
          Pick({"rocksdb.stats",
                "rocksdb.sstables",
                "rocksdb.cfstats",
                "rocksdb.dbstats",
                "rocksdb.levelstats",
                "rocksdb.num-files-at-level0",
                "rocksdb.num-files-at-level99",
                "rocksdb.estimate-live-data-size",
                "rocksdb.total-sst-files-size",
                "rocksdb.block-cache-capacity",
                "rocksdb.nonsense",
                "rocksdb.",
                "rocksdb.cur-size-all-mem-tables",
                "rocksdb.size-all-mem-tables",
                "rocksdb.base-level",
                "rocksdb.estimate-pending-compaction-bytes",
                "rocksdb.num-running-flushes",
                "rocksdb.min-log-number-to-keep",
                "rocksdb.live-sst-files-size",
                "rocksdb.options-statistics",
                "rocksdb.current-super-version-number",
                "rocksdb.oldest-snapshot-time",
                "rocksdb.oldest-snapshot-sequence",
                "rocksdb.compaction-pending"}));
      return;
    case 4:
      Say("set " + family.name + " " +
          Pick({"disable_auto_compactions true",
                has_secondary_ ? "no_such_option 2" : "disable_auto_compactions false",
                "level0_file_num_compaction_trigger 3", "target_file_size_base 1000",
                "no_such_option 1", "num_levels 3", "write_buffer_size nonsense",
                "max_bytes_for_level_base 3000"}));
      return;
    case 5: Say("dump " + family.name + " " + SnapshotOrNone()); return;
    default: Say(OneIn(2) ? "snapshot " + Slot('s') : "release " + Slot('s'));
  }
}

// The letters of HOW that leave entries only in logs are for histories that log all entries.
void Generator::Copy() {
  switch (Below(5)) {
    case 0: Say("checkpoint " + (without_log_ ? "-" : Pick({"-", "l"}))); return;
    case 1:
      if (!std::all_of(families_.begin(), families_.end(),
                       [](const Family& family) { return family.comparator == "bytewise"; }))
        return Say(IngestLine());
      Say("backup " + (without_log_ ? Pick({"f", "fp"}) : Pick({"-", "f", "p", "fp"})));
      return;
    default: Say(IngestLine());
  }
}

// The options are limited to those that each release reads, and have no partitions. RocksDB ends
// the process at partitioned filters of a file that has only range deletions.
std::string Generator::IngestLine() {
  const Family& family = AnyFamily();
  std::string line = "ingest " + family.name + " " + Pick({"-", "-", "-", "m", "m", "u"});
  line += " compression=" + Pick({"kNoCompression", "kSnappyCompression", "kZSTD"}) +
          ";block_based_table_factory={format_version=" + Between(2, 5) +
          ";block_size=" + Pick({"64", "1024"}) + "}";
  for (uint64_t entries = 1 + Below(8); entries-- > 0;) {
    switch (Below(8)) {
      case 0: line += " delete " + Key(); break;
      case 1:
        // RocksDB's secondary shows the entries of its memtable that the range deletes.
        line += has_secondary_ ? " delete " + Key() : " range " + Key() + " " + Key();
        break;
      case 2:
        if (family.merge != "-") {
          line += " merge " + Key() + " " + Value();
          break;
        }
        [[fallthrough]];
      default: line += " put " + Key() + " " + Value();
    }
  }
  return line;
}

void Generator::Operation() {
  if (archives_logs_ && OneIn(15)) return Say("updates " + Between(1, 20));
  if (has_secondary_ && OneIn(15)) return Say("secondary");
  const uint64_t choice = Below(100);
  if (choice < 48) return Write();
  if (choice < 62) return Read();
  if (choice < 78) return Iterate();
  if (choice < 84) return Maintain();
  if (choice < 86) return ChangeFamilies();
  if (choice < 96) return Inspect();
  if (choice < 98) return Copy();
  return Exchange();
}

void Generator::Finish() {
  for (const Family& family : families_) Say("dump " + family.name + " -");
  Say("sequence");
  Say("exchange");
  Say("families @");
  Say(OpenLine("rw", DbOptions()));
  for (const Family& family : families_) Say("dump " + family.name + " -");
  for (const Family& family : families_) Say("force " + family.name);
  for (const Family& family : families_) Say("dump " + family.name + " -");
  Say("number default rocksdb.background-errors");
  Say("exchange");
  Say(OpenLine("ro", "-"));
  for (const Family& family : families_) Say("dump " + family.name + " -");
  Say("close");
}

History Generator::Run() {
  families_.push_back(NewFamily("default"));
  for (uint64_t more = Below(3); more-- > 0;)
    families_.push_back(NewFamily("f" + std::to_string(family_count_++)));
  Open();
  while (history_.size() < limits_.operations) Operation();
  Finish();
  return std::move(history_);
}

}  // namespace

History MakeHistory(uint64_t seed, const HistoryLimits& limits) {
  return Generator(seed, limits).Run();
}

}  // namespace ashlar::differential

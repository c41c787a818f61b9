#include "tools/common/amplification.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/filter_policy.h"
#include "ashlar/perf_context.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "ashlar/vfs.h"

namespace ashlar::amplification {

namespace {

constexpr uint64_t kKeyBytesMin = 8;
constexpr uint64_t kKeysMin = 1000;
constexpr uint64_t kKeysMax = uint64_t{1} << 28;  // their order takes 2 GiB of memory
constexpr uint64_t kOperationsPerLook = 4096;     // between two reads of the folder's size
constexpr uint64_t kSeeksPerCount = 32;           // between two counts of the sorted runs
// The data have this many times the size of a memtable, as 8 GiB have of 64 MiB.
constexpr uint64_t kDataPerMemtable = 128;

std::string KeyOf(const Workload& workload, uint64_t number) {
  // Spread over the entire key space, as hashed keys are.
  const uint64_t mixed = number * 0x9e3779b97f4a7c15;
  std::string key(workload.key_bytes, 'k');
  for (size_t i = 0; i < kKeyBytesMin; ++i)
    key[i] = static_cast<char>(mixed >> (8 * (kKeyBytesMin - 1 - i)));
  return key;
}

uint64_t FolderBytes(vfs::FileSystem* files, const std::string& folder) {
  std::vector<std::string> names;
  uint64_t sum = 0;
  if (!files->GetChildren(folder, &names).ok()) return 0;
  for (const std::string& name : names) {
    uint64_t bytes = 0;
    // A table may be deleted between the two calls.
    if (name.ends_with(".sst") && files->GetFileSize(folder + "/" + name, &bytes).ok())
      sum += bytes;
  }
  return sum;
}

uint64_t Number(DB* db, const std::string& property) {
  uint64_t value = 0;
  return db->GetIntProperty(property, &value) ? value : 0;
}

uint64_t SortedRuns(DB* db) {
  uint64_t runs = 1 + Number(db, DB::Properties::kNumImmutableMemTable);
  for (int level = 0; level < db->NumberLevels(); ++level) {
    std::string text;
    if (!db->GetProperty(DB::Properties::kNumFilesAtLevelPrefix + std::to_string(level), &text))
      continue;
    const uint64_t files = std::stoull(text);
    runs += level == 0 ? files : std::min<uint64_t>(files, 1);
  }
  return runs;
}

class Run {
 public:
  Run(const Workload& workload, std::string folder, DB* db, Statistics* statistics)
      : workload_(workload),
        folder_(std::move(folder)),
        db_(db),
        statistics_(statistics),
        random_(workload.seed),
        value_(workload.value_bytes, 'v') {}

  Status Load() {
    std::vector<uint64_t> order(workload_.keys);
    for (uint64_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random_);
    for (const uint64_t number : order) {
      if (Status s = Put(number); !s.ok()) return s;
    }
    keys_ = workload_.keys;
    return Settle();
  }

  Status Rounds(Figures* figures) {
    const uint64_t operations_per_round = std::max<uint64_t>(workload_.keys / 2, 1);
    double before = 0;
    uint64_t operations = 0;
    double seconds = 0;
    for (int round = 0; round < kRoundsMax && !figures->steady; ++round) {
      const uint64_t written_before = Written();
      const uint64_t user_before = user_bytes_;
      const auto start = std::chrono::steady_clock::now();
      for (uint64_t i = 0; i < operations_per_round; ++i) {
        if (Status s = Operation(); !s.ok()) return s;
      }
      if (Status s = Settle(); !s.ok()) return s;
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      operations += operations_per_round;
      const uint64_t user = user_bytes_ - user_before;
      figures->rounds = round + 1;
      figures->written_per_byte =
          user == 0 ? 0
                    : static_cast<double>(Written() - written_before) / static_cast<double>(user);
      figures->steady =
          round > 0 && std::abs(figures->written_per_byte - before) <= kSteady * before;
      before = figures->written_per_byte;
    }
    const double live = static_cast<double>(keys_ * (workload_.key_bytes + workload_.value_bytes));
    figures->runs_per_get = Ratio(blocks_of_gets_, gets_);
    figures->runs_per_seek = Ratio(runs_counted_, counts_);
    figures->disk_per_live_byte =
        static_cast<double>(Number(db_, DB::Properties::kLiveSstFilesSize)) / live;
    figures->peak_per_live_byte = static_cast<double>(peak_bytes_) / live;
    figures->us_per_operation = seconds * 1e6 / static_cast<double>(operations);
    return Status::OK();
  }

 private:
  static double Ratio(uint64_t a, uint64_t b) {
    return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
  }

  uint64_t Draw(uint64_t below) { return random_() % below; }

  Status Put(uint64_t number) {
    // Makes distinct values that do not compress.
    for (size_t i = 0; i + 8 <= value_.size(); i += 8) {
      const uint64_t bits = random_();
      std::copy_n(reinterpret_cast<const char*>(&bits), sizeof(bits), value_.data() + i);
    }
    user_bytes_ += workload_.key_bytes + workload_.value_bytes;
    return db_->Put(WriteOptions(), KeyOf(workload_, number), value_);
  }

  Status Operation() {
    if (++operations_ % kOperationsPerLook == 0) Look();
    if (Draw(100) < workload_.read_percent) return operations_ % 2 == 0 ? Get() : Seek();
    const bool overwrites = Draw(100) < workload_.overwrite_percent;
    return Put(overwrites ? Draw(keys_) : keys_++);
  }

  Status Get() {
    PerfContext* const perf = get_perf_context();
    const uint64_t before = perf->block_cache_hit_count + perf->block_read_count;
    PinnableSlice value;
    const Status s =
        db_->Get(ReadOptions(), db_->DefaultColumnFamily(), KeyOf(workload_, Draw(keys_)), &value);
    blocks_of_gets_ += perf->block_cache_hit_count + perf->block_read_count - before;
    ++gets_;
    return s;
  }

  Status Seek() {
    if (seeks_++ % kSeeksPerCount == 0) {
      runs_counted_ += SortedRuns(db_);
      ++counts_;
    }
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->Seek(KeyOf(workload_, Draw(keys_)));
    return it->status();
  }

  void Look() {
    peak_bytes_ = std::max(peak_bytes_, FolderBytes(db_->GetEnv()->EngineFiles().get(), folder_));
  }

  Status Settle() {
    Status s = db_->Flush(FlushOptions());
    while (s.ok() && Number(db_, DB::Properties::kNumRunningCompactions) +
                             Number(db_, DB::Properties::kCompactionPending) >
                         0) {
      Look();
      WaitForCompactOptions wait;
      wait.timeout = std::chrono::milliseconds(20);
      s = db_->WaitForCompact(wait);
      if (s.IsTimedOut()) s = Status::OK();
    }
    Look();
    return s;
  }

  uint64_t Written() const {
    return statistics_->getTickerCount(FLUSH_WRITE_BYTES) +
           statistics_->getTickerCount(COMPACT_WRITE_BYTES);
  }

  const Workload& workload_;
  const std::string folder_;
  DB* const db_;
  Statistics* const statistics_;
  std::mt19937_64 random_;
  std::string value_;
  uint64_t keys_ = 0;
  uint64_t operations_ = 0;
  uint64_t user_bytes_ = 0;
  uint64_t gets_ = 0;
  uint64_t blocks_of_gets_ = 0;
  uint64_t seeks_ = 0;
  uint64_t counts_ = 0;  // of the sorted runs
  uint64_t runs_counted_ = 0;
  uint64_t peak_bytes_ = 0;
};

}  // namespace

Status Validate(const Workload& workload) {
  if (workload.keys < kKeysMin)
    return Status::InvalidArgument(fmt::format("fewer than {} keys show nothing", kKeysMin));
  if (workload.keys > kKeysMax)
    return Status::InvalidArgument(
        fmt::format("{} keys: choose up to {}", workload.keys, kKeysMax));
  if (workload.key_bytes < kKeyBytesMin || workload.key_bytes > 1 << 16)
    return Status::InvalidArgument(
        fmt::format("keys of {} bytes: choose {} to 65536", workload.key_bytes, kKeyBytesMin));
  if (workload.value_bytes > 1 << 24)
    return Status::InvalidArgument(
        fmt::format("values of {} bytes: choose up to 16777216", workload.value_bytes));
  if (workload.overwrite_percent > 100 || workload.read_percent > 99)
    return Status::InvalidArgument("shares are percentages: overwrites 0 to 100, reads 0 to 99");
  return Status::OK();
}

std::vector<Setting> Settings() {
  const auto universal = [](const auto& change) {
    return [change](Options* options) {
      options->compaction_style = kCompactionStyleUniversal;
      change(&options->compaction_options_universal);
    };
  };
  return {
      {"leveled", [](Options*) {}},
      {"leveled, multiplier 4", [](Options* o) { o->max_bytes_for_level_multiplier = 4; }},
      {"leveled, 8 tables in level 0",
       [](Options* o) { o->level0_file_num_compaction_trigger = 8; }},
      {"universal", universal([](CompactionOptionsUniversal*) {})},
      {"universal, amplification 25 %",
       universal([](CompactionOptionsUniversal* o) { o->max_size_amplification_percent = 25; })},
      {"universal, incremental",
       universal([](CompactionOptionsUniversal* o) { o->incremental = true; })},
      {"FIFO, nothing dropped",
       [](Options* o) {
         o->compaction_style = kCompactionStyleFIFO;
         o->compaction_options_fifo.max_table_files_size = UINT64_MAX;
         o->compaction_options_fifo.allow_compaction = true;
         o->ttl = o->periodic_compaction_seconds = 0;
       }},
  };
}

Options ScaledOptions(const Workload& workload) {
  Options options;
  options.create_if_missing = true;
  options.compression = kNoCompression;
  options.info_log_level = WARN_LEVEL;
  const uint64_t data = workload.keys * (workload.key_bytes + workload.value_bytes);
  const uint64_t memtable =
      std::clamp<uint64_t>(data / kDataPerMemtable, uint64_t{64} << 10, uint64_t{64} << 20);
  options.write_buffer_size = static_cast<size_t>(memtable);
  options.target_file_size_base = memtable;
  options.max_bytes_for_level_base = 4 * memtable;
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  return options;
}

Status Measure(const Workload& workload, const Setting& setting, const std::string& folder,
               Figures* figures) {
  if (Status s = Validate(workload); !s.ok()) return s;
  Options options = ScaledOptions(workload);
  options.statistics = CreateDBStatistics();
  options.error_if_exists = true;
  setting.set(&options);
  std::unique_ptr<DB> db;
  Status s = DB::Open(options, folder, &db);
  if (!s.ok()) return s;
  *figures = Figures{.setting = setting.name};
  Run run(workload, folder, db.get(), options.statistics.get());
  s = run.Load();
  if (s.ok()) s = run.Rounds(figures);
  db.reset();
  options.error_if_exists = false;
  const Status destroyed = DestroyDB(folder, options);
  return s.ok() ? destroyed : s;
}

std::string Table(const Workload& workload, const std::vector<Figures>& figures) {
  std::string text = fmt::format(
      "{} keys of {} bytes with values of {}; {} % of the operations read, {} % of the writes "
      "overwrite.\nScaled down: memtables and tables of {} KiB, level 1 of {} KiB, no "
      "compression.\n\n",
      workload.keys, workload.key_bytes, workload.value_bytes, workload.read_percent,
      workload.overwrite_percent, ScaledOptions(workload).write_buffer_size >> 10,
      ScaledOptions(workload).max_bytes_for_level_base >> 10);
  text += fmt::format("{:<32}{:>9}{:>10}{:>11}{:>10}{:>10}{:>8}\n", "", "written", "runs read",
                      "runs read", "on disk", "at most", "us per");
  text += fmt::format("{:<32}{:>9}{:>10}{:>11}{:>10}{:>10}{:>8}\n", "setting", "per byte",
                      "per Get", "per Seek", "per byte", "per byte", "op");
  for (const Figures& row : figures) {
    text += fmt::format("{:<32}{:>9.2f}{:>10.2f}{:>11.1f}{:>10.2f}{:>10.2f}{:>8.2f}{}\n",
                        row.setting, row.written_per_byte, row.runs_per_get, row.runs_per_seek,
                        row.disk_per_live_byte, row.peak_per_live_byte, row.us_per_operation,
                        row.steady ? "" : "  not steady");
  }
  return text;
}

std::string Plot(const std::vector<Figures>& figures) {
  constexpr double kWidth = 18;
  struct Column {
    const char* title;
    double Figures::* figure;
  };
  constexpr Column kColumns[] = {{"written per byte", &Figures::written_per_byte},
                                 {"runs read per Seek", &Figures::runs_per_seek},
                                 {"on disk per byte", &Figures::disk_per_live_byte}};
  std::string text = fmt::format("{:<32}", "");
  for (const Column& column : kColumns) text += fmt::format("  {:<18}", column.title);
  for (const Figures& row : figures) {
    text += fmt::format("\n{:<32}", row.setting);
    for (const auto& [title, figure] : kColumns) {
      double largest = 0;
      for (const Figures& other : figures) largest = std::max(largest, other.*figure);
      const double share = largest > 0 ? row.*figure / largest : 0;
      text += fmt::format("  {:<18}",
                          std::string(static_cast<size_t>(std::lround(share * kWidth)), '#'));
    }
  }
  return text + "\n";
}

std::string Json(const Workload& workload, const std::vector<Figures>& figures) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Figures& row : figures) {
    rows.push_back({{"setting", row.setting},
                    {"written_per_byte", row.written_per_byte},
                    {"runs_per_get", row.runs_per_get},
                    {"runs_per_seek", row.runs_per_seek},
                    {"disk_per_live_byte", row.disk_per_live_byte},
                    {"peak_per_live_byte", row.peak_per_live_byte},
                    {"us_per_operation", row.us_per_operation},
                    {"rounds", row.rounds},
                    {"steady", row.steady}});
  }
  const nlohmann::json all = {
      {"workload",
       {{"keys", workload.keys},
        {"key_bytes", workload.key_bytes},
        {"value_bytes", workload.value_bytes},
        {"overwrite_percent", workload.overwrite_percent},
        {"read_percent", workload.read_percent},
        {"seed", workload.seed}}},
      {"scaled_to", {{"write_buffer_size", ScaledOptions(workload).write_buffer_size}}},
      {"settings", std::move(rows)}};
  return all.dump(2) + "\n";
}

}  // namespace ashlar::amplification

// Random histories against a std::map. The same operations run on the database and on the model,
// under 29 sets of options, with and without range deletions, and are compared after every kind of
// upheaval. A failure prints the seed, which ASHLAR_MODEL_SEED repeats. ASHLAR_MODEL_OPERATIONS,
// which ./dev soak sets, is the length of the histories that are compared after every operation.
//
// A value that a compaction filter has changed ends with kChanged, which no written value contains.
// It is compared without kChanged.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "ashlar/backup_engine.h"
#include "ashlar/cache.h"
#include "ashlar/checkpoint.h"
#include "ashlar/compaction_filter.h"
#include "ashlar/db.h"
#include "ashlar/file_checksum.h"
#include "ashlar/filter_policy.h"
#include "ashlar/merge_operator.h"
#include "ashlar/sst_file_manager.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/sst_partitioner.h"
#include "ashlar/table.h"
#include "base/random.h"
#include "tests/support/check_invariants.h"
#include "tests/support/comparators.h"
#include "tests/support/from_environment.h"
#include "tests/support/gate.h"
#include "tests/support/option_shapes.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

struct KeyOrder {
  const Comparator* comparator = BytewiseComparator();
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator->Compare(a, b) < 0;
  }
};
using Model = std::map<std::string, std::string, KeyOrder>;

constexpr char kChanged = '~';

struct Scenario {
  const char* name;
  std::function<void(Options*)> set;
  bool compacts_meanwhile = false;  // a thread runs manual compactions of ranges
  bool has_many_tables = false;     // a copy of the database would take minutes to sync them
  bool changes_values = false;      // a filter changes values of the keys of WriteOnceKeys
};

class ChangeOnce final : public CompactionFilter {
 public:
  Decision FilterV2(int /*level*/, const Slice& key, ValueType value_type,
                    const Slice& existing_value, std::string* new_value,
                    std::string* /*skip_until*/) const override {
    if (value_type != kValue || !key.starts_with("s") || existing_value.ends_with({&kChanged, 1}))
      return Decision::kKeep;
    *new_value = existing_value.ToString() + kChanged;
    return Decision::kChangeValue;
  }
  const char* Name() const override { return "ChangeOnce"; }
};

std::string Written(const Slice& value) {
  Slice written = value;
  if (written.ends_with({&kChanged, 1})) written.remove_suffix(1);
  return written.ToString();
}

const std::vector<Scenario>& Scenarios() {
  static const std::vector<Scenario> kScenarios = {
      {"Defaults", [](Options*) {}},
      {"SmallTablesAndManyLevels", &SetTinyLevels},
      {"ManualCompactionsMeanwhile",
       [](Options* o) {
         SetTinyLevels(o);
         o->max_background_jobs = 4;
       },
       true},
      {"StaticLevels",
       [](Options* o) {
         o->level_compaction_dynamic_level_bytes = false;
         o->target_file_size_base = 16 << 10;
         o->max_bytes_for_level_base = 64 << 10;
       }},
      {"FiltersAndATinyCache",
       [](Options* o) {
         o->table_factory.reset(NewBlockBasedTableFactory(SmallBlocks(16 << 10)));
       }},
      {"NoCache",
       [](Options* o) {
         BlockBasedTableOptions table;
         table.no_block_cache = true;
         o->table_factory.reset(NewBlockBasedTableFactory(table));
       }},
      {"Mmap", [](Options* o) { o->allow_mmap_reads = true; }},
      {"Zstd", [](Options* o) { o->compression = kZSTD; }},
      {"Lz4WithZlibBelow",
       [](Options* o) {
         o->compression = kLZ4Compression;
         o->bottommost_compression = kZlibCompression;
       }},
      {"PartitionsAndRibbonFilters", &SetPartitionsAndRibbonFilters},
      {"HashIndexesAndTrainedDictionaries", &SetHashIndexesAndTrainedDictionaries},
      {"AlignedBlocksAndFirstKeys", &SetAlignedBlocksAndFirstKeys},
      {"ReverseOrder", [](Options* o) { o->comparator = ReverseBytewiseComparator(); }},
      {"CustomOrder", [](Options* o) { o->comparator = TestComparators()[2].comparator; }},
      {"ManyJobs",
       [](Options* o) {
         o->max_background_jobs = 4;
         o->max_subcompactions = 3;
         o->target_file_size_base = 16 << 10;
         o->max_bytes_for_level_base = 64 << 10;
       }},
      {"Universal", &SetUniversal, true},
      {"UniversalInParts", &SetUniversalInParts},
      {"FifoWithoutDrops", &SetFifoWithoutDrops},
      {"AFilterThatKeepsAll", &SetFilterThatKeepsAll},
      {"AFilterThatChangesValues",
       [](Options* o) {
         static const ChangeOnce kFilter;
         SetTinyLevels(o);
         o->compaction_filter = &kFilter;
       },
       false, false, true},
      {"ByCompensatedSize",
       [](Options* o) {
         SetTinyLevels(o);
         o->compaction_pri = kByCompensatedSize;
       }},
      {"OldestLargestSequenceFirst",
       [](Options* o) {
         SetTinyLevels(o);
         o->compaction_pri = kOldestLargestSeqFirst;
       }},
      {"OldestSmallestSequenceFirst",
       [](Options* o) {
         SetTinyLevels(o);
         o->compaction_pri = kOldestSmallestSeqFirst;
       }},
      {"RoundRobinAndPartitionsOfPrefixes",
       [](Options* o) {
         SetTinyLevels(o);
         o->compaction_pri = kRoundRobin;
         o->max_background_jobs = 4;
         o->max_subcompactions = 2;
         o->sst_partitioner_factory = NewSstPartitionerFixedPrefixFactory(5);
       },
       true, true},
      {"ShortChainsOfOperands",
       [](Options* o) {
         SetTinyLevels(o);
         o->max_successive_merges = 2;
         o->strict_max_successive_merges = true;
       }},
      {"FewOpenFiles",
       [](Options* o) {
         o->max_open_files = 3;
         o->target_file_size_base = 8 << 10;
       }},
      {"IngestBehind",
       [](Options* o) {
         SetTinyLevels(o);
         o->allow_ingest_behind = true;
       }},
      {"RecycledLogs",
       [](Options* o) {
         SetTinyLevels(o);
         o->recycle_log_file_num = 3;
         o->max_background_jobs = 4;
       }},
      {"PacedDeletions",
       [](Options* o) {
         SetTinyLevels(o);
         constexpr int64_t kBytesPerSecond = 4 << 20;
         constexpr double kTrashRatioMax = 0.25;
         constexpr uint64_t kChunkBytes = 4 << 10;
         o->sst_file_manager.reset(NewSstFileManager(Env::Default(), nullptr, "", kBytesPerSecond,
                                                     true, nullptr, kTrashRatioMax, kChunkBytes));
       }},
  };
  return kScenarios;
}

// The scenario, and whether there are range deletions.
using ModelParam = std::tuple<size_t, bool>;

class ModelTest : public ::testing::TestWithParam<ModelParam> {
 protected:
  struct Held {
    const Snapshot* snapshot;
    Model model;
  };

  void SetUp() override {
    seed_ = FromEnvironment("ASHLAR_MODEL_SEED", 20261121 + number());
    random_ = std::make_unique<Random>(seed_);
    options_.create_if_missing = true;
    options_.write_buffer_size = 64 << 10;
    options_.compression = kNoCompression;
    options_.merge_operator = MergeOperators::CreateStringAppendOperator(',');
    if (number() % 2 == 0) options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
    Scenarios()[number()].set(&options_);
    model_ = Model(KeyOrder{options_.comparator});
    Reopen();
  }
  void TearDown() override { Quiesce(); }

  static constexpr uint64_t kOnceKeys = 60;

  static size_t number() { return std::get<0>(GetParam()); }
  static bool deletes_ranges() { return std::get<1>(GetParam()); }

  void Reopen() {
    Close();
    Check(DB::Open(options_, path(), &db_));
    ASSERT_NE(db_, nullptr);
    BeginAgain();
  }
  std::string path() const { return scratch_.File("db"); }
  // Ends the thread and the snapshots that need the open database.
  void Quiesce() {
    StopCompacting();
    ReleaseSnapshots();
  }
  void Close() {
    Quiesce();
    db_.reset();
  }
  // Continues with a database that was opened or became the primary.
  void BeginAgain() {
    CheckInvariants(db_.get());
    if (!Scenarios()[number()].compacts_meanwhile) return;
    writes_ = std::make_unique<Tickets>();
    compactor_ = std::thread([this, seed = random_->Next()] { CompactUntilStopped(seed); });
  }
  void CompactUntilStopped(uint64_t seed) {
    constexpr uint64_t kWritesPerCompaction = 4;
    Random random(seed);
    while (writes_->Take(kWritesPerCompaction)) {
      const uint64_t first = random.Uniform(900);
      const std::string begin = "k" + std::to_string(first);
      const std::string end =
          "k" + std::to_string(std::min<uint64_t>(999, first + random.Uniform(60)));
      const Slice begin_slice(begin);
      const Slice end_slice(end);
      CompactRangeOptions options;
      options.allow_write_stall = true;
      Check(db_->CompactRange(options, random.OneIn(8) ? nullptr : &begin_slice,
                              random.OneIn(8) ? nullptr : &end_slice));
    }
  }
  void StopCompacting() {
    if (!compactor_.joinable()) return;
    writes_->End();
    compactor_.join();
  }
  void ReleaseSnapshots() {
    for (const Held& held : held_) db_->ReleaseSnapshot(held.snapshot);
    held_.clear();
  }
  void Check(const Status& status) { ASSERT_TRUE(status.ok()) << status.ToString(); }

  std::string RandomKey() {
    std::string key = "k" + std::to_string(random_->Uniform(700));
    if (random_->OneIn(20)) key += std::string(random_->Uniform(40), '\xff');
    if (random_->OneIn(50)) key.clear();
    return key;
  }
  std::string RandomOnceKey() { return "s" + std::to_string(random_->Uniform(kOnceKeys)); }
  std::string RandomKeyOfAnyKind() { return random_->OneIn(4) ? RandomOnceKey() : RandomKey(); }
  std::string RandomValue() {
    return std::to_string(random_->Next()) +
           std::string(random_->OneIn(100) ? random_->Uniform(9000) : random_->Uniform(60), 'v');
  }

  void ApplyMerge(const std::string& key, const std::string& operand) {
    ApplyMerge(key, operand, &model_);
  }
  static void ApplyMerge(const std::string& key, const std::string& operand, Model* model) {
    const auto [found, inserted] = model->try_emplace(key, operand);
    if (!inserted) found->second += "," + operand;
  }
  // A key after all earlier new keys in bytewise order, and in no range of RandomRange.
  std::string NewKey() {
    const std::string number = std::to_string(++new_keys_);
    return "z" + std::string(8 - number.size(), '0') + number;
  }

  // The begin and end of a range. It may be short, as wide as all keys, inverted or empty.
  std::pair<std::string, std::string> RandomRange() {
    const uint64_t first = random_->Uniform(700);
    const uint64_t width = random_->OneIn(10) ? 700 : random_->Uniform(30);
    std::pair<std::string, std::string> range{"k" + std::to_string(first),
                                              "k" + std::to_string(first + width)};
    if (random_->OneIn(20)) range.first = RandomKey();
    if (random_->OneIn(20)) range.second = RandomKey();
    return range;
  }
  bool IsInverted(const std::pair<std::string, std::string>& range) const {
    return options_.comparator->Compare(range.first, range.second) > 0;
  }
  void EraseRange(const std::pair<std::string, std::string>& range) { EraseRange(range, &model_); }
  static void EraseRange(const std::pair<std::string, std::string>& range, Model* model) {
    model->erase(model->lower_bound(range.first), model->lower_bound(range.second));
  }
  void DeleteSomeRange() {
    std::pair<std::string, std::string> range = RandomRange();
    const Status status = db_->DeleteRange(WriteOptions(), range.first, range.second);
    if (IsInverted(range)) {
      ASSERT_TRUE(status.IsInvalidArgument()) << status.ToString();
    } else {
      Check(status);
      EraseRange(range);
    }
  }

  // Deletes more neighbouring keys than iterators need to remember a gap.
  void DeleteNeighbours() {
    const uint64_t first = random_->Uniform(600);
    for (uint64_t i = first; i < first + 100; ++i) {
      const std::string key = "k" + std::to_string(i);
      Check(db_->Delete(WriteOptions(), key));
      model_.erase(key);
    }
  }

  void WriteSomething() {
    if (compactor_.joinable()) writes_->Add();
    const std::string key = RandomKey();
    if (random_->OneIn(writes_per_neighbours_)) return DeleteNeighbours();
    if (deletes_ranges() && random_->OneIn(12)) return DeleteSomeRange();
    switch (random_->Uniform(10)) {
      case 0:
      case 1:
        Check(db_->Delete(WriteOptions(), key));
        model_.erase(key);
        break;
      case 2: {
        const std::string operand = std::to_string(random_->Uniform(100));
        Check(db_->Merge(WriteOptions(), key, operand));
        ApplyMerge(key, operand);
        break;
      }
      case 3: {
        WriteBatch batch;
        for (uint64_t i = random_->Uniform(10); i > 0; --i) {
          const std::string other = RandomKey();
          const std::string value = RandomValue();
          std::pair<std::string, std::string> range = RandomRange();
          if (deletes_ranges() && random_->OneIn(4) && !IsInverted(range)) {
            Check(batch.DeleteRange(range.first, range.second));
            EraseRange(range);
          } else if (random_->OneIn(4)) {
            Check(batch.Delete(other));
            model_.erase(other);
          } else {
            Check(batch.Put(other, value));
            model_[other] = value;
          }
        }
        Check(db_->Write(WriteOptions(), &batch));
        break;
      }
      default: {
        const std::string value = RandomValue();
        Check(db_->Put(WriteOptions(), key, value));
        model_[key] = value;
      }
    }
  }

  // Writes keys that are put and deleted in turn, as SingleDelete requires, and ranges over them.
  void WriteOnceKeys() {
    const uint64_t number = random_->Uniform(kOnceKeys);
    const std::string key = "s" + std::to_string(number);
    if (deletes_ranges() && random_->OneIn(6)) {
      const std::pair<std::string, std::string> range{
          key, "s" + std::to_string(number + random_->Uniform(20))};
      if (IsInverted(range)) return;
      Check(db_->DeleteRange(WriteOptions(), range.first, range.second));
      EraseRange(range);
    } else if (model_.contains(key)) {
      Check(db_->SingleDelete(WriteOptions(), key));
      model_.erase(key);
    } else {
      const std::string value = RandomValue();
      Check(db_->Put(WriteOptions(), key, value));
      model_[key] = value;
    }
  }

  void CompareGets(const Model& model, const Snapshot* snapshot) {
    ReadOptions options;
    options.snapshot = snapshot;
    for (int i = 0; i < 20; ++i) {
      const std::string key = RandomKeyOfAnyKind();
      PinnableSlice value;
      const Status status = db_->Get(options, key, &value);
      const auto expected = model.find(key);
      if (expected == model.end()) {
        ASSERT_TRUE(status.IsNotFound()) << status.ToString();
      } else {
        ASSERT_TRUE(status.ok()) << status.ToString();
        ASSERT_EQ(Written(value), expected->second);
      }
    }
  }

  void CompareMultiGet(const Model& model, const Snapshot* snapshot) {
    ReadOptions options;
    options.snapshot = snapshot;
    std::vector<std::string> keys(40);
    for (std::string& key : keys) key = RandomKeyOfAnyKind();
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(options, slices, &values);
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto expected = model.find(keys[i]);
      if (expected == model.end()) {
        ASSERT_TRUE(statuses[i].IsNotFound()) << statuses[i].ToString();
      } else {
        Check(statuses[i]);
        ASSERT_EQ(Written(values[i]), expected->second);
      }
    }
  }

  // Compares in both directions between random bounds.
  void CompareBounded(const Model& model, const Snapshot* snapshot) {
    std::string lower = RandomKey();
    std::string upper = RandomKey();
    if (options_.comparator->Compare(lower, upper) > 0) std::swap(lower, upper);
    const Slice lower_slice(lower);
    const Slice upper_slice(upper);
    ReadOptions options;
    options.snapshot = snapshot;
    options.iterate_lower_bound = &lower_slice;
    options.iterate_upper_bound = &upper_slice;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    const auto begin = model.lower_bound(lower);
    const auto end = model.lower_bound(upper);
    it->SeekToFirst();
    for (auto expected = begin; expected != end; ++expected, it->Next()) {
      ASSERT_TRUE(it->Valid()) << it->status().ToString();
      ASSERT_EQ(it->key().ToString(), expected->first);
    }
    ASSERT_FALSE(it->Valid());
    it->SeekToLast();
    for (auto expected = end; expected != begin; it->Prev()) {
      --expected;
      ASSERT_TRUE(it->Valid()) << it->status().ToString();
      ASSERT_EQ(it->key().ToString(), expected->first);
    }
    ASSERT_FALSE(it->Valid());
    Check(it->status());
  }

  void CompareKeys(Iterator* it, const Model& model) {
    it->SeekToFirst();
    for (const auto& [key, value] : model) {
      ASSERT_TRUE(it->Valid()) << it->status().ToString();
      ASSERT_EQ(it->key().ToString(), key);
      it->Next();
    }
    ASSERT_FALSE(it->Valid());
    Check(it->status());
  }
  // An iterator that outlives writes shows the state of its creation. After Refresh it shows the
  // newest state or that of a snapshot, which may be older or newer than the iterator.
  void CompareRefreshed() {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    const Model before = model_;
    for (int i = 0; i < 5; ++i) WriteSomething();
    CompareKeys(it.get(), before);
    Check(it->Refresh());
    CompareKeys(it.get(), model_);
    const Snapshot* const snapshot = db_->GetSnapshot();
    const Model at_snapshot = model_;
    for (int i = 0; i < 5; ++i) WriteSomething();
    if (random_->OneIn(2)) Check(db_->Flush(FlushOptions()));
    Check(it->Refresh(snapshot));
    CompareKeys(it.get(), at_snapshot);
    if (!held_.empty()) {
      const Held& held =
          *std::next(held_.begin(), static_cast<ptrdiff_t>(random_->Uniform(held_.size())));
      Check(it->Refresh(held.snapshot));
      CompareKeys(it.get(), held.model);
    }
    Check(it->Refresh(nullptr));
    CompareKeys(it.get(), model_);
    db_->ReleaseSnapshot(snapshot);
  }

  void CompareScan(const Model& model, const Snapshot* snapshot) {
    CompareScan(db_->DefaultColumnFamily(), model, snapshot);
  }
  void CompareScan(ColumnFamilyHandle* family, const Model& model, const Snapshot* snapshot) {
    CompareScan(db_.get(), family, model, snapshot);
  }
  void CompareScan(DB* db, ColumnFamilyHandle* family, const Model& model,
                   const Snapshot* snapshot) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(db->NewIterator(options, family));
    it->SeekToFirst();
    for (const auto& [key, value] : model) {
      ASSERT_TRUE(it->Valid()) << it->status().ToString();
      ASSERT_EQ(it->key().ToString(), key);
      ASSERT_EQ(Written(it->value()), value);
      it->Next();
    }
    ASSERT_FALSE(it->Valid());
    Check(it->status());
    it->SeekToLast();
    for (auto expected = model.rbegin(); expected != model.rend(); ++expected) {
      ASSERT_TRUE(it->Valid()) << it->status().ToString();
      ASSERT_EQ(it->key().ToString(), expected->first);
      ASSERT_EQ(Written(it->value()), expected->second);
      it->Prev();
    }
    ASSERT_FALSE(it->Valid());
    Check(it->status());
  }

  // Changes direction at random, and compares each step with the model.
  void CompareWalk(const Model& model, const Snapshot* snapshot) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    const std::string target = RandomKey();
    auto expected = model.lower_bound(target);
    if (random_->OneIn(2)) {
      it->Seek(target);
    } else {
      it->SeekForPrev(target);
      expected = model.upper_bound(target);
      expected = expected == model.begin() ? model.end() : std::prev(expected);
    }
    for (int step = 0; step < 30; ++step) {
      ASSERT_EQ(it->Valid(), expected != model.end()) << it->status().ToString();
      if (!it->Valid()) return;
      ASSERT_EQ(it->key().ToString(), expected->first);
      ASSERT_EQ(Written(it->value()), expected->second);
      if (random_->OneIn(2)) {
        it->Next();
        ++expected;
      } else {
        it->Prev();
        expected = expected == model.begin() ? model.end() : std::prev(expected);
      }
    }
  }

  void CompareEverything() {
    CompareScan(model_, nullptr);
    CompareWalk(model_, nullptr);
    CompareGets(model_, nullptr);
    CompareMultiGet(model_, nullptr);
    CompareBounded(model_, nullptr);
    CompareRefreshed();
    for (const Held& held : held_) {
      CompareScan(held.model, held.snapshot);
      CompareWalk(held.model, held.snapshot);
      CompareGets(held.model, held.snapshot);
      CompareMultiGet(held.model, held.snapshot);
      CompareBounded(held.model, held.snapshot);
    }
  }

  // A compaction of everything leaves no value unchanged.
  void CompareChanged() {
    if (!Scenarios()[number()].changes_values) return;
    WriteOnceKeys();
    ReleaseSnapshots();
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    Check(db_->CompactRange(options, nullptr, nullptr));
    for (const auto& [key, value] : model_) {
      if (!key.starts_with("s")) continue;
      std::string found;
      Check(db_->Get(ReadOptions(), key, &found));
      ASSERT_EQ(found, value + kChanged) << key;
    }
    CompareEverything();
  }

  // CompactSomeFile and ChangeLevel do not change the visible entries.
  void CompactSomeFile() {
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    if (files.empty()) return;
    const LiveFileMetaData& file = files[random_->Uniform(files.size())];
    const int level =
        std::min(file.level + static_cast<int>(random_->Uniform(3)), db_->NumberLevels() - 1);
    const Status status = db_->CompactFiles(CompactionOptions(), {file.name}, level);
    // An automatic compaction may be using the file, or may have replaced it.
    ASSERT_TRUE(status.ok() || status.IsAborted() || status.IsInvalidArgument())
        << status.ToString();
  }
  void ChangeLevel() {
    CompactRangeOptions options;
    options.change_level = true;
    options.target_level =
        static_cast<int>(random_->Uniform(static_cast<uint64_t>(db_->NumberLevels()) + 1)) - 1;
    const Status status = db_->CompactRange(options, nullptr, nullptr);
    // If files are ingested behind, the last level is reserved for them.
    const bool is_reserved = options_.allow_ingest_behind && status.IsInvalidArgument();
    ASSERT_TRUE(status.ok() || status.IsNotSupported() || status.IsAborted() || is_reserved)
        << status.ToString();
  }

  // Writes a separate table of some keys, with a range deletion of older entries, and the model.
  std::string WriteFile(const std::string& name, Model* model) {
    SstFileWriter writer(EnvOptions(), options_);
    const std::string path = scratch_.File(name);
    Check(writer.Open(path));
    if (deletes_ranges() && random_->OneIn(2)) {
      const std::pair<std::string, std::string> range = RandomRange();
      if (!IsInverted(range)) {
        Check(writer.DeleteRange(range.first, range.second));
        EraseRange(range, model);
      }
    }
    std::map<std::string, uint64_t, KeyOrder> entries(model_.key_comp());
    const bool is_dense = random_->OneIn(2);
    const uint64_t first = random_->Uniform(700);
    for (uint64_t i = 1 + random_->Uniform(20); i > 0; --i)
      entries[is_dense ? "k" + std::to_string(first + i) : RandomKey()] = random_->Uniform(4);
    for (const auto& [key, kind] : entries) {
      const std::string value = RandomValue();
      if (kind == 0) {
        Check(writer.Delete(key));
        model->erase(key);
      } else if (kind == 1) {
        Check(writer.Merge(key, value));
        ApplyMerge(key, value, model);
      } else {
        Check(writer.Put(key, value));
        (*model)[key] = value;
      }
    }
    Check(writer.Finish());
    return path;
  }
  // Later files of a call replace the entries of earlier ones.
  void Ingest() {
    std::vector<std::string> files;
    for (uint64_t i = random_->OneIn(2) ? 1 : 1 + random_->Uniform(4); i > 0; --i)
      files.push_back(WriteFile("external" + std::to_string(i) + ".sst", &model_));
    Check(db_->IngestExternalFile(files, RandomIngestion()));
  }
  IngestExternalFileOptions RandomIngestion() {
    IngestExternalFileOptions options;
    options.move_files = random_->OneIn(3);
    options.link_files = !options.move_files && random_->OneIn(3);
    options.write_global_seqno = random_->OneIn(4);
    options.verify_checksums_before_ingest = random_->OneIn(4);
    // Otherwise existing snapshots may see the files.
    options.snapshot_consistency = !held_.empty() || !random_->OneIn(4);
    return options;
  }
  void IngestInAnotherWay() {
    switch (random_->Uniform(3)) {
      case 0: return IngestBehind();
      case 1: return IngestIntoTwoFamilies();
      default: return IngestTableOfADatabase();
    }
  }
  // Below all other data. Entries without newer versions are visible, also to older snapshots.
  void IngestBehind() {
    if (!options_.allow_ingest_behind) return Ingest();
    SstFileWriter writer(EnvOptions(), options_);
    const std::string path = scratch_.File("behind.sst");
    Check(writer.Open(path));
    for (uint64_t i = 1 + random_->Uniform(20); i > 0; --i) {
      const std::string key = NewKey();
      const std::string value = RandomValue();
      Check(writer.Put(key, value));
      for (Held& held : held_) held.model[key] = value;
      if (random_->OneIn(4)) {
        Check(db_->Put(WriteOptions(), key, "newer"));
        model_[key] = "newer";
      } else if (random_->OneIn(4)) {
        Check(db_->Delete(WriteOptions(), key));
      } else {
        model_[key] = value;
      }
    }
    Check(writer.Finish());
    IngestExternalFileOptions options;
    options.ingest_behind = true;
    options.move_files = random_->OneIn(2);
    Check(db_->IngestExternalFile({path}, options));
  }
  // Ingests into both families at once. The second family exists only during this call.
  void IngestIntoTwoFamilies() {
    ColumnFamilyHandle* made = nullptr;
    Check(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "pair", &made));
    if (made == nullptr) return;
    const std::unique_ptr<ColumnFamilyHandle> pair(made);
    Model contents(model_.key_comp());
    std::vector<IngestExternalFileArg> args(2);
    args[0].column_family = db_->DefaultColumnFamily();
    args[0].external_files = {WriteFile("external1.sst", &model_)};
    args[1].column_family = pair.get();
    args[1].external_files = {WriteFile("external2.sst", &contents)};
    for (IngestExternalFileArg& arg : args) arg.options = RandomIngestion();
    Check(db_->IngestExternalFiles(args));
    CompareScan(model_, nullptr);
    CompareScan(pair.get(), contents, nullptr);
    Check(db_->DropColumnFamily(pair.get()));
  }
  // The table's entries keep their sequences, so snapshots would see them.
  void IngestTableOfADatabase() {
    if (!held_.empty() || options_.comparator != BytewiseComparator()) return Ingest();
    const std::string folder = scratch_.File("source" + std::to_string(++exports_));
    const std::string path = folder + ".sst";
    {
      std::unique_ptr<DB> source;
      Check(DB::Open(options_, folder, &source));
      ASSERT_NE(source, nullptr);
      for (uint64_t i = 1 + random_->Uniform(20); i > 0; --i) {
        const std::string key = NewKey();
        const std::string value = RandomValue();
        Check(source->Put(WriteOptions(), key, value));
        model_[key] = value;
      }
      Check(source->Flush(FlushOptions()));
      std::vector<LiveFileMetaData> tables;
      source->GetLiveFilesMetaData(&tables);
      ASSERT_EQ(tables.size(), 1u);
      std::filesystem::copy_file(tables[0].directory + tables[0].name, path);
    }
    Check(DestroyDB(folder, options_));
    IngestExternalFileOptions options;
    options.allow_db_generated_files = true;
    options.move_files = random_->OneIn(2);
    Check(db_->IngestExternalFile({path}, options));
  }

  // The family is imported under another name, including the versions that snapshots see, and is
  // clipped.
  void ExportAndImport() {
    Checkpoint* made = nullptr;
    Check(Checkpoint::Create(db_.get(), &made));
    const std::unique_ptr<Checkpoint> checkpoint(made);
    // A separate folder, because Wine keeps names of a file that is open under another name.
    const std::string folder = scratch_.File("exported" + std::to_string(++exports_));
    ExportImportFilesMetaData* exported = nullptr;
    Check(checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), folder, &exported));
    const std::unique_ptr<ExportImportFilesMetaData> metadata(exported);
    ImportColumnFamilyOptions options;
    options.move_files = random_->OneIn(2);
    ColumnFamilyHandle* handle = nullptr;
    if (!metadata->files.empty()) {
      Check(db_->CreateColumnFamilyWithImport(ColumnFamilyOptions(options_), "copy", options,
                                              *metadata, &handle));
    }
    if (handle == nullptr) return;
    const std::unique_ptr<ColumnFamilyHandle> copy(handle);
    CompareScan(copy.get(), model_, nullptr);
    for (const Held& held : held_) CompareScan(copy.get(), held.model, held.snapshot);
    const std::pair<std::string, std::string> range = RandomRange();
    const Status clipped = db_->ClipColumnFamily(copy.get(), range.first, range.second);
    if (IsInverted(range)) {
      ASSERT_TRUE(clipped.IsInvalidArgument()) << clipped.ToString();
    } else {
      Check(clipped);
      const Model inside(model_.lower_bound(range.first), model_.lower_bound(range.second),
                         model_.key_comp());
      CompareScan(copy.get(), inside, nullptr);
    }
    for (const Held& held : held_) CompareScan(copy.get(), held.model, held.snapshot);
    Check(db_->DropColumnFamily(copy.get()));
  }

  // Opens another database with the same contents, which changes independently of this one.
  void CheckpointAndOpen() {
    Checkpoint* made = nullptr;
    Check(Checkpoint::Create(db_.get(), &made));
    const std::unique_ptr<Checkpoint> checkpoint(made);
    const std::string folder = scratch_.File("checkpoint" + std::to_string(++exports_));
    Check(checkpoint->CreateCheckpoint(folder, random_->OneIn(2) ? 0 : uint64_t{1} << 40));
    std::unique_ptr<DB> copy;
    Check(DB::Open(options_, folder, &copy));
    ASSERT_NE(copy, nullptr);
    CompareScan(copy.get(), copy->DefaultColumnFamily(), model_, nullptr);
    Check(copy->Put(WriteOptions(), "k1", "of the copy"));
    Check(copy->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    copy.reset();
    CompareScan(model_, nullptr);
    Check(DestroyDB(folder, options_));
  }
  // A database that is restored from a backup replaces this one.
  void BackUpAndRestore() {
    BackupEngine* made = nullptr;
    Check(BackupEngine::Open(BackupEngineOptions(scratch_.File("backups")), Env::Default(), &made));
    const std::unique_ptr<BackupEngine> engine(made);
    Check(engine->CreateNewBackup(db_.get(), random_->OneIn(2)));
    const Model kept = model_;
    for (int i = 0; i < 20; ++i) WriteSomething();
    Close();
    Check(engine->RestoreDBFromLatestBackup(path(), path()));
    Check(engine->PurgeOldBackups(2));
    model_ = kept;
    Reopen();
    CompareScan(model_, nullptr);
  }
  // A secondary replaces the database that it has followed.
  void Promote() {
    Quiesce();
    std::unique_ptr<DB> secondary;
    Check(DB::OpenAsSecondary(options_, path(), scratch_.File("secondary"), &secondary));
    ASSERT_NE(secondary, nullptr);
    for (int i = 0; i < 20; ++i) WriteOnceKeys();
    // With few open files, tables that the primary has deleted cannot be read.
    if (random_->OneIn(2) && options_.max_open_files < 0) {
      Check(secondary->TryCatchUpWithPrimary());
      CompareScan(secondary.get(), secondary->DefaultColumnFamily(), model_, nullptr);
    }
    for (int i = 0; i < 20; ++i) WriteOnceKeys();
    db_.reset();
    Check(secondary->PromoteToPrimary());
    db_ = std::move(secondary);
    BeginAgain();
    CompareScan(model_, nullptr);
  }

  // A family with range deletions is dropped and created again, and then has none of them.
  void ReplaceFamily() {
    for (int life = 0; life < 2; ++life) {
      ColumnFamilyHandle* made = nullptr;
      Check(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "other", &made));
      if (made == nullptr) return;
      const std::unique_ptr<ColumnFamilyHandle> other(made);
      Model contents(model_.key_comp());
      for (uint64_t i = random_->Uniform(40); i > 0; --i) {
        const std::pair<std::string, std::string> range = RandomRange();
        if (deletes_ranges() && random_->OneIn(4) && !IsInverted(range)) {
          Check(db_->DeleteRange(WriteOptions(), other.get(), range.first, range.second));
          EraseRange(range, &contents);
        } else {
          const std::string value = RandomValue();
          Check(db_->Put(WriteOptions(), other.get(), range.first, value));
          contents[range.first] = value;
        }
        if (random_->OneIn(20)) Check(db_->Flush(FlushOptions(), other.get()));
      }
      CompareScan(other.get(), contents, nullptr);
      Check(db_->DropColumnFamily(other.get()));
    }
  }

  void Upheaval() {
    switch (random_->Uniform(Scenarios()[number()].has_many_tables ? 16 : 18)) {
      case 17: BackUpAndRestore(); break;
      case 16: CheckpointAndOpen(); break;
      case 15: ReplaceFamily(); break;
      case 14: Promote(); break;
      case 13: ExportAndImport(); break;
      case 10:
      case 11: Ingest(); break;
      case 12: IngestInAnotherWay(); break;
      case 0: Check(db_->Flush(FlushOptions())); break;
      case 8: CompactSomeFile(); break;
      case 9: ChangeLevel(); break;
      case 1: {
        CompactRangeOptions options;
        if (random_->OneIn(2))
          options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
        Check(db_->CompactRange(options, nullptr, nullptr));
        break;
      }
      case 2: {
        const std::string a = RandomKey();
        const std::string b = RandomKey();
        const Slice begin = options_.comparator->Compare(a, b) < 0 ? a : b;
        const Slice end = options_.comparator->Compare(a, b) < 0 ? b : a;
        Check(db_->CompactRange(CompactRangeOptions(), &begin, &end));
        break;
      }
      case 3: Reopen(); break;
      case 4:
        if (!held_.empty()) {
          const auto victim =
              std::next(held_.begin(), static_cast<ptrdiff_t>(random_->Uniform(held_.size())));
          db_->ReleaseSnapshot(victim->snapshot);
          held_.erase(victim);
        }
        break;
      default: held_.push_back({db_->GetSnapshot(), model_}); break;
    }
    CheckInvariants(db_.get());
  }

  ScratchDirectory scratch_;
  uint64_t seed_ = 0;
  std::unique_ptr<Random> random_;
  Options options_;
  Model model_;
  std::unique_ptr<DB> db_;
  std::list<Held> held_;
  int exports_ = 0;
  uint64_t new_keys_ = 0;
  uint64_t writes_per_neighbours_ = 200;
  std::unique_ptr<Tickets> writes_;  // for compactor_
  std::thread compactor_;
};

TEST_P(ModelTest, HistoriesAgree) {
  SCOPED_TRACE("ASHLAR_MODEL_SEED=" + std::to_string(seed_));
  for (int step = 0; step < 12000 && !HasFailure(); ++step) {
    WriteSomething();
    if (random_->OneIn(150)) Upheaval();
    if (random_->OneIn(400)) CompareEverything();
  }
  if (HasFailure()) return;
  CompareEverything();
  Reopen();
  CompareEverything();
  CompareChanged();
  Check(db_->VerifyChecksum());
  if (options_.file_checksum_gen_factory != nullptr) Check(db_->VerifyFileChecksums(ReadOptions()));
}

TEST_P(ModelTest, EveryOperationAgrees) {
  SCOPED_TRACE("ASHLAR_MODEL_SEED=" + std::to_string(seed_));
  const uint64_t end = FromEnvironment("ASHLAR_MODEL_OPERATIONS", 400);
  writes_per_neighbours_ = 60;
  for (uint64_t step = 0; step < end && !HasFailure(); ++step) {
    random_->OneIn(3) ? WriteOnceKeys() : WriteSomething();
    if (random_->OneIn(100)) Upheaval();
    CompareScan(model_, nullptr);
    CompareGets(model_, nullptr);
    if (held_.empty()) continue;
    const auto held =
        std::next(held_.begin(), static_cast<ptrdiff_t>(random_->Uniform(held_.size())));
    CompareScan(held->model, held->snapshot);
    // Each snapshot has a copy of the model.
    if (held_.size() > 8) ReleaseSnapshots();
  }
  if (!HasFailure()) CompareChanged();
  std::printf("%llu operations; wrong results: %s\n", static_cast<unsigned long long>(end),
              HasFailure() ? "SOME" : "0");
}

INSTANTIATE_TEST_SUITE_P(Options, ModelTest,
                         ::testing::Combine(::testing::Range<size_t>(0, Scenarios().size()),
                                            ::testing::Bool()),
                         [](const ::testing::TestParamInfo<ModelParam>& test) {
                           return std::string(Scenarios()[std::get<0>(test.param)].name) +
                                  (std::get<1>(test.param) ? "WithRanges" : "");
                         });

}  // namespace
}  // namespace ashlar

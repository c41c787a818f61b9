// RepairDB keeps at least as much as `ldb repair` of each of a hundred databases that are damaged
// at random. Also, ldb accepts databases of db_bench after RepairDB.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/sst_file_reader.h"
#include "ashlar/table.h"
#include "ashlar/vfs.h"
#include "base/random.h"
#include "base/result.h"
#include "tests/interchange/ldb_fixture.h"
#include "tests/support/file_damage.h"

namespace ashlar {
namespace {

constexpr uint64_t kKeys = 120;
constexpr int kSteps = 500;
constexpr int kDatabases = 100;

constexpr const char* kFamilies[] = {"default", "second"};
constexpr CompressionType kCodecs[] = {kNoCompression, kSnappyCompression, kZlibCompression,
                                       kLZ4Compression, kZSTD};

using Place = std::pair<std::string, std::string>;  // family, key
// The versions of each key in the order of their writes; empty: a deletion.
using History = std::map<Place, std::vector<std::string>>;

std::string Key(uint64_t number) { return StrCat("key", 1000 + number); }

class RepairComparisonTest : public LdbFixture {
 protected:
  RepairComparisonTest() {
    options_.create_missing_column_families = true;
    options_.write_buffer_size = 1 << 20;
    options_.avoid_flush_during_shutdown = true;
    options_.level0_file_num_compaction_trigger = 4;
    options_.target_file_size_base = 8 << 10;
    BlockBasedTableOptions table;
    table.block_size = 512;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }

  // Opens the database with all families that it has or, if they cannot be listed, with both.
  Status OpenAll(const std::string& path, const Options& options) {
    std::vector<std::string> names;
    if (!DB::ListColumnFamilies(options, path, &names).ok())
      names.assign(std::begin(kFamilies), std::end(kFamilies));
    std::vector<ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, ColumnFamilyOptions(options));
    std::vector<ColumnFamilyHandle*> handles;
    ASHLAR_RETURN_IF_ERROR(DB::Open(DBOptions(options), path, families, &handles, &db_));
    for (ColumnFamilyHandle* const handle : handles) handles_[handle->GetName()].reset(handle);
    return Status::OK();
  }
  Options WithoutCompactions() const {
    Options options = options_;
    options.disable_auto_compactions = true;
    return options;
  }
  void CloseAll() {
    handles_.clear();
    Close();
  }

  History Fill(Random* random) {
    History history;
    EXPECT_OK(OpenAll(path_, options_));
    for (int step = 0; step < kSteps; ++step) {
      const std::string family = kFamilies[random->OneIn(3) ? 1 : 0];
      ColumnFamilyHandle* const handle = handles_.at(family).get();
      const std::string key = Key(random->Uniform(kKeys));
      std::vector<std::string>& versions = history[{family, key}];
      if (random->OneIn(5)) {
        EXPECT_OK(db_->Delete(WriteOptions(), handle, key));
        versions.emplace_back();
      } else {
        const std::string value = StrCat(key, ".", step, std::string(random->Uniform(200), '.'));
        EXPECT_OK(db_->Put(WriteOptions(), handle, key, value));
        versions.push_back(value);
      }
      if (random->OneIn(60)) {
        EXPECT_OK(db_->Flush(FlushOptions(), handle));
      }
    }
    EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    CloseAll();
    return history;
  }

  // Returns the deletions that the tables of the open database have.
  std::set<Place> DeletionsInTables() {
    std::set<Place> deletions;
    std::vector<LiveFileMetaData> tables;
    db_->GetLiveFilesMetaData(&tables);
    for (const LiveFileMetaData& table : tables) {
      SstFileReader reader(options_);
      EXPECT_OK(reader.Open(table.directory + table.name));
      const std::unique_ptr<Iterator> it = reader.NewTableIterator();
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        ParsedEntryInfo entry;
        EXPECT_OK(reader.ParseTableIteratorKey(it->key(), &entry));
        if (entry.type == kEntryDelete)
          deletions.emplace(table.column_family_name, entry.user_key.ToString());
      }
      EXPECT_OK(it->status());
    }
    return deletions;
  }
  void FlushAll() {
    for (const auto& [family, handle] : handles_)
      EXPECT_OK(db_->Flush(FlushOptions(), handle.get()));
  }
  // Returns those of a copy before any damage. Its logs are flushed, and nothing is compacted.
  std::set<Place> DeletionsBefore(const std::string& path) {
    EXPECT_OK(OpenAll(path, WithoutCompactions()));
    if (db_ == nullptr) return {};
    FlushAll();
    std::set<Place> deletions = DeletionsInTables();
    CloseAll();
    return deletions;
  }

  // Returns how many versions of a key are not newer than the one that is read; 0 if none is. If
  // deletions_before is null, a key that is not found does not count. Otherwise it counts as its
  // newest deletion, if the database has a deletion of the key or had none before the damage. In
  // that case a compaction had dropped the deletion with all that it deletes. Without that proof
  // the key may be lost.
  std::map<Place, size_t> Kept(const std::string& path, const History& history,
                               const std::set<Place>* deletions_before) {
    std::map<Place, size_t> kept;
    const Status opened = OpenAll(path, WithoutCompactions());
    EXPECT_TRUE(opened.ok() || path != path_) << opened.ToString();
    if (!opened.ok()) return kept;
    FlushAll();
    const std::set<Place> deletions = DeletionsInTables();
    for (const auto& [place, versions] : history) {
      const auto handle = handles_.find(place.first);
      if (handle == handles_.end()) continue;
      std::string value;
      const Status read = db_->Get(ReadOptions(), handle->second.get(), place.second, &value);
      const bool is_deleted = read.IsNotFound() && deletions_before != nullptr &&
                              (deletions.contains(place) || !deletions_before->contains(place));
      for (size_t i = versions.size(); i > 0; --i) {
        const bool is_it =
            read.ok() ? versions[i - 1] == value : is_deleted && versions[i - 1].empty();
        if (!is_it) continue;
        kept[place] = i;
        break;
      }
      EXPECT_TRUE(!read.ok() || kept.contains(place))
          << place.second << " never had the value " << value;
    }
    CloseAll();
    return kept;
  }

  std::map<std::string, std::unique_ptr<ColumnFamilyHandle>> handles_;
};

TEST_F(RepairComparisonTest, RepairKeepsAtLeastWhatLdbKeeps) {
  vfs::FileSystem* const files = vfs::FileSystem::Default().get();
  const std::string theirs_path = scratch_.File("theirs");
  const std::string before_path = scratch_.File("before");
  size_t theirs_total = 0;
  size_t ours_total = 0;
  for (int database = 0; database < kDatabases && !HasFailure(); ++database) {
    Random random(static_cast<uint64_t>(database) + 1);
    for (const std::string& path : {path_, theirs_path, before_path})
      std::filesystem::remove_all(path);
    options_.compression = kCodecs[static_cast<size_t>(database) % std::size(kCodecs)];
    const History history = Fill(&random);
    CopyDirectory(files, path_, before_path);
    const std::set<Place> deletions_before = DeletionsBefore(before_path);
    SCOPED_TRACE(StrCat("database ", database, ": ", DamageAtRandom(files, path_, &random)));
    CopyDirectory(files, path_, theirs_path);

    RunTool(StrCat("ldb --db=", theirs_path, " repair"));
    const auto theirs = Kept(theirs_path, history, nullptr);
    // A compaction would drop deletions, which are the proof that a key is not lost.
    EXPECT_OK(RepairDB(path_, WithoutCompactions()));
    const auto ours = Kept(path_, history, &deletions_before);
    for (const auto& [place, version] : theirs) {
      const auto found = ours.find(place);
      EXPECT_TRUE(found != ours.end() && found->second >= version)
          << place.second << " of " << place.first << " is of version " << version << " of "
          << history.at(place).size() << " after ldb's repair, and "
          << (found == ours.end() ? 0 : found->second) << " after ours";
    }
    theirs_total += theirs.size();
    ours_total += ours.size();
  }
  // Otherwise nothing was compared.
  EXPECT_GT(theirs_total, kDatabases * kKeys / 4) << ours_total;
}

// A closed database of db_bench: its keys in tables, and new values of some of them in a log.
class DbBenchRepairTest : public LdbFixture {
 protected:
  using Values = std::map<std::string, std::string>;

  // Returns the entries without changing the database.
  Values Read() {
    Values values;
    EXPECT_OK(DB::OpenForReadOnly(options_, path_, &db_));
    if (db_ == nullptr) return values;
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      values[it->key().ToString()] = it->value().ToString();
    EXPECT_OK(it->status());
    return values;
  }
  void Fill() {
    FillByDbBench();
    in_tables_ = Read();
    db_.reset();
    OverwriteByDbBench();
    all_ = Read();
    ReadLogs();
    db_.reset();
    ASSERT_EQ(in_tables_.size(), kBenchKeys);
    ASSERT_EQ(all_.size(), kBenchKeys);
    ASSERT_NE(all_, in_tables_);
  }
  void ReadLogs() {
    struct Puts : WriteBatch::Handler {
      void Put(const Slice& key, const Slice& value) override {
        all->emplace(key.ToString(), value.ToString());
      }
      std::set<std::pair<std::string, std::string>>* all = nullptr;
    };
    Puts puts;
    puts.all = &in_logs_;
    std::unique_ptr<TransactionLogIterator> logs;
    ASSERT_OK(db_->GetUpdatesSince(kBenchKeys + 1, &logs));
    for (; logs->Valid(); logs->Next()) ASSERT_OK(logs->GetBatch().writeBatchPtr->Iterate(&puts));
    ASSERT_OK(logs->status());
    ASSERT_GT(in_logs_.size(), 400u);
  }
  std::string Largest(bool (*chosen)(const std::string& name)) const {
    std::string largest;
    uint64_t bytes = 0;
    for (const std::string& name : FilesIn(files_, path_, chosen)) {
      const std::string path = StrCat(path_, "/", name);
      if (std::filesystem::file_size(path) <= bytes) continue;
      bytes = std::filesystem::file_size(path);
      largest = path;
    }
    EXPECT_GT(bytes, 0u);
    return largest;
  }
  // Repairs, and returns the contents afterwards as both stores read them.
  Values Repair() {
    EXPECT_OK(RepairDB(path_, options_));
    EXPECT_NE(Ldb("checkconsistency").find("OK"), std::string::npos);
    const std::string theirs = Ldb("scan --hex");
    Values repaired = Read();
    EXPECT_EQ(theirs, HexScan());
    db_.reset();
    for (const auto& [key, value] : repaired) {
      EXPECT_TRUE(value == in_tables_[key] || in_logs_.contains({key, value}))
          << Slice(key).ToString(true) << " never had this value";
    }
    return repaired;
  }

  vfs::FileSystem* const files_ = vfs::FileSystem::Default().get();
  Values in_tables_;
  Values all_;
  std::set<std::pair<std::string, std::string>> in_logs_;  // a key may have several values there
};

TEST_F(DbBenchRepairTest, ADamagedBlockLosesItsKeysOnly) {
  Fill();
  FlipByte(files_, Largest(IsTable), 100);
  const Values repaired = Repair();
  EXPECT_LT(repaired.size(), all_.size());
  EXPECT_GT(repaired.size(), all_.size() - 100);
}

TEST_F(DbBenchRepairTest, WithoutCurrentAndHalfOfTheManifestNothingIsLost) {
  Fill();
  const std::string manifest = Largest(IsManifest);
  CutFile(files_, manifest, std::filesystem::file_size(manifest) / 2);
  ASSERT_OK(files_->DeleteFile(StrCat(path_, "/CURRENT")));
  EXPECT_EQ(Repair(), all_);
}

TEST_F(DbBenchRepairTest, ADamagedLogLosesThePlaceOnly) {
  Fill();
  const std::string log = Largest(IsLog);
  const size_t middle = std::filesystem::file_size(log) / 2;
  // Each is in another record. If a record has several, a repair may lose the rest of its block.
  for (size_t i = 0; i < 20; ++i) FlipByte(files_, log, middle + 1000 * i);
  const Values repaired = Repair();
  EXPECT_EQ(repaired.size(), all_.size()) << "a value in a table";
  EXPECT_NE(repaired, all_);
  const auto is_new = [&](const auto& entry) { return entry.second != in_tables_[entry.first]; };
  EXPECT_GT(std::count_if(repaired.begin(), repaired.end(), is_new), 100);
}

}  // namespace
}  // namespace ashlar

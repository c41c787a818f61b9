// A hundred databases damaged at random: RepairDB keeps of each at least what `ldb repair` keeps.
// And databases that db_bench wrote: what RepairDB makes of them satisfies ldb.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/table.h"
#include "ashlar/vfs.h"
#include "base/random.h"
#include "tests/interchange/ldb_fixture.h"
#include "tests/support/file_damage.h"

namespace ashlar {
namespace {

constexpr uint64_t kKeys = 120;
constexpr int kSteps = 500;
constexpr int kDatabases = 100;

// The versions of each key in the order of their writes; empty: a deletion.
using History = std::map<std::string, std::vector<std::string>>;

std::string Key(uint64_t number) { return StrCat("key", 1000 + number); }

class RepairComparisonTest : public LdbFixture {
 protected:
  RepairComparisonTest() {
    options_.compression = kNoCompression;
    options_.write_buffer_size = 1 << 20;
    options_.avoid_flush_during_shutdown = true;
    options_.level0_file_num_compaction_trigger = 4;
    options_.target_file_size_base = 8 << 10;
    BlockBasedTableOptions table;
    table.block_size = 512;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }

  History Fill(Random* random) {
    History history;
    Open();
    for (int step = 0; step < kSteps; ++step) {
      const std::string key = Key(random->Uniform(kKeys));
      if (random->OneIn(5)) {
        EXPECT_OK(db_->Delete(WriteOptions(), key));
        history[key].emplace_back();
      } else {
        const std::string value = StrCat(key, ".", step, std::string(random->Uniform(200), '.'));
        EXPECT_OK(db_->Put(WriteOptions(), key, value));
        history[key].push_back(value);
      }
      if (random->OneIn(60)) {
        EXPECT_OK(db_->Flush(FlushOptions()));
      }
    }
    EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    Close();
    return history;
  }

  // How many versions of a key are at most as new as what is read: 0 for nothing. A key that is not
  // found counts as its newest deletion, if the database may know of it.
  std::map<std::string, size_t> Kept(const std::string& path, const History& history,
                                     bool deletions_count) {
    std::map<std::string, size_t> kept;
    std::unique_ptr<DB> db;
    const Status opened = DB::Open(options_, path, &db);
    EXPECT_TRUE(opened.ok() || path != path_) << opened.ToString();
    if (!opened.ok()) return kept;
    for (const auto& [key, versions] : history) {
      std::string value;
      const Status read = db->Get(ReadOptions(), key, &value);
      for (size_t i = versions.size(); i > 0; --i) {
        const bool is_it = read.ok()
                               ? versions[i - 1] == value
                               : read.IsNotFound() && deletions_count && versions[i - 1].empty();
        if (!is_it) continue;
        kept[key] = i;
        break;
      }
      EXPECT_TRUE(!read.ok() || kept.contains(key)) << key << " never had the value " << value;
    }
    EXPECT_OK(db->Close());
    return kept;
  }
};

TEST_F(RepairComparisonTest, RepairKeepsAtLeastWhatLdbKeeps) {
  const std::string theirs_path = scratch_.File("theirs");
  size_t theirs_total = 0;
  size_t ours_total = 0;
  for (int database = 0; database < kDatabases && !HasFailure(); ++database) {
    Random random(static_cast<uint64_t>(database) + 1);
    std::filesystem::remove_all(path_);
    std::filesystem::remove_all(theirs_path);
    const History history = Fill(&random);
    vfs::FileSystem* const files = vfs::FileSystem::Default().get();
    SCOPED_TRACE(StrCat("database ", database, ": ", DamageAtRandom(files, path_, &random)));
    CopyDirectory(files, path_, theirs_path);

    RunTool(StrCat("ldb --db=", theirs_path, " repair"));
    const auto theirs = Kept(theirs_path, history, /*deletions_count=*/false);
    EXPECT_OK(RepairDB(path_, options_));
    const auto ours = Kept(path_, history, /*deletions_count=*/true);
    for (const auto& [key, version] : theirs) {
      const auto found = ours.find(key);
      EXPECT_TRUE(found != ours.end() && found->second >= version)
          << key << " is of version " << version << " of " << history.at(key).size()
          << " after ldb's repair, and " << (found == ours.end() ? 0 : found->second)
          << " after ours";
    }
    theirs_total += theirs.size();
    ours_total += ours.size();
  }
  // Otherwise nothing was compared.
  EXPECT_GT(theirs_total, kDatabases * kKeys / 4) << ours_total;
}

// Of a database that db_bench made and ended: the keys in tables, new values of some in a log.
class DbBenchRepairTest : public LdbFixture {
 protected:
  using Values = std::map<std::string, std::string>;

  // Without a change of the database.
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
    db_.reset();
    ASSERT_EQ(in_tables_.size(), kBenchKeys);
    ASSERT_EQ(all_.size(), kBenchKeys);
    ASSERT_NE(all_, in_tables_);
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
  // Repairs, and returns what is there afterwards in the eyes of both stores.
  Values Repair() {
    EXPECT_OK(RepairDB(path_, options_));
    EXPECT_NE(Ldb("checkconsistency").find("OK"), std::string::npos);
    const std::string theirs = Ldb("scan --hex");
    Values repaired = Read();
    EXPECT_EQ(theirs, HexScan());
    db_.reset();
    for (const auto& [key, value] : repaired) {
      EXPECT_TRUE(value == all_[key] || value == in_tables_[key])
          << Slice(key).ToString(true) << " never had this value";
    }
    return repaired;
  }

  vfs::FileSystem* const files_ = vfs::FileSystem::Default().get();
  Values in_tables_;
  Values all_;
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
  for (size_t i = 0; i < 20; ++i) FlipByte(files_, log, middle + 100 * i);
  const Values repaired = Repair();
  EXPECT_EQ(repaired.size(), all_.size()) << "a value in a table";
  EXPECT_NE(repaired, all_);
  const auto is_new = [&](const auto& entry) { return entry.second != in_tables_[entry.first]; };
  EXPECT_GT(std::count_if(repaired.begin(), repaired.end(), is_new), 100);
}

}  // namespace
}  // namespace ashlar

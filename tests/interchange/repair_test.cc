// A hundred databases damaged at random: RepairDB keeps of each at least what `ldb repair` keeps.
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/table.h"
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
    FileSystem* const files = FileSystem::Default().get();
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

}  // namespace
}  // namespace ashlar

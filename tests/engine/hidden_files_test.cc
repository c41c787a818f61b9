// Tables that range tombstones cover. Tables that are covered completely are dropped without being
// read. Covered parts are freed even if no level is full. Entries that snapshots need are kept.
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/listener.h"
#include "base/format.h"
#include "base/random.h"
#include "filesystem/memory_file_system.h"
#include "manifest/manifest_reader.h"
#include "manifest/manifest_writer.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

class PlanCounts final : public EventListener {
 public:
  void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& info) override {
    if (info.stats.num_input_records > 0) ++read;
    if (info.stats.num_input_records == 0 && info.output_files.empty()) ++dropped;
  }
  std::atomic<int> read{0};
  std::atomic<int> dropped{0};
};

class HiddenFilesTest : public DatabaseFixture {
 protected:
  static constexpr int kKeys = 20000;

  HiddenFilesTest() {
    options_.target_file_size_base = 256 << 10;
    options_.level_compaction_dynamic_level_bytes = false;
    options_.listeners.push_back(counts_);
  }
  static std::string Key(int i) { return StrCat("k", 100000 + i); }
  // Makes a level 1 with kKeys keys in about 20 tables.
  void Fill() {
    for (int i = 0; i < kKeys; ++i) Put(Key(i), std::string(250, static_cast<char>('a' + i % 26)));
    Flush();
    CompactRangeOptions force;
    force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(force, nullptr, nullptr));
    ASSERT_GT(FilesAtLevel(1), 15u);
    counts_->read = 0;
  }
  void DeleteKeys(int begin, int end) {
    ASSERT_OK(db_->DeleteRange(WriteOptions(), Key(begin), Key(end)));
    Flush();
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  }
  // Lowers the sequences in the closed database's MANIFEST, not in its tables, to `newest`.
  void LowerRecordedSequences(SequenceNumber newest) {
    const std::shared_ptr<vfs::FileSystem> files = options_.env->EngineFiles();
    FileNumber number = 0;
    std::string old_manifest;
    std::vector<VersionEdit> edits;
    {
      const Result<std::unique_ptr<ManifestReader>> reader =
          ManifestReader::Open(files.get(), path());
      ASSERT_OK(reader.status());
      number = (*reader)->number();
      old_manifest = (*reader)->file_name();
      for (VersionEdit edit; (*reader)->Next(&edit); edit = VersionEdit())
        edits.push_back(std::move(edit));
      ASSERT_OK((*reader)->status());
    }
    ASSERT_OK(files->DeleteFile(old_manifest));
    Result<NewManifest> manifest = CreateManifest(files.get(), path(), number);
    ASSERT_OK(manifest.status());
    for (VersionEdit& edit : edits) {
      if (edit.last_sequence) edit.last_sequence = std::min(*edit.last_sequence, newest);
      for (NewFile& added : edit.new_files()) {
        FileMetaData* const table = added.owned.get();
        table->smallest_sequence = std::min(table->smallest_sequence, newest);
        table->largest_sequence = std::min(table->largest_sequence, newest);
      }
      ASSERT_OK(AppendEdit(edit, manifest->writer.get()));
    }
    ASSERT_OK(MakeCurrent(files.get(), path(), number, *manifest));
    ASSERT_OK(manifest->writer->Close());
  }
  int VisibleKeys(const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    int keys = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++keys;
    EXPECT_OK(it->status());
    return keys;
  }

  const std::shared_ptr<PlanCounts> counts_ = std::make_shared<PlanCounts>();
};

TEST_F(HiddenFilesTest, AreDroppedWithoutBeingRead) {
  Open();
  Fill();
  const uint64_t before = FilesAtLevel(1);
  DeleteKeys(0, kKeys - 1);
  EXPECT_EQ(FilesAtLevel(1), 1u) << "of " << before;
  EXPECT_GE(counts_->dropped, 1);
  EXPECT_EQ(VisibleKeys(), 1);
  Open();
  EXPECT_EQ(VisibleKeys(), 1);
}

TEST_F(HiddenFilesTest, StayForASnapshot) {
  Open();
  Fill();
  const uint64_t before = FilesAtLevel(1);
  const Snapshot* const snapshot = db_->GetSnapshot();
  DeleteKeys(0, kKeys - 1);
  EXPECT_EQ(FilesAtLevel(1), before);
  EXPECT_EQ(VisibleKeys(), 1);
  EXPECT_EQ(VisibleKeys(snapshot), kKeys);
  db_->ReleaseSnapshot(snapshot);
  Put("z", "1");
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_LE(FilesAtLevel(1), 1u);
  EXPECT_EQ(VisibleKeys(), 2);
}

// Nothing is written or compacted after the release.
TEST_F(HiddenFilesTest, TheEndOfTheLastSnapshotThatSeesThemIsEnough) {
  Open();
  Fill();
  const uint64_t before = FilesAtLevel(1);
  const Snapshot* const oldest = db_->GetSnapshot();
  const Snapshot* const second = db_->GetSnapshot();
  DeleteKeys(0, kKeys - 1);
  const Snapshot* const newer = db_->GetSnapshot();
  db_->ReleaseSnapshot(oldest);
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(FilesAtLevel(1), before);
  EXPECT_EQ(VisibleKeys(second), kKeys);
  db_->ReleaseSnapshot(second);
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_LE(FilesAtLevel(1), 1u);
  EXPECT_EQ(VisibleKeys(newer), 1);
  EXPECT_GE(counts_->dropped, 1);
  db_->ReleaseSnapshot(newer);
}

TEST_F(HiddenFilesTest, ASnapshotAboveTheTombstoneKeepsNothing) {
  Open();
  Fill();
  ASSERT_OK(db_->DeleteRange(WriteOptions(), Key(0), Key(kKeys - 1)));
  const Snapshot* const snapshot = db_->GetSnapshot();
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(FilesAtLevel(1), 1u);
  EXPECT_EQ(VisibleKeys(snapshot), 1);
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(HiddenFilesTest, WhatWasWrittenAfterTheTombstoneStays) {
  Open();
  Fill();
  ASSERT_OK(db_->DeleteRange(WriteOptions(), Key(0), Key(kKeys)));
  Put(Key(77), "newer");
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Contents(), Key(77) + "=newer ");
  EXPECT_EQ(FilesAtLevel(1), 0u);
  CompactAll();
  EXPECT_EQ(Contents(), Key(77) + "=newer ");
}

TEST_F(HiddenFilesTest, AnIteratorKeepsWhatItSees) {
  Open();
  Fill();
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  DeleteKeys(0, kKeys);
  EXPECT_EQ(FilesAtLevel(1), 0u);
  int keys = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) ++keys;
  EXPECT_OK(it->status());
  EXPECT_EQ(keys, kKeys);
}

// Later snapshots do not see the tombstone. One could be taken while the table is dropped.
TEST_F(HiddenFilesTest, ATombstoneAboveTheNewestSequenceHidesNone) {
  options_.disable_auto_compactions = true;
  Open();
  Put("k", "1");
  Flush();
  for (int i = 0; i < 100; ++i) Put("z", "1");
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "a", "y"));
  Flush();
  Close();
  ASSERT_NO_FATAL_FAILURE(LowerRecordedSequences(2));
  options_.disable_auto_compactions = false;
  Open();
  EXPECT_EQ(Contents(), "k=1 ");
  Put("zz", "1");
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Contents(), "k=1 zz=1 ");
  EXPECT_EQ(FilesAtLevel(0), 3u);
  EXPECT_EQ(counts_->dropped, 0);
}

TEST_F(HiddenFilesTest, NothingHappensWithoutAutomaticCompactions) {
  options_.disable_auto_compactions = true;
  Open();
  Fill();
  const uint64_t before = FilesAtLevel(1);
  DeleteKeys(0, kKeys);
  EXPECT_EQ(FilesAtLevel(1), before);
  ASSERT_OK(db_->SetOptions({{"disable_auto_compactions", "false"}}));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(FilesAtLevel(1), 0u);
}

// Every table has visible keys, so none can be dropped, and no level is full.
TEST_F(HiddenFilesTest, TheSpaceOfPartsComesBack) {
  Open();
  Fill();
  const uint64_t before = Number("rocksdb.live-sst-files-size");
  for (int i = 0; i < kKeys; i += 100)
    ASSERT_OK(db_->DeleteRange(WriteOptions(), Key(i), Key(i + 90)));
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_LT(Number("rocksdb.live-sst-files-size"), before / 4);
  EXPECT_EQ(VisibleKeys(), kKeys / 10);
  EXPECT_EQ(FilesAtLevel(0), 0u);
}

TEST_F(HiddenFilesTest, LittleSpaceIsNotWorthACompaction) {
  Open();
  Fill();
  for (int i = 0; i < kKeys; i += 100)
    ASSERT_OK(db_->DeleteRange(WriteOptions(), Key(i), Key(i + 3)));
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(FilesAtLevel(0), 1u);
  EXPECT_EQ(counts_->read, 0);
}

// Calls DeleteFilesInRange while the next compaction runs.
class RangeDroppingListener final : public EventListener {
 public:
  void OnCompactionBegin(DB* db, const CompactionJobInfo& /*info*/) override {
    if (!armed.exchange(false)) return;
    const Slice begin("a");
    const Slice end("y");
    EXPECT_OK(DeleteFilesInRange(db, db->DefaultColumnFamily(), &begin, &end));
  }
  std::atomic<bool> armed{false};
};

// The table of the tombstone is dropped while a hidden table moves to another level. From then on
// only the moved table deletes k.
TEST_F(HiddenFilesTest, AMovingTableIsForgottenToo) {
  const auto listener = std::make_shared<RangeDroppingListener>();
  options_.listeners.push_back(listener);
  options_.disable_auto_compactions = true;
  Open();
  const auto move_newest = [this](int level) {
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    const auto newest = std::max_element(files.begin(), files.end(),
                                         [](const LiveFileMetaData& a, const LiveFileMetaData& b) {
                                           return a.largest_seqno < b.largest_seqno;
                                         });
    ASSERT_OK(db_->CompactFiles(CompactionOptions(), {newest->name}, level));
  };
  Put("k", "deleted");
  Put("z", "1");
  Flush();
  move_newest(4);
  Delete("k");
  Put("j", "1");
  Flush();
  std::vector<LiveFileMetaData> files;
  move_newest(2);
  db_->GetLiveFilesMetaData(&files);
  std::string hidden;
  for (const LiveFileMetaData& file : files) hidden = file.level == 2 ? file.name : hidden;
  ASSERT_FALSE(hidden.empty());
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "a", "y"));
  Flush();
  move_newest(1);
  EXPECT_EQ(Contents(), "z=1 ");
  listener->armed = true;
  CompactionOptions move;
  move.allow_trivial_move = true;
  ASSERT_OK(db_->CompactFiles(move, {hidden}, 3));
  EXPECT_FALSE(listener->armed);
  EXPECT_EQ(FilesAtLevel(1), 0u);
  EXPECT_EQ(FilesAtLevel(3), 1u);
  EXPECT_EQ(Contents(), "j=1 z=1 ");
  ASSERT_OK(db_->SetOptions({{"disable_auto_compactions", "false"}}));
  Put("zz", "2");
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Contents(), "j=1 z=1 zz=2 ");
}

// ---- Random histories, with a map for each snapshot of the entries that it must show.

class History {
 public:
  explicit History(uint64_t seed)
      : random_(seed),
        database_(std::make_shared<MemoryFileSystem>(), MakeOptions(counts_), seed) {}

  void Run() {
    ASSERT_OK(database_.Open());
    for (int step = 0; step < 120; ++step) {
      Write();
      if (random_.OneIn(4)) DeleteRange();
      if (random_.OneIn(3)) {
        ASSERT_OK(db()->Flush(FlushOptions()));
      }
      if (random_.OneIn(12) && held_.size() < 3) held_.push_back({db()->GetSnapshot(), model_});
      if (random_.OneIn(8) && !held_.empty()) Release(random_.Uniform(held_.size()));
      while (random_.OneIn(2) && database_.env()->RunOneJob()) {
      }
      if (random_.OneIn(6)) {
        ASSERT_NO_FATAL_FAILURE(Compare());
      }
    }
    ASSERT_OK(db()->WaitForCompact(WaitForCompactOptions()));
    ASSERT_NO_FATAL_FAILURE(Compare());
    while (!held_.empty()) Release(0);
    ASSERT_OK(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    ASSERT_NO_FATAL_FAILURE(Compare());
    ASSERT_OK(database_.Close());
  }
  int dropped() const { return counts_->dropped; }

 private:
  using Model = std::map<std::string, std::string>;
  struct Held {
    const Snapshot* snapshot;
    Model model;
  };
  static constexpr uint64_t kModelKeys = 600;

  static Options MakeOptions(const std::shared_ptr<PlanCounts>& counts) {
    Options options = SmallDatabaseOptions();
    options.write_buffer_size = 64 << 10;
    options.target_file_size_base = 4 << 10;
    options.max_bytes_for_level_base = 32 << 10;
    options.max_bytes_for_level_multiplier = 3;
    options.level0_file_num_compaction_trigger = 2;
    options.listeners.push_back(counts);
    return options;
  }
  DB* db() const { return database_.db(); }
  static std::string KeyOf(uint64_t i) { return StrCat("k", 1000 + i); }

  void Write() {
    for (uint64_t i = random_.Uniform(80); i > 0; --i) {
      const std::string key = KeyOf(random_.Uniform(kModelKeys));
      const std::string value = StrCat(random_.Next(), std::string(60, 'v'));
      ASSERT_OK(db()->Put(WriteOptions(), key, value));
      model_[key] = value;
    }
  }
  void DeleteRange() {
    const uint64_t begin = random_.Uniform(kModelKeys);
    const uint64_t end = begin + random_.Uniform(kModelKeys);
    ASSERT_OK(db()->DeleteRange(WriteOptions(), KeyOf(begin), KeyOf(end)));
    model_.erase(model_.lower_bound(KeyOf(begin)),
                 model_.lower_bound(std::max(KeyOf(begin), KeyOf(end))));
  }
  void Release(uint64_t position) {
    db()->ReleaseSnapshot(held_[position].snapshot);
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(position));
  }
  void Compare() {
    CompareAt(nullptr, model_);
    for (const Held& held : held_) CompareAt(held.snapshot, held.model);
  }
  void CompareAt(const Snapshot* snapshot, const Model& model) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(db()->NewIterator(options));
    Model found;
    for (it->SeekToFirst(); it->Valid(); it->Next())
      found.emplace(it->key().ToString(), it->value().ToString());
    ASSERT_OK(it->status());
    ASSERT_TRUE(found == model) << found.size() << " keys instead of " << model.size();
  }

  const std::shared_ptr<PlanCounts> counts_ = std::make_shared<PlanCounts>();
  Random random_;
  OpenDatabase database_;
  Model model_;
  std::vector<Held> held_;
};

TEST(HiddenFilesHistoryTest, SnapshotsKeepWhatTheySee) {
  int dropped = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    History history(seed);
    ASSERT_NO_FATAL_FAILURE(history.Run());
    dropped += history.dropped();
  }
  EXPECT_GT(dropped, 40) << "the histories drop too few files to show anything";
}

}  // namespace
}  // namespace ashlar

// Tests how VersionSet creates, recovers, installs, rolls over and fails, on a file system in
// memory.
#include "manifest/version_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/format.h"
#include "base/random.h"
#include "execute/epoch.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "manifest/manifest_reader.h"
#include "manifest/manifest_test_kit.h"
#include "tests/support/comparators.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/file_damage.h"
#include "tests/support/test_epochs.h"

namespace ashlar {
namespace {

constexpr const char* kDirectory = "db";
constexpr const char* kDatabaseId = "01234567-89ab-cdef-0123-456789abcdef";

ColumnFamilySpec Spec(const std::string& name,
                      const Comparator* comparator = BytewiseComparator()) {
  return ColumnFamilySpec{.name = name, .comparator = KeyComparator(comparator)};
}

std::vector<ColumnFamilySpec> Specs(const std::vector<std::string>& names) {
  std::vector<ColumnFamilySpec> specs;
  for (const std::string& name : names) specs.push_back(Spec(name));
  return specs;
}

// Returns field 13 of a new file, its epoch number.
std::string EpochField(uint64_t number) {
  std::string value;
  PutVarint64(&value, number);
  std::string field;
  PutVarint32(&field, 13);
  PutLengthPrefixedSlice(&field, value);
  return field;
}

// A database directory, and a VersionSet on it that a test may close and open again.
class Database {
 public:
  explicit Database(vfs::FileSystem* file_system) : Database(file_system, file_system) {}
  // Tables are written to another file system, so that faults hit the MANIFEST alone.
  Database(vfs::FileSystem* file_system, vfs::FileSystem* table_file_system)
      : file_system_(file_system), table_file_system_(table_file_system) {}
  ~Database() { Close(); }

  Status Create() {
    ASHLAR_RETURN_IF_ERROR(file_system_->CreateDirIfMissing(kDirectory));
    ASHLAR_RETURN_IF_ERROR(SyncDirectory("."));
    return VersionSet::CreateNewDatabase(file_system_, kDirectory, kDatabaseId);
  }
  Status Open(const std::vector<ColumnFamilySpec>& specs, bool read_only = false) {
    Close();
    set_ = std::make_unique<VersionSet>(VersionSet::Args{
        .file_system = file_system_,
        .directory = kDirectory,
        .manifest_bytes_max = manifest_bytes_max,
        .drop_file = [this](FileMetaData* file) { dropped.push_back(file->number); }});
    return set_->Recover(specs, read_only);
  }
  void Close() {
    if (set_ == nullptr) return;
    kManifestMutex.AssertHeld();
    static_cast<void>(set_->Close());
    set_.reset();
    TestEpochs().Synchronize();
  }
  // One thread, so the locks of the engine count as held.
  VersionSet* operator->() ASHLAR_ASSERT_CAPABILITY(kManifestMutex)
      ASHLAR_ASSERT_CAPABILITY(kDatabaseMutex) {
    return set_.get();
  }

  // Creates the table's file durably, with the size that its metadata has.
  Status CreateTable(const FileMetaData& file) {
    const std::string bytes(static_cast<size_t>(file.file_bytes), 't');
    ASHLAR_RETURN_IF_ERROR(WriteStringToFile(
        table_file_system_, bytes, TableFileName(kDirectory, file.number), Durability::kSynced));
    return SyncDirectory(kDirectory);
  }
  // Creates a table and adds it to the edit. Returns its number.
  FileNumber AddTable(Level level, VersionEdit* edit) {
    const FileNumber number = set_->NewFileNumber();
    const std::string key = StrCat("key", 1000000 + number);
    auto file = MakeFile(number, key, key + "x");
    EXPECT_TRUE(CreateTable(*file).ok());
    edit->AddFile(level, std::move(file));
    return number;
  }

  // A new table as RocksDB records it. An epoch_number of 0 means none.
  struct Table {
    std::string smallest = "a";
    std::string largest = "z";
    SequenceNumber first = 0;
    SequenceNumber last = 0;
    uint64_t epoch_number = 0;
    Level level = 0;
  };
  FileNumber AddTable(const Table& table, VersionEdit* edit) {
    auto file =
        MakeFile(set_->NewFileNumber(), table.smallest, table.largest, table.first, table.last);
    if (table.epoch_number != 0) file->other_fields = EpochField(table.epoch_number);
    EXPECT_TRUE(CreateTable(*file).ok());
    const FileNumber number = file->number;
    edit->last_sequence = std::max(edit->last_sequence.value_or(0), table.last);
    edit->AddFile(table.level, std::move(file));
    return number;
  }

  Status Install(Result<std::unique_ptr<PendingInstall>> install) {
    ASHLAR_RETURN_IF_ERROR(install.status());
    kManifestMutex.AssertHeld();
    kDatabaseMutex.AssertHeld();
    ASHLAR_RETURN_IF_ERROR(set_->Write(install->get()));
    for (Version* version : set_->Publish(install->get())) version->Unref();
    return Status::OK();
  }
  Status Install(std::vector<VersionEdit> edits) {
    kManifestMutex.AssertHeld();
    return Install(set_->Prepare(std::move(edits)));
  }
  Status Install(VersionEdit edit) {
    std::vector<VersionEdit> edits;
    edits.push_back(std::move(edit));
    return Install(std::move(edits));
  }

  // Reads the records that the writing process has added, as a secondary does.
  Status CatchUp(bool for_writing = false) {
    kManifestMutex.AssertHeld();
    kDatabaseMutex.AssertHeld();
    ASHLAR_ASSIGN_OR_RETURN(RecoveredState read, set_->ReadOn(for_writing));
    ASHLAR_RETURN_IF_ERROR(set_->CheckManifestUnchanged(read));
    const PublishedState replaced = set_->Adopt(std::move(read));
    set_->CheckInvariants();
    return Status::OK();
  }
  // Returns the metadata of the table with this number, or null if no version has it.
  const FileMetaData* Find(FileNumber number) {
    kDatabaseMutex.AssertHeld();
    for (const auto& [id, family] : set_->Published().families) {
      for (Level level = 0; level < family->levels; ++level) {
        for (const FileMetaData* file : family->current->files(level)) {
          if (file->number == number) return file;
        }
      }
    }
    return nullptr;
  }

  // Returns everything that a restart must recover.
  std::string State() {
    kDatabaseMutex.AssertHeld();
    std::string out = StrCat("sequence ", set_->Published().last_sequence, " lowest log ",
                             set_->Published().min_log_number_to_keep, "\n");
    for (const auto& [id, family] : set_->Published().families) {
      StrAppend(&out, family->id, " ", family->name, " log ", family->log_number, ":");
      for (const auto& [level, key] : family->compact_cursors)
        StrAppend(&out, " cursor ", level, "=", ExtractUserKey(key).ToString());
      for (Level level = 0; level < family->levels; ++level) {
        for (const FileMetaData* file : family->current->files(level))
          StrAppend(&out, " ", level, "/", file->number);
      }
      out += "\n";
    }
    return out;
  }

  uint64_t manifest_bytes_max = uint64_t{1} << 30;
  std::vector<FileNumber> dropped;

 private:
  Status SyncDirectory(const std::string& path) {
    std::unique_ptr<vfs::Directory> handle;
    ASHLAR_RETURN_IF_ERROR(table_file_system_->NewDirectory(path, &handle));
    return handle->Sync();
  }

  vfs::FileSystem* const file_system_;
  vfs::FileSystem* const table_file_system_;
  std::unique_ptr<VersionSet> set_;
};

class VersionSetTest : public testing::Test {
 protected:
  std::string ReadWhole(const std::string& path) {
    Result<std::string> bytes = ReadFileToString(file_system_.get(), path, size_t{1} << 30);
    EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
    return bytes.ok() ? *bytes : "";
  }

  std::shared_ptr<MemoryFileSystem> file_system_ = std::make_shared<MemoryFileSystem>();
  Database db_{file_system_.get()};
};

TEST_F(VersionSetTest, ANewDatabaseIsEmpty) {
  ASSERT_TRUE(db_.Create().ok());
  EXPECT_EQ(ReadWhole(CurrentFileName(kDirectory)), "MANIFEST-000001\n");
  EXPECT_EQ(ReadWhole(IdentityFileName(kDirectory)), kDatabaseId);
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  EXPECT_EQ(db_->next_file_number(), 2u);
  EXPECT_EQ(db_->Published().last_sequence, 0u);
  EXPECT_EQ(db_->manifest_number(), 1u);
  EXPECT_EQ(db_->Published().families.size(), 1u);
  EXPECT_EQ(db_->Published().FindFamily(Slice("default"))->current->NumFiles(), 0u);
}

TEST_F(VersionSetTest, InstallsComeBackAfterAReopen) {
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("other"), 3, nullptr)).ok());
  const ColumnFamilyId other = db_->Published().FindFamily(Slice("other"))->id;
  EXPECT_EQ(other, 1u);
  for (int i = 0; i < 20; ++i) {
    VersionEdit edit;
    edit.column_family = i % 2 == 0 ? 0 : other;
    db_.AddTable(static_cast<Level>(i % 3), &edit);
    edit.last_sequence = 10 + static_cast<SequenceNumber>(i);
    edit.log_number = 4 + static_cast<uint64_t>(i);
    if (i == 7) edit.min_log_number_to_keep = 6;
    if (i % 4 == 2) {
      edit.compact_cursors.emplace_back(1 + i % 3,
                                        MakeInternalKey(StrCat("cursor", i), 1, ValueType::kValue));
    }
    ASSERT_TRUE(db_.Install(std::move(edit)).ok());
    const std::string state = db_.State();
    const FileNumber next = db_->next_file_number();
    if (i % 5 == 4) {
      ASSERT_TRUE(db_.Open(Specs({"default", "other"})).ok());
      ASSERT_EQ(db_.State(), state);
      ASSERT_GE(db_->next_file_number(), next);
    }
  }
  EXPECT_EQ(db_->Published().MinLogNumberToRecover(), 22u);
  VersionEdit gives_up;
  gives_up.min_log_number_to_keep = 30;
  ASSERT_TRUE(db_.Install(std::move(gives_up)).ok());
  EXPECT_EQ(db_->Published().MinLogNumberToRecover(), 30u);
  EXPECT_EQ(db_->Published().FindFamily(Slice("default"))->compact_cursors.at(1),
            MakeInternalKey("cursor18", 1, ValueType::kValue));
}

TEST_F(VersionSetTest, AMoveIsOneEditAndKeepsTheFile) {
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  VersionEdit add;
  const FileNumber number = db_.AddTable(0, &add);
  ASSERT_TRUE(db_.Install(std::move(add)).ok());
  FileMetaData* const file = db_->Published().FindFamily(0)->current->files(0)[0];
  VersionEdit move;
  move.MoveFile(0, 5, file);
  ASSERT_TRUE(db_.Install(std::move(move)).ok());
  ASSERT_EQ(db_->Published().FindFamily(0)->current->files(5).size(), 1u);
  EXPECT_EQ(db_->Published().FindFamily(0)->current->files(5)[0], file);
  EXPECT_TRUE(db_->LiveTables().contains(number));
  EXPECT_TRUE(db_->IsLive(number));
  const std::string state = db_.State();
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  EXPECT_EQ(db_.State(), state);
}

TEST_F(VersionSetTest, SeveralFamiliesChangeTogetherOrNotAtAll) {
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("other"), 3, nullptr)).ok());
  const std::string before = db_.State();
  const std::string manifest = DescriptorFileName(kDirectory, db_->manifest_number());
  const size_t bytes_before = ReadWhole(manifest).size();
  std::vector<VersionEdit> edits(3);
  for (size_t i = 0; i < edits.size(); ++i) {
    edits[i].column_family = i == 1 ? 1 : 0;
    edits[i].last_sequence = 7;
    db_.AddTable(1, &edits[i]);
  }
  ASSERT_TRUE(db_.Install(std::move(edits)).ok());
  const std::string after = db_.State();
  EXPECT_NE(before, after);
  ASSERT_EQ(DescriptorFileName(kDirectory, db_->manifest_number()), manifest);
  db_.Close();
  const std::string bytes = ReadWhole(manifest);
  for (size_t cut = bytes_before; cut <= bytes.size(); ++cut) {
    ASSERT_TRUE(
        WriteStringToFile(file_system_.get(), bytes.substr(0, cut), manifest, Durability::kBuffered)
            .ok());
    const Status status = db_.Open(Specs({"default", "other"}));
    ASSERT_TRUE(status.ok()) << cut << " " << status.ToString();
    ASSERT_EQ(db_.State(), cut == bytes.size() ? after : before) << cut;
  }
}

// RocksDB's secondaries refuse an atomic group that adds a family.
TEST_F(VersionSetTest, AFamilyWithTablesIsAddedByANewManifestWithoutAGroup) {
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db_.Install(VersionEdit()).ok());
  const FileNumber before = db_->manifest_number();
  VersionEdit tables;
  db_.AddTable(1, &tables);
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("imported"), 3, &tables)).ok());
  const FileNumber after = db_->manifest_number();
  EXPECT_GT(after, before);
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("empty"), 3, nullptr)).ok());
  EXPECT_EQ(db_->manifest_number(), after);
  const std::string state = db_.State();
  db_.Close();
  Result<std::unique_ptr<ManifestReader>> manifest =
      ManifestReader::Open(file_system_.get(), kDirectory);
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  std::vector<std::string> added;
  while (true) {
    VersionEdit edit;
    if (!(*manifest)->Next(&edit)) break;
    EXPECT_FALSE(edit.atomic_group_remaining.has_value());
    if (edit.added_column_family.has_value()) added.push_back(*edit.added_column_family);
  }
  EXPECT_TRUE((*manifest)->status().ok()) << (*manifest)->status().ToString();
  EXPECT_EQ(added, (std::vector<std::string>{"imported", "empty"}));
  ASSERT_TRUE(db_.Open(Specs({"default", "imported", "empty"})).ok());
  EXPECT_EQ(db_.State(), state);
}

TEST_F(VersionSetTest, ADroppedFamilyIsGoneAndItsIdIsNotUsedAgain) {
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("a"), 3, nullptr)).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("b"), 3, nullptr)).ok());
  EXPECT_TRUE(db_->PrepareAddFamily(Spec("b"), 3, nullptr).status().IsInvalidArgument());
  EXPECT_TRUE(db_->PrepareDropFamily(0).status().IsInvalidArgument());
  VersionEdit edit;
  edit.column_family = 2;
  const FileNumber table = db_.AddTable(0, &edit);
  ASSERT_TRUE(db_.Install(std::move(edit)).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareDropFamily(2)).ok());
  EXPECT_EQ(db_->Published().FindFamily(2), nullptr);
  EXPECT_EQ(db_->Published().FindFamily(Slice("b")), nullptr);
  EXPECT_FALSE(db_->LiveTables().contains(table));
  EXPECT_FALSE(db_->IsLive(table));
  EXPECT_TRUE(db_->PrepareDropFamily(2).status().IsColumnFamilyDropped());
  VersionEdit late;
  late.column_family = 2;
  late.AddFile(0, MakeFile(99, "a", "b"));
  std::vector<VersionEdit> edits;
  edits.push_back(std::move(late));
  EXPECT_TRUE(db_->Prepare(std::move(edits)).status().IsColumnFamilyDropped());
  EXPECT_FALSE(db_->LiveTables().contains(99));
  EXPECT_EQ(db_.dropped, (std::vector<FileNumber>{table, 99}))
      << "their open tables have to be let go of";
  std::vector<std::string> names;
  ASSERT_TRUE(VersionSet::ListColumnFamilies(file_system_.get(), kDirectory, &names).ok());
  EXPECT_EQ(names, (std::vector<std::string>{"default", "a"}));
  ASSERT_TRUE(db_.Open(Specs({"default", "a"})).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("c"), 9, nullptr)).ok());
  EXPECT_EQ(db_->Published().FindFamily(Slice("c"))->id, 3u);
  // Repeat this with a snapshot for every install, which must not name the dropped family.
  db_.manifest_bytes_max = 1;
  ASSERT_TRUE(db_.Open(Specs({"default", "a", "c"})).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareDropFamily(3)).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareDropFamily(1)).ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("d"), 9, nullptr)).ok());
  EXPECT_EQ(db_->Published().FindFamily(Slice("d"))->id, 4u);
  ASSERT_TRUE(db_.Install(db_->PrepareDropFamily(4)).ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db_.Install(VersionEdit()).ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("e"), 9, nullptr)).ok());
  EXPECT_EQ(db_->Published().FindFamily(Slice("e"))->id, 5u);
}

TEST_F(VersionSetTest, FamiliesThatAreNotNamedRefuseTheOpenUnlessItOnlyReads) {
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("a"), 3, nullptr)).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("b"), 3, nullptr)).ok());
  VersionEdit edit;
  edit.column_family = 2;
  db_.AddTable(0, &edit);
  ASSERT_TRUE(db_.Install(std::move(edit)).ok());
  const Status refused = db_.Open(Specs({"default"}));
  EXPECT_TRUE(refused.IsInvalidArgument());
  EXPECT_NE(refused.ToString().find("Column families not opened: a, b; name every family"),
            std::string::npos)
      << refused.ToString();
  EXPECT_TRUE(db_.Open(Specs({"a", "b"})).IsInvalidArgument()) << "default is missing";
  EXPECT_TRUE(db_.Open(Specs({"default", "b"}), true).ok());
  EXPECT_EQ(db_->Published().families.size(), 2u);
  EXPECT_TRUE(db_.Open(Specs({"default", "a", "b", "new"})).ok());
  EXPECT_EQ(db_->Published().FindFamily(Slice("new")), nullptr);
}

TEST_F(VersionSetTest, AnEmptyNameIsCountedAmongThoseThatAreNotOpened) {
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec(""), 3, nullptr)).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("b"), 3, nullptr)).ok());
  const Status refused = db_.Open(Specs({"default"}));
  EXPECT_NE(refused.ToString().find("Column families not opened: , b"), std::string::npos)
      << refused.ToString();
}

TEST_F(VersionSetTest, AnotherComparatorIsRefusedByName) {
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(
      db_.Install(db_->PrepareAddFamily(Spec("other", ReverseBytewiseComparator()), 3, nullptr))
          .ok());
  const Status status = db_.Open(Specs({"default", "other"}));
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("rocksdb.ReverseBytewiseComparator"), std::string::npos)
      << status.ToString();
  EXPECT_NE(status.ToString().find("leveldb.BytewiseComparator"), std::string::npos)
      << status.ToString();
  EXPECT_TRUE(db_.Open({Spec("default"), Spec("other", ReverseBytewiseComparator())}).ok());
}

TEST_F(VersionSetTest, AMissingOrChangedTableIsCorruptionNamingTheFile) {
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  VersionEdit edit;
  const FileNumber number = db_.AddTable(0, &edit);
  ASSERT_TRUE(db_.Install(std::move(edit)).ok());
  const std::string name = TableFileName(kDirectory, number);
  const std::string bytes = ReadWhole(name);
  ASSERT_TRUE(WriteStringToFile(file_system_.get(), bytes + "x", name, Durability::kBuffered).ok());
  Status status = db_.Open(Specs({"default"}));
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find(name), std::string::npos) << status.ToString();
  ASSERT_TRUE(file_system_->DeleteFile(name).ok());
  status = db_.Open(Specs({"default"}));
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find(name), std::string::npos) << status.ToString();
  ASSERT_TRUE(WriteStringToFile(file_system_.get(), bytes, LegacyTableFileName(kDirectory, number),
                                Durability::kBuffered)
                  .ok());
  EXPECT_TRUE(db_.Open(Specs({"default"})).ok()) << "a table by its older name";
}

TEST_F(VersionSetTest, CurrentThatNamesNothingGoodIsAClearError) {
  EXPECT_FALSE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db_.Create().ok());
  for (const char* text : {"", "MANIFEST-000001", "MANIFEST-1\n", "../MANIFEST-000001\n",
                           "MANIFEST-000001\n\n", "MANIFEST-000009\n"}) {
    ASSERT_TRUE(WriteStringToFile(file_system_.get(), text, CurrentFileName(kDirectory),
                                  Durability::kBuffered)
                    .ok());
    const Status status = db_.Open(Specs({"default"}));
    EXPECT_TRUE(status.IsCorruption()) << text << ": " << status.ToString();
    EXPECT_NE(status.ToString().find(CurrentFileName(kDirectory)), std::string::npos)
        << status.ToString();
  }
}

TEST_F(VersionSetTest, AManifestOverItsLimitIsReplacedByASnapshot) {
  db_.manifest_bytes_max = 2000;
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("other"), 3, nullptr)).ok());
  db_->set_database_id(kDatabaseId);
  VersionEdit logs;
  logs.log_additions.push_back(LogAddition{.number = 9, .synced_bytes = 1234});
  logs.log_additions.push_back(LogAddition{.number = 10, .synced_bytes = std::nullopt});
  ASSERT_TRUE(db_.Install(std::move(logs)).ok());
  const FileNumber first = db_->manifest_number();
  FileNumber added = 0;
  for (int i = 0; i < 60; ++i) {
    VersionEdit edit;
    edit.column_family = static_cast<ColumnFamilyId>(i % 2);
    if (added != 0 && i % 3 != 0) {
      for (Level level = 0; level < 7; ++level) {
        for (const FileMetaData* file :
             db_->Published().FindFamily(edit.column_family)->current->files(level))
          edit.DeleteFile(level, file->number);
      }
    }
    added = db_.AddTable(2, &edit);
    edit.last_sequence = static_cast<SequenceNumber>(i);
    ASSERT_TRUE(db_.Install(std::move(edit)).ok());
    ASSERT_LT(db_->manifest_bytes(), 4000u);
  }
  EXPECT_GT(db_->manifest_number(), first);
  EXPECT_TRUE(db_->MayDeleteManifest(first));
  EXPECT_FALSE(db_->MayDeleteManifest(db_->manifest_number()));
  const std::string state = db_.State();
  ASSERT_TRUE(db_.Open(Specs({"default", "other"})).ok());
  EXPECT_EQ(db_.State(), state);
  EXPECT_EQ(db_->database_id(), kDatabaseId);
  EXPECT_EQ(db_->Published().recorded_logs, (RecordedLogs{{9, 1234}, {10, std::nullopt}}));
  EXPECT_EQ(db_->Published().max_column_family, 1u);
  VersionEdit gone;
  gone.log_deletion = 10;
  ASSERT_TRUE(db_.Install(std::move(gone)).ok());
  ASSERT_TRUE(db_.Open(Specs({"default", "other"})).ok());
  EXPECT_EQ(db_->Published().recorded_logs, (RecordedLogs{{10, std::nullopt}}));
}

// Each of these records needs a sync of its own.
TEST_F(VersionSetTest, AnInstallOfManySyncsStartsAManifest) {
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db_.Install(VersionEdit()).ok());
  const FileNumber first = db_->manifest_number();
  const auto install = [&](size_t records) {
    std::vector<VersionEdit> edits(records);
    for (VersionEdit& edit : edits) {
      edit.compact_cursors.emplace_back(
          1, MakeInternalKey(std::string(600, 'k'), 1, ValueType::kValue));
    }
    return db_.Install(std::move(edits));
  };
  ASSERT_TRUE(install(8).ok());
  EXPECT_EQ(db_->manifest_number(), first);
  ASSERT_TRUE(install(9).ok());
  EXPECT_GT(db_->manifest_number(), first);
  const std::string state = db_.State();
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  EXPECT_EQ(db_.State(), state);
}

// A second set follows the first one at its own pace, over replaced MANIFESTs.
TEST_F(VersionSetTest, ASecondaryFollowsEveryInstall) {
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open({Spec("default")}).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("second"), 3, nullptr)).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("third"), 3, nullptr)).ok());
  const std::vector<ColumnFamilySpec> all = {Spec("default"), Spec("second"), Spec("third")};
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    db_.Close();
    db_.manifest_bytes_max = random.OneIn(2) ? 400 : uint64_t{1} << 30;
    ASSERT_TRUE(db_.Open(all).ok());
    Database secondary(file_system_.get());
    ASSERT_TRUE(secondary.Open(all, /*read_only=*/true).ok());
    std::vector<std::pair<ColumnFamilyId, FileNumber>> tables;
    for (int i = 0; i < 40; ++i) {
      std::vector<VersionEdit> edits(1 + random.Uniform(3));
      for (size_t e = 0; e < edits.size(); ++e) {
        edits[e].column_family = static_cast<ColumnFamilyId>(e);
        edits[e].last_sequence = 1000 * seed + static_cast<uint64_t>(i);
        tables.emplace_back(e, db_.AddTable(1, &edits[e]));
      }
      if (random.OneIn(3)) {
        const size_t gone = random.Uniform(tables.size() - edits.size() + 1);
        if (tables[gone].first == 0 && gone + edits.size() < tables.size()) {
          edits[0].DeleteFile(1, tables[gone].second);
          tables.erase(tables.begin() + static_cast<ptrdiff_t>(gone));
        }
      }
      ASSERT_TRUE(db_.Install(std::move(edits)).ok());
      if (!random.OneIn(3)) continue;
      std::map<FileNumber, const FileMetaData*> before;
      for (const auto& [family, number] : tables) before[number] = secondary.Find(number);
      ASSERT_TRUE(secondary.CatchUp().ok());
      EXPECT_EQ(secondary.State(), db_.State());
      for (const auto& [number, file] : before)
        EXPECT_TRUE(file == nullptr || secondary.Find(number) == file) << "known metadata is kept";
    }
    ASSERT_TRUE(secondary.CatchUp().ok());
    EXPECT_EQ(secondary.State(), db_.State());
    secondary.Close();
  }
}

// ---- Epoch numbers.

void ExpectRefusedOrder(const Status& status) {
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  for (const char* const word : {"default", "epoch numbers", "compact"})
    EXPECT_NE(status.ToString().find(word), std::string::npos) << status.ToString();
}

class EpochOrderTest : public VersionSetTest {
 protected:
  using Table = Database::Table;
  void SetUp() override {
    ASSERT_TRUE(db_.Create().ok());
    ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  }
  // Installs the tables. Returns the status with which the database opens then.
  Status OpenWith(const std::vector<Table>& tables) {
    VersionEdit edit;
    for (const Table& table : tables) db_.AddTable(table, &edit);
    EXPECT_TRUE(db_.Install(std::move(edit)).ok());
    return db_.Open(Specs({"default"}));
  }
};

// Returns the output of a merge within level 0 of files that were ingested before and after a
// write, and the newer table of that write.
std::vector<Database::Table> WriteBelowAMerge() {
  return {{.first = 1, .last = 3, .epoch_number = 1}, {.first = 2, .last = 2, .epoch_number = 3}};
}

TEST_F(EpochOrderTest, AnOrderThatSequencesDoNotShowIsRefused) {
  ExpectRefusedOrder(OpenWith(WriteBelowAMerge()));
  ExpectRefusedOrder(db_.Open(Specs({"default"}), /*read_only=*/true));
}

TEST_F(EpochOrderTest, TablesThatAreNoNeighboursAreCompared) {
  ExpectRefusedOrder(
      OpenWith({{.smallest = "a", .largest = "c", .first = 30, .last = 39, .epoch_number = 2},
                {.smallest = "m", .largest = "z", .first = 20, .last = 29, .epoch_number = 9},
                {.smallest = "c", .largest = "d", .first = 10, .last = 19, .epoch_number = 3}}));
}

TEST_F(EpochOrderTest, TheOrderOfTablesWithoutCommonKeysDoesNotMatter) {
  const Status opened =
      OpenWith({{.smallest = "a", .largest = "c", .first = 1, .last = 3, .epoch_number = 1},
                {.smallest = "d", .largest = "z", .first = 2, .last = 2, .epoch_number = 3}});
  EXPECT_TRUE(opened.ok()) << opened.ToString();
}

TEST_F(EpochOrderTest, EqualOrdersAndEqualNumbersAreTaken) {
  const Status opened = OpenWith({{.first = 1, .last = 3, .epoch_number = 1},
                                  {.first = 2, .last = 7, .epoch_number = 2},
                                  {.first = 8, .last = 9, .epoch_number = 2}});
  EXPECT_TRUE(opened.ok()) << opened.ToString();
}

// RocksDB orders by sequences in this case, too.
TEST_F(EpochOrderTest, ATableWithoutANumberLetsSequencesOrder) {
  std::vector<Table> tables = WriteBelowAMerge();
  tables.push_back({.first = 0, .last = 0, .epoch_number = 0, .level = 4});
  const Status opened = OpenWith(tables);
  EXPECT_TRUE(opened.ok()) << opened.ToString();
}

TEST_F(EpochOrderTest, ASecondaryKeepsWhatItHasWhenTheOrderBecomesAnother) {
  VersionEdit first;
  db_.AddTable(WriteBelowAMerge()[0], &first);
  ASSERT_TRUE(db_.Install(std::move(first)).ok());
  Database secondary(file_system_.get());
  ASSERT_TRUE(secondary.Open(Specs({"default"}), /*read_only=*/true).ok());
  const std::string state = secondary.State();
  VersionEdit second;
  const FileNumber below = db_.AddTable(WriteBelowAMerge()[1], &second);
  ASSERT_TRUE(db_.Install(std::move(second)).ok());
  for (const bool for_writing : {false, true}) {
    ExpectRefusedOrder(secondary.CatchUp(for_writing));
    EXPECT_EQ(secondary.State(), state);
  }
  VersionEdit compacted;
  compacted.DeleteFile(0, below);
  ASSERT_TRUE(db_.Install(std::move(compacted)).ok());
  EXPECT_TRUE(secondary.CatchUp().ok());
  EXPECT_EQ(secondary.State(), db_.State());
}

// RocksDB renumbers tables in a MANIFEST that it begins, so the secondary's metadata may differ
// from that of the new MANIFEST.
TEST_F(EpochOrderTest, ASecondarySeesTablesThatWereNumberedAnew) {
  db_.manifest_bytes_max = 1;  // each install begins a MANIFEST
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  VersionEdit first;
  const FileNumber merge = db_.AddTable(Table{.first = 1, .last = 3}, &first);
  ASSERT_TRUE(db_.Install(std::move(first)).ok());
  Database secondary(file_system_.get());
  ASSERT_TRUE(secondary.Open(Specs({"default"}), /*read_only=*/true).ok());
  FileMetaData* const file = db_->Published().FindFamily(0)->current->files(0)[0];
  ASSERT_EQ(file->number, merge);
  file->other_fields = EpochField(1);
  VersionEdit second;
  db_.AddTable(WriteBelowAMerge()[1], &second);
  ASSERT_TRUE(db_.Install(std::move(second)).ok());
  ExpectRefusedOrder(secondary.CatchUp());
}

// A reader has read logs up to a write while these edits were installed.
TEST_F(VersionSetTest, AnIngestionBeforeTheNewestWriteOfAReaderIsNoticed) {
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db_.Install(VersionEdit()).ok());
  Database reader(file_system_.get());
  ASSERT_TRUE(reader.Open(Specs({"default"}), /*read_only=*/true).ok());
  const auto check = [&reader](SequenceNumber newest) {
    return reader->CheckNothingIngestedBefore(newest, reader->place());
  };
  EXPECT_TRUE(check(100).ok());
  VersionEdit flush;
  flush.log_number = db_->NewFileNumber();
  flush.last_sequence = 10;
  const FileNumber flushed = db_.AddTable(0, &flush);
  ASSERT_TRUE(db_.Install(std::move(flush)).ok());
  EXPECT_TRUE(check(100).ok());
  VersionEdit compaction;
  compaction.last_sequence = 10;
  compaction.DeleteFile(0, flushed);
  db_.AddTable(1, &compaction);
  ASSERT_TRUE(db_.Install(std::move(compaction)).ok());
  EXPECT_TRUE(check(100).ok());
  VersionEdit ingestion;
  ingestion.last_sequence = 20;
  db_.AddTable(0, &ingestion);
  ASSERT_TRUE(db_.Install(std::move(ingestion)).ok());
  EXPECT_TRUE(check(20).ok());
  EXPECT_TRUE(check(21).IsTryAgain());
  // Another MANIFEST may have any ingestion.
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db_.Install(VersionEdit()).ok());
  EXPECT_TRUE(check(0).IsTryAgain());
}

TEST_F(VersionSetTest, ASecondaryDropsFamiliesAndIgnoresNewOnes) {
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open({Spec("default")}).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("second"), 3, nullptr)).ok());
  for (const uint64_t manifest_bytes_max : {uint64_t{1} << 30, uint64_t{1}}) {
    db_.Close();
    db_.manifest_bytes_max = manifest_bytes_max;
    ASSERT_TRUE(db_.Open({Spec("default"), Spec("second")}).ok());
    Database secondary(file_system_.get());
    ASSERT_TRUE(secondary.Open({Spec("default"), Spec("second")}, /*read_only=*/true).ok());
    const ColumnFamilyId id = db_->Published().FindFamily(Slice("second"))->id;
    ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("later"), 3, nullptr)).ok());
    ASSERT_TRUE(secondary.CatchUp().ok());
    EXPECT_EQ(secondary->Published().families.size(), 2u);
    ASSERT_TRUE(db_.Install(db_->PrepareDropFamily(id)).ok());
    ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("second"), 3, nullptr)).ok());
    VersionEdit edit;
    edit.column_family = db_->Published().FindFamily(Slice("second"))->id;
    db_.AddTable(0, &edit);
    ASSERT_TRUE(db_.Install(std::move(edit)).ok());
    ASSERT_TRUE(secondary.CatchUp().ok());
    EXPECT_EQ(secondary->Published().families.size(), 1u) << "the other is of the same name only";
    ASSERT_TRUE(
        db_.Install(db_->PrepareDropFamily(db_->Published().FindFamily(Slice("later"))->id)).ok());
    ASSERT_TRUE(secondary.CatchUp().ok());
    secondary.Close();
  }
}

TEST_F(VersionSetTest, FileNumbersAreHandedOutOnce) {
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  constexpr size_t kThreads = 4, kEach = 5000;
  std::vector<std::vector<FileNumber>> numbers(kThreads);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&numbers, t, this] {
        for (size_t i = 0; i < kEach; ++i) {
          numbers[t].push_back(db_->NewFileNumber());
          if (i % 64 == 0) db_->MarkFileNumberUsed(numbers[t].back() + 3);
        }
      });
    }
  }
  std::vector<FileNumber> all;
  for (const auto& some : numbers) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  EXPECT_EQ(all.size(), kThreads * kEach);
  db_->MarkFileNumberUsed(1);
  EXPECT_GT(db_->next_file_number(), all.back());
}

TEST_F(VersionSetTest, EveryFlippedByteOfAManifestIsRefused) {
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("other"), 3, nullptr)).ok());
  for (int i = 0; i < 5; ++i) {
    VersionEdit edit;
    db_.AddTable(1, &edit);
    ASSERT_TRUE(db_.Install(std::move(edit)).ok());
  }
  const std::string manifest = DescriptorFileName(kDirectory, db_->manifest_number());
  db_.Close();
  const std::string bytes = ReadWhole(manifest);
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const uint8_t flip : {uint8_t{1}, uint8_t{0x80}, uint8_t{0xff}}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(static_cast<uint8_t>(damaged[at]) ^ flip);
      ASSERT_TRUE(
          WriteStringToFile(file_system_.get(), damaged, manifest, Durability::kBuffered).ok());
      const Status status = db_.Open(Specs({"default", "other"}));
      ASSERT_TRUE(status.IsCorruption()) << at << " " << status.ToString();
      ASSERT_NE(status.ToString().find(manifest), std::string::npos) << status.ToString();
    }
  }
}

// A MANIFEST of edits that the test encodes.
class ManifestOfEditsTest : public VersionSetTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(db_.Create().ok());
    first_.log_number = 4;
    first_.next_file_number = 10;
    first_.last_sequence = 1;
  }
  Status OpenWith(const std::vector<const VersionEdit*>& edits) {
    const std::string name = DescriptorFileName(kDirectory, 1);
    std::unique_ptr<vfs::WritableFile> file;
    EXPECT_TRUE(file_system_->NewWritableFile(name, vfs::FileOptions{}, &file).ok());
    LogWriter writer(std::move(file), name, 1);
    for (const VersionEdit* edit : edits) {
      std::string record;
      edit->EncodeTo(&record);
      EXPECT_TRUE(writer.AddRecord(record).ok());
    }
    EXPECT_TRUE(writer.Close().ok());
    return db_.Open(Specs({"default", "other"}));
  }
  std::unique_ptr<FileMetaData> Table(FileNumber number) {
    auto file = MakeFile(number, StrCat("k", number), StrCat("k", number));
    EXPECT_TRUE(db_.CreateTable(*file).ok());
    return file;
  }
  static void ExpectCorruption(const Status& status, const std::string& naming) {
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find(naming), std::string::npos) << status.ToString();
  }

  VersionEdit first_;
};

TEST_F(ManifestOfEditsTest, WithoutTheNumbersThatEveryDatabaseHasIsCorruption) {
  EXPECT_TRUE(OpenWith({&first_}).ok());
  ExpectCorruption(OpenWith({}), "log number, next file number, last sequence");
  first_.next_file_number.reset();
  ExpectCorruption(OpenWith({&first_}), "next file number");
}

TEST_F(ManifestOfEditsTest, NumbersInUseAreNotHandedOutAgain) {
  VersionEdit edit;
  edit.AddFile(1, Table(25));
  ASSERT_TRUE(OpenWith({&first_, &edit}).ok());
  EXPECT_EQ(db_->next_file_number(), 26u);
  edit.log_number = 40;
  ASSERT_TRUE(OpenWith({&first_, &edit}).ok());
  EXPECT_EQ(db_->next_file_number(), 41u);
  VersionEdit logs;
  logs.log_additions.push_back(LogAddition{.number = 50, .synced_bytes = std::nullopt});
  ASSERT_TRUE(OpenWith({&first_, &edit, &logs}).ok());
  EXPECT_EQ(db_->next_file_number(), 51u);
}

// If it were opened for writing, such a database could not be opened again.
TEST_F(ManifestOfEditsTest, WithTooFewFileNumbersLeftItIsReadButNotWritten) {
  const FileNumber highest_to_write = kFileNumberMax - kFileNumbersUnrecordedMax;
  first_.next_file_number = highest_to_write;
  EXPECT_TRUE(OpenWith({&first_}).ok());
  EXPECT_FALSE(db_->MayBelong(kFileNumberMax)) << "a file of this number cannot be the database's";
  EXPECT_TRUE(db_->MayBelong(kFileNumberMax - 1));
  VersionEdit edit;
  edit.log_number = highest_to_write;
  ExpectCorruption(OpenWith({&first_, &edit}),
                   StrCat("file number ", highest_to_write, " is in use"));
  edit.log_number.reset();
  edit.log_additions.push_back(LogAddition{.number = kFileNumberMax, .synced_bytes = std::nullopt});
  ExpectCorruption(OpenWith({&first_, &edit}),
                   StrCat("file number ", kFileNumberMax, " is in use"));
  VersionSet reader(VersionSet::Args{
      .file_system = file_system_.get(), .directory = kDirectory, .drop_file = {}});
  EXPECT_TRUE(reader.Recover(Specs({"default"}), true).ok());
}

TEST_F(ManifestOfEditsTest, WithTooFewSequencesLeftItIsNotWritten) {
  first_.last_sequence = kSequenceNumberMaxAtOpen;
  EXPECT_TRUE(OpenWith({&first_}).ok());
  first_.last_sequence = kSequenceNumberMaxAtOpen + 1;
  ExpectCorruption(OpenWith({&first_}), "last sequence");
}

TEST_F(ManifestOfEditsTest, WithAllFamilyIdsUsedNoFamilyIsCreated) {
  first_.max_column_family = kColumnFamilyIdMax - 1;
  ASSERT_TRUE(OpenWith({&first_}).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("last"), 4, nullptr)).ok());
  EXPECT_EQ(db_->Published().max_column_family, kColumnFamilyIdMax);
  EXPECT_TRUE(db_->PrepareAddFamily(Spec("one more"), 4, nullptr).status().IsNotSupported());
}

TEST_F(ManifestOfEditsTest, ATableInTwoFamiliesIsCorruption) {
  VersionEdit family, a, b;
  family.column_family = b.column_family = 1;
  family.added_column_family = "other";
  a.AddFile(1, Table(5));
  b.AddFile(1, Table(5));
  ExpectCorruption(OpenWith({&first_, &family, &a, &b}), "table 5");
}

TEST_F(ManifestOfEditsTest, FamiliesThatAreAddedTwiceOrDoNotExistAreCorruption) {
  VersionEdit family, other_id, drop, unknown;
  family.column_family = drop.column_family = 1;
  other_id.column_family = 2;
  unknown.column_family = 7;
  family.added_column_family = other_id.added_column_family = "other";
  drop.drops_column_family = true;
  EXPECT_TRUE(OpenWith({&first_, &family, &drop, &family}).ok());
  ExpectCorruption(OpenWith({&first_, &family, &family}), "column family 1");
  ExpectCorruption(OpenWith({&first_, &family, &other_id}), "same name");
  ExpectCorruption(OpenWith({&first_, &drop}), "column family 1");
  ExpectCorruption(OpenWith({&first_, &unknown}), "column family 7");
  drop.column_family = kDefaultFamilyId;
  ExpectCorruption(OpenWith({&first_, &drop}), "the default column family is dropped");
}

TEST_F(ManifestOfEditsTest, ABrokenAtomicGroupIsCorruptionAndAnUnfinishedOneIsLeftOut) {
  VersionEdit two, one, zero;
  two.atomic_group_remaining = 2;
  one.atomic_group_remaining = 1;
  zero.atomic_group_remaining = 0;
  two.last_sequence = one.last_sequence = zero.last_sequence = 9;
  ASSERT_TRUE(OpenWith({&first_, &two, &one, &zero}).ok());
  EXPECT_EQ(db_->Published().last_sequence, 9u);
  ASSERT_TRUE(OpenWith({&first_, &two, &one}).ok());
  EXPECT_EQ(db_->Published().last_sequence, 1u);
  ExpectCorruption(OpenWith({&first_, &two, &zero}), "atomic group");
  ExpectCorruption(OpenWith({&first_, &two, &first_}), "atomic group");
}

TEST_F(ManifestOfEditsTest, TheFamilyOfRocksDbsStatisticsOpensUnnamed) {
  VersionEdit family;
  family.column_family = 1;
  family.added_column_family = "___rocksdb_stats_history___";
  EXPECT_TRUE(OpenWith({&first_, &family}).ok());
}

// Damage with correct checksums, as an attacker could write it.
TEST_F(VersionSetTest, HostileEditsAreRefusedOrOpened) {
  const uint64_t seed = 8;
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  ASSERT_TRUE(db_.Create().ok());
  ASSERT_TRUE(db_.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db_.Install(db_->PrepareAddFamily(Spec("other"), 3, nullptr)).ok());
  for (int i = 0; i < 3; ++i) {
    std::vector<VersionEdit> edits(2);
    db_.AddTable(1, &edits[0]);
    edits[1].column_family = 1;
    db_.AddTable(0, &edits[1]);
    ASSERT_TRUE(db_.Install(std::move(edits)).ok());
  }
  const std::string name = DescriptorFileName(kDirectory, db_->manifest_number());
  db_.Close();
  std::vector<std::string> records;
  {
    uint64_t bytes = 0;
    std::unique_ptr<vfs::SequentialFile> file;
    ASSERT_TRUE(file_system_->GetFileSize(name, &bytes).ok());
    ASSERT_TRUE(file_system_->NewSequentialFile(name, vfs::FileOptions{}, &file).ok());
    LogReader reader(std::move(file), name, 0, bytes);
    Slice record;
    std::string scratch;
    while (reader.ReadRecord(&record, &scratch)) records.push_back(record.ToString());
  }
  for (int round = 0; round < 1500; ++round) {
    std::vector<std::string> damaged = records;
    std::string& record = damaged[random.Uniform(damaged.size())];
    if (random.OneIn(4)) {
      std::swap(record, damaged[random.Uniform(damaged.size())]);
    } else if (!record.empty()) {
      record[random.Uniform(record.size())] = static_cast<char>(random.Next());
      if (random.OneIn(4)) record.resize(random.Uniform(record.size()));
    }
    std::unique_ptr<vfs::WritableFile> file;
    ASSERT_TRUE(file_system_->NewWritableFile(name, vfs::FileOptions{}, &file).ok());
    LogWriter writer(std::move(file), name, 0);
    for (const std::string& r : damaged) ASSERT_TRUE(writer.AddRecord(r).ok());
    ASSERT_TRUE(writer.Close().ok());
    const Status status = db_.Open(Specs({"default", "other"}));
    ASSERT_TRUE(status.ok() || status.IsCorruption() || status.IsNotSupported() ||
                status.IsInvalidArgument())
        << status.ToString();
    if (status.ok()) db_->Published().FindFamily(0)->current->CheckInvariants();
  }
}

// Every writing call of a short run fails once, before, after or in the middle of its effect. The
// set continues with a new MANIFEST. A restart right after the failure recovers the published state
// or that of the failed install.
TEST_F(VersionSetTest, AnErrorAtEveryCallLosesNothing) {
  uint64_t faults_injected = 0;
  for (const FaultEffect effect :
       {FaultEffect::kFailBefore, FaultEffect::kFailAfter, FaultEffect::kPartialAppend}) {
    for (uint64_t nth = 1;; ++nth) {
      const auto base = std::make_shared<MemoryFileSystem>();
      FaultFileSystem faults(base);
      Database db(&faults, base.get());
      db.manifest_bytes_max = 400;
      ASSERT_TRUE(db.Create().ok());
      ASSERT_TRUE(db.Open(Specs({"default"})).ok());
      ASSERT_TRUE(db.Install(db->PrepareAddFamily(Spec("other"), 3, nullptr)).ok());
      std::vector<std::string> possible{db.State()};
      FaultRule rule;
      rule.operations = FaultOperation::kAnyWrite;
      rule.nth = nth;
      rule.effect = effect;
      for (int i = 0; i < 6; ++i) {
        std::vector<VersionEdit> edits(2);
        edits[0].column_family = 1;
        edits[0].last_sequence = static_cast<SequenceNumber>(10 + i);
        const FileNumber table = db.AddTable(1, &edits[0]);
        if (i == 0) faults.AddRule(rule);
        std::unique_ptr<PendingInstall> install = std::move(db->Prepare(std::move(edits))).value();
        const Status status = db->Write(install.get());
        if (status.ok()) {
          for (Version* version : db->Publish(install.get())) version->Unref();
          ASSERT_FALSE(db->IsUncertain());
          possible.assign(1, db.State());
          continue;
        }
        install.reset();
        ASSERT_TRUE(db->IsUncertain());
        ASSERT_EQ(db.State(), possible.front()) << "a failed install changed the state";
        ASSERT_TRUE(db->LiveTables().contains(table))
            << "a table that a MANIFEST may name would be deleted";
        ASSERT_TRUE(db->IsLive(table)) << "the same, by a deletion of tables";
        ASSERT_FALSE(db->MayDeleteManifest(1));
        // Check the state that a restart recovers now.
        Database other(base.get());
        const Status opened = other.Open(Specs({"default", "other"}));
        ASSERT_TRUE(opened.ok()) << nth << " " << opened.ToString();
        const std::string found = other.State();
        ASSERT_TRUE(found == possible.front() ||
                    found.find(StrCat("1/", table)) != std::string::npos)
            << nth << "\n"
            << found;
      }
      const uint64_t fired = faults.FaultsInjected();
      faults.ClearRules();
      VersionEdit edit;
      db.AddTable(2, &edit);
      ASSERT_TRUE(db.Install(std::move(edit)).ok());
      ASSERT_FALSE(db->IsUncertain());
      const std::string state = db.State();
      ASSERT_TRUE(db.Open(Specs({"default", "other"})).ok());
      ASSERT_EQ(db.State(), state) << nth;
      faults_injected += fired;
      if (fired == 0) break;
    }
  }
  EXPECT_GT(faults_injected, 60u);
}

// A handle that is opened later does not report a write error of the directory that another job's
// sync has reported before. CURRENT would then name a MANIFEST whose name may be lost.
TEST_F(VersionSetTest, TheDirectoryIsOpenedBeforeAManifestHasItsName) {
  const auto base = std::make_shared<MemoryFileSystem>();
  FaultFileSystem faults(base);
  Database db(&faults, base.get());
  db.manifest_bytes_max = 1;  // each install begins a MANIFEST
  ASSERT_TRUE(db.Create().ok());
  ASSERT_TRUE(db.Open(Specs({"default"})).ok());
  std::vector<std::string> before;
  ASSERT_TRUE(base->GetChildren(kDirectory, &before).ok());
  FaultRule rule;
  rule.operations = FaultOperation::kSyncDirectory;
  faults.AddRule(rule);
  std::vector<VersionEdit> edits(1);
  edits[0].last_sequence = 10;
  const std::unique_ptr<PendingInstall> install = std::move(db->Prepare(std::move(edits))).value();
  ASSERT_FALSE(db->Write(install.get()).ok());
  ASSERT_EQ(faults.FaultsInjected(), 1u);
  std::vector<std::string> after;
  ASSERT_TRUE(base->GetChildren(kDirectory, &after).ok());
  EXPECT_THAT(after, testing::UnorderedElementsAreArray(before));
}

// Every crash image after every operation opens, and holds every install that was acknowledged
// before.
TEST(VersionSetCrashTest, EveryCrashImageHoldsWhatWasAcknowledged) {
  CrashFileSystem file_system;
  struct Acknowledged {
    uint64_t operations;
    std::string state;
  };
  std::vector<Acknowledged> history;
  Database db(&file_system);
  db.manifest_bytes_max = 1500;
  ASSERT_TRUE(db.Create().ok());
  ASSERT_TRUE(db.Open(Specs({"default"})).ok());
  const auto acknowledge = [&] { history.push_back({file_system.OperationCount(), db.State()}); };
  acknowledge();
  ASSERT_TRUE(db.Install(db->PrepareAddFamily(Spec("a"), 3, nullptr)).ok());
  acknowledge();
  for (int i = 0; i < 40; ++i) {
    std::vector<VersionEdit> edits(static_cast<size_t>(i % 2) + 1);
    for (size_t e = 0; e < edits.size(); ++e) {
      edits[e].column_family = e == 0 ? 1 : 0;
      edits[e].last_sequence = static_cast<SequenceNumber>(i + 1);
      db.AddTable(1, &edits[e]);
    }
    ASSERT_TRUE(db.Install(std::move(edits)).ok());
    acknowledge();
  }
  ASSERT_TRUE(db.Install(db->PrepareDropFamily(1)).ok());
  acknowledge();
  db.Close();

  const uint64_t seed = 3;
  SCOPED_TRACE(StrCat("seed ", seed));
  uint64_t images = 0;
  for (uint64_t k = history.front().operations; k <= file_system.OperationCount(); ++k) {
    const auto later = std::find_if(history.begin(), history.end(),
                                    [k](const Acknowledged& a) { return a.operations > k; });
    const std::string acknowledged = std::prev(later)->state;
    const std::string next = later == history.end() ? acknowledged : later->state;
    file_system.EnumerateCrashImages(k, seed, [&](const CrashImage& image) {
      ++images;
      Database recovered(image.file_system.get());
      const Status status = recovered.Open(Specs({"default", "a"}));
      ASSERT_TRUE(status.ok()) << "operation " << k << " " << CrashKindName(image.kind) << ": "
                               << status.ToString() << "\n"
                               << file_system.DescribeOperation(k - 1);
      const std::string state = recovered.State();
      ASSERT_TRUE(state == acknowledged || state == next)
          << "operation " << k << " " << CrashKindName(image.kind) << "\n"
          << state;
      VersionEdit edit;
      recovered.AddTable(2, &edit);
      ASSERT_TRUE(recovered.Install(std::move(edit)).ok());
      const std::string after = recovered.State();
      ASSERT_TRUE(recovered.Open(Specs({"default", "a"})).ok());
      ASSERT_EQ(recovered.State(), after);
    });
    if (testing::Test::HasFatalFailure()) return;
  }
  RecordProperty("crash_images", static_cast<int>(images));
  EXPECT_GT(images, 500u);
}

// A power cut removes any unsynced sector of the MANIFEST. The install is there or not, and
// complete records after the lost ones do not count as damage.
TEST(VersionSetCrashTest, AnySectorOfAnInstallMayBeLost) {
  constexpr size_t kSector = 512;
  // Fewer zeros at the end of a sector are no evidence of its loss (log_reader.cc).
  constexpr size_t kEvidence = 8;
  CrashFileSystem file_system;
  Database db(&file_system);
  ASSERT_TRUE(db.Create().ok());
  ASSERT_TRUE(db.Open(Specs({"default"})).ok());
  ASSERT_TRUE(db.Install(db->PrepareAddFamily(Spec("a"), 3, nullptr)).ok());
  uint64_t images = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    const std::string before = db.State();
    const uint64_t begin = file_system.OperationCount();
    std::vector<VersionEdit> edits(1 + i % 2);
    for (size_t e = 0; e < edits.size(); ++e) {
      edits[e].column_family = static_cast<ColumnFamilyId>(e);
      db.AddTable(1, &edits[e]);
    }
    if (i % 3 != 0)
      edits.emplace_back().log_additions.push_back(
          LogAddition{.number = 3, .synced_bytes = 1000 + i});
    ASSERT_TRUE(db.Install(std::move(edits)).ok());
    const std::string after = db.State();
    for (uint64_t k = begin; k <= file_system.OperationCount(); ++k) {
      const CrashImage durable = file_system.MakeCrashImage(k, CrashKind::kDurableOnly, 0);
      const std::string name = DescriptorFileName(
          kDirectory, ReadCurrentFile(durable.file_system.get(), kDirectory).value());
      const size_t synced = ContentsOf(durable.file_system.get(), name).size();
      const CrashImage all = file_system.MakeCrashImage(k, CrashKind::kEverything, 0);
      const std::string contents = ContentsOf(all.file_system.get(), name);
      for (size_t at = synced; at < contents.size();) {
        const size_t end = std::min(contents.size(), (at / kSector + 1) * kSector);
        std::string damaged = contents;
        damaged.replace(at, end - at, end - at, '\0');
        const bool is_evident = end - at >= kEvidence;
        at = end;
        if (!is_evident) continue;
        ++images;
        ReplaceFile(all.file_system.get(), name, damaged);
        Database recovered(all.file_system.get());
        const Status status = recovered.Open(Specs({"default", "a"}), /*read_only=*/true);
        ASSERT_TRUE(status.ok()) << "install " << i << " without the bytes up to " << end << ": "
                                 << status.ToString();
        const std::string state = recovered.State();
        ASSERT_TRUE(state == before || state == after) << "install " << i << "\n" << state;
      }
    }
  }
  EXPECT_GT(images, 80u);
}

}  // namespace
}  // namespace ashlar

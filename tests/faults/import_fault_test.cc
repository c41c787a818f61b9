// Imports with an error at each call of the file system in turn, and on a disk that fills up at
// each place. After an error the open database has no such family, and the files are as they were;
// a reopened one has the whole family or none. Once the cause is gone the same call succeeds, and
// no table is left that belongs to nobody.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/checkpoint.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

constexpr char kImported[] = "imported";
constexpr char kFolder[] = "/exported";
constexpr size_t kFileBytesMax = 1 << 20;

class Import {
 public:
  Import()
      : disk_(std::make_shared<MemoryFileSystem>()),
        faults_(std::make_shared<FaultFileSystem>(disk_)),
        database_(std::make_unique<OpenDatabase>(faults_, SmallDatabaseOptions(), 1)) {}

  void Prepare() {
    ASSERT_OK(database_->Open());
    before_ = {{kDefaultColumnFamilyName, {}}};
    for (const char* const key : {"a", "b", "c"}) {
      Put(key, std::string(2000, key[0]));
      ASSERT_OK(database_->Flush(database_->families(), true));
    }
    Checkpoint* made = nullptr;
    ASSERT_OK(Checkpoint::Create(database_->db(), &made));
    const std::unique_ptr<Checkpoint> checkpoint(made);
    ExportImportFilesMetaData* exported = nullptr;
    ASSERT_OK(checkpoint->ExportColumnFamily(nullptr, kFolder, &exported));
    exported_.reset(exported);
    for (const LiveFileMetaData& file : exported_->files)
      ASSERT_OK(Read(kFolder + file.name, &files_.emplace_back()));
    after_ = before_;
    after_[kImported] = before_[kDefaultColumnFamilyName];
    Put("b", "newer, in the log");
    after_[kDefaultColumnFamilyName] = before_[kDefaultColumnFamilyName];
  }

  Status Run(bool moves) {
    ImportColumnFamilyOptions options;
    options.move_files = moves;
    ColumnFamilyHandle* handle = nullptr;
    const Status status = database_->db()->CreateColumnFamilyWithImport(
        ColumnFamilyOptions(SmallDatabaseOptions()), kImported, options, *exported_, &handle);
    EXPECT_EQ(status.ok(), handle != nullptr) << status.ToString();
    delete handle;
    return status;
  }

  // The rest runs without errors.
  void CheckAfterError() {
    ExpectContents(before_);
    for (size_t i = 0; i < files_.size(); ++i) {
      std::string bytes;
      ASSERT_OK(Read(kFolder + exported_->files[i].name, &bytes));
      EXPECT_TRUE(bytes == files_[i]) << exported_->files[i].name << " has changed";
    }
    const Status resumed = database_->db()->Resume();
    ASSERT_TRUE(resumed.ok()) << resumed.ToString();
    ExpectContents(before_);
  }
  void Reopen() {
    static_cast<void>(database_->Close());  // an error that was latched
    database_ = std::make_unique<OpenDatabase>(faults_, SmallDatabaseOptions(), 1);
    ASSERT_OK(database_->Open());
    ExpectNoOrphan();
  }
  void ExpectEither() {
    Contents found;
    ASSERT_OK(database_->Read(&found));
    EXPECT_TRUE(found == before_ || found == after_) << "a part of the family";
  }
  // A damaged copy is found by whoever reads it.
  void ExpectAllOrCorruption() {
    Reopen();
    Contents found;
    const Status read = database_->Read(&found);
    EXPECT_TRUE(read.ok() ? found == after_ : read.IsCorruption()) << read.ToString();
  }
  void ExpectAll() {
    Reopen();
    ExpectContents(after_);
  }

  FaultFileSystem* faults() { return faults_.get(); }
  MemoryFileSystem* disk() { return disk_.get(); }
  uint64_t BytesUsed() const {
    uint64_t bytes = 0;
    std::set<const void*> counted;  // a file may have several names
    for (const MemoryImage::Entry& entry : disk_->Snapshot().entries) {
      if (!entry.is_directory && counted.insert(entry.bytes.get()).second)
        bytes += entry.bytes->size();
    }
    return bytes;
  }
  void ExpectNoOrphan() {
    std::vector<LiveFileMetaData> live;
    database_->db()->GetLiveFilesMetaData(&live);
    std::vector<std::string> names;
    ASSERT_OK(disk_->GetChildren(OpenDatabase::kPath, &names));
    const auto tables = std::count_if(
        names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".sst"); });
    EXPECT_EQ(static_cast<size_t>(tables), live.size()) << "a table belongs to nobody";
  }

 private:
  Status Read(const std::string& path, std::string* bytes) {
    ASHLAR_ASSIGN_OR_RETURN(*bytes, ReadFileToString(disk_.get(), path, kFileBytesMax));
    return Status::OK();
  }
  void Put(const std::string& key, const std::string& value) {
    const Commit commit = {{.kind = Change::Kind::kPut,
                            .family = kDefaultColumnFamilyName,
                            .key = key,
                            .value = value}};
    ASSERT_OK(database_->Write(commit, WriteOptions()));
    Apply(commit, &before_);
  }
  void ExpectContents(const Contents& wanted) {
    Contents found;
    ASSERT_OK(database_->Read(&found));
    EXPECT_TRUE(found == wanted);
  }

  const std::shared_ptr<MemoryFileSystem> disk_;
  const std::shared_ptr<FaultFileSystem> faults_;
  std::unique_ptr<OpenDatabase> database_;
  std::unique_ptr<ExportImportFilesMetaData> exported_;
  std::vector<std::string> files_;
  Contents before_;
  Contents after_;
};

// Copied, moved.
class ImportFaultTest : public ::testing::TestWithParam<bool> {
 protected:
  // True: the rule met a call.
  bool RunWith(const FaultRule& rule, bool reopens_first) {
    Import import;
    import.Prepare();
    if (HasFailure()) return false;
    import.faults()->ResetCounts();
    import.faults()->AddRule(rule);
    const Status status = import.Run(GetParam());
    const bool met = import.faults()->FaultsInjected() > 0;
    import.faults()->ClearRules();
    EXPECT_TRUE(status.ok() || met) << status.ToString();
    if (status.ok()) {
      import.ExpectAll();
      return met;
    }
    ++errors_;
    if (reopens_first) {
      import.Reopen();
      import.ExpectEither();
      return met;
    }
    import.CheckAfterError();
    if (HasFailure()) return met;
    const Status again = import.Run(GetParam());
    EXPECT_TRUE(again.ok()) << again.ToString();
    import.ExpectAll();
    return met;
  }

  uint64_t errors_ = 0;
};

TEST_P(ImportFaultTest, AnErrorAtAnyCallChangesNothing) {
  for (const FaultEffect effect :
       {FaultEffect::kFailBefore, FaultEffect::kFailAfter, FaultEffect::kPartialAppend}) {
    for (const bool sticky : {false, true}) {
      for (const bool reopens_first : {false, true}) {
        FaultRule rule;
        rule.effect = effect;
        rule.sticky = sticky;
        if (effect == FaultEffect::kPartialAppend) rule.error = Status::NoSpace("injected");
        bool met = true;
        for (rule.nth = 1; met && !HasFailure(); ++rule.nth) {
          SCOPED_TRACE(StrCat("call ", rule.nth, sticky ? " and every later one" : "", ", effect ",
                              static_cast<int>(effect), reopens_first ? ", reopened" : ""));
          met = RunWith(rule, reopens_first);
        }
        EXPECT_GT(rule.nth, 20U);
      }
    }
  }
  EXPECT_GT(errors_, 100U);
}

TEST_P(ImportFaultTest, AReadThatLiesIsFound) {
  for (const FaultEffect effect : {FaultEffect::kBitFlip, FaultEffect::kShortRead}) {
    FaultRule rule;
    rule.operations = FaultOperation::kRead;
    rule.name_contains = kFolder;
    rule.effect = effect;
    bool met = true;
    uint64_t errors = 0;
    for (rule.nth = 1; met && !HasFailure(); ++rule.nth) {
      SCOPED_TRACE(StrCat("read ", rule.nth, ", effect ", static_cast<int>(effect)));
      Import import;
      import.Prepare();
      import.faults()->ResetCounts();
      import.faults()->AddRule(rule);
      const Status status = import.Run(GetParam());
      met = import.faults()->FaultsInjected() > 0;
      import.faults()->ClearRules();
      if (status.ok()) {
        import.ExpectAllOrCorruption();
        continue;
      }
      ++errors;
      EXPECT_NE(status.ToString().find(kFolder), std::string::npos) << status.ToString();
      import.CheckAfterError();
    }
    EXPECT_GT(errors, 10U);
  }
}

TEST_P(ImportFaultTest, AFullDiskAnywhereLeavesNoOrphan) {
  bool was_full = true;
  uint64_t places = 0;
  for (uint64_t spare_bytes = 0; was_full && !HasFailure(); spare_bytes += 97, ++places) {
    SCOPED_TRACE(StrCat(spare_bytes, " bytes free"));
    Import import;
    import.Prepare();
    if (HasFailure()) return;
    import.disk()->SetCapacityBytes(import.BytesUsed() + spare_bytes);
    const Status status = import.Run(GetParam());
    was_full = !status.ok();
    if (was_full) {
      EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
    }
    import.disk()->SetCapacityBytes(std::numeric_limits<uint64_t>::max());
    if (was_full) {
      import.CheckAfterError();
      if (HasFailure()) return;
      import.ExpectNoOrphan();
      ASSERT_OK(import.Run(GetParam()));
    }
    import.ExpectAll();
  }
  EXPECT_GT(places, 3U);
}

INSTANTIATE_TEST_SUITE_P(Manners, ImportFaultTest, ::testing::Bool(),
                         [](const auto& moves) { return moves.param ? "Moved" : "Copied"; });

}  // namespace
}  // namespace ashlar

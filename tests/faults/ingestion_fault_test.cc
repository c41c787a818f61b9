// Ingestion with an error at each call of the file system in turn, and on a disk that fills up at
// each place. After an error the open database has no part of the call, and the files are as they
// were; a reopened one has all or nothing. Once the cause is gone the same call succeeds, and no
// table is left that belongs to nobody.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/sst_file_writer.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

constexpr char kOther[] = "other";
constexpr size_t kFileBytesMax = 1 << 20;

class Ingestion {
 public:
  Ingestion()
      : disk_(std::make_shared<MemoryFileSystem>()),
        faults_(std::make_shared<FaultFileSystem>(disk_)),
        database_(std::make_unique<OpenDatabase>(faults_, SmallDatabaseOptions(), 1)) {}

  void Prepare(const IngestExternalFileOptions& options) {
    options_ = options;
    ASSERT_OK(database_->Open());
    ASSERT_OK(database_->CreateFamily(kOther));
    before_ = {{kDefaultColumnFamilyName, {}}, {kOther, {}}};
    Put("a", "old");
    Put("b", "old");
    ASSERT_OK(database_->Flush(database_->families(), true));
    Put("b", "newer");
    after_ = before_;
    WriteFile(0, kDefaultColumnFamilyName, {{"b", "1"}, {"c", "1"}});
    WriteFile(1, kOther, {{"a", "2"}, {"x", std::string(5000, 'x')}});
  }

  Status Run() {
    std::vector<IngestExternalFileArg> args(2);
    for (size_t i = 0; i < 2; ++i) {
      args[i].column_family = database_->family(i == 0 ? kDefaultColumnFamilyName : kOther);
      args[i].external_files = {Path(i)};
      args[i].options = options_;
    }
    return database_->db()->IngestExternalFiles(args);
  }

  // The rest runs without errors.
  void CheckAfterError() {
    ExpectContents(before_);
    for (size_t i = 0; i < 2; ++i) {
      std::string bytes;
      ASSERT_OK(Read(Path(i), &bytes));
      EXPECT_TRUE(bytes == files_[i]) << Path(i) << " has changed";
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
    EXPECT_TRUE(found == before_ || found == after_) << "a part of the call";
  }
  void ExpectAll() {
    ExpectContents(after_);
    Reopen();
    ExpectContents(after_);
  }

  FaultFileSystem* faults() { return faults_.get(); }
  MemoryFileSystem* disk() { return disk_.get(); }
  uint64_t BytesUsed() const {
    uint64_t bytes = 0;
    for (const MemoryImage::Entry& entry : disk_->Snapshot().entries)
      bytes += entry.is_directory ? 0 : entry.bytes->size();
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
  static std::string Path(size_t i) { return StrCat("/", i, ".sst"); }
  Status Read(const std::string& path, std::string* bytes) {
    ASHLAR_ASSIGN_OR_RETURN(*bytes, ReadFileToString(disk_.get(), path, kFileBytesMax));
    return Status::OK();
  }
  void Put(const std::string& key, const std::string& value) {
    const Commit commit = {
        {.kind = Change::Kind::kPut,
         .family = kDefaultColumnFamilyName,
         .key = key,
         .value = value},
        {.kind = Change::Kind::kPut, .family = kOther, .key = key, .value = value}};
    ASSERT_OK(database_->Write(commit, WriteOptions()));
    Apply(commit, &before_);
  }
  void WriteFile(size_t i, const std::string& family, const FamilyContents& entries) {
    Options options = SmallDatabaseOptions();
    options.env = database_->env();
    SstFileWriter writer(EnvOptions(), options);
    ASSERT_OK(writer.Open(Path(i)));
    for (const auto& [key, value] : entries) {
      ASSERT_OK(writer.Put(key, value));
      after_[family][key] = value;
    }
    ASSERT_OK(writer.Finish());
    ASSERT_OK(Read(Path(i), &files_[i]));
  }
  void ExpectContents(const Contents& wanted) {
    Contents found;
    ASSERT_OK(database_->Read(&found));
    EXPECT_TRUE(found == wanted);
  }

  const std::shared_ptr<MemoryFileSystem> disk_;
  const std::shared_ptr<FaultFileSystem> faults_;
  std::unique_ptr<OpenDatabase> database_;
  IngestExternalFileOptions options_;
  std::string files_[2];
  Contents before_;
  Contents after_;
};

IngestExternalFileOptions With(bool IngestExternalFileOptions::* member) {
  IngestExternalFileOptions options;
  options.*member = true;
  return options;
}

struct Manner {
  const char* name;
  IngestExternalFileOptions options;
};
const Manner kManners[] = {
    {"Copied", With(&IngestExternalFileOptions::verify_checksums_before_ingest)},
    {"Moved", With(&IngestExternalFileOptions::move_files)},
    {"Linked", With(&IngestExternalFileOptions::link_files)},
    {"WithNumbersInTheFiles", With(&IngestExternalFileOptions::write_global_seqno)},
};

class IngestionFaultTest : public ::testing::TestWithParam<size_t> {
 protected:
  // True: the rule met a call.
  bool RunWith(const FaultRule& rule, bool reopens_first) {
    Ingestion ingestion;
    ingestion.Prepare(kManners[GetParam()].options);
    if (HasFailure()) return false;
    ingestion.faults()->ResetCounts();
    ingestion.faults()->AddRule(rule);
    const Status status = ingestion.Run();
    const bool met = ingestion.faults()->FaultsInjected() > 0;
    ingestion.faults()->ClearRules();
    EXPECT_TRUE(status.ok() || met) << status.ToString();
    if (status.ok()) {
      ingestion.ExpectAll();
      return met;
    }
    ++errors_;
    if (reopens_first) {
      ingestion.Reopen();
      ingestion.ExpectEither();
      return met;
    }
    ingestion.CheckAfterError();
    if (HasFailure()) return met;
    const Status again = ingestion.Run();
    EXPECT_TRUE(again.ok()) << again.ToString();
    ingestion.ExpectAll();
    return met;
  }

  uint64_t errors_ = 0;
};

TEST_P(IngestionFaultTest, AnErrorAtAnyCallChangesNothing) {
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

TEST_P(IngestionFaultTest, AFullDiskAnywhereLeavesNoOrphan) {
  bool was_full = true;
  uint64_t places = 0;
  for (uint64_t spare_bytes = 0; was_full && !HasFailure(); spare_bytes += 311, ++places) {
    SCOPED_TRACE(StrCat(spare_bytes, " bytes free"));
    Ingestion ingestion;
    ingestion.Prepare(kManners[GetParam()].options);
    if (HasFailure()) return;
    ingestion.disk()->SetCapacityBytes(ingestion.BytesUsed() + spare_bytes);
    const Status status = ingestion.Run();
    was_full = !status.ok();
    if (was_full) {
      EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
    }
    ingestion.disk()->SetCapacityBytes(std::numeric_limits<uint64_t>::max());
    if (was_full) {
      ingestion.CheckAfterError();
      if (HasFailure()) return;
      ingestion.ExpectNoOrphan();
      ASSERT_OK(ingestion.Run());
    }
    ingestion.ExpectAll();
  }
  EXPECT_GT(places, 10U);
}

INSTANTIATE_TEST_SUITE_P(Manners, IngestionFaultTest,
                         ::testing::Range<size_t>(0, std::size(kManners)),
                         [](const auto& manner) { return kManners[manner.param].name; });

}  // namespace
}  // namespace ashlar

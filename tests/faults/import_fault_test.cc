// Imports with an error at each file system call in turn, and on a disk that fills up at each
// point. After an error, the open database has no such family and the files are unchanged. A
// reopened database has the complete family or none. Once the cause is removed, the same call
// succeeds, and no unreferenced table is left.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/checkpoint.h"
#include "tests/faults/file_call.h"

namespace ashlar {
namespace {

constexpr char kImported[] = "imported";
constexpr char kFolder[] = "/exported";

class Import final : public FileCall {
 public:
  explicit Import(bool moves) : moves_(moves) {}

  void Prepare() override {
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
    for (const LiveFileMetaData& file : exported_->files) Keep(kFolder + file.name);
    after_ = before_;
    after_[kImported] = before_[kDefaultColumnFamilyName];
    Put("b", "newer, in the log");
    after_[kDefaultColumnFamilyName] = before_[kDefaultColumnFamilyName];
  }

  Status Run() override {
    ImportColumnFamilyOptions options;
    options.move_files = moves_;
    ColumnFamilyHandle* handle = nullptr;
    const Status status = database_->db()->CreateColumnFamilyWithImport(
        ColumnFamilyOptions(SmallDatabaseOptions()), kImported, options, *exported_, &handle);
    EXPECT_EQ(status.ok(), handle != nullptr) << status.ToString();
    delete handle;
    return status;
  }

  // A read of a damaged copy detects the damage.
  void ExpectAllOrCorruption() {
    Reopen();
    Contents found;
    const Status read = database_->Read(&found);
    EXPECT_TRUE(read.ok() ? found == after_ : read.IsCorruption()) << read.ToString();
  }

 private:
  void Put(const std::string& key, const std::string& value) {
    Write({{.kind = Change::Kind::kPut,
            .family = kDefaultColumnFamilyName,
            .key = key,
            .value = value}});
  }

  const bool moves_;
  std::unique_ptr<ExportImportFilesMetaData> exported_;
};

// The parameter: copied or moved files.
class ImportFaultTest : public ::testing::TestWithParam<bool> {
 protected:
  static std::unique_ptr<FileCall> Make() { return std::make_unique<Import>(GetParam()); }
};

TEST_P(ImportFaultTest, AnErrorAtAnyCallChangesNothing) { SweepErrors(Make); }

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
      Import import(GetParam());
      import.Prepare();
      import.faults()->ResetCounts();
      import.faults()->AddRule(rule);
      const Status status = import.Run();
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
  uint64_t places = 0;
  SweepFullDisk(Make, 97, &places);
  EXPECT_GT(places, 3U);
}

INSTANTIATE_TEST_SUITE_P(Manners, ImportFaultTest, ::testing::Bool(),
                         [](const auto& moves) { return moves.param ? "Moved" : "Copied"; });

}  // namespace
}  // namespace ashlar

// Ingestion with an error at each file system call in turn, and on a disk that fills up at each
// point. After an error, the open database has no part of the call and the files are unchanged. A
// reopened database has all or nothing. Once the cause is removed, the same call succeeds, and no
// unreferenced table is left.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/sst_file_writer.h"
#include "tests/faults/file_call.h"
#include "tests/support/database_table.h"

namespace ashlar {
namespace {

constexpr char kOther[] = "other";

class Ingestion final : public FileCall {
 public:
  explicit Ingestion(const IngestExternalFileOptions& options)
      : FileCall(Settings(options)), options_(options) {}

  void Prepare() override {
    ASSERT_OK(database_->Open());
    ASSERT_OK(database_->CreateFamily(kOther));
    before_ = {{kDefaultColumnFamilyName, {}}, {kOther, {}}};
    Put("a", "old");
    Put("b", "old");
    ASSERT_OK(database_->Flush(database_->families(), true));
    Put("b", "newer");
    after_ = before_;
    WriteFile(0, kDefaultColumnFamilyName, {{Key("b"), "1"}, {Key("c"), "1"}});
    WriteFile(1, kOther, {{Key("a"), "2"}, {Key("x"), std::string(5000, 'x')}});
  }

  Status Run() override {
    std::vector<IngestExternalFileArg> args(2);
    for (size_t i = 0; i < 2; ++i) {
      args[i].column_family = database_->family(i == 0 ? kDefaultColumnFamilyName : kOther);
      args[i].external_files = {Path(i)};
      args[i].options = options_;
    }
    return database_->db()->IngestExternalFiles(args);
  }

  void ExpectAll() override {
    ExpectContents(after_);
    FileCall::ExpectAll();
  }

 private:
  static Options Settings(const IngestExternalFileOptions& options) {
    Options settings = SmallDatabaseOptions();
    settings.allow_ingest_behind = options.ingest_behind;
    return settings;
  }
  // Returns keys without data in the database for a table of another database.
  std::string Key(const std::string& key) const {
    return options_.allow_db_generated_files ? "z" + key : key;
  }
  static std::string Path(size_t i) { return StrCat("/", i, ".sst"); }
  void Put(const std::string& key, const std::string& value) {
    Write({{.kind = Change::Kind::kPut,
            .family = kDefaultColumnFamilyName,
            .key = key,
            .value = value},
           {.kind = Change::Kind::kPut, .family = kOther, .key = key, .value = value}});
  }
  void WriteFile(size_t i, const std::string& family, const FamilyContents& entries) {
    for (const auto& [key, value] : entries) {
      const bool is_hidden = options_.ingest_behind && after_[family].contains(key);
      if (!is_hidden) after_[family][key] = value;
    }
    if (options_.allow_db_generated_files) {
      WriteTableByADatabase(disk_, Path(i), entries);
    } else {
      Options options = settings_;
      options.env = database_->env();
      SstFileWriter writer(EnvOptions(), options);
      ASSERT_OK(writer.Open(Path(i)));
      for (const auto& [key, value] : entries) ASSERT_OK(writer.Put(key, value));
      ASSERT_OK(writer.Finish());
    }
    Keep(Path(i));
  }

  const IngestExternalFileOptions options_;
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
    {"Behind", With(&IngestExternalFileOptions::ingest_behind)},
    {"TablesOfADatabase", With(&IngestExternalFileOptions::allow_db_generated_files)},
};

class IngestionFaultTest : public ::testing::TestWithParam<size_t> {
 protected:
  static std::unique_ptr<FileCall> Make() {
    return std::make_unique<Ingestion>(kManners[GetParam()].options);
  }
};

TEST_P(IngestionFaultTest, AnErrorAtAnyCallChangesNothing) { SweepErrors(Make); }

TEST_P(IngestionFaultTest, AFullDiskAnywhereLeavesNoOrphan) {
  uint64_t places = 0;
  SweepFullDisk(Make, 311, &places);
  EXPECT_GT(places, 10U);
}

INSTANTIATE_TEST_SUITE_P(Manners, IngestionFaultTest,
                         ::testing::Range<size_t>(0, std::size(kManners)),
                         [](const auto& manner) { return kManners[manner.param].name; });

}  // namespace
}  // namespace ashlar

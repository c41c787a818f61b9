// Table files for ingestion, exchanged with RocksDB's own tools. Each side ingests the other's
// files, and reads a database into which the other has ingested.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/sst_file_reader.h"
#include "ashlar/sst_file_writer.h"
#include "base/format.h"
#include "tests/interchange/ldb_fixture.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

class IngestionInterchangeTest : public LdbFixture {
 protected:
  void Write(const std::string& file, int from, int to, const std::string& value) {
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_OK(writer.Open(file));
    for (int i = from; i < to; ++i) ASSERT_OK(writer.Put(StrCat("k", 1000 + i), value));
    ASSERT_OK(writer.Delete(StrCat("k", 1000 + to)));
    ASSERT_OK(writer.DeleteRange("x", "y"));
    ASSERT_OK(writer.Finish());
  }

  const std::string file_ = scratch_.File("ours.sst");
};

TEST_F(IngestionInterchangeTest, TheirToolsReadAndVerifyOurFiles) {
  Write(file_, 0, 300, "new");
  const std::string verified = RunCommand(StrCat("sst_dump --file=", file_, " --command=verify"));
  EXPECT_NE(verified.find("The file is ok"), std::string::npos) << verified;
  const std::string dump =
      RunCommand(StrCat("sst_dump --file=", file_, " --command=check --show_properties"));
  EXPECT_NE(dump.find("# entries: 302"), std::string::npos) << dump;
  EXPECT_NE(dump.find("# range deletions: 1"), std::string::npos) << dump;
}

TEST_F(IngestionInterchangeTest, TheyIngestOurFiles) {
  Ldb("put --create_if_missing k1000 old");
  Ldb("put k1300 old");
  Ldb("put x1 old");
  Ldb("put z old");
  Write(file_, 0, 300, "new");
  Ldb(StrCat("ingest_extern_sst ", file_));
  const std::string theirs = Ldb("scan");
  EXPECT_NE(theirs.find("k1000 : new"), std::string::npos) << theirs;
  EXPECT_NE(theirs.find("z : old"), std::string::npos) << theirs;
  EXPECT_EQ(theirs.find("k1300"), std::string::npos) << theirs;
  EXPECT_EQ(theirs.find("x1"), std::string::npos) << theirs;
  Open();
  EXPECT_EQ(Scan(), theirs);
  CompactRangeOptions rewrite;
  rewrite.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(rewrite, nullptr, nullptr));
  EXPECT_EQ(Scan(), theirs);
  Close();
}

TEST_F(IngestionInterchangeTest, WeIngestTheirFiles) {
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "a", "old"));
  ASSERT_OK(db_->Put(WriteOptions(), "d", "old"));
  const std::string file = scratch_.File("theirs.sst");
  const std::string other = scratch_.File("other_db");
  RunCommand(StrCat("sh -c 'printf \"a ==> 1\\nb ==> 2\\nc ==> 3\\n\" | ldb --db=", other,
                    " --create_if_missing write_extern_sst ", file, "'"));
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open(file));
  ASSERT_OK(reader.VerifyChecksum());
  ASSERT_OK(db_->IngestExternalFile({file}, IngestExternalFileOptions()));
  const std::string ours = Scan();
  EXPECT_EQ(ours, "a : 1\nb : 2\nc : 3\nd : old\n");
  Close();
  EXPECT_EQ(Ldb("scan"), ours);
  EXPECT_NE(Ldb("checkconsistency").find("OK"), std::string::npos);
}

// Both libraries sort the table of the older write below the file.
TEST_F(IngestionInterchangeTest, TheyTakeOverAFileOfLevel0BesideOlderWrites) {
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "a", "1"));
  ASSERT_OK(db_->Put(WriteOptions(), "z", "1"));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ASSERT_OK(db_->Put(WriteOptions(), "b", "old"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->Put(WriteOptions(), "b", "in the log, older than the file"));
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open(file_));
  ASSERT_OK(writer.Put("m", "1"));
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db_->IngestExternalFile({file_}, IngestExternalFileOptions()));
  ColumnFamilyMetaData tree;
  db_->GetColumnFamilyMetaData(&tree);
  ASSERT_EQ(tree.levels[0].files.size(), 2u);
  const std::string ours = Scan();
  Close();
  EXPECT_EQ(Ldb("scan"), ours);
  Ldb("compact");
  EXPECT_EQ(Ldb("scan"), ours);
  EXPECT_NE(Ldb("checkconsistency").find("OK"), std::string::npos);
}

// One file has the number in it, and one is ingested behind, at the reserved level.
TEST_F(IngestionInterchangeTest, TheyReadNumbersInFilesAndWhatIsBehind) {
  options_.allow_ingest_behind = true;
  options_.compaction_style = kCompactionStyleUniversal;
  Open();
  for (int i = 0; i < 300; ++i) ASSERT_OK(db_->Put(WriteOptions(), StrCat("k", 1000 + i), "old"));
  ASSERT_OK(db_->Delete(WriteOptions(), "k1299"));
  Write(file_, 100, 200, "new");
  IngestExternalFileOptions numbered;
  numbered.write_global_seqno = true;
  ASSERT_OK(db_->IngestExternalFile({file_}, numbered));
  const std::string behind = scratch_.File("behind.sst");
  Write(behind, 50, 400, "history");
  IngestExternalFileOptions below;
  below.ingest_behind = true;
  ASSERT_OK(db_->IngestExternalFile({behind}, below));
  const std::string ours = Scan();
  EXPECT_NE(ours.find("k1049 : old\nk1050 : old"), std::string::npos);
  EXPECT_EQ(ours.find("k1299 :"), std::string::npos) << "it was deleted";
  EXPECT_NE(ours.find("k1300 : history"), std::string::npos);
  EXPECT_NE(ours.find("k1100 : new"), std::string::npos);
  Close();
  EXPECT_NE(Ldb("checkconsistency").find("OK"), std::string::npos);
  EXPECT_EQ(Ldb("--try_load_options scan"), ours);
  Ldb("--try_load_options compact");
  EXPECT_EQ(Ldb("--try_load_options scan"), ours);
  Open();
  EXPECT_EQ(Scan(), ours);
  Close();
}

// RocksDB writes the number into the file, and leaves its checksum unchanged.
TEST_F(IngestionInterchangeTest, WeReadNumbersThatTheyWroteIntoFiles) {
  Ldb("put --create_if_missing k1000 old");
  Ldb("put k1100 old");
  Write(file_, 0, 50, "new");
  Ldb(StrCat("ingest_extern_sst --write_global_seqno=true ", file_));
  Open();
  const std::string ours = Scan();
  EXPECT_NE(ours.find("k1000 : new"), std::string::npos) << ours;
  EXPECT_NE(ours.find("k1100 : old"), std::string::npos) << ours;
  ASSERT_OK(db_->VerifyChecksum());
  Close();
  EXPECT_EQ(Ldb("scan"), ours);
}

TEST_F(IngestionInterchangeTest, TheyReadWhatWeIngestedWithAndWithoutASequence) {
  Open();
  for (int i = 0; i < 400; ++i) ASSERT_OK(db_->Put(WriteOptions(), StrCat("k", 1000 + i), "old"));
  Write(file_, 100, 200, "new");
  const std::string later = scratch_.File("later.sst");
  Write(later, 150, 160, "newer");
  const std::string apart = scratch_.File("apart.sst");
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open(apart));
  ASSERT_OK(writer.Put("m", "apart"));
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db_->IngestExternalFile({file_, later, apart}, IngestExternalFileOptions()));
  ASSERT_OK(db_->Put(WriteOptions(), "k1155", "newest"));
  const std::string ours = Scan();
  EXPECT_NE(ours.find("k1154 : newer"), std::string::npos);
  Close();
  EXPECT_NE(Ldb("checkconsistency").find("OK"), std::string::npos);
  EXPECT_EQ(Ldb("scan"), ours);
  Ldb("compact");
  EXPECT_EQ(Ldb("scan"), ours);
  Open();
  EXPECT_EQ(Scan(), ours);
  Close();
}

}  // namespace
}  // namespace ashlar

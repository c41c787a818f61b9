// Files with features that are not implemented. In every recovery mode the open is refused by a
// status that names the file and the feature, and the files stay unchanged. Nothing is skipped.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/vfs.h"
#include "base/coding.h"
#include "base/crc32c.h"
#include "base/format.h"
#include "filesystem/filename.h"
#include "manifest/version_edit.h"
#include "tests/faults/closed_database.h"
#include "tests/support/tool_runner.h"
#include "wal/log_writer.h"

namespace ashlar {
namespace {

constexpr WALRecoveryMode kModes[] = {
    WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
    WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords};

struct Feature {
  const char* name;
  std::string bytes;  // of the record in a batch, or of the field in an edit
};

std::string Record(char type, std::initializer_list<std::string> fields) {
  std::string record(1, type);
  for (const std::string& field : fields) PutLengthPrefixedSlice(&record, field);
  return record;
}
// The records with a column family, whose number follows the type.
std::string FamilyRecord(char type, std::initializer_list<std::string> fields) {
  std::string record = Record(type, fields);
  record.insert(1, 1, '\x01');
  return record;
}

std::string Field(uint32_t tag, const std::string& value) {
  std::string field;
  PutVarint32(&field, tag);
  return field + value;
}

class UnknownFeatureTest : public ::testing::Test {
 protected:
  void ExpectRefused(const MemoryImage& image, const std::string& file) {
    for (const WALRecoveryMode mode : kModes) {
      Options options = closed_.options();
      options.wal_recovery_mode = mode;
      const Autopsy autopsy = OpenAndReadAll(image, options, closed_.contents());
      EXPECT_FALSE(autopsy.opened) << "mode " << static_cast<int>(mode);
      EXPECT_TRUE(autopsy.untouched) << "mode " << static_cast<int>(mode);
      EXPECT_TRUE(autopsy.status.IsNotSupported() || autopsy.status.IsCorruption())
          << autopsy.status.ToString();
      EXPECT_NE(autopsy.status.ToString().find(file), std::string::npos)
          << autopsy.status.ToString();
    }
  }

  // The image with one more record at the end of a log or MANIFEST, which is created if missing.
  MemoryImage WithRecord(const std::string& name, uint64_t number,
                         const std::string& record) const {
    return WithRecord(closed_.image(), name, number, record);
  }
  static MemoryImage WithRecord(const MemoryImage& image, const std::string& name, uint64_t number,
                                const std::string& record) {
    MemoryFileSystem file_system(image);
    const std::string path = ClosedDatabase::Path(name);
    std::unique_ptr<vfs::WritableFile> file;
    EXPECT_TRUE(file_system.ReopenWritableFile(path, vfs::FileOptions(), &file).ok());
    LogWriter writer(std::move(file), path, number);
    EXPECT_TRUE(writer.AddRecord(record).ok());
    EXPECT_TRUE(writer.Close().ok());
    return file_system.Snapshot();
  }

  const ClosedDatabase closed_;
};

TEST_F(UnknownFeatureTest, InALog) {
  const std::vector<Feature> features = {
      {"blob index", Record('\x11', {"a", "index"})},
      {"blob index of a family", FamilyRecord('\x10', {"a", "index"})},
      {"entity", Record('\x16', {"a", "columns"})},
      {"entity of a family", FamilyRecord('\x17', {"a", "columns"})},
      {"begin of a transaction", Record('\x09', {})},
      {"commit of a transaction", Record('\x0b', {"xid"})},
      {"unknown", Record('\x7e', {"a"})}};
  for (const Feature& feature : features) {
    SCOPED_TRACE(feature.name);
    const bool counted = feature.bytes[0] > '\x0c';
    std::string batch;
    PutFixed64(&batch, 100000);
    PutFixed32(&batch, counted ? 1 : 0);
    const std::string name = "000900.log";
    ExpectRefused(WithRecord(name, 900, batch + feature.bytes), name);
    // It is also refused after a valid record of the same batch.
    std::string mixed;
    PutFixed64(&mixed, 100000);
    PutFixed32(&mixed, counted ? 2 : 1);
    ExpectRefused(WithRecord(name, 900, mixed + Record('\x01', {"good", "value"}) + feature.bytes),
                  name);
  }
}

// RocksDB keeps the log of a prepared transaction until it commits. By then all families may have
// flushed the rest of the log.
TEST_F(UnknownFeatureTest, InALogThatNoFamilyNeeds) {
  constexpr uint64_t kNeeded = 900;
  const std::string manifest = closed_.FileLike("MANIFEST");
  uint64_t manifest_number = 0;
  FileType type;
  ASSERT_TRUE(ParseFileName(manifest, &manifest_number, &type));
  MemoryImage flushed = closed_.image();
  for (const uint32_t family : {0u, 1u}) {
    VersionEdit edit;
    edit.column_family = family;
    edit.log_number = kNeeded;
    std::string record;
    edit.EncodeTo(&record);
    flushed = WithRecord(flushed, manifest, manifest_number, record);
  }
  const auto with_log = [&](const std::string& records) {
    std::string batch;
    PutFixed64(&batch, 100000);
    PutFixed32(&batch, 1);
    return WithRecord(flushed, "000899.log", kNeeded - 1, batch + records);
  };
  const std::string put = Record('\x01', {"prepared", "value"});
  EXPECT_TRUE(OpenAndReadAll(with_log(put), closed_.options(), closed_.contents()).opened);
  for (const char begin : {'\x09', '\x12', '\x13'}) {
    SCOPED_TRACE(testing::Message() << "type " << int{begin});
    ExpectRefused(with_log(Record(begin, {}) + put + Record('\x0a', {"xid"})), "000899.log");
  }
}

TEST_F(UnknownFeatureTest, AsAFragmentOfALog) {
  // An intact fragment of a type that no version defines and that must not be ignored.
  MemoryFileSystem file_system(WithRecord("000900.log", 900, "payload"));
  const std::string path = ClosedDatabase::Path("000900.log");
  std::unique_ptr<vfs::SequentialFile> reader;
  ASSERT_TRUE(file_system.NewSequentialFile(path, vfs::FileOptions(), &reader).ok());
  char scratch[64];
  Slice bytes;
  ASSERT_TRUE(reader->Read(sizeof(scratch), &bytes, scratch).ok());
  std::string fragment = bytes.ToString();
  fragment[6] = '\x3c';
  EncodeFixed32(fragment.data(),
                crc32c::Mask(crc32c::Value(fragment.data() + 6, fragment.size() - 6)));
  std::unique_ptr<vfs::WritableFile> writer;
  ASSERT_TRUE(file_system.NewWritableFile(path, vfs::FileOptions(), &writer).ok());
  ASSERT_TRUE(writer->Append(fragment).ok());
  ASSERT_TRUE(writer->Close().ok());
  ExpectRefused(file_system.Snapshot(), "000900.log");
}

TEST_F(UnknownFeatureTest, InAManifest) {
  std::string number;
  PutVarint64(&number, 12);
  std::string name;
  PutLengthPrefixedSlice(&name, "12345678");
  const std::vector<Feature> features = {
      {"blob file", Field(400, number + number + number + number + name + name + '\x01')},
      {"blob garbage", Field(401, number + number + number + '\x01')},
      {"timestamps", Field(8198, name)},
      {"unknown tag", Field(777, number)},
      {"unknown field of a table", Field(103, std::string("\0", 1) + number + number + name + name +
                                                  number + number + Field(99, name) + '\x01')}};
  const std::string manifest = closed_.FileLike("MANIFEST");
  uint64_t manifest_number = 0;
  FileType type;
  ASSERT_TRUE(ParseFileName(manifest, &manifest_number, &type));
  for (const Feature& feature : features) {
    SCOPED_TRACE(feature.name);
    ExpectRefused(WithRecord(manifest, manifest_number, feature.bytes), manifest);
  }
}

TEST_F(UnknownFeatureTest, AnUnknownTagThatMayBeIgnoredIsIgnored) {
  const std::string manifest = closed_.FileLike("MANIFEST");
  uint64_t manifest_number = 0;
  FileType type;
  ASSERT_TRUE(ParseFileName(manifest, &manifest_number, &type));
  std::string value;
  PutLengthPrefixedSlice(&value, "something later");
  const Autopsy autopsy =
      OpenAndReadAll(WithRecord(manifest, manifest_number, Field(8192 + 500, value)),
                     closed_.options(), closed_.contents());
  EXPECT_TRUE(autopsy.opened && autopsy.status.ok() && !autopsy.wrong_data)
      << autopsy.status.ToString();
}

}  // namespace
}  // namespace ashlar

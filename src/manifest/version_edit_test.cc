// Tests that VersionEdit writes the bytes of RocksDB 7.8, reads all that older and newer versions
// write, and refuses damaged records.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/coding.h"
#include "base/format.h"
#include "base/random.h"
#include "manifest/manifest_test_kit.h"
#include "manifest/version_edit.h"

namespace ashlar {
namespace {

std::string FromHex(const std::string& hex) {
  std::string bytes;
  EXPECT_TRUE(Slice(hex).DecodeHex(&bytes));
  return bytes;
}
std::string Encode(const VersionEdit& edit) {
  std::string bytes;
  edit.EncodeTo(&bytes);
  return bytes;
}
std::string Hex(const std::string& bytes) { return Slice(bytes).ToString(true); }

Status Decode(const std::string& bytes) {
  VersionEdit edit;
  return edit.DecodeFrom(bytes);
}

// Return the tag and the value of a field that is a number or a string.
std::string Field(uint32_t tag, uint64_t value) {
  std::string out;
  PutVarint32(&out, tag);
  PutVarint64(&out, value);
  return out;
}
std::string StringField(uint32_t tag, const std::string& value) {
  std::string out;
  PutVarint32(&out, tag);
  PutLengthPrefixedSlice(&out, value);
  return out;
}

// Returns a new file of the fourth form with these fields before its end.
std::string NewFile4With(const std::string& fields) {
  std::string out = Field(103, 1) + Field(9, 1000).substr(0, 1);
  PutVarint64(&out, 1000);
  PutLengthPrefixedSlice(&out, MakeInternalKey("a", 1, ValueType::kValue));
  PutLengthPrefixedSlice(&out, MakeInternalKey("b", 2, ValueType::kValue));
  PutVarint64(&out, 1);
  PutVarint64(&out, 2);
  return out + fields + '\x01';
}

// The fields that Ashlar writes for each file.
std::string OwnFields(uint64_t oldest_ancestor, uint64_t creation, const std::string& checksum,
                      const std::string& checksum_function) {
  const auto varint = [](uint64_t value) {
    std::string out;
    PutVarint64(&out, value);
    return out;
  };
  return StringField(5, varint(oldest_ancestor)) + StringField(6, varint(creation)) +
         StringField(7, checksum) + StringField(8, checksum_function);
}

TEST(VersionEdit, AnEmptyEditIsNoBytes) { EXPECT_EQ(Encode(VersionEdit()), ""); }

TEST(VersionEdit, TheFirstEditOfADatabase) {
  VersionEdit edit;
  edit.log_number = 0;
  edit.next_file_number = 2;
  edit.last_sequence = 0;
  EXPECT_EQ(Hex(Encode(edit)), "020003020400");
}

// The bytes are from a MANIFEST that ldb 7.8.3 wrote when it flushed one key.
TEST(VersionEdit, AFlushOfLdbDecodesAndEncodesToItsBytes) {
  const std::string before =
      "020509 00030A0401670008D4070961010100000000000009610101000000000000010105 "
      "05CEE883D80606010007000807556E6B6E6F776E";
  const std::string unique_id = "0C108FD8298DE89CCEEEE3664C2ECF38E4E2";
  std::string compact;
  for (const char c : before) {
    if (c != ' ') compact.push_back(c);
  }
  VersionEdit edit;
  ASSERT_TRUE(edit.DecodeFrom(FromHex(compact + unique_id + "01")).ok());
  EXPECT_EQ(Hex(Encode(edit)), compact + unique_id + "01");
  EXPECT_EQ(edit.log_number, 5u);
  EXPECT_EQ(edit.next_file_number, 10u);
  EXPECT_EQ(edit.last_sequence, 1u);
  ASSERT_EQ(edit.new_files().size(), 1u);
  const FileMetaData& file = *edit.new_files()[0].file;
  EXPECT_EQ(edit.new_files()[0].level, 0u);
  EXPECT_EQ(file.number, 8u);
  EXPECT_EQ(file.file_bytes, 980u);
  EXPECT_EQ(file.smallest_user_key(), Slice("a"));
  EXPECT_EQ(file.oldest_ancestor_unix_seconds, 1795224654u);
  EXPECT_EQ(file.creation_unix_seconds, 0u);
  EXPECT_EQ(file.checksum_function, "Unknown");
}

std::string RandomKey(Random* random) {
  return MakeInternalKey(random->Bytes(random->Skewed(6)), random->Skewed(50), ValueType::kValue);
}

VersionEdit RandomEdit(Random* random) {
  VersionEdit edit;
  edit.column_family = static_cast<ColumnFamilyId>(random->Skewed(20));
  if (random->OneIn(3)) edit.database_id = random->Bytes(random->Skewed(6));
  if (random->OneIn(3)) edit.comparator = random->Bytes(random->Skewed(6));
  if (random->OneIn(2)) edit.log_number = random->Skewed(61);
  if (random->OneIn(2)) edit.previous_log_number = random->Skewed(61);
  if (random->OneIn(2)) edit.next_file_number = random->Skewed(61);
  if (random->OneIn(2)) edit.max_column_family = static_cast<ColumnFamilyId>(random->Skewed(23));
  if (random->OneIn(2)) edit.min_log_number_to_keep = random->Skewed(61);
  if (random->OneIn(2)) edit.last_sequence = random->Skewed(55);
  if (random->OneIn(4))
    edit.compact_cursors.emplace_back(random->Uniform(kLevelsMax), RandomKey(random));
  if (random->OneIn(4))
    edit.log_additions.push_back(
        LogAddition{.number = random->Skewed(40), .synced_bytes = std::nullopt});
  if (random->OneIn(4))
    edit.log_additions.push_back(LogAddition{.number = random->Skewed(40),
                                             .synced_bytes = random->Skewed(40),
                                             .is_tracked = random->OneIn(2)});
  if (random->OneIn(4)) edit.log_deletion = random->Skewed(40);
  if (random->OneIn(4)) edit.added_column_family = random->Bytes(random->Skewed(6));
  if (random->OneIn(4)) edit.drops_column_family = true;
  if (random->OneIn(4)) edit.atomic_group_remaining = static_cast<uint32_t>(random->Skewed(20));
  for (uint64_t i = random->Uniform(4); i > 0; --i)
    edit.DeleteFile(static_cast<Level>(random->Uniform(kLevelsMax)), random->Skewed(61));
  for (uint64_t i = random->Uniform(4); i > 0; --i) {
    auto file = std::make_unique<FileMetaData>();
    file->number = random->Skewed(61);
    file->file_bytes = random->Skewed(62);
    file->smallest = RandomKey(random);
    file->largest = RandomKey(random);
    file->smallest_sequence = random->Skewed(55);
    file->largest_sequence = random->Skewed(55);
    file->creation_unix_seconds = random->Skewed(40);
    file->oldest_ancestor_unix_seconds = random->Skewed(40);
    file->checksum = random->Bytes(random->Skewed(4));
    file->checksum_function = random->Bytes(random->Skewed(4));
    file->marked_for_compaction = random->OneIn(3);
    if (random->OneIn(3))
      file->temperature = static_cast<Temperature>(random->Uniform(uint64_t{17}));
    edit.AddFile(static_cast<Level>(random->Uniform(kLevelsMax)), std::move(file));
  }
  return edit;
}

TEST(VersionEdit, RandomEditsComeBack) {
  const uint64_t seed = 12;
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    const VersionEdit edit = RandomEdit(&random);
    const std::string bytes = Encode(edit);
    VersionEdit decoded;
    const Status status = decoded.DecodeFrom(bytes);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_EQ(Hex(Encode(decoded)), Hex(bytes)) << edit.DebugString();
    ASSERT_EQ(decoded.DebugString(), edit.DebugString());
  }
}

TEST(VersionEdit, CutsAndFlipsAreRefusedOrDecodeToSomething) {
  const uint64_t seed = 13;
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  for (int i = 0; i < 300; ++i) {
    const std::string bytes = Encode(RandomEdit(&random));
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      const Status status = Decode(bytes.substr(0, cut));
      ASSERT_TRUE(status.ok() || status.IsCorruption()) << status.ToString();
    }
    for (int flips = 0; flips < 50 && !bytes.empty(); ++flips) {
      std::string damaged = bytes;
      damaged[random.Uniform(damaged.size())] = static_cast<char>(random.Next());
      VersionEdit decoded;
      const Status status = decoded.DecodeFrom(damaged);
      ASSERT_TRUE(status.ok() || status.IsCorruption() || status.IsNotSupported())
          << status.ToString();
      if (status.ok()) static_cast<void>(Encode(decoded));
    }
    static_cast<void>(Decode(random.Bytes(random.Uniform(100))));
  }
}

TEST(VersionEdit, TheOlderFormsOfNewFilesAreRead) {
  const std::string smallest = MakeInternalKey("a", 5, ValueType::kValue);
  const std::string largest = MakeInternalKey("k", 3, ValueType::kDeletion);
  for (const uint32_t form : {7u, 100u, 102u}) {
    std::string bytes = Field(form, 2);
    PutVarint64(&bytes, 77);
    if (form == 102) PutVarint32(&bytes, 0);
    PutVarint64(&bytes, 4096);
    PutLengthPrefixedSlice(&bytes, smallest);
    PutLengthPrefixedSlice(&bytes, largest);
    if (form != 7) {
      PutVarint64(&bytes, 3);
      PutVarint64(&bytes, 5);
    }
    VersionEdit edit;
    ASSERT_TRUE(edit.DecodeFrom(bytes).ok()) << form;
    ASSERT_EQ(edit.new_files().size(), 1u);
    const FileMetaData& file = *edit.new_files()[0].file;
    EXPECT_EQ(edit.new_files()[0].level, 2u);
    EXPECT_EQ(file.number, 77u);
    EXPECT_EQ(file.file_bytes, 4096u);
    EXPECT_EQ(file.smallest, smallest);
    EXPECT_EQ(file.largest, largest);
    EXPECT_EQ(file.largest_sequence, form == 7 ? 0u : 5u);
  }
}

TEST(VersionEdit, FieldsOfLaterVersionsArePassedOverAndKeptWithTheirFile) {
  std::string fields;
  for (const uint32_t tag : {12u, 13u, 14u, 15u, 17u, 63u, 128u + 63u})
    fields += StringField(tag, "later");
  VersionEdit edit;
  const Status status =
      edit.DecodeFrom(StringField(8192 + 500, "later") + StringField(8201, "\x01") +
                      StringField(8202, "progress") + NewFile4With(fields) + Field(4, 9));
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(edit.new_files().size(), 1u);
  EXPECT_EQ(edit.last_sequence, 9u);
  EXPECT_EQ(edit.new_files()[0].file->other_fields, fields);
  EXPECT_NE(Encode(edit).find(fields), std::string::npos);
}

TEST(VersionEdit, TheEpochNumberOfAFileIsReadAndWrittenAgain) {
  for (const uint64_t number : {uint64_t{0}, uint64_t{7}, ~uint64_t{0}}) {
    std::string value;
    PutVarint64(&value, number);
    const std::string field = StringField(13, value);
    VersionEdit edit;
    ASSERT_TRUE(edit.DecodeFrom(NewFile4With(field)).ok());
    ASSERT_EQ(edit.new_files().size(), 1u);
    EXPECT_EQ(edit.new_files()[0].file->epoch_number, number);
    EXPECT_EQ(edit.new_files()[0].file->other_fields, field);
  }
  VersionEdit without;
  ASSERT_TRUE(without.DecodeFrom(NewFile4With("")).ok());
  EXPECT_EQ(without.new_files()[0].file->epoch_number, 0u);
  for (const std::string& value : {std::string(), std::string("\x80"), std::string(10, '\xff')})
    EXPECT_TRUE(Decode(NewFile4With(StringField(13, value))).IsCorruption());
}

// Like RocksDB, which writes only known temperatures and ignores others.
TEST(VersionEdit, TheTemperatureOfAFileIsReadAndWrittenAgain) {
  for (const char* const value : {"\x04", "\x08", "\x0a", "\x0c", "\x10", "\x05"}) {
    VersionEdit edit;
    ASSERT_TRUE(edit.DecodeFrom(NewFile4With(StringField(9, value))).ok());
    ASSERT_EQ(edit.new_files().size(), 1u);
    EXPECT_EQ(edit.new_files()[0].file->temperature, static_cast<Temperature>(*value));
    EXPECT_EQ(Hex(Encode(edit)),
              Hex(NewFile4With(OwnFields(0, 0, "", "Unknown") + StringField(9, value))));
    EXPECT_NE(edit.DebugString().find("temperature " + std::to_string(*value)), std::string::npos);
  }
  for (const std::string& value :
       {std::string(1, '\0'), std::string("\x11"), std::string("\xff")}) {
    VersionEdit edit;
    ASSERT_TRUE(edit.DecodeFrom(NewFile4With(StringField(9, value))).ok());
    EXPECT_EQ(edit.new_files()[0].file->temperature, Temperature::kUnknown);
    EXPECT_EQ(Hex(Encode(edit)), Hex(NewFile4With(OwnFields(0, 0, "", "Unknown"))));
    EXPECT_EQ(edit.DebugString().find("temperature"), std::string::npos);
  }
  for (const char* const value : {"", "\x04\x04"})
    EXPECT_TRUE(Decode(NewFile4With(StringField(9, value))).IsCorruption());
}

TEST(VersionEdit, TheLowestLogToKeepIsReadFromAFileToo) {
  std::string value;
  PutFixed64(&value, 44);
  VersionEdit edit;
  ASSERT_TRUE(edit.DecodeFrom(NewFile4With(StringField(3, value))).ok());
  EXPECT_EQ(edit.min_log_number_to_keep, 44u);
}

TEST(VersionEdit, LogRecordsWithoutLengthAreRead) {
  VersionEdit edit;
  ASSERT_TRUE(edit.DecodeFrom(Field(8196, 7) + Field(2, 4096) + '\x01' + Field(8197, 5)).ok());
  ASSERT_EQ(edit.log_additions.size(), 1u);
  EXPECT_EQ(edit.log_additions[0].number, 7u);
  EXPECT_EQ(edit.log_additions[0].synced_bytes, 4096u);
  EXPECT_EQ(edit.log_deletion, 5u);
}

TEST(VersionEdit, ATrackedLogHasTheTagOfRocksDb) {
  for (const bool is_tracked : {false, true}) {
    VersionEdit edit;
    edit.log_additions.push_back({.number = 7, .synced_bytes = 4096, .is_tracked = is_tracked});
    std::string encoded;
    edit.EncodeTo(&encoded);
    std::string value;
    PutVarint64(&value, 7);
    value += Field(2, 4096) + '\x01';
    EXPECT_EQ(encoded, StringField(is_tracked ? 8199 : 10833, value));
    VersionEdit decoded;
    ASSERT_TRUE(decoded.DecodeFrom(encoded).ok());
    ASSERT_EQ(decoded.log_additions.size(), 1u);
    EXPECT_EQ(decoded.log_additions[0].is_tracked, is_tracked);
  }
}

void ExpectRefused(const std::string& bytes, const std::string& what) {
  const Status status = Decode(bytes);
  EXPECT_TRUE(status.IsNotSupported()) << what << ": " << status.ToString();
  EXPECT_NE(status.ToString().find(what), std::string::npos) << status.ToString();
}

TEST(VersionEdit, WhatIsNotImplementedIsRefusedByName) {
  ExpectRefused(Field(11, 1), "tag 11");
  ExpectRefused(Field(4096, 1), "tag 4096");
  ExpectRefused(Field(400, 1), "blob files");
  ExpectRefused(Field(401, 1), "blob files");
  ExpectRefused(Field(8194, 1), "blob files");
  ExpectRefused(StringField(8198, "12345678"), "timestamps");
  ExpectRefused(StringField(8201, std::string(1, '\0')), "timestamps");
  ExpectRefused(NewFile4With(StringField(4, "\x07")), "blob files");
  ExpectRefused(NewFile4With(StringField(10, "t")), "timestamps");
  ExpectRefused(NewFile4With(StringField(16, std::string(1, '\0'))), "timestamps");
  ExpectRefused(NewFile4With(StringField(65, "\x01")), "path");
  ExpectRefused(NewFile4With(StringField(66, "x")), "field 66");
  EXPECT_TRUE(Decode(NewFile4With(StringField(65, std::string(1, '\0')))).ok());
}

TEST(VersionEdit, NumbersOutOfRangeAreCorruption) {
  EXPECT_TRUE(Decode(Field(6, 64) + '\x01').IsCorruption());
  EXPECT_TRUE(Decode(Field(2, uint64_t{1} << 62)).IsCorruption());
  EXPECT_TRUE(Decode(Field(3, ~uint64_t{0})).IsCorruption());
  EXPECT_TRUE(Decode(Field(4, uint64_t{1} << 56)).IsCorruption());
  EXPECT_TRUE(Decode(StringField(1, "abc").substr(0, 3)).IsCorruption());
  EXPECT_TRUE(Decode(std::string("\x05\x01\x07"
                                 "1234567",
                                 10))
                  .IsCorruption())
      << "an internal key of seven bytes";
}

// The next number to assign is computed from each of these fields.
TEST(VersionEdit, NumbersAboveTheHighestAreCorruptionNamingTheField) {
  const auto expect = [](const std::string& bytes, const std::string& name) {
    const Status status = Decode(bytes);
    EXPECT_TRUE(status.IsCorruption()) << name << ": " << status.ToString();
    EXPECT_NE(status.ToString().find(name), std::string::npos) << status.ToString();
  };
  for (const uint64_t number : {kFileNumberMax + 1, uint64_t{1} << 63, ~uint64_t{0}}) {
    SCOPED_TRACE(number);
    std::string varint;
    PutVarint64(&varint, number);
    std::string fixed;
    PutFixed64(&fixed, number);
    expect(Field(2, number), "log number");
    expect(Field(3, number), "next file number");
    expect(Field(6, 1) + varint, "deleted file");
    expect(Field(9, number), "previous log number");
    expect(Field(10, number), "lowest log number to keep");
    expect(Field(103, 1) + varint, "file number");
    expect(NewFile4With(StringField(3, fixed)), "lowest log number in a file");
    expect(Field(8196, number) + '\x01', "log addition");
    expect(Field(8197, number), "log deletion");
    expect(StringField(8199, varint + '\x01'), "log addition");
    expect(StringField(8200, varint), "log deletion");
    expect(StringField(10833, varint + '\x01'), "log addition");
  }
  expect(Field(200, kColumnFamilyIdMax + 1), "column family");
  expect(Field(203, ~uint32_t{0}), "highest column family");
  EXPECT_TRUE(Decode(Field(200, kColumnFamilyIdMax) + Field(203, kColumnFamilyIdMax)).ok());
  EXPECT_TRUE(Decode(Field(3, kFileNumberMax)).ok());
}

TEST(VersionEdit, MovingAFileDeletesItAndAddsIt) {
  const auto file = MakeFile(9, "a", "b");
  VersionEdit edit;
  edit.MoveFile(1, 2, file.get());
  EXPECT_TRUE(edit.deleted_files().contains(DeletedFile{.level = 1, .number = 9}));
  ASSERT_EQ(edit.new_files().size(), 1u);
  EXPECT_EQ(edit.new_files()[0].owned, nullptr);
  VersionEdit decoded;
  ASSERT_TRUE(decoded.DecodeFrom(Encode(edit)).ok());
  EXPECT_EQ(decoded.new_files()[0].file->largest, file->largest);
}

TEST(VersionEdit, TheDebugStringShowsNoKeys) {
  VersionEdit edit;
  edit.AddFile(0, MakeFile(9, "secret", "secret2"));
  EXPECT_EQ(edit.DebugString().find("secret"), std::string::npos);
}

}  // namespace
}  // namespace ashlar

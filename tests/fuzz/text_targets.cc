#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/merge_operator.h"
#include "backup/backup_meta.h"
#include "base/format.h"
#include "config/options_file.h"
#include "filesystem/filename.h"
#include "tests/fuzz/all.h"

namespace ashlar::fuzz {

// ---- OPTIONS files.

Seeds SeedOptionsFiles() {
  ColumnFamilyOptions second;
  second.merge_operator = MergeOperators::CreateStringAppendOperator(',');
  second.table_factory.reset(NewPlainTableFactory());
  const std::string text = PrintOptionsFile(
      DBOptions(), {{"default", ColumnFamilyOptions()}, {"a # \\ family", second}});
  return {text,
          // Refused, unless options that only the program can construct are ignored.
          "[Version]\n  rocksdb_version=7.8.3\n  options_file_version=1.1\n[DBOptions]\n"
          "[CFOptions \"default\"]\n  comparator=mine\n  merge_operator={id=Mine;depth=3}\n"
          "[TableOptions/BlockBasedTable \"default\"]\n"};
}

bool RunOptionsFile(const std::string& input) {
  bool accepted = true;
  for (const bool ignore : {false, true}) {
    const OptionsFileRules rules{.ignore_unknown = ignore, .ignore_unsupported = ignore};
    Result<ParsedOptionsFile> parsed = ParseOptionsFile(input, "OPTIONS", rules);
    accepted &= parsed.ok();
    if (!parsed.ok()) continue;
    const auto print = [](const ParsedOptionsFile& file) {
      return PrintOptionsFile(file.db_options, file.families, file.unsupported);
    };
    static_cast<void>(PrintOptionsForLog(parsed->db_options, parsed->families));
    const std::string text = print(*parsed);
    Result<ParsedOptionsFile> again =
        ParseOptionsFile(text, "OPTIONS", {.ignore_unknown = false, .ignore_unsupported = true});
    EXPECT_RIGHT(again.ok(), "printed options are refused: " + again.status().ToString());
    if (!again.ok()) continue;
    EXPECT_RIGHT(print(*again) == text, "options change when they are printed and parsed");
  }
  return accepted;
}

// ---- Option strings: byte 0 chooses the function.

Seeds SeedOptionStrings() {
  return {std::string(1, '\0') +
              "create_if_missing=true;max_open_files=10;wal_recovery_mode=kAbsoluteConsistency",
          std::string(1, '\1') +
              "write_buffer_size=64K;compression=kZSTD;"
              "compression_opts={level=3;window_bits=-14};"
              "block_based_table_factory={block_size=4K;filter_policy=bloomfilter:10}",
          std::string(1, '\2') +
              "block_size=16384;index_type=kTwoLevelIndexSearch;"
              "filter_policy=ribbonfilter:9.5:2",
          std::string(1, '\3') + "user_key_len=8;bloom_bits_per_key=10;encoding_type=kPrefix",
          std::string(1, '\4') +
              "max_background_jobs=4;merge_operator=uint64add;"
              "memtable=prefix_hash:1000;prefix_extractor=fixed:4"};
}

bool RunOptionString(const std::string& input) {
  if (input.empty()) return false;
  const std::string text = input.substr(1);
  ConfigOptions config;
  std::string printed;
  std::string again;
  Status status;
  switch (static_cast<uint8_t>(input[0]) % 5) {
    case 0: {
      DBOptions options;
      if (!GetDBOptionsFromString(config, DBOptions(), text, &options).ok()) return false;
      if (!GetStringFromDBOptions(config, options, &printed).ok()) return false;
      status = GetDBOptionsFromString(config, DBOptions(), printed, &options);
      if (status.ok()) status = GetStringFromDBOptions(config, options, &again);
      break;
    }
    case 1: {
      ColumnFamilyOptions options;
      if (!GetColumnFamilyOptionsFromString(config, ColumnFamilyOptions(), text, &options).ok())
        return false;
      if (!GetStringFromColumnFamilyOptions(config, options, &printed).ok()) return false;
      status = GetColumnFamilyOptionsFromString(config, ColumnFamilyOptions(), printed, &options);
      if (status.ok()) status = GetStringFromColumnFamilyOptions(config, options, &again);
      break;
    }
    case 2: {
      BlockBasedTableOptions options;
      return GetBlockBasedTableOptionsFromString(config, BlockBasedTableOptions(), text, &options)
          .ok();
    }
    case 3: {
      PlainTableOptions options;
      return GetPlainTableOptionsFromString(config, PlainTableOptions(), text, &options).ok();
    }
    default: {
      Options options;
      return GetOptionsFromString(config, Options(), text, &options).ok();
    }
  }
  EXPECT_RIGHT(status.ok(), "printed options are refused: " + status.ToString());
  EXPECT_RIGHT(again == printed, "options change when they are printed and parsed");
  return true;
}

// ---- Descriptions of backups.

namespace {

constexpr uint32_t kBackup = 7;

}  // namespace

Seeds SeedBackupMetas() {
  BackupMeta meta{
      .timestamp = 1'700'000'000, .sequence = 4711, .app_metadata = "mine", .files = {}};
  meta.files = {
      {.path = SharedPath("000012.sst", 305419896, 4096), .name = "000012.sst", .crc = 305419896},
      {.path = "private/7/MANIFEST-000009", .name = "MANIFEST-000009", .crc = 42},
      {.path = "private/7/CURRENT", .name = "CURRENT", .crc = 99}};
  return {PrintBackupMeta(meta),
          "schema_version 2.1\n1700000000\n4711\nfield 1\n1\nshared/000012.sst crc32 7 temp 2\n"
          "// FOOTER\n",
          // Refused, because of a field that a reader must know.
          "schema_version 2.1\n1700000000\n4711\n1\nshared/000012.sst crc32 7 temp 2 ni::x 1\n"
          "// comment\n"};
}

bool RunBackupMeta(const std::string& input) {
  Result<BackupMeta> parsed = ParseBackupMeta(input, kBackup);
  if (!parsed.ok()) return false;
  for (const BackupFile& file : parsed->files) {
    uint64_t number = 0;
    FileType type{};
    EXPECT_RIGHT(ParseFileName(file.name, &number, &type),
                 "a name that is no file's: " + file.name);
    EXPECT_RIGHT(file.path.find("../") == std::string::npos && !file.path.starts_with("/") &&
                     file.path.find('\0') == std::string::npos &&
                     file.path.find('\\') == std::string::npos &&
                     file.path.find(':') == std::string::npos,
                 "a path that leads elsewhere: " + file.path);
  }
  Result<BackupMeta> again = ParseBackupMeta(PrintBackupMeta(*parsed), kBackup);
  EXPECT_RIGHT(again.ok() && *again == *parsed, "a description changes when it is printed");
  return true;
}

// ---- Hexadecimal text, as in the descriptions of backups. The input is used as text and as bytes.
// It is accepted if it is hexadecimal.

Seeds SeedHexes() { return {"", "007fFf10", "abc", "0g", "0x00", std::string("\0\xff", 2)}; }

bool RunHex(const std::string& input) {
  std::string bytes;
  const bool decoded = Slice(input).DecodeHex(&bytes);
  if (decoded) {
    std::string upper = input;
    for (char& c : upper) {
      if (c >= 'a' && c <= 'f') c = static_cast<char>(c - 'a' + 'A');
    }
    EXPECT_RIGHT(Slice(bytes).ToString(true) == upper, "text changes when it is decoded: " + input);
  }
  const std::string text = Slice(input).ToString(true);
  EXPECT_RIGHT(Slice(text).DecodeHex(&bytes) && bytes == input,
               "bytes change when they are encoded: " + text);
  return decoded;
}

}  // namespace ashlar::fuzz

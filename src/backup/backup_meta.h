// BackupMeta: the description of one backup, the file meta/<id> in a directory of backups. A backup
// exists if and only if this file exists.
//
//   1700000000                                     when it was taken, seconds since 1970
//   4711                                           the database's last sequence number
//   metadata 68656C6C6F                            the program's own, in hexadecimal; absent if
//                                                  empty
//   3                                              how many files follow
//   shared_checksum/000012_305419896_4096.sst crc32 305419896
//   private/7/MANIFEST-000009 crc32 42             crc-32c of the whole file, decimal
//   private/7/CURRENT crc32 99
//
// Releases of RocksDB that write "schema_version 2.x" as the first line add fields, after files as
// " name value" and before them as lines. A reader ignores unknown fields, except for those with a
// name that begins with "ni::".
//
// I1: a parsed path is one of the three below with a name that ParseFileName accepts, so no text
//       from disk leads outside its directory. private/<id of this backup>/<name>
//       shared/<name>                            a table
//       shared_checksum/<stem>_<anything>.<ext>  a table, named <stem>.<ext> in the database
// I2: Print then Parse gives the same description.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/slice.h"
#include "base/result.h"

namespace ashlar {

struct BackupFile {
  std::string path;  // below the directory of the backups
  std::string name;  // in the database
  uint32_t crc = 0;

  bool operator==(const BackupFile&) const = default;
};

struct BackupMeta {
  int64_t timestamp = 0;
  uint64_t sequence = 0;
  std::string app_metadata;
  std::vector<BackupFile> files;

  bool operator==(const BackupMeta&) const = default;
};

inline constexpr std::string_view kMetaFolder = "meta";
inline constexpr std::string_view kPrivateFolder = "private";
inline constexpr std::string_view kSharedFolder = "shared";
inline constexpr std::string_view kSharedChecksumFolder = "shared_checksum";

// "shared_checksum/000012_305419896_4096.sst" for table "000012.sst".
std::string SharedPath(std::string_view table_name, uint32_t crc, uint64_t bytes);
// Returns 4096 for that path, and for RocksDB's "shared_checksum/000012_sABCDEF_4096.sst". Returns
// nothing for a path without the size of its file.
std::optional<uint64_t> BytesInPath(std::string_view path);

std::string PrintBackupMeta(const BackupMeta& meta);
// Parses backup `id`. Returns Corruption with the line number, or NotSupported for a newer schema.
Result<BackupMeta> ParseBackupMeta(std::string_view text, uint32_t id);

}  // namespace ashlar

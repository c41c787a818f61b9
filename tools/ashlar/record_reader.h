// RecordReader: the entries of an input file, one at a time, in one of three formats.
//
//   tsv     key <TAB> value, one entry per line; blank lines are skipped
//   deb822  Debian control stanzas, separated by blank lines: key = the Package field, value = the
//           stanza's bytes
//   ndjson  {"column_family": "…", "key": "…", "value": "…"}, one entry per line, written by dump.
//           The dump's first line names the formats of keys and values and the column families.
//           Its last line counts the entries, so that a truncated dump is detected:
//             {"ashlar_dump":1,"key_format":"escape","value_format":"escape",
//              "column_families":["default"]}                         (one line)
//             {"ashlar_dump_end":true,"entries":2}
//           Without a first line, the command line gives the formats, and column_family may be
//           missing. Names of families are escaped. If the first line is rejected, the entries
//           after it are rejected, too, because their formats are unknown.
//
// Rejected input is skipped: the reader continues with the next entry. Lifetime: key and value are
// valid until the next call of Next. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tools/ashlar/byte_text.h"
#include "tools/ashlar/line_reader.h"
#include "tools/ashlar/outcome.h"

namespace ashlar::cli {

struct InputRecord {
  std::string column_family;  // empty: as the command line says
  std::string_view key;
  std::string_view value;
};

struct Rejection {
  uint64_t line_number = 0;
  std::string reason;  // repeats no bytes of the input
};

class RecordReader {
 public:
  enum class Result {
    kRecord,
    kColumnFamily,  // record->column_family exists, perhaps without entries
    kRejected,
    kEnd,
    kError,  // of the file: see LineReader::Error
  };

  virtual ~RecordReader() = default;
  virtual Result Next(InputRecord* record, Rejection* rejection) = 0;
};

enum class InputFormat : uint8_t { kTsv, kDeb822, kNdjson };
enum class StanzaKey : uint8_t { kPackage, kPackageAndVersion };  // "bash", "bash=5.2.15-2"

std::optional<InputFormat> InputFormatByName(std::string_view name);

struct RecordReaderOptions {
  InputFormat format;
  // For tsv and ndjson. None means bytes as they are in tsv, and escape in ndjson.
  std::optional<ByteFormat> key_format;
  std::optional<ByteFormat> value_format;
  StanzaKey stanza_key = StanzaKey::kPackage;
};

// The lines must outlive the reader.
std::unique_ptr<RecordReader> MakeRecordReader(const RecordReaderOptions& options,
                                               LineReader* lines);
std::unique_ptr<RecordReader> MakeTsvReader(const RecordReaderOptions& options, LineReader* lines);
std::unique_ptr<RecordReader> MakeDeb822Reader(const RecordReaderOptions& options,
                                               LineReader* lines);
std::unique_ptr<RecordReader> MakeNdjsonReader(const RecordReaderOptions& options,
                                               LineReader* lines);

// Detects the format from the first line that is not blank, which stays unread. Returns kBadInput
// if the line fits no format. An empty input is tsv.
Outcome DetectInputFormat(LineReader* lines, InputFormat* format);

std::string TooLongReason(const LineReader& lines);

}  // namespace ashlar::cli

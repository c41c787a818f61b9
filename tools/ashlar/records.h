// RecordWriter: the output of a command, as rows with named columns, in one of four formats.
//
//   table   aligned columns; numbers to the right
//   json    one array of objects
//   ndjson  one object per line
//   csv     RFC 4180, with a line of names
//
// Rows are written as they arrive. Only a table holds back its first rows, to find the widths of
// its columns. Texts must be safe for a terminal (see byte_text.h). Write errors of the file are
// reported when it is closed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ashlar::cli {

enum class OutputFormat : uint8_t { kTable, kJson, kNdjson, kCsv };

std::optional<OutputFormat> OutputFormatByName(std::string_view name);

using Field = std::variant<std::string, uint64_t, double, bool>;
using Row = std::vector<Field>;

class RecordWriter {
 public:
  virtual ~RecordWriter() = default;
  // Requires as many fields as there are columns.
  virtual void Add(const Row& row) = 0;
  // Call once, after the last row.
  virtual void Finish() = 0;
};

struct RecordLayout {
  std::vector<std::string> columns;
  // For tables: whether the names are printed above the columns, and the maximum length of a line
  // (0: no limit). Longer lines end in "…".
  bool header;
  size_t line_columns_max;
};

std::unique_ptr<RecordWriter> MakeRecordWriter(OutputFormat format, RecordLayout layout,
                                               FILE* file);

// Writes one object. A table has one line for each member.
void WriteObject(OutputFormat format, const std::vector<std::pair<std::string, Field>>& members,
                 FILE* file);

// Returns the text as a JSON string, including the quotes.
std::string JsonString(std::string_view text);

}  // namespace ashlar::cli

#include "tools/ashlar/record_reader.h"

#include <algorithm>

namespace ashlar::cli {
namespace {

// Accepts "Name: ..." with a name that has only characters of field names.
bool LooksLikeField(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  return std::all_of(line.begin(), line.begin() + static_cast<ptrdiff_t>(colon), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

std::optional<InputFormat> FormatOf(std::string_view line) {
  if (line.starts_with("Package:")) return InputFormat::kDeb822;
  if (line.find('\t') != std::string_view::npos) return InputFormat::kTsv;
  if (line.starts_with('{')) return InputFormat::kNdjson;
  if (LooksLikeField(line)) return InputFormat::kDeb822;
  return std::nullopt;
}

}  // namespace

std::optional<InputFormat> InputFormatByName(std::string_view name) {
  if (name == "tsv") return InputFormat::kTsv;
  if (name == "deb822") return InputFormat::kDeb822;
  if (name == "ndjson") return InputFormat::kNdjson;
  return std::nullopt;
}

std::unique_ptr<RecordReader> MakeRecordReader(const RecordReaderOptions& options,
                                               LineReader* lines) {
  switch (options.format) {
    case InputFormat::kTsv: return MakeTsvReader(options, lines);
    case InputFormat::kDeb822: return MakeDeb822Reader(options, lines);
    case InputFormat::kNdjson: return MakeNdjsonReader(options, lines);
  }
  return nullptr;
}

Outcome DetectInputFormat(LineReader* lines, InputFormat* format) {
  *format = InputFormat::kTsv;
  std::string_view line;
  for (;;) {
    const LineReader::Result result = lines->Next(&line);
    if (result == LineReader::Result::kError) return lines->Error();
    if (result == LineReader::Result::kEnd) return {};
    if (result == LineReader::Result::kLine && line.empty()) continue;
    const std::optional<InputFormat> found =
        result == LineReader::Result::kLine ? FormatOf(line) : std::nullopt;
    lines->Unread();
    if (!found) {
      return {.code = ExitCode::kBadInput,
              .what = lines->name() + ":" + std::to_string(lines->line_number()) +
                      ": neither key<TAB>value, nor a control stanza, nor JSON",
              .advice = "say what it is with --input-format tsv|deb822|ndjson; nothing was loaded"};
    }
    *format = *found;
    return {};
  }
}

std::string TooLongReason(const LineReader& lines) {
  return "longer than " + std::to_string(lines.line_bytes_max()) + " bytes (--record-bytes-max)";
}

}  // namespace ashlar::cli

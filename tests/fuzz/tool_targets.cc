#include <algorithm>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/slice.h"
#include "base/format.h"
#include "tests/fuzz/all.h"
#include "tools/ashlar/byte_text.h"
#include "tools/ashlar/line_reader.h"
#include "tools/ashlar/record_reader.h"

namespace ashlar::fuzz {
namespace {

using cli::ByteFormat;
using cli::InputFormat;

constexpr ByteFormat kFormats[] = {ByteFormat::kEscape, ByteFormat::kUtf8,  ByteFormat::kText,
                                   ByteFormat::kHex,    ByteFormat::kU64be, ByteFormat::kRaw};
constexpr size_t kFormatCount = std::size(kFormats);

// Quotes a text as JSON.
std::string QuotedJson(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      default: out += c;
    }
  }
  return out + "\"";
}

// I2 of byte_text.h.
bool IsSafeText(std::string_view text, bool with_newlines) {
  const bool has_controls = std::any_of(text.begin(), text.end(), [&](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && !(with_newlines && (c == '\n' || c == '\t'))) ||
           c == 0x7f;
  });
  // The parser refuses bytes that are not UTF-8.
  return !has_controls && nlohmann::json::accept(QuotedJson(text));
}

}  // namespace

// ---- Bytes as text. Byte 0 chooses the format. The rest is used as text in it and as bytes. It
// is accepted if it is text in the format.

Seeds SeedByteTexts() {
  Seeds seeds;
  Seeds refused;
  for (size_t i = 0; i < kFormatCount; ++i) {
    const bool of_digits = kFormats[i] == ByteFormat::kHex || kFormats[i] == ByteFormat::kU64be;
    const std::string format(1, static_cast<char>(i));
    for (const char* const text : {"0x00ff7E", "18446744073709551615", "0001"})
      seeds.push_back(format + text);
    for (const char* const text :
         {"plain", "a\\\\b\\n\\t\\r\\x00\\xff", "\xc3\xa4\xe2\x80\x8b\xf0\x9f\x98\x80\xff\x1b[2J"})
      (of_digits ? refused : seeds).push_back(format + text);
  }
  seeds.insert(seeds.end(), refused.begin(), refused.end());
  return seeds;
}

bool RunByteText(const std::string& input) {
  if (input.empty()) return false;
  const ByteFormat format = kFormats[static_cast<uint8_t>(input[0]) % kFormatCount];
  const std::string text = input.substr(1);
  std::string bytes;
  std::string again;
  std::string error;
  const auto check_encoding = [&](const std::string& of) {
    const std::string encoded = cli::EncodeBytes(format, of);
    EXPECT_RIGHT(cli::DecodeBytes(format, encoded, &again, &error) && again == of,
                 "bytes change when they are encoded and decoded: " + encoded);
    EXPECT_RIGHT(format == ByteFormat::kRaw || IsSafeText(encoded, format == ByteFormat::kText),
                 "encoded text is not safe");
  };
  check_encoding(text);
  const bool decoded = cli::DecodeBytes(format, text, &bytes, &error);
  if (decoded) {
    check_encoding(bytes);
  } else {
    EXPECT_RIGHT(IsSafeText(error, false) && !error.empty(), "an error that is not safe");
  }
  EXPECT_RIGHT(IsSafeText(cli::SafeMessage(text), true), "a message that is not safe");
  return decoded;
}

// ---- Files that `ashlar load` reads. Byte 0 chooses the format or its detection, the keys of
// stanzas, and whether lines must be short. Bytes 1 and 2 choose the formats of keys and values.

namespace {

constexpr uint8_t kInputFormats = 4;
constexpr uint8_t kWithVersion = 4;
constexpr uint8_t kShortLines = 8;
constexpr size_t kShortLineBytes = 40;

struct Entry {
  std::string family;
  std::string key;
  std::string value;
  bool operator==(const Entry&) const = default;
};

struct Loaded {
  std::vector<Entry> entries;
  std::vector<std::string> families;
  std::vector<cli::Rejection> rejections;
};

std::unique_ptr<cli::LineReader> LinesOf(const std::string& text, size_t line_bytes_max) {
  FILE* const file = tmpfile();
  EXPECT_RIGHT(file != nullptr && fwrite(text.data(), 1, text.size(), file) == text.size(),
               "no temporary file");
  rewind(file);
  return std::make_unique<cli::LineReader>(file, "input", line_bytes_max);
}

Loaded Load(const std::string& text, size_t line_bytes_max, std::optional<InputFormat> format,
            cli::RecordReaderOptions options) {
  Loaded loaded;
  const auto lines = LinesOf(text, line_bytes_max);
  if (format.has_value()) {
    options.format = *format;
  } else if (!cli::DetectInputFormat(lines.get(), &options.format).ok()) {
    return loaded;
  }
  const auto reader = cli::MakeRecordReader(options, lines.get());
  // The name of a family takes three bytes of the header, and an entry takes a line.
  for (size_t left = text.size() + 2; left > 0; --left) {
    cli::InputRecord record;
    cli::Rejection rejection;
    switch (reader->Next(&record, &rejection)) {
      case cli::RecordReader::Result::kRecord:
        loaded.entries.push_back(
            {record.column_family, std::string(record.key), std::string(record.value)});
        break;
      case cli::RecordReader::Result::kColumnFamily:
        loaded.families.push_back(record.column_family);
        break;
      case cli::RecordReader::Result::kRejected:
        EXPECT_RIGHT(!rejection.reason.empty() && IsSafeText(rejection.reason, false),
                     "a rejection that is not safe: " + rejection.reason);
        EXPECT_RIGHT(rejection.line_number >= 1 && rejection.line_number <= lines->line_number(),
                     "a rejection of no line");
        loaded.rejections.push_back(rejection);
        break;
      case cli::RecordReader::Result::kEnd:
        EXPECT_RIGHT(lines->bytes_read() == text.size(), "bytes were not read");
        return loaded;
      case cli::RecordReader::Result::kError:
        EXPECT_RIGHT(false, "a file that cannot be read");
        return loaded;
    }
  }
  EXPECT_RIGHT(false, "more entries than lines");
  return loaded;
}

// Writes a dump as EntryDump does.
std::string DumpOf(const std::vector<Entry>& entries, ByteFormat keys, ByteFormat values) {
  std::string text =
      StrCat("{\"ashlar_dump\":1,\"key_format\":\"", cli::NameOf(keys), "\",\"value_format\":\"",
             cli::NameOf(values), "\",\"column_families\":[\"default\"]}\n");
  for (const Entry& entry : entries) {
    text += "{";
    if (!entry.family.empty())
      text +=
          "\"column_family\":" + QuotedJson(cli::EncodeBytes(ByteFormat::kEscape, entry.family)) +
          ",";
    text += "\"key\":" + QuotedJson(cli::EncodeBytes(keys, entry.key)) +
            ",\"value\":" + QuotedJson(cli::EncodeBytes(values, entry.value)) + "}\n";
  }
  return text + StrCat("{\"ashlar_dump_end\":true,\"entries\":", entries.size(), "}\n");
}

std::optional<ByteFormat> FormatOf(char choice) {
  const size_t at = static_cast<uint8_t>(choice) % (kFormatCount + 1);
  return at == kFormatCount ? std::nullopt : std::optional(kFormats[at]);
}

}  // namespace

Seeds SeedLoads() {
  const char none = static_cast<char>(kFormatCount);
  const auto with = [&](int choice, char key, char value, const std::string& text) {
    return std::string{static_cast<char>(choice), key, value} + text;
  };
  const std::string stanzas =
      "Package: bash\nVersion: 5.2.15-2\nDescription: a shell\n with a history\n\n"
      "Package: dash\nVersion: 0.5\n";
  const std::vector<Entry> entries = {
      {"default", "key", "value"}, {"two", std::string("\0\xff\n", 3), "a\\b\"c"}, {"", "", ""}};
  return {with(0, none, none, "key\tvalue\n\nother\tvalue\twith a tab\nno tab\n"),
          with(1, 3, 4, "6b6579\t42\n0x6b\t0xff\nkey\tvalue\n"),
          with(0, none, none, stanzas),
          with(2 | kWithVersion, none, none, stanzas),
          with(2 | kShortLines, none, none, stanzas),
          with(0, none, none, DumpOf(entries, ByteFormat::kEscape, ByteFormat::kUtf8)),
          with(3, none, none, DumpOf(entries, ByteFormat::kHex, ByteFormat::kU64be)),
          with(3, 0, 0, "{\"key\":\"a\\\\n\",\"value\":\"b\"}\n{\"key\":\"a\"}\n[]\n{\n")};
}

// Entries are the same after they were dumped and loaded again. Accepted if there is an entry.
bool RunLoad(const std::string& input) {
  if (input.size() < 3) return false;
  const auto choice = static_cast<uint8_t>(input[0]);
  std::optional<InputFormat> format;
  switch (choice % kInputFormats) {
    case 1: format = InputFormat::kTsv; break;
    case 2: format = InputFormat::kDeb822; break;
    case 3: format = InputFormat::kNdjson; break;
    default: break;
  }
  const cli::RecordReaderOptions options = {.format = InputFormat::kTsv,
                                            .key_format = FormatOf(input[1]),
                                            .value_format = FormatOf(input[2]),
                                            .stanza_key = (choice & kWithVersion) != 0
                                                              ? cli::StanzaKey::kPackageAndVersion
                                                              : cli::StanzaKey::kPackage};
  const size_t line_bytes_max = (choice & kShortLines) != 0 ? kShortLineBytes : 1 << 20;
  const Loaded loaded = Load(input.substr(3), line_bytes_max, format, options);
  for (const Entry& entry : loaded.entries) {
    if (choice % kInputFormats != 2) break;
    const Loaded again = Load(entry.value, line_bytes_max, format, options);
    EXPECT_RIGHT(again.entries == std::vector{entry} && again.rejections.empty(),
                 "a stanza changes when it is read again: " + entry.value);
  }
  for (const auto& [keys, values] : {std::pair(ByteFormat::kEscape, ByteFormat::kHex),
                                     std::pair(ByteFormat::kUtf8, ByteFormat::kU64be)}) {
    const Loaded again =
        Load(DumpOf(loaded.entries, keys, values), 1 << 20, std::nullopt,
             cli::RecordReaderOptions{
                 .format = InputFormat::kTsv, .key_format = {}, .value_format = {}});
    EXPECT_RIGHT(again.entries == loaded.entries && again.rejections.empty() &&
                     again.families == std::vector<std::string>{"default"},
                 "entries change when they are dumped and loaded");
  }
  return !loaded.entries.empty();
}

}  // namespace ashlar::fuzz

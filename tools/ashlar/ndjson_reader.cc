// One JSON object per line, as written by dump and `scan --format ndjson`.
#include <nlohmann/json.hpp>

#include "tools/ashlar/record_reader.h"

namespace ashlar::cli {
namespace {

using Json = nlohmann::json;

// Returns the member if it is a text, or null.
const std::string* TextOf(const Json& object, const char* name) {
  const auto member = object.find(name);
  return member == object.end() ? nullptr : member->get_ptr<const std::string*>();
}

class NdjsonReader final : public RecordReader {
 public:
  NdjsonReader(const RecordReaderOptions& options, LineReader* lines)
      : key_format_(options.key_format.value_or(ByteFormat::kEscape)),
        value_format_(options.value_format.value_or(ByteFormat::kEscape)),
        lines_(lines) {}

  Result Next(InputRecord* record, Rejection* rejection) override {
    *record = {};
    rejection->reason.clear();
    for (;;) {
      if (families_announced_ < families_.size()) {
        record->column_family = families_[families_announced_++];
        return Result::kColumnFamily;
      }
      std::string_view line;
      const LineReader::Result result = lines_->Next(&line);
      rejection->line_number = lines_->line_number();
      if (result == LineReader::Result::kError) return Result::kError;
      if (result == LineReader::Result::kEnd) return End(rejection);
      if (result == LineReader::Result::kTooLong) {
        rejection->reason = TooLongReason(*lines_);
      } else if (!line.empty()) {
        if (ParseLine(line, record, &rejection->reason)) return Result::kRecord;
      }
      if (!rejection->reason.empty()) return Result::kRejected;
    }
  }

 private:
  // Returns true for an entry. Otherwise an empty *reason means that the line is no mistake.
  bool ParseLine(std::string_view line, InputRecord* record, std::string* reason) {
    const Json object = Json::parse(line, nullptr, false);
    if (!object.is_object()) {
      *reason = "not a JSON object";
      return false;
    }
    if (object.contains("ashlar_dump")) {
      ParseHeader(object, reason);
      return false;
    }
    if (object.contains("ashlar_dump_end")) {
      ParseTrailer(object, reason);
      return false;
    }
    if (trailer_seen_) {
      *reason = "an entry after the end of the dump";
      return false;
    }
    if (header_refused_) {
      *reason = "an entry of a dump whose first line was rejected";
      return false;
    }
    if (!ParseEntry(object, record, reason)) return false;
    ++entries_;
    return true;
  }

  void ParseHeader(const Json& object, std::string* reason) {
    header_refused_ = true;
    if (header_seen_ || entries_ > 0) {
      *reason = "the first line of a dump in the middle of the input";
      return;
    }
    const std::string* key_format = TextOf(object, "key_format");
    const std::string* value_format = TextOf(object, "value_format");
    const std::optional<ByteFormat> key =
        key_format == nullptr ? std::nullopt : ByteFormatByName(*key_format);
    const std::optional<ByteFormat> value =
        value_format == nullptr ? std::nullopt : ByteFormatByName(*value_format);
    if (object["ashlar_dump"] != 1 || !key || !value || !object.contains("column_families") ||
        !object["column_families"].is_array()) {
      *reason = "a dump of an unknown kind";
      return;
    }
    header_refused_ = false;
    header_seen_ = true;
    key_format_ = *key;
    value_format_ = *value;
    for (const Json& name : object["column_families"]) {
      std::string family;
      const auto* text = name.get_ptr<const std::string*>();
      if (text == nullptr || !DecodeFamily(*text, &family, reason)) {
        *reason = "a dump with a column family whose name is no escaped text";
        return;
      }
      families_.push_back(family);
    }
  }

  void ParseTrailer(const Json& object, std::string* reason) {
    trailer_seen_ = true;
    const auto expected = object.find("entries");
    if (!header_seen_ && !header_refused_) {
      *reason = "the last line of a dump whose first line is missing; it names the formats";
    } else if (expected == object.end() || !expected->is_number_unsigned()) {
      *reason = "the last line of a dump without the number of entries";
    } else if (*expected != entries_) {
      *reason = "the dump had " + expected->dump() + " entries, but " + std::to_string(entries_) +
                " were read";
    }
  }

  bool ParseEntry(const Json& object, InputRecord* record, std::string* reason) {
    const std::string* key = TextOf(object, "key");
    const std::string* value = TextOf(object, "value");
    const std::string* family = TextOf(object, "column_family");
    if (key == nullptr || value == nullptr ||
        (family == nullptr && object.contains("column_family"))) {
      *reason = "needs the texts \"key\" and \"value\"; \"column_family\" is a text, too";
      return false;
    }
    if (!DecodeBytes(key_format_, *key, &key_, reason)) {
      *reason = "key is not in the format " + std::string(NameOf(key_format_)) + ": " + *reason;
      return false;
    }
    if (!DecodeBytes(value_format_, *value, &value_, reason)) {
      *reason = "value is not in the format " + std::string(NameOf(value_format_)) + ": " + *reason;
      return false;
    }
    if (family != nullptr && !DecodeFamily(*family, &record->column_family, reason)) return false;
    record->key = key_;
    record->value = value_;
    return true;
  }

  static bool DecodeFamily(const std::string& text, std::string* name, std::string* reason) {
    if (DecodeBytes(ByteFormat::kEscape, text, name, reason) && !name->empty()) return true;
    *reason = "column_family is empty or not in the format escape";
    return false;
  }

  Result End(Rejection* rejection) {
    if (!header_seen_ || trailer_seen_) return Result::kEnd;
    trailer_seen_ = true;  // reported once
    rejection->reason = "the dump is cut short: its last line is missing";
    return Result::kRejected;
  }

  ByteFormat key_format_;
  ByteFormat value_format_;
  LineReader* const lines_;
  std::vector<std::string> families_;  // of the header
  size_t families_announced_ = 0;
  uint64_t entries_ = 0;
  bool header_seen_ = false;
  bool header_refused_ = false;  // the formats of the next entries are unknown
  bool trailer_seen_ = false;
  std::string key_;
  std::string value_;
};

}  // namespace

std::unique_ptr<RecordReader> MakeNdjsonReader(const RecordReaderOptions& options,
                                               LineReader* lines) {
  return std::make_unique<NdjsonReader>(options, lines);
}

}  // namespace ashlar::cli

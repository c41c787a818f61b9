// Tab-separated entries: the key ends at the first tab, the value at the end of the line.
#include "tools/ashlar/record_reader.h"

namespace ashlar::cli {
namespace {

class TsvReader final : public RecordReader {
 public:
  TsvReader(const RecordReaderOptions& options, LineReader* lines)
      : key_format_(options.key_format.value_or(ByteFormat::kRaw)),
        value_format_(options.value_format.value_or(ByteFormat::kRaw)),
        lines_(lines) {}

  Result Next(InputRecord* record, Rejection* rejection) override {
    std::string_view line;
    LineReader::Result result;
    do {
      result = lines_->Next(&line);
    } while (result == LineReader::Result::kLine && line.empty());
    rejection->line_number = lines_->line_number();
    switch (result) {
      case LineReader::Result::kLine:
        return Parse(line, record, &rejection->reason) ? Result::kRecord : Result::kRejected;
      case LineReader::Result::kTooLong:
        rejection->reason = TooLongReason(*lines_);
        return Result::kRejected;
      case LineReader::Result::kEnd: return Result::kEnd;
      case LineReader::Result::kError: break;
    }
    return Result::kError;
  }

 private:
  bool Parse(std::string_view line, InputRecord* record, std::string* reason) {
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
      *reason = "no tab between key and value";
      return false;
    }
    record->column_family.clear();
    return Decode(key_format_, line.substr(0, tab), &key_, "key", reason, &record->key) &&
           Decode(value_format_, line.substr(tab + 1), &value_, "value", reason, &record->value);
  }

  static bool Decode(ByteFormat format, std::string_view text, std::string* buffer,
                     const char* part, std::string* reason, std::string_view* bytes) {
    if (format == ByteFormat::kRaw) {
      *bytes = text;
      return true;
    }
    if (!DecodeBytes(format, text, buffer, reason)) {
      *reason = std::string(part) + " is not in the format " + std::string(NameOf(format)) + ": " +
                *reason;
      return false;
    }
    *bytes = *buffer;
    return true;
  }

  const ByteFormat key_format_;
  const ByteFormat value_format_;
  LineReader* const lines_;
  std::string key_;
  std::string value_;
};

}  // namespace

std::unique_ptr<RecordReader> MakeTsvReader(const RecordReaderOptions& options, LineReader* lines) {
  return std::make_unique<TsvReader>(options, lines);
}

}  // namespace ashlar::cli

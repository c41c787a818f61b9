// Debian control stanzas, as `apt-cache dumpavail` writes them.
//
//   Package: bash           a field has a name, a colon and a value
//   Version: 5.2.15-2
//   Description: a shell
//    with a long history    a continuation begins with a space or a tab
//                           a blank line ends the stanza
//
// A wrong line rejects the entire stanza, and is the one reported. A stanza's bytes extend from its
// first field to the '\n' of its last line.
#include <algorithm>

#include "tools/ashlar/record_reader.h"

namespace ashlar::cli {
namespace {

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool IsVisibleAscii(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

class Deb822Reader final : public RecordReader {
 public:
  Deb822Reader(const RecordReaderOptions& options, LineReader* lines)
      : stanza_key_(options.stanza_key), lines_(lines) {}

  Result Next(InputRecord* record, Rejection* rejection) override {
    stanza_.clear();
    package_.clear();
    version_.clear();
    first_line_ = 0;
    rejected_ = {};
    for (;;) {
      std::string_view line;
      const LineReader::Result result = lines_->Next(&line);
      if (result == LineReader::Result::kError) return Result::kError;
      const bool ends = result == LineReader::Result::kEnd ||
                        (result == LineReader::Result::kLine && IsBlank(line));
      if (!ends) {
        Add(result, line);
      } else if (first_line_ != 0) {
        return EndStanza(record, rejection);
      } else if (result == LineReader::Result::kEnd) {
        return Result::kEnd;
      }
    }
  }

 private:
  void Add(LineReader::Result result, std::string_view line) {
    if (first_line_ == 0) first_line_ = lines_->line_number();
    if (!rejected_.reason.empty()) return;
    if (result == LineReader::Result::kTooLong ||
        line.size() >=
            lines_->line_bytes_max() - std::min(stanza_.size(), lines_->line_bytes_max())) {
      Reject(TooLongReason(*lines_));
      return;
    }
    const bool continues = line[0] == ' ' || line[0] == '\t';
    if (continues && stanza_.empty()) {
      Reject("a continuation line without a field above it");
    } else if (!continues) {
      AddField(line);
    }
    stanza_.append(line);
    stanza_.push_back('\n');
  }

  void AddField(std::string_view line) {
    const size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    if (colon == std::string_view::npos || !IsVisibleAscii(name)) {
      Reject("neither a field (name, colon, value) nor a continuation line");
    } else if (name == "Package") {
      Set(Trim(line.substr(colon + 1)), "Package", &package_);
    } else if (name == "Version") {
      Set(Trim(line.substr(colon + 1)), "Version", &version_);
    }
  }

  void Set(std::string_view value, const char* name, std::string* field) {
    if (!IsVisibleAscii(value)) {
      Reject(std::string(name) + " is empty or has characters that are not visible ASCII");
    } else if (!field->empty()) {
      Reject("a second field " + std::string(name) + " in one stanza");
    } else {
      field->assign(value);
    }
  }

  void Reject(std::string reason) {
    if (rejected_.reason.empty())
      rejected_ = {.line_number = lines_->line_number(), .reason = std::move(reason)};
  }

  Result EndStanza(InputRecord* record, Rejection* rejection) {
    if (rejected_.reason.empty() && package_.empty())
      rejected_ = {.line_number = first_line_, .reason = "a stanza without a field Package"};
    if (rejected_.reason.empty() && stanza_key_ == StanzaKey::kPackageAndVersion) {
      if (version_.empty())
        rejected_ = {.line_number = first_line_, .reason = "a stanza without a field Version"};
      package_ += "=" + version_;
    }
    if (!rejected_.reason.empty()) {
      *rejection = rejected_;
      return Result::kRejected;
    }
    record->column_family.clear();
    record->key = package_;
    record->value = stanza_;
    return Result::kRecord;
  }

  const StanzaKey stanza_key_;
  LineReader* const lines_;
  std::string stanza_;
  std::string package_;
  std::string version_;
  uint64_t first_line_ = 0;  // 0: between stanzas
  Rejection rejected_;       // of the current stanza
};

}  // namespace

std::unique_ptr<RecordReader> MakeDeb822Reader(const RecordReaderOptions& options,
                                               LineReader* lines) {
  return std::make_unique<Deb822Reader>(options, lines);
}

}  // namespace ashlar::cli

#include "tools/ashlar/records.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace ashlar::cli {
namespace {

void Write(std::string_view text, FILE* file) { (void)fwrite(text.data(), 1, text.size(), file); }

std::string Plain(double number) {
  std::array<char, 64> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                    std::chars_format::fixed, 3);
  return std::string(buffer.data(), result.ptr);
}

std::string Plain(const Field& field) {
  struct Visitor {
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(uint64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return Plain(number); }
    std::string operator()(bool truth) const { return truth ? "yes" : "no"; }
  };
  return std::visit(Visitor(), field);
}

std::string Json(const Field& field) {
  if (const auto* text = std::get_if<std::string>(&field)) return JsonString(*text);
  if (const auto* truth = std::get_if<bool>(&field)) return *truth ? "true" : "false";
  return Plain(field);
}

std::string JsonObject(const std::vector<std::string>& names, const Row& row) {
  std::string out = "{";
  for (size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += ",";
    out += JsonString(names[i]) + ":" + Json(row[i]);
  }
  return out + "}";
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

// Counts code points. Wider or narrower characters are rare, and affect only the alignment.
size_t ColumnsOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

// The first `columns` code points.
std::string_view Prefix(std::string_view text, size_t columns) {
  size_t end = 0;
  for (; end < text.size(); ++end) {
    const bool starts = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (starts && columns-- == 0) break;
  }
  return text.substr(0, end);
}

class TableBuilder final : public RecordWriter {
 public:
  TableBuilder(RecordLayout layout, FILE* file)
      : layout_(std::move(layout)), file_(file), widths_(layout_.columns.size(), 0) {
    if (layout_.header) Hold(Row(layout_.columns.begin(), layout_.columns.end()));
  }

  void Add(const Row& row) override {
    if (streaming_) {
      WriteRow(row);
      return;
    }
    Hold(row);
    if (held_.size() >= kRowsHeldMax) Release();
  }

  void Finish() override { Release(); }

 private:
  static constexpr size_t kRowsHeldMax = 1000;
  static constexpr size_t kWidthMax = 60;

  void Hold(const Row& row) {
    for (size_t i = 0; i < row.size(); ++i)
      widths_[i] = std::max(widths_[i], std::min(ColumnsOf(Plain(row[i])), kWidthMax));
    held_.push_back(row);
  }

  void Release() {
    // A name is aligned like its column's numbers.
    const bool align_header = layout_.header && held_.size() > 1;
    for (size_t i = 0; i < held_.size(); ++i)
      WriteRow(held_[i], align_header && i == 0 ? held_[1] : held_[i]);
    held_.clear();
    streaming_ = true;
  }

  void WriteRow(const Row& row) { WriteRow(row, row); }

  void WriteRow(const Row& row, const Row& alignment) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      const std::string text = Plain(row[i]);
      const size_t columns = ColumnsOf(text);
      const std::string padding(columns < widths_[i] ? widths_[i] - columns : 0, ' ');
      const bool is_text = std::holds_alternative<std::string>(alignment[i]);
      if (is_text) {
        line += text;
        if (i + 1 < row.size()) line += padding;
      } else {
        line += padding + text;
      }
    }
    if (layout_.line_columns_max > 1 && ColumnsOf(line) > layout_.line_columns_max) {
      line = std::string(Prefix(line, layout_.line_columns_max - 1)) + "…";
    }
    Write(line + "\n", file_);
  }

  const RecordLayout layout_;
  FILE* const file_;
  std::vector<size_t> widths_;
  std::vector<Row> held_;
  bool streaming_ = false;
};

class JsonWriter final : public RecordWriter {
 public:
  JsonWriter(RecordLayout layout, FILE* file) : layout_(std::move(layout)), file_(file) {}
  void Add(const Row& row) override {
    Write((empty_ ? "[\n" : ",\n") + JsonObject(layout_.columns, row), file_);
    empty_ = false;
  }
  void Finish() override { Write(empty_ ? "[]\n" : "\n]\n", file_); }

 private:
  const RecordLayout layout_;
  FILE* const file_;
  bool empty_ = true;
};

class NdjsonWriter final : public RecordWriter {
 public:
  NdjsonWriter(RecordLayout layout, FILE* file) : layout_(std::move(layout)), file_(file) {}
  void Add(const Row& row) override { Write(JsonObject(layout_.columns, row) + "\n", file_); }
  void Finish() override {}

 private:
  const RecordLayout layout_;
  FILE* const file_;
};

class CsvWriter final : public RecordWriter {
 public:
  CsvWriter(const RecordLayout& layout, FILE* file) : file_(file) {
    Add(Row(layout.columns.begin(), layout.columns.end()));
  }
  void Add(const Row& row) override {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += ",";
      line += CsvField(Plain(row[i]));
    }
    Write(line + "\r\n", file_);
  }
  void Finish() override {}

 private:
  FILE* const file_;
};

}  // namespace

std::optional<OutputFormat> OutputFormatByName(std::string_view name) {
  if (name == "table") return OutputFormat::kTable;
  if (name == "json") return OutputFormat::kJson;
  if (name == "ndjson") return OutputFormat::kNdjson;
  if (name == "csv") return OutputFormat::kCsv;
  return std::nullopt;
}

std::unique_ptr<RecordWriter> MakeRecordWriter(OutputFormat format, RecordLayout layout,
                                               FILE* file) {
  switch (format) {
    case OutputFormat::kTable: return std::make_unique<TableBuilder>(std::move(layout), file);
    case OutputFormat::kJson: return std::make_unique<JsonWriter>(std::move(layout), file);
    case OutputFormat::kNdjson: return std::make_unique<NdjsonWriter>(std::move(layout), file);
    case OutputFormat::kCsv: return std::make_unique<CsvWriter>(layout, file);
  }
  return nullptr;
}

void WriteObject(OutputFormat format, const std::vector<std::pair<std::string, Field>>& members,
                 FILE* file) {
  std::vector<std::string> names;
  Row row;
  for (const auto& [name, field] : members) {
    names.push_back(name);
    row.push_back(field);
  }
  if (format == OutputFormat::kTable) {
    const auto table = MakeRecordWriter(
        format, {.columns = {"name", "value"}, .header = false, .line_columns_max = 0}, file);
    for (size_t i = 0; i < row.size(); ++i) table->Add({names[i], Plain(row[i])});
    table->Finish();
  } else if (format == OutputFormat::kCsv) {
    const auto csv =
        MakeRecordWriter(format, {.columns = names, .header = true, .line_columns_max = 0}, file);
    csv->Add(row);
    csv->Finish();
  } else {
    Write(JsonObject(names, row) + "\n", file);
  }
}

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  out.reserve(text.size() + 2);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      constexpr char kDigits[] = "0123456789abcdef";
      out += "\\u00";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 0x0F];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace ashlar::cli

// get KEY...
//
// With one key, the table format shows only its value. With several, it shows a row for each that
// exists. By default a value is shown as text, with its line ends. --value-format raw writes the
// bytes unchanged, without a line end, and never to a terminal.
#include "platform/program.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/database.h"

namespace ashlar::cli {
namespace {

class GetCommand final : public Command {
 public:
  const char* Name() const override { return "get"; }
  const char* Summary() const override {
    return "Show the values of keys; exit code 1 when one of them does not exist";
  }

  void Declare(OptionSet* options) override {
    options->Operand("KEY", "The key, in the format of --key-format", &first_key_);
    options->Operands("MORE", "More keys", &more_keys_);
  }

  Outcome Run(const GlobalOptions& global) override {
    ASHLAR_CLI_RETURN_IF_FAILED(CheckRaw(global));
    std::vector<std::string> keys;
    ASHLAR_CLI_RETURN_IF_FAILED(DecodeKeys(global.KeyFormatOr(ByteFormat::kEscape), &keys));
    std::unique_ptr<Database> database;
    ASHLAR_CLI_RETURN_IF_FAILED(Database::Open(global, Access::kRead, &database));
    ColumnFamilyHandle* family = nullptr;
    ASHLAR_CLI_RETURN_IF_FAILED(database->ChosenFamily(&family));

    const std::vector<Slice> key_slices(keys.begin(), keys.end());
    std::vector<PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    database->db()->MultiGet(ReadOptions(), family, keys.size(), key_slices.data(), values.data(),
                             statuses.data());
    size_t missing = 0;
    for (const Status& status : statuses) {
      if (status.IsNotFound()) {
        ++missing;
      } else {
        ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(status, "get"));
      }
    }
    Write(global, keys, values, statuses);
    Outcome outcome;
    if (missing > 0)
      outcome = {.code = ExitCode::kNotFound, .what = Missing(missing, keys.size()), .advice = {}};
    return outcome;
  }

 private:
  Outcome CheckRaw(const GlobalOptions& global) const {
    if (global.value_format != ByteFormat::kRaw) return {};
    if (!more_keys_.empty() || global.format != OutputFormat::kTable)
      return RefuseRawValues(global, "get of several keys, or as JSON or CSV,");
    if (!IsTerminal(stdout)) return {};
    return {.code = ExitCode::kUsage,
            .what = "raw values are not written to a terminal, which could obey them",
            .advice = "send them to a file or a pipe, or use --value-format text"};
  }

  Outcome DecodeKeys(ByteFormat format, std::vector<std::string>* keys) const {
    std::vector<std::string> texts = {first_key_};
    texts.insert(texts.end(), more_keys_.begin(), more_keys_.end());
    for (const std::string& text : texts) {
      keys->emplace_back();
      ASHLAR_CLI_RETURN_IF_FAILED(DecodeOperand(format, text, "the key", &keys->back()));
    }
    return {};
  }

  static std::string Missing(size_t missing, size_t asked) {
    if (asked == 1) return "not found";
    return std::to_string(missing) + " of " + std::to_string(asked) + " keys not found";
  }

  static void Write(const GlobalOptions& global, const std::vector<std::string>& keys,
                    const std::vector<PinnableSlice>& values, const std::vector<Status>& statuses) {
    const bool alone = keys.size() == 1 && global.format == OutputFormat::kTable;
    const ByteFormat value_format =
        global.ValueFormatOr(alone ? ByteFormat::kText : ByteFormat::kEscape);
    if (alone) {
      if (statuses[0].ok()) WriteAlone(value_format, values[0].ToStringView());
      return;
    }
    const auto writer =
        MakeRecordWriter(global.format, global.Layout({"key", "value"}, false), stdout);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!statuses[i].ok()) continue;
      writer->Add({EncodeBytes(global.KeyFormatOr(ByteFormat::kEscape), keys[i]),
                   EncodeBytes(value_format, values[i].ToStringView())});
    }
    writer->Finish();
  }

  static void WriteAlone(ByteFormat format, std::string_view value) {
    std::string text = EncodeBytes(format, value);
    const bool has_line_end =
        format == ByteFormat::kRaw || (format == ByteFormat::kText && text.ends_with('\n'));
    if (!has_line_end) text += '\n';
    (void)fwrite(text.data(), 1, text.size(), stdout);
  }

  std::string first_key_;
  std::vector<std::string> more_keys_;
};

}  // namespace

std::unique_ptr<Command> MakeGetCommand() { return std::make_unique<GetCommand>(); }

}  // namespace ashlar::cli

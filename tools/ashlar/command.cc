#include "tools/ashlar/command.h"

#include "platform/program.h"

namespace ashlar::cli {

RecordLayout GlobalOptions::Layout(std::vector<std::string> columns, bool header) const {
  return {
      .columns = std::move(columns), .header = header, .line_columns_max = TerminalColumns(stdout)};
}

Outcome DecodeOperand(ByteFormat format, std::string_view text, std::string_view what,
                      std::string* bytes) {
  std::string error;
  if (DecodeBytes(format, text, bytes, &error)) return {};
  return {.code = ExitCode::kUsage,
          .what = std::string(what) + " is not in the format " + std::string(NameOf(format)) +
                  ": " + error,
          .advice =
              "choose another format with --key-format or --value-format, or write a backslash as "
              "\\\\"};
}

Outcome RefuseRawValues(const GlobalOptions& global, std::string_view command) {
  if (global.value_format != ByteFormat::kRaw) return {};
  return {
      .code = ExitCode::kUsage,
      .what = std::string(command) + " cannot write raw values",
      .advice = "use --value-format text or hex; get, and scan --values-only, write raw values"};
}

}  // namespace ashlar::cli

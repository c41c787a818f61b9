// Command: one subcommand of the tool. Each is in its own file, command_<name>.cc, and listed in
// command_line.cc.
//
//   CommandLine ── Declare(options) ──> Command      names its options and operands
//   CommandLine ── Run(global) ───────> Command      once, after they were filled in
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/ashlar/byte_text.h"
#include "tools/ashlar/outcome.h"
#include "tools/ashlar/records.h"

namespace ashlar::cli {

// The options that every command has.
struct GlobalOptions {
  std::string database;
  std::optional<std::string> column_family;
  OutputFormat format = OutputFormat::kTable;
  bool format_given = false;
  std::optional<ByteFormat> key_format;
  std::optional<ByteFormat> value_format;
  std::optional<std::string> merge_operator;
  bool ignore_damaged_options = false;
  std::optional<std::string> wal_dir;
  // Writes a warning to standard error.
  std::function<void(const std::string& text)> warn;

  void Warn(const std::string& text) const {
    if (warn) warn(text);
  }

  ByteFormat KeyFormatOr(ByteFormat fallback) const { return key_format.value_or(fallback); }
  ByteFormat ValueFormatOr(ByteFormat fallback) const { return value_format.value_or(fallback); }
  // Returns the layout of rows on standard output.
  RecordLayout Layout(std::vector<std::string> columns, bool header) const;
};

// Declares the arguments of a command. Requires: the targets outlive the parsing. Their initial
// values are the defaults.
class OptionSet {
 public:
  virtual ~OptionSet() = default;
  virtual void Flag(const char* names, const char* help, bool* target) = 0;
  virtual void Text(const char* names, const char* help, std::optional<std::string>* target) = 0;
  virtual void Number(const char* names, const char* help, uint64_t* target) = 0;
  // The value is one of the words. An operand is required.
  virtual void Choice(const char* names, const char* help, const std::vector<std::string>& choices,
                      std::string* target) = 0;
  virtual void Operand(const char* name, const char* help, std::string* target) = 0;
  virtual void OptionalOperand(const char* name, const char* help,
                               std::optional<std::string>* target) = 0;
  virtual void Operands(const char* name, const char* help, std::vector<std::string>* target) = 0;
};

class Command {
 public:
  virtual ~Command() = default;
  virtual const char* Name() const = 0;
  virtual const char* Summary() const = 0;
  virtual void Declare(OptionSet* options) = 0;
  // Returns whether --db is required.
  virtual bool NeedsDatabase() const { return true; }
  virtual Outcome Run(const GlobalOptions& global) = 0;
};

// `what` names the operand in the error, such as "key".
Outcome DecodeOperand(ByteFormat format, std::string_view text, std::string_view what,
                      std::string* bytes);
// Returns kUsage if the values would be written as raw bytes, which `command` cannot do.
Outcome RefuseRawValues(const GlobalOptions& global, std::string_view command);

std::unique_ptr<Command> MakeAdviseCommand();
std::unique_ptr<Command> MakeBackupCommand();
std::unique_ptr<Command> MakeCheckpointCommand();
std::unique_ptr<Command> MakeColumnFamiliesCommand();
std::unique_ptr<Command> MakeCompactCommand();
std::unique_ptr<Command> MakeDeleteCommand();
std::unique_ptr<Command> MakeDumpCommand();
std::unique_ptr<Command> MakeGetCommand();
std::unique_ptr<Command> MakeLoadCommand();
std::unique_ptr<Command> MakePoolCommand();
std::unique_ptr<Command> MakePropertiesCommand();
std::unique_ptr<Command> MakePutCommand();
std::unique_ptr<Command> MakeRepairCommand();
std::unique_ptr<Command> MakeScanCommand();
std::unique_ptr<Command> MakeStatsCommand();
std::unique_ptr<Command> MakeVerifyCommand();

}  // namespace ashlar::cli

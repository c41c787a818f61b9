#include "tools/ashlar/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <system_error>

#include "tools/ashlar/command.h"

namespace ashlar::cli {
namespace {

// CLI11 splits an operand "[a,b]" where several operands are allowed, and takes the next argument
// as the value of "--option=". A mark in front hides the bracket, or the empty text, until parsing
// has ended. Text that is only marks, or has only marks before a bracket, gets one more mark, so
// that every text is restored unchanged.
constexpr char kMark = '\x01';

bool NeedsMark(std::string_view text) {
  const size_t first = text.find_first_not_of(kMark);
  return first == std::string_view::npos || text[first] == '[';
}

std::string Marked(const std::string& text) { return NeedsMark(text) ? kMark + text : text; }
std::string Unmarked(const std::string& text) {
  return NeedsMark(text) && text.starts_with(kMark) ? text.substr(1) : text;
}

// Returns the arguments in reverse order, as CLI11 expects them.
std::vector<std::string> MarkedArguments(const std::vector<std::string>& plain) {
  std::vector<std::string> arguments;
  bool operands_only = false;
  for (const std::string& argument : plain) {
    const size_t equals =
        argument.starts_with("--") && !operands_only ? argument.find('=') : std::string::npos;
    arguments.push_back(equals == std::string::npos
                            ? Marked(argument)
                            : argument.substr(0, equals + 1) + Marked(argument.substr(equals + 1)));
    operands_only = operands_only || argument == "--";
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

// Removes leading zeros from a number. Returns an error if the text is not a number, or else an
// empty text. CLI11 alone would read -1 as the largest number, and 010 as 8.
std::string ToPlainDecimal(std::string& text) {
  uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size())
    return "not a number from 0 to 18446744073709551615";
  text = std::to_string(number);
  return {};
}

class CliOptionSet final : public OptionSet {
 public:
  explicit CliOptionSet(CLI::App* app) : app_(app) {}

  void Flag(const char* names, const char* help, bool* target) override {
    app_->add_flag(names, *target, help);
  }
  void Text(const char* names, const char* help, std::optional<std::string>* target) override {
    app_->add_option_function<std::string>(
            names, [target](const std::string& text) { *target = Unmarked(text); }, help)
        ->type_name("TEXT");
  }
  void Number(const char* names, const char* help, uint64_t* target) override {
    app_->add_option(names, *target, help)
        ->transform(CLI::Validator(ToPlainDecimal, "", "number"))
        ->capture_default_str();
  }
  void Choice(const char* names, const char* help, const std::vector<std::string>& choices,
              std::string* target) override {
    CLI::Option* const choice = app_->add_option(names, *target, help)
                                    ->check(CLI::IsMember(choices).description(""))
                                    ->type_name("WORD")
                                    ->capture_default_str();
    if (names[0] != '-') choice->required();
  }
  void Operand(const char* name, const char* help, std::string* target) override {
    app_->add_option_function<std::string>(
            name, [target](const std::string& text) { *target = Unmarked(text); }, help)
        ->required()
        ->type_name("");
  }
  void OptionalOperand(const char* name, const char* help,
                       std::optional<std::string>* target) override {
    app_->add_option_function<std::string>(
            name, [target](const std::string& text) { *target = Unmarked(text); }, help)
        ->type_name("");
  }
  void Operands(const char* name, const char* help, std::vector<std::string>* target) override {
    const auto take = [target](const std::vector<std::string>& texts) {
      std::transform(texts.begin(), texts.end(), std::back_inserter(*target), Unmarked);
    };
    app_->add_option_function<std::vector<std::string>>(name, take, help)->type_name("");
  }

 private:
  CLI::App* const app_;
};

using CommandMaker = std::unique_ptr<Command> (*)();
constexpr std::array<CommandMaker, 16> kCommands = {
    MakeLoadCommand,           MakePutCommand,    MakeGetCommand,     MakeDeleteCommand,
    MakeScanCommand,           MakeDumpCommand,   MakeStatsCommand,   MakePropertiesCommand,
    MakeColumnFamiliesCommand, MakeVerifyCommand, MakeCompactCommand, MakeCheckpointCommand,
    MakeBackupCommand,         MakeRepairCommand, MakePoolCommand,    MakeAdviseCommand};

// The texts of the global options, before they are turned into values.
struct GlobalTexts {
  std::string format = "table";
  std::optional<std::string> key_format;
  std::optional<std::string> value_format;
};

void DeclareGlobals(CLI::App* app, GlobalOptions* global, GlobalTexts* texts) {
  CliOptionSet options(app);
  app->add_option_function<std::string>(
         "--db", [global](const std::string& text) { global->database = Unmarked(text); },
         "The database's directory; list, verify and purge of backup, pool and advise need none")
      ->type_name("DIR");
  options.Text(
      "--column-family",
      "Work on this column family (default: \"default\"; dump, verify, stats and compact: all)",
      &global->column_family);
  app->add_option("--format", texts->format,
                  "How results are written: table (default; of dump, ndjson), json, ndjson, csv")
      ->check(CLI::IsMember({"table", "json", "ndjson", "csv"}).description(""))
      ->type_name("FORMAT");
  app->add_option_function<std::string>(
         "--key-format", [texts](const std::string& text) { texts->key_format = text; },
         "How keys are shown and named: escape (default), utf8, hex, u64be")
      ->check(CLI::IsMember({"escape", "utf8", "hex", "u64be"}).description(""))
      ->type_name("FORMAT");
  app->add_option_function<std::string>(
         "--value-format", [texts](const std::string& text) { texts->value_format = text; },
         "The same for values: also text (utf8 with line ends) and raw (bytes as they are)")
      ->check(CLI::IsMember({"escape", "utf8", "text", "hex", "u64be", "raw"}).description(""))
      ->type_name("FORMAT");
  options.Text("--merge-operator",
               "The merge operator of families whose OPTIONS file names none: uint64add, "
               "stringappend, put, max",
               &global->merge_operator);
  options.Flag("--ignore-damaged-options",
               "Write although the newest OPTIONS file cannot be read; see docs/tools.md",
               &global->ignore_damaged_options);
  options.Text("--wal-dir,--wal_dir",
               "The directory of the logs, instead of the wal_dir in the OPTIONS file; commands "
               "that write need it if that is outside of DIR",
               &global->wal_dir);
}

void TakeGlobals(const CLI::App& app, const GlobalTexts& texts, GlobalOptions* global) {
  global->format = OutputFormatByName(texts.format).value_or(OutputFormat::kTable);
  global->format_given = app.count("--format") > 0;
  if (texts.key_format) global->key_format = ByteFormatByName(*texts.key_format);
  if (texts.value_format) global->value_format = ByteFormatByName(*texts.value_format);
}

constexpr const char* kHelpAdvice = "see ashlar --help, or ashlar COMMAND --help";

// Reports the first argument that no option or operand takes. CLI11 would report a missing operand
// before that, and lists several such arguments in reverse order.
Outcome WrongCommandLine(const CLI::App& app, const CLI::ParseError& error,
                         const std::vector<std::string>& arguments) {
  Outcome outcome = {.code = ExitCode::kUsage, .what = error.what(), .advice = kHelpAdvice};
  std::erase(outcome.what, kMark);
  const std::vector<CLI::App*> commands = app.get_subcommands();
  const std::vector<std::string> left = app.remaining(/*recurse=*/true);
  const auto first =
      std::find_if(left.begin(), left.end(), [](const std::string& text) { return text != "--"; });
  if (first == left.end()) {
    if (commands.empty()) outcome.what = "COMMAND is required";
    return outcome;
  }
  const std::string word = Unmarked(*first);
  const auto options_end = std::find(arguments.begin(), arguments.end(), "--");
  if (word.starts_with('-') && std::find(arguments.begin(), options_end, word) != options_end) {
    outcome.what = "there is no option '" + word + "'";
    outcome.advice += "; -- ends the options";
  } else if (commands.empty()) {
    outcome.what = "there is no command '" + word + "'";
  } else {
    outcome.what = commands.front()->get_name() + " does not take '" + word + "'";
  }
  return outcome;
}

void Say(const std::string& text) {
  (void)fputs(("ashlar: " + SafeMessage(text) + "\n").c_str(), stderr);
}

int Report(const Outcome& outcome) {
  if (!outcome.what.empty()) {
    Say(outcome.what);
    if (!outcome.advice.empty())
      (void)fputs(("        " + SafeMessage(outcome.advice) + "\n").c_str(), stderr);
  }
  return static_cast<int>(outcome.code);
}

// Returns an error if the results cannot be written to their file.
Outcome FlushResults(Outcome outcome) {
  errno = 0;
  const bool failed = fflush(stdout) != 0 || ferror(stdout) != 0;
  if (!failed || !outcome.ok()) return outcome;
  return {.code = ExitCode::kIo,
          .what = "cannot write the results: " +
                  std::generic_category().message(errno == 0 ? EIO : errno),
          .advice = "check where standard output goes"};
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& arguments) {
  CLI::App app("Reads and changes a database of Ashlar or RocksDB.", "ashlar");
  app.set_version_flag("--version", "ashlar " ASHLAR_VERSION);
  app.footer(std::string("Reads open the database read-only and leave its files as they are.\n\n") +
             kExitCodesHelp);
  app.require_subcommand(1, 1);
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.fallthrough();
  // "/x" is a path on every system, not an option.
  app.allow_windows_style_options(false);

  GlobalOptions global;
  GlobalTexts texts;
  DeclareGlobals(&app, &global, &texts);
  std::vector<std::unique_ptr<Command>> commands;
  for (const CommandMaker make : kCommands) {
    commands.push_back(make());
    CLI::App* sub = app.add_subcommand(commands.back()->Name(), commands.back()->Summary());
    sub->group("Commands");
    sub->footer("ashlar --help shows the options that every command has, and the exit codes.");
    CliOptionSet options(sub);
    commands.back()->Declare(&options);
  }

  try {
    app.parse(MarkedArguments(arguments));
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return Report(WrongCommandLine(app, error, arguments));
  }

  TakeGlobals(app, texts, &global);
  global.warn = Say;
  for (const auto& command : commands) {
    if (!app.got_subcommand(command->Name())) continue;
    if (command->NeedsDatabase() && app.count("--db") == 0) {
      return Report({.code = ExitCode::kUsage, .what = "--db is required", .advice = kHelpAdvice});
    }
    return Report(FlushResults(command->Run(global)));
  }
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace ashlar::cli

#include "tools/ashlar/command_line.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "tools/ashlar/command.h"

namespace ashlar::cli {
namespace {

// Every option takes exactly what is written: CLI11 would otherwise cut "[a,b]" into pieces where several values are allowed.
class CliOptionSet final : public OptionSet {
 public:
  explicit CliOptionSet(CLI::App* app) : app_(app) {}

  void Flag(const char* names, const char* help, bool* target) override { app_->add_flag(names, *target, help); }
  void Text(const char* names, const char* help, std::optional<std::string>* target) override {
    app_->add_option_function<std::string>(names, [target](const std::string& text) { *target = text; }, help)->type_name("TEXT");
  }
  void Number(const char* names, const char* help, uint64_t* target) override { app_->add_option(names, *target, help)->capture_default_str(); }
  void Choice(const char* names, const char* help, const std::vector<std::string>& choices, std::string* target) override {
    app_->add_option(names, *target, help)->check(CLI::IsMember(choices).description(""))->type_name("WORD")->capture_default_str();
  }
  void Operand(const char* name, const char* help, std::string* target) override {
    app_->add_option(name, *target, help)->required()->type_name("");
  }
  void OptionalOperand(const char* name, const char* help, std::optional<std::string>* target) override {
    app_->add_option_function<std::string>(name, [target](const std::string& text) { *target = text; }, help)->type_name("");
  }
  void Operands(const char* name, const char* help, std::vector<std::string>* target) override {
    app_->add_option(name, *target, help)->type_name("")->allow_extra_args(false);
  }

 private:
  CLI::App* const app_;
};

using CommandMaker = std::unique_ptr<Command> (*)();
constexpr std::array<CommandMaker, 11> kCommands = {MakeLoadCommand,       MakePutCommand,    MakeGetCommand,    MakeDeleteCommand,
                                                    MakeScanCommand,       MakeDumpCommand,   MakeStatsCommand,  MakePropertiesCommand,
                                                    MakeColumnFamiliesCommand, MakeVerifyCommand, MakeCompactCommand};

// The texts of the global options, before they are turned into values.
struct GlobalTexts {
  std::string format = "table";
  std::optional<std::string> key_format;
  std::optional<std::string> value_format;
};

void DeclareGlobals(CLI::App* app, GlobalOptions* global, GlobalTexts* texts) {
  CliOptionSet options(app);
  app->add_option("--db", global->database, "The database's directory")->required()->type_name("DIR");
  options.Text("--column-family", "Work on this column family (default: \"default\"; dump, verify, stats and compact: all)", &global->column_family);
  app->add_option("--format", texts->format, "How results are written: table (default; of dump, ndjson), json, ndjson, csv")
      ->check(CLI::IsMember({"table", "json", "ndjson", "csv"}).description(""))
      ->type_name("FORMAT");
  app->add_option_function<std::string>("--key-format", [texts](const std::string& text) { texts->key_format = text; },
                                        "How keys are shown and named: escape (default), utf8, hex, u64be")
      ->check(CLI::IsMember({"escape", "utf8", "hex", "u64be"}).description(""))
      ->type_name("FORMAT");
  app->add_option_function<std::string>("--value-format", [texts](const std::string& text) { texts->value_format = text; },
                                        "The same for values: also text (utf8 with line ends) and raw (bytes as they are)")
      ->check(CLI::IsMember({"escape", "utf8", "text", "hex", "u64be", "raw"}).description(""))
      ->type_name("FORMAT");
  options.Text("--merge-operator", "The merge operator of families whose OPTIONS file names none: uint64add, stringappend, put, max",
               &global->merge_operator);
}

void TakeGlobals(const CLI::App& app, const GlobalTexts& texts, GlobalOptions* global) {
  global->format = OutputFormatByName(texts.format).value_or(OutputFormat::kTable);
  global->format_given = app.count("--format") > 0;
  if (texts.key_format) global->key_format = ByteFormatByName(*texts.key_format);
  if (texts.value_format) global->value_format = ByteFormatByName(*texts.value_format);
}

int Report(const Outcome& outcome) {
  if (!outcome.what.empty()) {
    std::string text = "ashlar: " + SafeMessage(outcome.what) + "\n";
    if (!outcome.advice.empty()) text += "        " + SafeMessage(outcome.advice) + "\n";
    (void)fputs(text.c_str(), stderr);
  }
  return static_cast<int>(outcome.code);
}

// Results that did not reach their file are no results.
Outcome FlushResults(Outcome outcome) {
  errno = 0;
  const bool failed = fflush(stdout) != 0 || ferror(stdout) != 0;
  if (!failed || !outcome.ok()) return outcome;
  return {.code = ExitCode::kIo,
          .what = "cannot write the results: " + std::generic_category().message(errno == 0 ? EIO : errno),
          .advice = "check where standard output goes"};
}

}  // namespace

int RunCommandLine(int argc, const char* const* argv) {
  CLI::App app("Looks into an Ashlar or RocksDB database, and changes it.", "ashlar");
  app.set_version_flag("--version", "ashlar " ASHLAR_VERSION);
  app.footer(std::string("Reads open the database read-only and leave its files as they are.\n\n") + kExitCodesHelp);
  app.require_subcommand(1, 1);
  app.fallthrough();

  GlobalOptions global;
  GlobalTexts texts;
  DeclareGlobals(&app, &global, &texts);
  std::vector<std::unique_ptr<Command>> commands;
  for (const CommandMaker make : kCommands) {
    commands.push_back(make());
    CLI::App* sub = app.add_subcommand(commands.back()->Name(), commands.back()->Summary());
    sub->footer("ashlar --help shows the options that every command has, and the exit codes.");
    CliOptionSet options(sub);
    commands.back()->Declare(&options);
  }

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return Report({.code = ExitCode::kUsage, .what = error.what(), .advice = "see ashlar --help, or ashlar COMMAND --help"});
  }

  TakeGlobals(app, texts, &global);
  for (const auto& command : commands) {
    if (app.got_subcommand(command->Name())) return Report(FlushResults(command->Run(global)));
  }
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace ashlar::cli

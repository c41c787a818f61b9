#include "tests/cli/tool.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace ashlar {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

std::string ShellQuoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

ToolResult ToolTest::RunBare(const std::vector<std::string>& arguments, const std::string& input) {
  const std::string in = MakeFile("stdin", input);
  const std::string out = File("stdout");
  const std::string err = File("stderr");
  std::string command = ProgramCommand("ashlar");
  for (const std::string& argument : arguments) command += " " + ShellQuoted(argument);
  // In braces, because RunTool adds a redirection of its own after the command.
  const ToolRun run = RunTool("{ " + command + " <" + ShellQuoted(in) + " >" + ShellQuoted(out) +
                              " 2>" + ShellQuoted(err) + "; }");
  // Messages of the shell itself are not expected.
  return {.exit_code = run.exit_code, .out = ReadFile(out), .err = ReadFile(err) + run.output};
}

ToolResult ToolTest::Run(const std::vector<std::string>& arguments, const std::string& input) {
  std::vector<std::string> all = {"--db", database()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return RunBare(all, input);
}

void ToolTest::ExpectExit(int exit_code, const std::vector<std::string>& arguments,
                          const std::string& input) {
  const ToolResult result = Run(arguments, input);
  EXPECT_EQ(result.exit_code, exit_code) << testing::PrintToString(arguments) << " said\n"
                                         << result.out << result.err;
}

std::string ToolTest::Output(const std::vector<std::string>& arguments, const std::string& input) {
  const ToolResult result = Run(arguments, input);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return result.out;
}

void ToolTest::Load(const std::string& tsv, const std::vector<std::string>& more_arguments) {
  std::vector<std::string> arguments = {"load", "-", "--input-format", "tsv"};
  arguments.insert(arguments.end(), more_arguments.begin(), more_arguments.end());
  (void)Output(arguments, tsv);
}

std::string ToolTest::MakeFile(const std::string& name, const std::string& content) {
  const std::string path = File(name);
  std::ofstream file(path, std::ios::binary);
  file << content;
  return path;
}

std::string DirectoryFingerprint(const std::string& directory) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    const auto changed = fs::last_write_time(entry).time_since_epoch().count();
    files[entry.path().string()] =
        std::to_string(changed) + " " +
        (entry.is_regular_file() ? ReadFile(entry.path().string()) : std::string("directory"));
  }
  std::string fingerprint;
  for (const auto& [path, state] : files) fingerprint += path + " " + state + "\n";
  return fingerprint;
}

}  // namespace ashlar

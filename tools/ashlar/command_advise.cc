// advise: the costs of a workload in each compaction style, measured with small temporary databases
// (tools/common/amplification.h).
#include <fmt/format.h>

#include <memory>

#include "ashlar/env.h"
#include "ashlar/vfs.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/database_directory.h"
#include "tools/common/amplification.h"
#include "tools/common/progress_line.h"

namespace ashlar::cli {
namespace {

namespace measured = amplification;

// The file of --json. It is created before the measurement, which takes minutes.
class JsonFile {
 public:
  Outcome Create(const std::string& path) {
    path_ = path;
    return Report(Env::Default()->EngineFiles()->NewWritableFile(path, vfs::FileOptions(), &file_));
  }
  // Requires: Create succeeded.
  Outcome Write(const std::string& text) {
    Status s = file_->Append(text);
    if (s.ok()) s = file_->Close();
    return Report(s);
  }

 private:
  Outcome Report(const Status& status) const {
    Outcome outcome = FromStatus(status, "cannot write " + path_);
    if (status.IsPathNotFound()) outcome.advice = kParentAdvice;
    return outcome;
  }

  std::string path_;
  std::unique_ptr<vfs::WritableFile> file_;
};

class AdviseCommand final : public Command {
 public:
  const char* Name() const override { return "advise"; }
  const char* Summary() const override {
    return "Measure the costs of a workload in each style of compaction";
  }
  bool NeedsDatabase() const override { return false; }

  void Declare(OptionSet* options) override {
    options->Operand("FOLDER", "Where the databases are made and deleted; must exist", &folder_);
    options->Number("--keys", "Keys that are loaded", &workload_.keys);
    options->Number("--key-size", "Bytes of a key, 8 or more", &workload_.key_bytes);
    options->Number("--value-size", "Bytes of a value", &workload_.value_bytes);
    options->Number("--overwrites", "Percent of the writes that overwrite a key; others are new",
                    &workload_.overwrite_percent);
    options->Number("--reads", "Percent of the operations that read", &workload_.read_percent);
    options->Number("--seed", "Of the random operations", &workload_.seed);
    options->Text("--json", "Also write the figures into this file", &json_);
  }

  Outcome Run(const GlobalOptions& /*global*/) override {
    if (const Status valid = measured::Validate(workload_); !valid.ok())
      return {.code = ExitCode::kUsage, .what = valid.ToString(), .advice = ""};
    DirectoryState state;
    ASHLAR_CLI_RETURN_IF_FAILED(InspectDirectory(folder_, &state));
    if (!IsDirectory(state)) {
      return {.code = ExitCode::kIo,
              .what = "cannot measure in " + folder_ + ": it is not a directory",
              .advice = "check FOLDER, and make it"};
    }
    JsonFile json_file;
    if (json_) ASHLAR_CLI_RETURN_IF_FAILED(json_file.Create(*json_));
    const std::vector<measured::Setting> settings = measured::Settings();
    std::vector<measured::Figures> figures(settings.size());
    {
      ProgressLine progress("advise");
      for (size_t i = 0; i < settings.size(); ++i) {
        progress.Show(static_cast<double>(i) / static_cast<double>(settings.size()),
                      settings[i].name);
        const std::string path = folder_ + "/advise-" + std::to_string(i);
        ASHLAR_CLI_RETURN_IF_FAILED(
            FromStatus(measured::Measure(workload_, settings[i], path, &figures[i]),
                       "cannot measure in " + path));
      }
    }
    fmt::print("{}\n{}", measured::Table(workload_, figures), measured::Plot(figures));
    return json_ ? json_file.Write(measured::Json(workload_, figures)) : Outcome{};
  }

 private:
  std::string folder_;
  measured::Workload workload_;
  std::optional<std::string> json_;
};

}  // namespace

std::unique_ptr<Command> MakeAdviseCommand() { return std::make_unique<AdviseCommand>(); }

}  // namespace ashlar::cli

// checkpoint: makes a database that is a copy of the current state and shares the tables.
#include <memory>

#include "ashlar/checkpoint.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/database.h"
#include "tools/ashlar/database_directory.h"

namespace ashlar::cli {
namespace {

class CheckpointCommand final : public Command {
 public:
  const char* Name() const override { return "checkpoint"; }
  const char* Summary() const override {
    return "Make another database of the present state, which shares the tables by hard links";
  }

  void Declare(OptionSet* options) override {
    options->Operand("TO", "The directory of the new database; must not exist", &to_);
    options->Number("--log-size-for-flush",
                    "Flush first if the logs have at least this many bytes; otherwise copy them",
                    &log_size_for_flush_);
  }

  Outcome Run(const GlobalOptions& global) override {
    std::unique_ptr<Database> database;
    ASHLAR_CLI_RETURN_IF_FAILED(Database::Open(global, Access::kWrite, &database));
    const std::string doing = "checkpoint of " + database->name();
    Checkpoint* made = nullptr;
    ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(Checkpoint::Create(database->db(), &made), doing));
    const std::unique_ptr<Checkpoint> checkpoint(made);
    uint64_t sequence = 0;
    const Status status = checkpoint->CreateCheckpoint(to_, log_size_for_flush_, &sequence);
    Outcome outcome = FromStatus(status, doing);
    if (status.IsPathNotFound()) outcome.advice = kParentAdvice;
    ASHLAR_CLI_RETURN_IF_FAILED(outcome);
    const auto writer =
        MakeRecordWriter(global.format, global.Layout({"checkpoint", "sequence"}, true), stdout);
    writer->Add({EncodeBytes(ByteFormat::kEscape, to_), sequence});
    writer->Finish();
    return database->Close();
  }

 private:
  std::string to_;
  uint64_t log_size_for_flush_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeCheckpointCommand() { return std::make_unique<CheckpointCommand>(); }

}  // namespace ashlar::cli

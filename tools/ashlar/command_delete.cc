// delete KEY... | delete --keys FILE | delete --from KEY --to KEY --force
//
// One record deletes a range, whatever it contains, so a range needs --force. A file of keys has
// one key per line, as `scan --keys-only` writes them. The complete file is read before anything is
// deleted, so a line that is not a key leaves the database unchanged.
#include "ashlar/write_batch.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/database.h"
#include "tools/ashlar/line_reader.h"

namespace ashlar::cli {
namespace {

constexpr size_t kLineBytesMax = 64 << 20;
constexpr size_t kKeysPerBatch = 1000;

class DeleteCommand final : public Command {
 public:
  const char* Name() const override { return "delete"; }
  const char* Summary() const override {
    return "Delete keys, or a range of keys; a key that does not exist is no error";
  }

  void Declare(OptionSet* options) override {
    options->Operands("KEY", "The keys, in the format of --key-format", &key_texts_);
    options->Text("--keys", "Read the keys from this file, one a line (-: standard input)", &file_);
    options->Text("--from", "Delete all keys from this one on; with --to and --force", &from_);
    options->Text("--to", "End before this key", &to_);
    options->Flag("--force", "Let a range of keys be deleted", &force_);
    options->Flag("--sync", "Return only when the deletions are durable", &sync_);
  }

  Outcome Run(const GlobalOptions& global) override {
    const bool is_range = from_ || to_;
    if ((key_texts_.empty() ? 0 : 1) + (file_ ? 1 : 0) + (is_range ? 1 : 0) != 1 ||
        is_range != (from_ && to_)) {
      return {.code = ExitCode::kUsage,
              .what = "delete takes either keys, or --keys FILE, or --from KEY and --to KEY",
              .advice = "see ashlar delete --help"};
    }
    if (is_range && !force_) {
      return {.code = ExitCode::kUsage,
              .what = "delete --from --to deletes every key of the range; --force does it",
              .advice = "'ashlar scan --count' with the same --from and --to counts them"};
    }
    const ByteFormat format = global.KeyFormatOr(ByteFormat::kEscape);
    std::vector<std::string> keys;
    ASHLAR_CLI_RETURN_IF_FAILED(file_ ? ReadKeys(format, &keys) : DecodeKeys(format, &keys));
    std::string from;
    std::string to;
    if (is_range) {
      ASHLAR_CLI_RETURN_IF_FAILED(DecodeOperand(format, *from_, "--from", &from));
      ASHLAR_CLI_RETURN_IF_FAILED(DecodeOperand(format, *to_, "--to", &to));
    }
    std::unique_ptr<Database> database;
    ASHLAR_CLI_RETURN_IF_FAILED(Database::Open(global, Access::kWrite, &database));
    ColumnFamilyHandle* family = nullptr;
    ASHLAR_CLI_RETURN_IF_FAILED(database->ChosenFamily(&family));
    WriteOptions write_options;
    write_options.sync = sync_;
    if (is_range) {
      ASHLAR_CLI_RETURN_IF_FAILED(
          FromStatus(database->db()->DeleteRange(write_options, family, from, to), "delete"));
      ASHLAR_CLI_RETURN_IF_FAILED(database->Close());
      WriteObject(global.format, {{"range_deletions", uint64_t{1}}}, stdout);
      return {};
    }
    ASHLAR_CLI_RETURN_IF_FAILED(DeleteKeys(database->db(), family, write_options, keys));
    ASHLAR_CLI_RETURN_IF_FAILED(database->Close());
    WriteObject(global.format, {{"deletions", uint64_t{keys.size()}}}, stdout);
    return {};
  }

 private:
  Outcome DecodeKeys(ByteFormat format, std::vector<std::string>* keys) const {
    for (const std::string& text : key_texts_) {
      keys->emplace_back();
      ASHLAR_CLI_RETURN_IF_FAILED(DecodeOperand(format, text, "the key", &keys->back()));
    }
    return {};
  }

  Outcome ReadKeys(ByteFormat format, std::vector<std::string>* keys) const {
    std::unique_ptr<LineReader> lines;
    ASHLAR_CLI_RETURN_IF_FAILED(LineReader::Open(*file_, kLineBytesMax, &lines));
    std::string_view line;
    for (;;) {
      const LineReader::Result result = lines->Next(&line);
      if (result == LineReader::Result::kEnd) return {};
      if (result == LineReader::Result::kError) return lines->Error();
      std::string error = "longer than " + std::to_string(kLineBytesMax) + " bytes";
      keys->emplace_back();
      if (result == LineReader::Result::kTooLong ||
          !DecodeBytes(format, line, &keys->back(), &error)) {
        return {.code = ExitCode::kBadInput,
                .what = lines->name() + ":" + std::to_string(lines->line_number()) + ": " + error,
                .advice =
                    "nothing was deleted; mend the line, or say how keys are written with "
                    "--key-format"};
      }
    }
  }

  static Outcome DeleteKeys(DB* db, ColumnFamilyHandle* family, const WriteOptions& write_options,
                            const std::vector<std::string>& keys) {
    WriteBatch batch;
    for (size_t i = 0; i < keys.size(); ++i) {
      ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(batch.Delete(family, keys[i]), "delete"));
      if ((i + 1) % kKeysPerBatch != 0 && i + 1 < keys.size()) continue;
      ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(db->Write(write_options, &batch), "delete"));
      batch.Clear();
    }
    return {};
  }

  std::vector<std::string> key_texts_;
  std::optional<std::string> file_;
  std::optional<std::string> from_;
  std::optional<std::string> to_;
  bool force_ = false;
  bool sync_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeDeleteCommand() { return std::make_unique<DeleteCommand>(); }

}  // namespace ashlar::cli

// put KEY VALUE
#include "tools/ashlar/command.h"
#include "tools/ashlar/database.h"

namespace ashlar::cli {
namespace {

class PutCommand final : public Command {
 public:
  const char* Name() const override { return "put"; }
  const char* Summary() const override { return "Set the value of a key"; }

  void Declare(OptionSet* options) override {
    options->Operand("KEY", "The key, in the format of --key-format", &key_);
    options->Operand("VALUE", "The value, in the format of --value-format", &value_);
    options->Flag("--sync", "Return only when the write is durable", &sync_);
    options->Flag("--create", "Make the database, or the column family, when it is missing",
                  &create_);
  }

  Outcome Run(const GlobalOptions& global) override {
    std::string key;
    std::string value;
    ASHLAR_CLI_RETURN_IF_FAILED(
        DecodeOperand(global.KeyFormatOr(ByteFormat::kEscape), key_, "the key", &key));
    ASHLAR_CLI_RETURN_IF_FAILED(
        DecodeOperand(global.ValueFormatOr(ByteFormat::kEscape), value_, "the value", &value));

    std::unique_ptr<Database> database;
    ASHLAR_CLI_RETURN_IF_FAILED(
        Database::Open(global, create_ ? Access::kWriteAndCreate : Access::kWrite, &database));
    ColumnFamilyHandle* family = nullptr;
    ASHLAR_CLI_RETURN_IF_FAILED(database->ChosenFamily(&family));
    WriteOptions write_options;
    write_options.sync = sync_;
    ASHLAR_CLI_RETURN_IF_FAILED(
        FromStatus(database->db()->Put(write_options, family, key, value), "put"));
    return database->Close();
  }

 private:
  std::string key_;
  std::string value_;
  bool sync_ = false;
  bool create_ = false;
};

}  // namespace

std::unique_ptr<Command> MakePutCommand() { return std::make_unique<PutCommand>(); }

}  // namespace ashlar::cli

// column-families: which there are, and how each is set up.
#include "ashlar/comparator.h"
#include "ashlar/merge_operator.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/database.h"

namespace ashlar::cli {
namespace {

class ColumnFamiliesCommand final : public Command {
 public:
  const char* Name() const override { return "column-families"; }
  const char* Summary() const override { return "List the column families"; }
  void Declare(OptionSet* /*options*/) override {}

  Outcome Run(const GlobalOptions& global) override {
    std::unique_ptr<Database> database;
    ASHLAR_CLI_RETURN_IF_FAILED(Database::Open(global, Access::kRead, &database));
    std::vector<ColumnFamilyHandle*> families;
    ASHLAR_CLI_RETURN_IF_FAILED(database->ChosenFamilies(&families));
    const auto writer = MakeRecordWriter(global.format, global.Layout({"id", "name", "comparator", "merge_operator"}, true), stdout);
    for (ColumnFamilyHandle* family : families) {
      ColumnFamilyDescriptor descriptor;
      ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(family->GetDescriptor(&descriptor), "column-families"));
      const std::shared_ptr<MergeOperator>& merge_operator = descriptor.options.merge_operator;
      writer->Add({uint64_t{family->GetID()}, EncodeBytes(ByteFormat::kEscape, family->GetName()),
                   EncodeBytes(ByteFormat::kEscape, family->GetComparator()->Name()),
                   merge_operator == nullptr ? std::string("none") : EncodeBytes(ByteFormat::kEscape, merge_operator->Name())});
    }
    writer->Finish();
    return {};
  }
};

}  // namespace

std::unique_ptr<Command> MakeColumnFamiliesCommand() { return std::make_unique<ColumnFamiliesCommand>(); }

}  // namespace ashlar::cli

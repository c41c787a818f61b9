// column-families: lists the families and how each is set up. The database is not opened, so an
// unknown comparator or operator does not matter.
#include "tools/ashlar/command.h"
#include "tools/ashlar/survey.h"

namespace ashlar::cli {
namespace {

class ColumnFamiliesCommand final : public Command {
 public:
  const char* Name() const override { return "column-families"; }
  const char* Summary() const override { return "List the column families"; }
  void Declare(OptionSet* /*options*/) override {}

  Outcome Run(const GlobalOptions& global) override {
    Survey survey;
    ASHLAR_CLI_RETURN_IF_FAILED(ReadSurvey(global, &survey));
    survey.WarnOfOptions(global);
    std::vector<const ColumnFamilyInventory*> families;
    ASHLAR_CLI_RETURN_IF_FAILED(survey.ChosenFamilies(global, &families));
    const auto writer = MakeRecordWriter(
        global.format, global.Layout({"id", "name", "comparator", "merge_operator"}, true), stdout);
    for (const ColumnFamilyInventory* family : families) {
      const std::string merge_operator = survey.MergeOperatorOf(family->metadata.name);
      writer->Add({uint64_t{family->id}, EncodeBytes(ByteFormat::kEscape, family->metadata.name),
                   EncodeBytes(ByteFormat::kEscape, family->comparator),
                   merge_operator.empty() ? std::string("none")
                                          : EncodeBytes(ByteFormat::kEscape, merge_operator)});
    }
    writer->Finish();
    return {};
  }
};

}  // namespace

std::unique_ptr<Command> MakeColumnFamiliesCommand() {
  return std::make_unique<ColumnFamiliesCommand>();
}

}  // namespace ashlar::cli

// dump: writes every entry of every column family, from one state of the database. entry_dump.h
// describes the formats.
#include "tools/ashlar/command.h"
#include "tools/ashlar/database.h"
#include "tools/ashlar/entry_dump.h"

namespace ashlar::cli {
namespace {

class DumpCommand final : public Command {
 public:
  const char* Name() const override { return "dump"; }
  const char* Summary() const override {
    return "Write all entries of all column families, for load --input-format ndjson";
  }
  void Declare(OptionSet* /*options*/) override {}

  Outcome Run(const GlobalOptions& global) override {
    ASHLAR_CLI_RETURN_IF_FAILED(RefuseRawValues(global, "dump"));
    std::unique_ptr<Database> database;
    ASHLAR_CLI_RETURN_IF_FAILED(Database::Open(global, Access::kRead, &database));
    std::vector<ColumnFamilyHandle*> families;
    ASHLAR_CLI_RETURN_IF_FAILED(database->ChosenFamilies(&families));
    std::vector<Iterator*> raw_iterators;
    ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(
        database->db()->NewIterators(SequentialReadOptions(), families, &raw_iterators), "dump"));
    std::vector<std::unique_ptr<Iterator>> iterators(raw_iterators.begin(), raw_iterators.end());

    std::vector<std::string> names;
    for (ColumnFamilyHandle* family : families) names.push_back(family->GetName());
    EntryDump dump(global, names);
    Outcome outcome;
    for (size_t i = 0; i < families.size() && outcome.ok(); ++i)
      outcome = dump.Add(names[i], iterators[i].get());
    dump.Finish(outcome.ok());
    return outcome;
  }
};

}  // namespace

std::unique_ptr<Command> MakeDumpCommand() { return std::make_unique<DumpCommand>(); }

}  // namespace ashlar::cli

// verify: is everything there and undamaged?
//
// Two passes. The first checks the checksum of every block of every table, whether an entry in it is still of use or not. The second reads every
// entry the way a program would, the log included, and checks that keys ascend.
#include "ashlar/comparator.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/database.h"
#include "tools/ashlar/progress.h"

namespace ashlar::cli {
namespace {

struct Counts {
  uint64_t entries = 0;
  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;
};

class VerifyCommand final : public Command {
 public:
  const char* Name() const override { return "verify"; }
  const char* Summary() const override { return "Check every checksum, and read every entry; exit code 5 when something is damaged"; }
  void Declare(OptionSet* /*options*/) override {}

  Outcome Run(const GlobalOptions& global) override {
    std::unique_ptr<Database> database;
    ASHLAR_CLI_RETURN_IF_FAILED(Database::Open(global, Access::kRead, &database));
    std::vector<ColumnFamilyHandle*> families;
    ASHLAR_CLI_RETURN_IF_FAILED(database->ChosenFamilies(&families));
    ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(database->db()->VerifyChecksum(SequentialReadOptions()), "verify: checksums of the tables"));

    const auto writer = MakeRecordWriter(
        global.format, global.Layout({"column_family", "entries", "key_bytes", "value_bytes", "table_files", "table_bytes"}, true), stdout);
    Outcome outcome;
    for (ColumnFamilyHandle* family : families) {
      outcome = VerifyFamily(database->db(), family, writer.get());
      if (!outcome.ok()) break;
    }
    writer->Finish();
    return outcome;
  }

 private:
  static Outcome VerifyFamily(DB* db, ColumnFamilyHandle* family, RecordWriter* writer) {
    Counts counts;
    const std::unique_ptr<Iterator> iterator(db->NewIterator(SequentialReadOptions(), family));
    ASHLAR_CLI_RETURN_IF_FAILED(ReadAll(family, iterator.get(), &counts));
    ColumnFamilyMetaData metadata;
    db->GetColumnFamilyMetaData(family, &metadata);
    writer->Add({EncodeBytes(ByteFormat::kEscape, family->GetName()), counts.entries, counts.key_bytes, counts.value_bytes,
                 uint64_t{metadata.file_count}, metadata.size});
    return {};
  }

  static Outcome ReadAll(ColumnFamilyHandle* family, Iterator* iterator, Counts* counts) {
    Progress progress("verify " + EncodeBytes(ByteFormat::kEscape, family->GetName()), std::nullopt);
    const Comparator* const comparator = family->GetComparator();
    std::string previous;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      const Slice key = iterator->key();
      if (counts->entries > 0 && comparator->Compare(previous, key) >= 0) {
        return {.code = ExitCode::kCorruption,
                .what = "column family " + family->GetName() + ": key number " + std::to_string(counts->entries + 1) +
                        " does not follow the one before it",
                .advice = "the database cannot be trusted; restore it from a backup"};
      }
      previous.assign(key.data(), key.size());
      ++counts->entries;
      counts->key_bytes += key.size();
      counts->value_bytes += iterator->value().size();
      progress.Update(counts->key_bytes + counts->value_bytes, counts->entries);
    }
    return FromStatus(iterator->status(), "verify: column family " + family->GetName() + " after " + std::to_string(counts->entries) + " entries");
  }
};

}  // namespace

std::unique_ptr<Command> MakeVerifyCommand() { return std::make_unique<VerifyCommand>(); }

}  // namespace ashlar::cli

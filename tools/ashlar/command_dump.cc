// dump: every entry of every column family, from one state of the database, as text that load reads back.
//
//   {"ashlar_dump":1,"key_format":"escape","value_format":"escape","column_families":["default"]}      first line of ndjson, the default
//   {"column_family":"default","key":"…","value":"…"}                                                   one for each entry
//   {"ashlar_dump_end":true,"entries":1}                                                                last line: a dump without it is cut short
//
// The other formats hold the entries only.
#include "tools/ashlar/command.h"
#include "tools/ashlar/database.h"
#include "tools/ashlar/progress.h"
#include "tools/common/terminal.h"

namespace ashlar::cli {
namespace {

class DumpCommand final : public Command {
 public:
  const char* Name() const override { return "dump"; }
  const char* Summary() const override { return "Write all entries of all column families, for load --input-format ndjson"; }
  void Declare(OptionSet* /*options*/) override {}

  Outcome Run(const GlobalOptions& global) override {
    ASHLAR_CLI_RETURN_IF_FAILED(RefuseRawValues(global, "dump"));
    std::unique_ptr<Database> database;
    ASHLAR_CLI_RETURN_IF_FAILED(Database::Open(global, Access::kRead, &database));
    std::vector<ColumnFamilyHandle*> families;
    ASHLAR_CLI_RETURN_IF_FAILED(database->ChosenFamilies(&families));
    std::vector<Iterator*> raw_iterators;
    ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(database->db()->NewIterators(SequentialReadOptions(), families, &raw_iterators), "dump"));
    std::vector<std::unique_ptr<Iterator>> iterators(raw_iterators.begin(), raw_iterators.end());

    const OutputFormat format = global.format_given ? global.format : OutputFormat::kNdjson;
    const auto writer = MakeRecordWriter(format, global.Layout({"column_family", "key", "value"}, false), stdout);
    Tally tally;
    if (format == OutputFormat::kNdjson) WriteHeader(global, families);
    for (size_t i = 0; i < families.size(); ++i) {
      const Outcome outcome = DumpFamily(global, families[i]->GetName(), iterators[i].get(), writer.get(), &tally);
      if (!outcome.ok()) {
        writer->Finish();
        return outcome;
      }
    }
    writer->Finish();
    if (format == OutputFormat::kNdjson) (void)fprintf(stdout, "{\"ashlar_dump_end\":true,\"entries\":%s}\n", std::to_string(tally.entries).c_str());
    return {};
  }

 private:
  struct Tally {
    uint64_t entries = 0;
    uint64_t bytes = 0;
    Progress progress{"dump", std::nullopt};
  };

  static ByteFormat KeyFormat(const GlobalOptions& global) { return global.KeyFormatOr(ByteFormat::kEscape); }
  static ByteFormat ValueFormat(const GlobalOptions& global) { return global.ValueFormatOr(ByteFormat::kEscape); }

  static void WriteHeader(const GlobalOptions& global, const std::vector<ColumnFamilyHandle*>& families) {
    std::string names;
    for (const ColumnFamilyHandle* family : families) {
      if (!names.empty()) names += ",";
      names += JsonString(EncodeBytes(ByteFormat::kEscape, family->GetName()));
    }
    const std::string line = "{\"ashlar_dump\":1,\"key_format\":\"" + std::string(NameOf(KeyFormat(global))) + "\",\"value_format\":\"" +
                             std::string(NameOf(ValueFormat(global))) + "\",\"column_families\":[" + names + "]}\n";
    (void)fwrite(line.data(), 1, line.size(), stdout);
  }

  static Outcome DumpFamily(const GlobalOptions& global, const std::string& name, Iterator* iterator, RecordWriter* writer, Tally* tally) {
    const std::string shown_name = EncodeBytes(ByteFormat::kEscape, name);
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      const std::string_view key = iterator->key().ToStringView();
      const std::string_view value = iterator->value().ToStringView();
      writer->Add({shown_name, EncodeBytes(KeyFormat(global), key), EncodeBytes(ValueFormat(global), value)});
      ++tally->entries;
      tally->bytes += key.size() + value.size();
      if (!IsTerminal(stdout)) tally->progress.Update(tally->bytes, tally->entries);
    }
    return FromStatus(iterator->status(), "dump of column family " + name + " stopped after " + std::to_string(tally->entries) + " entries in all");
  }
};

}  // namespace

std::unique_ptr<Command> MakeDumpCommand() { return std::make_unique<DumpCommand>(); }

}  // namespace ashlar::cli

// stats: where the data are. One row for each level that has files, one for what is in memory (the log, read at open), one for the whole.
//
// How many entries a table has stands in the table itself, so each is opened.
#include <memory>
#include <unordered_map>

#include "ashlar/table_properties.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/database.h"

namespace ashlar::cli {
namespace {

struct Amount {
  uint64_t files = 0;
  uint64_t entries = 0;  // deletions included
  uint64_t deletions = 0;
  uint64_t bytes = 0;

  Amount& operator+=(const Amount& other) {
    files += other.files;
    entries += other.entries;
    deletions += other.deletions;
    bytes += other.bytes;
    return *this;
  }
};

uint64_t Property(DB* db, ColumnFamilyHandle* family, const std::string& name) {
  uint64_t value = 0;
  return db->GetIntProperty(family, name, &value) ? value : 0;
}

Amount InMemory(DB* db, ColumnFamilyHandle* family) {
  return {
      .files = 0,
      .entries = Property(db, family, DB::Properties::kNumEntriesActiveMemTable) + Property(db, family, DB::Properties::kNumEntriesImmMemTables),
      .deletions = Property(db, family, DB::Properties::kNumDeletesActiveMemTable) + Property(db, family, DB::Properties::kNumDeletesImmMemTables),
      .bytes = Property(db, family, DB::Properties::kCurSizeAllMemTables)};
}

// By the names of the files, without a directory.
using TablesByName = std::unordered_map<std::string, std::shared_ptr<const TableProperties>>;

Outcome PropertiesOfTables(DB* db, ColumnFamilyHandle* family, TablesByName* tables) {
  TablePropertiesCollection by_path;
  ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(db->GetPropertiesOfAllTables(family, &by_path), "stats of column family " + family->GetName()));
  for (const auto& [path, properties] : by_path) tables->emplace(path.substr(path.rfind('/') + 1), properties);
  return {};
}

Amount InLevel(const LevelMetaData& level, const TablesByName& tables) {
  Amount amount;
  for (const SstFileMetaData& file : level.files) {
    amount.files += 1;
    amount.bytes += file.size;
    const auto properties = tables.find(file.relative_filename);
    if (properties == tables.end()) continue;
    amount.entries += properties->second->num_entries;
    amount.deletions += properties->second->num_deletions;
  }
  return amount;
}

class StatsCommand final : public Command {
 public:
  const char* Name() const override { return "stats"; }
  const char* Summary() const override { return "Show files, entries and bytes of every level"; }
  void Declare(OptionSet* /*options*/) override {}

  Outcome Run(const GlobalOptions& global) override {
    std::unique_ptr<Database> database;
    ASHLAR_CLI_RETURN_IF_FAILED(Database::Open(global, Access::kRead, &database));
    std::vector<ColumnFamilyHandle*> families;
    ASHLAR_CLI_RETURN_IF_FAILED(database->ChosenFamilies(&families));
    const auto writer =
        MakeRecordWriter(global.format, global.Layout({"column_family", "level", "files", "entries", "deletions", "bytes"}, true), stdout);
    Outcome outcome;
    for (ColumnFamilyHandle* family : families) {
      outcome = AddFamily(database->db(), family, writer.get());
      if (!outcome.ok()) break;
    }
    writer->Finish();
    return outcome;
  }

 private:
  static Outcome AddFamily(DB* db, ColumnFamilyHandle* family, RecordWriter* writer) {
    TablesByName tables;
    ASHLAR_CLI_RETURN_IF_FAILED(PropertiesOfTables(db, family, &tables));
    const std::string name = EncodeBytes(ByteFormat::kEscape, family->GetName());
    const auto add = [&](const std::string& level, const Amount& amount) {
      writer->Add({name, level, amount.files, amount.entries, amount.deletions, amount.bytes});
    };
    Amount total = InMemory(db, family);
    if (total.entries > 0) add("memory", total);
    ColumnFamilyMetaData metadata;
    db->GetColumnFamilyMetaData(family, &metadata);
    for (const LevelMetaData& level : metadata.levels) {
      if (level.files.empty()) continue;
      const Amount amount = InLevel(level, tables);
      add(std::to_string(level.level), amount);
      total += amount;
    }
    add("total", total);
    return {};
  }
};

}  // namespace

std::unique_ptr<Command> MakeStatsCommand() { return std::make_unique<StatsCommand>(); }

}  // namespace ashlar::cli

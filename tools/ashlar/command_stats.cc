// stats: shows where the data are. One row for each level that has files, one for memory (the log,
// read at open), one for the total.
//
// For a family that cannot be opened, the levels are those of the MANIFEST, and the entries in the
// log are not counted. Each table is opened, because it stores its number of entries.
#include <algorithm>
#include <memory>

#include "ashlar/inspect.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/database.h"
#include "tools/ashlar/survey.h"

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
  return {.files = 0,
          .entries = Property(db, family, DB::Properties::kNumEntriesActiveMemTable) +
                     Property(db, family, DB::Properties::kNumEntriesImmMemTables),
          .deletions = Property(db, family, DB::Properties::kNumDeletesActiveMemTable) +
                       Property(db, family, DB::Properties::kNumDeletesImmMemTables),
          .bytes = Property(db, family, DB::Properties::kCurSizeAllMemTables)};
}

// open_tables: the tables that the open database keeps readable, even if the program that writes it
// has deleted them. Other tables are opened.
Outcome InLevel(const Survey& survey, const TablePropertiesCollection& open_tables,
                const LevelMetaData& level, const std::string& comparator, Amount* amount) {
  for (const SstFileMetaData& file : level.files) {
    TableProperties properties;
    const auto open = open_tables.find(file.directory + file.name);
    if (open != open_tables.end()) {
      properties = *open->second;
    } else {
      ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(
          ReadTableProperties(survey.db_options, file, comparator, &properties), "stats"));
    }
    *amount += Amount{.files = 1,
                      .entries = properties.num_entries,
                      .deletions = properties.num_deletions,
                      .bytes = file.size};
  }
  return {};
}

// A database whose default family has an unknown comparator is not opened at all.
bool HasUnknownDefault(const Survey& survey) {
  const auto& families = survey.inventory.column_families;
  return std::any_of(families.begin(), families.end(), [](const ColumnFamilyInventory& family) {
    return family.metadata.name == kDefaultColumnFamilyName &&
           KnownComparator(family.comparator) == nullptr;
  });
}

class StatsCommand final : public Command {
 public:
  const char* Name() const override { return "stats"; }
  const char* Summary() const override { return "Show files, entries and bytes of every level"; }
  void Declare(OptionSet* /*options*/) override {}

  Outcome Run(const GlobalOptions& global) override {
    Survey survey;
    ASHLAR_CLI_RETURN_IF_FAILED(ReadSurvey(global, &survey));
    std::vector<const ColumnFamilyInventory*> families;
    ASHLAR_CLI_RETURN_IF_FAILED(survey.ChosenFamilies(global, &families));
    std::unique_ptr<Database> database;
    const Outcome opened = Database::OpenToRead(global, survey, &database);
    const auto writer = MakeRecordWriter(
        global.format,
        global.Layout({"column_family", "level", "files", "entries", "deletions", "bytes"}, true),
        stdout);
    Outcome outcome;
    for (const ColumnFamilyInventory* family : families) {
      ColumnFamilyHandle* const handle =
          database == nullptr ? nullptr : database->FindFamily(family->metadata.name);
      if (handle == nullptr) {
        const Outcome why =
            KnownComparator(family->comparator) == nullptr ? UnknownComparator(*family) : opened;
        global.Warn("the log is not counted for column family " + family->metadata.name + ": " +
                    why.what);
      }
      outcome = AddFamily(survey, *family, handle == nullptr ? nullptr : database->db(), handle,
                          writer.get());
      if (!outcome.ok()) break;
    }
    writer->Finish();
    // Other failures of the open are reported: damage, or a log feature that this release lacks.
    const bool is_expected = opened.code == ExitCode::kNotSupported && HasUnknownDefault(survey);
    return outcome.ok() && !is_expected ? opened : outcome;
  }

 private:
  // db, handle: null if the family is closed.
  static Outcome AddFamily(const Survey& survey, const ColumnFamilyInventory& family, DB* db,
                           ColumnFamilyHandle* handle, RecordWriter* writer) {
    const std::string name = EncodeBytes(ByteFormat::kEscape, family.metadata.name);
    const auto add = [&](const std::string& level, const Amount& amount) {
      writer->Add({name, level, amount.files, amount.entries, amount.deletions, amount.bytes});
    };
    Amount total;
    ColumnFamilyMetaData metadata = family.metadata;
    TablePropertiesCollection open_tables;
    if (handle != nullptr) {
      // The open database may be newer than the survey.
      db->GetColumnFamilyMetaData(handle, &metadata);
      ASHLAR_CLI_RETURN_IF_FAILED(
          FromStatus(db->GetPropertiesOfAllTables(handle, &open_tables), "stats"));
      // An empty memtable also has bytes, but gets no row.
      if (const Amount memory = InMemory(db, handle); memory.entries > 0) {
        add("memory", memory);
        total += memory;
      }
    }
    for (const LevelMetaData& level : metadata.levels) {
      if (level.files.empty()) continue;
      Amount amount;
      ASHLAR_CLI_RETURN_IF_FAILED(InLevel(survey, open_tables, level, family.comparator, &amount));
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

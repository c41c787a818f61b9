// verify: checks that everything exists and is undamaged.
//
//   options   the newest OPTIONS file can be read
//   tables    every block of every table is read, even if its entries are obsolete
//   entries   every entry is read as a program would, including the log; keys ascend
//   logs      could be read to their ends when the database was opened
//
// Damage ends only the check of the table or family that it is in. Findings go to standard error,
// one per line, and are counted at the end. A family has a row of results if all of its entries
// were read.
#include <algorithm>
#include <optional>

#include "ashlar/comparator.h"
#include "ashlar/inspect.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/database.h"
#include "tools/ashlar/progress.h"
#include "tools/ashlar/survey.h"

namespace ashlar::cli {
namespace {

constexpr const char* kDamageAdvice = "restore a backup, or see what 'repair --dry-run' would keep";
constexpr const char* kOptionsAdvice =
    "no entry is lost; a command that writes replaces it with --ignore-damaged-options";

struct Counts {
  uint64_t entries = 0;
  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;
};

// Damage, and checks that were not possible.
class Findings {
 public:
  explicit Findings(const GlobalOptions& global) : global_(global) {}

  // Writes the finding to standard error and keeps the gravest exit code.
  void Add(ExitCode code, const std::string& text) {
    global_.Warn(text);
    if (IsGraver(code, code_)) code_ = code;
    advice_ = kDamageAdvice;
  }
  // Adds the finding about the OPTIONS files. Requires that it is the first finding.
  void AddOptions(ExitCode code, const std::string& text) {
    Add(code, text);
    summary_ = "the newest OPTIONS file cannot be read";
    advice_ = kOptionsAdvice;
  }
  // Adds a count to the summary.
  void Count(uint64_t count, uint64_t of, const std::string& what) {
    if (count == 0) return;
    if (!summary_.empty()) summary_ += "; ";
    summary_ += std::to_string(count) + " of " + std::to_string(of) + " " + what;
  }
  Outcome Summary() const {
    if (code_ == ExitCode::kOk) return {};
    Outcome outcome = {
        .code = code_,
        .what = "verify: " + (summary_.empty() ? std::string("see above") : summary_),
        .advice = {}};
    if (code_ == ExitCode::kCorruption) outcome.advice = advice_;
    return outcome;
  }

 private:
  const GlobalOptions& global_;
  ExitCode code_ = ExitCode::kOk;
  std::string summary_;
  const char* advice_ = "";
};

class VerifyCommand final : public Command {
 public:
  const char* Name() const override { return "verify"; }
  const char* Summary() const override {
    return "Check every checksum, and read every entry; exit code 5 when something is damaged";
  }
  void Declare(OptionSet* /*options*/) override {}

  Outcome Run(const GlobalOptions& global) override {
    Survey survey;
    if (Outcome read = ReadSurvey(global, &survey); !read.ok()) {
      if (read.code == ExitCode::kCorruption) read.advice = kDamageAdvice;  // instead of 'verify'
      return read;
    }
    std::vector<const ColumnFamilyInventory*> families;
    ASHLAR_CLI_RETURN_IF_FAILED(survey.ChosenFamilies(global, &families));
    Findings findings(global);
    VerifyOptions(survey, &findings);
    VerifyTables(global, survey, families, &findings);
    VerifyEntries(global, survey, families, &findings);
    return findings.Summary();
  }

 private:
  static void VerifyOptions(const Survey& survey, Findings* findings) {
    if (survey.options_damage.ok()) return;
    findings->AddOptions(survey.options_damage.code, survey.options_damage.what);
  }

  // ---- Tables.

  static std::string ShownKey(const GlobalOptions& global, const std::string& key) {
    constexpr size_t kBytesMax = 64;
    const std::string shown =
        EncodeBytes(global.KeyFormatOr(ByteFormat::kEscape), key.substr(0, kBytesMax));
    return "\"" + shown + (key.size() > kBytesMax ? "\"..." : "\"");
  }

  static void VerifyTables(const GlobalOptions& global, const Survey& survey,
                           const std::vector<const ColumnFamilyInventory*>& families,
                           Findings* findings) {
    std::optional<Progress> progress;
    uint64_t tables = 0;
    uint64_t bytes = 0;
    uint64_t bytes_total = 0;
    uint64_t bad = 0;
    for (const ColumnFamilyInventory* family : families) bytes_total += family->metadata.size;
    for (const ColumnFamilyInventory* family : families) {
      for (const LevelMetaData& level : family->metadata.levels) {
        for (const SstFileMetaData& file : level.files) {
          if (!progress) progress.emplace("verify tables", bytes_total);
          const Outcome checked =
              FromTable(VerifyTable(survey.db_options, file, family->comparator));
          ++tables;
          bytes += file.size;
          if (checked.ok() || !IsListed(global, *family, file)) {
            progress->Update(bytes, tables);
            continue;
          }
          ++bad;
          progress.reset();  // erases its line
          findings->Add(checked.code, "table " + file.relative_filename + " of column family " +
                                          family->metadata.name + ", level " +
                                          std::to_string(level.level) + ", keys " +
                                          ShownKey(global, file.smallestkey) + " to " +
                                          ShownKey(global, file.largestkey) + ": " + checked.what);
        }
      }
    }
    findings->Count(bad, tables, bad == 1 ? "tables has errors" : "tables have errors");
  }

  // Returns whether the MANIFEST still has the table. A program that has the database open may have
  // replaced and deleted it. Its entries are then read from the new tables.
  static bool IsListed(const GlobalOptions& global, const ColumnFamilyInventory& family,
                       const SstFileMetaData& table) {
    DatabaseInventory now;
    if (!ReadInventory(DBOptions(), global.database, &now).ok()) return true;
    for (const ColumnFamilyInventory& other : now.column_families) {
      if (other.id != family.id) continue;
      for (const LevelMetaData& level : other.metadata.levels) {
        for (const SstFileMetaData& file : level.files) {
          if (file.file_number == table.file_number) return true;
        }
      }
    }
    return false;
  }

  // A table that does not fit the MANIFEST is damage, not a wrong command line.
  static Outcome FromTable(const Status& status) {
    Outcome outcome = FromStatus(status, "");
    if (outcome.code == ExitCode::kUsage) outcome.code = ExitCode::kCorruption;
    if (!outcome.ok()) outcome.what = status.ToString();
    return outcome;
  }

  // ---- Entries.

  static void VerifyEntries(const GlobalOptions& global, Survey survey,
                            const std::vector<const ColumnFamilyInventory*>& families,
                            Findings* findings) {
    survey.options_damage = {};  // already reported
    std::unique_ptr<Database> database;
    const Outcome opened = Database::OpenToRead(global, std::move(survey), &database);
    const auto writer = MakeRecordWriter(
        global.format,
        global.Layout(
            {"column_family", "entries", "key_bytes", "value_bytes", "table_files", "table_bytes"},
            true),
        stdout);
    uint64_t unread = 0;
    for (const ColumnFamilyInventory* family : families) {
      Outcome outcome = opened;
      ColumnFamilyHandle* const handle =
          opened.ok() ? database->FindFamily(family->metadata.name) : nullptr;
      if (KnownComparator(family->comparator) == nullptr) {
        outcome = UnknownComparator(*family);
        outcome.what += "; not checked: the order of its keys, its entries";
      } else if (handle != nullptr) {
        outcome = VerifyFamily(database->db(), handle, writer.get());
      } else if (outcome.ok()) {
        outcome = {.code = ExitCode::kIo,
                   .what = "column family " + family->metadata.name + " was dropped meanwhile",
                   .advice = {}};
      }
      if (outcome.ok()) continue;
      ++unread;
      const bool same_for_all =
          !opened.ok() && unread > 1 && KnownComparator(family->comparator) != nullptr;
      if (same_for_all) continue;
      // A wrong command line fails the open. A later error means that the database is wrong.
      const bool is_refused = outcome.code == ExitCode::kUsage && !opened.ok();
      if (is_refused) outcome.what += "; " + outcome.advice;
      if (outcome.code == ExitCode::kUsage && !is_refused) outcome.code = ExitCode::kCorruption;
      findings->Add(outcome.code, outcome.what);
    }
    writer->Finish();
    findings->Count(unread, families.size(),
                    unread == 1 ? "column families was not read to the end"
                                : "column families were not read to the end");
    if (opened.ok()) VerifyLogs(database->db(), findings);
  }

  // ---- Logs.

  // Their records were read at the open. Reports the records that could not be replayed because of
  // damage.
  static void VerifyLogs(DB* db, Findings* findings) {
    std::string damage;
    if (!db->GetProperty(DB::Properties::kLogDamage, &damage)) return;
    uint64_t losses = 0;
    for (size_t begin = 0; begin < damage.size();) {
      const size_t end = damage.find('\n', begin);
      findings->Add(ExitCode::kCorruption, "log: " + damage.substr(begin, end - begin));
      begin = end + 1;
      ++losses;
    }
    // Opened for writing, the database continues without these bytes and keeps the logs.
    findings->Count(
        losses, losses,
        losses == 1
            ? "gap in the logs (DB/lost gets the log when the database is opened for writing)"
            : "gaps in the logs (DB/lost gets the logs when the database is opened for writing)");
  }

  static Outcome VerifyFamily(DB* db, ColumnFamilyHandle* family, RecordWriter* writer) {
    Counts counts;
    const std::unique_ptr<Iterator> iterator(db->NewIterator(SequentialReadOptions(), family));
    ASHLAR_CLI_RETURN_IF_FAILED(ReadAll(family, iterator.get(), &counts));
    ColumnFamilyMetaData metadata;
    db->GetColumnFamilyMetaData(family, &metadata);
    writer->Add({EncodeBytes(ByteFormat::kEscape, family->GetName()), counts.entries,
                 counts.key_bytes, counts.value_bytes, uint64_t{metadata.file_count},
                 metadata.size});
    return {};
  }

  static Outcome ReadAll(ColumnFamilyHandle* family, Iterator* iterator, Counts* counts) {
    Progress progress("verify " + EncodeBytes(ByteFormat::kEscape, family->GetName()),
                      std::nullopt);
    const Comparator* const comparator = family->GetComparator();
    std::string previous;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      const Slice key = iterator->key();
      if (counts->entries > 0 && comparator->Compare(previous, key) >= 0) {
        return {.code = ExitCode::kCorruption,
                .what = "column family " + family->GetName() + ": key number " +
                        std::to_string(counts->entries + 1) + " does not follow the one before it",
                .advice = "the database cannot be trusted; restore it from a backup"};
      }
      previous.assign(key.data(), key.size());
      ++counts->entries;
      counts->key_bytes += key.size();
      counts->value_bytes += iterator->value().size();
      progress.Update(counts->key_bytes + counts->value_bytes, counts->entries);
    }
    return FromStatus(iterator->status(), "column family " + family->GetName() + " after " +
                                              std::to_string(counts->entries) + " entries");
  }
};

}  // namespace

std::unique_ptr<Command> MakeVerifyCommand() { return std::make_unique<VerifyCommand>(); }

}  // namespace ashlar::cli

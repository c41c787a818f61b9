// load FILE: writes the entries of a file to the database.
//
// Entries are written in batches, each all or nothing. Rejected entries are counted, and the first
// few are reported with their lines. The others are loaded, and the exit code is 3. With --strict,
// the first one ends the load, and the entries before it are in the database.
#include <chrono>

#include "ashlar/write_batch.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/database.h"
#include "tools/ashlar/progress.h"
#include "tools/ashlar/record_reader.h"

namespace ashlar::cli {
namespace {

constexpr size_t kBatchBytesMax = 4 << 20;
constexpr size_t kRejectionsNamedMax = 10;

struct LoadLimits {
  uint64_t batch_entries_max;
  bool sync;
};

// Collects entries and writes them in batches.
class BatchWriter {
 public:
  BatchWriter(Database* database, const LoadLimits& limits) : database_(database), limits_(limits) {
    write_options_.sync = limits.sync;
  }

  // An empty name means the family of the command line.
  Outcome SelectFamily(const std::string& name) {
    if (family_ != nullptr && name == family_name_) return {};
    const Outcome selected =
        name.empty() ? database_->ChosenFamily(&family_) : database_->Family(name, &family_);
    if (!selected.ok()) return FlushBefore(selected);
    family_name_ = name;
    return {};
  }

  Outcome Add(const InputRecord& record) {
    ASHLAR_CLI_RETURN_IF_FAILED(SelectFamily(record.column_family));
    const Outcome put = FromStatus(batch_.Put(family_, record.key, record.value), "load");
    if (!put.ok()) return FlushBefore(put);
    bytes_pending_ += record.key.size() + record.value.size();
    if (batch_.Count() < limits_.batch_entries_max && batch_.GetDataSize() < kBatchBytesMax)
      return {};
    return Flush();
  }

  Outcome Flush() {
    if (batch_.Count() == 0) return {};
    Outcome outcome = FromStatus(database_->db()->Write(write_options_, &batch_),
                                 "load stopped after " + std::to_string(entries_) + " entries");
    if (!outcome.ok()) return outcome;
    entries_ += batch_.Count();
    bytes_ += bytes_pending_;
    bytes_pending_ = 0;
    batch_.Clear();
    return {};
  }

  // Returns the failure of an entry, after writing the entries before it.
  Outcome FlushBefore(const Outcome& failure) {
    ASHLAR_CLI_RETURN_IF_FAILED(Flush());
    return failure;
  }

  uint64_t entries() const { return entries_; }
  uint64_t bytes() const { return bytes_; }

 private:
  Database* const database_;
  const LoadLimits limits_;
  WriteOptions write_options_;
  ColumnFamilyHandle* family_ = nullptr;
  std::string family_name_;
  WriteBatch batch_;
  uint64_t bytes_pending_ = 0;
  uint64_t entries_ = 0;  // written
  uint64_t bytes_ = 0;
};

class LoadCommand final : public Command {
 public:
  const char* Name() const override { return "load"; }
  const char* Summary() const override {
    return "Load the entries of a file: tab-separated, Debian control stanzas, or a dump";
  }

  void Declare(OptionSet* options) override {
    options->Operand("FILE", "The file to load; - means standard input", &file_);
    options->Choice("--input-format",
                    "What the file is: auto (looks at its first line), tsv, deb822, ndjson",
                    {"auto", "tsv", "deb822", "ndjson"}, &input_format_);
    options->Choice(
        "--key", "The keys of control stanzas: package (bash), or package-version (bash=5.2.15-2)",
        {"package", "package-version"}, &stanza_key_);
    options->Number("--batch", "Entries that are written together", &batch_entries_max_);
    options->Number("--record-bytes-max", "Reject longer lines and stanzas", &record_bytes_max_);
    options->Flag("--sync", "Make every batch durable before the next", &sync_);
    options->Flag("--strict", "Stop at the first entry that is rejected", &strict_);
    options->Flag("--no-create", "Do not make the database or a column family when it is missing",
                  &no_create_);
  }

  Outcome Run(const GlobalOptions& global) override {
    if (batch_entries_max_ == 0 || record_bytes_max_ == 0) {
      return {.code = ExitCode::kUsage,
              .what = "--batch and --record-bytes-max must be at least 1",
              .advice = "see ashlar load --help"};
    }
    const auto start = std::chrono::steady_clock::now();
    std::unique_ptr<LineReader> lines;
    ASHLAR_CLI_RETURN_IF_FAILED(LineReader::Open(file_, record_bytes_max_, &lines));
    std::unique_ptr<RecordReader> reader;
    ASHLAR_CLI_RETURN_IF_FAILED(MakeReader(global, lines.get(), &reader));
    std::unique_ptr<Database> database;
    ASHLAR_CLI_RETURN_IF_FAILED(
        Database::Open(global, no_create_ ? Access::kWrite : Access::kWriteAndCreate, &database));

    BatchWriter writer(database.get(), {.batch_entries_max = batch_entries_max_, .sync = sync_});
    Outcome loaded = Load(lines.get(), reader.get(), &writer);
    if (loaded.ok()) loaded = database->Flush();
    Outcome closed = database->Close();
    if (loaded.ok()) loaded = std::move(closed);
    Report(global, writer, lines->bytes_read(),
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return loaded.ok() ? JudgeRejections(lines->name()) : loaded;
  }

 private:
  Outcome MakeReader(const GlobalOptions& global, LineReader* lines,
                     std::unique_ptr<RecordReader>* reader) const {
    RecordReaderOptions options = {.format = InputFormat::kTsv,
                                   .key_format = global.key_format,
                                   .value_format = global.value_format,
                                   .stanza_key = stanza_key_ == "package"
                                                     ? StanzaKey::kPackage
                                                     : StanzaKey::kPackageAndVersion};
    if (const std::optional<InputFormat> named = InputFormatByName(input_format_)) {
      options.format = *named;
    } else {
      ASHLAR_CLI_RETURN_IF_FAILED(DetectInputFormat(lines, &options.format));
    }
    *reader = MakeRecordReader(options, lines);
    return {};
  }

  // Writes the valid entries before a failure, too.
  Outcome Load(LineReader* lines, RecordReader* reader, BatchWriter* writer) {
    Progress progress("load", lines->bytes_total());
    InputRecord record;
    Rejection rejection;
    for (;;) {
      switch (reader->Next(&record, &rejection)) {
        case RecordReader::Result::kRecord:
          ASHLAR_CLI_RETURN_IF_FAILED(writer->Add(record));
          progress.Update(lines->bytes_read(), writer->entries());
          break;
        case RecordReader::Result::kColumnFamily:
          ASHLAR_CLI_RETURN_IF_FAILED(writer->SelectFamily(record.column_family));
          break;
        case RecordReader::Result::kRejected:
          ++rejected_;
          if (rejections_.size() < kRejectionsNamedMax) rejections_.push_back(rejection);
          if (strict_) return writer->Flush();
          break;
        case RecordReader::Result::kEnd: return writer->Flush();
        case RecordReader::Result::kError:
          ASHLAR_CLI_RETURN_IF_FAILED(writer->Flush());
          return lines->Error();
      }
    }
  }

  void Report(const GlobalOptions& global, const BatchWriter& writer, uint64_t input_bytes,
              double seconds) const {
    const double rate = seconds > 0 ? 1 / seconds : 0;
    WriteObject(global.format,
                {{"entries", writer.entries()},
                 {"rejected", rejected_},
                 {"input_bytes", input_bytes},
                 {"entry_bytes", writer.bytes()},
                 {"seconds", seconds},
                 {"entries_per_second",
                  static_cast<uint64_t>(static_cast<double>(writer.entries()) * rate)},
                 {"megabytes_per_second", static_cast<double>(writer.bytes()) * rate / 1e6}},
                stdout);
  }

  Outcome JudgeRejections(const std::string& name) const {
    if (rejected_ == 0) return {};
    std::string what;
    for (const Rejection& rejection : rejections_) {
      if (!what.empty()) what += "\n        ";
      what +=
          name + ":" + std::to_string(rejection.line_number) + ": rejected: " + rejection.reason;
    }
    if (rejected_ > rejections_.size())
      what += "\n        and " + std::to_string(rejected_ - rejections_.size()) + " more";
    return {.code = ExitCode::kBadInput,
            .what = what,
            .advice = strict_ ? "the entries before it were loaded" : "everything else was loaded"};
  }

  std::string file_;
  std::string input_format_ = "auto";
  std::string stanza_key_ = "package";
  uint64_t batch_entries_max_ = 1000;
  uint64_t record_bytes_max_ = 64 << 20;
  bool sync_ = false;
  bool strict_ = false;
  bool no_create_ = false;

  uint64_t rejected_ = 0;
  std::vector<Rejection> rejections_;  // the first few
};

}  // namespace

std::unique_ptr<Command> MakeLoadCommand() { return std::make_unique<LoadCommand>(); }

}  // namespace ashlar::cli

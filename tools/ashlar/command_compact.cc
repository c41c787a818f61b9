// compact: flushes, then merges tables down to the last level, to reclaim the space of overwritten
// and deleted entries.
#include <chrono>

#include "tools/ashlar/command.h"
#include "tools/ashlar/database.h"

namespace ashlar::cli {
namespace {

class CompactCommand final : public Command {
 public:
  const char* Name() const override { return "compact"; }
  const char* Summary() const override {
    return "Merge the tables, and free the space of overwritten and deleted entries";
  }

  void Declare(OptionSet* options) override {
    options->Text("--from", "Only keys from this one", &from_);
    options->Text("--to", "Only keys up to this one", &to_);
    options->Flag("--rewrite", "Also write the last level anew where nothing in it has changed",
                  &rewrite_);
  }

  Outcome Run(const GlobalOptions& global) override {
    const ByteFormat format = global.KeyFormatOr(ByteFormat::kEscape);
    std::string from;
    std::string to;
    if (from_) ASHLAR_CLI_RETURN_IF_FAILED(DecodeOperand(format, *from_, "--from", &from));
    if (to_) ASHLAR_CLI_RETURN_IF_FAILED(DecodeOperand(format, *to_, "--to", &to));
    std::unique_ptr<Database> database;
    ASHLAR_CLI_RETURN_IF_FAILED(Database::Open(global, Access::kWrite, &database));
    std::vector<ColumnFamilyHandle*> families;
    ASHLAR_CLI_RETURN_IF_FAILED(database->ChosenFamilies(&families));

    const Slice first(from);
    const Slice last(to);
    const auto writer =
        MakeRecordWriter(global.format,
                         global.Layout({"column_family", "files_before", "bytes_before",
                                        "files_after", "bytes_after", "seconds"},
                                       true),
                         stdout);
    Outcome outcome;
    for (ColumnFamilyHandle* family : families) {
      outcome = CompactFamily(database->db(), family,
                              {.first = from_ ? &first : nullptr, .last = to_ ? &last : nullptr},
                              writer.get());
      if (!outcome.ok()) break;
    }
    writer->Finish();
    Outcome closed = database->Close();
    return outcome.ok() ? closed : outcome;
  }

 private:
  struct KeyRange {
    const Slice* first;  // null: from the first key
    const Slice* last;   // null: to the last key
  };

  Outcome CompactFamily(DB* db, ColumnFamilyHandle* family, const KeyRange& range,
                        RecordWriter* writer) const {
    const std::string doing = "compact of column family " + family->GetName();
    const auto start = std::chrono::steady_clock::now();
    ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(db->Flush(FlushOptions(), family), doing));
    ColumnFamilyMetaData before;
    db->GetColumnFamilyMetaData(family, &before);
    CompactRangeOptions options;
    if (rewrite_) options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASHLAR_CLI_RETURN_IF_FAILED(
        FromStatus(db->CompactRange(options, family, range.first, range.last), doing));
    ColumnFamilyMetaData after;
    db->GetColumnFamilyMetaData(family, &after);
    writer->Add({EncodeBytes(ByteFormat::kEscape, family->GetName()), uint64_t{before.file_count},
                 before.size, uint64_t{after.file_count}, after.size,
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()});
    return {};
  }

  std::optional<std::string> from_;
  std::optional<std::string> to_;
  bool rewrite_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeCompactCommand() { return std::make_unique<CompactCommand>(); }

}  // namespace ashlar::cli

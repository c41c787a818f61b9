// scan: entries in key order.
//
//   --from KEY     the first key            --prefix P   only keys that begin with P
//   --to KEY       ends before this key     --reverse    from the last to the first
#include <limits>

#include "platform/program.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/database.h"

namespace ashlar::cli {
namespace {

// Returns the smallest key above every key with the prefix, bytewise, or nothing if there is none.
std::optional<std::string> KeyAfterPrefix(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xFF') prefix.pop_back();
  if (prefix.empty()) return std::nullopt;
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

class ScanCommand final : public Command {
 public:
  const char* Name() const override { return "scan"; }
  const char* Summary() const override { return "Show entries in key order"; }

  void Declare(OptionSet* options) override {
    options->Text("--from", "Start at this key", &from_);
    options->Text("--to", "End before this key", &to_);
    options->Text("--prefix", "Only keys that begin with this", &prefix_);
    options->Number("--limit", "At most this many entries; 0: all", &limit_);
    options->Flag("--reverse", "From the last key to the first", &reverse_);
    options->Flag("--keys-only", "Show no values", &keys_only_);
    options->Flag("--values-only",
                  "Show no keys; with --value-format raw, bytes and nothing between them",
                  &values_only_);
    options->Flag("--count", "Show only how many entries there are", &count_);
  }

  Outcome Run(const GlobalOptions& global) override {
    if (keys_only_ + values_only_ + count_ > 1) {
      return {.code = ExitCode::kUsage,
              .what = "--keys-only, --values-only and --count exclude each other",
              .advice = "see ashlar scan --help"};
    }
    ASHLAR_CLI_RETURN_IF_FAILED(CheckRaw(global));
    std::unique_ptr<Database> database;
    ASHLAR_CLI_RETURN_IF_FAILED(Database::Open(global, Access::kRead, &database));
    ColumnFamilyHandle* family = nullptr;
    ASHLAR_CLI_RETURN_IF_FAILED(database->ChosenFamily(&family));
    Bounds bounds;
    ASHLAR_CLI_RETURN_IF_FAILED(MakeBounds(global, family->GetComparator(), &bounds));
    return Scan(global, database->db(), family, bounds);
  }

 private:
  struct Bounds {
    std::optional<std::string> lower;
    std::optional<std::string> upper;  // excluded
  };

  Outcome CheckRaw(const GlobalOptions& global) const {
    if (global.value_format != ByteFormat::kRaw) return {};
    if (!values_only_ || global.format != OutputFormat::kTable)
      return RefuseRawValues(global, "scan without --values-only, or as JSON or CSV,");
    if (!IsTerminal(stdout)) return {};
    return {.code = ExitCode::kUsage,
            .what = "raw values are not written to a terminal, which could obey them",
            .advice = "send them to a file or a pipe, or use --value-format text"};
  }

  Outcome MakeBounds(const GlobalOptions& global, const Comparator* comparator,
                     Bounds* bounds) const {
    const ByteFormat format = global.KeyFormatOr(ByteFormat::kEscape);
    if (from_)
      ASHLAR_CLI_RETURN_IF_FAILED(
          DecodeOperand(format, *from_, "--from", &bounds->lower.emplace()));
    if (to_)
      ASHLAR_CLI_RETURN_IF_FAILED(DecodeOperand(format, *to_, "--to", &bounds->upper.emplace()));
    if (!prefix_) return {};
    // In another order, the keys with a prefix may be anywhere.
    if (std::string_view(comparator->Name()) != BytewiseComparator()->Name()) {
      return {.code = ExitCode::kNotSupported,
              .what = std::string("--prefix needs bytewise order, and this column family has ") +
                      comparator->Name(),
              .advice = "use --from and --to"};
    }
    std::string prefix;
    ASHLAR_CLI_RETURN_IF_FAILED(DecodeOperand(format, *prefix_, "--prefix", &prefix));
    if (!bounds->lower || *bounds->lower < prefix) bounds->lower = prefix;
    const std::optional<std::string> after = KeyAfterPrefix(prefix);
    if (after && (!bounds->upper || *after < *bounds->upper)) bounds->upper = after;
    return {};
  }

  Outcome Scan(const GlobalOptions& global, DB* db, ColumnFamilyHandle* family,
               const Bounds& bounds) const {
    // Named variables, because the iterator points to the slices, which point to the bytes.
    const Slice lower_bound = bounds.lower ? Slice(*bounds.lower) : Slice();
    const Slice upper_bound = bounds.upper ? Slice(*bounds.upper) : Slice();
    ReadOptions read_options = SequentialReadOptions();
    if (bounds.lower) read_options.iterate_lower_bound = &lower_bound;
    if (bounds.upper) read_options.iterate_upper_bound = &upper_bound;
    const std::unique_ptr<Iterator> iterator(db->NewIterator(read_options, family));

    const std::unique_ptr<RecordWriter> writer =
        count_ || IsRaw(global) ? nullptr : MakeWriter(global);
    uint64_t entries = 0;
    const uint64_t entries_max = limit_ == 0 ? std::numeric_limits<uint64_t>::max() : limit_;
    for (reverse_ ? iterator->SeekToLast() : iterator->SeekToFirst();
         iterator->Valid() && entries < entries_max;
         reverse_ ? iterator->Prev() : iterator->Next()) {
      ++entries;
      if (writer != nullptr) {
        writer->Add(MakeRow(global, *iterator));
      } else if (!count_) {
        (void)fwrite(iterator->value().data(), 1, iterator->value().size(), stdout);
      }
    }
    if (writer != nullptr) writer->Finish();
    ASHLAR_CLI_RETURN_IF_FAILED(FromStatus(
        iterator->status(), "scan stopped after " + std::to_string(entries) + " entries"));
    if (count_) WriteObject(global.format, {{"entries", entries}}, stdout);
    return {};
  }

  static bool IsRaw(const GlobalOptions& global) { return global.value_format == ByteFormat::kRaw; }

  std::unique_ptr<RecordWriter> MakeWriter(const GlobalOptions& global) const {
    std::vector<std::string> columns;
    if (!values_only_) columns.push_back("key");
    if (!keys_only_) columns.push_back("value");
    return MakeRecordWriter(global.format, global.Layout(std::move(columns), false), stdout);
  }

  Row MakeRow(const GlobalOptions& global, const Iterator& iterator) const {
    Row row;
    if (!values_only_)
      row.emplace_back(
          EncodeBytes(global.KeyFormatOr(ByteFormat::kEscape), iterator.key().ToStringView()));
    if (!keys_only_)
      row.emplace_back(
          EncodeBytes(global.ValueFormatOr(ByteFormat::kEscape), iterator.value().ToStringView()));
    return row;
  }

  std::optional<std::string> from_;
  std::optional<std::string> to_;
  std::optional<std::string> prefix_;
  uint64_t limit_ = 0;
  bool reverse_ = false;
  bool keys_only_ = false;
  bool values_only_ = false;
  bool count_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeScanCommand() { return std::make_unique<ScanCommand>(); }

}  // namespace ashlar::cli

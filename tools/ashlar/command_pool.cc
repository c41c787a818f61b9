// pool: looks into the pool file of a persistent tree. It has no --db.
//
// Like every open, this finishes an operation that a crash interrupted. Any other pool stays
// unchanged.
#include <chrono>
#include <thread>

#include "ashlar/comparator.h"
#include "ashlar/persistent_tree.h"
#include "platform/file.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/entry_dump.h"

namespace ashlar::cli {
namespace {

// Inserts a dump's entries for load.
constexpr const char* kFamily = "default";

Outcome ForPool(Outcome outcome) {
  if (outcome.code == ExitCode::kCorruption)
    outcome.advice =
        "restore the pool, and its log, from a copy; 'pool dump' writes what can still be read";
  if (outcome.code == ExitCode::kNotSupported)
    outcome.advice =
        "the pool was left as it was; use the program that wrote it, or a newer release";
  return outcome;
}

Outcome OpenPool(const std::string& path, std::unique_ptr<PersistentTree>* tree) {
  if (GetFileInfo(path).status().IsPathNotFound()) {
    return {.code = ExitCode::kIo,
            .what = "cannot open " + path + ": there is no such file",
            .advice = "name the pool file of a persistent tree"};
  }
  PersistentTreeOptions options;
  // No log is made next to the pool, because nothing will be written.
  options.durability = DurabilityClass::kProcessCrashOnly;
  Status first;
  for (const Comparator* const comparator : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    options.comparator = comparator;
    const Status status = PersistentTree::Open(options, path, tree);
    // Another comparator also gets InvalidArgument.
    if (!status.IsInvalidArgument()) {
      Outcome outcome = ForPool(FromStatus(status, "cannot open " + path));
      if (status.IsCorruption()) outcome.advice = "restore the pool, and its log, from a copy";
      return outcome;
    }
    if (first.ok()) first = status;
  }
  return FromStatus(first, "cannot open " + path);
}

class PoolCommand final : public Command {
 public:
  const char* Name() const override { return "pool"; }
  const char* Summary() const override {
    return "Check a persistent tree's pool file, show its figures, or write all its entries";
  }
  bool NeedsDatabase() const override { return false; }
  void Declare(OptionSet* options) override {
    options->Choice("ACTION",
                    "check: read everything, exit code 5 when something is damaged; stats: sizes "
                    "and counts; dump: all entries, for load",
                    {"check", "stats", "dump"}, &action_);
    options->Operand("PATH", "The pool file", &path_);
  }

  Outcome Run(const GlobalOptions& global) override {
    if (action_ == "dump") ASHLAR_CLI_RETURN_IF_FAILED(RefuseRawValues(global, "pool dump"));
    std::unique_ptr<PersistentTree> tree;
    ASHLAR_CLI_RETURN_IF_FAILED(OpenPool(path_, &tree));
    if (action_ == "check") return Check(global, tree.get());
    return action_ == "stats" ? ShowStats(global, tree.get()) : Dump(global, tree.get());
  }

 private:
  Outcome Check(const GlobalOptions& global, PersistentTree* tree) const {
    ASHLAR_CLI_RETURN_IF_FAILED(ForPool(FromStatus(tree->Verify(), "check of " + path_)));
    const PersistentTreeStats stats = tree->Stats();
    WriteObject(
        global.format,
        {{"entries", stats.entries}, {"leaves", stats.leaves}, {"pool_bytes", stats.pool_bytes}},
        stdout);
    return {};
  }

  static Outcome ShowStats(const GlobalOptions& global, PersistentTree* tree) {
    // Free space is counted in the background.
    PersistentTreeStats stats = tree->Stats();
    for (; !stats.free_space_known; stats = tree->Stats())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    WriteObject(global.format,
                {{"comparator", EncodeBytes(ByteFormat::kEscape, tree->comparator()->Name())},
                 {"entries", stats.entries},
                 {"leaves", stats.leaves},
                 {"pool_bytes", stats.pool_bytes},
                 {"used_bytes", stats.used_bytes},
                 {"free_bytes", stats.free_bytes}},
                stdout);
    return {};
  }

  static Outcome Dump(const GlobalOptions& global, PersistentTree* tree) {
    EntryDump dump(global, {kFamily});
    ReadOptions options;
    options.verify_checksums = true;
    const Outcome outcome = ForPool(dump.Add(kFamily, tree->NewIterator(options).get()));
    dump.Finish(outcome.ok());
    return outcome;
  }

  std::string action_;
  std::string path_;
};

}  // namespace

std::unique_ptr<Command> MakePoolCommand() { return std::make_unique<PoolCommand>(); }

}  // namespace ashlar::cli

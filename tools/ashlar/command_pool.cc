// pool: inspects the pool file of a persistent tree. It has no --db.
//
// Like every open, this finishes an operation that a crash interrupted. Any other pool stays
// unchanged.
#include <chrono>
#include <optional>
#include <thread>

#include "ashlar/comparator.h"
#include "ashlar/persistent_tree.h"
#include "ashlar/write_batch.h"
#include "platform/file.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/entry_dump.h"

namespace ashlar::cli {
namespace {

// The family into which load inserts a dump's entries.
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

Status OpenWith(const Comparator* comparator, const std::string& path,
                std::unique_ptr<PersistentTree>* tree) {
  PersistentTreeOptions options;
  options.comparator = comparator;
  // The open finishes a batch that a crash interrupted. On persistent memory its lines must be
  // flushed in order, because a power cut could leave a part of it.
  options.durability = DurabilityClass::kCpuFlush;
  const Status status = PersistentTree::Open(options, path, tree);
  if (!status.IsNotSupported()) return status;
  // The file is on a disk. No log is made next to the pool, because nothing will be written.
  options.durability = DurabilityClass::kProcessCrashOnly;
  return PersistentTree::Open(options, path, tree);
}

Outcome OpenPool(const std::string& path, std::unique_ptr<PersistentTree>* tree) {
  if (GetFileInfo(path).status().IsPathNotFound()) {
    return {.code = ExitCode::kIo,
            .what = "cannot open " + path + ": there is no such file",
            .advice = "name the pool file of a persistent tree"};
  }
  Status first;
  for (const Comparator* const comparator : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    const Status status = OpenWith(comparator, path, tree);
    // A wrong comparator also causes InvalidArgument.
    if (!status.IsInvalidArgument()) {
      Outcome outcome = ForPool(FromStatus(status, "cannot open " + path));
      if (status.IsCorruption()) outcome.advice = "restore the pool, and its log, from a copy";
      return outcome;
    }
    if (first.ok()) first = status;
  }
  return FromStatus(first, "cannot open " + path);
}

// Writes the entries that can be read. An iterator ends at damage, so the entries after it are read
// without checksums, and each is looked up, which verifies it alone. If a leaf cannot be read, none
// of its entries is written, and the entries to its right are read from the end.
class SoundEntries {
 public:
  SoundEntries(PersistentTree* tree, EntryDump* dump) : tree_(*tree), dump_(*dump) {
    verified_.verify_checksums = true;
    unverified_.verify_checksums = false;
  }

  // Returns the first damage, or the error that stopped the writing.
  Status Write() {
    Status status = WriteUntilDamage();
    if (status.IsCorruption() && !WriteOverDamage()) WriteFromEnd();
    return status;
  }

 private:
  Status WriteUntilDamage() {
    const std::unique_ptr<Iterator> it = tree_.NewIterator(verified_);
    for (it->SeekToFirst(); it->Valid(); it->Next()) Add(*it);
    return it->status();
  }
  // Returns false if it meets a leaf that cannot be read.
  bool WriteOverDamage() {
    const std::unique_ptr<Iterator> it = tree_.NewIterator(unverified_);
    if (last_) {
      it->Seek(*last_);
      if (it->Valid()) it->Next();
    } else {
      it->SeekToFirst();
    }
    for (; it->Valid(); it->Next()) {
      if (IsSound(*it)) Add(*it);
    }
    return it->status().ok();
  }
  // Writes entries in descending order.
  void WriteFromEnd() {
    const std::unique_ptr<Iterator> it = tree_.NewIterator(unverified_);
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
      if (!IsSound(*it)) continue;
      if (last_ && tree_.comparator()->Compare(it->key(), *last_) <= 0) return;
      dump_.AddEntry(kFamily, *it);
    }
  }
  void Add(const Iterator& it) {
    dump_.AddEntry(kFamily, it);
    last_ = it.key().ToString();
  }
  bool IsSound(const Iterator& it) const {
    PinnableSlice value;
    return tree_.Get(verified_, it.key(), &value).ok() && value == it.value();
  }

  PersistentTree& tree_;
  EntryDump& dump_;
  ReadOptions verified_;
  ReadOptions unverified_;
  std::optional<std::string> last_;  // key that was written in ascending order
};

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

  Outcome ShowStats(const GlobalOptions& global, PersistentTree* tree) const {
    // Free space is counted in the background.
    PersistentTreeStats stats = tree->Stats();
    for (; !stats.free_space_known; stats = tree->Stats())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    // Changes nothing. Fails if the count ended at damage, because the figures would be wrong.
    ASHLAR_CLI_RETURN_IF_FAILED(
        ForPool(FromStatus(tree->Write(WriteBatch()), "figures of " + path_)));
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

  Outcome Dump(const GlobalOptions& global, PersistentTree* tree) const {
    EntryDump dump(global, {kFamily});
    const Status status = SoundEntries(tree, &dump).Write();
    const std::string entries = std::to_string(dump.entries()) + " entries";
    const Outcome outcome = ForPool(FromStatus(
        status, "dump of " + path_ +
                    (status.IsCorruption() ? " leaves out what is damaged, and has " + entries
                                           : " stopped after " + entries)));
    dump.Finish(outcome.ok());
    return outcome;
  }

  std::string action_;
  std::string path_;
};

}  // namespace

std::unique_ptr<Command> MakePoolCommand() { return std::make_unique<PoolCommand>(); }

}  // namespace ashlar::cli

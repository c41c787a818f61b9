#include "compact/run/compaction_job.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "ashlar/table_properties.h"
#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "compact/run/deletions_cursor.h"
#include "iterate/level_cursor.h"
#include "iterate/merging_cursor.h"
#include "platform/clock.h"
#include "platform/thread.h"

namespace ashlar {

namespace {

// The pieces per file and wanted range. More pieces make the ranges more even.
constexpr size_t kPiecesPerRange = 8;
constexpr size_t kPiecesMax = 256;

struct KeyRange {
  std::optional<std::string> begin;  // user keys: [begin, end)
  std::optional<std::string> end;
};

// One range of a compaction, from cursors to files. Runs on a thread of its own or on the caller's.
class Subcompaction {
 public:
  // job: the caller's args, with the plan's decisions.
  Subcompaction(const CompactionJobArgs& args, const TableJobArgs& job, int number, KeyRange range)
      : plan_(*args.plan),
        job_(job),
        observer_(args.observer),
        number_(number),
        range_(std::move(range)) {
    if (range_.begin) begin_ = *range_.begin;
    if (range_.end) end_ = *range_.end;
  }

  void Run() {
    const uint64_t start_nanos = job_.clock->NowNanos();
    const uint64_t start_cpu_nanos = ThreadCpuNanos();
    status_ = CatchBadAlloc([this] {
      if (observer_ != nullptr) observer_->SubcompactionBegun(plan_, number_);
      return RunRange();
    });
    TableJobStatistics& statistics = result_.statistics;
    statistics.cpu_micros = (ThreadCpuNanos() - start_cpu_nanos) / 1000;
    statistics.micros = (job_.clock->NowNanos() - start_nanos) / 1000;
    statistics.CountFiles(result_.files);
    if (observer_ == nullptr) return;
    IgnoreBadAlloc([&] { observer_->SubcompactionEnded(plan_, number_, statistics, status_); });
  }

  const Status& status() const { return status_; }
  TableJobResult& result() { return result_; }
  // The number of input entries that no table holds: deletions made from range tombstones.
  uint64_t deletions_of_ranges() const { return deletions_of_ranges_; }

 private:
  Status RunRange() {
    std::optional<CompactionRanges> ranges;
    std::vector<std::string> deletions;
    ASHLAR_RETURN_IF_ERROR(CollectRanges(&ranges, &deletions));
    deletions_of_ranges_ = deletions.size();
    ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<InternalCursor> input,
                            OpenInputs(std::move(deletions)));
    CompactionTurn turn(*job_.turns, *job_.clock);
    KeyNotBelow not_below(job_.output.table.comparator, plan_.older);
    const TableRun run{.begin = begin(),
                       .end = end(),
                       .zero_sequences = plan_.bottommost,
                       .not_below = plan_.older_unknown ? nullptr : &not_below,
                       .ranges = ranges ? &*ranges : nullptr,
                       .turn = &turn};
    return RunTableLoop(job_, run, input.get(), &result_);
  }

  Result<std::unique_ptr<InternalCursor>> OpenInputs(std::vector<std::string> deletions) {
    const TableReadOptions options{.fill_cache = false,
                                   .readahead_bytes = job_.readahead_bytes,
                                   .input_reads = &job_.input_reads};
    std::vector<std::unique_ptr<InternalCursor>> children;
    for (const CompactionInputs& inputs : plan_.inputs) {
      if (IsSorted(inputs.level)) {
        children.push_back(std::make_unique<LevelCursor>(
            LevelCursorArgs{.comparator = job_.output.table.comparator,
                            .files = inputs.files,
                            .opener = job_.tables,
                            .read_options = options,
                            .lower_bound = begin(),
                            .upper_bound = end()}));
        continue;
      }
      for (FileMetaData* file : inputs.files) {
        if (!Overlaps(*file)) continue;
        ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<InternalCursor> cursor,
                                job_.tables->NewCursor(file, options));
        children.push_back(std::move(cursor));
      }
    }
    if (!deletions.empty())
      children.push_back(
          std::make_unique<DeletionsCursor>(job_.output.table.comparator, std::move(deletions)));
    return NewMergingCursor(job_.output.table.comparator, std::move(children));
  }

  // *ranges stays empty if the inputs have no range tombstones here. deletions: internal keys.
  Status CollectRanges(std::optional<CompactionRanges>* ranges,
                       std::vector<std::string>* deletions) const {
    std::vector<TableRef> tables;  // the tombstones refer to their keys
    MetTombstones tombstones(job_.snapshots);
    for (const CompactionInputs& inputs : plan_.inputs) {
      for (FileMetaData* file : inputs.files) {
        if (!Overlaps(*file) || file->has_ranges == HasRanges::kNo) continue;
        ASHLAR_ASSIGN_OR_RETURN(TableRef table, job_.tables->Acquire(file, {}));
        tombstones.Add(table->file_ranges().before_largest());
        tables.push_back(std::move(table));
      }
    }
    if (!tombstones.IsEmpty()) {
      ranges->emplace(CompactionRanges::Args{.comparator = job_.output.table.comparator,
                                             .snapshots = job_.snapshots,
                                             .older = plan_.older_unknown ? nullptr : &plan_.older,
                                             .begin = begin(),
                                             .end = end()},
                      tombstones.Take());
    }
    for (const TableRef& table : tables)
      AppendDeletions(table->file_ranges(), ranges->has_value() ? &**ranges : nullptr, deletions);
    return Status::OK();
  }

  // I2 of file_ranges.h: the largest key of a file needs deletions, unless the tombstones of the
  // next file begin at that key.
  void AppendDeletions(const FileRanges& file, const CompactionRanges* ranges,
                       std::vector<std::string>* deletions) const {
    for (const SequenceNumber sequence : file.largest_sequences()) {
      const Slice key = file.largest();
      if (end() != nullptr && job_.output.table.comparator.Compare(key, end_) >= 0) return;
      if (ranges == nullptr || !ranges->Replace(key, sequence))
        deletions->push_back(MakeInternalKey(key, sequence, ValueType::kDeletion));
    }
  }

  bool Overlaps(const FileMetaData& file) const {
    const KeyComparator& comparator = job_.output.table.comparator;
    if (begin() != nullptr && comparator.Compare(file.largest_user_key(), begin_) < 0) return false;
    return end() == nullptr || comparator.Compare(file.smallest_user_key(), end_) < 0;
  }
  const Slice* begin() const { return range_.begin ? &begin_ : nullptr; }
  const Slice* end() const { return range_.end ? &end_ : nullptr; }

  const CompactionPlan& plan_;
  const TableJobArgs& job_;
  SubcompactionObserver* const observer_;  // null: none
  const int number_;
  const KeyRange range_;
  Slice begin_;
  Slice end_;
  TableJobResult result_;
  uint64_t deletions_of_ranges_ = 0;
  Status status_;
};

size_t WantedRanges(const CompactionPlan& plan) {
  ASHLAR_ASSERT(plan.max_subcompactions >= 1);  // the first runs on the calling thread
  const uint64_t bytes_min = std::max<uint64_t>(1, plan.max_output_file_bytes);
  return static_cast<size_t>(
      std::clamp<uint64_t>(plan.InputBytes() / bytes_min, 1, plan.max_subcompactions));
}

Result<std::vector<KeyRange>> PlanRanges(const CompactionJobArgs& args) {
  std::vector<KeyRange> ranges(1);
  const size_t wanted = WantedRanges(*args.plan);
  if (wanted == 1) return ranges;
  ASHLAR_ASSIGN_OR_RETURN(
      const std::vector<std::string> cuts,
      SplitRanges(*args.plan, wanted, args.job.output.table.comparator, args.job.tables));
  for (const std::string& cut : cuts) {
    ASHLAR_ASSERT(!ranges.back().begin ||
                  args.job.output.table.comparator.Compare(*ranges.back().begin, cut) < 0);  // I1
    ranges.back().end = cut;
    ranges.push_back({.begin = cut, .end = std::nullopt});
  }
  return ranges;
}

// The caller's args with the plan's decisions.
TableJobArgs ArgsFor(const CompactionJobArgs& args) {
  TableJobArgs job = args.job;
  const CompactionPlan& plan = *args.plan;
  ASHLAR_ASSERT(!plan.inputs.empty() && plan.max_output_file_bytes > 0);  // CheckPlanInvariants
  job.output.target_file_bytes = plan.max_output_file_bytes;
  job.output.grandparents = plan.grandparents;
  job.output.max_grandparent_overlap_bytes = plan.max_grandparent_overlap_bytes;
  job.output.table.compression = plan.compression;
  uint64_t oldest = UINT64_MAX;
  for (const CompactionInputs& inputs : plan.inputs) {
    for (const FileMetaData* file : inputs.files) {
      if (file->oldest_ancestor_unix_seconds != 0)
        oldest = std::min(oldest, file->oldest_ancestor_unix_seconds);
    }
  }
  job.output.oldest_ancestor_unix_seconds = oldest == UINT64_MAX ? 0 : oldest;
  return job;
}

// Runs all parts, the first on this thread and the others concurrently. `failed` stops those that
// still run.
void RunAll(const std::vector<std::unique_ptr<Subcompaction>>& parts, std::atomic<bool>* failed) {
  const auto run = [failed](Subcompaction* part) {
    part->Run();
    if (!part->status().ok()) failed->store(true, std::memory_order_relaxed);
  };
  ASHLAR_ASSERT(!parts.empty());  // PlanRanges gives at least one
  std::vector<Thread> threads;
  std::vector<Subcompaction*> here{parts.front().get()};
  threads.reserve(parts.size());
  here.reserve(parts.size());
  for (size_t i = 1; i < parts.size(); ++i) {
    Subcompaction* part = parts[i].get();
    const Status started = CatchBadAlloc([&]() -> Status {
      ASHLAR_ASSIGN_OR_RETURN(
          Thread thread,
          Thread::Start({.name = "ashlar:subcomp", .priority = ThreadPriority::kBackground},
                        [run, part] { run(part); }));
      threads.push_back(std::move(thread));
      return Status::OK();
    });
    if (!started.ok()) here.push_back(part);
  }
  for (Subcompaction* part : here) run(part);
  for (Thread& thread : threads) thread.Join();
}

// The first error that is a cause, not the stop that follows another error.
Status FirstError(const std::vector<std::unique_ptr<Subcompaction>>& parts) {
  // MemoryLimit is a cause, though its code is kAborted.
  const auto follows = [](const Status& status) {
    return status.code() == Status::kAborted && !status.IsMemoryLimit();
  };
  Status first;
  for (const auto& part : parts) {
    if (!part->status().ok() && (first.ok() || follows(first))) first = part->status();
  }
  return first;
}

// I1. Requires: all have succeeded.
void CheckDisjoint(const std::vector<std::unique_ptr<Subcompaction>>& parts,
                   const KeyComparator& comparator) {
  const FileMetaData* last = nullptr;
  for (const auto& part : parts) {
    const auto& files = part->result().files;
    if (files.empty()) continue;
    ASHLAR_ASSERT(last == nullptr ||
                  last->EndsBefore(comparator, files.front()->smallest_user_key()));  // I1
    last = files.back().get();
  }
}

void Gather(std::vector<std::unique_ptr<Subcompaction>>* parts, TableJobResult* result) {
  size_t files = 0;
  for (const auto& part : *parts) files += part->result().files.size();
  result->files.reserve(files);
  for (auto& part : *parts) {
    TableJobResult& own = part->result();
    result->statistics.entries.Add(own.statistics.entries);
    result->statistics.bytes_written += own.statistics.bytes_written;
    result->statistics.file_times.Add(own.statistics.file_times);
    result->statistics.cpu_micros += own.statistics.cpu_micros;
    std::move(own.files.begin(), own.files.end(), std::back_inserter(result->files));
    own.files.clear();
  }
}

// I2.
void KeepPlaceInLevel0(const CompactionPlan& plan, TableJobResult* result) {
  if (IsSorted(plan.output_level)) return;
  for (const CompactionInputs& inputs : plan.inputs) {
    for (const FileMetaData* input : inputs.files) {
      if (input->largest_sequence == 0) continue;  // no recorded sequences
      for (const auto& file : result->files) {
        file->smallest_sequence = std::min(file->smallest_sequence, input->smallest_sequence);
        file->largest_sequence = std::max(file->largest_sequence, input->largest_sequence);
      }
    }
  }
}

// The number of point entries of a table, according to its properties. RocksDB counts range
// deletions as entries since version 6, and records sessions since 6.15. LevelDB records nothing.
struct RecordedEntries {
  uint64_t least = 0;
  uint64_t most = 0;
  bool known = true;
};

RecordedEntries RecordedEntriesOf(const TableProperties& properties) {
  const uint64_t ranges = properties.num_range_deletions;
  if (properties.num_entries == 0 && ranges == 0) return {.known = false};
  const bool counts_ranges = !properties.db_session_id.empty();
  return {.least = properties.num_entries - std::min(ranges, properties.num_entries),
          .most = properties.num_entries - (counts_ranges ? ranges : 0)};
}

Status CheckEntryCount(const CompactionJobArgs& args,
                       const std::vector<std::unique_ptr<Subcompaction>>& parts,
                       const TableJobResult& result) {
  if (!args.job.check_entry_counts || result.statistics.entries.skipped_unread) return Status::OK();
  uint64_t least = 0;
  for (const auto& part : parts) least += part->deletions_of_ranges();
  uint64_t most = least;
  for (const CompactionInputs& inputs : args.plan->inputs) {
    for (FileMetaData* file : inputs.files) {
      ASHLAR_ASSIGN_OR_RETURN(const TableRef table, args.job.tables->Acquire(file, {}));
      const RecordedEntries recorded = RecordedEntriesOf(table->properties());
      if (!recorded.known) return Status::OK();
      least += recorded.least;
      most += recorded.most;
    }
  }
  const uint64_t read = result.statistics.entries.entries_in;
  if (least <= read && read <= most) return Status::OK();
  return Status::Corruption(StrCat("compaction ", DebugString(*args.plan), ": the tables hold ",
                                   most, " entries, ", read, " were read"));
}

Status RunPlan(const CompactionJobArgs& args, TableJobResult* result) {
  result->Clear();
  const uint64_t start_nanos = args.job.clock->NowNanos();
  ASHLAR_ASSIGN_OR_RETURN(std::vector<KeyRange> ranges, PlanRanges(args));
  std::atomic<bool> failed{false};
  TableJobArgs job = ArgsFor(args);
  job.stop.sibling_failed = &failed;

  std::vector<std::unique_ptr<Subcompaction>> parts;
  for (KeyRange& range : ranges) {
    const int number = static_cast<int>(parts.size());
    parts.push_back(std::make_unique<Subcompaction>(args, job, number, std::move(range)));
  }
  RunAll(parts, &failed);
  if constexpr (kDebugChecks) {
    if (FirstError(parts).ok()) CheckDisjoint(parts, job.output.table.comparator);
  }
  const Status status = CatchBadAlloc([&]() -> Status {
    Gather(&parts, result);
    ASHLAR_RETURN_IF_ERROR(FirstError(parts));
    return CheckEntryCount(args, parts, *result);
  });
  if (!status.ok()) {
    for (const auto& part : parts) DiscardTableJob(job, &part->result());
    DiscardTableJob(job, result);
    return status;
  }
  KeepPlaceInLevel0(*args.plan, result);
  ASHLAR_RETURN_IF_ERROR(FinishTableJob(job, result));
  result->statistics.subcompactions = static_cast<uint32_t>(parts.size());
  result->statistics.input_files = args.plan->InputFiles();
  result->statistics.bytes_read = args.plan->InputBytes();
  result->statistics.micros = (args.job.clock->NowNanos() - start_nanos) / 1000;
  return Status::OK();
}

}  // namespace

Status RunCompaction(const CompactionJobArgs& args, TableJobResult* result) {
  ASHLAR_ASSERT(args.plan->WritesTables());                                // Requires
  ASHLAR_ASSERT(args.job.tables != nullptr && args.job.clock != nullptr);  // Requires
  return CatchBadAlloc([&] { return RunPlan(args, result); });
}

VersionEdit MakeEdit(const CompactionPlan& plan) {
  VersionEdit edit;
  plan.ApplyInputs(&edit);
  if (!plan.next_cursor.empty())
    edit.compact_cursors.emplace_back(plan.start_level(), plan.next_cursor);
  return edit;
}

Result<std::vector<std::string>> SplitRanges(const CompactionPlan& plan, size_t ranges,
                                             const KeyComparator& comparator, TableCache* tables) {
  struct Piece {
    std::string end;  // user key
    uint64_t bytes;
  };
  ASHLAR_ASSERT(ranges > 0);  // Requires
  std::vector<Piece> pieces;
  const size_t pieces_per_file = std::min(ranges * kPiecesPerRange, kPiecesMax);
  for (const CompactionInputs& inputs : plan.inputs) {
    for (FileMetaData* file : inputs.files) {
      ASHLAR_ASSIGN_OR_RETURN(const TableRef table, tables->Acquire(file, {}));
      const std::vector<std::string> anchors = table->Anchors(pieces_per_file);
      const uint64_t bytes = file->file_bytes / (anchors.size() + 1);
      for (const std::string& anchor : anchors)
        pieces.push_back({ExtractUserKey(anchor).ToString(), bytes});
      pieces.push_back({file->largest_user_key().ToString(), bytes});
    }
  }
  std::sort(pieces.begin(), pieces.end(),
            [&](const Piece& a, const Piece& b) { return comparator.Compare(a.end, b.end) < 0; });

  std::vector<std::string> cuts;
  const uint64_t bytes_per_range = std::max<uint64_t>(1, plan.InputBytes() / ranges);
  uint64_t bytes = 0;
  for (const Piece& piece : pieces) {
    bytes += piece.bytes;
    if (cuts.size() + 1 == ranges || bytes < bytes_per_range * (cuts.size() + 1)) continue;
    const bool ascends =
        comparator.Compare(piece.end, cuts.empty() ? Slice(plan.smallest) : Slice(cuts.back())) > 0;
    if (ascends && comparator.Compare(piece.end, plan.largest) < 0) cuts.push_back(piece.end);
  }
  ASHLAR_ASSERT(cuts.size() < ranges);  // at most ranges - 1
  return cuts;
}

}  // namespace ashlar

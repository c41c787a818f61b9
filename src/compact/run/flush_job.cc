#include "compact/run/flush_job.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "iterate/merging_cursor.h"
#include "platform/clock.h"

namespace ashlar {

namespace {

Status CheckEntryCount(const FlushJobArgs& args, const TableJobResult& result) {
  const uint64_t read = result.statistics.entries.entries_in;
  const bool all_read = !result.statistics.entries.skipped_unread;
  if (!args.job.check_entry_counts || !all_read || read == args.expected_entries)
    return Status::OK();
  return Status::Corruption(StrCat("flush: the memtables hold ", args.expected_entries,
                                   " entries, ", read, " were read"));
}

Status RunMemTables(FlushJobArgs args, TableJobResult* result) {
  ASHLAR_ASSERT(!args.memtables.empty());                                 // Requires
  ASHLAR_ASSERT(args.job.turns != nullptr && args.job.clock != nullptr);  // Requires
  result->Clear();
  const FlushTurn turn(*args.job.turns);
  const uint64_t start_nanos = args.job.clock->NowNanos();
  const uint64_t start_cpu_nanos = ThreadCpuNanos();
  const std::unique_ptr<InternalCursor> input =
      NewMergingCursor(args.job.output.table.comparator, std::move(args.memtables));
  std::vector<RangeTombstone> tombstones;
  for (const FragmentedRanges& ranges : args.ranges) AppendTombstones(ranges, &tombstones);
  std::optional<CompactionRanges> ranges;
  if (!tombstones.empty()) {
    ranges.emplace(CompactionRanges::Args{.comparator = args.job.output.table.comparator,
                                          .snapshots = args.job.snapshots},
                   std::move(tombstones));
  }
  const TableRun run{.ranges = ranges ? &*ranges : nullptr};
  ASHLAR_RETURN_IF_ERROR(RunTableLoop(args.job, run, input.get(), result));
  Status status = CheckEntryCount(args, *result);
  if (!status.ok()) {
    DiscardTableJob(args.job, result);
    return status;
  }
  ASHLAR_RETURN_IF_ERROR(FinishTableJob(args.job, result));
  result->statistics.cpu_micros = (ThreadCpuNanos() - start_cpu_nanos) / 1000;
  result->statistics.micros = (args.job.clock->NowNanos() - start_nanos) / 1000;
  return Status::OK();
}

}  // namespace

Status RunFlush(FlushJobArgs args, TableJobResult* result) {
  return CatchBadAlloc([&] { return RunMemTables(std::move(args), result); });
}

}  // namespace ashlar

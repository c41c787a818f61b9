#include "lsm/job_settings.h"

#include "base/assert.h"
#include "key/internal_key.h"
#include "lsm/resolve_options.h"
#include "table/block/block_format.h"

namespace ashlar {

namespace {

// A table gets at most this many bytes of range tombstones, or a single larger one. Either way they
// fit its block, so every range that DeleteRange accepted can be flushed.
constexpr uint64_t kRangeBytesMax = kBlockBytesMax / 4;
static_assert(kRangeBytesMax < kBlockBytesMax / 2 && kEntryBytesMax <= kBlockBytesMax / 2);

std::vector<SequenceNumber> TakeSnapshots(const DatabaseState& state) {
  MutexLock lock(state.mutex());
  return state.snapshots.Sequences();
}

}  // namespace

JobSettings TakeJobSettings(const DatabaseState& state, const ColumnFamily& family) {
  return {.options = family.options(),
          .bytes_per_sync = state.current_options.bytes_per_sync,
          .readahead_bytes = state.current_options.compaction_readahead_size};
}

TableJobArgs MakeJobArgs(const DatabaseState& state, const ColumnFamily& family,
                         const JobSettings& settings, const std::atomic<bool>* interrupt) {
  ASHLAR_ASSERT(interrupt != nullptr);  // Close waits for jobs
  const ColumnFamilyOptions& options = settings.options;
  TableJobArgs args;
  CompactionOutputArgs& output = args.output;
  output.file_system = state.file_system;
  output.directory = state.directory;
  ResolveOutput(state.options, options, &output);
  output.creation_unix_seconds = state.clock->NowUnixMicros() / 1000000;
  output.new_file_number = [versions = state.versions.get()] { return versions->NewFileNumber(); };
  output.bytes_per_sync = settings.bytes_per_sync;
  output.range_bytes_max = kRangeBytesMax;
  // A compaction of the only level would leave its deletions there.
  output.marks_dense_files = options.compact_dense_deletions && options.num_levels > 1;
  output.collectors_mark_files = options.num_levels > 1;
  output.table.logger = state.logger.get();
  output.table.comparator = family.comparator();
  output.table.recorder = state.recorder;
  output.table.rate_limiter = state.options.rate_limiter.get();
  output.table.column_family_id = family.id();
  output.table.column_family_name = family.name();
  output.table.merge_operator_name =
      family.merge_operator() != nullptr ? family.merge_operator()->Name() : "";
  output.table.db_id = state.versions->database_id();
  output.table.db_session_id = state.session_id;
  output.table.db_host_id =
      state.options.db_host_id == kHostnameForDbHostId ? "" : state.options.db_host_id;
  args.tables = family.tables();
  args.snapshots = TakeSnapshots(state);
  args.merge_operator = family.merge_operator();
  args.clock = state.clock;
  args.stop.shutting_down = interrupt;
  args.verification =
      VerifiesOutput(options) ? OutputVerification::kBlocks : OutputVerification::kOpen;
  args.readahead_bytes = settings.readahead_bytes;
  args.input_reads.hint = !state.options.use_direct_reads;
  args.input_reads.limit.limiter = state.options.rate_limiter.get();
  return args;
}

bool IsBenign(const Status& status) {
  return status.ok() || status.IsShutdownInProgress() || status.IsColumnFamilyDropped() ||
         status.IsManualCompactionPaused() || status.IsCompactionAborted();
}

}  // namespace ashlar

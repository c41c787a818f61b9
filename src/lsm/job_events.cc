#include "lsm/job_events.h"

#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "filesystem/filename.h"
#include "observe/event_line.h"
#include "observe/listeners.h"
#include "platform/thread.h"

namespace ashlar {

namespace {

EventLine NewLine(const DatabaseState& state, int job, std::string_view event) {
  return EventLine(state.logger.get(), state.clock->NowUnixMicros(), job, event);
}

const char* CreationReasonName(TableFileCreationReason reason) {
  switch (reason) {
    case TableFileCreationReason::kFlush: return "flush";
    case TableFileCreationReason::kCompaction: return "compaction";
    case TableFileCreationReason::kRecovery: return "recovery";
    case TableFileCreationReason::kMisc: return "misc";
  }
  return "misc";
}

void AddProperties(const TableProperties& properties, EventLine* line) {
  line->Begin("table_properties")
      .Add("data_size", properties.data_size)
      .Add("index_size", properties.index_size)
      .Add("filter_size", properties.filter_size)
      .Add("raw_key_size", properties.raw_key_size)
      .Add("raw_value_size", properties.raw_value_size)
      .Add("num_data_blocks", properties.num_data_blocks)
      .Add("num_entries", properties.num_entries)
      .Add("num_deletions", properties.num_deletions)
      .Add("num_merge_operands", properties.num_merge_operands)
      .Add("num_filter_entries", properties.num_filter_entries)
      .Add("filter_policy", properties.filter_policy_name)
      .Add("compression", properties.compression_name)
      .Add("creation_time", properties.creation_time)
      .Add("file_creation_time", properties.file_creation_time)
      .End();
}

ThreadOperations::Properties CompactionProperties(int job_id, const CompactionPlan& plan) {
  const bool is_manual = ToCompactionReason(plan.reason) == CompactionReason::kManualCompaction;
  ThreadOperations::Properties properties = {};
  properties[ThreadStatus::COMPACTION_JOB_ID] = static_cast<uint64_t>(job_id);
  properties[ThreadStatus::COMPACTION_INPUT_OUTPUT_LEVEL] =
      uint64_t{plan.start_level()} << 32 | plan.output_level;
  properties[ThreadStatus::COMPACTION_PROP_FLAGS] = uint64_t{is_manual} << 1 |
                                                    uint64_t{plan.drops_inputs} << 2 |
                                                    uint64_t{plan.trivial_move} << 3;
  properties[ThreadStatus::COMPACTION_TOTAL_INPUT_BYTES] = plan.InputBytes();
  return properties;
}

void SetStatistics(const TableJobStatistics& statistics, CompactionJobStats* stats) {
  const StreamCounts& entries = statistics.entries;
  stats->elapsed_micros = statistics.micros;
  stats->cpu_micros = statistics.cpu_micros;
  stats->has_accurate_num_input_records = !entries.skipped_unread;
  stats->num_input_records = entries.entries_in;
  stats->num_output_records = entries.entries_out;
  stats->num_output_files = statistics.output_files;
  stats->total_output_bytes = statistics.bytes_written;
  stats->num_records_replaced = entries.dropped_hidden;
  stats->total_input_raw_key_bytes = entries.key_bytes_in;
  stats->total_input_raw_value_bytes = entries.value_bytes_in;
  stats->num_input_deletion_records = entries.deletions_in;
  stats->num_expired_deletion_records = entries.dropped_obsolete;
  stats->smallest_output_key_prefix = statistics.smallest_key_prefix;
  stats->largest_output_key_prefix = statistics.largest_key_prefix;
  stats->num_single_del_fallthru = entries.single_deletes_unmatched;
  stats->num_single_del_mismatch = entries.single_delete_mismatches;
  stats->file_write_nanos = statistics.file_times.write_nanos;
  stats->file_range_sync_nanos = statistics.file_times.range_sync_nanos;
  stats->file_fsync_nanos = statistics.file_times.sync_nanos;
}

}  // namespace

CompactionReason ToCompactionReason(PlanReason reason) {
  switch (reason) {
    case PlanReason::kLevel0Files: return CompactionReason::kLevelL0FilesNum;
    case PlanReason::kLevelSize: return CompactionReason::kLevelMaxLevelSize;
    case PlanReason::kMarked: return CompactionReason::kFilesMarkedForCompaction;
    case PlanReason::kBottommostFiles: return CompactionReason::kBottommostFiles;
    case PlanReason::kTtl: return CompactionReason::kTtl;
    case PlanReason::kPeriodic: return CompactionReason::kPeriodicCompaction;
    case PlanReason::kManual:
    case PlanReason::kFiles: return CompactionReason::kManualCompaction;
    case PlanReason::kCoveredBytes: return CompactionReason::kFilesMarkedForCompaction;
    case PlanReason::kRefit: return CompactionReason::kRefitLevel;
    case PlanReason::kSizeAmplification: return CompactionReason::kUniversalSizeAmplification;
    case PlanReason::kSizeRatio: return CompactionReason::kUniversalSizeRatio;
    case PlanReason::kSortedRuns: return CompactionReason::kUniversalSortedRunNum;
    case PlanReason::kTableBytes: return CompactionReason::kFIFOMaxSize;
    case PlanReason::kExpired: return CompactionReason::kFIFOTtl;
    case PlanReason::kFewerFiles: return CompactionReason::kFIFOReduceNumFiles;
    case PlanReason::kHiddenFiles:
    case PlanReason::kDeleteFiles: return CompactionReason::kUnknown;
  }
  return CompactionReason::kUnknown;
}

JobEvents::JobEvents(DatabaseState* state, const ColumnFamily& family,
                     TableFileCreationReason reason)
    : state_(state),
      family_(family),
      reason_(reason),
      job_id_(state->next_job_id.fetch_add(1, std::memory_order_relaxed)) {}

// ---- The status of the thread.

void JobEvents::Track(ThreadStatus::OperationType type,
                      const ThreadOperations::Properties& properties) {
  if (!state_->options.enable_thread_tracking) return;
  operation_.emplace(&state_->executor->operations(), type, state_->directory, family_.name(),
                     properties);
  SetStage(ThreadStatus::STAGE_FLUSH_RUN, ThreadStatus::STAGE_COMPACTION_RUN);
}

void JobEvents::SetStage(ThreadStatus::OperationStage flush_stage,
                         ThreadStatus::OperationStage compaction_stage) {
  if (operation_) operation_->SetStage(IsCompaction() ? compaction_stage : flush_stage);
}

void JobEvents::Installing() {
  SetStage(ThreadStatus::STAGE_MEMTABLE_INSTALL_FLUSH_RESULTS,
           ThreadStatus::STAGE_COMPACTION_INSTALL);
}

// ---- Tables.

void JobEvents::TableBegun(const std::string& path) {
  SetStage(ThreadStatus::STAGE_FLUSH_WRITE_L0, ThreadStatus::STAGE_COMPACTION_PROCESS_KV);
  if (!HasListeners()) return;
  TableFileCreationBriefInfo info;
  info.db_name = state_->directory;
  info.cf_name = family_.name();
  info.file_path = path;
  info.job_id = job_id_;
  info.reason = reason_;
  NotifyAll(state_->options.listeners, &EventListener::OnTableFileCreationStarted, info);
}

void JobEvents::TableEnded(const Ended& table) {
  if (operation_) {
    operation_->Add(IsCompaction() ? int{ThreadStatus::COMPACTION_BYTES_WRITTEN}
                                   : int{ThreadStatus::FLUSH_BYTES_WRITTEN},
                    table.file_bytes);
  }
  {
    EventLine line(state_->logger.get(), state_->clock->NowUnixMicros(), job_id_,
                   "table_file_creation");
    line.Add("cf_name", family_.name())
        .Add("reason", CreationReasonName(reason_))
        .Add("file_number", table.number)
        .Add("file_size", table.file_bytes);
    if (!table.checksum.value.empty()) {
      line.Add("file_checksum", Slice(table.checksum.value).ToString(/*hex=*/true))
          .Add("file_checksum_func_name", table.checksum.function);
    }
    if (table.properties != nullptr) AddProperties(*table.properties, &line);
    line.Add("status", table.status.ToString());
  }
  std::shared_ptr<const TableProperties> properties;
  if (table.properties != nullptr) {
    properties = std::make_shared<const TableProperties>(*table.properties);
    ASHLAR_ASSERT(table.number != 0);  // it has a file
    MutexLock lock(made_mutex_);
    made_.push_back({.path = table.path, .number = table.number, .properties = properties});
  }
  if (!HasListeners()) return;
  TableFileCreationInfo info;
  info.db_name = state_->directory;
  info.cf_name = family_.name();
  info.file_path = table.path;
  info.job_id = job_id_;
  info.reason = reason_;
  info.file_size = table.file_bytes;
  if (properties != nullptr) info.table_properties = *properties;
  info.status = table.status;
  info.file_checksum = table.checksum.value;
  info.file_checksum_func_name = table.checksum.function;
  NotifyAll(state_->options.listeners, &EventListener::OnTableFileCreated, info);
}

std::vector<JobEvents::Made> JobEvents::MadeTables() const {
  MutexLock lock(made_mutex_);
  return made_;
}

std::vector<uint64_t> JobEvents::FilesPerLevel() const {
  std::vector<uint64_t> files;
  const EpochGuard guard(state_->epochs);
  const Version& version = *family_.view()->version;
  for (Level level = 0; level < version.levels(); ++level) files.push_back(version.NumFiles(level));
  return files;
}

template <typename Info>
void JobEvents::DescribeJob(Info* info) const {
  info->cf_id = family_.id();
  info->cf_name = family_.name();
  info->thread_id = CurrentThreadSystemId();
  info->job_id = job_id_;
}

template <typename Info>
void JobEvents::DescribeCompaction(const CompactionPlan& plan, Info* info) const {
  DescribeJob(info);
  info->base_input_level = static_cast<int>(plan.start_level());
  info->output_level = static_cast<int>(plan.output_level);
  info->compaction_reason = ToCompactionReason(plan.reason);
  info->compression = plan.compression;
  info->stats.is_full_compaction = is_full_compaction_;
  info->stats.is_manual_compaction = info->compaction_reason == CompactionReason::kManualCompaction;
}

// ---- Flushes.

FlushJobInfo JobEvents::MakeFlushInfo(std::span<const MemTableRef> tables) {
  FlushJobInfo info;
  DescribeJob(&info);
  info.flush_reason = flush_reason_;
  info.triggered_writes_slowdown =
      state_->write_controller.state() == WriteController::State::kDelayed;
  info.triggered_writes_stop = state_->write_controller.state() == WriteController::State::kStopped;
  info.smallest_seqno = tables.front()->first_sequence();
  info.largest_seqno = tables.back()->last_sequence();
  for (const Made& table : MadeTables()) {
    info.file_number = table.number;
    info.file_path = table.path;
    info.table_properties = *table.properties;
  }
  return info;
}

void JobEvents::FlushBegun(std::span<const MemTableRef> tables, FlushReason reason) {
  ASHLAR_ASSERT(stage_ == Stage::kNew);  // I1
  stage_ = Stage::kBegun;
  flush_reason_ = reason;
  uint64_t entries = 0;
  uint64_t deletions = 0;
  uint64_t memory_bytes = 0;
  for (const MemTableRef& table : tables) {
    entries += table->entries();
    deletions += table->deletions();
    memory_bytes += table->ApproximateMemoryUsage();
  }
  ThreadOperations::Properties properties = {};
  properties[ThreadStatus::FLUSH_JOB_ID] = static_cast<uint64_t>(job_id_);
  properties[ThreadStatus::FLUSH_BYTES_MEMTABLES] = memory_bytes;
  Track(ThreadStatus::OP_FLUSH, properties);
  NewLine(*state_, job_id_, "flush_started")
      .Add("cf_name", family_.name())
      .Add("num_memtables", tables.size())
      .Add("num_entries", entries)
      .Add("num_deletes", deletions)
      .Add("memory_usage", memory_bytes)
      .Add("flush_reason", GetFlushReasonString(reason));
  if (HasListeners())
    NotifyAll(state_->options.listeners, &EventListener::OnFlushBegin, state_->db,
              MakeFlushInfo(tables));
}

void JobEvents::FlushEnded(std::span<const MemTableRef> tables,
                           const TableJobStatistics& statistics, const Status& status) {
  ASHLAR_ASSERT(stage_ == Stage::kBegun);  // I1
  stage_ = Stage::kEnded;
  NewLine(*state_, job_id_, "flush_finished")
      .Add("cf_name", family_.name())
      .Add("num_input_records", statistics.entries.entries_in)
      .Add("num_output_records", statistics.entries.entries_out)
      .Add("total_output_size", statistics.bytes_written)
      .Add("flush_time_micros", statistics.micros)
      .Add("flush_time_cpu_micros", statistics.cpu_micros)
      .Add("lsm_state", FilesPerLevel())
      .Add("status", status.ToString());
  if (!status.ok()) return;
  CountFlush(tables, statistics);
  if (HasListeners())
    NotifyAll(state_->options.listeners, &EventListener::OnFlushCompleted, state_->db,
              MakeFlushInfo(tables));
}

void JobEvents::CountFlush(std::span<const MemTableRef> tables,
                           const TableJobStatistics& statistics) {
  const Recorder& recorder = state_->recorder;
  if (!recorder.IsOn()) return;
  uint64_t memory_bytes = 0;
  for (const MemTableRef& table : tables) memory_bytes += table->ApproximateMemoryUsage();
  const uint64_t payload_bytes =
      statistics.entries.key_bytes_in + statistics.entries.value_bytes_in;
  uint64_t kept_bytes = 0;
  for (const Made& table : MadeTables())
    kept_bytes += table.properties->raw_key_size + table.properties->raw_value_size;
  recorder.Tick(FLUSH_WRITE_BYTES, statistics.bytes_written);
  recorder.Tick(MEMTABLE_PAYLOAD_BYTES_AT_FLUSH, payload_bytes);
  recorder.Tick(MEMTABLE_GARBAGE_BYTES_AT_FLUSH,
                payload_bytes > kept_bytes ? payload_bytes - kept_bytes : 0);
  recorder.Record(FLUSH_MEMTABLE_MEMORY_BYTES, memory_bytes);
  recorder.Record(FLUSH_MEMTABLE_TOTAL_DATA_SIZE, payload_bytes);
  recorder.RecordTime(FLUSH_TIME, statistics.micros);
}

// ---- Compactions.

CompactionJobInfo JobEvents::MakeCompactionInfo(const CompactionPlan& plan) {
  CompactionJobInfo info;
  DescribeCompaction(plan, &info);
  info.num_l0_files = level0_files_;
  for (const CompactionInputs& inputs : plan.inputs) {
    if (inputs.level == plan.output_level)
      info.stats.num_input_files_at_output_level += inputs.files.size();
    for (FileMetaData* const file : inputs.files) {
      const std::string& path =
          info.input_files.emplace_back(TableFileName(state_->directory, file->number));
      info.input_file_infos.push_back(
          {.level = static_cast<int>(inputs.level), .file_number = file->number});
      const Result<TableRef> table = family_.tables()->Acquire(file, {});
      if (table.ok())
        info.table_properties[path] = std::make_shared<TableProperties>((*table)->properties());
    }
  }
  info.stats.num_input_files = plan.InputFiles();
  if (plan.trivial_move) info.stats.num_input_files_trivially_moved = plan.InputFiles();
  info.stats.total_input_bytes = plan.InputBytes();
  return info;
}

void JobEvents::CompactionBegun(const CompactionPlan& plan, const Version& version) {
  ASHLAR_ASSERT(stage_ == Stage::kNew);  // I1
  stage_ = Stage::kBegun;
  ASHLAR_ASSERT(plan.InputFiles() <= version.NumFiles());  // the plan was made on it
  level0_files_ = static_cast<int>(version.NumFiles(0));
  is_full_compaction_ = plan.InputFiles() == version.NumFiles();
  Track(ThreadStatus::OP_COMPACTION, CompactionProperties(job_id_, plan));
  {
    EventLine line(state_->logger.get(), state_->clock->NowUnixMicros(), job_id_,
                   "compaction_started");
    line.Add("cf_name", family_.name())
        .Add("compaction_reason", GetCompactionReasonString(ToCompactionReason(plan.reason)));
    for (const CompactionInputs& inputs : plan.inputs) {
      std::vector<uint64_t> numbers;
      for (const FileMetaData* const file : inputs.files) numbers.push_back(file->number);
      line.Add(StrCat("files_L", inputs.level), numbers);
    }
    line.Add("input_data_size", plan.InputBytes())
        .Add("output_level", plan.output_level)
        .Add("trivial_move", plan.trivial_move)
        .Add("deletes_files", plan.drops_inputs);
  }
  if (HasListeners())
    NotifyAll(state_->options.listeners, &EventListener::OnCompactionBegin, state_->db,
              MakeCompactionInfo(plan));
}

void JobEvents::CompactionEnded(const CompactionPlan& plan, const TableJobStatistics& statistics,
                                const Status& status) {
  ASHLAR_ASSERT(stage_ == Stage::kBegun);  // I1
  stage_ = Stage::kEnded;
  const std::vector<uint64_t> files_per_level = FilesPerLevel();
  level0_files_ = static_cast<int>(files_per_level.front());
  NewLine(*state_, job_id_, "compaction_finished")
      .Add("cf_name", family_.name())
      .Add("compaction_time_micros", statistics.micros)
      .Add("compaction_time_cpu_micros", statistics.cpu_micros)
      .Add("output_level", plan.output_level)
      .Add("num_output_files", plan.trivial_move ? plan.InputFiles() : statistics.output_files)
      .Add("total_input_size", plan.InputBytes())
      .Add("total_output_size", statistics.bytes_written)
      .Add("num_input_records", statistics.entries.entries_in)
      .Add("num_output_records", statistics.entries.entries_out)
      .Add("num_subcompactions", statistics.subcompactions)
      .Add("num_single_delete_mismatches", statistics.entries.single_delete_mismatches)
      .Add("lsm_state", files_per_level)
      .Add("status", status.ToString());
  CountCompaction(plan, statistics);
  if (HasListeners())
    NotifyAll(state_->options.listeners, &EventListener::OnCompactionCompleted, state_->db,
              MakeEndedInfo(plan, statistics, status));
}

CompactionJobInfo JobEvents::MakeEndedInfo(const CompactionPlan& plan,
                                           const TableJobStatistics& statistics,
                                           const Status& status) {
  CompactionJobInfo info = MakeCompactionInfo(plan);
  info.status = status;
  info.aborted = status.IsCompactionAborted();
  SetStatistics(statistics, &info.stats);
  for (const Made& table : MadeTables()) {
    info.output_files.push_back(table.path);
    info.output_file_infos.push_back(
        {.level = static_cast<int>(plan.output_level), .file_number = table.number});
    info.table_properties[table.path] = table.properties;
  }
  ASHLAR_ASSERT(plan.WritesTables() || info.output_files.empty());  // an edit is all of it
  if (plan.trivial_move) {
    info.output_files = info.input_files;
    info.output_file_infos = info.input_file_infos;
    for (CompactionFileInfo& file : info.output_file_infos)
      file.level = static_cast<int>(plan.output_level);
  }
  return info;
}

SubcompactionJobInfo JobEvents::MakeSubcompactionInfo(const CompactionPlan& plan,
                                                      int number) const {
  ASHLAR_ASSERT(stage_ == Stage::kBegun);  // I1: within the compaction
  SubcompactionJobInfo info;
  DescribeCompaction(plan, &info);
  info.subcompaction_job_id = number;
  return info;
}

void JobEvents::SubcompactionBegun(const CompactionPlan& plan, int number) {
  if (!HasListeners()) return;
  NotifyAll(state_->options.listeners, &EventListener::OnSubcompactionBegin,
            MakeSubcompactionInfo(plan, number));
}

void JobEvents::SubcompactionEnded(const CompactionPlan& plan, int number,
                                   const TableJobStatistics& statistics, const Status& status) {
  if (!HasListeners()) return;
  SubcompactionJobInfo info = MakeSubcompactionInfo(plan, number);
  info.status = status;
  SetStatistics(statistics, &info.stats);
  NotifyAll(state_->options.listeners, &EventListener::OnSubcompactionCompleted, info);
}

void JobEvents::CountCompaction(const CompactionPlan& plan, const TableJobStatistics& statistics) {
  const Recorder& recorder = state_->recorder;
  if (!recorder.IsOn()) return;
  if (plan.reason == PlanReason::kTableBytes) recorder.Tick(FIFO_MAX_SIZE_COMPACTIONS);
  if (plan.reason == PlanReason::kExpired) recorder.Tick(FIFO_TTL_COMPACTIONS);
  if (!plan.WritesTables()) return;
  recorder.Tick(COMPACT_READ_BYTES, statistics.bytes_read);
  recorder.Tick(COMPACT_WRITE_BYTES, statistics.bytes_written);
  if (plan.reason == PlanReason::kMarked) {
    recorder.Tick(COMPACT_READ_BYTES_MARKED, statistics.bytes_read);
    recorder.Tick(COMPACT_WRITE_BYTES_MARKED, statistics.bytes_written);
  } else if (plan.reason == PlanReason::kPeriodic) {
    recorder.Tick(COMPACT_READ_BYTES_PERIODIC, statistics.bytes_read);
    recorder.Tick(COMPACT_WRITE_BYTES_PERIODIC, statistics.bytes_written);
  } else if (plan.reason == PlanReason::kTtl) {
    recorder.Tick(COMPACT_READ_BYTES_TTL, statistics.bytes_read);
    recorder.Tick(COMPACT_WRITE_BYTES_TTL, statistics.bytes_written);
  }
  recorder.Tick(COMPACTION_KEY_DROP_NEWER_ENTRY, statistics.entries.dropped_hidden);
  recorder.Tick(COMPACTION_KEY_DROP_OBSOLETE, statistics.entries.dropped_obsolete);
  recorder.Tick(COMPACTION_KEY_DROP_USER, statistics.entries.dropped_by_filter);
  if (!plan.bottommost)
    recorder.Tick(COMPACTION_OPTIMIZED_DEL_DROP_OBSOLETE, statistics.entries.dropped_obsolete);
  recorder.Tick(COMPACTION_CPU_TOTAL_TIME, statistics.cpu_micros);
  recorder.RecordTime(COMPACTION_TIME, statistics.micros);
  recorder.RecordTime(COMPACTION_CPU_TIME, statistics.cpu_micros);
  recorder.Record(NUM_FILES_IN_SINGLE_COMPACTION, plan.InputFiles());
  recorder.Record(NUM_SUBCOMPACTIONS_SCHEDULED, statistics.subcompactions);
}

// ---- Deletions.

void NotifyTableDeleted(const DatabaseState& state, const std::string& path, uint64_t number,
                        const Status& status) {
  NewLine(state, 0, "table_file_deletion")
      .Add("file_number", number)
      .Add("status", status.ToString());
  if (state.options.listeners.empty()) return;
  TableFileDeletionInfo info;
  info.db_name = state.directory;
  info.file_path = path;
  info.status = status;
  NotifyAll(state.options.listeners, &EventListener::OnTableFileDeleted, info);
}

}  // namespace ashlar

#include "lsm/compaction_runner.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ashlar/sst_partitioner.h"
#include "base/assert.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "filesystem/filename.h"
#include "lsm/resolve_options.h"
#include "lsm/tree_inputs.h"
#include "manifest/file_marks.h"

namespace ashlar {

Compaction::Compaction(std::shared_ptr<ColumnFamily> of_family, CompactionPlan picked,
                       JobSettings taken)
    : family(std::move(of_family)),
      version(family->version()),
      plan(std::move(picked)),
      settings(std::move(taken)) {
  ASHLAR_ASSERT(version != nullptr);  // I1 of column_family.h
  version->Ref();
}

namespace {

bool IsByProgram(const CompactionPlan& plan) {
  return plan.reason == PlanReason::kManual || plan.reason == PlanReason::kFiles;
}

// Returns an empty collection if a table cannot be opened.
TablePropertiesCollection InputProperties(const Compaction& compaction,
                                          const std::string& directory) {
  TablePropertiesCollection properties;
  for (const CompactionInputs& inputs : compaction.plan.inputs) {
    for (FileMetaData* const file : inputs.files) {
      const Result<TableRef> table = compaction.family->tables()->Acquire(file, {});
      if (!table.ok()) return {};
      properties[TableFileName(directory, file->number)] =
          std::make_shared<TableProperties>((*table)->properties());
    }
  }
  return properties;
}

FilterSource MakeFilterSource(const Compaction& compaction, const std::string& directory) {
  const CompactionPlan& plan = compaction.plan;
  const ColumnFamilyOptions& options = compaction.settings.options;
  FilterSource source{.shared = options.compaction_filter,
                      .factory = options.compaction_filter_factory.get(),
                      .level = static_cast<int>(plan.start_level())};
  source.context.is_full_compaction = compaction.version->NumFiles() == plan.InputFiles();
  source.context.is_manual_compaction = IsByProgram(plan);
  source.context.input_start_level = source.level;
  source.context.column_family_id = compaction.family->id();
  source.context.reason = TableFileCreationReason::kCompaction;
  if (source.shared == nullptr && source.factory != nullptr)
    source.context.input_table_properties = InputProperties(compaction, directory);
  return source;
}

// Returns null if the family has no partitioner, or the factory does not want to cut this output.
std::unique_ptr<SstPartitioner> NewPartitioner(const Compaction& compaction) {
  const CompactionPlan& plan = compaction.plan;
  const SstPartitionerFactory* const factory =
      compaction.settings.options.sst_partitioner_factory.get();
  if (factory == nullptr || !IsSorted(plan.output_level)) return nullptr;
  return factory->CreatePartitioner(
      {.is_full_compaction = compaction.version->NumFiles() == plan.InputFiles(),
       .is_manual_compaction = IsByProgram(plan),
       .output_level = static_cast<int>(plan.output_level),
       .smallest_user_key = plan.smallest,
       .largest_user_key = plan.largest});
}

}  // namespace

void CompactionRunner::Abort() {
  ++aborts_;
  is_aborted_.store(true, std::memory_order_relaxed);
}

bool CompactionRunner::Allow() {
  if (aborts_ == 0) return false;
  --aborts_;
  is_aborted_.store(aborts_ > 0, std::memory_order_relaxed);
  return aborts_ == 0;
}

std::unique_ptr<Compaction> CompactionRunner::Start(const std::shared_ptr<ColumnFamily>& family,
                                                    CompactionPlan plan) {
  ASHLAR_ASSERT(!plan.inputs.empty());  // compaction_plan.h: never empty
  auto compaction =
      std::make_unique<Compaction>(family, std::move(plan), TakeJobSettings(*state_, *family));
  family->running_plans.push_back(&compaction->plan);
  MarkInputs(compaction->plan, true);
  return compaction;
}

void CompactionRunner::EndPlan(Compaction* compaction) {
  MarkInputs(compaction->plan, false);
  const size_t ended = std::erase(compaction->family->running_plans, &compaction->plan);
  ASHLAR_ASSERT(ended == 1);  // I1: the inputs were this plan's
}

Status CompactionRunner::Run(Compaction* compaction) {
  const CompactionPlan& plan = compaction->plan;
  TableJobResult result;
  DatabaseSpace::Reservation room;
  Status status = CatchBadAlloc([&]() -> Status {
    KeepPartitions(compaction);
    ASHLAR_RETURN_IF_ERROR(TakeRoom(plan, &room));
    compaction->events = std::make_unique<JobEvents>(state_, *compaction->family,
                                                     TableFileCreationReason::kCompaction);
    compaction->events->CompactionBegun(plan, *compaction->version);
    std::vector<VersionEdit> edits;
    const NewFilesGuard untaken(state_->versions.get(), &edits);
    edits.push_back(MakeEdit(plan));
    ASHLAR_RETURN_IF_ERROR(Execute(compaction, &result, &edits[0]));
    return Install(compaction, result.statistics, &edits);
  });
  if (!status.ok()) {
    MutexLock lock(state_->mutex());
    EndPlan(compaction);
    if (plan.reason == PlanReason::kHiddenFiles) ForgetInputs(plan);
  }
  if (status.IsCompactionAborted()) state_->recorder.Tick(COMPACTION_ABORTED);
  if (compaction->events == nullptr) return status;
  IgnoreBadAlloc([&] { compaction->events->CompactionEnded(plan, result.statistics, status); });
  if (compaction->info == nullptr) return status;
  const Status told = CatchBadAlloc([&] {
    *compaction->info = compaction->events->MakeEndedInfo(plan, result.statistics, status);
    return Status::OK();
  });
  return status.ok() ? told : status;
}

Status CompactionRunner::TakeRoom(const CompactionPlan& plan,
                                  DatabaseSpace::Reservation* room) const {
  if (!plan.WritesTables()) return Status::OK();
  Status reserved = state_->space.ReserveForCompaction(plan.InputBytes(), room);
  if (!reserved.ok()) state_->recorder.Tick(COMPACTION_CANCELLED);
  return reserved;
}

void CompactionRunner::KeepPartitions(Compaction* compaction) {
  CompactionPlan& plan = compaction->plan;
  if (!plan.trivial_move || plan.reason == PlanReason::kRefit) return;
  const std::unique_ptr<SstPartitioner> partitioner = NewPartitioner(*compaction);
  if (partitioner == nullptr) return;
  const auto may_move = [&](const FileMetaData* file) {
    return partitioner->CanDoTrivialMove(file->smallest_user_key(), file->largest_user_key());
  };
  if (std::all_of(plan.inputs.begin(), plan.inputs.end(), [&](const CompactionInputs& inputs) {
        return std::all_of(inputs.files.begin(), inputs.files.end(), may_move);
      }))
    return;
  MutexLock lock(state_->mutex());  // pickers read running plans
  plan.trivial_move = false;
}

Status CompactionRunner::Execute(Compaction* compaction, TableJobResult* result,
                                 VersionEdit* edit) {
  const CompactionPlan& plan = compaction->plan;
  // A pause does not prevent a requested deletion of files, because the call is not repeated. Files
  // that a compaction style drops are picked again after the pause.
  if (plan.reason == PlanReason::kDeleteFiles) return Status::OK();
  if (interrupt_->load(std::memory_order_relaxed))
    return Status::ShutdownInProgress(StopFlags::kStopped);
  if (is_aborted_.load(std::memory_order_relaxed)) return StopFlags::CompactionAborted();
  if (!plan.WritesTables()) return Status::OK();
  ASHLAR_ASSERT(!compaction->may_be_recorded);  // a job runs once
  const ColumnFamilyOptions& options = compaction->settings.options;
  CompactionJobArgs args{
      .plan = &plan,
      .job = MakeJobArgs(*state_, *compaction->family, compaction->settings, interrupt_)};
  args.job.output.observer = compaction->events.get();
  args.job.output.times_files = options.report_bg_io_stats;
  args.observer = compaction->events.get();
  args.job.stop.aborted = &is_aborted_;
  args.job.stop.canceled = compaction->canceled;
  args.job.stop.disabled = compaction->disabled;
  args.job.output.table.compression_parameters =
      ResolveCompressionParameters(options, plan.bottommost_compression);
  args.job.output.table.dictionary = ResolveDictionary(options, plan.bottommost_compression);
  // Deletions stay at the bottom for two reasons. If snapshots need them, kBottommostFiles acts
  // once these are released. If files are ingested behind, no compaction removes the deletions.
  if (plan.bottommost || (plan.older_unknown && plan.older.empty()))
    args.job.output.marks_dense_files = args.job.output.collectors_mark_files = false;
  args.job.output.table.level = static_cast<int>(plan.output_level);
  args.job.filter = MakeFilterSource(*compaction, state_->directory);
  if (options.sst_partitioner_factory != nullptr)
    args.job.output.new_partitioner = [compaction] { return NewPartitioner(*compaction); };
  args.job.output.table.config.filter_kind =
      ResolveFilterKind(options, static_cast<int>(plan.output_level));
  if (plan.bottommost && options.optimize_filters_for_hits)
    args.job.output.table.config.filter_millibits_per_key = 0;
  const uint64_t failures_before = state_->directory_handle->failures();
  ASHLAR_RETURN_IF_ERROR(RunCompaction(args, result));
  const Status kept = CatchBadAlloc([&]() -> Status {
    ASHLAR_RETURN_IF_ERROR(state_->directory_handle->Sync(failures_before));
    result->AddFilesTo(plan.output_level, edit);
    return Status::OK();
  });
  if (!kept.ok()) DiscardTableJob(args.job, result);
  return kept;
}

Status CompactionRunner::Install(Compaction* compaction, const TableJobStatistics& statistics,
                                 std::vector<VersionEdit>* edits) {
  const CompactionPlan& plan = compaction->plan;
  ASHLAR_ASSERT(!compaction->may_be_recorded);  // a plan is installed once
  compaction->events->Installing();
  ASHLAR_ASSERT(edits->size() == 1);  // the edit of Run
  edits->front().column_family = compaction->family->id();
  MutexLock installers(state_->manifest_mutex());
  ASHLAR_ASSIGN_OR_RETURN(const VersionInstaller::Prepared prepared,
                          installer_->Prepare(std::move(*edits), [&](std::span<VersionEdit>) {
                            kDatabaseMutex.AssertHeld();
                            AssertFits(*compaction);
                          }));
  compaction->may_be_recorded = true;
  return installer_->Publish(prepared, [&] {
    kDatabaseMutex.AssertHeld();
    EndPlan(compaction);
    compaction->family->compaction_failures = 0;
    if (plan.WritesTables()) {
      compaction->family->totals.CountJob(plan.output_level, statistics);
      if (statistics.entries.filter_skipped)
        compaction->family->ActiveLocked()->EndGaps();  // G2 of docs/range-deletions.md
    }
    if (plan.drops_inputs && plan.reason != PlanReason::kHiddenFiles)
      ForgetWhatWasHidden(compaction->family.get());
  });
}

void CompactionRunner::ForgetWhatWasHidden(ColumnFamily* family) {
  // The dropped files may have hidden keys of older files, on which known gaps and C2 of
  // range_coverage.h rely. An input of a kHiddenFiles plan stays hidden until the plan ends (I6 of
  // compaction_plan.h), so only its own keys are at stake. A plan of another kind may move a file,
  // which would later be dropped because of a mark that is no longer true.
  family->ActiveLocked()->EndGaps();
  const auto is_dropped_as_hidden = [&](FileMetaData* file) ASHLAR_REQUIRES(kDatabaseMutex) {
    return IsBeingCompacted(*file) &&
           std::any_of(family->running_plans.begin(), family->running_plans.end(),
                       [file](const CompactionPlan* plan) {
                         return plan->reason == PlanReason::kHiddenFiles && plan->HasInput(file);
                       });
  };
  const Version& version = *family->version();
  for (Level level = 0; level < version.levels(); ++level) {
    for (FileMetaData* const file : version.files(level)) {
      if (!is_dropped_as_hidden(file)) ForgetHidden(file);
    }
  }
}

void CompactionRunner::ForgetInputs(const CompactionPlan& plan) {
  ASHLAR_ASSERT(plan.reason == PlanReason::kHiddenFiles);  // I6 of compaction_plan.h
  for (const CompactionInputs& inputs : plan.inputs) {
    for (FileMetaData* const file : inputs.files) ForgetHidden(file);
  }
}

void CompactionRunner::CheckMarks(const CompactionPlan& plan) {
  for (const CompactionInputs& inputs : plan.inputs) {
    for (const FileMetaData* const file : inputs.files)
      ASHLAR_ASSERT(IsBeingCompacted(*file));  // I1
  }
}

void CompactionRunner::AssertFits(const Compaction& compaction) const {
  // A dropped family takes no edit, and the install returns ColumnFamilyDropped.
  if (compaction.family->dropped()) return;
  CheckMarks(compaction.plan);
  TreeView view = MakeWholeTreeView(*state_, *compaction.family);
  // Of level 0, use only the files that the pick has seen. A newer file may be sorted after an
  // input and span its keys, but it has no older versions of them (README.md of compact/plan).
  const auto before = compaction.version->files(0);
  const std::unordered_set<const FileMetaData*> seen_by_pick(before.begin(), before.end());
  std::vector<FileMetaData*> seen;
  std::copy_if(view.files(0).begin(), view.files(0).end(), std::back_inserter(seen),
               [&](const FileMetaData* file) { return seen_by_pick.contains(file); });
  view.levels[0] = seen;
  AssertPlanFits(view, compaction.plan);  // I2: the alternative is stale reads for good
}

}  // namespace ashlar

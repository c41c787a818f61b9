#include "compact/plan/compaction_plan.h"

#include "base/assert.h"
#include "base/format.h"

namespace ashlar {

const char* PlanReasonName(PlanReason reason) {
  switch (reason) {
    case PlanReason::kLevel0Files: return "level-0 files";
    case PlanReason::kLevelSize: return "level size";
    case PlanReason::kMarked: return "marked";
    case PlanReason::kBottommostDeletes: return "bottommost deletes";
    case PlanReason::kTtl: return "ttl";
    case PlanReason::kPeriodic: return "periodic";
    case PlanReason::kManual: return "manual";
  }
  return "unknown";
}

uint64_t CompactionPlan::InputBytes() const {
  uint64_t bytes = 0;
  for (const CompactionInputs& level : inputs) {
    for (const FileMetaData* file : level.files) bytes += file->file_bytes;
  }
  return bytes;
}

uint64_t CompactionPlan::InputFiles() const {
  uint64_t count = 0;
  for (const CompactionInputs& level : inputs) count += level.files.size();
  return count;
}

void CompactionPlan::ApplyInputs(VersionEdit* edit) const {
  for (const CompactionInputs& level : inputs) {
    for (const FileMetaData* file : level.files) {
      if (trivial_move) {
        edit->MoveFile(level.level, output_level, file);
      } else {
        edit->DeleteFile(level.level, file->number);
      }
    }
  }
}

std::string DebugString(const CompactionPlan& plan) {
  std::string text;
  for (const CompactionInputs& level : plan.inputs) {
    StrAppend(&text, text.empty() ? "L" : " + L", level.level, " [");
    for (const FileMetaData* file : level.files) StrAppend(&text, file == level.files.front() ? "" : " ", file->number);
    text.push_back(']');
  }
  StrAppend(&text, " -> L", plan.output_level, ", ", PlanReasonName(plan.reason));
  if (plan.trivial_move) text += ", move";
  if (plan.bottommost) text += ", bottommost";
  return text;
}

void MarkInputs(const CompactionPlan& plan, bool being_compacted) {
  for (const CompactionInputs& level : plan.inputs) {
    for (FileMetaData* file : level.files) {
      ASHLAR_ASSERT(file->being_compacted != being_compacted);
      file->being_compacted = being_compacted;
    }
  }
}

Level TreeView::LastLevel() const {
  Level last = num_levels() - 1;
  while (last > 0 && files(last).empty()) --last;
  return last;
}

uint64_t TreeView::LevelBytes(Level level) const {
  uint64_t bytes = 0;
  for (const FileMetaData* file : files(level)) bytes += file->file_bytes;
  return bytes;
}

}  // namespace ashlar

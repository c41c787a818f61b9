#include "ashlar/thread_status.h"

#include <algorithm>
#include <array>

#include "base/format.h"

namespace ashlar {
namespace {

// Returns the text of a value, or the text of the first value if it is out of range.
template <size_t kCount>
const std::string& NameOf(const std::array<std::string, kCount>& names, int value) {
  const bool is_known = value >= 0 && static_cast<size_t>(value) < kCount;
  return names[is_known ? static_cast<size_t>(value) : 0];
}

using OperationNames = std::array<std::string, ThreadStatus::NUM_OP_TYPES>;
using StageNames = std::array<std::string, ThreadStatus::NUM_OP_STAGES>;
using StateNames = std::array<std::string, ThreadStatus::NUM_STATE_TYPES>;
using CompactionNames = std::array<std::string, ThreadStatus::NUM_COMPACTION_PROPERTIES>;
using FlushNames = std::array<std::string, ThreadStatus::NUM_FLUSH_PROPERTIES>;

// Never destroyed, because callers get references to them.
const OperationNames& Operations() {
  static const OperationNames& names = *new OperationNames{
      "",
      "Compaction",
      "Flush",
      "DBOpen",
      "Get",
      "MultiGet",
      "DBIterator",
      "VerifyDBChecksum",
      "VerifyFileChecksums",
      "GetEntity",
      "MultiGetEntity",
      "GetFileChecksumsFromCurrentManifest",
  };
  return names;
}

const StageNames& Stages() {
  static const StageNames& names = *new StageNames{
      "",
      "FlushJob::Run",
      "FlushJob::WriteLevel0Table",
      "CompactionJob::Prepare",
      "CompactionJob::Run",
      "CompactionJob::ProcessKeyValueCompaction",
      "CompactionJob::Install",
      "CompactionJob::FinishCompactionOutputFile",
      "MemTableList::PickMemtablesToFlush",
      "MemTableList::RollbackMemtableFlush",
      "MemTableList::TryInstallMemtableFlushResults",
  };
  return names;
}

const StateNames& States() {
  static const StateNames& names = *new StateNames{"", "Mutex Wait"};
  return names;
}

const CompactionNames& CompactionProperties() {
  static const CompactionNames& names = *new CompactionNames{
      "JobID",           "InputOutputLevel", "Manual/Deletion/Trivial",
      "TotalInputBytes", "BytesRead",        "BytesWritten",
  };
  return names;
}

const FlushNames& FlushProperties() {
  static const FlushNames& names = *new FlushNames{"JobID", "BytesMemtables", "BytesWritten"};
  return names;
}

std::string TwoDigits(uint64_t value) { return StrCat(value < 10 ? "0" : "", value); }

}  // namespace

const bool ThreadStatus::kEnabled = true;

ThreadStatus::ThreadStatus(uint64_t id, ThreadType type, const std::string& db,
                           const std::string& cf, OperationType operation, uint64_t elapsed_micros,
                           OperationStage stage, const uint64_t op_properties_in[], StateType state)
    : thread_id(id),
      thread_type(type),
      db_name(db),
      cf_name(cf),
      operation_type(operation),
      op_elapsed_micros(elapsed_micros),
      operation_stage(stage),
      state_type(state) {
  std::copy_n(op_properties_in, kNumOperationProperties, op_properties);
}

std::string ThreadStatus::GetThreadTypeName(ThreadType thread_type) {
  switch (thread_type) {
    case HIGH_PRIORITY: return "High Pri";
    case LOW_PRIORITY: return "Low Pri";
    case USER: return "User";
    case BOTTOM_PRIORITY: return "Bottom Pri";
    case NUM_THREAD_TYPES: break;
  }
  return "Unknown";
}

const std::string& ThreadStatus::GetOperationName(OperationType op_type) {
  return NameOf(Operations(), op_type);
}

const std::string& ThreadStatus::GetOperationStageName(OperationStage stage) {
  return NameOf(Stages(), stage);
}

const std::string& ThreadStatus::GetStateName(StateType state_type) {
  return NameOf(States(), state_type);
}

const std::string& ThreadStatus::GetOperationPropertyName(OperationType op_type, int i) {
  const std::string& none = States().front();
  if (i < 0) return none;
  if (op_type == OP_COMPACTION && i < NUM_COMPACTION_PROPERTIES)
    return NameOf(CompactionProperties(), i);
  if (op_type == OP_FLUSH && i < NUM_FLUSH_PROPERTIES) return NameOf(FlushProperties(), i);
  return none;
}

const std::string ThreadStatus::MicrosToString(uint64_t op_elapsed_time) {
  constexpr uint64_t kSecond = 1000000;
  const uint64_t micros = op_elapsed_time;
  if (micros == 0) return "";
  if (micros < 10000) return StrCat(micros, " us");
  if (micros < 10 * kSecond)
    return StrCat(FixedDecimal(static_cast<double>(micros) / 1e3, 3), " ms");
  if (micros < 60 * kSecond)
    return StrCat(FixedDecimal(static_cast<double>(micros) / 1e6, 3), " sec");
  const uint64_t minutes = micros / (60 * kSecond);
  const std::string seconds = FixedDecimal(static_cast<double>(micros % (60 * kSecond)) / 1e6, 3);
  if (minutes < 60) return StrCat(TwoDigits(minutes), ":", seconds, " M:S");
  return StrCat(TwoDigits(minutes / 60), ":", TwoDigits(minutes % 60), ":", seconds, " H:M:S");
}

std::map<std::string, uint64_t> ThreadStatus::InterpretOperationProperties(
    OperationType op_type, const uint64_t* op_properties) {
  std::map<std::string, uint64_t> result;
  if (op_type == OP_FLUSH) {
    for (int i = 0; i < NUM_FLUSH_PROPERTIES; ++i)
      result[GetOperationPropertyName(op_type, i)] = op_properties[i];
  }
  if (op_type == OP_COMPACTION) {
    for (int i = 0; i < NUM_COMPACTION_PROPERTIES; ++i) {
      if (i != COMPACTION_INPUT_OUTPUT_LEVEL && i != COMPACTION_PROP_FLAGS)
        result[GetOperationPropertyName(op_type, i)] = op_properties[i];
    }
    const uint64_t levels = op_properties[COMPACTION_INPUT_OUTPUT_LEVEL];
    const uint64_t flags = op_properties[COMPACTION_PROP_FLAGS];
    result["BaseInputLevel"] = levels >> 32;
    result["OutputLevel"] = levels & UINT32_MAX;
    result["IsManual"] = flags >> 1 & 1;
    result["IsDeletion"] = flags >> 2 & 1;
    result["IsTrivialMove"] = flags >> 3 & 1;
  }
  return result;
}

}  // namespace ashlar

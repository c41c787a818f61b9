// ThreadStatus: the activity of a thread of an Env at one moment. Env::GetThreadList returns one
// for each background thread, and for each other thread that is running a background job.
//
// I1: a thread that runs no flush or compaction of a database with enable_thread_tracking has
//     OP_UNKNOWN, empty names and zeros.
// I2: numbers grow while an operation runs. They belong to one operation but not to one moment.
// The engine reports OP_FLUSH and OP_COMPACTION, and of their stages STAGE_FLUSH_RUN,
// STAGE_FLUSH_WRITE_L0, STAGE_MEMTABLE_INSTALL_FLUSH_RESULTS, STAGE_COMPACTION_RUN,
// STAGE_COMPACTION_PROCESS_KV and STAGE_COMPACTION_INSTALL. Both …_BYTES_WRITTEN count finished
// tables, and COMPACTION_BYTES_READ stays 0. Waits for mutexes are not reported. The numbers of the
// enumerators are those of RocksDB 11.8.1.
//
// Thread safety: a value; the functions may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ashlar/export.h"

namespace ashlar {

struct ASHLAR_API ThreadStatus {
  static const bool kEnabled;  // true

  enum ThreadType : int {
    HIGH_PRIORITY = 0,  // of the threads that flush
    LOW_PRIORITY,       // of the threads that compact
    USER,               // of the program
    BOTTOM_PRIORITY,    // there are none
    NUM_THREAD_TYPES
  };

  enum OperationType : int {
    OP_UNKNOWN = 0,
    OP_COMPACTION,
    OP_FLUSH,
    OP_DBOPEN,
    OP_GET,
    OP_MULTIGET,
    OP_DBITERATOR,
    OP_VERIFY_DB_CHECKSUM,
    OP_VERIFY_FILE_CHECKSUMS,
    OP_GETENTITY,
    OP_MULTIGETENTITY,
    OP_GET_FILE_CHECKSUMS_FROM_CURRENT_MANIFEST,
    NUM_OP_TYPES
  };

  enum OperationStage : int {
    STAGE_UNKNOWN = 0,
    STAGE_FLUSH_RUN,
    STAGE_FLUSH_WRITE_L0,
    STAGE_COMPACTION_PREPARE,
    STAGE_COMPACTION_RUN,
    STAGE_COMPACTION_PROCESS_KV,
    STAGE_COMPACTION_INSTALL,
    STAGE_COMPACTION_SYNC_FILE,
    STAGE_PICK_MEMTABLES_TO_FLUSH,
    STAGE_MEMTABLE_ROLLBACK,
    STAGE_MEMTABLE_INSTALL_FLUSH_RESULTS,
    NUM_OP_STAGES
  };

  // The positions in op_properties.
  enum CompactionPropertyType : int {
    COMPACTION_JOB_ID = 0,
    COMPACTION_INPUT_OUTPUT_LEVEL,  // first input level << 32 | output level
    COMPACTION_PROP_FLAGS,          // bits: 1 manual, 2 deletion of files, 3 trivial move
    COMPACTION_TOTAL_INPUT_BYTES,
    COMPACTION_BYTES_READ,
    COMPACTION_BYTES_WRITTEN,
    NUM_COMPACTION_PROPERTIES
  };
  enum FlushPropertyType : int {
    FLUSH_JOB_ID = 0,
    FLUSH_BYTES_MEMTABLES,
    FLUSH_BYTES_WRITTEN,
    NUM_FLUSH_PROPERTIES
  };
  static constexpr int kNumOperationProperties = NUM_COMPACTION_PROPERTIES;

  enum StateType : int { STATE_UNKNOWN = 0, STATE_MUTEX_WAIT = 1, NUM_STATE_TYPES };

  // op_properties_in: kNumOperationProperties numbers.
  ThreadStatus(uint64_t id, ThreadType type, const std::string& db, const std::string& cf,
               OperationType operation, uint64_t elapsed_micros, OperationStage stage,
               const uint64_t op_properties_in[], StateType state);

  const uint64_t thread_id;  // as Env::GetThreadID
  const ThreadType thread_type;
  const std::string db_name;  // the directory
  const std::string cf_name;
  const OperationType operation_type;
  const uint64_t op_elapsed_micros;
  const OperationStage operation_stage;
  uint64_t op_properties[kNumOperationProperties];
  const StateType state_type;

  // RocksDB's texts. An unknown value has the text of the first; a thread type, "Unknown".
  static std::string GetThreadTypeName(ThreadType thread_type);
  static const std::string& GetOperationName(OperationType op_type);
  static const std::string& GetOperationStageName(OperationStage stage);
  static const std::string& GetStateName(StateType state_type);
  // The name of the property at position i. Empty: the operation has none there.
  static const std::string& GetOperationPropertyName(OperationType op_type, int i);
  // Formats a duration: "17 us", "20.500 ms", "30.000 sec", "05:17.000 M:S", "02:03:14.000 H:M:S".
  // 0 gives an empty text.
  static const std::string MicrosToString(uint64_t op_elapsed_time);
  // The properties by name. Levels and flags are separate entries.
  static std::map<std::string, uint64_t> InterpretOperationProperties(
      OperationType op_type, const uint64_t* op_properties);
};

}  // namespace ashlar

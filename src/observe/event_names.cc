// Texts of events, for LOG and for people.
#include "ashlar/listener.h"

namespace ashlar {

const char* GetCompactionReasonString(CompactionReason reason) {
  switch (reason) {
    case CompactionReason::kUnknown: return "Unknown";
    case CompactionReason::kLevelL0FilesNum: return "LevelL0FilesNum";
    case CompactionReason::kLevelMaxLevelSize: return "LevelMaxLevelSize";
    case CompactionReason::kUniversalSizeAmplification: return "UniversalSizeAmplification";
    case CompactionReason::kUniversalSizeRatio: return "UniversalSizeRatio";
    case CompactionReason::kUniversalSortedRunNum: return "UniversalSortedRunNum";
    case CompactionReason::kFIFOMaxSize: return "FIFOMaxSize";
    case CompactionReason::kFIFOReduceNumFiles: return "FIFOReduceNumFiles";
    case CompactionReason::kFIFOTtl: return "FIFOTtl";
    case CompactionReason::kManualCompaction: return "ManualCompaction";
    case CompactionReason::kFilesMarkedForCompaction: return "FilesMarkedForCompaction";
    case CompactionReason::kBottommostFiles: return "BottommostFiles";
    case CompactionReason::kTtl: return "Ttl";
    case CompactionReason::kFlush: return "Flush";
    case CompactionReason::kExternalSstIngestion: return "ExternalSstIngestion";
    case CompactionReason::kPeriodicCompaction: return "PeriodicCompaction";
    case CompactionReason::kChangeTemperature: return "ChangeTemperature";
    case CompactionReason::kForcedBlobGC: return "ForcedBlobGC";
    case CompactionReason::kRoundRobinTtl: return "RoundRobinTtl";
    case CompactionReason::kRefitLevel: return "RefitLevel";
    case CompactionReason::kReadTriggered: return "ReadTriggered";
    case CompactionReason::kNumOfReasons: break;
  }
  return "Invalid";
}

const char* GetFlushReasonString(FlushReason reason) {
  switch (reason) {
    case FlushReason::kOthers: return "Other Reasons";
    case FlushReason::kGetLiveFiles: return "Get Live Files";
    case FlushReason::kShutDown: return "Shut down";
    case FlushReason::kExternalFileIngestion: return "External File Ingestion";
    case FlushReason::kManualCompaction: return "Manual Compaction";
    case FlushReason::kWriteBufferManager: return "Write Buffer Manager";
    case FlushReason::kWriteBufferFull: return "Write Buffer Full";
    case FlushReason::kTest: return "Test";
    case FlushReason::kDeleteFiles: return "Delete Files";
    case FlushReason::kAutoCompaction: return "Auto Compaction";
    case FlushReason::kManualFlush: return "Manual Flush";
    case FlushReason::kErrorRecovery: return "Error Recovery";
    case FlushReason::kErrorRecoveryRetryFlush: return "Error Recovery Retry Flush";
    case FlushReason::kWalFull: return "WAL Full";
    case FlushReason::kCatchUpAfterErrorRecovery: return "Catch Up After Error Recovery";
    case FlushReason::kMemtableMaxRangeDeletions: return "Memtable Max Range Deletions";
  }
  return "Invalid";
}

}  // namespace ashlar

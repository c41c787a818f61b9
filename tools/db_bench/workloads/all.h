// Every workload. Each is defined in the file with its name.
#pragma once

#include "tools/db_bench/workload.h"

namespace ashlar::bench {

extern const Workload kFillSeq;
extern const Workload kFillRandom;
extern const Workload kFillUniqueRandom;
extern const Workload kFillSync;
extern const Workload kFillBatch;
extern const Workload kTxFillRandom;
extern const Workload kOverwrite;
extern const Workload kBulkLoad;
extern const Workload kDeleteSeq;
extern const Workload kDeleteRandom;
extern const Workload kDeleteRangeSeq;
extern const Workload kDeleteRangeRandom;
extern const Workload kReadSeq;
extern const Workload kReadReverse;
extern const Workload kReadRandom;
extern const Workload kReadMissing;
extern const Workload kReadHot;
extern const Workload kMultiReadRandom;
extern const Workload kReadWhileWriting;
extern const Workload kReadWhileMerging;
extern const Workload kReadRandomWriteRandom;
extern const Workload kSeekRandom;
extern const Workload kSeekRandomWhileWriting;
extern const Workload kPrefixScan;
extern const Workload kPrefixScanWhileWriting;
extern const Workload kMergeRandom;
extern const Workload kUpdateRandom;
extern const Workload kCompact;
extern const Workload kCompactAll;
extern const Workload kWaitForCompaction;
extern const Workload kFlush;
extern const Workload kVerifyChecksum;
extern const Workload kCrc32c;
extern const Workload kXxh3;
extern const Workload kAmplification;
extern const Workload kStats;
extern const Workload kLevelStats;

}  // namespace ashlar::bench

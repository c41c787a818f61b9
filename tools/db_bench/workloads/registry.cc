#include <algorithm>
#include <iterator>

#include "tools/db_bench/workloads/all.h"

namespace ashlar::bench {
namespace {

constexpr const Workload* kWorkloads[] = {
    &kFillSeq,
    &kFillRandom,
    &kFillUniqueRandom,
    &kFillSync,
    &kFillBatch,
    &kTxFillRandom,
    &kOverwrite,
    &kBulkLoad,
    &kDeleteSeq,
    &kDeleteRandom,
    &kDeleteRangeSeq,
    &kDeleteRangeRandom,
    &kReadSeq,
    &kReadReverse,
    &kReadRandom,
    &kReadMissing,
    &kReadHot,
    &kMultiReadRandom,
    &kReadWhileWriting,
    &kReadWhileMerging,
    &kReadRandomWriteRandom,
    &kSeekRandom,
    &kSeekRandomWhileWriting,
    &kPrefixScan,
    &kPrefixScanWhileWriting,
    &kMergeRandom,
    &kUpdateRandom,
    &kCompact,
    &kCompactAll,
    &kWaitForCompaction,
    &kFlush,
    &kVerifyChecksum,
    &kCrc32c,
    &kXxh3,
    &kAmplification,
    &kStats,
    &kLevelStats,
};

}  // namespace

std::span<const Workload* const> Workloads() { return kWorkloads; }

const Workload* FindWorkload(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kWorkloads), std::end(kWorkloads),
                                         [&](const Workload* w) { return w->name == name; });
  return found == std::end(kWorkloads) ? nullptr : *found;
}

}  // namespace ashlar::bench

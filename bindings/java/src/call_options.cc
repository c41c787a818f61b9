// The options of single calls, and small option structures. They are plain values with one getter
// and one setter for each member.
#include <limits>

#include "convert.h"
#include "native.h"
#include "objects.h"

namespace ashlar::java {

#define SETTER(java_class, holder, name, type, member)                                 \
  ASHLAR_NATIVE(void, java_class##_##name, jlong handle, type value) {                 \
    Native(env, [&](Call& call) {                                                      \
      auto& options = call.Use<holder>(handle).value;                                  \
      options.member = FromJava<std::remove_cvref_t<decltype(options.member)>>(value); \
    });                                                                                \
  }
#define GETTER(java_class, holder, name, type, member)                                         \
  ASHLAR_NATIVE(type, java_class##_##name, jlong handle) {                                     \
    return Native(                                                                             \
        env, [&](Call& call) { return ToJava<type>(call.Use<holder>(handle).value.member); }); \
  }
#define MEMBER(java_class, holder, getter, setter, type, member) \
  SETTER(java_class, holder, setter, type, member)               \
  GETTER(java_class, holder, getter, type, member)
#define CREATE(java_class, holder, name)                             \
  ASHLAR_NATIVE(jlong, java_class##_##name) {                        \
    return Native(env, [&](Call&) { return Register(new holder); }); \
  }

// ---- ReadOptions

ASHLAR_NATIVE(jlong, ReadOptions_newReadOptions__) {
  return Native(env, [&](Call&) { return Register(new ReadOptionsObject); });
}
ASHLAR_NATIVE(jlong, ReadOptions_newReadOptions__ZZ, jboolean verify_checksums,
              jboolean fill_cache) {
  return Native(env, [&](Call&) {
    auto* object = new ReadOptionsObject;
    object->value.verify_checksums = verify_checksums != 0;
    object->value.fill_cache = fill_cache != 0;
    return Register(object);
  });
}
ASHLAR_NATIVE(jlong, ReadOptions_copyReadOptions, jlong handle) {
  return Native(env, [&](Call& call) {
    const auto& from = call.Use<ReadOptionsObject>(handle);
    auto* object = new ReadOptionsObject;
    object->value = from.value;
    object->managed = from.managed;
    object->snapshot = from.snapshot;
    object->lower_bound = from.lower_bound;
    object->upper_bound = from.upper_bound;
    return Register(object);
  });
}
#define READ(getter, setter, type, member) \
  MEMBER(ReadOptions, ReadOptionsObject, getter, setter, type, member)
READ(verifyChecksums, setVerifyChecksums, jboolean, verify_checksums)
READ(fillCache, setFillCache, jboolean, fill_cache)
READ(tailing, setTailing, jboolean, tailing)
READ(totalOrderSeek, setTotalOrderSeek, jboolean, total_order_seek)
READ(prefixSameAsStart, setPrefixSameAsStart, jboolean, prefix_same_as_start)
READ(pinData, setPinData, jboolean, pin_data)
READ(backgroundPurgeOnIteratorCleanup, setBackgroundPurgeOnIteratorCleanup, jboolean,
     background_purge_on_iterator_cleanup)
READ(readaheadSize, setReadaheadSize, jlong, readahead_size)
READ(maxSkippableInternalKeys, setMaxSkippableInternalKeys, jlong, max_skippable_internal_keys)
READ(ignoreRangeDeletions, setIgnoreRangeDeletions, jboolean, ignore_range_deletions)
READ(autoPrefixMode, setAutoPrefixMode, jboolean, auto_prefix_mode)
READ(deadline, setDeadline, jlong, deadline)
READ(ioTimeout, setIoTimeout, jlong, io_timeout)
READ(valueSizeSoftLimit, setValueSizeSoftLimit, jlong, value_size_soft_limit)
READ(readTier, setReadTier, jbyte, read_tier)
#undef READ
// These members are handles. A read looks up their objects.
#define READ_HANDLE(getter, setter, member)                                                     \
  ASHLAR_NATIVE(void, ReadOptions_##setter, jlong handle, jlong value) {                        \
    Native(env, [&](Call& call) { call.Use<ReadOptionsObject>(handle).member = value; });       \
  }                                                                                             \
  ASHLAR_NATIVE(jlong, ReadOptions_##getter, jlong handle) {                                    \
    return Native(env, [&](Call& call) { return call.Use<ReadOptionsObject>(handle).member; }); \
  }
READ_HANDLE(snapshot, setSnapshot, snapshot)
READ_HANDLE(iterateLowerBound, setIterateLowerBound, lower_bound)
READ_HANDLE(iterateUpperBound, setIterateUpperBound, upper_bound)
#undef READ_HANDLE
ASHLAR_NATIVE(void, ReadOptions_setTableFilter, jlong handle, jlong filter) {
  Native(env, [&](Call& call) {
    call.Use<ReadOptionsObject>(handle).value.table_filter =
        call.Use<TableFilterObject>(filter).value;
  });
}
ASHLAR_NATIVE(jboolean, ReadOptions_managed, jlong handle) {
  return Native(env, [&](Call& call) {
    return ToJava<jboolean>(call.Use<ReadOptionsObject>(handle).managed);
  });
}
ASHLAR_NATIVE(void, ReadOptions_setManaged, jlong handle, jboolean managed) {
  Native(env, [&](Call& call) { call.Use<ReadOptionsObject>(handle).managed = managed != 0; });
}

// ---- WriteOptions, FlushOptions

CREATE(WriteOptions, WriteOptionsObject, newWriteOptions)
ASHLAR_NATIVE(jlong, WriteOptions_copyWriteOptions, jlong handle) {
  return Native(env, [&](Call& call) {
    return Register(new WriteOptionsObject(call.Use<WriteOptionsObject>(handle).value));
  });
}
#define WRITE(getter, setter, member) \
  MEMBER(WriteOptions, WriteOptionsObject, getter, setter, jboolean, member)
WRITE(sync, setSync, sync)
WRITE(disableWAL, setDisableWAL, disableWAL)
WRITE(ignoreMissingColumnFamilies, setIgnoreMissingColumnFamilies, ignore_missing_column_families)
WRITE(noSlowdown, setNoSlowdown, no_slowdown)
WRITE(lowPri, setLowPri, low_pri)
WRITE(memtableInsertHintPerBatch, setMemtableInsertHintPerBatch, memtable_insert_hint_per_batch)
#undef WRITE

CREATE(FlushOptions, FlushOptionsObject, newFlushOptions)
MEMBER(FlushOptions, FlushOptionsObject, waitForFlush, setWaitForFlush, jboolean, wait)
MEMBER(FlushOptions, FlushOptionsObject, allowWriteStall, setAllowWriteStall, jboolean,
       allow_write_stall)

// ---- Compactions

CREATE(CompactRangeOptions, CompactRangeOptionsObject, newCompactRangeOptions)
#define RANGE(getter, setter, type, member) \
  MEMBER(CompactRangeOptions, CompactRangeOptionsObject, getter, setter, type, member)
RANGE(exclusiveManualCompaction, setExclusiveManualCompaction, jboolean,
      exclusive_manual_compaction)
RANGE(changeLevel, setChangeLevel, jboolean, change_level)
RANGE(targetLevel, setTargetLevel, jint, target_level)
RANGE(targetPathId, setTargetPathId, jint, target_path_id)
RANGE(bottommostLevelCompaction, setBottommostLevelCompaction, jint, bottommost_level_compaction)
RANGE(allowWriteStall, setAllowWriteStall, jboolean, allow_write_stall)
RANGE(maxSubcompactions, setMaxSubcompactions, jint, max_subcompactions)
#undef RANGE

CREATE(CompactionOptions, CompactionOptionsObject, newCompactionOptions)
#define COMPACTION(getter, setter, type, member) \
  MEMBER(CompactionOptions, CompactionOptionsObject, getter, setter, type, member)
COMPACTION(compression, setCompression, jbyte, compression)
COMPACTION(outputFileSizeLimit, setOutputFileSizeLimit, jlong, output_file_size_limit)
COMPACTION(maxSubcompactions, setMaxSubcompactions, jint, max_subcompactions)
#undef COMPACTION

CREATE(CompactionOptionsFIFO, CompactionOptionsFifoObject, newCompactionOptionsFIFO)
MEMBER(CompactionOptionsFIFO, CompactionOptionsFifoObject, maxTableFilesSize, setMaxTableFilesSize,
       jlong, max_table_files_size)
MEMBER(CompactionOptionsFIFO, CompactionOptionsFifoObject, allowCompaction, setAllowCompaction,
       jboolean, allow_compaction)

CREATE(CompactionOptionsUniversal, CompactionOptionsUniversalObject, newCompactionOptionsUniversal)
#define UNIVERSAL(getter, setter, type, member) \
  MEMBER(CompactionOptionsUniversal, CompactionOptionsUniversalObject, getter, setter, type, member)
UNIVERSAL(sizeRatio, setSizeRatio, jint, size_ratio)
UNIVERSAL(minMergeWidth, setMinMergeWidth, jint, min_merge_width)
UNIVERSAL(maxMergeWidth, setMaxMergeWidth, jint, max_merge_width)
UNIVERSAL(maxSizeAmplificationPercent, setMaxSizeAmplificationPercent, jint,
          max_size_amplification_percent)
UNIVERSAL(compressionSizePercent, setCompressionSizePercent, jint, compression_size_percent)
UNIVERSAL(stopStyle, setStopStyle, jbyte, stop_style)
UNIVERSAL(allowTrivialMove, setAllowTrivialMove, jboolean, allow_trivial_move)
#undef UNIVERSAL

CREATE(CompressionOptions, CompressionOptionsObject, newCompressionOptions)
#define COMPRESSION(getter, setter, type, member) \
  MEMBER(CompressionOptions, CompressionOptionsObject, getter, setter, type, member)
COMPRESSION(windowBits, setWindowBits, jint, window_bits)
COMPRESSION(level, setLevel, jint, level)
COMPRESSION(strategy, setStrategy, jint, strategy)
COMPRESSION(maxDictBytes, setMaxDictBytes, jint, max_dict_bytes)
COMPRESSION(zstdMaxTrainBytes, setZstdMaxTrainBytes, jint, zstd_max_train_bytes)
COMPRESSION(enabled, setEnabled, jboolean, enabled)
#undef COMPRESSION

// ---- ConfigOptions, RestoreOptions

CREATE(ConfigOptions, ConfigOptionsObject, newConfigOptions)
SETTER(ConfigOptions, ConfigOptionsObject, setIgnoreUnknownOptions, jboolean,
       ignore_unknown_options)
SETTER(ConfigOptions, ConfigOptionsObject, setInputStringsEscaped, jboolean, input_strings_escaped)
ASHLAR_NATIVE(void, ConfigOptions_setDelimiter, jlong handle, jstring delimiter) {
  Native(env, [&](Call& call) {
    call.Use<ConfigOptionsObject>(handle).value.delimiter = call.Text(delimiter);
  });
}
ASHLAR_NATIVE(void, ConfigOptions_setEnv, jlong handle, jlong environment) {
  Native(env, [&](Call& call) {
    auto& config = call.Use<ConfigOptionsObject>(handle);
    config.env = call.Use<EnvObject>(environment).value;
    config.value.env = config.env.get();
  });
}
// Ashlar compares comparators at open regardless of this option.
ASHLAR_NATIVE(void, ConfigOptions_setSanityLevel, jlong handle, jbyte /*level*/) {
  Native(env, [&](Call& call) { call.Use<ConfigOptionsObject>(handle); });
}

ASHLAR_NATIVE(jlong, RestoreOptions_newRestoreOptions, jboolean keep_log_files) {
  return Native(env, [&](Call&) {
    return Register(new RestoreOptionsObject(RestoreOptions(keep_log_files != 0)));
  });
}

}  // namespace ashlar::java

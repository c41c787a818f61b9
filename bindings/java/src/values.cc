// Objects that options refer to: slices, caches, filters, table formats, memtables, merge
// operators, rate limiters, environments.
#include <algorithm>

#include "convert.h"
#include "native.h"
#include "objects.h"

namespace ashlar::java {

// ---- Slices. Java's classes record how much of a buffer they have cut off, and pass it to the
// calls that free it. Here the object owns its bytes, so those numbers are not needed.

namespace {

jlong NewOwnSlice(std::string bytes) {
  auto* object = new SliceObject;
  object->own = std::move(bytes);
  object->slice = object->own;
  return Register(object);
}

void ClearSlice(Call& call, jlong handle) {
  auto& object = call.Use<SliceObject>(handle);
  object.slice = Slice();
  object.own.clear();
}

void RemovePrefix(Call& call, jlong handle, jint length) {
  auto& slice = call.Use<SliceObject>(handle).slice;
  if (length < 0 || static_cast<size_t>(length) > slice.size()) {
    call.Fail("java/lang/IndexOutOfBoundsException", "the slice is shorter than that");
  }
  slice.remove_prefix(static_cast<size_t>(length));
}

Slice DirectBytes(Call& call, jobject buffer, jlong length) {
  const jlong capacity = call.env()->GetDirectBufferCapacity(buffer);
  if (length < 0 || length > capacity) {
    call.Fail("java/lang/IllegalArgumentException",
              "the buffer is not direct, or shorter than that");
  }
  return {call.Direct(buffer, 0, static_cast<jint>(length)), static_cast<size_t>(length)};
}

jlong NewDirectSlice(Slice bytes) {
  auto* object = new SliceObject;
  object->slice = bytes;
  return Register(object);
}

}  // namespace

ASHLAR_NATIVE(jlong, AbstractSlice_createNewSliceFromString, jstring text) {
  return Native(env, [&](Call& call) { return NewOwnSlice(call.Text(text)); });
}
ASHLAR_NATIVE(jint, AbstractSlice_size0, jlong handle) {
  return Native(env, [&](Call& call) {
    return static_cast<jint>(call.Use<SliceObject>(handle).slice.size());
  });
}
ASHLAR_NATIVE(jboolean, AbstractSlice_empty0, jlong handle) {
  return Native(env, [&](Call& call) {
    return ToJava<jboolean>(call.Use<SliceObject>(handle).slice.empty());
  });
}
ASHLAR_NATIVE(jstring, AbstractSlice_toString0, jlong handle, jboolean hex) {
  return Native(env, [&](Call& call) {
    return call.NewText(call.Use<SliceObject>(handle).slice.ToString(hex != 0));
  });
}
ASHLAR_NATIVE(jint, AbstractSlice_compare0, jlong handle, jlong other) {
  return Native(env, [&](Call& call) {
    return static_cast<jint>(
        call.Use<SliceObject>(handle).slice.compare(call.Use<SliceObject>(other).slice));
  });
}
ASHLAR_NATIVE(jboolean, AbstractSlice_startsWith0, jlong handle, jlong prefix) {
  return Native(env, [&](Call& call) {
    return ToJava<jboolean>(
        call.Use<SliceObject>(handle).slice.starts_with(call.Use<SliceObject>(prefix).slice));
  });
}

ASHLAR_NATIVE(jlong, Slice_createNewSlice0, jbyteArray data, jint offset) {
  return Native(env, [&](Call& call) {
    ByteCopy bytes;
    call.Copy(data, offset, call.Length(data) - offset, &bytes);
    return NewOwnSlice(bytes.slice().ToString());
  });
}
ASHLAR_NATIVE(jlong, Slice_createNewSlice1, jbyteArray data) {
  return Native(env, [&](Call& call) { return NewOwnSlice(call.CopyString(data)); });
}
ASHLAR_NATIVE(jbyteArray, Slice_data0, jlong handle) {
  return Native(env,
                [&](Call& call) { return call.NewBytes(call.Use<SliceObject>(handle).slice); });
}
ASHLAR_NATIVE(void, Slice_clear0, jlong handle, jboolean /*internal*/, jlong /*offset*/) {
  Native(env, [&](Call& call) { ClearSlice(call, handle); });
}
ASHLAR_NATIVE(void, Slice_removePrefix0, jlong handle, jint length) {
  Native(env, [&](Call& call) { RemovePrefix(call, handle, length); });
}
ASHLAR_NATIVE(void, Slice_disposeInternalBuf, jlong /*handle*/, jlong /*offset*/) {}

ASHLAR_NATIVE(jlong, DirectSlice_createNewDirectSlice0, jobject buffer, jint length) {
  return Native(env, [&](Call& call) { return NewDirectSlice(DirectBytes(call, buffer, length)); });
}
ASHLAR_NATIVE(jlong, DirectSlice_createNewDirectSlice1, jobject buffer) {
  return Native(env, [&](Call& call) {
    const Slice all = DirectBytes(call, buffer, env->GetDirectBufferCapacity(buffer));
    // Without a length, the slice ends before the first zero byte, if any.
    return NewDirectSlice(Slice(all.data(), std::min(all.ToStringView().find('\0'), all.size())));
  });
}
ASHLAR_NATIVE(jobject, DirectSlice_data0, jlong handle) {
  return Native(env, [&](Call& call) {
    const Slice& slice = call.Use<SliceObject>(handle).slice;
    return call.Made(env->NewDirectByteBuffer(const_cast<char*>(slice.data()),
                                              static_cast<jlong>(slice.size())));
  });
}
ASHLAR_NATIVE(jbyte, DirectSlice_get0, jlong handle, jint offset) {
  return Native(env, [&](Call& call) {
    const Slice& slice = call.Use<SliceObject>(handle).slice;
    if (offset < 0 || static_cast<size_t>(offset) >= slice.size()) {
      call.Fail("java/lang/IndexOutOfBoundsException", "the slice is shorter than that");
    }
    return static_cast<jbyte>(slice[static_cast<size_t>(offset)]);
  });
}
ASHLAR_NATIVE(void, DirectSlice_clear0, jlong handle, jboolean /*internal*/, jlong /*offset*/) {
  Native(env, [&](Call& call) { ClearSlice(call, handle); });
}
ASHLAR_NATIVE(void, DirectSlice_removePrefix0, jlong handle, jint length) {
  Native(env, [&](Call& call) { RemovePrefix(call, handle, length); });
}
ASHLAR_NATIVE(void, DirectSlice_setLength0, jlong handle, jint length) {
  Native(env, [&](Call& call) {
    auto& slice = call.Use<SliceObject>(handle).slice;
    if (length < 0 || static_cast<size_t>(length) > slice.size()) {
      call.Fail("java/lang/IndexOutOfBoundsException", "the slice is shorter than that");
    }
    slice = Slice(slice.data(), static_cast<size_t>(length));
  });
}
ASHLAR_NATIVE(void, DirectSlice_disposeInternalBuf, jlong /*handle*/, jlong /*offset*/) {}

// ---- Caches. Ashlar's only kind stands for both of RocksDB's kinds.

ASHLAR_NATIVE(jlong, LRUCache_newLRUCache, jlong capacity, jint shard_bits, jboolean strict,
              jdouble high_priority_ratio, jdouble low_priority_ratio) {
  return Native(env, [&](Call& call) {
    LRUCacheOptions o(ToSize(call, capacity), shard_bits, strict != 0, high_priority_ratio);
    o.low_pri_pool_ratio = low_priority_ratio;
    return Register(new CacheObject(NewLRUCache(o)));
  });
}
ASHLAR_NATIVE(jlong, ClockCache_newClockCache, jlong capacity, jint shard_bits, jboolean strict) {
  return Native(env, [&](Call& call) {
    return Register(new CacheObject(NewLRUCache(ToSize(call, capacity), shard_bits, strict != 0)));
  });
}
ASHLAR_NATIVE(jlong, Cache_getUsage, jlong handle) {
  return Native(env, [&](Call& call) {
    return static_cast<jlong>(call.Use<CacheObject>(handle).value->GetUsage());
  });
}
ASHLAR_NATIVE(jlong, Cache_getPinnedUsage, jlong handle) {
  return Native(env, [&](Call& call) {
    return static_cast<jlong>(call.Use<CacheObject>(handle).value->GetPinnedUsage());
  });
}

ASHLAR_NATIVE(jlong, BloomFilter_createNewBloomFilter, jdouble bits_per_key) {
  return Native(env, [&](Call&) {
    return Register(new FilterPolicyObject(
        std::shared_ptr<const FilterPolicy>(NewBloomFilterPolicy(bits_per_key))));
  });
}

// ---- Table formats

ASHLAR_NATIVE(jlong, BlockBasedTableConfig_newTableFactoryHandle,
              jboolean cache_index_and_filter_blocks,
              jboolean cache_index_and_filter_blocks_with_high_priority,
              jboolean pin_l0_filter_and_index_blocks_in_cache,
              jboolean pin_top_level_index_and_filter, jbyte index_type,
              jbyte data_block_index_type, jdouble data_block_hash_table_util_ratio, jbyte checksum,
              jboolean no_block_cache, jlong block_cache, jlong persistent_cache,
              jlong compressed_cache, jlong block_size, jint block_size_deviation,
              jint block_restart_interval, jint index_block_restart_interval,
              jlong metadata_block_size, jboolean partition_filters,
              jboolean optimize_filters_for_memory, jboolean use_delta_encoding,
              jlong filter_policy, jboolean whole_key_filtering, jboolean verify_compression,
              jint read_amp_bytes_per_bit, jint format_version, jboolean enable_index_compression,
              jboolean block_align, jbyte index_shortening, jlong block_cache_size,
              jint block_cache_shard_bits, jlong compressed_cache_size,
              jint /*compressed_cache_shard_bits*/) {
  return Native(env, [&](Call& call) {
    if (persistent_cache != 0) call.Unsupported("PersistentCache");
    if (compressed_cache != 0) call.Unsupported("setBlockCacheCompressed");
    if (compressed_cache_size > 0) call.Unsupported("setBlockCacheCompressedSize");
    BlockBasedTableOptions o;
    o.cache_index_and_filter_blocks = cache_index_and_filter_blocks != 0;
    o.cache_index_and_filter_blocks_with_high_priority =
        cache_index_and_filter_blocks_with_high_priority != 0;
    o.pin_l0_filter_and_index_blocks_in_cache = pin_l0_filter_and_index_blocks_in_cache != 0;
    o.pin_top_level_index_and_filter = pin_top_level_index_and_filter != 0;
    o.index_type = static_cast<BlockBasedTableOptions::IndexType>(index_type);
    o.data_block_index_type =
        static_cast<BlockBasedTableOptions::DataBlockIndexType>(data_block_index_type);
    o.data_block_hash_table_util_ratio = data_block_hash_table_util_ratio;
    o.checksum = static_cast<ChecksumType>(checksum);
    o.no_block_cache = no_block_cache != 0;
    if (!o.no_block_cache) {
      if (block_cache != 0) {
        o.block_cache = call.Use<CacheObject>(block_cache).value;
      } else if (block_cache_size > 0) {
        o.block_cache = NewLRUCache(static_cast<size_t>(block_cache_size), block_cache_shard_bits);
      } else if (block_cache_size == 0) {
        o.no_block_cache = true;  // as in RocksDB
      }
    }
    o.block_size = static_cast<uint64_t>(block_size);
    o.block_size_deviation = block_size_deviation;
    o.block_restart_interval = block_restart_interval;
    o.index_block_restart_interval = index_block_restart_interval;
    o.metadata_block_size = static_cast<uint64_t>(metadata_block_size);
    o.partition_filters = partition_filters != 0;
    o.optimize_filters_for_memory = optimize_filters_for_memory != 0;
    o.use_delta_encoding = use_delta_encoding != 0;
    if (filter_policy != 0) o.filter_policy = call.Use<FilterPolicyObject>(filter_policy).value;
    o.whole_key_filtering = whole_key_filtering != 0;
    o.verify_compression = verify_compression != 0;
    o.read_amp_bytes_per_bit = static_cast<uint32_t>(read_amp_bytes_per_bit);
    o.format_version = static_cast<uint32_t>(format_version);
    o.enable_index_compression = enable_index_compression != 0;
    o.block_align = block_align != 0;
    o.index_shortening = static_cast<BlockBasedTableOptions::IndexShorteningMode>(index_shortening);
    return Register(
        new TableFactoryObject(std::shared_ptr<TableFactory>(NewBlockBasedTableFactory(o))));
  });
}
ASHLAR_NATIVE(jlong, PlainTableConfig_newTableFactoryHandle, jint key_size, jint bloom_bits_per_key,
              jdouble hash_table_ratio, jint index_sparseness, jint huge_page_tlb_size,
              jbyte encoding_type, jboolean full_scan_mode, jboolean store_index_in_file) {
  return Native(env, [&](Call& call) {
    PlainTableOptions o;
    o.user_key_len = static_cast<uint32_t>(key_size);
    o.bloom_bits_per_key = bloom_bits_per_key;
    o.hash_table_ratio = hash_table_ratio;
    o.index_sparseness = ToSize(call, index_sparseness);
    o.huge_page_tlb_size = ToSize(call, huge_page_tlb_size);
    o.encoding_type = static_cast<EncodingType>(encoding_type);
    o.full_scan_mode = full_scan_mode != 0;
    o.store_index_in_file = store_index_in_file != 0;
    return Register(new TableFactoryObject(std::shared_ptr<TableFactory>(NewPlainTableFactory(o))));
  });
}

// ---- Memtables

namespace {
jlong RegisterMemTable(MemTableRepFactory* factory) {
  return Register(new MemTableFactoryObject(std::shared_ptr<MemTableRepFactory>(factory)));
}
}  // namespace

ASHLAR_NATIVE(jlong, SkipListMemTableConfig_newMemTableFactoryHandle0, jlong lookahead) {
  return Native(env, [&](Call& call) {
    return RegisterMemTable(new SkipListFactory(ToSize(call, lookahead)));
  });
}
ASHLAR_NATIVE(jlong, VectorMemTableConfig_newMemTableFactoryHandle, jlong reserved_size) {
  return Native(env, [&](Call& call) {
    return RegisterMemTable(new VectorRepFactory(ToSize(call, reserved_size)));
  });
}
ASHLAR_NATIVE(jlong, HashSkipListMemTableConfig_newMemTableFactoryHandle, jlong bucket_count,
              jint height, jint branching_factor) {
  return Native(env, [&](Call& call) {
    return RegisterMemTable(
        NewHashSkipListRepFactory(ToSize(call, bucket_count), height, branching_factor));
  });
}
ASHLAR_NATIVE(jlong, HashLinkedListMemTableConfig_newMemTableFactoryHandle, jlong bucket_count,
              jlong huge_page_tlb_size, jint logging_threshold, jboolean log_at_flush,
              jint use_skiplist) {
  return Native(env, [&](Call& call) {
    return RegisterMemTable(NewHashLinkListRepFactory(
        ToSize(call, bucket_count), ToSize(call, huge_page_tlb_size), logging_threshold,
        log_at_flush != 0, static_cast<uint32_t>(use_skiplist)));
  });
}

// ---- Merge operators

ASHLAR_NATIVE(jlong, StringAppendOperator_newSharedStringAppendOperator__C, jchar delimiter) {
  return Native(env, [&](Call&) {
    return Register(new MergeOperatorObject(
        MergeOperators::CreateStringAppendOperator(static_cast<char>(delimiter))));
  });
}
ASHLAR_NATIVE(jlong, StringAppendOperator_newSharedStringAppendOperator__Ljava_lang_String_2,
              jstring delimiter) {
  return Native(env, [&](Call& call) {
    return Register(
        new MergeOperatorObject(MergeOperators::CreateStringAppendOperator(call.Text(delimiter))));
  });
}
ASHLAR_NATIVE(jlong, UInt64AddOperator_newSharedUInt64AddOperator) {
  return Native(env, [&](Call&) {
    return Register(new MergeOperatorObject(MergeOperators::CreateUInt64AddOperator()));
  });
}

// ---- Partitioners.

ASHLAR_NATIVE(jlong, SstPartitionerFixedPrefixFactory_newSstPartitionerFixedPrefixFactory0,
              jlong prefix_bytes) {
  return Native(env, [&](Call& call) {
    return Register(new SstPartitionerFactoryObject(
        NewSstPartitionerFixedPrefixFactory(ToSize(call, prefix_bytes))));
  });
}

// ---- Rate limiters.

ASHLAR_NATIVE(jlong, RateLimiter_newRateLimiterHandle, jlong bytes_per_second,
              jlong refill_period_us, jint fairness, jbyte mode, jboolean auto_tune) {
  return Native(env, [&](Call& call) {
    // RateLimiterMode has the numbers of RateLimiter::Mode.
    if (mode < 0 || mode > static_cast<jbyte>(RateLimiter::Mode::kAllIo))
      call.Fail("java/lang/IllegalArgumentException", "an unknown mode");
    return Register(new RateLimiterObject(std::shared_ptr<RateLimiter>(
        NewGenericRateLimiter(bytes_per_second, refill_period_us, fairness,
                              static_cast<RateLimiter::Mode>(mode), auto_tune != JNI_FALSE))));
  });
}
ASHLAR_NATIVE(void, RateLimiter_setBytesPerSecond, jlong handle, jlong bytes_per_second) {
  Native(env, [&](Call& call) {
    if (bytes_per_second <= 0) {
      call.Fail("java/lang/IllegalArgumentException", "the rate must be above 0");
    }
    call.Use<RateLimiterObject>(handle).value->SetBytesPerSecond(bytes_per_second);
  });
}
ASHLAR_NATIVE(void, RateLimiter_request, jlong handle, jlong bytes) {
  Native(env, [&](Call& call) {
    call.Use<RateLimiterObject>(handle).value->Request(bytes, Env::IO_USER);
  });
}
#define RATE_LIMITER(name, function)                                                    \
  ASHLAR_NATIVE(jlong, RateLimiter_##name, jlong handle) {                              \
    return Native(env, [&](Call& call) {                                                \
      return static_cast<jlong>(call.Use<RateLimiterObject>(handle).value->function()); \
    });                                                                                 \
  }
RATE_LIMITER(getBytesPerSecond, GetBytesPerSecond)
RATE_LIMITER(getSingleBurstBytes, GetSingleBurstBytes)
RATE_LIMITER(getTotalBytesThrough, GetTotalBytesThrough)
RATE_LIMITER(getTotalRequests, GetTotalRequests)
#undef RATE_LIMITER

// ---- The space of tables.

ASHLAR_NATIVE(jlong, SstFileManager_newSstFileManager, jlong environment, jlong logger,
              jlong bytes_per_second, jdouble max_trash_ratio, jlong max_chunk_bytes) {
  return Native(env, [&](Call& call) {
    const std::shared_ptr<Env> world = call.Use<EnvObject>(environment).value;
    const auto* const log = call.UseOrNull<LoggerObject>(logger);
    SstFileManager* const manager =
        NewSstFileManager(world.get(), log == nullptr ? nullptr : log->value, "", bytes_per_second,
                          true, nullptr, max_trash_ratio, ToSize(call, max_chunk_bytes));
    // Java may close the environment before the manager.
    return Register(new SstFileManagerObject(std::shared_ptr<SstFileManager>(
        manager, [world](SstFileManager* unused) { delete unused; })));
  });
}
ASHLAR_NATIVE(void, SstFileManager_setMaxAllowedSpaceUsage, jlong handle, jlong bytes) {
  Native(env, [&](Call& call) {
    call.Use<SstFileManagerObject>(handle).value->SetMaxAllowedSpaceUsage(ToSize(call, bytes));
  });
}
ASHLAR_NATIVE(void, SstFileManager_setCompactionBufferSize, jlong handle, jlong bytes) {
  Native(env, [&](Call& call) {
    call.Use<SstFileManagerObject>(handle).value->SetCompactionBufferSize(ToSize(call, bytes));
  });
}
ASHLAR_NATIVE(void, SstFileManager_setDeleteRateBytesPerSecond, jlong handle, jlong rate) {
  Native(env, [&](Call& call) {
    call.Use<SstFileManagerObject>(handle).value->SetDeleteRateBytesPerSecond(rate);
  });
}
ASHLAR_NATIVE(void, SstFileManager_setMaxTrashDBRatio, jlong handle, jdouble ratio) {
  Native(env, [&](Call& call) {
    call.Use<SstFileManagerObject>(handle).value->SetMaxTrashDBRatio(ratio);
  });
}
#define SST_FILE_MANAGER(type, name, function)                                       \
  ASHLAR_NATIVE(type, SstFileManager_##name, jlong handle) {                         \
    return Native(env, [&](Call& call) {                                             \
      return ToJava<type>(call.Use<SstFileManagerObject>(handle).value->function()); \
    });                                                                              \
  }
SST_FILE_MANAGER(jboolean, isMaxAllowedSpaceReached, IsMaxAllowedSpaceReached)
SST_FILE_MANAGER(jboolean, isMaxAllowedSpaceReachedIncludingCompactions,
                 IsMaxAllowedSpaceReachedIncludingCompactions)
SST_FILE_MANAGER(jlong, getTotalSize, GetTotalSize)
SST_FILE_MANAGER(jlong, getDeleteRateBytesPerSecond, GetDeleteRateBytesPerSecond)
SST_FILE_MANAGER(jdouble, getMaxTrashDBRatio, GetMaxTrashDBRatio)
#undef SST_FILE_MANAGER
ASHLAR_NATIVE(jobject, SstFileManager_getTrackedFiles, jlong handle) {
  return Native(env, [&](Call& call) {
    const jobject map = call.NewMap();
    for (const auto& [path, bytes] :
         call.Use<SstFileManagerObject>(handle).value->GetTrackedFiles()) {
      const LocalRef<> key(env, call.NewText(path));
      const LocalRef<> value(env, call.New("java/lang/Long", "(J)V", static_cast<jlong>(bytes)));
      call.PutInMap(map, key.get(), value.get());
    }
    return map;
  });
}

// ---- The memory of memtables.

ASHLAR_NATIVE(jlong, WriteBufferManager_newWriteBufferManager, jlong bytes, jlong cache,
              jboolean allow_stall) {
  return Native(env, [&](Call& call) {
    return Register(new WriteBufferManagerObject(std::make_shared<WriteBufferManager>(
        ToSize(call, bytes), call.Use<CacheObject>(cache).value, allow_stall != 0)));
  });
}

// ---- Environments

namespace {

// Java's numbering omits USER.
Env::Priority PriorityOf(Call& call, jbyte priority) {
  switch (priority) {
    case 0: return Env::BOTTOM;
    case 1: return Env::LOW;
    case 2: return Env::HIGH;
    default: call.Fail("java/lang/IllegalArgumentException", "TOTAL is no thread pool");
  }
}

}  // namespace

ASHLAR_NATIVE(jlong, Env_getDefaultEnvInternal) {
  return Native(env, [&](Call&) { return DefaultEnvHandle(); });
}
ASHLAR_NATIVE(jlong, RocksMemEnv_createMemEnv, jlong base) {
  return Native(env, [&](Call& call) {
    const std::shared_ptr<Env> base_env = call.Use<EnvObject>(base).value;
    return Register(new EnvObject(
        std::shared_ptr<Env>(NewMemEnv(base_env.get()), [base_env](Env* e) { delete e; })));
  });
}
ASHLAR_NATIVE(jlong, TimedEnv_createTimedEnv, jlong base) {
  return Native(env, [&](Call& call) {
    const std::shared_ptr<Env> base_env = call.Use<EnvObject>(base).value;
    return Register(new EnvObject(
        std::shared_ptr<Env>(NewTimedEnv(base_env.get()), [base_env](Env* e) { delete e; })));
  });
}
ASHLAR_NATIVE(jint, Env_getThreadPoolQueueLen, jlong handle, jbyte priority) {
  return Native(env, [&](Call& call) {
    return static_cast<jint>(
        call.Use<EnvObject>(handle).value->GetThreadPoolQueueLen(PriorityOf(call, priority)));
  });
}
ASHLAR_NATIVE(void, Env_lowerThreadPoolIOPriority, jlong handle, jbyte priority) {
  Native(env, [&](Call& call) {
    call.Use<EnvObject>(handle).value->LowerThreadPoolIOPriority(PriorityOf(call, priority));
  });
}
ASHLAR_NATIVE(void, Env_lowerThreadPoolCPUPriority, jlong handle, jbyte priority) {
  Native(env, [&](Call& call) {
    call.Use<EnvObject>(handle).value->LowerThreadPoolCPUPriority(PriorityOf(call, priority));
  });
}
ASHLAR_NATIVE(void, Env_setBackgroundThreads, jlong handle, jint number, jbyte priority) {
  Native(env, [&](Call& call) {
    call.Use<EnvObject>(handle).value->SetBackgroundThreads(number, PriorityOf(call, priority));
  });
}
ASHLAR_NATIVE(void, Env_incBackgroundThreadsIfNeeded, jlong handle, jint number, jbyte priority) {
  Native(env, [&](Call& call) {
    call.Use<EnvObject>(handle).value->IncBackgroundThreadsIfNeeded(number,
                                                                    PriorityOf(call, priority));
  });
}
ASHLAR_NATIVE(jint, Env_getBackgroundThreads, jlong handle, jbyte priority) {
  return Native(env, [&](Call& call) {
    return static_cast<jint>(
        call.Use<EnvObject>(handle).value->GetBackgroundThreads(PriorityOf(call, priority)));
  });
}

}  // namespace ashlar::java

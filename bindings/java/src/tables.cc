// Table files outside of a database: EnvOptions, SstFileWriter, SstFileReader, and their ingestion,
// RocksDB.ingestExternalFile. The iterators of a reader are in reads.cc.
#include <memory>
#include <mutex>

#include "convert.h"
#include "native.h"
#include "objects.h"
#include "transfer.h"

namespace ashlar::java {

// ---- EnvOptions

ASHLAR_NATIVE(jlong, EnvOptions_newEnvOptions__) {
  return Native(env, [&](Call&) { return Register(new EnvOptionsObject); });
}
ASHLAR_NATIVE(jlong, EnvOptions_newEnvOptions__J, jlong options) {
  return Native(env, [&](Call& call) {
    const DBOptions& of = call.Use<DBOptionsObject>(options).value;
    auto* object = new EnvOptionsObject;
    object->value = EnvOptions(of);
    object->rate_limiter = of.rate_limiter;
    return Register(object);
  });
}
#define ENV_OPTION(getter, setter, type, member)                                       \
  ASHLAR_NATIVE(void, EnvOptions_##setter, jlong handle, type value) {                 \
    Native(env, [&](Call& call) {                                                      \
      EnvOptions& options = call.Use<EnvOptionsObject>(handle).value;                  \
      options.member = FromJava<std::remove_cvref_t<decltype(options.member)>>(value); \
    });                                                                                \
  }                                                                                    \
  ASHLAR_NATIVE(type, EnvOptions_##getter, jlong handle) {                             \
    return Native(env, [&](Call& call) {                                               \
      return ToJava<type>(call.Use<EnvOptionsObject>(handle).value.member);            \
    });                                                                                \
  }
ENV_OPTION(allowFallocate, setAllowFallocate, jboolean, allow_fallocate)
ENV_OPTION(bytesPerSync, setBytesPerSync, jlong, bytes_per_sync)
ENV_OPTION(compactionReadaheadSize, setCompactionReadaheadSize, jlong, compaction_readahead_size)
ENV_OPTION(fallocateWithKeepSize, setFallocateWithKeepSize, jboolean, fallocate_with_keep_size)
ENV_OPTION(setFdCloexec, setSetFdCloexec, jboolean, set_fd_cloexec)
ENV_OPTION(useDirectReads, setUseDirectReads, jboolean, use_direct_reads)
ENV_OPTION(useDirectWrites, setUseDirectWrites, jboolean, use_direct_writes)
ENV_OPTION(useMmapReads, setUseMmapReads, jboolean, use_mmap_reads)
ENV_OPTION(useMmapWrites, setUseMmapWrites, jboolean, use_mmap_writes)
ENV_OPTION(writableFileMaxBufferSize, setWritableFileMaxBufferSize, jlong,
           writable_file_max_buffer_size)
#undef ENV_OPTION
ASHLAR_NATIVE(void, EnvOptions_setRandomAccessMaxBufferSize, jlong handle, jlong bytes) {
  Native(env, [&](Call& call) {
    call.Use<EnvOptionsObject>(handle).random_access_max_buffer_size = bytes;
  });
}
ASHLAR_NATIVE(jlong, EnvOptions_randomAccessMaxBufferSize, jlong handle) {
  return Native(env, [&](Call& call) {
    return call.Use<EnvOptionsObject>(handle).random_access_max_buffer_size;
  });
}
ASHLAR_NATIVE(void, EnvOptions_setRateLimiter, jlong handle, jlong limiter) {
  Native(env, [&](Call& call) {
    auto& options = call.Use<EnvOptionsObject>(handle);
    options.rate_limiter = call.Use<RateLimiterObject>(limiter).value;
    options.value.rate_limiter = options.rate_limiter.get();
  });
}

// ---- SstFileWriter

ASHLAR_NATIVE(jlong, SstFileWriter_newSstFileWriter__JJ, jlong files, jlong options) {
  return Native(env, [&](Call& call) {
    const auto& given = call.Use<OptionsObject>(options);
    return Register(
        new SstFileWriterObject(call.Use<EnvOptionsObject>(files), given.value, given.kept));
  });
}
// Uses this comparator instead of the options' comparator.
ASHLAR_NATIVE(jlong, SstFileWriter_newSstFileWriter__JJJB, jlong files, jlong options,
              jlong comparator, jbyte type) {
  return Native(env, [&](Call& call) {
    if (type != 0) call.Unsupported("comparators of another native library");
    const auto& given = call.Use<OptionsObject>(options);
    Options changed = given.value;
    Kept kept = given.kept;
    kept.comparator = call.Use<ComparatorObject>(comparator).value;
    changed.comparator = kept.comparator.get();
    return Register(new SstFileWriterObject(call.Use<EnvOptionsObject>(files), changed, kept));
  });
}
ASHLAR_NATIVE(void, SstFileWriter_open, jlong handle, jstring path) {
  Native(env, [&](Call& call) {
    call.Check(call.Use<SstFileWriterObject>(handle).writer.Open(call.Text(path)));
  });
}

namespace {
// Adds an entry whose key and value are Java slices.
template <typename Add>
void AddSlices(JNIEnv* env, jlong handle, jlong key, jlong value, Add add) {
  Native(env, [&](Call& call) {
    auto& writer = call.Use<SstFileWriterObject>(handle).writer;
    const Slice value_slice = value == 0 ? Slice() : call.Use<SliceObject>(value).slice;
    call.Check(add(writer, call.Use<SliceObject>(key).slice, value_slice));
  });
}
// Adds an entry whose key and value are arrays. A null array is no value.
template <typename Add>
void AddArrays(JNIEnv* env, jlong handle, jbyteArray key, jbyteArray value, Add add) {
  Native(env, [&](Call& call) {
    auto& writer = call.Use<SstFileWriterObject>(handle).writer;
    ByteCopy key_bytes, value_bytes;
    call.Copy(key, &key_bytes);
    if (value != nullptr) call.Copy(value, &value_bytes);
    call.Check(add(writer, key_bytes.slice(), value_bytes.slice()));
  });
}
constexpr auto kPut = [](SstFileWriter& writer, const Slice& key, const Slice& value) {
  return writer.Put(key, value);
};
constexpr auto kMerge = [](SstFileWriter& writer, const Slice& key, const Slice& value) {
  return writer.Merge(key, value);
};
constexpr auto kDelete = [](SstFileWriter& writer, const Slice& key, const Slice&) {
  return writer.Delete(key);
};
}  // namespace

ASHLAR_NATIVE(void, SstFileWriter_put__JJJ, jlong handle, jlong key, jlong value) {
  AddSlices(env, handle, key, value, kPut);
}
ASHLAR_NATIVE(void, SstFileWriter_put__J_3B_3B, jlong handle, jbyteArray key, jbyteArray value) {
  AddArrays(env, handle, key, value, kPut);
}
ASHLAR_NATIVE(void, SstFileWriter_putDirect, jlong handle, jobject key, jint key_offset,
              jint key_length, jobject value, jint value_offset, jint value_length) {
  Native(env, [&](Call& call) {
    call.Check(call.Use<SstFileWriterObject>(handle).writer.Put(
        call.DirectSlice(key, key_offset, key_length),
        call.DirectSlice(value, value_offset, value_length)));
  });
}
ASHLAR_NATIVE(void, SstFileWriter_merge__JJJ, jlong handle, jlong key, jlong value) {
  AddSlices(env, handle, key, value, kMerge);
}
ASHLAR_NATIVE(void, SstFileWriter_merge__J_3B_3B, jlong handle, jbyteArray key, jbyteArray value) {
  AddArrays(env, handle, key, value, kMerge);
}
ASHLAR_NATIVE(void, SstFileWriter_delete__JJ, jlong handle, jlong key) {
  AddSlices(env, handle, key, 0, kDelete);
}
ASHLAR_NATIVE(void, SstFileWriter_delete__J_3B, jlong handle, jbyteArray key) {
  AddArrays(env, handle, key, nullptr, kDelete);
}
ASHLAR_NATIVE(void, SstFileWriter_finish, jlong handle) {
  Native(env,
         [&](Call& call) { call.Check(call.Use<SstFileWriterObject>(handle).writer.Finish()); });
}
ASHLAR_NATIVE(jlong, SstFileWriter_fileSize, jlong handle) {
  return Native(env, [&](Call& call) {
    return static_cast<jlong>(call.Use<SstFileWriterObject>(handle).writer.FileSize());
  });
}

// ---- SstFileReader

SstFileReaderObject::~SstFileReaderObject() {
  for (;;) {
    jlong iterator;
    {
      const std::lock_guard<std::mutex> lock(value->mutex);
      if (value->iterators.empty()) return;
      iterator = *value->iterators.begin();
      value->iterators.erase(value->iterators.begin());
    }
    Dispose(iterator);
  }
}

const char* SstFileReaderObject::ReasonNotToClose(const ThreadRecord& own) const {
  const std::lock_guard<std::mutex> lock(value->mutex);
  const bool uses_one =
      own.AnyOf(own.count, [&](jlong handle) { return value->iterators.count(handle) != 0; });
  return uses_one ? "an iterator of the reader is in use by a call of this thread that has not "
                    "returned"
                  : nullptr;
}

SstFileReaderIteratorObject::~SstFileReaderIteratorObject() {
  const std::lock_guard<std::mutex> lock(file->mutex);
  file->iterators.erase(handle);
}

ASHLAR_NATIVE(jlong, SstFileReader_newSstFileReader, jlong options) {
  return Native(env, [&](Call& call) {
    const auto& given = call.Use<OptionsObject>(options);
    return Register(new SstFileReaderObject(std::make_shared<SstFile>(given.value, given.kept)));
  });
}
ASHLAR_NATIVE(void, SstFileReader_open, jlong handle, jstring path) {
  Native(env, [&](Call& call) {
    call.Check(call.Use<SstFileReaderObject>(handle).value->reader.Open(call.Text(path)));
  });
}
ASHLAR_NATIVE(jlong, SstFileReader_newIterator, jlong handle, jlong options) {
  return Native(env, [&](Call& call) {
    auto object =
        std::make_unique<SstFileReaderIteratorObject>(call.Use<SstFileReaderObject>(handle).value);
    const Reading reading(call, options);
    const ReadOptions with_bounds =
        IteratorOptions(call, options, reading.options(), &object->bounds);
    object->iterator.reset(object->file->reader.NewIterator(with_bounds));
    auto* const iterator = object.release();
    // The reader cannot be closed before this call ends.
    iterator->handle = Register(iterator);
    const std::lock_guard<std::mutex> lock(iterator->file->mutex);
    iterator->file->iterators.insert(iterator->handle);
    return iterator->handle;
  });
}
ASHLAR_NATIVE(void, SstFileReader_verifyChecksum, jlong handle) {
  Native(env, [&](Call& call) {
    call.Check(call.Use<SstFileReaderObject>(handle).value->reader.VerifyChecksum());
  });
}
ASHLAR_NATIVE(jobject, SstFileReader_getTableProperties, jlong handle) {
  return Native(env, [&](Call& call) {
    const auto properties =
        call.Use<SstFileReaderObject>(handle).value->reader.GetTableProperties();
    if (properties == nullptr)
      call.Fail("java/lang/IllegalStateException", "SstFileReader.open comes first");
    return NewTableProperties(call, *properties);
  });
}

// ---- IngestExternalFileOptions

ASHLAR_NATIVE(jlong, IngestExternalFileOptions_newIngestExternalFileOptions__) {
  return Native(env, [&](Call&) { return Register(new IngestExternalFileOptionsObject); });
}
ASHLAR_NATIVE(jlong, IngestExternalFileOptions_newIngestExternalFileOptions__ZZZZ,
              jboolean move_files, jboolean snapshot_consistency, jboolean allow_global_seqno,
              jboolean allow_blocking_flush) {
  return Native(env, [&](Call&) {
    auto* object = new IngestExternalFileOptionsObject;
    object->value.move_files = move_files != 0;
    object->value.snapshot_consistency = snapshot_consistency != 0;
    object->value.allow_global_seqno = allow_global_seqno != 0;
    object->value.allow_blocking_flush = allow_blocking_flush != 0;
    return Register(object);
  });
}
#define INGESTION_OPTION(getter, setter, member)                                               \
  ASHLAR_NATIVE(void, IngestExternalFileOptions_##setter, jlong handle, jboolean value) {      \
    Native(env, [&](Call& call) {                                                              \
      call.Use<IngestExternalFileOptionsObject>(handle).value.member = value != 0;             \
    });                                                                                        \
  }                                                                                            \
  ASHLAR_NATIVE(jboolean, IngestExternalFileOptions_##getter, jlong handle) {                  \
    return Native(env, [&](Call& call) {                                                       \
      return ToJava<jboolean>(call.Use<IngestExternalFileOptionsObject>(handle).value.member); \
    });                                                                                        \
  }
INGESTION_OPTION(moveFiles, setMoveFiles, move_files)
INGESTION_OPTION(snapshotConsistency, setSnapshotConsistency, snapshot_consistency)
INGESTION_OPTION(allowGlobalSeqNo, setAllowGlobalSeqNo, allow_global_seqno)
INGESTION_OPTION(allowBlockingFlush, setAllowBlockingFlush, allow_blocking_flush)
INGESTION_OPTION(ingestBehind, setIngestBehind, ingest_behind)
INGESTION_OPTION(writeGlobalSeqno, setWriteGlobalSeqno, write_global_seqno)
#undef INGESTION_OPTION

ASHLAR_NATIVE(void, RocksDB_ingestExternalFile, jlong handle, jlong family, jobjectArray paths,
              jint /*count*/, jlong options) {
  Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    call.Check(
        db.db().IngestExternalFile(FamilyOf(call, db, family), call.Texts(paths),
                                   call.Use<IngestExternalFileOptionsObject>(options).value));
  });
}

}  // namespace ashlar::java

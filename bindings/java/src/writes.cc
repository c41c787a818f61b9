// RocksDB: put, delete, merge and their like; WriteBatch.
#include "convert.h"
#include "native.h"
#include "objects.h"
#include "transfer.h"

namespace ashlar::java {
namespace {

// Writes of a key, or of a key and a value (in deleteRange: the end), as arrays.
template <typename Write>
void WriteKey(JNIEnv* env, jlong handle, jlong options, jlong family, jbyteArray key, jint offset,
              jint length, Write write) {
  Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    ByteCopy key_bytes;
    call.Copy(key, offset, length, &key_bytes);
    call.Check(
        write(db.db(), Writing(call, options), FamilyOf(call, db, family), key_bytes.slice()));
  });
}
template <typename Write>
void WriteKeyValue(JNIEnv* env, jlong handle, jlong options, jlong family, jbyteArray key,
                   jint offset, jint length, jbyteArray value, jint value_offset, jint value_length,
                   Write write) {
  Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    ByteCopy key_bytes, value_bytes;
    call.Copy(key, offset, length, &key_bytes);
    call.Copy(value, value_offset, value_length, &value_bytes);
    call.Check(write(db.db(), Writing(call, options), FamilyOf(call, db, family), key_bytes.slice(),
                     value_bytes.slice()));
  });
}

}  // namespace

// The four forms of a write: with and without options, with and without a family.
#define WRITES_OF_KEY_VALUE(name, function)                                                        \
  ASHLAR_NATIVE(void, RocksDB_##name##__J_3BII_3BII, jlong handle, jbyteArray key, jint ko,        \
                jint kl, jbyteArray value, jint vo, jint vl) {                                     \
    WriteKeyValue(env, handle, 0, 0, key, ko, kl, value, vo, vl, FUNCTION(function));              \
  }                                                                                                \
  ASHLAR_NATIVE(void, RocksDB_##name##__J_3BII_3BIIJ, jlong handle, jbyteArray key, jint ko,       \
                jint kl, jbyteArray value, jint vo, jint vl, jlong family) {                       \
    WriteKeyValue(env, handle, 0, family, key, ko, kl, value, vo, vl, FUNCTION(function));         \
  }                                                                                                \
  ASHLAR_NATIVE(void, RocksDB_##name##__JJ_3BII_3BII, jlong handle, jlong options, jbyteArray key, \
                jint ko, jint kl, jbyteArray value, jint vo, jint vl) {                            \
    WriteKeyValue(env, handle, options, 0, key, ko, kl, value, vo, vl, FUNCTION(function));        \
  }                                                                                                \
  ASHLAR_NATIVE(void, RocksDB_##name##__JJ_3BII_3BIIJ, jlong handle, jlong options,                \
                jbyteArray key, jint ko, jint kl, jbyteArray value, jint vo, jint vl,              \
                jlong family) {                                                                    \
    WriteKeyValue(env, handle, options, family, key, ko, kl, value, vo, vl, FUNCTION(function));   \
  }
#define FUNCTION(function)                                                                   \
  [](DB& db, const WriteOptions& o, ColumnFamilyHandle* f, const Slice& k, const Slice& v) { \
    return db.function(o, f, k, v);                                                          \
  }
WRITES_OF_KEY_VALUE(put, Put)
WRITES_OF_KEY_VALUE(merge, Merge)
WRITES_OF_KEY_VALUE(deleteRange, DeleteRange)
#undef FUNCTION
#undef WRITES_OF_KEY_VALUE

#define DELETE                                                               \
  [](DB& db, const WriteOptions& o, ColumnFamilyHandle* f, const Slice& k) { \
    return db.Delete(o, f, k);                                               \
  }
ASHLAR_NATIVE(void, RocksDB_delete__J_3BII, jlong handle, jbyteArray key, jint ko, jint kl) {
  WriteKey(env, handle, 0, 0, key, ko, kl, DELETE);
}
ASHLAR_NATIVE(void, RocksDB_delete__J_3BIIJ, jlong handle, jbyteArray key, jint ko, jint kl,
              jlong family) {
  WriteKey(env, handle, 0, family, key, ko, kl, DELETE);
}
ASHLAR_NATIVE(void, RocksDB_delete__JJ_3BII, jlong handle, jlong options, jbyteArray key, jint ko,
              jint kl) {
  WriteKey(env, handle, options, 0, key, ko, kl, DELETE);
}
ASHLAR_NATIVE(void, RocksDB_delete__JJ_3BIIJ, jlong handle, jlong options, jbyteArray key, jint ko,
              jint kl, jlong family) {
  WriteKey(env, handle, options, family, key, ko, kl, DELETE);
}
#undef DELETE
#define SINGLE_DELETE                                                        \
  [](DB& db, const WriteOptions& o, ColumnFamilyHandle* f, const Slice& k) { \
    return db.SingleDelete(o, f, k);                                         \
  }
ASHLAR_NATIVE(void, RocksDB_singleDelete__J_3BI, jlong handle, jbyteArray key, jint kl) {
  WriteKey(env, handle, 0, 0, key, 0, kl, SINGLE_DELETE);
}
ASHLAR_NATIVE(void, RocksDB_singleDelete__J_3BIJ, jlong handle, jbyteArray key, jint kl,
              jlong family) {
  WriteKey(env, handle, 0, family, key, 0, kl, SINGLE_DELETE);
}
ASHLAR_NATIVE(void, RocksDB_singleDelete__JJ_3BI, jlong handle, jlong options, jbyteArray key,
              jint kl) {
  WriteKey(env, handle, options, 0, key, 0, kl, SINGLE_DELETE);
}
ASHLAR_NATIVE(void, RocksDB_singleDelete__JJ_3BIJ, jlong handle, jlong options, jbyteArray key,
              jint kl, jlong family) {
  WriteKey(env, handle, options, family, key, 0, kl, SINGLE_DELETE);
}
#undef SINGLE_DELETE

ASHLAR_NATIVE(void, RocksDB_putDirect, jlong handle, jlong options, jobject key, jint ko, jint kl,
              jobject value, jint vo, jint vl, jlong family) {
  Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    call.Check(db.db().Put(Writing(call, options), FamilyOf(call, db, family),
                           call.DirectSlice(key, ko, kl), call.DirectSlice(value, vo, vl)));
  });
}
ASHLAR_NATIVE(void, RocksDB_deleteDirect, jlong handle, jlong options, jobject key, jint ko,
              jint kl, jlong family) {
  Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    call.Check(db.db().Delete(Writing(call, options), FamilyOf(call, db, family),
                              call.DirectSlice(key, ko, kl)));
  });
}
ASHLAR_NATIVE(void, RocksDB_write0, jlong handle, jlong options, jlong batch) {
  Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    call.Check(db.db().Write(Writing(call, options), &call.Use<WriteBatchObject>(batch).value));
  });
}

// ---- WriteBatch

ASHLAR_NATIVE(jlong, WriteBatch_newWriteBatch__I, jint reserved_bytes) {
  return Native(env, [&](Call& call) {
    return Register(new WriteBatchObject(WriteBatch(ToSize(call, reserved_bytes))));
  });
}
ASHLAR_NATIVE(jlong, WriteBatch_newWriteBatch___3BI, jbyteArray bytes, jint length) {
  return Native(env, [&](Call& call) {
    ByteCopy copy;
    call.Copy(bytes, 0, length, &copy);
    return Register(new WriteBatchObject(WriteBatch(copy.slice().ToString())));
  });
}

#define BATCH(result, name, expression, ...)                                          \
  ASHLAR_NATIVE(result, WriteBatch_##name, jlong handle __VA_OPT__(, ) __VA_ARGS__) { \
    return Native(env, [&](Call& call) -> result {                                    \
      WriteBatch& batch = call.Use<WriteBatchObject>(handle).value;                   \
      return expression;                                                              \
    });                                                                               \
  }

// Keys and values are the beginnings of arrays.
#define BATCH_KEY(name, function)                                                                 \
  BATCH(void, name##__J_3BI,                                                                      \
        AddKey(call, key, kl, [&](const Slice& k) { return batch.function(k); }), jbyteArray key, \
        jint kl)                                                                                  \
  BATCH(void, name##__J_3BIJ,                                                                     \
        AddKey(call, key, kl,                                                                     \
               [&](const Slice& k) { return batch.function(BatchFamily(call, family), k); }),     \
        jbyteArray key, jint kl, jlong family)
#define BATCH_KEY_VALUE(name, function)                                                    \
  BATCH(void, name##__J_3BI_3BI,                                                           \
        AddKeyValue(call, key, kl, value, vl,                                              \
                    [&](const Slice& k, const Slice& v) { return batch.function(k, v); }), \
        jbyteArray key, jint kl, jbyteArray value, jint vl)                                \
  BATCH(void, name##__J_3BI_3BIJ,                                                          \
        AddKeyValue(call, key, kl, value, vl,                                              \
                    [&](const Slice& k, const Slice& v) {                                  \
                      return batch.function(BatchFamily(call, family), k, v);              \
                    }),                                                                    \
        jbyteArray key, jint kl, jbyteArray value, jint vl, jlong family)

namespace {

ColumnFamilyHandle* BatchFamily(Call& call, jlong family) {
  return family == 0 ? nullptr : call.Use<ColumnFamilyObject>(family).family;
}
jobject NewSavePoint(Call& call, const SavePoint& place) {
  return call.New("org/rocksdb/WriteBatch$SavePoint", "(JJJ)V", static_cast<jlong>(place.size),
                  static_cast<jlong>(place.count), static_cast<jlong>(place.content_flags));
}
template <typename Add>
void AddKey(Call& call, jbyteArray key, jint length, Add add) {
  ByteCopy bytes;
  call.Copy(key, 0, length, &bytes);
  call.Check(add(bytes.slice()));
}
template <typename Add>
void AddKeyValue(Call& call, jbyteArray key, jint key_length, jbyteArray value, jint value_length,
                 Add add) {
  ByteCopy key_bytes, value_bytes;
  call.Copy(key, 0, key_length, &key_bytes);
  call.Copy(value, 0, value_length, &value_bytes);
  call.Check(add(key_bytes.slice(), value_bytes.slice()));
}

}  // namespace

BATCH_KEY_VALUE(put, Put)
BATCH_KEY_VALUE(merge, Merge)
BATCH_KEY_VALUE(deleteRange, DeleteRange)
BATCH_KEY(delete, Delete)
BATCH_KEY(singleDelete, SingleDelete)
#undef BATCH_KEY_VALUE
#undef BATCH_KEY
BATCH(void, putDirect,
      call.Check(batch.Put(BatchFamily(call, family), call.DirectSlice(key, ko, kl),
                           call.DirectSlice(value, vo, vl))),
      jobject key, jint ko, jint kl, jobject value, jint vo, jint vl, jlong family)
BATCH(void, deleteDirect,
      call.Check(batch.Delete(BatchFamily(call, family), call.DirectSlice(key, ko, kl))),
      jobject key, jint ko, jint kl, jlong family)
BATCH(void, putLogData,
      AddKey(call, blob, length, [&](const Slice& b) { return batch.PutLogData(b); }),
      jbyteArray blob, jint length)
BATCH(void, clear0, batch.Clear())
BATCH(void, setSavePoint0, batch.SetSavePoint())
BATCH(void, rollbackToSavePoint0, call.Check(batch.RollbackToSavePoint()))
BATCH(void, popSavePoint, call.Check(batch.PopSavePoint()))
BATCH(void, markWalTerminationPoint, batch.MarkWalTerminationPoint())
BATCH(jobject, getWalTerminationPoint, NewSavePoint(call, batch.GetWalTerminationPoint()))
BATCH(void, setMaxBytes, batch.SetMaxBytes(ToSize(call, bytes)), jlong bytes)
BATCH(jint, count0, static_cast<jint>(batch.Count()))
BATCH(jbyteArray, data, call.NewBytes(batch.Data()))
BATCH(jlong, getDataSize, static_cast<jlong>(batch.GetDataSize()))
BATCH(jboolean, hasPut, ToJava<jboolean>(batch.HasPut()))
BATCH(jboolean, hasDelete, ToJava<jboolean>(batch.HasDelete()))
BATCH(jboolean, hasSingleDelete, ToJava<jboolean>(batch.HasSingleDelete()))
BATCH(jboolean, hasDeleteRange, ToJava<jboolean>(batch.HasDeleteRange()))
BATCH(jboolean, hasMerge, ToJava<jboolean>(batch.HasMerge()))
BATCH(jboolean, hasBeginPrepare, ToJava<jboolean>(batch.HasBeginPrepare()))
BATCH(jboolean, hasEndPrepare, ToJava<jboolean>(batch.HasEndPrepare()))
BATCH(jboolean, hasCommit, ToJava<jboolean>(batch.HasCommit()))
BATCH(jboolean, hasRollback, ToJava<jboolean>(batch.HasRollback()))
#undef BATCH

}  // namespace ashlar::java

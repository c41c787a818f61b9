// RocksDB: get, multiGet, keyMayExist, iterators.
//
// A value that the engine can pin is copied once, from the engine's memory into Java's array or
// into the direct buffer.
#include <algorithm>

#include "convert.h"
#include "native.h"
#include "objects.h"
#include "transfer.h"

namespace ashlar::java {
namespace {

constexpr jint kNotFound = -1;

// Passes the value to `take`, or returns `missing`.
template <typename Result, typename Take>
Result GetValue(Call& call, jlong handle, jlong options, jlong family, const Slice& key,
                Result missing, Take take) {
  auto& db = call.Use<DBObject>(handle);
  const Reading reading(call, options);
  PinnableSlice value;
  const Status status = db.db().Get(reading.options(), FamilyOf(call, db, family), key, &value);
  if (status.IsNotFound()) return missing;
  call.Check(status);
  return take(value);
}

jbyteArray GetBytes(JNIEnv* env, jlong handle, jlong options, jlong family, jbyteArray key,
                    jint offset, jint length) {
  return Native(env, [&](Call& call) {
    ByteCopy bytes;
    call.Copy(key, offset, length, &bytes);
    return GetValue(call, handle, options, family, bytes, jbyteArray{nullptr},
                    [&](const Slice& value) { return call.NewBytes(value); });
  });
}

jint GetInto(JNIEnv* env, jlong handle, jlong options, jlong family, jbyteArray key, jint offset,
             jint length, jbyteArray target, jint target_offset, jint target_length) {
  return Native(env, [&](Call& call) {
    ByteCopy bytes;
    call.Copy(key, offset, length, &bytes);
    return GetValue(call, handle, options, family, bytes, kNotFound, [&](const Slice& value) {
      return call.CopyOut(value, target, target_offset, target_length);
    });
  });
}

// The values of several keys, with null for a missing key.
jobjectArray MultiGetBytes(JNIEnv* env, jlong handle, jlong options, jobjectArray keys,
                           jintArray offsets, jintArray lengths, jlongArray families) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    const Reading reading(call, options);
    const auto count = static_cast<size_t>(call.Length(keys));
    const std::vector<jint> begins = call.Ints(offsets), sizes = call.Ints(lengths);
    if (begins.size() < count || sizes.size() < count) {
      call.Fail("java/lang/IllegalArgumentException", "as many offsets and lengths as keys needed");
    }
    std::vector<std::string> texts(count);
    std::vector<Slice> slices(count);
    for (size_t i = 0; i < count; ++i) {
      const LocalRef<jbyteArray> key(
          env, static_cast<jbyteArray>(env->GetObjectArrayElement(keys, static_cast<jsize>(i))));
      ByteCopy bytes;
      call.Copy(key.get(), begins[i], sizes[i], &bytes);
      texts[i] = bytes.slice().ToString();
      slices[i] = texts[i];
    }
    std::vector<ColumnFamilyHandle*> of_keys(count, db.db().DefaultColumnFamily());
    if (families != nullptr) of_keys = FamiliesOf(call, db, families);
    if (of_keys.size() != count) {
      call.Fail("java/lang/IllegalArgumentException", "as many families as keys are needed");
    }
    std::vector<PinnableSlice> values(count);
    std::vector<Status> statuses(count);
    db.db().MultiGet(reading.options(), count, of_keys.data(), slices.data(), values.data(),
                     statuses.data());
    const LocalRef<jclass> type(env, call.Class("[B"));
    const jobjectArray result =
        call.Made(env->NewObjectArray(static_cast<jsize>(count), type.get(), nullptr));
    for (size_t i = 0; i < count; ++i) {
      if (statuses[i].IsNotFound()) continue;
      call.Check(statuses[i]);
      const LocalRef<jbyteArray> value(env, call.NewBytes(values[i]));
      env->SetObjectArrayElement(result, static_cast<jsize>(i), value.get());
    }
    return result;
  });
}

enum Existence : jint { kNotThere, kThere, kThereWithValue };
Existence LookUp(Call& call, jlong handle, jlong family, jlong options, const Slice& key,
                 std::string* value) {
  auto& db = call.Use<DBObject>(handle);
  const Reading reading(call, options);
  bool found = false;
  if (!db.db().KeyMayExist(reading.options(), FamilyOf(call, db, family), key, value, &found)) {
    return kNotThere;
  }
  return found ? kThereWithValue : kThere;
}

jlong NewIterator(JNIEnv* env, jlong handle, jlong family, jlong options) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    const Reading reading(call, options);
    auto object = std::make_unique<IteratorObject>(db);
    const ReadOptions with_bounds =
        IteratorOptions(call, options, reading.options(), &object->bounds);
    object->iterator.reset(db.db().NewIterator(with_bounds, FamilyOf(call, db, family)));
    if (object->iterator == nullptr) throw std::bad_alloc();
    return db.RegisterChild(object.release());
  });
}

// RocksDB's own iterator crashes if it is moved or read while it is not at an entry.
Iterator& RequireValid(Call& call, Iterator& iterator) {
  if (!iterator.Valid()) [[unlikely]] {
    call.Check(iterator.status());
    call.Fail("java/lang/IllegalStateException", "the iterator is not at an entry");
  }
  return iterator;
}

template <typename Seek>
void SeekCopied(Call& call, jbyteArray array, jint offset, jint length, Seek seek) {
  ByteCopy bytes;
  call.Copy(array, offset, length, &bytes);
  seek(bytes.slice());
}

}  // namespace

ReadOptions IteratorOptions(Call& call, jlong handle, const ReadOptions& options,
                            std::shared_ptr<Bounds>* bounds) {
  ReadOptions result = options;
  if (handle == 0) return result;
  const auto& given = call.Use<ReadOptionsObject>(handle);
  if (given.lower_bound == 0 && given.upper_bound == 0) return result;
  *bounds = std::make_shared<Bounds>();
  Bounds& b = **bounds;
  if (given.lower_bound != 0) {
    b.lower = CopySlice(call, given.lower_bound);
    b.lower_slice = b.lower;
    result.iterate_lower_bound = &b.lower_slice;
  }
  if (given.upper_bound != 0) {
    b.upper = CopySlice(call, given.upper_bound);
    b.upper_slice = b.upper;
    result.iterate_upper_bound = &b.upper_slice;
  }
  return result;
}

// ---- get

ASHLAR_NATIVE(jbyteArray, RocksDB_get__J_3BII, jlong handle, jbyteArray key, jint offset,
              jint length) {
  return GetBytes(env, handle, 0, 0, key, offset, length);
}
ASHLAR_NATIVE(jbyteArray, RocksDB_get__J_3BIIJ, jlong handle, jbyteArray key, jint offset,
              jint length, jlong family) {
  return GetBytes(env, handle, 0, family, key, offset, length);
}
ASHLAR_NATIVE(jbyteArray, RocksDB_get__JJ_3BII, jlong handle, jlong options, jbyteArray key,
              jint offset, jint length) {
  return GetBytes(env, handle, options, 0, key, offset, length);
}
ASHLAR_NATIVE(jbyteArray, RocksDB_get__JJ_3BIIJ, jlong handle, jlong options, jbyteArray key,
              jint offset, jint length, jlong family) {
  return GetBytes(env, handle, options, family, key, offset, length);
}
ASHLAR_NATIVE(jint, RocksDB_get__J_3BII_3BII, jlong handle, jbyteArray key, jint offset,
              jint length, jbyteArray value, jint value_offset, jint value_length) {
  return GetInto(env, handle, 0, 0, key, offset, length, value, value_offset, value_length);
}
ASHLAR_NATIVE(jint, RocksDB_get__J_3BII_3BIIJ, jlong handle, jbyteArray key, jint offset,
              jint length, jbyteArray value, jint value_offset, jint value_length, jlong family) {
  return GetInto(env, handle, 0, family, key, offset, length, value, value_offset, value_length);
}
ASHLAR_NATIVE(jint, RocksDB_get__JJ_3BII_3BII, jlong handle, jlong options, jbyteArray key,
              jint offset, jint length, jbyteArray value, jint value_offset, jint value_length) {
  return GetInto(env, handle, options, 0, key, offset, length, value, value_offset, value_length);
}
ASHLAR_NATIVE(jint, RocksDB_get__JJ_3BII_3BIIJ, jlong handle, jlong options, jbyteArray key,
              jint offset, jint length, jbyteArray value, jint value_offset, jint value_length,
              jlong family) {
  return GetInto(env, handle, options, family, key, offset, length, value, value_offset,
                 value_length);
}
ASHLAR_NATIVE(jint, RocksDB_getDirect, jlong handle, jlong options, jobject key, jint key_offset,
              jint key_length, jobject value, jint value_offset, jint value_length, jlong family) {
  return Native(env, [&](Call& call) {
    const Slice bytes = call.DirectSlice(key, key_offset, key_length);
    return GetValue(call, handle, options, family, bytes, kNotFound, [&](const Slice& found) {
      return call.CopyOutDirect(found, value, value_offset, value_length);
    });
  });
}

// ---- multiGet

ASHLAR_NATIVE(jobjectArray, RocksDB_multiGet__J_3_3B_3I_3I, jlong handle, jobjectArray keys,
              jintArray offsets, jintArray lengths) {
  return MultiGetBytes(env, handle, 0, keys, offsets, lengths, nullptr);
}
ASHLAR_NATIVE(jobjectArray, RocksDB_multiGet__J_3_3B_3I_3I_3J, jlong handle, jobjectArray keys,
              jintArray offsets, jintArray lengths, jlongArray families) {
  return MultiGetBytes(env, handle, 0, keys, offsets, lengths, families);
}
ASHLAR_NATIVE(jobjectArray, RocksDB_multiGet__JJ_3_3B_3I_3I, jlong handle, jlong options,
              jobjectArray keys, jintArray offsets, jintArray lengths) {
  return MultiGetBytes(env, handle, options, keys, offsets, lengths, nullptr);
}
ASHLAR_NATIVE(jobjectArray, RocksDB_multiGet__JJ_3_3B_3I_3I_3J, jlong handle, jlong options,
              jobjectArray keys, jintArray offsets, jintArray lengths, jlongArray families) {
  return MultiGetBytes(env, handle, options, keys, offsets, lengths, families);
}
// Java passes the limits of the key buffers, not their lengths.
ASHLAR_NATIVE(
    void,
    RocksDB_multiGet__JJ_3J_3Ljava_nio_ByteBuffer_2_3I_3I_3Ljava_nio_ByteBuffer_2_3I_3Lorg_rocksdb_Status_2,
    jlong handle, jlong options, jlongArray families, jobjectArray keys, jintArray offsets,
    jintArray limits, jobjectArray values, jintArray sizes, jobjectArray statuses) {
  Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    const Reading reading(call, options);
    const auto count = static_cast<size_t>(call.Length(keys));
    const std::vector<jint> begins = call.Ints(offsets), ends = call.Ints(limits);
    std::vector<ColumnFamilyHandle*> of_keys = FamiliesOf(call, db, families);
    if (of_keys.empty()) of_keys.push_back(db.db().DefaultColumnFamily());
    if (of_keys.size() == 1) of_keys.resize(count, of_keys[0]);
    if (begins.size() < count || ends.size() < count || of_keys.size() != count) {
      call.Fail("java/lang/IllegalArgumentException",
                "as many offsets, limits and families as keys are needed");
    }
    std::vector<Slice> slices(count);
    for (size_t i = 0; i < count; ++i) {
      // The caller's array keeps the buffer alive.
      const LocalRef<> key(env, env->GetObjectArrayElement(keys, static_cast<jsize>(i)));
      slices[i] = call.DirectSlice(key.get(), begins[i], ends[i] - begins[i]);
    }
    std::vector<PinnableSlice> found(count);
    std::vector<Status> results(count);
    db.db().MultiGet(reading.options(), count, of_keys.data(), slices.data(), found.data(),
                     results.data());
    for (size_t i = 0; i < count; ++i) {
      const auto place = static_cast<jsize>(i);
      if (results[i].ok()) {
        const LocalRef<> value(env, env->GetObjectArrayElement(values, place));
        const jlong room = env->GetDirectBufferCapacity(value.get());
        const jint size = call.CopyOutDirect(found[i], value.get(), 0,
                                             static_cast<jint>(std::max(room, jlong{0})));
        env->SetIntArrayRegion(sizes, place, 1, &size);
      }
      const LocalRef<> status(env, call.NewStatus(results[i]));
      env->SetObjectArrayElement(statuses, place, status.get());
    }
  });
}

// ---- keyMayExist

ASHLAR_NATIVE(jboolean, RocksDB_keyMayExist, jlong handle, jlong family, jlong options,
              jbyteArray key, jint offset, jint length) {
  return Native(env, [&](Call& call) {
    ByteCopy bytes;
    call.Copy(key, offset, length, &bytes);
    std::string value;
    return ToJava<jboolean>(LookUp(call, handle, family, options, bytes, &value) != kNotThere);
  });
}
// The last argument is the limit of Java's buffer, not its length.
ASHLAR_NATIVE(jboolean, RocksDB_keyMayExistDirect, jlong handle, jlong family, jlong options,
              jobject key, jint offset, jint limit) {
  return Native(env, [&](Call& call) {
    const Slice bytes = call.DirectSlice(key, offset, limit - offset);
    std::string value;
    return ToJava<jboolean>(LookUp(call, handle, family, options, bytes, &value) != kNotThere);
  });
}
// Returns one byte that says if the key may exist, and the value if it was found.
ASHLAR_NATIVE(jobjectArray, RocksDB_keyMayExistFoundValue, jlong handle, jlong family,
              jlong options, jbyteArray key, jint offset, jint length) {
  return Native(env, [&](Call& call) {
    ByteCopy bytes;
    call.Copy(key, offset, length, &bytes);
    std::string value;
    const Existence existence = LookUp(call, handle, family, options, bytes, &value);
    std::vector<std::string> result = {std::string(1, static_cast<char>(existence))};
    if (existence == kThereWithValue) result.push_back(value);
    return call.NewByteArrays(result);
  });
}
ASHLAR_NATIVE(jintArray, RocksDB_keyMayExistDirectFoundValue, jlong handle, jlong family,
              jlong options, jobject key, jint key_offset, jint key_length, jobject value,
              jint value_offset, jint value_length) {
  return Native(env, [&](Call& call) {
    const Slice bytes = call.DirectSlice(key, key_offset, key_length);
    std::string found;
    const Existence existence = LookUp(call, handle, family, options, bytes, &found);
    jint result[2] = {existence, 0};
    if (existence == kThereWithValue) {
      result[1] = call.CopyOutDirect(found, value, value_offset, value_length);
    }
    const jintArray array = call.Made(env->NewIntArray(2));
    env->SetIntArrayRegion(array, 0, 2, result);
    return array;
  });
}

// ---- Iterators of a database

ASHLAR_NATIVE(jlong, RocksDB_iterator__J, jlong handle) { return NewIterator(env, handle, 0, 0); }
ASHLAR_NATIVE(jlong, RocksDB_iterator__JJ, jlong handle, jlong options) {
  return NewIterator(env, handle, 0, options);
}
ASHLAR_NATIVE(jlong, RocksDB_iteratorCF__JJ, jlong handle, jlong family) {
  return NewIterator(env, handle, family, 0);
}
ASHLAR_NATIVE(jlong, RocksDB_iteratorCF__JJJ, jlong handle, jlong family, jlong options) {
  return NewIterator(env, handle, family, options);
}
ASHLAR_NATIVE(jlongArray, RocksDB_iterators, jlong handle, jlongArray families, jlong options) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    const Reading reading(call, options);
    // All iterators have the same bounds. Each keeps them, because it may outlive the others.
    std::shared_ptr<Bounds> bounds;
    const ReadOptions with_bounds = IteratorOptions(call, options, reading.options(), &bounds);
    std::vector<Iterator*> iterators;
    call.Check(db.db().NewIterators(with_bounds, FamiliesOf(call, db, families), &iterators));
    std::vector<jlong> handles;
    for (Iterator* iterator : iterators) {
      auto* object = new IteratorObject(db);
      object->bounds = bounds;
      object->iterator.reset(iterator);
      handles.push_back(db.RegisterChild(object));
    }
    return call.NewLongs(handles);
  });
}

// ---- RocksIterator and SstFileReaderIterator

#define ITERATOR_OF(object, java_class, result, name, expression, ...)                  \
  ASHLAR_NATIVE(result, java_class##_##name, jlong handle __VA_OPT__(, ) __VA_ARGS__) { \
    return Native(env, [&](Call& call) -> result {                                      \
      Iterator& iterator = *call.Use<object>(handle).iterator;                          \
      return expression;                                                                \
    });                                                                                 \
  }
#define ITERATOR(result, name, expression, ...)                                             \
  ITERATOR_OF(IteratorObject, RocksIterator, result, name, expression, __VA_ARGS__)         \
  ITERATOR_OF(SstFileReaderIteratorObject, SstFileReaderIterator, result, name, expression, \
              __VA_ARGS__)
ITERATOR(jboolean, isValid0, ToJava<jboolean>(iterator.Valid()))
ITERATOR(void, seekToFirst0, iterator.SeekToFirst())
ITERATOR(void, seekToLast0, iterator.SeekToLast())
ITERATOR(void, next0, RequireValid(call, iterator).Next())
ITERATOR(void, prev0, RequireValid(call, iterator).Prev())
ITERATOR(void, refresh0, call.Check(iterator.Refresh()))
ITERATOR(void, status0, call.Check(iterator.status()))
ITERATOR(jbyteArray, key0, call.NewBytes(RequireValid(call, iterator).key()))
ITERATOR(jbyteArray, value0, call.NewBytes(RequireValid(call, iterator).value()))
ITERATOR(jint, keyByteArray0,
         call.CopyOut(RequireValid(call, iterator).key(), array, offset, length), jbyteArray array,
         jint offset, jint length)
ITERATOR(jint, valueByteArray0,
         call.CopyOut(RequireValid(call, iterator).value(), array, offset, length),
         jbyteArray array, jint offset, jint length)
ITERATOR(jint, keyDirect0,
         call.CopyOutDirect(RequireValid(call, iterator).key(), buffer, offset, length),
         jobject buffer, jint offset, jint length)
ITERATOR(jint, valueDirect0,
         call.CopyOutDirect(RequireValid(call, iterator).value(), buffer, offset, length),
         jobject buffer, jint offset, jint length)
ITERATOR(void, seek0, SeekCopied(call, array, 0, length, [&](Slice key) { iterator.Seek(key); }),
         jbyteArray array, jint length)
ITERATOR(void, seekForPrev0,
         SeekCopied(call, array, 0, length, [&](Slice key) { iterator.SeekForPrev(key); }),
         jbyteArray array, jint length)
ITERATOR(void, seekByteArray0,
         SeekCopied(call, array, offset, length, [&](Slice key) { iterator.Seek(key); }),
         jbyteArray array, jint offset, jint length)
ITERATOR(void, seekForPrevByteArray0,
         SeekCopied(call, array, offset, length, [&](Slice key) { iterator.SeekForPrev(key); }),
         jbyteArray array, jint offset, jint length)
ITERATOR(void, seekDirect0, iterator.Seek(call.DirectSlice(buffer, offset, length)), jobject buffer,
         jint offset, jint length)
ITERATOR(void, seekForPrevDirect0, iterator.SeekForPrev(call.DirectSlice(buffer, offset, length)),
         jobject buffer, jint offset, jint length)
#undef ITERATOR
#undef ITERATOR_OF

}  // namespace ashlar::java

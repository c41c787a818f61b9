// The logs of a database: RocksDB.getSortedWalFiles, RocksDB.getUpdatesSince and
// TransactionLogIterator.
#include <memory>
#include <utility>

#include "ashlar/transaction_log.h"
#include "native.h"
#include "objects.h"

namespace ashlar::java {

ASHLAR_NATIVE(jobjectArray, RocksDB_getSortedWalFiles, jlong handle) {
  return Native(env, [&](Call& call) {
    VectorWalPtr files;
    call.Check(call.Use<DBObject>(handle).db().GetSortedWalFiles(files));
    const LocalRef<jclass> type(env, call.Class("org/rocksdb/LogFile"));
    const jobjectArray result =
        call.Made(env->NewObjectArray(static_cast<jsize>(files.size()), type.get(), nullptr));
    for (size_t i = 0; i < files.size(); ++i) {
      const WalFile& file = *files[i];
      const LocalRef<jstring> path(env, call.NewText(file.PathName()));
      const LocalRef<> object(
          env, call.New("org/rocksdb/LogFile", "(Ljava/lang/String;JBJJ)V", path.get(),
                        static_cast<jlong>(file.LogNumber()), static_cast<jint>(file.Type()),
                        static_cast<jlong>(file.StartSequence()),
                        static_cast<jlong>(file.SizeFileBytes())));
      env->SetObjectArrayElement(result, static_cast<jsize>(i), object.get());
    }
    return result;
  });
}

ASHLAR_NATIVE(jlong, RocksDB_getUpdatesSince, jlong handle, jlong sequence) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    std::unique_ptr<TransactionLogIterator> iterator;
    call.Check(db.db().GetUpdatesSince(static_cast<SequenceNumber>(sequence), &iterator));
    auto* object = new TransactionLogIteratorObject(db);
    object->iterator = std::move(iterator);
    return db.RegisterChild(object);
  });
}

ASHLAR_NATIVE(jboolean, TransactionLogIterator_isValid, jlong handle) {
  return Native(env, [&](Call& call) {
    return static_cast<jboolean>(call.Use<TransactionLogIteratorObject>(handle).iterator->Valid());
  });
}
ASHLAR_NATIVE(void, TransactionLogIterator_next, jlong handle) {
  Native(env, [&](Call& call) { call.Use<TransactionLogIteratorObject>(handle).iterator->Next(); });
}
ASHLAR_NATIVE(void, TransactionLogIterator_status, jlong handle) {
  Native(env, [&](Call& call) {
    call.Check(call.Use<TransactionLogIteratorObject>(handle).iterator->status());
  });
}
// The Java object owns the batch.
ASHLAR_NATIVE(jobject, TransactionLogIterator_getBatch, jlong handle) {
  return Native(env, [&](Call& call) {
    auto& iterator = *call.Use<TransactionLogIteratorObject>(handle).iterator;
    if (!iterator.Valid()) {
      call.Check(iterator.status());
      call.Fail("java/lang/IllegalStateException", "the iterator is at no batch");
    }
    BatchResult batch = iterator.GetBatch();
    if (batch.writeBatchPtr == nullptr) {
      call.Fail("java/lang/IllegalStateException", "getBatch was called before, at the same batch");
    }
    return call.New("org/rocksdb/TransactionLogIterator$BatchResult", "(JJ)V",
                    static_cast<jlong>(batch.sequence),
                    Register(new WriteBatchObject(std::move(*batch.writeBatchPtr))));
  });
}

}  // namespace ashlar::java

// WriteBatch: updates that are applied atomically, also across column families.
//
// Its bytes (Data) are those of RocksDB's WriteBatch and of the records in the write-ahead log:
//   batch  = sequence fixed64 | count fixed32 | record*
//   record = type u8 | [family varint32] | key length varint32, key
//            | [value length varint32, value]
// Errors: a method that adds a record fails only at a limit, and then leaves the batch unchanged.
// MemoryLimit: max_bytes. InvalidArgument: a key or value of 4 GiB or more, or more than 2^32 - 1
// records. Corruption: the batch was made from fewer bytes than a header. A database refuses a
// batch with a record whose key and value have more than 512 MiB together. Memory: a method that
// runs out of it throws std::bad_alloc; one that adds a record then leaves the batch unchanged.
// Thread safety: const methods may be called by several threads at once, others by one thread
// alone. Lifetime: keys and values are copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

class ColumnFamilyHandle;

// A place in a batch.
struct SavePoint {
  size_t size = 0;             // bytes of Data() before it
  uint32_t count = 0;          // updates before it
  uint32_t content_flags = 0;  // for each type of record before it, 1 << type
  uint64_t checksum = 0;       // of the records before it; 0 in a batch without checksum

  void clear() { *this = SavePoint(); }
  bool is_cleared() const { return size == 0 && count == 0 && content_flags == 0; }
};

class ASHLAR_API WriteBatch {
 public:
  // reserved_bytes are allocated at once. Records beyond max_bytes (0: no limit) are refused.
  explicit WriteBatch(size_t reserved_bytes = 0, size_t max_bytes = 0);
  // protection_bytes_per_key: if not 0, the batch has a checksum of its records, taken when they
  // are added. DB::Write and PersistentTree::Write verify it before they write.
  // default_cf_ts_sz has no effect: there are no user-defined timestamps.
  explicit WriteBatch(size_t reserved_bytes, size_t max_bytes, size_t protection_bytes_per_key,
                      size_t default_cf_ts_sz);
  // A batch made from the Data() of another. Iterate and DB::Write report damaged bytes.
  explicit WriteBatch(const std::string& rep);
  explicit WriteBatch(std::string&& rep);
  // Copies and moves include the save points, the termination point and the checksum. A moved-from
  // batch is empty.
  WriteBatch(const WriteBatch& other);
  WriteBatch& operator=(const WriteBatch& other);
  WriteBatch(WriteBatch&& other) noexcept;
  WriteBatch& operator=(WriteBatch&& other) noexcept;
  virtual ~WriteBatch();

  // A null family means the default one.
  Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value);
  Status Put(const Slice& key, const Slice& value) { return Put(nullptr, key, value); }
  Status Put(ColumnFamilyHandle* column_family, const SliceParts& key, const SliceParts& value);
  Status Put(const SliceParts& key, const SliceParts& value) { return Put(nullptr, key, value); }

  Status Delete(ColumnFamilyHandle* column_family, const Slice& key);
  Status Delete(const Slice& key) { return Delete(nullptr, key); }
  Status Delete(ColumnFamilyHandle* column_family, const SliceParts& key);
  Status Delete(const SliceParts& key) { return Delete(nullptr, key); }

  // For a key that was put exactly once since it was last deleted, and never merged; otherwise the
  // result is unspecified.
  Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key);
  Status SingleDelete(const Slice& key) { return SingleDelete(nullptr, key); }
  Status SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key);
  Status SingleDelete(const SliceParts& key) { return SingleDelete(nullptr, key); }

  // Deletes [begin_key, end_key).
  Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                     const Slice& end_key);
  Status DeleteRange(const Slice& begin_key, const Slice& end_key) {
    return DeleteRange(nullptr, begin_key, end_key);
  }
  Status DeleteRange(ColumnFamilyHandle* column_family, const SliceParts& begin_key,
                     const SliceParts& end_key);
  Status DeleteRange(const SliceParts& begin_key, const SliceParts& end_key) {
    return DeleteRange(nullptr, begin_key, end_key);
  }

  Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value);
  Status Merge(const Slice& key, const Slice& value) { return Merge(nullptr, key, value); }
  Status Merge(ColumnFamilyHandle* column_family, const SliceParts& key, const SliceParts& value);
  Status Merge(const SliceParts& key, const SliceParts& value) {
    return Merge(nullptr, key, value);
  }

  // Adds bytes that go to the log and to Handler::LogData, but not into the database. They are not
  // counted and take no sequence number.
  Status PutLogData(const Slice& blob);

  // Removes all updates, all save points and the termination point.
  void Clear();

  // Marks the current state; marks nest.
  void SetSavePoint();
  // Returns to the latest mark and removes it. NotFound when there is none.
  Status RollbackToSavePoint();
  // Removes the latest mark only. NotFound when there is none.
  Status PopSavePoint();

  // Only the records before this place go to the log. Later ones are applied like those of a write
  // with disableWAL. A second call, or a rollback to before the place, moves it to the end of the
  // batch. Data() does not contain it.
  void MarkWalTerminationPoint();
  // Returns a cleared one if there is none.
  const SavePoint& GetWalTerminationPoint() const { return wal_termination_point_; }

  // Receives the records of a batch in order.
  class ASHLAR_API Handler {
   public:
    virtual ~Handler();

    // A status other than Ok ends Iterate, which returns it. The defaults call the form without a
    // family for family 0, and fail for other families.
    virtual Status PutCF(uint32_t column_family_id, const Slice& key, const Slice& value);
    virtual void Put(const Slice& key, const Slice& value);
    virtual Status DeleteCF(uint32_t column_family_id, const Slice& key);
    virtual void Delete(const Slice& key);
    virtual Status SingleDeleteCF(uint32_t column_family_id, const Slice& key);
    virtual void SingleDelete(const Slice& key);
    virtual Status MergeCF(uint32_t column_family_id, const Slice& key, const Slice& value);
    virtual void Merge(const Slice& key, const Slice& value);
    // The defaults of these fail.
    virtual Status DeleteRangeCF(uint32_t column_family_id, const Slice& begin_key,
                                 const Slice& end_key);
    virtual Status PutBlobIndexCF(uint32_t column_family_id, const Slice& key, const Slice& value);
    virtual Status PutEntityCF(uint32_t column_family_id, const Slice& key, const Slice& entity);
    virtual Status MarkBeginPrepare(bool unprepare = false);
    virtual Status MarkEndPrepare(const Slice& xid);
    virtual Status MarkCommit(const Slice& xid);
    virtual Status MarkCommitWithTimestamp(const Slice& xid, const Slice& commit_ts);
    virtual Status MarkRollback(const Slice& xid);
    // The defaults of these do nothing.
    virtual Status MarkNoop(bool empty_batch);
    virtual void LogData(const Slice& blob);
    // False ends Iterate with Ok before the next record.
    virtual bool Continue();
  };
  // Corruption naming the byte offset if the batch is damaged or its count does not match. The
  // records before that offset were passed to the handler.
  Status Iterate(Handler* handler) const;

  // Corruption: the records are not those that were added, because their bytes were changed from
  // outside. Ok if the batch has no checksum.
  Status VerifyChecksum() const;
  // 8, or 0 if the batch has no checksum.
  size_t GetProtectionBytesPerKey() const { return has_checksum_ ? 8 : 0; }

  const std::string& Data() const { return rep_; }
  // Moves the bytes out of the batch, which is empty afterwards.
  std::string Release();
  size_t GetDataSize() const { return rep_.size(); }
  // Number of updates.
  uint32_t Count() const;

  bool HasPut() const;
  bool HasDelete() const;
  bool HasSingleDelete() const;
  bool HasDeleteRange() const;
  bool HasMerge() const;
  bool HasBeginPrepare() const;
  bool HasEndPrepare() const;
  bool HasCommit() const;
  bool HasRollback() const;

  void SetMaxBytes(size_t max_bytes) { max_bytes_ = max_bytes; }
  WriteBatch* GetWriteBatch() { return this; }

 private:
  friend class WriteBatchInternal;
  SavePoint Here() const;

  std::string rep_;
  std::vector<SavePoint> save_points_;
  SavePoint wal_termination_point_;  // its size is at most that of rep_
  size_t max_bytes_ = 0;
  uint32_t content_flags_ = 0;  // the types of the records in the batch
  bool has_checksum_ = false;
  uint64_t checksum_ = 0;  // of all records in their order, while has_checksum_
};

}  // namespace ashlar

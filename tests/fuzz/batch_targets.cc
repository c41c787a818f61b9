#include <cstring>
#include <string>

#include "ashlar/c.h"
#include "base/format.h"
#include "key/write_batch_internal.h"
#include "tests/fuzz/all.h"

namespace ashlar::fuzz {
namespace {

// The records of a batch as text.
class Printer final : public WriteBatch::Handler {
 public:
  std::string text;

  Status PutCF(uint32_t id, const Slice& key, const Slice& value) override {
    return Add("put", id, key, value);
  }
  Status DeleteCF(uint32_t id, const Slice& key) override { return Add("delete", id, key, ""); }
  Status SingleDeleteCF(uint32_t id, const Slice& key) override {
    return Add("single", id, key, "");
  }
  Status MergeCF(uint32_t id, const Slice& key, const Slice& value) override {
    return Add("merge", id, key, value);
  }
  Status DeleteRangeCF(uint32_t id, const Slice& begin, const Slice& end) override {
    return Add("range", id, begin, end);
  }
  Status PutBlobIndexCF(uint32_t id, const Slice& key, const Slice& value) override {
    return Add("blob", id, key, value);
  }
  Status PutEntityCF(uint32_t id, const Slice& key, const Slice& value) override {
    return Add("entity", id, key, value);
  }
  Status MarkBeginPrepare(bool) override { return Add("begin", 0, "", ""); }
  Status MarkEndPrepare(const Slice& xid) override { return Add("end", 0, xid, ""); }
  Status MarkCommit(const Slice& xid) override { return Add("commit", 0, xid, ""); }
  Status MarkCommitWithTimestamp(const Slice& xid, const Slice& time) override {
    return Add("commit", 0, xid, time);
  }
  Status MarkRollback(const Slice& xid) override { return Add("rollback", 0, xid, ""); }
  Status MarkNoop(bool) override { return Add("noop", 0, "", ""); }
  void LogData(const Slice& blob) override { static_cast<void>(Add("log", 0, blob, "")); }

 private:
  Status Add(const char* kind, uint32_t id, const Slice& key, const Slice& value) {
    text += StrCat(kind, " ", id, " ", key.ToString(true), " ", value.ToString(true), "\n");
    return Status::OK();
  }
};

std::string Print(const WriteBatch& batch, Status* status) {
  Printer printer;
  *status = batch.Iterate(&printer);
  return printer.text;
}

WriteBatch MakeBatch() {
  WriteBatch batch;
  for (int i = 0; i < 3; ++i) {
    const std::string key = StrCat("key", i);
    static_cast<void>(batch.Put(key, "value"));
    static_cast<void>(batch.Delete(key));
    static_cast<void>(batch.SingleDelete(key));
    static_cast<void>(batch.Merge(key, std::string(200, 'm')));
    static_cast<void>(batch.DeleteRange(key, "z"));
    static_cast<void>(batch.PutLogData("log data"));
  }
  return batch;
}

}  // namespace

Seeds SeedBatches() {
  Seeds seeds{WriteBatch().Data(), MakeBatch().Data()};
  // Forms that this library does not write: of families, of transactions.
  std::string families = WriteBatch().Data();
  families[8] = 5;
  const auto add = [&](char type, std::initializer_list<std::string> fields, bool family) {
    families.push_back(type);
    if (family) families.push_back('\x02');
    for (const std::string& field : fields) PutLengthPrefixedSlice(&families, field);
  };
  add(5, {"k", "v"}, true);
  add(4, {"k"}, true);
  add(6, {"k", "v"}, true);
  add(8, {"k"}, true);
  add(14, {"a", "b"}, true);
  seeds.push_back(families);
  for (const char type : {'\x09', '\x0d', '\x12', '\x13'}) add(type, {}, false);
  for (const char type : {'\x0a', '\x0b', '\x0c'}) add(type, {"xid"}, false);
  add(21, {"time", "xid"}, false);
  add(17, {"k", "v"}, false);
  add(22, {"k", "v"}, false);
  seeds.push_back(families);
  return seeds;
}

void RunBatch(const std::string& input) {
  const bool valid = WriteBatchInternal::Validate(input).ok();
  WriteBatch batch(input);
  Status iterated;
  const std::string text = Print(batch, &iterated);
  EXPECT_RIGHT(valid == iterated.ok(), "Validate and Iterate disagree");
  static_cast<void>(WriteBatchInternal::CheckApplicable(&batch));
  static_cast<void>(batch.HasPut() || batch.HasDelete() || batch.HasSingleDelete() ||
                    batch.HasDeleteRange() || batch.HasMerge() || batch.HasBeginPrepare() ||
                    batch.HasEndPrepare() || batch.HasCommit() || batch.HasRollback());
  WriteBatch copy;
  EXPECT_RIGHT(WriteBatchInternal::SetContents(&copy, input).ok() == valid,
               "SetContents and Validate disagree");
  if (!valid) {
    EXPECT_RIGHT(copy.Data() == WriteBatch().Data(), "a refused batch was taken");
    return;
  }
  // Appended to another batch and rolled back, the records are the same.
  Status status;
  WriteBatch joined = MakeBatch();
  const std::string before = Print(joined, &status);
  joined.SetSavePoint();
  WriteBatchInternal::Append(&joined, &copy);
  EXPECT_RIGHT(Print(joined, &status) == before + text, "Append changed the records");
  EXPECT_RIGHT(status.ok(), "an appended batch is damaged: " + status.ToString());
  EXPECT_RIGHT(joined.RollbackToSavePoint().ok() && Print(joined, &status) == before,
               "the rollback left something");
}

void RunCBatch(const std::string& input) {
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create_from(input.data(), input.size());
  struct Count {
    size_t bytes = 0;
    int records = 0;
  } count;
  const auto put = [](void* state, const char* key, size_t key_bytes, const char* value,
                      size_t value_bytes) {
    auto* const counted = static_cast<Count*>(state);
    counted->records++;
    for (size_t i = 0; i < key_bytes; ++i) counted->bytes += key[i] != 0;
    for (size_t i = 0; i < value_bytes; ++i) counted->bytes += value[i] != 0;
  };
  const auto deleted = [](void* state, const char* key, size_t key_bytes) {
    auto* const counted = static_cast<Count*>(state);
    counted->records++;
    for (size_t i = 0; i < key_bytes; ++i) counted->bytes += key[i] != 0;
  };
  rocksdb_writebatch_iterate(batch, &count, put, deleted);
  const auto put_cf = [](void* state, uint32_t, const char* key, size_t key_bytes,
                         const char* value, size_t value_bytes) {
    auto* const counted = static_cast<Count*>(state);
    counted->records++;
    for (size_t i = 0; i < key_bytes; ++i) counted->bytes += key[i] != 0;
    for (size_t i = 0; i < value_bytes; ++i) counted->bytes += value[i] != 0;
  };
  const auto deleted_cf = [](void* state, uint32_t, const char* key, size_t key_bytes) {
    auto* const counted = static_cast<Count*>(state);
    counted->records++;
    for (size_t i = 0; i < key_bytes; ++i) counted->bytes += key[i] != 0;
  };
  rocksdb_writebatch_iterate_cf(batch, &count, put_cf, deleted_cf, put_cf);
  EXPECT_RIGHT(count.bytes <= 2 * input.size(), "the callbacks got more bytes than there are");
  static_cast<void>(rocksdb_writebatch_count(batch));
  size_t bytes = 0;
  const char* const data = rocksdb_writebatch_data(batch, &bytes);
  EXPECT_RIGHT(input.size() < WriteBatchInternal::kHeaderBytes || std::string(data, bytes) == input,
               "the batch holds other bytes");
  char* error = nullptr;
  rocksdb_writebatch_set_save_point(batch);
  rocksdb_writebatch_put(batch, "key", 3, "value", 5);
  rocksdb_writebatch_merge(batch, "key", 3, "value", 5);
  rocksdb_writebatch_rollback_to_save_point(batch, &error);
  rocksdb_free(error);
  rocksdb_writebatch_clear(batch);
  EXPECT_RIGHT(rocksdb_writebatch_count(batch) == 0, "a cleared batch has records");
  rocksdb_writebatch_destroy(batch);
}

}  // namespace ashlar::fuzz

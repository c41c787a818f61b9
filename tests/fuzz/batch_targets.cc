#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "ashlar/c.h"
#include "base/format.h"
#include "key/write_batch_internal.h"
#include "pmem/layout.h"
#include "tests/fuzz/all.h"
#include "tests/fuzz/small_database.h"
#include "tests/support/open_database.h"
#include "tests/support/test_pool.h"
#include "tests/support/verify_tree.h"

namespace ashlar::fuzz {
namespace {

// Prints the records of a batch as text.
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
  // Forms that this library does not write: records of families and of transactions.
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
  families[8] = 7;
  for (const char type : {'\x09', '\x0d', '\x12', '\x13'}) add(type, {}, false);
  for (const char type : {'\x0a', '\x0b', '\x0c'}) add(type, {"xid"}, false);
  add(21, {"time", "xid"}, false);
  add(17, {"k", "v"}, false);
  add(22, {"k", "v"}, false);
  seeds.push_back(families);
  return seeds;
}

bool RunBatch(const std::string& input) {
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
    return false;
  }
  // The records stay the same when they are appended to another batch and rolled back.
  Status status;
  WriteBatch joined = MakeBatch();
  const std::string before = Print(joined, &status);
  joined.SetSavePoint();
  WriteBatchInternal::Append(&joined, &copy);
  EXPECT_RIGHT(Print(joined, &status) == before + text, "Append changed the records");
  EXPECT_RIGHT(status.ok(), "an appended batch is damaged: " + status.ToString());
  EXPECT_RIGHT(joined.RollbackToSavePoint().ok() && Print(joined, &status) == before,
               "the rollback left something");
  return true;
}

bool RunCBatch(const std::string& input) {
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
  // The interface reports no errors.
  return count.records > 0 || input == WriteBatch().Data();
}

// ---- A batch of any bytes that a program writes, as when it gets batches from elsewhere. It is
// refused and changes nothing, or it is written and found again.

namespace {

bool WriteToDatabase(const std::string& bytes) {
  const auto file_system = std::make_shared<MemoryFileSystem>(SmallDatabase::Get().image());
  Contents contents;
  bool accepted = false;
  {
    OpenDatabase database(file_system, SmallDatabaseOptions(), 1);
    Contents before;
    EXPECT_RIGHT(database.Open().ok() && database.Read(&before).ok(), "no database to write to");
    WriteBatch batch(bytes);
    const Status written = database.db()->Write(WriteOptions(), &batch);
    accepted = written.ok();
    const Status read = database.Read(&contents);
    EXPECT_RIGHT(read.ok(), "not readable after a write: " + read.ToString());
    EXPECT_RIGHT(written.ok() || contents == before, "refused, and written: " + written.ToString());
    const Commit commit{{Change::Kind::kPut, "two", "new key", "new value"}};
    const Status next = database.Write(commit, WriteOptions());
    EXPECT_RIGHT(next.ok(), "a batch ends the writes: " + next.ToString());
    Apply(commit, &contents);
    EXPECT_RIGHT(database.Close().ok(), "not closed");
  }
  OpenDatabase database(file_system, SmallDatabaseOptions(), 2);
  const Status opened = database.Open();
  EXPECT_RIGHT(opened.ok(), "not opened again: " + opened.ToString());
  // A single deletion of a key that was written twice may show the older value after a flush.
  if (!opened.ok() || WriteBatch(bytes).HasSingleDelete()) return accepted;
  Contents again;
  EXPECT_RIGHT(database.Read(&again).ok() && again == contents, "other contents after a reopen");
  return accepted;
}

std::map<std::string, std::string> ContentsOf(PersistentTree* tree) {
  std::map<std::string, std::string> contents;
  const std::unique_ptr<Iterator> it = tree->NewIterator(ReadOptions());
  for (it->SeekToFirst(); it->Valid(); it->Next())
    contents[it->key().ToString()] = it->value().ToString();
  EXPECT_RIGHT(it->status().ok(), "a tree is not readable: " + it->status().ToString());
  return contents;
}

bool WriteToTree(const std::string& bytes) {
  pmem::TestPool pool(pmem::kPoolBytesMin);
  std::map<std::string, std::string> contents;
  bool accepted = false;
  {
    const std::unique_ptr<PersistentTree> tree = pmem::OpenTestTree(&pool);
    EXPECT_RIGHT(tree->Put("key1", "old").ok() && tree->Put("key2", "old").ok(), "not filled");
    const std::map<std::string, std::string> before = ContentsOf(tree.get());
    const Status written = tree->Write(WriteBatch(bytes));
    accepted = written.ok();
    contents = ContentsOf(tree.get());
    EXPECT_RIGHT(written.ok() || contents == before, "refused, and written: " + written.ToString());
    const Status verified = VerifyAndCheck(tree.get());
    EXPECT_RIGHT(verified.ok(), "written, but damaged: " + verified.ToString());
    EXPECT_RIGHT(tree->Close().ok(), "not closed");
  }
  const std::unique_ptr<PersistentTree> tree = pmem::OpenTestTree(&pool);
  EXPECT_RIGHT(ContentsOf(tree.get()) == contents, "other contents after a reopen");
  return accepted;
}

}  // namespace

Seeds SeedWrittenBatches() {
  Seeds refused = SeedBatches();
  Seeds seeds{refused.front()};
  refused.erase(refused.begin());
  // Writes to both families of the database and to the only one of a tree, which refuses other
  // families and merges.
  for (const bool second : {false, true}) {
    std::string records = WriteBatch().Data();
    const auto add = [&](char type, char type_of_family, std::initializer_list<Slice> fields) {
      records.push_back(second ? type_of_family : type);
      if (second) records.push_back('\x01');
      for (const Slice& field : fields) PutLengthPrefixedSlice(&records, field);
      records[8] = static_cast<char>(records[8] + 1);
    };
    add(1, 5, {"key1", "value"});
    add(0, 4, {"key2"});
    add(15, 14, {"key3", "key5"});
    (second ? refused : seeds).push_back(records);
    add(2, 6, {"key4", "operand"});
    refused.push_back(records);
  }
  seeds.insert(seeds.end(), refused.begin(), refused.end());
  return seeds;
}

bool RunWrittenBatch(const std::string& input) {
  const bool database_accepts = WriteToDatabase(input);
  return WriteToTree(input) && database_accepts;
}

}  // namespace ashlar::fuzz

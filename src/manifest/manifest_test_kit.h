// Shared by the tests of this folder: metadata made from a few numbers, and tables in a map.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "key/internal_key.h"
#include "manifest/version_edit.h"
#include "table/file_metadata.h"
#include "table/table_reader.h"
#include "tests/support/test_epochs.h"

namespace ashlar {

inline std::unique_ptr<FileMetaData> MakeFile(FileNumber number, const std::string& smallest,
                                              const std::string& largest, SequenceNumber first,
                                              SequenceNumber last) {
  auto file = std::make_unique<FileMetaData>();
  file->number = number;
  file->file_bytes = 100 + number;
  file->smallest = MakeInternalKey(smallest, last, ValueType::kValue);
  file->largest = MakeInternalKey(largest, first, ValueType::kValue);
  file->smallest_sequence = first;
  file->largest_sequence = last;
  return file;
}
inline std::unique_ptr<FileMetaData> MakeFile(FileNumber number, const std::string& smallest,
                                              const std::string& largest) {
  return MakeFile(number, smallest, largest, number, number);
}

// Newest first, as a table has them.
struct TestEntry {
  SequenceNumber sequence = 0;
  ValueType type = ValueType::kValue;
  std::string value;
};
using TestEntries = std::map<std::string, std::vector<TestEntry>>;

class TestTable final : public TableReader {
 public:
  explicit TestTable(TestEntries entries)
      : TableReader(&TestEpochs()), entries_(std::move(entries)) {}

  // Attaches a new table to the file.
  static TestTable* Attach(FileMetaData* file, TestEntries entries) {
    auto* const table = new TestTable(std::move(entries));
    file->reader.store(table, std::memory_order_release);
    return table;
  }
  static void Detach(FileMetaData* file) {
    TableReader* const table = file->reader.exchange(nullptr);
    if (table != nullptr) table->Drop();
  }

  void Get(const TableReadOptions&, Lookup* lookup) override {
    ++gets_;
    const auto versions = entries_.find(lookup->user_key().ToString());
    if (versions == entries_.end()) return;
    for (const TestEntry& entry : versions->second) {
      if (entry.sequence <= lookup->snapshot() &&
          !lookup->Offer(entry.type, entry.sequence, entry.value, PinSource()))
        return;
    }
  }
  std::unique_ptr<InternalCursor> NewCursor(const TableReadOptions&) override { return nullptr; }
  uint64_t ApproximateOffsetOf(const Slice& internal_key) override {
    const std::string key = ExtractUserKey(internal_key).ToString();
    return 10 * static_cast<uint64_t>(std::distance(entries_.begin(), entries_.lower_bound(key)));
  }
  std::vector<std::string> Anchors(size_t) override { return {}; }
  Status VisitReadable(EntryVisitor, TableDamage*) override { return Status::OK(); }
  Status Verify() override { return Status::OK(); }
  const TableProperties& properties() const override {
    AssertFailed("a test table has no properties", __FILE__, __LINE__);
  }
  size_t MemoryBytes() const override { return 0; }
  BlockCensus CountBlocks() const override { return {}; }

  int gets() const { return gets_; }

 private:
  ~TestTable() override = default;

  const TestEntries entries_;
  int gets_ = 0;
};

}  // namespace ashlar

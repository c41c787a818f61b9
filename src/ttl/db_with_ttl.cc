// DBWithTTL: appends the time of each write to its value and strips it from reads. The compaction
// filter (ttl_filter.h) removes expired values.
#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/utilities/db_ttl.h"
#include "ashlar/write_batch.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "key/unknown_merge_operator.h"
#include "key/write_batch_internal.h"
#include "ttl/ttl_filter.h"
#include "ttl/ttl_iterator.h"
#include "ttl/ttl_merge_operator.h"
#include "ttl/ttl_value.h"

namespace ashlar {

namespace {

// Options that were read from a DBWithTTL (GetOptions, GetDescriptor) contain its wrappers, which
// are removed first. Two layers of wrappers would mistake bytes of the program's value for a write
// time.
ColumnFamilyOptions WithTtl(const ColumnFamilyOptions& options, Env* env, int32_t ttl_seconds) {
  ColumnFamilyOptions wrapped = options;
  TtlFilterFactory::Args filter{.env = env,
                                .ttl_seconds = ttl_seconds,
                                .user_filter = options.compaction_filter,
                                .user_factory = options.compaction_filter_factory};
  if (const auto* const factory =
          dynamic_cast<const TtlFilterFactory*>(options.compaction_filter_factory.get());
      factory != nullptr) {
    if (filter.user_filter == nullptr) filter.user_filter = factory->user_filter();
    filter.user_factory = factory->user_factory();
  }
  wrapped.compaction_filter_factory = std::make_shared<TtlFilterFactory>(std::move(filter));
  wrapped.compaction_filter = nullptr;
  std::shared_ptr<MergeOperator> user = options.merge_operator;
  if (const auto* const ttl = dynamic_cast<const TtlMergeOperator*>(user.get()); ttl != nullptr)
    user = ttl->user();
  // The database must recognize its substitute for an unset operator, which combines nothing.
  if (user != nullptr && AsUnknown(user.get()) == nullptr)
    wrapped.merge_operator = std::make_shared<TtlMergeOperator>(env, std::move(user));
  return wrapped;
}

// Identifies a family to a batch by its id.
class FamilyId final : public ColumnFamilyHandle {
 public:
  explicit FamilyId(uint32_t id) : id_(id) {}
  const std::string& GetName() const override { return name_; }
  uint32_t GetID() const override { return id_; }
  Status GetDescriptor(ColumnFamilyDescriptor* /*desc*/) override {
    return Status::NotSupported("an id has no descriptor");
  }
  const Comparator* GetComparator() const override { return nullptr; }

 private:
  const uint32_t id_;
  const std::string name_;
};

// Copies a batch and appends the write time to each value.
class SuffixAdder final : public WriteBatch::Handler {
 public:
  // logged_records: the number of records before the termination point of the copied batch, if it
  // has one.
  SuffixAdder(uint32_t seconds, std::optional<size_t> logged_records)
      : seconds_(seconds), logged_records_(logged_records) {}

  WriteBatch* batch() { return &batch_; }

  // Called before each record, and at the end.
  bool Continue() override {
    if (records_++ == logged_records_) batch_.MarkWalTerminationPoint();
    return true;
  }
  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    FamilyId id(family);
    return batch_.Put(&id, key, Stored(value));
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
    FamilyId id(family);
    return batch_.Merge(&id, key, Stored(value));
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    FamilyId id(family);
    return batch_.Delete(&id, key);
  }
  Status SingleDeleteCF(uint32_t family, const Slice& key) override {
    FamilyId id(family);
    return batch_.SingleDelete(&id, key);
  }
  Status DeleteRangeCF(uint32_t family, const Slice& begin_key, const Slice& end_key) override {
    FamilyId id(family);
    return batch_.DeleteRange(&id, begin_key, end_key);
  }
  // The copy has room for the data, because the source batch had.
  void LogData(const Slice& blob) override { static_cast<void>(batch_.PutLogData(blob).ok()); }

 private:
  Slice Stored(const Slice& value) {
    stored_.assign(value.data(), value.size());
    AppendTtlSuffix(seconds_, &stored_);
    return stored_;
  }

  const uint32_t seconds_;
  const std::optional<size_t> logged_records_;
  size_t records_ = 0;  // copied so far from the source batch
  WriteBatch batch_;
  std::string stored_;
};

// The number of records before the termination point, log data included. None without a point.
std::optional<size_t> LoggedRecords(const WriteBatch& batch) {
  const SavePoint& point = batch.GetWalTerminationPoint();
  if (point.is_cleared()) return std::nullopt;
  size_t records = 0;
  for (BatchReader reader(batch.Data()); reader.Next() && reader.record().offset < point.size;)
    ++records;
  return records;
}

void TakeOff(PinnableSlice* value, Status* status) {
  if (!status->ok()) return;
  const Status checked = CheckTtlSuffix(*value);
  if (checked.ok()) {
    value->remove_suffix(kTtlSuffixBytes);
  } else {
    value->Reset();
    *status = checked;
  }
}

class DBWithTTLImpl final : public DBWithTTL {
 public:
  explicit DBWithTTLImpl(std::unique_ptr<DB> db) : DBWithTTL(std::move(db)) {}

  Status CreateColumnFamilyWithTtl(const ColumnFamilyOptions& options, const std::string& name,
                                   ColumnFamilyHandle** handle, int ttl) override try {
    *handle = nullptr;
    return db_->CreateColumnFamily(WithTtl(options, GetEnv(), ttl), name, handle);
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit();
  }
  Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle) override {
    return CreateColumnFamilyWithTtl(options, name, handle, 0);
  }
  Status CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& column_families,
                              std::vector<ColumnFamilyHandle*>* handles) override try {
    std::vector<ColumnFamilyDescriptor> wrapped;
    for (const ColumnFamilyDescriptor& family : column_families)
      wrapped.emplace_back(family.name, WithTtl(family.options, GetEnv(), 0));
    return db_->CreateColumnFamilies(wrapped, handles);
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit();
  }

  using DB::CreateColumnFamilyWithImport;
  Status CreateColumnFamilyWithImport(
      const ColumnFamilyOptions& options, const std::string& name,
      const ImportColumnFamilyOptions& import_options,
      const std::vector<const ExportImportFilesMetaData*>& metadatas,
      ColumnFamilyHandle** handle) override try {
    *handle = nullptr;
    return db_->CreateColumnFamilyWithImport(WithTtl(options, GetEnv(), 0), name, import_options,
                                             metadatas, handle);
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit();
  }

  void SetTtl(int32_t ttl) override { SetTtl(DefaultColumnFamily(), ttl); }
  void SetTtl(ColumnFamilyHandle* h, int32_t ttl) override { FactoryOf(h)->SetTtl(ttl); }
  Status GetTtl(ColumnFamilyHandle* h, int32_t* ttl) override {
    if (h == nullptr || ttl == nullptr) return Status::InvalidArgument("GetTtl: a pointer is null");
    *ttl = FactoryOf(h)->ttl();
    return Status::OK();
  }

  Status Write(const WriteOptions& options, WriteBatch* updates) override try {
    if (updates == nullptr) return db_->Write(options, updates);  // which refuses it
    ASHLAR_RETURN_IF_ERROR(updates->VerifyChecksum());            // the copy has no checksum
    SuffixAdder adder(TtlNow(GetEnv()), LoggedRecords(*updates));
    ASHLAR_RETURN_IF_ERROR(updates->Iterate(&adder));
    return db_->Write(options, adder.batch());
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit();
  }
  Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             const Slice& value) override try {
    return db_->Put(options, column_family, key, Stored(value));
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit();
  }
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
               const Slice& value) override try {
    return db_->Merge(options, column_family, key, Stored(value));
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit();
  }

  Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             PinnableSlice* value) override {
    Status status = db_->Get(options, column_family, key, value);
    TakeOff(value, &status);
    return status;
  }
  void MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** column_families,
                const Slice* keys, PinnableSlice* values, Status* statuses,
                bool sorted_input) override {
    db_->MultiGet(options, num_keys, column_families, keys, values, statuses, sorted_input);
    for (size_t i = 0; i < num_keys; ++i) TakeOff(&values[i], &statuses[i]);
  }
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family, size_t num_keys,
                const Slice* keys, PinnableSlice* values, Status* statuses,
                bool sorted_input) override {
    db_->MultiGet(options, column_family, num_keys, keys, values, statuses, sorted_input);
    for (size_t i = 0; i < num_keys; ++i) TakeOff(&values[i], &statuses[i]);
  }
  Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* column_family,
                          const Slice& key, PinnableSlice* merge_operands,
                          GetMergeOperandsOptions* get_merge_operands_options,
                          int* number_of_operands) override try {
    if (get_merge_operands_options == nullptr || number_of_operands == nullptr)
      return Status::InvalidArgument("GetMergeOperands: a pointer is null");
    GetMergeOperandsOptions stored = *get_merge_operands_options;
    if (stored.continue_cb) {
      stored.continue_cb = [&](const Slice& operand) {
        return !HasTtlSuffix(operand) ||
               get_merge_operands_options->continue_cb(WithoutTtlSuffix(operand));
      };
    }
    Status status = db_->GetMergeOperands(options, column_family, key, merge_operands, &stored,
                                          number_of_operands);
    for (int i = 0; status.ok() && i < *number_of_operands; ++i)
      TakeOff(&merge_operands[i], &status);
    return status;
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit();
  }
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                   std::string* value, bool* value_found) override try {
    std::string stored;
    bool found = false;
    const bool may_exist = db_->KeyMayExist(options, column_family, key, &stored, &found);
    if (value_found != nullptr) *value_found = found;
    if (!may_exist || !found) {
      if (found && value != nullptr) value->clear();
      return may_exist;
    }
    if (HasTtlSuffix(stored)) {
      stored.resize(stored.size() - kTtlSuffixBytes);
      if (value != nullptr) *value = std::move(stored);
    } else if (value_found != nullptr) {
      *value_found = false;  // Get reports the damage
    }
    return true;
  } catch (const std::bad_alloc&) {
    if (value_found != nullptr) *value_found = false;
    return true;
  }

  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* column_family) override {
    std::unique_ptr<Iterator> stored(db_->NewIterator(options, column_family));
    if (stored == nullptr) return nullptr;
    Iterator* iterator = nullptr;
    IgnoreBadAlloc([&] { iterator = new TtlIterator(std::move(stored)); });
    return iterator;
  }
  Status NewIterators(const ReadOptions& options,
                      const std::vector<ColumnFamilyHandle*>& column_families,
                      std::vector<Iterator*>* iterators) override try {
    std::vector<Iterator*> made;
    ASHLAR_RETURN_IF_ERROR(db_->NewIterators(options, column_families, &made));
    std::vector<std::unique_ptr<Iterator>> stored(made.size());
    for (size_t i = 0; i < made.size(); ++i) stored[i].reset(made[i]);
    std::vector<std::unique_ptr<Iterator>> wrapped;
    for (std::unique_ptr<Iterator>& one : stored)
      wrapped.push_back(std::make_unique<TtlIterator>(std::move(one)));
    iterators->clear();
    iterators->reserve(wrapped.size());
    for (std::unique_ptr<Iterator>& one : wrapped) iterators->push_back(one.release());
    return Status::OK();
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit();
  }

 private:
  std::string Stored(const Slice& value) const {
    std::string stored;
    stored.reserve(value.size() + kTtlSuffixBytes);
    stored.assign(value.data(), value.size());
    AppendTtlSuffix(TtlNow(GetEnv()), &stored);
    return stored;
  }
  // Every family was opened or created by this class, and its factory does not change.
  std::shared_ptr<TtlFilterFactory> FactoryOf(ColumnFamilyHandle* h) const {
    return std::static_pointer_cast<TtlFilterFactory>(GetOptions(h).compaction_filter_factory);
  }
};

}  // namespace

Status DBWithTTL::Open(const Options& options, const std::string& dbname, DBWithTTL** dbptr,
                       int32_t ttl, bool read_only) try {
  std::vector<ColumnFamilyHandle*> handles;
  const std::vector<ColumnFamilyDescriptor> families = {
      ColumnFamilyDescriptor(kDefaultColumnFamilyName, ColumnFamilyOptions(options))};
  const Status opened =
      Open(DBOptions(options), dbname, families, &handles, dbptr, {ttl}, read_only);
  // The database has a handle of its own.
  for (ColumnFamilyHandle* handle : handles) delete handle;
  return opened;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DBWithTTL::Open(const DBOptions& db_options, const std::string& dbname,
                       const std::vector<ColumnFamilyDescriptor>& column_families,
                       std::vector<ColumnFamilyHandle*>* handles, DBWithTTL** dbptr,
                       const std::vector<int32_t>& ttls, bool read_only) try {
  *dbptr = nullptr;
  handles->clear();
  if (ttls.size() != column_families.size())
    return Status::InvalidArgument(StrCat("DBWithTTL::Open needs a ttl for each column family: ",
                                          ttls.size(), " are given for ", column_families.size()));
  std::vector<ColumnFamilyDescriptor> wrapped;
  for (size_t i = 0; i < column_families.size(); ++i)
    wrapped.emplace_back(column_families[i].name,
                         WithTtl(column_families[i].options, db_options.env, ttls[i]));
  std::unique_ptr<DB> db;
  ASHLAR_RETURN_IF_ERROR(read_only ? DB::OpenForReadOnly(db_options, dbname, wrapped, handles, &db)
                                   : DB::Open(db_options, dbname, wrapped, handles, &db));
  *dbptr = new DBWithTTLImpl(std::move(db));
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

}  // namespace ashlar

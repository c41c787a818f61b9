// RocksDB's C interface: RocksDB itself, and Ashlar.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/driver/c_session.h"
#include "bench/driver/dataset.h"
#include "bench/driver/engines.h"
#include "bench/driver/fail.h"
#include "bench/driver/library.h"
#include "bench/driver/rocks_api.h"
#include "bench/driver/rocks_file_calls.h"

namespace ashlar::bench {

namespace {

constexpr double kFilterBitsPerKey = 10;

class RocksSession : public CSession<RocksApi> {
 public:
  RocksSession(const RocksApi& api, RocksDb* db, const EngineOptions& engine,
               const SessionOptions& options)
      : CSession(api, db, options.sync), read_prefix_(api.readoptions_create()) {
    api.writeoptions_disable_WAL(write_, !options.log);
    if (engine.prefix_bytes > 0) {
      Need(api.readoptions_set_prefix_same_as_start,
           "rocksdb_readoptions_set_prefix_same_as_start")(read_prefix_, 1);
    }
  }
  ~RocksSession() override {
    if (tail_ != nullptr) api_.iter_destroy(tail_);
    if (read_tail_ != nullptr) api_.readoptions_destroy(read_tail_);
    api_.readoptions_destroy(read_prefix_);
  }

  void PutAndTail(std::string_view key, std::string_view value, Tally* tally) override {
    if (tail_ == nullptr) {
      read_tail_ = api_.readoptions_create();
      Need(api_.readoptions_set_tailing, "rocksdb_readoptions_set_tailing")(read_tail_, 1);
      tail_ = api_.create_iterator(db_, read_tail_);
    }
    Put(key, value);
    SeekAndNext(tail_, key, 0, tally);
  }

  void Merge(std::string_view key, std::string_view operand) override {
    char* error = nullptr;
    Need(api_.merge, "rocksdb_merge")(db_, write_, key.data(), key.size(), operand.data(),
                                      operand.size(), &error);
    CheckError(api_, error, "merge");
  }

  void Delete(std::string_view key) override {
    char* error = nullptr;
    Need(api_.delete_cf, "rocksdb_delete_cf")(db_, write_, DefaultFamily(), key.data(), key.size(),
                                              &error);
    CheckError(api_, error, "delete_cf");
  }

  void DeleteRange(std::string_view begin, std::string_view end) override {
    char* error = nullptr;
    Need(api_.delete_range_cf, "rocksdb_delete_range_cf")(
        db_, write_, DefaultFamily(), begin.data(), begin.size(), end.data(), end.size(), &error);
    CheckError(api_, error, "delete_range_cf");
  }

  void Get(std::string_view key, Tally* tally) override {
    char* error = nullptr;
    RocksPinnableSlice* const value = api_.get_pinned(db_, read_, key.data(), key.size(), &error);
    CheckError(api_, error, "get_pinned");
    AddPinned(api_, value, tally);
  }

  void MultiGet(std::span<const std::string_view> keys, Tally* tally) override {
    Need(api_.batched_multi_get_cf, "rocksdb_batched_multi_get_cf");
    starts_.resize(keys.size());
    lengths_.resize(keys.size());
    values_.assign(keys.size(), nullptr);
    errors_.assign(keys.size(), nullptr);
    for (size_t i = 0; i < keys.size(); i++) {
      starts_[i] = keys[i].data();
      lengths_[i] = keys[i].size();
    }
    api_.batched_multi_get_cf(db_, read_, DefaultFamily(), keys.size(), starts_.data(),
                              lengths_.data(), values_.data(), errors_.data(), false);
    for (size_t i = 0; i < keys.size(); i++) {
      CheckError(api_, errors_[i], "batched_multi_get_cf");
      AddPinned(api_, values_[i], tally);
    }
  }

 private:
  const RocksReadOptions* prefix_read() const override { return read_prefix_; }

  RocksFamily* DefaultFamily() {
    if (family_ == nullptr) {
      family_ = Need(api_.get_default_column_family_handle,
                     "rocksdb_get_default_column_family_handle")(db_);
    }
    return family_;
  }

  RocksReadOptions* const read_prefix_;
  RocksFamily* family_ = nullptr;          // the default one, set at its first use
  RocksReadOptions* read_tail_ = nullptr;  // both are set at the first use
  RocksIterator* tail_ = nullptr;

  // MultiGet's arrays, kept between calls.
  std::vector<const char*> starts_;
  std::vector<size_t> lengths_;
  std::vector<RocksPinnableSlice*> values_;
  std::vector<char*> errors_;
};

// Puts to and gets from several families. A key always belongs to the same one.
class FamiliesSession final : public RocksSession {
 public:
  FamiliesSession(const RocksApi& api, RocksDb* db, const EngineOptions& engine,
                  const SessionOptions& options, std::span<RocksFamily* const> families)
      : RocksSession(api, db, engine, options), families_(families) {}

  void Put(std::string_view key, std::string_view value) override {
    char* error = nullptr;
    api_.put_cf(db_, write_, FamilyOf(key), key.data(), key.size(), value.data(), value.size(),
                &error);
    CheckError(api_, error, "put_cf");
  }

  void Get(std::string_view key, Tally* tally) override {
    char* error = nullptr;
    RocksPinnableSlice* const value =
        api_.get_pinned_cf(db_, read_, FamilyOf(key), key.data(), key.size(), &error);
    CheckError(api_, error, "get_pinned_cf");
    AddPinned(api_, value, tally);
  }

 private:
  RocksFamily* FamilyOf(std::string_view key) const {
    uint64_t head;
    std::memcpy(&head, key.data(), sizeof(head));
    return families_[Mix(head) % families_.size()];
  }

  const std::span<RocksFamily* const> families_;
};

int CompareBytes(void* /*state*/, const char* a, size_t a_bytes, const char* b, size_t b_bytes) {
  const int order = std::memcmp(a, b, std::min(a_bytes, b_bytes));
  return order != 0 ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

RocksBool KeepEverything(void* /*state*/, int /*level*/, const char* /*key*/, size_t /*key_bytes*/,
                         const char* /*value*/, size_t /*value_bytes*/, char** /*new_value*/,
                         size_t* /*new_value_bytes*/, RocksBool* /*value_changed*/) {
  return 0;
}

class RocksEngine : public Engine {
 public:
  RocksEngine(const std::string& library, const EngineOptions& options)
      : library_(library), api_(library_), options_(options) {
    RocksOptions* db_options = api_.options_create();
    if (options.put_operator) db_options = WithOption(db_options, "merge_operator=put");
    if (options.order == Order::kReverse)
      db_options = WithOption(db_options, "comparator=rocksdb.ReverseBytewiseComparator");
    if (options.order == Order::kCustom) {
      RocksComparator* const comparator = Need(api_.comparator_create, "rocksdb_comparator_create")(
          nullptr, [](void*) {}, &CompareBytes, [](void*) { return "bench.bytes"; });
      Need(api_.options_set_comparator, "rocksdb_options_set_comparator")(db_options, comparator);
    }
    if (options.keep_filter) {
      RocksCompactionFilter* const filter =
          Need(api_.compactionfilter_create, "rocksdb_compactionfilter_create")(
              nullptr, [](void*) {}, &KeepEverything, [](void*) { return "bench.keep"; });
      Need(api_.options_set_compaction_filter, "rocksdb_options_set_compaction_filter")(db_options,
                                                                                        filter);
    }
    if (options.bulk_load)
      Need(api_.options_prepare_for_bulk_load, "rocksdb_options_prepare_for_bulk_load")(db_options);
    api_.options_set_create_if_missing(db_options, 1);
    api_.options_set_compression(db_options, options.compression);
    api_.options_set_write_buffer_size(db_options, options.write_buffer_bytes);
    if (!options.auto_compactions) api_.options_set_disable_auto_compactions(db_options, 1);
    SetReads(db_options);
    SetMemtable(db_options);
    SetTable(db_options);
    if (!options.text.empty()) db_options = WithOption(db_options, options.text.c_str());

    char* error = nullptr;
    db_ = api_.open(db_options, options.dir.c_str(), &error);
    CheckError(api_, error, "open");
    for (uint64_t i = 0; options.families > 1 && i < options.families; i++) {
      families_.push_back(Need(api_.create_column_family, "rocksdb_create_column_family")(
          db_, db_options, ("f" + std::to_string(i)).c_str(), &error));
      CheckError(api_, error, "create_column_family");
    }
    db_options_ = db_options;
    files_ = NewRocksFileCalls(api_, db_, db_options_, options.dir);
    if (cache_ != nullptr) api_.cache_destroy(cache_);
  }
  ~RocksEngine() override {
    for (RocksFamily* const family : families_)
      Need(api_.column_family_handle_destroy, "rocksdb_column_family_handle_destroy")(family);
    files_.reset();
    if (perf_ != nullptr) api_.perfcontext_destroy(perf_);
    api_.close(db_);
    api_.options_destroy(db_options_);
  }

  FileCalls* files() override { return files_.get(); }

  std::unique_ptr<Session> NewSession(const SessionOptions& options) override {
    if (families_.empty()) return std::make_unique<RocksSession>(api_, db_, options_, options);
    return std::make_unique<FamiliesSession>(api_, db_, options_, options, families_);
  }

  void Flush() override {
    RocksFlushOptions* const flush = api_.flushoptions_create();
    char* error = nullptr;
    for (RocksFamily* const family : families_) {
      Need(api_.flush_cf, "rocksdb_flush_cf")(db_, flush, family, &error);
      CheckError(api_, error, "flush_cf");
    }
    api_.flush(db_, flush, &error);
    CheckError(api_, error, "flush");
    api_.flushoptions_destroy(flush);
  }

  void CompactAll() override {
    Flush();
    for (RocksFamily* const family : families_)
      Need(api_.compact_range_cf, "rocksdb_compact_range_cf")(db_, family, nullptr, 0, nullptr, 0);
    api_.compact_range(db_, nullptr, 0, nullptr, 0);
    WaitForBackgroundWork();
  }

  void WaitForBackgroundWork() override {
    RocksWaitOptions* const options =
        Need(api_.wait_for_compact_options_create, "rocksdb_wait_for_compact_options_create")();
    char* error = nullptr;
    Need(api_.wait_for_compact, "rocksdb_wait_for_compact")(db_, options, &error);
    Need(api_.wait_for_compact_options_destroy,
         "rocksdb_wait_for_compact_options_destroy")(options);
    CheckError(api_, error, "wait_for_compact");
  }

  uint64_t SortedRuns() override {
    uint64_t runs = 1 + Property("rocksdb.num-immutable-mem-table");
    for (int level = 0;; ++level) {
      const std::string name = "rocksdb.num-files-at-level" + std::to_string(level);
      char* const text = Need(api_.property_value, "rocksdb_property_value")(db_, name.c_str());
      if (text == nullptr) return runs;
      const uint64_t files = std::strtoull(text, nullptr, 10);
      api_.free(text);
      runs += level == 0 ? files : std::min<uint64_t>(files, 1);
    }
  }

  uint64_t BlocksRead() override {
    constexpr int kBlockCacheHits = 1;
    constexpr int kBlocksRead = 2;
    if (perf_ == nullptr) {
      perf_ = Need(api_.perfcontext_create, "rocksdb_perfcontext_create")();
      Need(api_.perfcontext_metric, "rocksdb_perfcontext_metric");
      Need(api_.perfcontext_destroy, "rocksdb_perfcontext_destroy");
    }
    return api_.perfcontext_metric(perf_, kBlockCacheHits) +
           api_.perfcontext_metric(perf_, kBlocksRead);
  }

  std::optional<Background> RunningNow() override {
    return Background{.flushes = Property("rocksdb.num-running-flushes"),
                      .compactions = Property("rocksdb.num-running-compactions")};
  }

 private:
  RocksOptions* WithOption(RocksOptions* base, const char* option) {
    RocksOptions* const options = api_.options_create();
    char* error = nullptr;
    Need(api_.get_options_from_string, "rocksdb_get_options_from_string")(base, option, options,
                                                                          &error);
    CheckError(api_, error, "get_options_from_string");
    api_.options_destroy(base);
    return options;
  }

  void SetReads(RocksOptions* db_options) {
    if (options_.reads == Reads::kMmap)
      Need(api_.options_set_allow_mmap_reads, "rocksdb_options_set_allow_mmap_reads")(db_options,
                                                                                      1);
    if (options_.reads == Reads::kDirect) {
      Need(api_.options_set_use_direct_reads, "rocksdb_options_set_use_direct_reads")(db_options,
                                                                                      1);
      Need(api_.options_set_use_direct_io_for_flush_and_compaction,
           "rocksdb_options_set_use_direct_io_for_flush_and_compaction")(db_options, 1);
    }
  }

  void SetMemtable(RocksOptions* db_options) {
    if (options_.prefix_bytes > 0) {
      RocksSliceTransform* const prefix =
          Need(api_.slicetransform_create_fixed_prefix,
               "rocksdb_slicetransform_create_fixed_prefix")(options_.prefix_bytes);
      Need(api_.options_set_prefix_extractor, "rocksdb_options_set_prefix_extractor")(db_options,
                                                                                      prefix);
    }
    if (options_.memtable == MemtableKind::kDefault) return;
    // RocksDB refuses concurrent writers with these memtables.
    Need(api_.options_set_allow_concurrent_memtable_write,
         "rocksdb_options_set_allow_concurrent_memtable_write")(db_options, 0);
    if (options_.memtable == MemtableKind::kVector) {
      Need(api_.options_set_memtable_vector_rep,
           "rocksdb_options_set_memtable_vector_rep")(db_options);
    } else {
      constexpr size_t kBuckets = 1000000;
      Need(api_.options_set_hash_skip_list_rep, "rocksdb_options_set_hash_skip_list_rep")(
          db_options, kBuckets, 4, 4);
    }
  }

  RocksCache* NewCache() const {
    if (options_.cache_kind == CacheKind::kLru) return api_.cache_create_lru(options_.cache_bytes);
    return Need(api_.cache_create_hyper_clock, "rocksdb_cache_create_hyper_clock")(
        options_.cache_bytes, /*estimated_entry_charge=*/0);
  }

  void SetTable(RocksOptions* db_options) {
    if (options_.table == TableKind::kPlain) {
      Need(api_.options_set_plain_table_factory, "rocksdb_options_set_plain_table_factory")(
          db_options, static_cast<uint32_t>(options_.key_bytes),
          static_cast<int>(kFilterBitsPerKey), 0.75, 16, 0, 0, 0, 0);
      return;
    }
    RocksTableOptions* const table = api_.block_based_options_create();
    api_.block_based_options_set_filter_policy(
        table, api_.filterpolicy_create_bloom_full(kFilterBitsPerKey));
    if (options_.reads == Reads::kPageCache || options_.reads == Reads::kMmap) {
      api_.block_based_options_set_no_block_cache(table, 1);
    } else {
      cache_ = NewCache();
      api_.block_based_options_set_block_cache(table, cache_);
    }
    api_.options_set_block_based_table_factory(db_options, table);
    api_.block_based_options_destroy(table);
  }

  uint64_t Property(const char* name) {
    uint64_t value = 0;
    if (api_.property_int(db_, name, &value) != 0)
      Fail(std::string("the library does not know the property ") + name);
    return value;
  }

  const Library library_;
  const RocksApi api_;
  const EngineOptions options_;
  RocksCache* cache_ = nullptr;
  RocksDb* db_ = nullptr;
  RocksOptions* db_options_ = nullptr;
  RocksPerfContext* perf_ = nullptr;  // of the thread that used it first; counts from then on
  std::unique_ptr<FileCalls> files_;
  std::vector<RocksFamily*> families_;  // empty: everything is in the default family
};

}  // namespace

std::unique_ptr<Engine> OpenRocks(const std::string& library, const EngineOptions& options) {
  return std::make_unique<RocksEngine>(library, options);
}

}  // namespace ashlar::bench

// Classes that a C program implements with functions: comparators, compaction filters, log filters,
// merge operators, prefix extractors and loggers. Also the functions in ReadOptions.
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "capi/callback_state.h"
#include "capi/handles.h"
#include "capi/transfer.h"

using ashlar::HEADER_LEVEL;
using ashlar::InfoLogLevel;
using ashlar::Logger;
using ashlar::Slice;
using ashlar::capi::CallbackState;
using ashlar::capi::Rep;
using ashlar::capi::Wrap;

namespace {

using NameFunction = const char* (*)(void* state);

// Returns null, which DB::Open refuses, if a required function is missing.
template <typename... Functions>
const char* NameUnlessIncomplete(const CallbackState& state, NameFunction name,
                                 Functions... needed) {
  return name != nullptr && (... && (needed != nullptr)) ? name(state.get()) : nullptr;
}

class CComparator final : public ashlar::Comparator {
 public:
  using CompareFunction = int (*)(void* state, const char* a, size_t a_size, const char* b,
                                  size_t b_size);

  CComparator(void* state, void (*destructor)(void*), CompareFunction compare, NameFunction name)
      : state_(state, destructor), compare_(compare), name_(name) {}

  const char* Name() const override { return NameUnlessIncomplete(state_, name_, compare_); }
  int Compare(const Slice& a, const Slice& b) const override {
    return compare_(state_.get(), a.data(), a.size(), b.data(), b.size());
  }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}

 private:
  const CallbackState state_;
  const CompareFunction compare_;
  const NameFunction name_;
};

class CCompactionFilter final : public ashlar::CompactionFilter {
 public:
  using FilterFunction = unsigned char (*)(void* state, int level, const char* key, size_t key_size,
                                           const char* existing_value, size_t existing_value_size,
                                           char** new_value, size_t* new_value_size,
                                           unsigned char* value_changed);

  CCompactionFilter(void* state, void (*destructor)(void*), FilterFunction filter,
                    NameFunction name)
      : state_(state, destructor), filter_(filter), name_(name) {}

  const char* Name() const override { return NameUnlessIncomplete(state_, name_, filter_); }
  bool Filter(int level, const Slice& key, const Slice& existing_value, std::string* new_value,
              bool* value_changed) const override {
    char* changed = nullptr;
    size_t changed_size = 0;
    unsigned char is_changed = 0;
    const unsigned char removed =
        filter_(state_.get(), level, key.data(), key.size(), existing_value.data(),
                existing_value.size(), &changed, &changed_size, &is_changed);
    if (is_changed != 0) {
      new_value->assign(changed == nullptr ? "" : changed, changed == nullptr ? 0 : changed_size);
      *value_changed = true;
    }
    return removed != 0;
  }
  bool IgnoreSnapshots() const override { return ignore_snapshots_; }
  void SetIgnoreSnapshots(bool value) { ignore_snapshots_ = value; }
  bool has_function() const { return filter_ != nullptr; }

 private:
  const CallbackState state_;
  const FilterFunction filter_;
  const NameFunction name_;
  bool ignore_snapshots_ = true;
};

class CWalFilter final : public ashlar::WalFilter {
 public:
  using MapFunction = rocksdb_walfilter_column_family_log_number_map_cb;
  using RecordFunction = rocksdb_walfilter_log_record_found_cb;

  CWalFilter(void* state, void (*destructor)(void*), MapFunction map, RecordFunction record,
             NameFunction name)
      : state_(state, destructor), map_(map), record_(record), name_(name) {}

  const char* Name() const override {
    return name_ != nullptr ? name_(state_.get()) : "WAL filter";
  }
  void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& log_numbers,
                                const std::map<std::string, uint32_t>& ids_by_name) override {
    if (map_ == nullptr) return;
    std::vector<uint32_t> ids;
    std::vector<uint64_t> logs;
    for (const auto& [id, log] : log_numbers) {
      ids.push_back(id);
      logs.push_back(log);
    }
    std::vector<const char*> names;
    std::vector<size_t> name_sizes;
    std::vector<uint32_t> name_ids;
    for (const auto& [name, id] : ids_by_name) {
      names.push_back(name.c_str());
      name_sizes.push_back(name.size());
      name_ids.push_back(id);
    }
    map_(state_.get(), ids.data(), logs.data(), ids.size(), names.data(), name_sizes.data(),
         name_ids.data(), names.size());
  }
  WalProcessingOption LogRecordFound(unsigned long long log_number,
                                     const std::string& log_file_name,
                                     const ashlar::WriteBatch& batch, ashlar::WriteBatch* new_batch,
                                     bool* batch_changed) override {
    if (record_ == nullptr) return WalProcessingOption::kContinueProcessing;
    const rocksdb_writebatch_t found{.rep = batch, .refused = {}};
    rocksdb_writebatch_t changed;
    unsigned char is_changed = 0;
    const int decision = record_(state_.get(), log_number, log_file_name.data(),
                                 log_file_name.size(), &found, &changed, &is_changed);
    if (is_changed != 0) *new_batch = std::move(changed.rep);
    *batch_changed = is_changed != 0;
    return static_cast<WalProcessingOption>(decision);
  }

 private:
  const CallbackState state_;
  const MapFunction map_;
  const RecordFunction record_;
  const NameFunction name_;
};

class CCompactionFilterFactory final : public ashlar::CompactionFilterFactory {
 public:
  using CreateFunction =
      rocksdb_compactionfilter_t* (*)(void* state, rocksdb_compactionfiltercontext_t* context);

  CCompactionFilterFactory(void* state, void (*destructor)(void*), CreateFunction create,
                           NameFunction name)
      : state_(state, destructor), create_(create), name_(name) {}

  const char* Name() const override { return NameUnlessIncomplete(state_, name_, create_); }
  std::unique_ptr<ashlar::CompactionFilter> CreateCompactionFilter(
      const ashlar::CompactionFilter::Context& context) override {
    std::unique_ptr<CCompactionFilter> made(
        static_cast<CCompactionFilter*>(Rep(create_(state_.get(), Wrap(&context)))));
    // The job fails with this text and the factory's name, so the filter needs no name here.
    if (made != nullptr && !made->has_function())
      throw std::invalid_argument("its compaction filter has no function: filter is null");
    return made;
  }

 private:
  const CallbackState state_;
  const CreateFunction create_;
  const NameFunction name_;
};

class CMergeOperator final : public ashlar::MergeOperator {
 public:
  using FullMergeFunction = char* (*)(void* state, const char* key, size_t key_size,
                                      const char* existing_value, size_t existing_value_size,
                                      const char* const* operands, const size_t* operand_sizes,
                                      int num_operands, unsigned char* success,
                                      size_t* new_value_size);
  using PartialMergeFunction = char* (*)(void* state, const char* key, size_t key_size,
                                         const char* const* operands, const size_t* operand_sizes,
                                         int num_operands, unsigned char* success,
                                         size_t* new_value_size);
  using DeleteFunction = void (*)(void* state, const char* value, size_t value_size);

  CMergeOperator(void* state, void (*destructor)(void*), FullMergeFunction full_merge,
                 PartialMergeFunction partial_merge, DeleteFunction delete_value, NameFunction name)
      : state_(state, destructor),
        full_merge_(full_merge),
        partial_merge_(partial_merge),
        delete_value_(delete_value),
        name_(name) {}

  const char* Name() const override { return NameUnlessIncomplete(state_, name_, full_merge_); }

  bool FullMergeV2(const MergeOperationInput& merge_in,
                   MergeOperationOutput* merge_out) const override {
    const Operands operands(merge_in.operand_list);
    const Slice* const existing = merge_in.existing_value;
    unsigned char success = 0;
    size_t size = 0;
    char* const merged =
        full_merge_(state_.get(), merge_in.key.data(), merge_in.key.size(),
                    existing == nullptr ? nullptr : existing->data(),
                    existing == nullptr ? 0 : existing->size(), operands.data.data(),
                    operands.sizes.data(), operands.count(), &success, &size);
    return Take(merged, size, success, &merge_out->new_value);
  }

  bool PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                         std::string* new_value, Logger* /*logger*/) const override {
    if (partial_merge_ == nullptr) return false;
    const Operands operands(operand_list);
    unsigned char success = 0;
    size_t size = 0;
    char* const merged = partial_merge_(state_.get(), key.data(), key.size(), operands.data.data(),
                                        operands.sizes.data(), operands.count(), &success, &size);
    return Take(merged, size, success, new_value);
  }

 private:
  // A list of slices as two arrays.
  struct Operands {
    template <typename List>
    explicit Operands(const List& list) {
      for (const Slice& operand : list) {
        data.push_back(operand.data());
        sizes.push_back(operand.size());
      }
    }
    int count() const { return static_cast<int>(data.size()); }

    std::vector<const char*> data;
    std::vector<size_t> sizes;
  };

  bool Take(char* merged, size_t size, unsigned char success, std::string* new_value) const {
    if (success != 0 && merged != nullptr) new_value->assign(merged, size);
    if (delete_value_ != nullptr) {
      delete_value_(state_.get(), merged, size);
    } else {
      std::free(merged);
    }
    return success != 0;
  }

  const CallbackState state_;
  const FullMergeFunction full_merge_;
  const PartialMergeFunction partial_merge_;
  const DeleteFunction delete_value_;
  const NameFunction name_;
};

class CSliceTransform final : public ashlar::SliceTransform {
 public:
  using TransformFunction = char* (*)(void* state, const char* key, size_t key_size,
                                      size_t* prefix_size);
  using InDomainFunction = unsigned char (*)(void* state, const char* key, size_t key_size);

  CSliceTransform(void* state, void (*destructor)(void*), TransformFunction transform,
                  InDomainFunction in_domain, NameFunction name)
      : state_(state, destructor), transform_(transform), in_domain_(in_domain), name_(name) {}

  const char* Name() const override {
    return NameUnlessIncomplete(state_, name_, transform_, in_domain_);
  }
  Slice Transform(const Slice& key) const override {
    size_t size = 0;
    const char* const prefix = transform_(state_.get(), key.data(), key.size(), &size);
    return {prefix, size};
  }
  bool InDomain(const Slice& key) const override {
    return in_domain_(state_.get(), key.data(), key.size()) != 0;
  }

 private:
  const CallbackState state_;
  const TransformFunction transform_;
  const InDomainFunction in_domain_;
  const NameFunction name_;
};

class StderrLogger final : public Logger {
 public:
  StderrLogger(InfoLogLevel level, const char* prefix)
      : Logger(level), prefix_(prefix == nullptr ? "" : prefix) {}

  using Logger::Logv;
  void Logv(InfoLogLevel level, const char* format, va_list ap) override {
    if (level >= GetInfoLogLevel()) Log(level, FormatMessage(format, ap));
  }
  void LogHeader(const char* format, va_list ap) override {
    Log(HEADER_LEVEL, FormatMessage(format, ap));
  }
  void Log(InfoLogLevel /*level*/, std::string_view message) override {
    // One call per line, so that lines of different threads do not mix.
    std::string line = prefix_;
    if (!line.empty()) line += ' ';
    line += message;
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
  }

 private:
  const std::string prefix_;
};

class CallbackLogger final : public Logger {
 public:
  using LogFunction = void (*)(void* state, unsigned level, char* message, size_t message_size);

  CallbackLogger(InfoLogLevel level, LogFunction log, void* state)
      : Logger(level), log_(log), state_(state) {}

  using Logger::Logv;
  void Logv(InfoLogLevel level, const char* format, va_list ap) override {
    if (level >= GetInfoLogLevel()) Log(level, FormatMessage(format, ap));
  }
  void LogHeader(const char* format, va_list ap) override {
    Log(HEADER_LEVEL, FormatMessage(format, ap));
  }
  void Log(InfoLogLevel level, std::string_view message) override {
    if (log_ == nullptr) return;
    std::string copy(message);  // the function may write to it
    log_(state_, level, copy.data(), copy.size());
  }

 private:
  const LogFunction log_;
  void* const state_;
};

}  // namespace

rocksdb_comparator_t* rocksdb_comparator_create(void* state, void (*destructor)(void* state),
                                                int (*compare)(void* state, const char* a,
                                                               size_t a_size, const char* b,
                                                               size_t b_size),
                                                const char* (*name)(void* state)) noexcept {
  return Wrap(static_cast<ashlar::Comparator*>(new CComparator(state, destructor, compare, name)));
}
void rocksdb_comparator_destroy(rocksdb_comparator_t* comparator) noexcept {
  delete Rep(comparator);
}

rocksdb_compactionfilter_t* rocksdb_compactionfilter_create(
    void* state, void (*destructor)(void* state),
    unsigned char (*filter)(void* state, int level, const char* key, size_t key_size,
                            const char* existing_value, size_t existing_value_size,
                            char** new_value, size_t* new_value_size, unsigned char* value_changed),
    const char* (*name)(void* state)) noexcept {
  return Wrap(static_cast<ashlar::CompactionFilter*>(
      new CCompactionFilter(state, destructor, filter, name)));
}
void rocksdb_compactionfilter_set_ignore_snapshots(rocksdb_compactionfilter_t* filter,
                                                   unsigned char value) noexcept {
  static_cast<CCompactionFilter*>(Rep(filter))->SetIgnoreSnapshots(value != 0);
}
void rocksdb_compactionfilter_destroy(rocksdb_compactionfilter_t* filter) noexcept {
  delete Rep(filter);
}
rocksdb_walfilter_t* rocksdb_walfilter_create(
    void* state, void (*destructor)(void* state),
    rocksdb_walfilter_column_family_log_number_map_cb log_number_map,
    rocksdb_walfilter_log_record_found_cb log_record_found,
    const char* (*name)(void* state)) noexcept {
  return Wrap(static_cast<ashlar::WalFilter*>(
      new CWalFilter(state, destructor, log_number_map, log_record_found, name)));
}
void rocksdb_walfilter_destroy(rocksdb_walfilter_t* filter) noexcept { delete Rep(filter); }
unsigned char rocksdb_compactionfiltercontext_is_full_compaction(
    rocksdb_compactionfiltercontext_t* context) noexcept {
  return Rep(context)->is_full_compaction ? 1 : 0;
}
unsigned char rocksdb_compactionfiltercontext_is_manual_compaction(
    rocksdb_compactionfiltercontext_t* context) noexcept {
  return Rep(context)->is_manual_compaction ? 1 : 0;
}
rocksdb_compactionfilterfactory_t* rocksdb_compactionfilterfactory_create(
    void* state, void (*destructor)(void* state),
    rocksdb_compactionfilter_t* (*create_compaction_filter)(
        void* state, rocksdb_compactionfiltercontext_t* context),
    const char* (*name)(void* state)) noexcept {
  return Wrap(static_cast<ashlar::CompactionFilterFactory*>(
      new CCompactionFilterFactory(state, destructor, create_compaction_filter, name)));
}
void rocksdb_compactionfilterfactory_destroy(rocksdb_compactionfilterfactory_t* factory) noexcept {
  delete Rep(factory);
}

rocksdb_mergeoperator_t* rocksdb_mergeoperator_create(
    void* state, void (*destructor)(void* state),
    char* (*full_merge)(void* state, const char* key, size_t key_size, const char* existing_value,
                        size_t existing_value_size, const char* const* operands,
                        const size_t* operand_sizes, int num_operands, unsigned char* success,
                        size_t* new_value_size),
    char* (*partial_merge)(void* state, const char* key, size_t key_size,
                           const char* const* operands, const size_t* operand_sizes,
                           int num_operands, unsigned char* success, size_t* new_value_size),
    void (*delete_value)(void* state, const char* value, size_t value_size),
    const char* (*name)(void* state)) noexcept {
  return Wrap(static_cast<ashlar::MergeOperator*>(
      new CMergeOperator(state, destructor, full_merge, partial_merge, delete_value, name)));
}
void rocksdb_mergeoperator_destroy(rocksdb_mergeoperator_t* merge_operator) noexcept {
  delete Rep(merge_operator);
}

rocksdb_slicetransform_t* rocksdb_slicetransform_create(
    void* state, void (*destructor)(void* state),
    char* (*transform)(void* state, const char* key, size_t key_size, size_t* prefix_size),
    unsigned char (*in_domain)(void* state, const char* key, size_t key_size),
    const char* (*name)(void* state)) noexcept {
  return Wrap(static_cast<ashlar::SliceTransform*>(
      new CSliceTransform(state, destructor, transform, in_domain, name)));
}
rocksdb_slicetransform_t* rocksdb_slicetransform_create_fixed_prefix(size_t prefix_size) noexcept {
  return Wrap(ashlar::NewFixedPrefixTransform(prefix_size));
}
rocksdb_slicetransform_t* rocksdb_slicetransform_create_noop(void) noexcept {
  return Wrap(ashlar::NewNoopTransform());
}
void rocksdb_slicetransform_destroy(rocksdb_slicetransform_t* transform) noexcept {
  delete Rep(transform);
}

rocksdb_logger_t* rocksdb_logger_create_stderr_logger(int log_level, const char* prefix) noexcept {
  return new rocksdb_logger_t{
      std::make_shared<StderrLogger>(static_cast<InfoLogLevel>(log_level), prefix)};
}
rocksdb_logger_t* rocksdb_logger_create_callback_logger(
    int log_level,
    void (*callback)(void* state, unsigned level, char* message, size_t message_size),
    void* state) noexcept {
  return new rocksdb_logger_t{
      std::make_shared<CallbackLogger>(static_cast<InfoLogLevel>(log_level), callback, state)};
}
void rocksdb_logger_destroy(rocksdb_logger_t* logger) noexcept { delete logger; }

void rocksdb_readoptions_set_table_filter(
    rocksdb_readoptions_t* options, void* state, void (*destructor)(void* state),
    rocksdb_readoptions_table_filter_cb table_filter) noexcept {
  // Iterators copy the options and share the state.
  auto shared = std::make_shared<CallbackState>(state, destructor);
  options->rep.table_filter = nullptr;
  if (table_filter == nullptr) return;
  options->rep.table_filter = [shared = std::move(shared),
                               table_filter](const ashlar::TableProperties& properties) {
    return table_filter(shared->get(), Wrap(&properties)) != 0;
  };
}
void rocksdb_readoptions_clear_table_filter(rocksdb_readoptions_t* options) noexcept {
  options->rep.table_filter = nullptr;
}
unsigned char rocksdb_readoptions_has_table_filter(const rocksdb_readoptions_t* options) noexcept {
  return options->rep.table_filter ? 1 : 0;
}

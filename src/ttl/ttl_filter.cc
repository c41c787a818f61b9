#include "ttl/ttl_filter.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ttl/ttl_value.h"

namespace ashlar {

namespace {

class TtlFilter final : public CompactionFilter {
 public:
  // user: may be null.
  TtlFilter(Env* env, int32_t ttl_seconds, const CompactionFilter* user,
            std::unique_ptr<CompactionFilter> owned)
      : env_(env), ttl_seconds_(ttl_seconds), owned_(std::move(owned)), user_(user) {}

  Decision FilterV3(int level, const Slice& key, ValueType value_type, const Slice* existing_value,
                    const WideColumns* existing_columns, std::string* new_value,
                    std::vector<std::pair<std::string, std::string>>* new_columns,
                    std::string* skip_until) const override {
    const Slice& stored = *existing_value;
    if (!HasTtlSuffix(stored)) return Decision::kKeep;  // I1
    if (value_type == kValue && IsOver(TtlSeconds(stored))) return Decision::kRemove;
    if (user_ == nullptr) return Decision::kKeep;
    const Slice value = WithoutTtlSuffix(stored);
    const Decision decision = user_->FilterV3(level, key, value_type, &value, existing_columns,
                                              new_value, new_columns, skip_until);
    if (decision == Decision::kChangeValue) AppendTtlSuffix(TtlSeconds(stored), new_value);  // I2
    return decision;
  }

  Decision FilterBlobByKey(int level, const Slice& key, std::string* new_value,
                           std::string* skip_until) const override {
    return user_ != nullptr ? user_->FilterBlobByKey(level, key, new_value, skip_until)
                            : Decision::kUndetermined;
  }

  // Errors of the program's filter must name that filter.
  const char* Name() const override {
    return user_ != nullptr ? user_->Name() : "TtlCompactionFilter";
  }

 private:
  // As in RocksDB, a value lives through the last second of its time to live.
  bool IsOver(uint32_t written) const {
    return ttl_seconds_ > 0 && int64_t{written} + ttl_seconds_ < int64_t{TtlNow(env_)};
  }

  Env* const env_;
  const int32_t ttl_seconds_;
  const std::unique_ptr<CompactionFilter> owned_;
  const CompactionFilter* const user_;
};

}  // namespace

TtlFilterFactory::TtlFilterFactory(Args args)
    : args_(std::move(args)), ttl_seconds_(args_.ttl_seconds) {}

bool TtlFilterFactory::AsksProgram(TableFileCreationReason reason) const {
  if (args_.user_filter != nullptr) return reason == TableFileCreationReason::kCompaction;
  return args_.user_factory != nullptr && args_.user_factory->ShouldFilterTableFileCreation(reason);
}

bool TtlFilterFactory::ShouldFilterTableFileCreation(TableFileCreationReason reason) const {
  return reason == TableFileCreationReason::kCompaction || AsksProgram(reason);
}

std::unique_ptr<CompactionFilter> TtlFilterFactory::CreateCompactionFilter(
    const CompactionFilter::Context& context) {
  const CompactionFilter* user = nullptr;
  std::unique_ptr<CompactionFilter> owned;
  if (AsksProgram(context.reason)) {
    user = args_.user_filter;
    if (user == nullptr) {
      owned = args_.user_factory->CreateCompactionFilter(context);
      user = owned.get();
    }
  }
  return std::make_unique<TtlFilter>(args_.env, ttl(), user, std::move(owned));
}

}  // namespace ashlar

// TtlFilterFactory: the compaction filter of a DBWithTTL. It removes expired values and passes the
// others to the program's filter, without their write times.
//
// I1: a value that does not end in a write time is kept and not passed to the program's filter.
// I2: a value that the program's filter changes keeps its write time.
// Thread safety: the factory from any thread; its filters as those of the program's factory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "ashlar/compaction_filter.h"
#include "ashlar/env.h"

namespace ashlar {

class TtlFilterFactory final : public CompactionFilterFactory {
 public:
  // RocksDB's name, which is in OPTIONS files.
  static constexpr const char* kName = "TtlCompactionFilterFactory";

  struct Args {
    Env* env = nullptr;
    int32_t ttl_seconds = 0;                        // 0 or less: nothing expires
    const CompactionFilter* user_filter = nullptr;  // takes precedence over the factory; or null
    std::shared_ptr<CompactionFilterFactory> user_factory = {};
  };
  explicit TtlFilterFactory(Args args);

  bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const override;
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override;
  const char* Name() const override { return kName; }

  // The filter and the factory of the program, or null.
  const CompactionFilter* user_filter() const { return args_.user_filter; }
  const std::shared_ptr<CompactionFilterFactory>& user_factory() const {
    return args_.user_factory;
  }

  // Applies to filters that are created from now on.
  void SetTtl(int32_t seconds) { ttl_seconds_.store(seconds, std::memory_order_relaxed); }
  int32_t ttl() const { return ttl_seconds_.load(std::memory_order_relaxed); }

 private:
  bool AsksProgram(TableFileCreationReason reason) const;

  const Args args_;
  std::atomic<int32_t> ttl_seconds_;
};

}  // namespace ashlar

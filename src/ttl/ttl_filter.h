// TtlFilterFactory: the compaction filter of a DBWithTTL. It removes expired values and passes the
// others to the program's filter, without the time of their writes.
//
// I1: a value that does not end in a time is kept, and the program is not asked about it.
// I2: a value that the program changes keeps its time.
// Thread safety: the factory from any thread; its filters as the factory of the program makes them.
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
    int32_t ttl_seconds = 0;                        // 0 or less: nothing is over
    const CompactionFilter* user_filter = nullptr;  // goes before the factory, if there is one
    std::shared_ptr<CompactionFilterFactory> user_factory = {};
  };
  explicit TtlFilterFactory(Args args);

  bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const override;
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override;
  const char* Name() const override { return kName; }

  // The program's; null: none.
  const CompactionFilter* user_filter() const { return args_.user_filter; }
  const std::shared_ptr<CompactionFilterFactory>& user_factory() const {
    return args_.user_factory;
  }

  // For filters that are made from now on.
  void SetTtl(int32_t seconds) { ttl_seconds_.store(seconds, std::memory_order_relaxed); }
  int32_t ttl() const { return ttl_seconds_.load(std::memory_order_relaxed); }

 private:
  bool AsksProgram(TableFileCreationReason reason) const;

  const Args args_;
  std::atomic<int32_t> ttl_seconds_;
};

}  // namespace ashlar

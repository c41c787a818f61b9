// Collectors of table properties that the library provides (ashlar/table_properties.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/export.h"
#include "ashlar/table_properties.h"

namespace ashlar {

// Marks a new table for compaction if it is dense in deletions: a window of sliding_window_size
// entries (rounded up to a multiple of 128) has deletion_trigger deletions. With a deletion_ratio
// in (0, 1], a table in which deletions are that share of all entries is dense, too. A range
// deletion counts as one. Ashlar's own option compact_dense_deletions, on by default, does the same
// by blocks.
class ASHLAR_API CompactOnDeletionCollectorFactory final : public TablePropertiesCollectorFactory {
 public:
  CompactOnDeletionCollectorFactory(size_t sliding_window_size, size_t deletion_trigger,
                                    double deletion_ratio, uint64_t min_file_size = 0);

  TablePropertiesCollector* CreateTablePropertiesCollector(Context context) override;
  const char* Name() const override { return "CompactOnDeletionCollector"; }
  std::string ToString() const override;

  // Changes apply from the next table on.
  void SetWindowSize(size_t sliding_window_size);
  size_t GetWindowSize() const { return sliding_window_size_.load(); }
  // 0: no trigger.
  void SetDeletionTrigger(size_t deletion_trigger) { deletion_trigger_.store(deletion_trigger); }
  size_t GetDeletionTrigger() const { return deletion_trigger_.load(); }
  // 0 or less, or more than 1: no ratio.
  void SetDeletionRatio(double deletion_ratio) { deletion_ratio_.store(deletion_ratio); }
  double GetDeletionRatio() const { return deletion_ratio_.load(); }
  // Smaller tables are not marked.
  void SetMinFileSize(uint64_t min_file_size) { min_file_size_.store(min_file_size); }
  uint64_t GetMinFileSize() const { return min_file_size_.load(); }

 private:
  std::atomic<size_t> sliding_window_size_;
  std::atomic<size_t> deletion_trigger_;
  std::atomic<double> deletion_ratio_;
  std::atomic<uint64_t> min_file_size_;
};

ASHLAR_API std::shared_ptr<CompactOnDeletionCollectorFactory> NewCompactOnDeletionCollectorFactory(
    size_t sliding_window_size, size_t deletion_trigger, double deletion_ratio = 0,
    uint64_t min_file_size = 0);

}  // namespace ashlar

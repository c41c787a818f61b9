// PropertyCollectors: runs the collectors of the program (ashlar/table_properties.h) for one table
// that a table builder writes.
//
//   (Add* BlockAdd)* -> Finish -> NeedCompact
//
// A collector that fails is named in the LOG once and still called, because it may have properties
// even if it refuses an entry. After an exception it is not called again. Neither fails the table.
// Thread safety: one thread. Lifetime: the logger outlives it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/table_properties.h"
#include "base/function_ref.h"
#include "key/record_kind.h"

namespace ashlar {

// The public name of a type.
EntryType ToEntryType(ValueType type);

class PropertyCollectors {
 public:
  using Factories = std::vector<std::shared_ptr<TablePropertiesCollectorFactory>>;

  PropertyCollectors(const Factories& factories,
                     const TablePropertiesCollectorFactory::Context& context, Logger* logger);
  PropertyCollectors(const PropertyCollectors&) = delete;
  PropertyCollectors& operator=(const PropertyCollectors&) = delete;

  bool empty() const { return collectors_.empty(); }
  // file_bytes: the size of the table so far. A range deletion is passed as internal key and end.
  void Add(const Slice& internal_key, const Slice& value, uint64_t file_bytes);
  void BlockAdd(uint64_t block_bytes);
  // Adds the properties, and the names of the collectors.
  void Finish(TableProperties* properties);
  bool NeedCompact();

 private:
  struct Collector {
    std::unique_ptr<TablePropertiesCollector> rep;
    bool is_reported = false;
    bool has_thrown = false;
  };
  // Returns whether the call succeeded.
  bool Call(const char* method, Collector* collector, FunctionRef<Status()> call);

  std::vector<Collector> collectors_;
  Logger* const logger_;  // null: none
};

}  // namespace ashlar

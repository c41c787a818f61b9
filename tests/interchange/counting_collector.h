// CountingFactory: a collector that stores the number of entries of a table, as the property
// "program.entries" with the value "number N".
//
// Thread safety: as TablePropertiesCollectorFactory.
#pragma once

#include <string>

#include "ashlar/table_properties.h"
#include "base/format.h"

namespace ashlar {

class CountingCollector final : public TablePropertiesCollector {
 public:
  Status AddUserKey(const Slice& /*key*/, const Slice& /*value*/, EntryType /*type*/,
                    SequenceNumber /*seq*/, uint64_t /*file_size*/) override {
    ++entries_;
    return Status::OK();
  }
  Status Finish(UserCollectedProperties* properties) override {
    (*properties)["program.entries"] = StrCat("number ", entries_);
    return Status::OK();
  }
  UserCollectedProperties GetReadableProperties() const override { return {}; }
  const char* Name() const override { return "CountingCollector"; }

 private:
  int entries_ = 0;
};

class CountingFactory final : public TablePropertiesCollectorFactory {
 public:
  TablePropertiesCollector* CreateTablePropertiesCollector(Context /*context*/) override {
    return new CountingCollector;
  }
  const char* Name() const override { return "CountingFactory"; }
};

}  // namespace ashlar

#include "table/property_collectors.h"

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "key/internal_key.h"

namespace ashlar {

EntryType ToEntryType(ValueType type) {
  switch (type) {
    case ValueType::kValue: return kEntryPut;
    case ValueType::kDeletion: return kEntryDelete;
    case ValueType::kSingleDeletion: return kEntrySingleDelete;
    case ValueType::kMerge: return kEntryMerge;
    case ValueType::kRangeDeletion: return kEntryRangeDeletion;
    default: return kEntryOther;
  }
}

PropertyCollectors::PropertyCollectors(const Factories& factories,
                                       const TablePropertiesCollectorFactory::Context& context,
                                       Logger* logger)
    : logger_(logger) {
  for (const auto& factory : factories) {
    if (factory == nullptr) continue;
    Collector made;
    Call("CreateTablePropertiesCollector", &made, [&] {
      made.rep.reset(factory->CreateTablePropertiesCollector(context));
      return Status::OK();
    });
    if (made.rep != nullptr) collectors_.push_back(std::move(made));
  }
}

bool PropertyCollectors::Call(const char* method, Collector* collector,
                              FunctionRef<Status()> call) {
  if (collector->has_thrown) return false;
  Status status;
  try {
    status = call();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& thrown) {
    collector->has_thrown = true;
    status = Status::Aborted("an exception", thrown.what());
  } catch (...) {
    collector->has_thrown = true;
    status = Status::Aborted("an exception that is no std::exception");
  }
  if (status.ok()) return true;
  if (std::exchange(collector->is_reported, true)) return false;
  if (logger_ == nullptr || logger_->GetInfoLogLevel() > WARN_LEVEL) return false;
  const char* const name = collector->rep != nullptr ? collector->rep->Name() : "a factory";
  logger_->Log(WARN_LEVEL, StrCat("the table properties collector ", name, " failed in ", method,
                                  ": ", status.ToString()));
  return false;
}

void PropertyCollectors::Add(const Slice& internal_key, const Slice& value, uint64_t file_bytes) {
  const uint64_t tag = ExtractTag(internal_key);
  for (Collector& collector : collectors_) {
    Call("AddUserKey", &collector, [&] {
      return collector.rep->AddUserKey(ExtractUserKey(internal_key), value,
                                       ToEntryType(TagType(tag)), TagSequence(tag), file_bytes);
    });
  }
}

void PropertyCollectors::BlockAdd(uint64_t block_bytes) {
  for (Collector& collector : collectors_) {
    Call("BlockAdd", &collector, [&] {
      collector.rep->BlockAdd(block_bytes, 0, 0);
      return Status::OK();
    });
  }
}

void PropertyCollectors::Finish(TableProperties* properties) {
  constexpr std::string_view kReserved = "rocksdb.";
  std::string names;
  for (Collector& collector : collectors_) {
    StrAppend(&names, names.empty() ? "" : ",", collector.rep->Name());
    UserCollectedProperties own;
    if (!Call("Finish", &collector, [&] { return collector.rep->Finish(&own); })) continue;
    for (auto& [name, value] : own) {
      if (!std::string_view(name).starts_with(kReserved))
        properties->user_collected_properties.emplace(name, std::move(value));
    }
    Call("GetReadableProperties", &collector, [&] {
      properties->readable_properties.merge(collector.rep->GetReadableProperties());
      return Status::OK();
    });
  }
  properties->property_collectors_names = StrCat("[", names, "]");
}

bool PropertyCollectors::NeedCompact() {
  bool wanted = false;
  for (Collector& collector : collectors_) {
    Call("NeedCompact", &collector, [&] {
      wanted |= collector.rep->NeedCompact();
      return Status::OK();
    });
  }
  return wanted;
}

}  // namespace ashlar

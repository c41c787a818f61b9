// The table factories only hold their options, from which the engine makes readers and writers.
#include "ashlar/table.h"

#include <string>
#include <string_view>

#include "ashlar/convenience.h"
#include "base/format.h"
#include "config/option_table.h"

namespace ashlar {
namespace {

template <typename Options>
class FactoryOf final : public TableFactory {
 public:
  FactoryOf(const char* name, const Options& options) : name_(name), options_(options) {}
  const char* Name() const override { return name_; }
  std::string GetPrintableOptions() const override { return Print("\n"); }

 private:
  const void* GetOptionsPtr(const std::string& name) const override {
    return name == Options::kName() ? &options_ : nullptr;
  }
  std::string SerializeOptions(const ConfigOptions& config_options,
                               const std::string& prefix) const override {
    return StrCat(prefix, "id=", name_, config_options.delimiter, Print(config_options.delimiter));
  }
  std::string Print(std::string_view delimiter) const {
    return JoinOptionPairs(PrintOptions(options_, Place::kTextOnly), delimiter);
  }

  const char* const name_;
  Options options_;
};

// Holds the name and the options of a factory that an open refuses.
class CuckooFactory final : public TableFactory {
 public:
  explicit CuckooFactory(const CuckooTableOptions& options) : options_(options) {}
  const char* Name() const override { return kCuckooTableName(); }

 private:
  const void* GetOptionsPtr(const std::string& name) const override {
    return name == CuckooTableOptions::kName() ? &options_ : nullptr;
  }

  CuckooTableOptions options_;
};

}  // namespace

const std::string PlainTablePropertyNames::kEncodingType = "rocksdb.plain.table.encoding.type";
const std::string PlainTablePropertyNames::kBloomVersion = "rocksdb.plain.table.bloom.version";
const std::string PlainTablePropertyNames::kNumBloomBlocks = "rocksdb.plain.table.bloom.numblocks";

TableFactory* NewBlockBasedTableFactory(const BlockBasedTableOptions& table_options) {
  return new FactoryOf<BlockBasedTableOptions>(TableFactory::kBlockBasedTableName(), table_options);
}
TableFactory* NewPlainTableFactory(const PlainTableOptions& options) {
  return new FactoryOf<PlainTableOptions>(TableFactory::kPlainTableName(), options);
}
TableFactory* NewCuckooTableFactory(const CuckooTableOptions& table_options) {
  return new CuckooFactory(table_options);
}

}  // namespace ashlar

// The table factories, which are nothing but their options: the engine makes readers and writers
// from them.
#include "ashlar/table.h"

namespace ashlar {
namespace {

template <typename Options>
class FactoryOf final : public TableFactory {
 public:
  FactoryOf(const char* name, const Options& options) : name_(name), options_(options) {}
  const char* Name() const override { return name_; }

 private:
  const void* GetOptionsPtr(std::string_view name) const override {
    return name == Options::kName() ? &options_ : nullptr;
  }

  const char* const name_;
  Options options_;
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

}  // namespace ashlar

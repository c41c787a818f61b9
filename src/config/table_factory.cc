// The block-based table factory, which is nothing but its options: the engine makes readers and writers from them.
#include "ashlar/table.h"

namespace ashlar {
namespace {

class BlockBasedTableFactory final : public TableFactory {
 public:
  explicit BlockBasedTableFactory(const BlockBasedTableOptions& options) : options_(options) {}
  const char* Name() const override { return kBlockBasedTableName(); }

 private:
  const void* GetOptionsPtr(std::string_view name) const override { return name == BlockBasedTableOptions::kName() ? &options_ : nullptr; }

  BlockBasedTableOptions options_;
};

}  // namespace

TableFactory* NewBlockBasedTableFactory(const BlockBasedTableOptions& table_options) { return new BlockBasedTableFactory(table_options); }

}  // namespace ashlar

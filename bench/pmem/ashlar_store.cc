#include "ashlar/persistent_tree.h"
#include "bench/pmem/store.h"
#include "pmem/tree.h"
#include "tests/support/test_pool.h"

namespace ashlar::bench {
namespace {

void Check(const Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

pmem::SplitStrategy StrategyOf(const std::string& kind) {
  if (kind == "ashlar") return pmem::SplitStrategy::kZeroCopySwap;
  if (kind == "ashlar-copy-or-swap") return pmem::SplitStrategy::kCopyOrSwap;
  if (kind == "ashlar-naive-copy") return pmem::SplitStrategy::kNaiveCopy;
  Fail("no store called " + kind);
}

class AshlarStore final : public Store {
 public:
  explicit AshlarStore(const StoreRequest& request) {
    if (request.count) {
      pool_ = std::make_unique<pmem::TestPool>(request.pool_bytes);
      pool_->split_strategy = StrategyOf(request.kind);
      tree_ = pmem::OpenTestTree(pool_.get(), &counting_);
      return;
    }
    PersistentTreeOptions options;
    options.create_if_missing = request.create;
    options.pool_bytes = request.pool_bytes;
    options.durability = request.logged ? DurabilityClass::kLogged : DurabilityClass::kCpuFlush;
    options.caches_are_durable = !request.flush;
    options.sync_log = request.sync;
    Result<std::unique_ptr<PersistentTree>> opened =
        pmem::OpenTreeAt(options, request.path, StrategyOf(request.kind));
    Check(opened.status());
    tree_ = std::move(opened).value();
  }
  ~AshlarStore() override { Check(tree_->Close()); }

  void Put(std::string_view key, std::string_view value) override { Check(tree_->Put(key, value)); }
  void Remove(std::string_view key) override { Check(tree_->Delete(key)); }
  uint64_t Get(std::string_view key) override {
    const Status status = tree_->Get(ReadOptions(), key, &value_);
    if (status.IsNotFound()) return 0;
    Check(status);
    const uint64_t bytes = LookAt(value_.ToStringView());
    value_.Reset();
    return bytes;
  }
  bool Has(std::string_view key) override {
    PinnableSlice value;
    const Status status = tree_->Get(ReadOptions(), key, &value);
    if (!status.IsNotFound()) Check(status);
    return status.ok() && LookAt(value.ToStringView()) != 0;
  }
  uint64_t Splits() const override { return tree_->Stats().leaf_splits; }
  uint64_t UsedBytes() const override { return tree_->Stats().used_bytes; }
  Durables Counted() const override {
    if (counting_ == nullptr) return {};
    return {.fences = counting_->counts().fences, .lines = counting_->counts().lines_flushed};
  }

 private:
  std::unique_ptr<pmem::TestPool> pool_;
  pmem::CountingMedium* counting_ = nullptr;
  std::unique_ptr<PersistentTree> tree_;
  PinnableSlice value_;
};

}  // namespace

std::unique_ptr<Store> OpenAshlar(const StoreRequest& request) {
  return std::make_unique<AshlarStore>(request);
}

}  // namespace ashlar::bench

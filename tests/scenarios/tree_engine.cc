#include "ashlar/persistent_tree.h"
#include "base/assert.h"
#include "tests/scenarios/engine.h"
#include "tests/support/test_pool.h"
#include "tests/support/verify_tree.h"

namespace ashlar::scenarios {
namespace {

constexpr uint64_t kPoolBytes = uint64_t{32} << 20;

// The part that does not depend on how the tree was opened.
class TreeEngine : public Engine {
 public:
  Status Close() override { return tree_->Close(); }

  Status Put(const Slice& key, const Slice& value) override { return tree_->Put(key, value); }
  Status Delete(const Slice& key) override { return tree_->Delete(key); }
  Status Write(WriteBatch* batch) override { return tree_->Write(*batch); }
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) override {
    return tree_->Get(options, key, value);
  }
  std::vector<Status> MultiGet(const std::vector<Slice>& keys,
                               std::vector<PinnableSlice>* values) override {
    return tree_->MultiGet(ReadOptions(), keys, values);
  }
  std::unique_ptr<Iterator> NewIterator(const ReadOptions& options) override {
    return tree_->NewIterator(options);
  }

  const Snapshot* GetSnapshot() override { return nullptr; }
  void ReleaseSnapshot(const Snapshot* /*snapshot*/) override {}

  Status Rearrange(uint64_t choice) override {
    return choice % 2 == 0 ? tree_->Defragment() : tree_->Verify();
  }
  Status Verify() override { return VerifyAndCheck(tree_.get()); }

 protected:
  std::unique_ptr<PersistentTree> tree_;
};

class FileTree final : public TreeEngine {
 public:
  FileTree(const std::string& folder, DurabilityClass durability) : path_(folder + "/pool") {
    options_.durability = durability;
    options_.pool_bytes = kPoolBytes;
    // The crash tests cover power cuts.
    options_.sync_log = false;
    options_.log_bytes_max = 200000;
  }

  Status Open(const OpenRequest& request) override {
    tree_.reset();
    options_.comparator = request.comparator;
    options_.create_if_missing = request.create_if_missing;
    options_.error_if_exists = request.error_if_exists;
    return PersistentTree::Open(options_, path_, &tree_);
  }
  Status OpenAgain() override {
    std::unique_ptr<PersistentTree> second;
    return PersistentTree::Open(options_, path_, &second);
  }

 private:
  const std::string path_;
  PersistentTreeOptions options_;
};

class ProtectedTree final : public TreeEngine {
 public:
  ~ProtectedTree() override { tree_.reset(); }

  Status Open(const OpenRequest& request) override {
    tree_.reset();
    if (pool_ == nullptr) pool_ = std::make_unique<pmem::TestPool>(kPoolBytes, request.comparator);
    tree_ = pmem::OpenTestTree(pool_.get());
    return Status::OK();
  }
  Status OpenAgain() override { return Status::NotSupported("a pool without a name"); }

 private:
  std::unique_ptr<pmem::TestPool> pool_;
};

}  // namespace

std::unique_ptr<Engine> MakeSharedTree(const std::string& folder) {
  return std::make_unique<FileTree>(folder, DurabilityClass::kProcessCrashOnly);
}
std::unique_ptr<Engine> MakeLoggedTree(const std::string& folder) {
  return std::make_unique<FileTree>(folder, DurabilityClass::kLogged);
}
std::unique_ptr<Engine> MakeProtectedTree(const std::string& /*folder*/) {
  return std::make_unique<ProtectedTree>();
}

}  // namespace ashlar::scenarios

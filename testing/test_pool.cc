#include "testing/test_pool.h"

#include "base/assert.h"
#include "pmem/pool.h"

namespace ashlar::pmem {
namespace {

template <typename T>
T TakeValue(Result<T> result) {
  ASHLAR_ASSERT(result.ok());
  return std::move(result).value();
}

constexpr uint64_t kTestPoolId = 77;

}  // namespace

TestPool::TestPool(uint64_t bytes, const Comparator* comparator) : file_(TakeValue(PoolFile::CreateAnonymous(bytes))), comparator_(comparator) {
  const std::unique_ptr<CountingMedium> medium = CountingMedium::Create(file_.get());
  FormatPool(medium.get(), kTestPoolId, *comparator);
}

std::unique_ptr<CountingMedium> CountingMedium::Create(PoolFile* file) {
  return std::unique_ptr<CountingMedium>(
      new CountingMedium(file->path(), TakeValue(file->Map(PoolMapMode::kSharedReadOnly)), TakeValue(file->Map(PoolMapMode::kShared))));
}

CountingMedium::CountingMedium(const std::string& path, std::unique_ptr<PoolMapping> view, std::unique_ptr<PoolMapping> writable)
    : Medium(path, view->data(), view->bytes()), view_mapping_(std::move(view)), writable_(std::move(writable)) {}

std::unique_ptr<PersistentTree> OpenTestTree(TestPool* pool, CountingMedium** medium, std::function<bool()> refuse_allocation) {
  std::unique_ptr<CountingMedium> own = CountingMedium::Create(pool->file());
  if (medium != nullptr) *medium = own.get();
  TreeConfig config = {
      .recovery = {.comparator = pool->comparator(), .split_strategy = pool->split_strategy, .refuse_allocation = std::move(refuse_allocation)},
      .mark = MarkRun::kAtOpen};
  return TakeValue(OpenTree(std::move(own), std::move(config)));
}

}  // namespace ashlar::pmem

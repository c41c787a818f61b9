#include "tests/support/test_pool.h"

#include <new>

#include "base/assert.h"
#include "pmem/pool.h"

namespace ashlar::pmem {

TestPool::TestPool(uint64_t bytes, const Comparator* comparator)
    : file_(PoolFile::CreateAnonymous(bytes).value()), comparator_(comparator) {
  const std::unique_ptr<CountingMedium> medium = CountingMedium::Create(file_.get());
  FormatPool(medium.get(), kId, *comparator);
}

namespace {

std::unique_ptr<PoolMapping> MapOrThrow(PoolFile* file, PoolMapMode mode) {
  Result<std::unique_ptr<PoolMapping>> mapping = file->Map(mode);
  if (mapping.status().IsMemoryLimit()) throw std::bad_alloc();
  return std::move(mapping).value();
}

}  // namespace

std::unique_ptr<CountingMedium> CountingMedium::Create(PoolFile* file) {
  return std::unique_ptr<CountingMedium>(
      new CountingMedium(file->path(), MapOrThrow(file, PoolMapMode::kSharedReadOnly),
                         MapOrThrow(file, PoolMapMode::kShared)));
}

CountingMedium::CountingMedium(const std::string& path, std::unique_ptr<PoolMapping> view,
                               std::unique_ptr<PoolMapping> writable)
    : Medium(path, view->data(), view->bytes()),
      view_mapping_(std::move(view)),
      writable_(std::move(writable)) {}

std::unique_ptr<PersistentTree> OpenTestTree(TestPool* pool, CountingMedium** medium,
                                             std::function<bool()> refuse_allocation) {
  std::unique_ptr<CountingMedium> own = CountingMedium::Create(pool->file());
  if (medium != nullptr) *medium = own.get();
  TreeConfig config = {.recovery = {.comparator = pool->comparator(),
                                    .split_strategy = pool->split_strategy,
                                    .refuse_allocation = std::move(refuse_allocation)},
                       .mark = MarkRun::kAtOpen};
  return OpenTree(std::move(own), std::move(config)).value();
}

}  // namespace ashlar::pmem

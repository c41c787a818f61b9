// MappedMedium: the pool's file is mapped shared, and a store is in the file when it is in memory.
//
//   cpu-flush            Flush writes lines back from the caches, Fence waits for that: MAP_SYNC on
//                        DAX, or forced on shared memory
//   process-crash-only   the memory outlives the process but not the machine: keeping the order of
//                        stores is all there is to do
#pragma once

#include <memory>

#include "platform/cache_flush.h"
#include "platform/pool_file.h"
#include "pmem/medium.h"

namespace ashlar::pmem {

class MappedMedium final : public Medium {
 public:
  // kNone as the instruction: lines need no flush, either because the caches are persistent or
  // because the class does not promise it.
  MappedMedium(const std::string& path, std::unique_ptr<PoolMapping> mapping,
               DurabilityClass durability, FlushInstruction instruction)
      : Medium(path, mapping->data(), mapping->bytes()),
        mapping_(std::move(mapping)),
        durability_(durability),
        instruction_(instruction) {}

  DurabilityClass durability_class() const override { return durability_; }
  // Keeps the pool's file, and so its lock, as long as the medium lives.
  void Keep(std::unique_ptr<PoolFile> file) { file_ = std::move(file); }

 private:
  void Begin(PoolOperation* /*operation*/) override {}
  void Store(PoolOperation* /*operation*/, PoolOffset to, uint64_t word) override {
    WordAt(mapping_->data(), to).store(word, std::memory_order_release);
  }
  void Copy(PoolOperation* /*operation*/, PoolOffset to, const char* from, size_t n) override {
    memcpy(mapping_->data() + to, from, n);
  }
  void Flush(PoolOffset from, size_t n) override {
    if (instruction_ != FlushInstruction::kNone)
      FlushLines(instruction_, mapping_->data() + from, n);
  }
  void Fence() override {
    if (durability_ == DurabilityClass::kCpuFlush) {
      FlushFence();
    } else {
      std::atomic_thread_fence(std::memory_order_release);
    }
  }
  void Commit(PoolOperation* /*operation*/) override {}
  void End(PoolOperation* /*operation*/) override {}
  Status AwaitDurable(PoolOperation* /*operation*/) override { return Status::OK(); }

  std::unique_ptr<PoolFile> file_;
  const std::unique_ptr<PoolMapping> mapping_;
  const DurabilityClass durability_;
  const FlushInstruction instruction_;
};

}  // namespace ashlar::pmem

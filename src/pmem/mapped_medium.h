// MappedMedium: maps the pool's file shared, so a store to memory is also a store to the file.
//
//   cpu-flush            Flush writes lines back from the caches and Fence waits for that. For
//                        MAP_SYNC on DAX, or for shared memory on request
//   process-crash-only   the memory outlives the process but not the machine, so only the order of
//                        the stores has to be kept
#pragma once

#include <memory>

#include "platform/cache_flush.h"
#include "platform/pool_file.h"
#include "pmem/medium.h"

namespace ashlar::pmem {

class MappedMedium final : public Medium {
 public:
  // instruction: kNone if lines need no flush, because the caches are persistent or because the
  // class promises nothing for power failures.
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

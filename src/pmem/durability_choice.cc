#include "pmem/durability_choice.h"

namespace ashlar::pmem {
namespace {

// Whether no known instruction of this processor makes stores to DAX durable.
bool LacksFlush(PoolBacking backing, const CacheFacts& caches) {
  return backing == PoolBacking::kDax && !caches.are_persistent &&
         caches.best == FlushInstruction::kNone;
}

DurabilityClass BestClass(PoolBacking backing, const CacheFacts& caches) {
  switch (backing) {
    case PoolBacking::kDax:
      return LacksFlush(backing, caches) ? DurabilityClass::kLogged : DurabilityClass::kCpuFlush;
    case PoolBacking::kSharedMemory: return DurabilityClass::kProcessCrashOnly;
    case PoolBacking::kStorage: break;
  }
  return DurabilityClass::kLogged;
}

}  // namespace

Result<DurabilityChoice> ChooseDurability(const PersistentTreeOptions& options, PoolBacking backing,
                                          const CacheFacts& caches, const std::string& path) {
  DurabilityChoice choice = {.durability = options.durability.value_or(BestClass(backing, caches)),
                             .instruction = FlushInstruction::kNone};
  if (choice.durability != DurabilityClass::kCpuFlush) return choice;
  if (backing == PoolBacking::kStorage) {
    return Status::NotSupported(
        path, "cpu-flush needs a DAX file system: flushing the caches does not reach this file");
  }
  if (LacksFlush(backing, caches)) {
    return Status::NotSupported(
        path, "cpu-flush: no instruction is known that flushes this processor's caches");
  }
  const bool is_told = options.caches_are_durable && backing == PoolBacking::kSharedMemory;
  if (!caches.are_persistent && !is_told) choice.instruction = caches.best;  // I1
  return choice;
}

}  // namespace ashlar::pmem

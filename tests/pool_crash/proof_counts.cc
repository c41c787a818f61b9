#include "tests/pool_crash/proof_counts.h"

#include "base/format.h"

namespace ashlar::pmem {

void ProofCounts::Add(const ProofCounts& more) {
  operations += more.operations;
  epochs += more.epochs;
  whole_epochs += more.whole_epochs;
  checkpoints += more.checkpoints;
  images += more.images;
  nested_images += more.nested_images;
  refused_allocations += more.refused_allocations;
  shared_epochs += more.shared_epochs;
}

std::string ProofCounts::ToString() const {
  std::string text = StrCat(operations, " operations, ", epochs, " epochs");
  if (whole_epochs > 0) StrAppend(&text, " (", whole_epochs, " with every image)");
  if (checkpoints > 0) StrAppend(&text, ", ", checkpoints, " syncs of the pool");
  StrAppend(&text, ", ", images, " images, ", nested_images, " of them in recoveries");
  if (refused_allocations > 0) StrAppend(&text, ", ", refused_allocations, " refused allocations");
  if (shared_epochs > 0)
    StrAppend(&text, ", ", shared_epochs, " epochs with changes of several writers under way");
  return text;
}

}  // namespace ashlar::pmem

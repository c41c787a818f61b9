// The public calls of PersistentTree that run against each other, as calls.h has those of DB. Close
// is the last call of a tree by its contract, so it runs between the pairs.
//
// Thread safety: a call is made by several threads at once, each with its TreeCallArgs.
#pragma once

#include <vector>

#include "tests/concurrency/tree_scene.h"

namespace ashlar::pmem {

struct TreeCallArgs {
  TreeScene* scene = nullptr;
  Random* random = nullptr;
  // Identifies the thread, which has temporary keys of its own.
  size_t thread = 0;
  // Increases with each call of the thread.
  uint64_t number = 0;

  PersistentTree* tree() const { return scene->tree(); }
};

struct TreeCall {
  const char* name;
  void (*run)(const TreeCallArgs& args);
};

const std::vector<TreeCall>& TreeCalls();
// The position of the call that writes more than a log may have.
size_t CheckpointCall();

}  // namespace ashlar::pmem

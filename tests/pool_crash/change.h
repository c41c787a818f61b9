// Change: an operation on a tree together with its effect on a model of the entries. Also random
// changes, and checks of a tree against the entries that it may hold.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/persistent_tree.h"
#include "base/random.h"

namespace ashlar::pmem {

struct KeyLess {
  const Comparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator->Compare(a, b) < 0;
  }
};
using Model = std::map<std::string, std::string, KeyLess>;

// ASHLAR_POOL_CRASH_EFFORT and ASHLAR_POOL_CRASH_SEED, each 1 if not set.
uint64_t Effort();
uint64_t FirstSeed();

std::string NumberKey(uint64_t number);

struct Change {
  std::function<Status(PersistentTree*)> run;
  std::function<void(Model*)> apply;

  Model After(Model model) const {
    apply(&model);
    return model;
  }
};

struct BatchItem {
  enum class Kind : uint8_t { kPut, kDelete, kDeleteRange } kind;
  std::string key;
  std::string value;  // or the range's end
};

Change PutOf(std::string key, std::string value);
Change DeleteOf(std::string key);
Change DeleteRangeOf(std::string begin, std::string end);
Change BatchOf(std::vector<BatchItem> items);
Change DefragmentOf();

std::string RandomValue(Random* random);
// If `growing` changes from time to time, the tree grows and shrinks, so that leaves split and
// merge continuously.
Change RandomChange(Random* random, bool growing);

// The error, or nothing.
using Problem = std::optional<std::string>;
// Returns true if the tree holds permitted entries, and stores them in *found, which may be null.
using Permitted = std::function<bool(PersistentTree*, Model* found)>;

bool Holds(PersistentTree* tree, const Model& model);
Permitted AnyOf(std::vector<const Model*> models);
// Checks that the entries are permitted, are counted and pass Verify, and that used and free bytes
// make up the pool. With `random`, it also adds a key, replaces one and deletes one, which
// overwrites space that recovery took for free.
Problem CheckTree(PersistentTree* tree, const Permitted& permitted, Random* random);

}  // namespace ashlar::pmem

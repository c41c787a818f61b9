// TogetherRun: runs writers on threads of their own, each with changes to keys of its own. It has
// the entries that a crash at some moment may leave: each writer's returned changes, and all or
// nothing of its change in progress.
//
// Thread safety: Run starts and joins the threads, which may call Now. The other methods are called
// afterwards.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "ashlar/persistent_tree.h"
#include "tests/pool_crash/change.h"
#include "tests/pool_crash/progress.h"

namespace ashlar::pmem {

class TogetherRun {
 public:
  TogetherRun(const std::vector<std::vector<Change>>& writers, const Model& before,
              std::function<size_t(const std::string&)> writer_of);

  // Returns the first error of any writer, or Ok.
  Status Run(PersistentTree* tree);
  Progress Now() const;

  // Lifetime: the result must not outlive this run.
  Permitted PermittedAt(const Progress& progress) const;
  Model Final() const;
  size_t changes() const;

 private:
  struct Writer {
    const std::vector<Change>* changes = nullptr;
    std::vector<Model> states;  // [n]: its entries after n changes
    std::atomic<size_t> returned{0};
    std::atomic<size_t> begun{0};
    Status status;
  };

  std::vector<Model> Split(PersistentTree* tree) const;

  const std::function<size_t(const std::string&)> writer_of_;
  std::deque<Writer> writers_;
};

}  // namespace ashlar::pmem

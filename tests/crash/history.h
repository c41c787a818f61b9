// History: the writes of a workload in commit order, with their acknowledgements. It is the model
// with which a recovered database is compared.
//
//   commits      0 ---- 1 ---- 2 ---- 3 ---- 4          Expected(n): the contents after the first n
//   operations   ......k1...k2......k3....              of the file system, with the indexes of its
//                                                       journal
//
// A commit is bracketed by the operations between which it ran. A promise is the claim that every
// image of an operation at or after `operation` has the first `commits` commits.
//
// A demand combines these for one image: the commits that it must have, and how many changes of the
// set of families it must show.
//
// Thread safety: one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/open_database.h"

namespace ashlar {

struct Demand {
  uint64_t commits = 0;
  uint64_t family_changes = 0;

  // True if an image that was checked for this demand need not be checked for the other.
  bool Covers(const Demand& other) const {
    return commits >= other.commits && family_changes >= other.family_changes;
  }
  void Add(const Demand& other) {
    commits = std::max(commits, other.commits);
    family_changes = std::max(family_changes, other.family_changes);
  }
};

class History {
 public:
  History();

  // The commit begins. An image from this operation on may contain it.
  void Begin(const Commit& commit, uint64_t operation);
  // The last commit is acknowledged, so the death of the process no longer loses it.
  void Acknowledge(uint64_t operation) {
    acknowledged_.push_back({.operation = operation, .commits = commits()});
  }
  // The first `commits` commits are durable.
  void Promise(uint64_t commits, uint64_t operation) {
    promises_.push_back({.operation = operation, .commits = commits});
  }
  // The set of families begins to change, and has changed. The first change is the creation of the
  // database.
  void BeginFamilies(const std::set<std::string>& families, uint64_t operation) {
    families_.push_back({families, operation, ~uint64_t{0}});
  }
  void EndFamilies(uint64_t operation) { families_.back().end = operation; }

  uint64_t commits() const { return begins_.size(); }
  // The last commit that touches the family, counted from 1. 0 if none does.
  uint64_t LastCommitOf(const std::string& family) const;
  // The commits that an image of the first k operations must have, that it must have if only the
  // process died, and that it may have at most.
  uint64_t PromisedAt(uint64_t k) const { return LargestUpTo(promises_, k); }
  uint64_t AcknowledgedAt(uint64_t k) const { return LargestUpTo(acknowledged_, k); }
  uint64_t BegunAt(uint64_t k) const;
  // The demand on an image of the first k operations. It grows with k.
  Demand DemandAt(uint64_t k, bool only_the_process_died) const;
  // True if this set of families may be found after k operations. An empty set is no database.
  bool MayHaveFamilies(uint64_t k, const std::set<std::string>& families) const;

  // The contents of a family after the first n commits.
  const FamilyContents& Expected(uint64_t n, const std::string& family) const;
  // The largest n in [at_least, at_most] at which every given family has these contents, or -1 if
  // there is none.
  int64_t FindPrefix(const Contents& found, uint64_t at_least, uint64_t at_most) const;

 private:
  struct Mark {
    uint64_t operation;
    uint64_t commits;
  };
  struct FamilySet {
    std::set<std::string> families;
    uint64_t begin;
    uint64_t end;
  };
  static uint64_t LargestUpTo(const std::vector<Mark>& marks, uint64_t k);

  std::vector<uint64_t> begins_;  // by commit
  std::vector<Contents> states_;  // after n commits
  std::vector<Mark> acknowledged_;
  std::vector<Mark> promises_;
  std::vector<FamilySet> families_;
  std::map<std::string, uint64_t> last_commits_;
};

}  // namespace ashlar

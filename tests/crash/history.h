// History: the writes of a workload in commit order, and their acknowledgements: the model that a
// recovered database is compared with.
//
//   commits      0 ---- 1 ---- 2 ---- 3 ---- 4          Expected(n): the contents after the first n
//   operations   ......k1...k2......k3....              of the file system, with the indexes of its
//                                                       journal
//
// A commit is bracketed by the operations between which it ran. A promise is the claim that every
// image of an operation at or after `operation` has the first `commits` commits.
//
// A demand is all of this for one image: the commits that it must hold, and how many changes of the
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

  // An image that was checked for this need not be checked for the other one.
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

  // The commit begins: an image from here on may hold it.
  void Begin(const Commit& commit, uint64_t operation);
  // The last commit was acknowledged: a process that dies loses it no more.
  void Acknowledge(uint64_t operation) {
    acknowledged_.push_back({.operation = operation, .commits = commits()});
  }
  // The first `commits` commits are durable.
  void Promise(uint64_t commits, uint64_t operation) {
    promises_.push_back({.operation = operation, .commits = commits});
  }
  // The set of families changes (Begin) and has changed (End). The first one is the creation of the
  // database.
  void BeginFamilies(const std::set<std::string>& families, uint64_t operation) {
    families_.push_back({families, operation, ~uint64_t{0}});
  }
  void EndFamilies(uint64_t operation) { families_.back().end = operation; }

  uint64_t commits() const { return begins_.size(); }
  // The last commit that touches the family; 0: none does. Counted from 1.
  uint64_t LastCommitOf(const std::string& family) const;
  // The commits that an image of the first k operations must have at least, may have at most, and
  // must have if only the process died.
  uint64_t PromisedAt(uint64_t k) const { return LargestUpTo(promises_, k); }
  uint64_t AcknowledgedAt(uint64_t k) const { return LargestUpTo(acknowledged_, k); }
  uint64_t BegunAt(uint64_t k) const;
  // Of an image of the first k operations. It grows with k.
  Demand DemandAt(uint64_t k, bool only_the_process_died) const;
  // Whether this set of families may be found after k operations. An empty set: no database.
  bool MayHaveFamilies(uint64_t k, const std::set<std::string>& families) const;

  // Contents of a family after the first n commits.
  const FamilyContents& Expected(uint64_t n, const std::string& family) const;
  // The largest n in [at_least, at_most] at which every given family has these contents; -1: there
  // is none.
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

  std::vector<uint64_t> begins_;  // per commit
  std::vector<Contents> states_;  // after n commits
  std::vector<Mark> acknowledged_;
  std::vector<Mark> promises_;
  std::vector<FamilySet> families_;
  std::map<std::string, uint64_t> last_commits_;
};

}  // namespace ashlar

#include "tests/crash/history.h"

#include <algorithm>

namespace ashlar {

History::History() : states_(1) {}

void History::Begin(const Commit& commit, uint64_t operation) {
  begins_.push_back(operation);
  Contents state = states_.back();
  Apply(commit, &state);
  for (const Change& change : commit) last_commits_[change.family] = commits();
  states_.push_back(std::move(state));
}

uint64_t History::LastCommitOf(const std::string& family) const {
  const auto found = last_commits_.find(family);
  return found == last_commits_.end() ? 0 : found->second;
}

uint64_t History::LargestUpTo(const std::vector<Mark>& marks, uint64_t k) {
  uint64_t largest = 0;
  for (const Mark& mark : marks) {
    if (mark.operation <= k) largest = std::max(largest, mark.commits);
  }
  return largest;
}

uint64_t History::BegunAt(uint64_t k) const {
  return static_cast<uint64_t>(std::upper_bound(begins_.begin(), begins_.end(), k) -
                               begins_.begin());
}

Demand History::DemandAt(uint64_t k, bool only_the_process_died) const {
  const auto ended = std::count_if(families_.begin(), families_.end(),
                                   [k](const FamilySet& change) { return change.end <= k; });
  return {.commits = only_the_process_died ? AcknowledgedAt(k) : PromisedAt(k),
          .family_changes = static_cast<uint64_t>(ended)};
}

bool History::MayHaveFamilies(uint64_t k, const std::set<std::string>& families) const {
  std::set<std::string> certain;
  for (const FamilySet& change : families_) {
    if (change.begin <= k && families == change.families && k <= change.end) return true;
    if (change.end <= k) certain = change.families;
  }
  return families == certain;
}

const FamilyContents& History::Expected(uint64_t n, const std::string& family) const {
  static const FamilyContents kEmpty;
  const auto found = states_[n].find(family);
  return found == states_[n].end() ? kEmpty : found->second;
}

int64_t History::FindPrefix(const Contents& found, uint64_t at_least, uint64_t at_most) const {
  for (uint64_t n = std::min(at_most, commits()) + 1; n-- > at_least;) {
    const bool equal = std::all_of(found.begin(), found.end(), [&](const auto& family) {
      return Expected(n, family.first) == family.second;
    });
    if (equal) return static_cast<int64_t>(n);
  }
  return -1;
}

}  // namespace ashlar

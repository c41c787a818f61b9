// EntryFilter: the program's compaction filter (ashlar/compaction_filter.h), as CompactionIterator
// calls it. Forbidden decisions and exceptions become errors.
//
// Lifetime: borrows the shared filter or factory of its FilterSource. Thread safety: one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/compaction_filter.h"
#include "ashlar/status.h"

namespace ashlar {

// Where the filters of a job come from.
struct FilterSource {
  const CompactionFilter* shared = nullptr;    // takes precedence over the factory; null: none
  CompactionFilterFactory* factory = nullptr;  // called for each part of the job; null: none
  CompactionFilter::Context context = {};
  int level = 0;  // passed to the filter
};

class EntryFilter {
 public:
  enum class Verdict { kKeep, kRemove, kPurge, kChangeValue, kSkip };

  // The result is empty if the entries are not filtered.
  static Status Make(const FilterSource& source, std::optional<EntryFilter>* result);

  // kChangeValue: new_value() is set. kSkip: skip_until() is set. An error ends the job.
  Status Ask(const Slice& user_key, CompactionFilter::ValueType type, const Slice& value,
             Verdict* verdict);

  std::string& new_value() { return new_value_; }
  std::string& skip_until() { return skip_until_; }

 private:
  EntryFilter(const FilterSource& source, std::unique_ptr<CompactionFilter> owned)
      : owned_(std::move(owned)),
        filter_(owned_ != nullptr ? owned_.get() : source.shared),
        level_(source.level) {}
  Status Refuse(CompactionFilter::Decision decision) const;

  std::unique_ptr<CompactionFilter> owned_;
  const CompactionFilter* filter_;
  int level_;
  std::string new_value_;
  std::string skip_until_;
  std::vector<std::pair<std::string, std::string>> new_columns_;
};

}  // namespace ashlar

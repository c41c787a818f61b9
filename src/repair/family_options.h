// FamilyOptions: the options of each family of a database whose families are not known in advance.
//
// Thread safety: const after construction.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "lsm/resolve_options.h"
#include "manifest/column_family_state.h"

namespace ashlar {

class FamilyOptions {
 public:
  FamilyOptions(std::vector<ColumnFamilyDescriptor> known,
                std::optional<ColumnFamilyOptions> unknown)
      : known_(std::move(known)), unknown_(std::move(unknown)) {
    for (ColumnFamilyDescriptor& family : known_) FillDefaults(&family.options);
    if (unknown_.has_value()) FillDefaults(&*unknown_);
    FillDefaults(&statistics_);
  }

  // Returns null if the caller gave no options for the family.
  const ColumnFamilyOptions* Find(const std::string& name) const {
    const auto found =
        std::find_if(known_.begin(), known_.end(),
                     [&](const ColumnFamilyDescriptor& f) { return f.name == name; });
    if (found != known_.end()) return &found->options;
    if (name == kStatisticsFamilyName) return &statistics_;
    return unknown_.has_value() ? &*unknown_ : nullptr;
  }
  // Returns each comparator once. A table of an unknown family is ordered by one of them.
  std::vector<const Comparator*> Comparators() const {
    std::vector<const Comparator*> all;
    const auto add = [&all](const Comparator* comparator) {
      if (std::find(all.begin(), all.end(), comparator) == all.end()) all.push_back(comparator);
    };
    for (const ColumnFamilyDescriptor& family : known_) add(family.options.comparator);
    if (unknown_.has_value()) add(unknown_->comparator);
    add(statistics_.comparator);
    return all;
  }

 private:
  std::vector<ColumnFamilyDescriptor> known_;
  std::optional<ColumnFamilyOptions> unknown_;
  ColumnFamilyOptions statistics_;
};

}  // namespace ashlar

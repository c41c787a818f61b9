#include "manifest/published_state.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/format.h"

namespace ashlar {

ColumnFamilyState* FamilyMap::Find(ColumnFamilyId id) const {
  const auto family = by_id_.find(id);
  return family == by_id_.end() ? nullptr : family->second.get();
}

ColumnFamilyState* FamilyMap::Find(std::string_view name) const {
  const auto family = by_name_.find(name);
  return family == by_name_.end() ? nullptr : family->second;
}

ColumnFamilyState* FamilyMap::Add(std::unique_ptr<ColumnFamilyState> family) {
  ColumnFamilyState* const added = family.get();
  FamilyMap one;  // its nodes are allocated before this map changes
  one.by_name_.emplace(added->name, added);
  one.by_id_.emplace(added->id, std::move(family));
  Merge(&one);
  return added;
}

void FamilyMap::Merge(FamilyMap* other) noexcept {
  by_id_.merge(other->by_id_);
  by_name_.merge(other->by_name_);
  ASHLAR_ASSERT(other->by_id_.empty() && other->by_name_.empty());  // I1
}

bool FamilyMap::Erase(ColumnFamilyId id) noexcept {
  const auto family = by_id_.find(id);
  if (family == by_id_.end()) return false;
  by_name_.erase(family->second->name);
  by_id_.erase(family);
  return true;
}

void FamilyMap::CheckInvariants() const {
  ASHLAR_ASSERT(by_id_.size() == by_name_.size());  // I1
  for (const auto& [id, family] : by_id_)
    ASHLAR_ASSERT(family->id == id && Find(family->name) == family.get());  // I1
}

PublishedState::~PublishedState() {
  for (const auto& [id, family] : families) {
    if (family->current != nullptr) std::exchange(family->current, nullptr)->Unref();
  }
}

PublishedState& PublishedState::operator=(PublishedState&& other) noexcept {
  ASHLAR_ASSERT(families.empty());  // their Versions would keep a count forever
  families = std::move(other.families);
  max_column_family = other.max_column_family;
  last_sequence = other.last_sequence;
  min_log_number_to_keep = other.min_log_number_to_keep;
  recorded_logs = std::move(other.recorded_logs);
  return *this;
}

ColumnFamilyState* PublishedState::FindFamily(ColumnFamilyId id) const { return families.Find(id); }

ColumnFamilyState* PublishedState::FindFamily(const Slice& name) const {
  return families.Find(name.ToStringView());
}

Status PublishedState::CheckNameIsFree(const std::string& name) const {
  if (FindFamily(Slice(name)) == nullptr) return Status::OK();
  return Status::InvalidArgument(
      StrCat("the column family \"", NameForDisplay(name), "\" exists already"));
}

uint64_t PublishedState::MinLogNumberToRecover() const {
  uint64_t needed = ~uint64_t{0};
  for (const auto& [id, family] : families) needed = std::min(needed, family->log_number);
  return std::max(needed, min_log_number_to_keep);
}

}  // namespace ashlar

#include "manifest/published_state.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/format.h"

namespace ashlar {

PublishedState::~PublishedState() {
  for (auto& [id, family] : families) {
    if (family->current != nullptr) std::exchange(family->current, nullptr)->Unref();
  }
}

PublishedState& PublishedState::operator=(PublishedState&& other) noexcept {
  ASHLAR_ASSERT(families.empty());  // their Versions would keep a count for ever
  families = std::move(other.families);
  max_column_family = other.max_column_family;
  last_sequence = other.last_sequence;
  min_log_number_to_keep = other.min_log_number_to_keep;
  recorded_logs = std::move(other.recorded_logs);
  return *this;
}

ColumnFamilyState* PublishedState::FindFamily(ColumnFamilyId id) const {
  const auto family = families.find(id);
  return family == families.end() ? nullptr : family->second.get();
}

ColumnFamilyState* PublishedState::FindFamily(const Slice& name) const {
  for (const auto& [id, family] : families) {
    if (Slice(family->name) == name) return family.get();
  }
  return nullptr;
}

Status PublishedState::CheckNameIsFree(const std::string& name) const {
  if (FindFamily(Slice(name)) == nullptr) return Status::OK();
  return Status::InvalidArgument(
      StrCat("the column family \"", NameForDisplay(name), "\" exists already"));
}

uint64_t PublishedState::MinLogNumberWithUnflushedData() const {
  uint64_t lowest = ~uint64_t{0};
  for (const auto& [id, family] : families) lowest = std::min(lowest, family->log_number);
  return lowest;
}

}  // namespace ashlar

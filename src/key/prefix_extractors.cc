#include "key/prefix_extractors.h"

#include <algorithm>
#include <utility>

#include "ashlar/convenience.h"
#include "base/assert.h"

namespace ashlar {

void PrefixExtractors::SetCurrent(std::shared_ptr<const SliceTransform> current) {
  // GetId is code of the program, so it runs before the lock is taken.
  std::string id = current != nullptr ? current->GetId() : "";
  MutexLock lock(mutex_);
  // Add it to known_ first. If that allocation fails, it does not become the current one (I1).
  if (current != nullptr && !IsKnown(current)) known_.push_back({std::move(id), current});
  current_ = std::move(current);
  if constexpr (kDebugChecks) CheckInvariants();
}

bool PrefixExtractors::IsKnown(const std::shared_ptr<const SliceTransform>& transform) const {
  return std::any_of(known_.begin(), known_.end(),
                     [&](const Known& known) { return known.transform == transform; });
}

void PrefixExtractors::CheckInvariants() const {
  ASHLAR_ASSERT(current_ == nullptr || IsKnown(current_));                      // I1
  for (const Known& known : known_) ASHLAR_ASSERT(known.transform != nullptr);  // I1
}

std::shared_ptr<const SliceTransform> PrefixExtractors::Current() const {
  MutexLock lock(mutex_);
  return current_;
}

std::shared_ptr<const SliceTransform> PrefixExtractors::FindKnown(const std::string& id) const {
  std::shared_ptr<const SliceTransform> found;
  for (const Known& known : known_) {
    if (known.id == id && (found == nullptr || known.transform == current_))
      found = known.transform;
  }
  return found;
}

std::shared_ptr<const SliceTransform> PrefixExtractors::Find(const std::string& id) {
  {
    MutexLock lock(mutex_);
    if (std::shared_ptr<const SliceTransform> found = FindKnown(id); found != nullptr) return found;
  }
  std::shared_ptr<const SliceTransform> made;
  if (!SliceTransform::CreateFromString(ConfigOptions(), id, &made).ok()) return nullptr;
  if (made == nullptr) return nullptr;  // a table may name "nullptr"
  MutexLock lock(mutex_);
  if (std::shared_ptr<const SliceTransform> found = FindKnown(id); found != nullptr) return found;
  known_.push_back({id, made});
  if constexpr (kDebugChecks) CheckInvariants();
  return made;
}

}  // namespace ashlar

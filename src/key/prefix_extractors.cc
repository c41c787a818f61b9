#include "key/prefix_extractors.h"

#include <algorithm>
#include <utility>

#include "ashlar/convenience.h"

namespace ashlar {

void PrefixExtractors::SetCurrent(std::shared_ptr<const SliceTransform> current) {
  // Code of the program: before the lock.
  std::string id = current != nullptr ? current->GetId() : "";
  MutexLock lock(mutex_);
  current_ = std::move(current);
  if (current_ == nullptr) return;
  const auto is_current = [&](const Known& known)
                              ASHLAR_REQUIRES(mutex_) { return known.transform == current_; };
  if (std::none_of(known_.begin(), known_.end(), is_current))
    known_.push_back({std::move(id), current_});
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
  MutexLock lock(mutex_);
  if (std::shared_ptr<const SliceTransform> found = FindKnown(id); found != nullptr) return found;
  known_.push_back({id, made});
  return made;
}

}  // namespace ashlar

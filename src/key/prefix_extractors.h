// PrefixExtractors: the prefix transforms of the tables of a column family.
//
// When the family changes to another transform, a table keeps the one with which its filter was
// made. Lookups and seeks recognise a transform by its address (key/key_prefix.h), and a table may
// be closed meanwhile. So there is one transform for each id that tables name, and none is freed
// while the family is open.
//
// I1: transforms returned by Current or Find live as long as this object.
// Thread safety: any thread; the mutex is a leaf. Lifetime: outlives lookups and seeks in the
// tables.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/slice_transform.h"
#include "platform/mutex.h"

namespace ashlar {

class PrefixExtractors {
 public:
  // current: null if there is no extractor.
  explicit PrefixExtractors(std::shared_ptr<const SliceTransform> current) {
    SetCurrent(std::move(current));
  }
  PrefixExtractors(const PrefixExtractors&) = delete;
  PrefixExtractors& operator=(const PrefixExtractors&) = delete;

  void SetCurrent(std::shared_ptr<const SliceTransform> current);
  // The family's current extractor; null: none.
  std::shared_ptr<const SliceTransform> Current() const;
  // Returns the extractor with this id: the current one, an earlier one, or a new one made from the
  // id. Null if none can be made.
  std::shared_ptr<const SliceTransform> Find(const std::string& id);

 private:
  struct Known {
    std::string id;
    std::shared_ptr<const SliceTransform> transform;
  };

  std::shared_ptr<const SliceTransform> FindKnown(const std::string& id) const
      ASHLAR_REQUIRES(mutex_);
  bool IsKnown(const std::shared_ptr<const SliceTransform>& transform) const
      ASHLAR_REQUIRES(mutex_);
  // Asserts I1 of the current transform.
  void CheckInvariants() const ASHLAR_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::shared_ptr<const SliceTransform> current_ ASHLAR_GUARDED_BY(mutex_);
  std::vector<Known> known_ ASHLAR_GUARDED_BY(
      // no transform twice; grows with changes of the option and with ids that tables name
      mutex_);
};

}  // namespace ashlar

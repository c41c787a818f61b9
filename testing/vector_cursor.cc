#include "testing/vector_cursor.h"

#include <algorithm>

#include "base/assert.h"

namespace ashlar {

// A value is shown as a copy that is scribbled over when the cursor leaves and nobody holds a pin.
struct VectorCursor::Entry {
  std::string internal_key;
  std::string value;
  std::string shown_value;
  size_t pins = 0;
  bool current = false;

  void ScribbleIfFree() {
    if (pins == 0 && !current) std::fill(shown_value.begin(), shown_value.end(), '#');
  }
};

namespace {

constexpr char kScribble = '#';

}  // namespace

VectorCursor::VectorCursor(const KeyComparator& comparator, std::vector<TestEntry> entries) : comparator_(comparator) {
  for (TestEntry& entry : entries) {
    entries_.push_back(new Entry{.internal_key = MakeInternalKey(entry.user_key, entry.sequence, entry.type),
                                 .value = std::move(entry.value),
                                 .shown_value = {},
                                 .pins = 0,
                                 .current = false});
  }
  std::sort(entries_.begin(), entries_.end(),
            [this](const Entry* a, const Entry* b) { return comparator_.CompareInternal(a->internal_key, b->internal_key) < 0; });
  position_ = entries_.size();
}

VectorCursor::~VectorCursor() {
  for (Entry* entry : entries_) {
    ASHLAR_ASSERT(entry->pins == 0);
    delete entry;
  }
}

void VectorCursor::FailAt(std::string user_key, Status status) {
  fail_at_ = std::move(user_key);
  fail_with_ = std::move(status);
}

size_t VectorCursor::pins() const {
  size_t pins = 0;
  for (const Entry* entry : entries_) pins += entry->pins;
  return pins;
}

void VectorCursor::Hide() {
  if (position_ < entries_.size()) {
    entries_[position_]->current = false;
    entries_[position_]->ScribbleIfFree();
  }
  std::fill(shown_key_.begin(), shown_key_.end(), kScribble);
  valid_ = false;
}

void VectorCursor::Show(size_t position) {
  Hide();
  position_ = position;
  status_ = Status::OK();
  if (position >= entries_.size()) return;
  Entry* const entry = entries_[position];
  if (!fail_with_.ok() && ExtractUserKey(entry->internal_key) == Slice(fail_at_)) {
    status_ = fail_with_;
    return;
  }
  entry->current = true;
  if (entry->pins == 0) entry->shown_value = entry->value;
  shown_key_ = entry->internal_key;
  key_ = shown_key_;
  value_ = entry->shown_value;
  valid_ = true;
}

void VectorCursor::SeekToFirst() {
  ++seeks_;
  Show(0);
}

void VectorCursor::SeekToLast() {
  ++seeks_;
  Show(entries_.size() - 1);
}

void VectorCursor::Seek(const Slice& internal_target) {
  ++seeks_;
  const auto it = std::partition_point(entries_.begin(), entries_.end(),
                                       [&](const Entry* entry) { return comparator_.CompareInternal(entry->internal_key, internal_target) < 0; });
  Show(static_cast<size_t>(it - entries_.begin()));
}

void VectorCursor::SeekForPrev(const Slice& internal_target) {
  ++seeks_;
  const auto it = std::partition_point(entries_.begin(), entries_.end(),
                                       [&](const Entry* entry) { return comparator_.CompareInternal(entry->internal_key, internal_target) <= 0; });
  Show(static_cast<size_t>(it - entries_.begin()) - 1);
}

void VectorCursor::Next() {
  ASHLAR_ASSERT(valid_);
  ++steps_;
  Show(position_ + 1);
}

void VectorCursor::Prev() {
  ASHLAR_ASSERT(valid_);
  ++steps_;
  Show(position_ - 1);
}

PinSource VectorCursor::value_owner() const {
  static constexpr PinOps kOps = {
      .acquire = [](void* owner) { ++static_cast<Entry*>(owner)->pins; },
      .release =
          [](void* owner, void*) {
            auto* const entry = static_cast<Entry*>(owner);
            ASHLAR_ASSERT(entry->pins > 0);
            --entry->pins;
            entry->ScribbleIfFree();
          },
  };
  ASHLAR_ASSERT(valid_);
  return {&kOps, entries_[position_]};
}

}  // namespace ashlar

#include "tests/support/vector_cursor.h"

#include <algorithm>

#include "base/assert.h"

namespace ashlar {

namespace {

constexpr char kScribble = '#';

}  // namespace

// Returns a copy of a value, which is overwritten when the cursor leaves it, unless it is pinned.
struct VectorCursor::Entry {
  std::string internal_key;
  std::string value;
  std::string shown_key;
  std::string shown_value;
  size_t pins = 0;
  bool shown = false;

  void Show() {
    shown = true;
    shown_key = internal_key;
    if (pins == 0) shown_value = value;
  }
  void Leave() {
    shown = false;
    std::fill(shown_key.begin(), shown_key.end(), kScribble);
    ScribbleIfFree();
  }
  void ScribbleIfFree() {
    if (pins == 0 && !shown) std::fill(shown_value.begin(), shown_value.end(), kScribble);
  }
};

VectorCursor::VectorCursor(const KeyComparator& comparator, std::vector<TestEntry> entries)
    : comparator_(comparator) {
  for (TestEntry& entry : entries) {
    entries_.push_back(
        new Entry{.internal_key = MakeInternalKey(entry.user_key, entry.sequence, entry.type),
                  .value = std::move(entry.value),
                  .shown_key = {},
                  .shown_value = {},
                  .pins = 0,
                  .shown = false});
  }
  std::sort(entries_.begin(), entries_.end(), [this](const Entry* a, const Entry* b) {
    return comparator_.CompareInternal(a->internal_key, b->internal_key) < 0;
  });
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

bool VectorCursor::Fails(size_t position) const {
  return !fail_with_.ok() && ExtractUserKey(entries_[position]->internal_key) == Slice(fail_at_);
}

void VectorCursor::Leave() {
  for (size_t i = 0; i < shown_.size(); ++i) entries_[first_shown_ + i]->Leave();
  shown_.clear();
  Hide();
}

void VectorCursor::Show(size_t first, size_t position, size_t last) {
  Leave();
  status_ = Status::OK();
  if (position >= entries_.size()) return;
  if (Fails(position)) {
    status_ = fail_with_;
    return;
  }
  last = std::min(last, entries_.size() - 1);
  for (size_t i = first; i < position; ++i) {
    if (Fails(i)) first = i + 1;
  }
  for (size_t i = last; i > position; --i) {
    if (Fails(i)) last = i - 1;
  }
  first_shown_ = first;
  for (size_t i = first; i <= last; ++i) {
    entries_[i]->Show();
    shown_.push_back({entries_[i]->shown_key, entries_[i]->shown_value});
  }
  ShowBatch(shown_.data(), shown_.data() + (position - first), shown_.data() + shown_.size());
}

void VectorCursor::SeekToFirst() {
  ++seeks_;
  Show(0, 0, 0);
}

void VectorCursor::SeekToLast() {
  ++seeks_;
  const size_t last = entries_.size() - 1;
  Show(last, last, last);
}

void VectorCursor::Seek(const Slice& internal_target) {
  ++seeks_;
  const auto it = std::partition_point(entries_.begin(), entries_.end(), [&](const Entry* entry) {
    return comparator_.CompareInternal(entry->internal_key, internal_target) < 0;
  });
  const auto position = static_cast<size_t>(it - entries_.begin());
  Show(position, position, position);
}

void VectorCursor::SeekForPrev(const Slice& internal_target) {
  ++seeks_;
  const auto it = std::partition_point(entries_.begin(), entries_.end(), [&](const Entry* entry) {
    return comparator_.CompareInternal(entry->internal_key, internal_target) <= 0;
  });
  const auto position = static_cast<size_t>(it - entries_.begin()) - 1;
  Show(position, position, position);
}

void VectorCursor::MoveNext() {
  ASHLAR_ASSERT(Valid());
  ++steps_;
  const size_t position = first_shown_ + shown_.size();
  Show(position, position, position + batch_ - 1);
}

void VectorCursor::MovePrev() {
  ASHLAR_ASSERT(Valid());
  ++steps_;
  const size_t position = first_shown_ - 1;
  Show(position + 1 >= batch_ ? position + 1 - batch_ : 0, position, position);
}

PinSource VectorCursor::OwnerOf(const CursorEntry& entry) const {
  static constexpr PinOps kOps = {
      .acquire = [](void* owner) { ++static_cast<Entry*>(owner)->pins; },
      .release =
          [](void* owner, void*) {
            auto* const pinned = static_cast<Entry*>(owner);
            ASHLAR_ASSERT(pinned->pins > 0);
            --pinned->pins;
            pinned->ScribbleIfFree();
          },
  };
  ASHLAR_ASSERT(Valid());
  return {&kOps, entries_[first_shown_ + static_cast<size_t>(&entry - shown_.data())]};
}

}  // namespace ashlar

#include "memtable/known_gaps.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.h"

namespace ashlar {

namespace {

// Runs the function. Returns false if an allocation failed.
template <typename Function>
bool HasMemory(const Function& function) {
  try {
    function();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

struct KnownGaps::Pending {
  bool HasRoomFor(const Slice& user_key) const {
    return newer.size() < kNewerKeysMax && user_key.size() <= kKeyBytesMax;
  }

  KeyGap gap;
  std::vector<std::string> newer;  // keys of the gap with an entry newer than gap.since
  bool forgotten = false;          // no room for a newer key
};

KnownGaps::KnownGaps(const KeyComparator& comparator) : comparator_(comparator) {}
KnownGaps::~KnownGaps() = default;

int KnownGaps::Compare(const Slice& a, bool after_a, const Slice& b, bool after_b) const {
  const int order = comparator_.Compare(a, b);
  return order != 0 ? order : static_cast<int>(after_a) - static_cast<int>(after_b);
}

bool KnownGaps::Has(const KeyGap& gap, const Slice& user_key) const {
  return Compare(gap.begin.key, gap.begin.after, user_key, false) <= 0 &&
         Compare(user_key, true, gap.end.key, gap.end.after) <= 0;
}

size_t KnownGaps::FirstEndingAfter(const Slice& key, bool after) const {
  const auto place = std::partition_point(gaps_.begin(), gaps_.end(), [&](const KeyGap& gap) {
    return Compare(gap.end.key, gap.end.after, key, after) <= 0;
  });
  return static_cast<size_t>(place - gaps_.begin());
}

bool KnownGaps::IsKnown(const KeyGap& gap) const {
  const size_t place = FirstEndingAfter(gap.begin.key, gap.begin.after);
  return place < gaps_.size() && Compare(gaps_[place].begin, gap.begin) <= 0 &&
         Compare(gap.end, gaps_[place].end) <= 0;
}

KnownGaps::Pending* KnownGaps::Announce(KeyGap gap) {
  if (IsEmpty(gap)) return nullptr;
  if (gap.begin.key.size() > kKeyBytesMax || gap.end.key.size() > kKeyBytesMax) return nullptr;
  auto announced = std::make_unique<Pending>();
  announced->gap = std::move(gap);
  const MutexLock lock(mutex_);
  if (pending_.size() >= kPendingMax || IsKnown(announced->gap)) return nullptr;
  gaps_.reserve(kGapsMax);
  pending_.push_back(std::move(announced));
  return pending_.back().get();
}

bool KnownGaps::AddNewer(Pending* pending, const Slice& user_key) {
  const MutexLock lock(mutex_);
  if (!pending->HasRoomFor(user_key)) pending->forgotten = true;
  if (!pending->forgotten) pending->newer.push_back(user_key.ToString());
  return !pending->forgotten;
}

std::unique_ptr<KnownGaps::Pending> KnownGaps::Take(Pending* pending) {
  const auto place = std::find_if(pending_.begin(), pending_.end(),
                                  [&](const auto& each) { return each.get() == pending; });
  ASHLAR_ASSERT(place != pending_.end());  // I3: announced once, taken once
  std::unique_ptr<Pending> taken = std::move(*place);
  pending_.erase(place);
  return taken;
}

void KnownGaps::Forget(Pending* pending) {
  const MutexLock lock(mutex_);
  Take(pending);
}

void KnownGaps::Prove(Pending* pending) {
  const MutexLock lock(mutex_);
  const std::unique_ptr<Pending> proved = Take(pending);
  if (proved->forgotten) return;
  std::vector<std::string>& newer = proved->newer;
  std::sort(newer.begin(), newer.end(), [&](const std::string& a, const std::string& b) {
    return comparator_.Compare(a, b) < 0;
  });
  KeyGap rest = std::move(proved->gap);
  for (std::string& key : newer) {
    // A key may have been both found and added.
    if (!Has(rest, key)) continue;
    KeyGap before{.begin = std::move(rest.begin), .end = {key, false}, .since = rest.since};
    if (!IsEmpty(before)) Join(std::move(before));
    rest.begin = {std::move(key), true};
  }
  if (!IsEmpty(rest)) Join(std::move(rest));
  if constexpr (kDebugChecks) AssertInvariants();
}

void KnownGaps::Join(KeyGap gap) {
  // The gaps from `first` on end at or after the begin of the new gap. Those before `end` begin at
  // or before its end.
  const auto first = std::partition_point(gaps_.begin(), gaps_.end(), [&](const KeyGap& each) {
    return Compare(each.end, gap.begin) < 0;
  });
  auto end = first;
  for (; end != gaps_.end() && Compare(end->begin, gap.end) <= 0; ++end) {
    if (Compare(end->begin, gap.begin) < 0) gap.begin = std::move(end->begin);
    if (Compare(end->end, gap.end) > 0) gap.end = std::move(end->end);
    gap.since = std::max(gap.since, end->since);
  }
  if (first != end) {
    *first = std::move(gap);
    gaps_.erase(first + 1, end);
  } else if (gaps_.size() < kGapsMax) {
    gaps_.insert(first, std::move(gap));  // within the capacity that Announce has reserved
  }
}

// If it throws std::bad_alloc, the gap is as it was.
void KnownGaps::Split(size_t place, const Slice& user_key) {
  KeyGap& gap = gaps_[place];
  KeyGap before{.begin = gap.begin, .end = {user_key.ToString(), false}, .since = gap.since};
  gap.begin = KeyEdge{.key = user_key.ToString(), .after = true};
  if (IsEmpty(before)) {
    if (IsEmpty(gap)) gaps_.erase(gaps_.begin() + static_cast<ptrdiff_t>(place));
  } else if (IsEmpty(gap)) {
    gap = std::move(before);
  } else if (gaps_.size() < kGapsMax) {
    gaps_.insert(gaps_.begin() + static_cast<ptrdiff_t>(place), std::move(before));
  }
}

void KnownGaps::Added(const Slice& user_key) noexcept {
  const MutexLock lock(mutex_);
  for (const std::unique_ptr<Pending>& pending : pending_) {
    if (pending->forgotten || !Has(pending->gap, user_key)) continue;
    pending->forgotten = !pending->HasRoomFor(user_key) ||
                         !HasMemory([&] { pending->newer.push_back(user_key.ToString()); });
  }
  const size_t place = FirstEndingAfter(user_key, false);
  if (place == gaps_.size() || !Has(gaps_[place], user_key)) return;
  // I2: a gap that cannot be split is forgotten.
  const bool is_split = user_key.size() <= kKeyBytesMax && HasMemory([&] {
                          mutex_.AssertHeld();
                          Split(place, user_key);
                        });
  if (!is_split) gaps_.erase(gaps_.begin() + static_cast<ptrdiff_t>(place));
  if constexpr (kDebugChecks) AssertInvariants();
}

bool KnownGaps::Find(const Slice& user_key, SequenceNumber visible, KeyGap* gap) const {
  const MutexLock lock(mutex_);
  const size_t place = FirstEndingAfter(user_key, false);
  if (place == gaps_.size()) return false;
  const KeyGap& found = gaps_[place];
  if (found.since > visible || !Has(found, user_key)) return false;
  *gap = found;
  return true;
}

size_t KnownGaps::size() const {
  const MutexLock lock(mutex_);
  return gaps_.size();
}

void KnownGaps::CheckInvariants() const {
  const MutexLock lock(mutex_);
  AssertInvariants();
}

void KnownGaps::AssertInvariants() const {
  ASHLAR_ASSERT(gaps_.size() <= kGapsMax);  // I4
  for (size_t i = 0; i < gaps_.size(); ++i) {
    ASHLAR_ASSERT(!IsEmpty(gaps_[i]));                                       // I1
    ASHLAR_ASSERT(i == 0 || Compare(gaps_[i - 1].end, gaps_[i].begin) < 0);  // I1
    ASHLAR_ASSERT(gaps_[i].begin.key.size() <= kKeyBytesMax);                // I4
    ASHLAR_ASSERT(gaps_[i].end.key.size() <= kKeyBytesMax);                  // I4
  }
}

}  // namespace ashlar

#include "tests/pool_crash/pool_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "platform/thread.h"

namespace ashlar::pmem {
namespace {

constexpr PoolOffset LineOf(PoolOffset offset) { return offset / kLineBytes * kLineBytes; }

}  // namespace

LineBytes PendingLine::After(size_t stores_kept) const {
  LineBytes bytes = durable;
  for (size_t i = 0; i < stores_kept; ++i)
    memcpy(bytes.data() + stores[i].at, stores[i].data.data(), stores[i].bytes);
  return bytes;
}

PoolMemory::PoolMemory(uint64_t bytes, CopyOrder copy_order)
    : file_(PoolFile::CreateAnonymous(bytes).value()),
      view_(file_->Map(PoolMapMode::kSharedReadOnly).value()),
      writable_(file_->Map(PoolMapMode::kShared).value()),
      copy_order_(copy_order) {}

// ---- Verbs.

void PoolMemory::BeginTogether(std::function<Progress()> progress, uint64_t seed) {
  together_ = true;
  progress_ = std::move(progress);
  turns_seed_ = seed;
  threads_.clear();
  for (auto& [offset, line] : pending_) line.flushed = {};
}

void PoolMemory::EndTogether() {
  together_ = false;
  for (auto& [offset, line] : pending_) line.flushed = {};
}

// The calling thread's actor.
size_t PoolMemory::Here() {
  if (!together_) return 0;
  const uint64_t thread = CurrentThreadSystemId();
  const auto at = std::find(threads_.begin(), threads_.end(), thread);
  if (at != threads_.end()) return static_cast<size_t>(at - threads_.begin());
  ASHLAR_ASSERT(threads_.size() < kActorsMax);
  threads_.push_back(thread);
  actors_[threads_.size() - 1] = {};
  return threads_.size() - 1;
}

// Sometimes waits until the others have called some verbs, or seem to wait for this thread.
void PoolMemory::MaybeWaitForOthers() {
  if (!together_) return;
  constexpr int kPatience = 60;
  const uint64_t before = verbs_.fetch_add(1, std::memory_order_relaxed) + 1;
  Random random(turns_seed_ + before * 1000003 + CurrentThreadSystemId());
  if (!random.OneIn(3)) return;
  const uint64_t wanted = before + 1 + random.Uniform(12);
  for (int i = 0; i < kPatience && verbs_.load(std::memory_order_relaxed) < wanted; ++i)
    YieldThread();
}

void PoolMemory::Begin() {
  MutexLock lock(mutex_);
  Actor& actor = actors_[Here()];
  actor.operation = ++operation_;
  actor.cost = {};
  actor.stored_outside_map = false;
}

void PoolMemory::Store(PoolOffset to, uint64_t word) {
  MaybeWaitForOthers();
  MutexLock lock(mutex_);
  char bytes[8];
  memcpy(bytes, &word, sizeof(bytes));
  StoreBytes(to, bytes, sizeof(bytes));
}

void PoolMemory::Copy(PoolOffset to, const char* from, size_t n) {
  struct Piece {
    size_t at;
    size_t bytes;
  };
  std::vector<Piece> pieces;
  for (size_t at = 0; at < n;) {
    const size_t bytes = std::min<size_t>(n - at, 8 - (to + at) % 8);
    pieces.push_back({.at = at, .bytes = bytes});
    at += bytes;
  }
  MaybeWaitForOthers();
  MutexLock lock(mutex_);
  if (copy_order_ == CopyOrder::kDown) std::reverse(pieces.begin(), pieces.end());
  for (const Piece& piece : pieces) StoreBytes(to + piece.at, from + piece.at, piece.bytes);
}

void PoolMemory::StoreBytes(PoolOffset to, const char* from, size_t n) {
  const PoolOffset offset = LineOf(to);
  if (keeps_undo_) undo_.emplace_back(offset, LineAt(offset));
  const auto [at, is_new] = pending_.try_emplace(offset);
  PendingLine& line = at->second;
  if (is_new) line.durable = LineAt(offset);
  Actor& actor = actors_[Here()];
  line.operation = actor.operation;
  LineStore store = {
      .at = static_cast<uint8_t>(to - offset), .bytes = static_cast<uint8_t>(n), .data = {}};
  memcpy(store.data.data(), from, n);
  line.stores.push_back(store);
  memcpy(writable_->data() + to, from, n);
  stored_since_fence_ = true;
  PoolHeader header;
  memcpy(&header, view(), sizeof(header));
  if (to < kPageBytes || to >= header.first_page * kPageBytes) actor.stored_outside_map = true;
}

void PoolMemory::Flush(PoolOffset from, size_t n) {
  MaybeWaitForOthers();
  MutexLock lock(mutex_);
  const size_t here = Here();
  const bool is_omitted = IsOmitted(Verb::kFlush);
  actors_[here].flushed_since_fence = actors_[here].flushed_since_fence || !is_omitted;
  for (PoolOffset offset = LineOf(from); offset < from + n; offset += kLineBytes) {
    if (is_omitted) {
      omitted_lines_.insert(offset);
      continue;
    }
    if (!fenced_since_omission_) omitted_lines_.erase(offset);
    actors_[here].cost.lines_flushed++;
    const auto at = pending_.find(offset);
    if (at == pending_.end() || at->second.flushed[here] == at->second.stores.size()) {
      // Another thread's flush and fence may have come first.
      if (!together_) Find("a flush of a line without stores", offset);
    } else {
      at->second.flushed[here] = at->second.stores.size();
    }
  }
}

void PoolMemory::Fence() {
  MaybeWaitForOthers();
  MutexLock lock(mutex_);
  if (IsOmitted(Verb::kFence)) return;
  const size_t here = Here();
  actors_[here].cost.fences++;
  fenced_since_omission_ = omitted_;
  if (!actors_[here].flushed_since_fence) Find("a fence without a flush", 0);
  actors_[here].flushed_since_fence = false;
  stored_since_fence_ = false;
  Epoch epoch;
  if (together_) epoch.progress = progress_();
  for (auto at = pending_.begin(); at != pending_.end();) {
    PendingLine& line = at->second;
    const size_t durable = line.flushed[here];
    epoch.lines.push_back(
        {.offset = at->first, .line = line, .durable_after = line.After(durable)});
    if (durable == line.stores.size()) {
      at = pending_.erase(at);
      continue;
    }
    line.durable = epoch.lines.back().durable_after;
    line.stores.erase(line.stores.begin(), line.stores.begin() + static_cast<ptrdiff_t>(durable));
    for (size_t& flushed : line.flushed) flushed = flushed > durable ? flushed - durable : 0;
    ++at;
  }
  epochs_.push_back(std::move(epoch));
}

void PoolMemory::Commit() {
  MutexLock lock(mutex_);
  Actor& actor = actors_[Here()];
  for (const auto& [offset, line] : pending_) {
    if (line.operation == actor.operation) Find("a commit before the store is durable", offset);
  }
  if (omitted_ && omission_operation_ == actor.operation) omission_committed_ = true;
  actor.cost.is_span_entry = !actor.stored_outside_map;
  costs_.push_back(actor.cost);
}

bool PoolMemory::IsOmitted(Verb verb) {
  if (verb != omitted_verb_ || calls_until_omission_ == ~uint64_t{0}) return false;
  if (calls_until_omission_-- > 0) return false;
  omitted_ = true;
  omission_operation_ = actors_[Here()].operation;
  return true;
}

void PoolMemory::Find(const std::string& what, PoolOffset offset) {
  findings_.push_back(StrCat("lint: ", what, ", offset ", offset));
}

// ---- For the proof.

std::vector<Epoch> PoolMemory::TakeEpochs() {
  std::vector<Epoch> epochs;
  epochs.swap(epochs_);
  if (stored_since_fence_) {
    Epoch open;
    // This epoch has not ended, so nothing of it becomes durable.
    if (together_) open.progress = progress_();
    for (const auto& [offset, line] : pending_)
      open.lines.push_back({.offset = offset, .line = line, .durable_after = line.durable});
    epochs.push_back(std::move(open));
  }
  return epochs;
}

std::vector<OperationCost> PoolMemory::TakeCosts() { return std::exchange(costs_, {}); }
std::vector<std::string> PoolMemory::TakeFindings() { return std::exchange(findings_, {}); }

void PoolMemory::Omit(Verb verb, uint64_t n) {
  omitted_verb_ = verb;
  calls_until_omission_ = n;
  omitted_ = false;
  omission_committed_ = false;
  omitted_lines_.clear();
  fenced_since_omission_ = false;
}

LineBytes PoolMemory::LineAt(PoolOffset line) const {
  LineBytes bytes;
  memcpy(bytes.data(), view() + line, kLineBytes);
  return bytes;
}

void PoolMemory::SetLine(PoolOffset line, const LineBytes& bytes) {
  if (keeps_undo_) undo_.emplace_back(line, LineAt(line));
  memcpy(writable_->data() + line, bytes.data(), kLineBytes);
}

void PoolMemory::CopyFrom(const PoolMemory& other) {
  ASHLAR_ASSERT(bytes() == other.bytes() && undo_.empty());
  memcpy(writable_->data(), other.view(), bytes());
}

void PoolMemory::Rollback(size_t mark) {
  for (; undo_.size() > mark; undo_.pop_back())
    memcpy(writable_->data() + undo_.back().first, undo_.back().second.data(), kLineBytes);
  pending_.clear();
  epochs_.clear();
  costs_.clear();
  stored_since_fence_ = false;
  actors_[0].flushed_since_fence = false;
}

}  // namespace ashlar::pmem

#include "tests/pool_crash/pool_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/format.h"

namespace ashlar::pmem {
namespace {

template <typename T>
T TakeValue(Result<T> result) {
  ASHLAR_ASSERT(result.ok());
  return std::move(result).value();
}

constexpr PoolOffset LineOf(PoolOffset offset) { return offset / kLineBytes * kLineBytes; }

}  // namespace

LineBytes PendingLine::After(size_t stores_kept) const {
  LineBytes bytes = durable;
  for (size_t i = 0; i < stores_kept; ++i) memcpy(bytes.data() + stores[i].at, stores[i].data.data(), stores[i].bytes);
  return bytes;
}

PoolMemory::PoolMemory(uint64_t bytes, CopyOrder copy_order)
    : file_(TakeValue(PoolFile::CreateAnonymous(bytes))),
      view_(TakeValue(file_->Map(PoolMapMode::kSharedReadOnly))),
      writable_(TakeValue(file_->Map(PoolMapMode::kShared))),
      copy_order_(copy_order) {}

// ---- Verbs.

void PoolMemory::Begin() {
  operation_++;
  cost_ = {};
  stored_outside_map_ = false;
}

void PoolMemory::Store(PoolOffset to, uint64_t word) {
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
  if (copy_order_ == CopyOrder::kDown) std::reverse(pieces.begin(), pieces.end());
  for (const Piece& piece : pieces) StoreBytes(to + piece.at, from + piece.at, piece.bytes);
}

void PoolMemory::StoreBytes(PoolOffset to, const char* from, size_t n) {
  const PoolOffset offset = LineOf(to);
  if (keeps_undo_) undo_.emplace_back(offset, LineAt(offset));
  const auto [at, is_new] = pending_.try_emplace(offset);
  PendingLine& line = at->second;
  if (is_new) line.durable = LineAt(offset);
  line.operation = operation_;
  LineStore store = {.at = static_cast<uint8_t>(to - offset), .bytes = static_cast<uint8_t>(n), .data = {}};
  memcpy(store.data.data(), from, n);
  line.stores.push_back(store);
  memcpy(writable_->data() + to, from, n);
  stored_since_fence_ = true;
  PoolHeader header;
  memcpy(&header, view(), sizeof(header));
  if (to < kPageBytes || to >= header.first_page * kPageBytes) stored_outside_map_ = true;
}

void PoolMemory::Flush(PoolOffset from, size_t n) {
  const bool is_omitted = IsOmitted(Verb::kFlush);
  flushed_since_fence_ = flushed_since_fence_ || !is_omitted;
  for (PoolOffset offset = LineOf(from); offset < from + n; offset += kLineBytes) {
    if (is_omitted) {
      omitted_lines_.insert(offset);
      continue;
    }
    if (!fenced_since_omission_) omitted_lines_.erase(offset);
    cost_.lines_flushed++;
    const auto at = pending_.find(offset);
    if (at == pending_.end() || at->second.flushed == at->second.stores.size()) {
      Find("a flush of a line without stores", offset);
    } else {
      at->second.flushed = at->second.stores.size();
    }
  }
}

void PoolMemory::Fence() {
  if (IsOmitted(Verb::kFence)) return;
  cost_.fences++;
  fenced_since_omission_ = omitted_;
  if (!flushed_since_fence_) Find("a fence without a flush", 0);
  flushed_since_fence_ = false;
  stored_since_fence_ = false;
  Epoch epoch;
  for (auto at = pending_.begin(); at != pending_.end();) {
    PendingLine& line = at->second;
    epoch.push_back({.offset = at->first, .line = line});
    if (line.flushed == line.stores.size()) {
      at = pending_.erase(at);
      continue;
    }
    line.durable = line.After(line.flushed);
    line.stores.erase(line.stores.begin(), line.stores.begin() + static_cast<ptrdiff_t>(line.flushed));
    line.flushed = 0;
    ++at;
  }
  epochs_.push_back(std::move(epoch));
}

void PoolMemory::Commit() {
  for (const auto& [offset, line] : pending_) {
    if (line.operation == operation_) Find("a commit before the store is durable", offset);
  }
  if (omitted_ && omission_operation_ == operation_) omission_committed_ = true;
  cost_.is_span_entry = !stored_outside_map_;
  costs_.push_back(cost_);
}

bool PoolMemory::IsOmitted(Verb verb) {
  if (verb != omitted_verb_ || calls_until_omission_ == ~uint64_t{0}) return false;
  if (calls_until_omission_-- > 0) return false;
  omitted_ = true;
  omission_operation_ = operation_;
  return true;
}

void PoolMemory::Find(const std::string& what, PoolOffset offset) { findings_.push_back(StrCat("lint: ", what, ", offset ", offset)); }

// ---- For the proof.

std::vector<Epoch> PoolMemory::TakeEpochs() {
  std::vector<Epoch> epochs;
  epochs.swap(epochs_);
  if (stored_since_fence_) {
    Epoch open;
    // Not ended: nothing of it becomes durable.
    for (const auto& [offset, line] : pending_) {
      open.push_back({.offset = offset, .line = line});
      open.back().line.flushed = 0;
    }
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
  for (; undo_.size() > mark; undo_.pop_back()) memcpy(writable_->data() + undo_.back().first, undo_.back().second.data(), kLineBytes);
  pending_.clear();
  epochs_.clear();
  costs_.clear();
  stored_since_fence_ = false;
  flushed_since_fence_ = false;
}

}  // namespace ashlar::pmem

#include "table/plain/plain_table_cursor.h"

#include "base/assert.h"

namespace ashlar {

PlainTableCursor::PlainTableCursor(PlainTable* table, const TableReadOptions& options)
    : table_(table),
      seek_(options.seek_prefix),
      checks_order_(options.readahead_bytes > 0),
      decoder_(&table->data()) {
  table_->AddRef();
}

void PlainTableCursor::Fail(PlainFault fault, const char* at) {
  Hide();
  group_.clear();
  status_ = table_->FaultAt(fault, at);
}

void PlainTableCursor::Start() {
  Hide();
  group_.clear();
  status_ = Status::OK();
}

void PlainTableCursor::Take(const char* at) {
  const PlainFault fault = decoder_.Read(at, &entry_);
  if (fault != PlainFault::kNone) [[unlikely]] {
    Fail(fault, at);
    return;
  }
  Show(at);
}

void PlainTableCursor::Show(const char* at) {
  at_ = at;
  ASHLAR_DCHECK(entry_.end > at && entry_.end <= table_->data().end);  // I1
  ASHLAR_DCHECK(group_.empty() || group_.back().at == at);             // I2
  if (entry_.shared.empty() && entry_.tag_follows) {
    return ShowOne(Slice(entry_.rest.data(), entry_.rest.size() + kTagBytes), entry_.value);
  }
  const size_t user_key_size = entry_.user_key_size();
  char* const key = buffer_.Reserve(user_key_size + kTagBytes, 0);
  entry_.CopyUserKey(key);
  EncodeFixed64(key + user_key_size, entry_.tag);
  ShowOne(Slice(key, user_key_size + kTagBytes), entry_.value);
}

void PlainTableCursor::Step() {
  ASHLAR_DCHECK(Valid() && at_ < entry_.end);  // I1
  group_.clear();
  if (entry_.end == table_->data().end) {
    Hide();
    return;
  }
  Take(entry_.end);
}

void PlainTableCursor::NextInOrder() {
  last_key_.assign(key().data(), key().size());
  Step();
  if (Valid() && table_->comparator().CompareInternal(last_key_, key()) >= 0)
    Fail(PlainFault::kOrder, at_);
}

void PlainTableCursor::SeekToFirst() {
  Start();
  if (table_->data().begin != table_->data().end) Take(table_->data().begin);
}

void PlainTableCursor::SeekToLast() {
  Start();
  TakeLastBefore(table_->data().end);
}

void PlainTableCursor::Seek(const Slice& internal_target) {
  Start();
  const Slice user_key = ExtractUserKey(internal_target);
  const char* at = nullptr;
  const PlainFault fault =
      IsWithinPrefix() ? table_->FindStartInPrefix(user_key, ExtractTag(internal_target), &at)
                       : table_->FindStart(user_key, ExtractTag(internal_target), &at);
  SeekOn(fault, at, internal_target);
}

void PlainTableCursor::SeekOn(PlainFault fault, const char* at, const Slice& internal_target) {
  const Slice user_key = ExtractUserKey(internal_target);
  const uint64_t tag = ExtractTag(internal_target);
  // Keys are compared in place. Only the current key is assembled.
  for (; fault == PlainFault::kNone && at != nullptr && at != table_->data().end; at = entry_.end) {
    fault = decoder_.Read(at, &entry_);
    if (fault != PlainFault::kNone) break;
    const int r = ComparePlainKey(table_->comparator(), entry_, user_key);
    if (r > 0 || (r == 0 && CompareTags(entry_.tag, tag) >= 0)) {
      Show(at);
      return;
    }
  }
  if (fault != PlainFault::kNone) Fail(fault, at);
}

void PlainTableCursor::SeekForPrev(const Slice& internal_target) {
  Start();
  const Slice user_key = ExtractUserKey(internal_target);
  const uint64_t tag = ExtractTag(internal_target);
  const char* at = nullptr;
  PlainFault fault = PlainFault::kNone;
  if (IsWithinPrefix()) {
    fault = table_->FindStartInPrefix(user_key, tag, &at);
    if (fault == PlainFault::kNone && at == nullptr) return;
  }
  if (fault == PlainFault::kNone) fault = table_->FindStart(user_key, tag, &at);
  SeekOn(fault, at, internal_target);
  if (!status_.ok()) return;
  if (!Valid()) {
    SeekToLast();
  } else if (table_->comparator().CompareInternal(key(), internal_target) > 0) {
    Prev();
  }
}

void PlainTableCursor::MovePrev() {
  ASHLAR_DCHECK(Valid() && table_->data().begin <= at_);  // I1
  // The current entry is the last one of the group.
  if (group_.size() < 2) {
    group_.clear();
    TakeLastBefore(at_);
    return;
  }
  group_.pop_back();
  decoder_ = group_.back().decoder;
  Take(group_.back().at);
}

void PlainTableCursor::TakeLastBefore(const char* end) {
  const PlainData& data = table_->data();
  Hide();
  if (end == data.begin) return;
  const PlainIndex& index = table_->index();
  const char* at =
      data.begin +
      index.offset(index.SparseEntryAtOffset(static_cast<uint32_t>(end - data.begin - 1)));
  ASHLAR_DCHECK(data.begin <= at && at < end);  // I1 of plain_index.h
  PlainDecoder decoder(&data);
  while (at < end) {
    group_.push_back({at, decoder});
    PlainEntry entry;
    const PlainFault fault = decoder.Read(at, &entry);
    if (fault != PlainFault::kNone) {
      Fail(fault, at);
      return;
    }
    at = entry.end;
  }
  decoder_ = group_.back().decoder;
  Take(group_.back().at);
}

}  // namespace ashlar

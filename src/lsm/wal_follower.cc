#include "lsm/wal_follower.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "key/write_batch_internal.h"
#include "lsm/predecessor_record.h"

namespace ashlar {

namespace {

uint32_t CountOf(const Slice& batch) { return DecodeFixed32(batch.data() + sizeof(uint64_t)); }

}  // namespace

WalFollower::WalFollower(DatabaseState* state, SequenceNumber from) : state_(state), from_(from) {
  state_->live_iterators.fetch_add(1, std::memory_order_relaxed);
  Next();
}

WalFollower::~WalFollower() {
  const int64_t before = state_->live_iterators.fetch_sub(1, std::memory_order_release);
  ASHLAR_ASSERT(before > 0);  // a live follower keeps the core (LsmCore::IsInUse)
}

void WalFollower::Next() {
  if (!status_.ok()) return;
  valid_ = false;
  batch_.reset();
  status_ = CatchBadAlloc([this] { return Advance(); });
  ASHLAR_ASSERT(!valid_ || status_.ok());  // an error has no batch
  if constexpr (kDebugChecks) CheckInvariants();
}

void WalFollower::CheckInvariants() const {
  ASHLAR_ASSERT((number_ != 0) == (wal_.reader != nullptr));  // a log, or none yet
  ASHLAR_ASSERT(!has_record_ || wal_.reader != nullptr);      // a record of that log
  if (!valid_) return;
  ASHLAR_ASSERT(batch_ != nullptr && !has_record_);         // Judge made the batch of the record
  ASHLAR_ASSERT(next_.has_value() && sequence_ <= *next_);  // I4
  ASHLAR_ASSERT(*next_ == 0 || state_->WasPublished(*next_ - 1));  // I1
  ASHLAR_ASSERT(!limit_.has_value() || sequence_ <= *limit_);      // I3
}

BatchResult WalFollower::GetBatch() {
  ASHLAR_ASSERT(valid_);  // Requires
  return {.sequence = sequence_, .writeBatchPtr = std::move(batch_)};
}

Status WalFollower::Advance() {
  if (wal_.reader == nullptr) {
    ASHLAR_ASSIGN_OR_RETURN(const bool opened, OpenFirst());
    if (!opened) return Status::OK();
  }
  for (;;) {
    // In this order (I1, I3).
    const SequenceNumber published = state_->PublishedSequence();
    const bool closed = IsClosed();
    if (closed && !limit_.has_value()) ASHLAR_RETURN_IF_ERROR(FindLimit(published));
    const bool may_grow = wal_.grows && !limit_.has_value();  // I5
    if (!has_record_) has_record_ = ReadRecord();
    if (!has_record_ && wal_.grows) {
      ASHLAR_ASSIGN_OR_RETURN(has_record_, ReadWhatIsNew());
      if (!has_record_ && !wal_.grows) continue;  // promoted since: load `closed` again
    }
    if (has_record_) {
      ASHLAR_ASSIGN_OR_RETURN(const Step step, Judge(published));
      if (step == Step::kAgain) has_record_ = false;
      if (step == Step::kAgain) continue;
      if (step == Step::kBatch) has_record_ = false;
      // A record of the last run that was never published stays pending, until a later log shows
      // that it is not part of the history.
      return Status::OK();
    }
    ASHLAR_RETURN_IF_ERROR(CheckOutcome(may_grow, published));
    if (!closed || may_grow) return Status::OK();
    ASHLAR_ASSIGN_OR_RETURN(const bool opened, OpenNext());
    if (!opened) return Status::OK();
  }
}

Result<bool> WalFollower::OpenFirst() {
  for (;;) {
    ASHLAR_RETURN_IF_ERROR(RefreshLogs());
    if (logs_.empty()) return false;
    uint64_t first = logs_.begin()->first;
    for (const auto& [number, start] : logs_) {
      if (start.has_value() && *start <= from_) first = number;
    }
    const Status opened = Open(first);
    if (opened.ok()) return true;
    // The log was deleted meanwhile, and is not listed any more.
    if (!IsMissing(opened)) return opened;
  }
}

Result<bool> WalFollower::OpenNext() {
  ASHLAR_ASSERT(IsClosed());  // Requires
  for (;;) {
    auto next = logs_.upper_bound(number_);
    if (next == logs_.end()) {
      ASHLAR_RETURN_IF_ERROR(RefreshLogs());
      next = logs_.upper_bound(number_);
    }
    if (next == logs_.end()) return false;
    const Status opened = Open(next->first);
    if (opened.ok()) return true;
    if (!IsMissing(opened)) return opened;
    logs_.erase(next);  // the gap shows at the next batch
  }
}

Status WalFollower::Open(uint64_t number) {
  ASHLAR_ASSERT(number > number_);  // I4: in the order of the logs
  ASHLAR_ASSERT(!has_record_);      // I4: a record that is not judged yet would be lost
  ASHLAR_ASSIGN_OR_RETURN(wal_, OpenWalFile(*state_, number));
  number_ = number;
  limit_.reset();
  looked_at_.reset();
  return Status::OK();
}

Status WalFollower::RefreshLogs() {
  ASHLAR_ASSIGN_OR_RETURN(const std::vector<WalLocation> found, ListWalFiles(*state_));
  std::map<uint64_t, std::optional<SequenceNumber>> logs;
  // From the newest back to the first one that is read, because thousands of older ones may exist.
  for (auto log = found.rbegin(); log != found.rend() && log->number >= number_; ++log) {
    const auto known = logs_.find(log->number);
    std::optional<SequenceNumber> start = known != logs_.end() ? known->second : std::nullopt;
    if (!start.has_value()) {
      Result<OpenWal> wal = OpenWalFile(*state_, log->number);
      if (!wal.ok() && IsMissing(wal.status())) continue;
      ASHLAR_RETURN_IF_ERROR(wal.status());
      start = ReadStartSequence(wal->reader.get());
      if (wal->reader->outcome() == LogReader::Outcome::kIoError) return wal->reader->status();
    }
    logs[log->number] = start;
    if (number_ == 0 && start.has_value() && *start <= from_) break;
  }
  logs_ = std::move(logs);
  return Status::OK();
}

Status WalFollower::FindLimit(SequenceNumber published) {
  ASHLAR_ASSERT(IsClosed());  // I3
  // Loaded after the sequence, so that the install that has published it is counted.
  const std::pair state(published, state_->secondary_installs.load(std::memory_order_acquire));
  if (wal_.grows && looked_at_ == state) return Status::OK();
  looked_at_ = state;
  // A log that was empty when it was listed may have records by now.
  const bool knows_limit = std::any_of(logs_.upper_bound(number_), logs_.end(),
                                       [](const auto& log) { return log.second.has_value(); });
  if (!knows_limit) ASHLAR_RETURN_IF_ERROR(RefreshLogs());
  for (auto later = logs_.upper_bound(number_); later != logs_.end(); ++later) {
    if (later->second.has_value())
      limit_ = std::min(limit_.value_or(*later->second), *later->second);
  }
  return Status::OK();
}

bool WalFollower::IsClosed() const {
  return wal_.progress == nullptr || wal_.progress->closed.load(std::memory_order_acquire);
}

bool WalFollower::ReadRecord() {
  ASHLAR_ASSERT(!has_record_);  // I4: a record that is not judged yet would be lost
  if (wal_.reader->ReadRecord(&record_, &scratch_)) return true;
  if (wal_.progress == nullptr || wal_.reader->outcome() != LogReader::Outcome::kEnd) return false;
  wal_.reader->Extend(wal_.progress->good_bytes.load(std::memory_order_acquire));  // I2
  return wal_.reader->ReadRecord(&record_, &scratch_);
}

Result<bool> WalFollower::ReadWhatIsNew() {
  const Status continued = ContinueWalFile(*state_, number_, &wal_);
  if (IsMissing(continued)) return false;  // the gap shows at the next batch
  ASHLAR_RETURN_IF_ERROR(continued);
  return ReadRecord();
}

Status WalFollower::CheckOutcome(bool may_grow, SequenceNumber published) {
  switch (wal_.reader->outcome()) {
    case LogReader::Outcome::kReading:
    case LogReader::Outcome::kEnd: return Status::OK();
    case LogReader::Outcome::kTornTail:
    case LogReader::Outcome::kCorruption:
      // A log that was recycled is a gap, not damage.
      if (may_grow || IsGone()) return Status::OK();
      // The database may have continued from here, which the next batch shows.
      damage_ = wal_.reader->status();
      return LacksABatch(published) ? damage_ : Status::OK();
    case LogReader::Outcome::kUnsupported:
    case LogReader::Outcome::kIoError: return wal_.reader->status();
  }
  return Status::OK();
}

bool WalFollower::LacksABatch(SequenceNumber published) const {
  // If this database writes the log, the bytes that are read are complete records (I2). The end of
  // another log may be what a crash has left.
  return wal_.progress != nullptr && !IsClosed() && (!next_.has_value() || *next_ <= published);
}

bool WalFollower::IsGone() const { return IsMissing(OpenWalFile(*state_, number_).status()); }

Status WalFollower::GapError() const {
  return damage_.ok() ? Status::NotFound("Gap in sequence numbers") : damage_;
}

Result<WalFollower::Step> WalFollower::Judge(SequenceNumber published) {
  if (record_.size() < WriteBatchInternal::kHeaderBytes) {
    return Status::Corruption(StrCat(wal_.reader->file_name(), ": the record at offset ",
                                     wal_.reader->record_offset(),
                                     " is shorter than a batch's header"));
  }
  const SequenceNumber first = WriteBatchInternal::Sequence(record_);
  const uint32_t count = CountOf(record_);
  // A larger sequence is not of a committed batch, and would overflow below.
  if (first > kSequenceNumberMax) {
    return Status::Corruption(StrCat(wal_.reader->file_name(), ": the record at offset ",
                                     wal_.reader->record_offset(),
                                     " has the impossible sequence number ", first));
  }
  const bool is_head = count == 0 && DecodePredecessorRecord(record_).has_value();
  if (!is_head && limit_.has_value() && (count == 0 ? first > *limit_ : first >= *limit_))
    return Step::kAgain;                                       // I3
  if (next_.has_value() && first < *next_) return GapError();  // I4
  if (is_head) return Step::kAgain;
  if (first + count > published + 1) return Step::kWait;  // I1
  const bool is_before = count == 0 ? first < from_ : first + count <= from_;
  if (!next_.has_value() && is_before) return Step::kAgain;
  if (next_.has_value() && first != *next_) return GapError();  // I4
  batch_ = std::make_unique<WriteBatch>(record_.ToString());
  sequence_ = first;
  next_ = first + count;
  damage_ = Status::OK();
  valid_ = true;
  return Step::kBatch;
}

}  // namespace ashlar

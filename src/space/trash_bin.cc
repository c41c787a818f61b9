#include "space/trash_bin.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "execute/clock.h"
#include "execute/executor.h"
#include "filesystem/filename.h"

namespace ashlar {

namespace {

// The longest delay until a new rate, or new trash after failed deletions, takes effect, because a
// scheduled job cannot be canceled.
constexpr uint64_t kPauseMicrosMax = 1000000;
constexpr uint64_t kNanosPerMicro = 1000;

}  // namespace

std::shared_ptr<TrashBin> TrashBin::Create(Options options) {
  return std::shared_ptr<TrashBin>(new TrashBin(std::move(options)));
}

TrashBin::TrashBin(Options options)
    : options_(std::move(options)),
      bytes_per_second_(options_.bytes_per_second),
      ratio_max_(options_.ratio_max) {}

// ---- Adding files.

bool TrashBin::TakesMore(uint64_t total_bytes) const {
  MutexLock lock(mutex_);
  return bytes_per_second_ > 0 &&
         static_cast<double>(trash_bytes_) <= static_cast<double>(total_bytes) * ratio_max_;
}

Status TrashBin::Delete(const File& file, uint64_t total_bytes) {
  uint64_t bytes = 0;
  if (!TakesMore(total_bytes) || !options_.file_system->GetFileSize(file.path, &bytes).ok())
    return DeleteAtOnce(file.path);
  File trash{
      .path = TakeName(file.path), .is_whole = file.is_whole, .retry_micros = file.retry_micros};
  // An existing file with this name is from an earlier run and is replaced.
  if (!options_.file_system->RenameFile(file.path, trash.path).ok()) {
    GiveBack(trash.path);
    return DeleteAtOnce(file.path);
  }
  Count(FILES_MARKED_TRASH);
  Queue(std::move(trash), bytes);
  return Status::OK();
}

Status TrashBin::Adopt(const File& trash, uint64_t total_bytes) {
  {
    MutexLock lock(mutex_);
    if (names_.contains(trash.path)) return Status::OK();  // it is trash of this run
  }
  uint64_t bytes = 0;
  if (!TakesMore(total_bytes) || !options_.file_system->GetFileSize(trash.path, &bytes).ok())
    return DeleteAtOnce(trash.path);
  {
    MutexLock lock(mutex_);
    if (!names_.insert(trash.path).second) return Status::OK();
  }
  Queue(trash, bytes);
  return Status::OK();
}

Status TrashBin::DeleteAtOnce(const std::string& path) {
  Status deleted = options_.file_system->DeleteFile(path);
  if (deleted.ok()) Count(FILES_DELETED_IMMEDIATELY);
  return deleted;
}

std::string TrashBin::TakeName(const std::string& path) {
  MutexLock lock(mutex_);
  for (uint64_t taken = 0;; ++taken) {
    std::string name = TrashFileName(path, taken);
    if (names_.insert(name).second) return name;
  }
}

void TrashBin::GiveBack(const std::string& name) {
  MutexLock lock(mutex_);
  const size_t returned = names_.erase(name);
  ASHLAR_ASSERT(returned == 1);  // I4
}

void TrashBin::Queue(File trash, uint64_t bytes) {
  {
    MutexLock lock(mutex_);
    queue_.push_back({.file = std::move(trash), .bytes = bytes, .retry_nanos = 0});
    trash_bytes_ += bytes;
    if constexpr (kDebugChecks) CheckInvariants();
  }
  Wake();
}

// ---- Deleting files.

void TrashBin::Wake() {
  uint64_t delay = 0;
  {
    MutexLock lock(mutex_);
    if (is_scheduled_) return;
    is_scheduled_ = true;
    // A step that could not be scheduled may have left a debt (I2).
    delay = DelayMicros().value_or(0);
    pause_micros_ = delay;
  }
  ScheduleStep(delay);
}

void TrashBin::ScheduleStep(uint64_t delay_micros) {
  bool taken = false;
  IgnoreBadAlloc([&] {
    const auto step = [bin = weak_from_this()] {
      if (const std::shared_ptr<TrashBin> alive = bin.lock()) alive->RunStep();
    };
    // The lane of flushes, so that a long compaction does not delay the deletion of trash.
    constexpr Executor::Priority kLane = Executor::Priority::kHigh;
    Executor* const executor = options_.env->executor();
    taken = delay_micros == 0 ? executor->Schedule(kLane, step)
                              : executor->ScheduleAfter(delay_micros, kLane, step);
  });
  if (taken) return;
  MutexLock lock(mutex_);
  is_scheduled_ = false;
}

void TrashBin::RunStep() noexcept {
  {
    MutexLock lock(mutex_);
    if (has_ended_) return;
    ++running_steps_;
  }
  const Status done = CatchBadAlloc([this] {
    Step();
    return Status::OK();
  });
  MutexLock lock(mutex_);
  if (!done.ok()) is_scheduled_ = false;
  --running_steps_;
  step_ended_.SignalAll();
}

void TrashBin::End() {
  MutexLock lock(mutex_);
  has_ended_ = true;
  while (running_steps_ > 0) step_ended_.Wait(mutex_);
}

void TrashBin::Step() {
  if (const std::optional<Trash> trash = BeginStep(); trash.has_value()) {
    const Outcome outcome = DeletePart(*trash);
    EndStep(outcome);
    if (!outcome.status.ok()) Warn(trash->file.path, outcome.status);
    if (outcome.has_gone) Count(FILES_DELETED_FROM_TRASH_QUEUE);
  }
  std::optional<uint64_t> delay;
  {
    MutexLock lock(mutex_);
    delay = DelayMicros();
    is_scheduled_ = delay.has_value();
    pause_micros_ = delay.value_or(0);
  }
  if (delay.has_value()) ScheduleStep(*delay);
}

std::optional<TrashBin::Trash> TrashBin::BeginStep() {
  const uint64_t now_nanos = options_.env->clock()->NowNanos();
  MutexLock lock(mutex_);
  ASHLAR_ASSERT(is_scheduled_);  // I1
  const auto rate = static_cast<uint64_t>(std::max<int64_t>(bytes_per_second_, 0));
  // A pause shorter than the longest one was for all of the debt.
  debt_bytes_ -=
      rate == 0 || pause_micros_ < kPauseMicrosMax ? debt_bytes_ : std::min(debt_bytes_, rate);
  QueueDue(now_nanos);
  if (debt_bytes_ > 0 || queue_.empty()) return std::nullopt;
  return queue_.front();
}

TrashBin::Outcome TrashBin::DeletePart(const Trash& trash) const {
  vfs::FileSystem* const fs = options_.file_system.get();
  const uint64_t chunk = options_.chunk_bytes_max;
  uint64_t links = 0;
  const bool may_cut = !trash.file.is_whole && chunk > 0 && trash.bytes > chunk &&
                       fs->NumFileLinks(trash.file.path, &links).ok() && links == 1;  // I3
  if (may_cut && fs->Truncate(trash.file.path, trash.bytes - chunk).ok())
    return {.status = Status::OK(), .freed_bytes = chunk, .has_gone = false};
  Status deleted = fs->DeleteFile(trash.file.path);
  // The file was removed with its database.
  if (deleted.IsPathNotFound()) deleted = Status::OK();
  const bool has_gone = deleted.ok();
  return {.status = std::move(deleted),
          .freed_bytes = has_gone ? trash.bytes : 0,
          .has_gone = has_gone};
}

void TrashBin::EndStep(const Outcome& outcome) {
  const uint64_t now_nanos = options_.env->clock()->NowNanos();
  MutexLock lock(mutex_);
  ASHLAR_ASSERT(!queue_.empty() && queue_.front().bytes >= outcome.freed_bytes);  // I1
  Trash& trash = queue_.front();
  trash.bytes -= outcome.freed_bytes;
  trash_bytes_ -= outcome.freed_bytes;
  debt_bytes_ += outcome.freed_bytes;
  if (outcome.has_gone) {
    names_.erase(trash.file.path);
    queue_.pop_front();
  } else if (!outcome.status.ok()) {
    // Without a pause two such files would be tried in turn forever.
    const uint64_t pause_micros = std::max(trash.file.retry_micros, kPauseMicrosMax);
    const uint64_t pause_micros_max = (UINT64_MAX - now_nanos) / kNanosPerMicro;
    trash.retry_nanos = now_nanos + std::min(pause_micros, pause_micros_max) * kNanosPerMicro;
    undeleted_.splice(undeleted_.end(), queue_, queue_.begin());
  }
  if constexpr (kDebugChecks) CheckInvariants();
}

void TrashBin::QueueDue(uint64_t now_nanos) {
  for (auto trash = undeleted_.begin(); trash != undeleted_.end();) {
    const auto next = std::next(trash);
    if (trash->retry_nanos <= now_nanos) queue_.splice(queue_.end(), undeleted_, trash);
    trash = next;
  }
}

std::optional<uint64_t> TrashBin::DelayMicros() const {
  const auto rate = static_cast<uint64_t>(std::max<int64_t>(bytes_per_second_, 0));
  if (debt_bytes_ > 0 && rate > 0) {
    if (debt_bytes_ >= rate) return kPauseMicrosMax;
    const double micros = static_cast<double>(debt_bytes_) * 1e6 / static_cast<double>(rate);
    return static_cast<uint64_t>(std::ceil(micros));
  }
  if (!queue_.empty()) return 0;
  if (!undeleted_.empty()) return kPauseMicrosMax;
  return std::nullopt;
}

// ---- Settings and numbers.

void TrashBin::SetBytesPerSecond(int64_t bytes_per_second) {
  MutexLock lock(mutex_);
  bytes_per_second_ = bytes_per_second;
}

int64_t TrashBin::BytesPerSecond() const {
  MutexLock lock(mutex_);
  return bytes_per_second_;
}

void TrashBin::SetRatioMax(double ratio) {
  MutexLock lock(mutex_);
  ratio_max_ = ratio;
}

double TrashBin::RatioMax() const {
  MutexLock lock(mutex_);
  return ratio_max_;
}

void TrashBin::SetStatistics(std::shared_ptr<Statistics> statistics) {
  MutexLock lock(mutex_);
  std::swap(statistics_, statistics);
}

uint64_t TrashBin::TrashBytes() const {
  MutexLock lock(mutex_);
  return trash_bytes_;
}

void TrashBin::AddFiles(std::unordered_map<std::string, uint64_t>* bytes_by_path) const {
  MutexLock lock(mutex_);
  for (const std::list<Trash>* const list : {&queue_, &undeleted_}) {
    for (const Trash& trash : *list) bytes_by_path->emplace(trash.file.path, trash.bytes);
  }
}

void TrashBin::Count(Tickers ticker) const {
  std::shared_ptr<Statistics> statistics;
  {
    MutexLock lock(mutex_);
    statistics = statistics_;
  }
  if (statistics != nullptr) statistics->recordTick(ticker);
}

void TrashBin::Warn(const std::string& path, const Status& error) const {
  if (options_.logger == nullptr || options_.logger->GetInfoLogLevel() > WARN_LEVEL) return;
  options_.logger->Log(WARN_LEVEL, StrCat("trash could not be deleted, and is tried again: ", path,
                                          ": ", error.ToString()));
}

void TrashBin::CheckInvariants() const {
  uint64_t bytes = 0;
  for (const std::list<Trash>* const list : {&queue_, &undeleted_}) {
    for (const Trash& trash : *list) {
      bytes += trash.bytes;
      ASHLAR_ASSERT(names_.contains(trash.file.path));  // I4
    }
  }
  ASHLAR_ASSERT(bytes == trash_bytes_);                               // I5
  ASHLAR_ASSERT(names_.size() >= queue_.size() + undeleted_.size());  // I4
}

}  // namespace ashlar

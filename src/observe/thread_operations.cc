#include "observe/thread_operations.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"
#include "platform/clock.h"
#include "platform/thread.h"

namespace ashlar {

ThreadOperations::Operation::Operation(ThreadOperations* owner, ThreadStatus::OperationType type,
                                       const std::string& db_name, const std::string& cf_name,
                                       const Properties& properties)
    : owner_(owner) {
  std::list<Record> made(1);
  record_ = made.begin();
  record_->thread_id = CurrentThreadSystemId();
  record_->db_name = db_name;
  record_->cf_name = cf_name;
  record_->type = type;
  record_->start_nanos = MonotonicNanos();
  for (size_t i = 0; i < properties.size(); ++i)
    record_->properties[i].store(properties[i], std::memory_order_relaxed);
  const MutexLock lock(owner_->mutex_);
  owner_->operations_.splice(owner_->operations_.begin(), made);
  if constexpr (kDebugChecks) owner_->CheckInvariants();
}

ThreadOperations::Operation::~Operation() {
  std::list<Record> ended;  // freed without the mutex
  const MutexLock lock(owner_->mutex_);
  if constexpr (kDebugChecks) owner_->CheckInvariants();
  ended.splice(ended.begin(), owner_->operations_, record_);
}

void ThreadOperations::CheckInvariants() const {
  for (auto newer = operations_.begin(); newer != operations_.end(); ++newer) {
    ASHLAR_ASSERT(newer->thread_id != 0);  // I1
    const auto older = std::find_if(std::next(newer), operations_.end(), [&](const Record& record) {
      return record.thread_id == newer->thread_id;
    });
    ASHLAR_ASSERT(older == operations_.end() || older->start_nanos <= newer->start_nanos);  // I2
  }
}

ThreadStatus ThreadOperations::MakeStatus(const Record& record, ThreadStatus::ThreadType type) {
  Properties properties = {};
  for (size_t i = 0; i < properties.size(); ++i)
    properties[i] = record.properties[i].load(std::memory_order_relaxed);
  return ThreadStatus(record.thread_id, type, record.db_name, record.cf_name, record.type,
                      (MonotonicNanos() - record.start_nanos) / 1000,
                      record.stage.load(std::memory_order_relaxed), properties.data(),
                      ThreadStatus::STATE_UNKNOWN);
}

void ThreadOperations::List(std::span<const Worker> workers,
                            std::vector<ThreadStatus>* list) const {
  list->clear();
  const Properties none = {};
  const MutexLock lock(mutex_);
  for (const Worker& worker : workers) {
    const auto found = std::find_if(
        operations_.begin(), operations_.end(),
        [&](const Record& record) { return record.thread_id == worker.thread_id; });  // I2
    if (found != operations_.end()) {
      list->push_back(MakeStatus(*found, worker.type));
    } else {
      list->push_back(ThreadStatus(worker.thread_id, worker.type, "", "", ThreadStatus::OP_UNKNOWN,
                                   0, ThreadStatus::STAGE_UNKNOWN, none.data(),
                                   ThreadStatus::STATE_UNKNOWN));
    }
  }
  for (const Record& record : operations_) {
    const bool is_listed = std::any_of(list->begin(), list->end(), [&](const ThreadStatus& status) {
      return status.thread_id == record.thread_id;
    });
    if (!is_listed) list->push_back(MakeStatus(record, ThreadStatus::USER));
  }
}

}  // namespace ashlar

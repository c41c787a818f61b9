// ThreadOperations: the flushes and compactions that the threads of an executor run now, for
// Env::GetThreadList.
//
//   a job that is tracked:  Operation (constructor) ... SetStage, Add ... (destructor)
//   GetThreadList:          List, which joins the operations with the executor's threads
//
// I1: an operation is in the list from its construction to its destruction, under the thread that
//     constructed it.
// I2: if a thread has several operations, its status shows the one that began last.
//
// A job that is not tracked makes no Operation and costs nothing. Rejected: a record in each
// thread's slot, because readers would need a way to read names that change. Jobs take
// milliseconds, so a mutex that is locked twice per job is cheap.
//
// Thread safety: any thread. Lifetime: that of the executor. Operations end before it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "ashlar/thread_status.h"
#include "platform/mutex.h"

namespace ashlar {

class ThreadOperations {
 private:
  struct Record {
    uint64_t thread_id = 0;
    std::string db_name;
    std::string cf_name;
    ThreadStatus::OperationType type = ThreadStatus::OP_UNKNOWN;
    uint64_t start_nanos = 0;  // monotonic
    // Written by the job's threads, read by List. Relaxed, because the numbers are independent.
    std::atomic<ThreadStatus::OperationStage> stage{ThreadStatus::STAGE_UNKNOWN};
    std::array<std::atomic<uint64_t>, ThreadStatus::kNumOperationProperties> properties{};
  };

 public:
  using Properties = std::array<uint64_t, ThreadStatus::kNumOperationProperties>;

  // One thread of the executor.
  struct Worker {
    uint64_t thread_id = 0;
    ThreadStatus::ThreadType type = ThreadStatus::USER;
  };

  // One operation of the thread that constructs it. Any thread may call SetStage and Add.
  class Operation {
   public:
    Operation(ThreadOperations* owner, ThreadStatus::OperationType type, const std::string& db_name,
              const std::string& cf_name, const Properties& properties);
    ~Operation();
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    void SetStage(ThreadStatus::OperationStage stage) {
      record_->stage.store(stage, std::memory_order_relaxed);
    }
    void Add(int property, uint64_t n) {
      record_->properties[static_cast<size_t>(property)].fetch_add(n, std::memory_order_relaxed);
    }

   private:
    ThreadOperations* const owner_;
    std::list<Record>::iterator record_;
  };

  // Replaces *list with the workers, each with its operation, followed by the other threads that
  // have an operation.
  void List(std::span<const Worker> workers, std::vector<ThreadStatus>* list) const;

 private:
  static ThreadStatus MakeStatus(const Record& record, ThreadStatus::ThreadType type);
  // Asserts the order of the list, from which I2 follows.
  void CheckInvariants() const ASHLAR_REQUIRES(mutex_);

  mutable Mutex mutex_;                                     // a leaf
  std::list<Record> operations_ ASHLAR_GUARDED_BY(mutex_);  // the newest first
};

}  // namespace ashlar

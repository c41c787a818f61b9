// CommitQueue: orders the writers. A writer pushes its request onto a lock-free stack. A writer
// that finds the stack empty leads a group. The others spin briefly and then sleep until their
// request is done or they lead the next group.
//
//   newest_ -> W4 -> W3 -> W2 -> W1(leader)          older links, made by the pushes
//              W4 <- W3 <- W2 <- W1                  newer links, made by the leader
//
// I1: exactly one request leads while the queue is not empty, and only the leader unlinks requests.
// I2: groups are contiguous runs of the queue in push order, so the commit order is the push order.
// I3: a request is not accessed after its state becomes kDone, because it is on the stack of a
//     thread that then returns.
//
// Rejected: a mutex with a deque and a condition variable per writer. It costs a lock and usually a
// system call per write even without contention.
//
// Thread safety: Join from any thread; FormGroup and Finish by the leader.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ashlar/status.h"
#include "ashlar/types.h"
#include "base/assert.h"

namespace ashlar {

class WriteBatch;
struct FamilyTable;

struct CommitRequest {
  // The leader's task. All kinds are in one queue, so that no other request uses the log and the
  // memtables while one is executed.
  enum class Kind : uint8_t {
    kWrite,      // append, apply, publish
    kExclusive,  // run `exclusive` alone (memtable switch, log sync, ...)
  };

  Kind kind = Kind::kWrite;
  bool sync = false;
  bool disable_wal = false;
  bool no_slowdown = false;
  bool log_only = false;                     // kWrite: its batch is logged and not applied
  WriteBatch* batch = nullptr;               // kWrite
  size_t batch_bytes = 0;                    // kWrite
  Status (*exclusive)(void* arg) = nullptr;  // kExclusive
  void* exclusive_arg = nullptr;
  // kWrite: the leader calls it before the group is logged, with the families of that moment. An
  // error refuses this request alone. Null: nothing to check.
  Status (*check)(void* arg, const FamilyTable& families) = nullptr;
  void* check_arg = nullptr;
  SequenceNumber first_sequence = 0;  // set by the leader
  Status status;                      // the outcome of this request alone; set by the leader

  enum State : uint32_t {
    kWaiting,
    kSleeps,
    kLeads,
    kDone
  };  // kSleeps: waits, and needs a wake-up
  std::atomic<uint32_t> state{kWaiting};
  // Written before the push (release), read by the leader (acquire).
  CommitRequest* older = nullptr;
  CommitRequest* newer = nullptr;  // leader only

  // Prepares a request to join again. Requires: it has led and was finished without a commit.
  void Reset() {
    ASHLAR_DCHECK(kind == Kind::kWrite && status.ok());  // Requires
    state.store(kWaiting, std::memory_order_relaxed);
    older = nullptr;
    newer = nullptr;
  }
};

// Iterates its requests in queue order, until Finish: `for (CommitRequest& request : group)`.
struct CommitGroup {
  class Iterator {
   public:
    Iterator(CommitRequest* request, const CommitRequest* last) : request_(request), last_(last) {}
    CommitRequest& operator*() const { return *request_; }
    Iterator& operator++() {
      request_ = request_ == last_ ? nullptr : request_->newer;
      return *this;
    }
    bool operator==(const Iterator& other) const { return request_ == other.request_; }

   private:
    CommitRequest* request_;  // null: past the last one
    const CommitRequest* last_;
  };
  Iterator begin() const { return {first, last}; }
  Iterator end() const { return {nullptr, last}; }

  CommitRequest* first = nullptr;  // the leader
  CommitRequest* last = nullptr;
  size_t requests = 0;
  size_t bytes = 0;
  bool sync = false;
};

class CommitQueue {
 public:
  // Pushes the request and waits. Returns true if the caller leads and must call FormGroup and
  // Finish, and false if another leader has completed the request and set its status.
  bool Join(CommitRequest* request);
  // The leader and the requests after it, up to bytes_max, that can be committed with it. A
  // kExclusive request is always alone.
  CommitGroup FormGroup(CommitRequest* leader, size_t bytes_max);
  // Completes every follower and makes the next request the leader. Requires: the followers' status
  // is set.
  void Finish(const CommitGroup& group);

 private:
  static uint32_t Wait(CommitRequest* request);
  static void Wake(CommitRequest* request, uint32_t state);
  static void LinkNewer(CommitRequest* newest);
  // Asserts I1 and I2 of the queue as the leader sees it.
  void CheckInvariants(const CommitRequest& leader) const;

  std::atomic<CommitRequest*> newest_{nullptr};
};

}  // namespace ashlar

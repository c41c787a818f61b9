// CommitQueue: where writers meet. Writers push themselves onto a lock-free stack; whoever finds it
// empty leads a group, the others sleep until they are told that their request is done or that they
// lead the next group.
//
//   newest_ -> W4 -> W3 -> W2 -> W1(leader)          older links, made by the pushes
//              W4 <- W3 <- W2 <- W1                  newer links, made by the leader
//
// I1: exactly one request leads whenever the queue is not empty; only the leader unlinks requests.
// I2: groups are contiguous runs of the queue in push order, so the commit order is the push order.
// I3: a request is not touched after its state became kDone: it lives on the stack of a thread that
//     returns then.
//
// The simpler design, a mutex with a deque and a condition variable per writer, costs a lock and
// usually a system call per write even without contention. Thread safety: Join from any thread;
// FormGroup and Finish by the leader.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ashlar/status.h"
#include "ashlar/types.h"

namespace ashlar {

class WriteBatch;

struct CommitRequest {
  // What the leader has to do. All kinds go through one queue, so that each sees a quiet log and
  // memtable when its turn comes.
  enum class Kind : uint8_t {
    kWrite,      // append, apply, publish
    kExclusive,  // run `exclusive` alone (memtable switch, log sync, ...)
  };

  Kind kind = Kind::kWrite;
  bool sync = false;
  bool disable_wal = false;
  bool no_slowdown = false;
  WriteBatch* batch = nullptr;               // kWrite
  size_t batch_bytes = 0;                    // kWrite
  Status (*exclusive)(void* arg) = nullptr;  // kExclusive
  void* exclusive_arg = nullptr;
  SequenceNumber first_sequence = 0;  // set by the leader
  Status status;                      // set by the leader

  enum State : uint32_t {
    kWaiting,
    kSleeps,
    kLeads,
    kDone
  };  // kSleeps: waiting still, and has to be woken
  std::atomic<uint32_t> state{kWaiting};
  CommitRequest* older =
      nullptr;  // written before the push (release), read by the leader (acquire)
  CommitRequest* newer = nullptr;  // leader only

  // Makes a request that led, and was finished without being committed, ready to join again.
  void Reset() {
    state.store(kWaiting, std::memory_order_relaxed);
    older = nullptr;
    newer = nullptr;
  }
};

struct CommitGroup {
  CommitRequest* first = nullptr;  // the leader
  CommitRequest* last = nullptr;
  size_t requests = 0;
  size_t bytes = 0;
  bool sync = false;
};

class CommitQueue {
 public:
  // Pushes the request and waits. True: the caller leads and must call FormGroup and Finish. False:
  // another leader completed it; status is set.
  bool Join(CommitRequest* request);
  // The leader and the requests behind it, up to bytes_max, that can be committed with it. A
  // kExclusive request is always alone.
  CommitGroup FormGroup(CommitRequest* leader, size_t bytes_max);
  // Completes every follower (their status must be set) and passes the lead on.
  void Finish(const CommitGroup& group);

 private:
  static uint32_t Wait(CommitRequest* request);
  static void Wake(CommitRequest* request, uint32_t state);
  static void LinkNewer(CommitRequest* newest);

  std::atomic<CommitRequest*> newest_{nullptr};
};

}  // namespace ashlar

// ReadGuard: the epoch guard of a call that may wait for a file or for code of the program.
//
//   ReadGuard ──> inside ──Pause──> outside: read, open, merge ──~Pause──> inside
//                            └ the first Pause pins the root
//   inside ──~ReadGuard──> outside, pins released
//
// A guard that is held across a wait keeps in memory everything that is retired during the wait.
// Code that may wait therefore gets the guard of its call as an argument, keeps the objects that it
// uses, and waits inside a Pause. A call that never waits takes no count.
//
// I1: after a Pause, an object that was found before it is valid only if a count protects it: the
//     root, an object that the root owns, or one passed to Keep. Load all others again.
// I2: the destructor releases the counts after it has left the epoch, because destructors of the
//     owners may do I/O.
//
// Rejected: counts for every call, because a Get would pay for two counts. Rejected: starting over
// after the wait, because the wait may be for one of many tables and the next attempt may wait for
// another one.
//
// Thread safety: one thread. A Pause inside another guard of the thread in the same domain is
// correct but does not leave the epoch.
#pragma once

#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/pin.h"
#include "execute/epoch.h"

namespace ashlar {

class ReadGuard {
 public:
  explicit ReadGuard(const EpochDomain& domain) : domain_(domain) { entry_.Enter(domain); }
  // Leaves the epoch first (I2).
  ~ReadGuard() {
    entry_.Leave();
    if (kept_ != nullptr) [[unlikely]]
      ReleaseKept();
  }
  ReadGuard(const ReadGuard&) = delete;
  ReadGuard& operator=(const ReadGuard&) = delete;

  // Sets the object through which the call finds all others. The first Pause takes a count on it.
  // Requires: it was found inside this guard, and there was no Pause yet.
  void SetRoot(const PinSource& root) {
    ASHLAR_DCHECK(kept_ == nullptr);  // I1: the first Pause takes a count on the root
    root_ = root;
  }
  // Holds a count on an owner until the call ends. May be called before or inside a Pause.
  void Keep(Pin pin);
  // The number of pauses so far. Objects found at another number may be deleted (I1).
  uint32_t pauses() const { return pauses_; }

  // Leaves the epoch while this exists. Null means that the caller has no guard that can be left.
  class Pause {
   public:
    explicit Pause(ReadGuard* guard) : guard_(guard) {
      if (guard_ != nullptr) guard_->Leave();
    }
    ~Pause() {
      if (guard_ != nullptr) guard_->entry_.Enter(guard_->domain_);
    }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    ReadGuard* const guard_;
  };

 private:
  // A call that never waits pays for two pointers.
  using Kept = std::vector<Pin>;

  void KeepRoot();
  void Leave();
  void ReleaseKept();

  const EpochDomain& domain_;
  PinSource root_;
  uint32_t pauses_ = 0;
  Kept* kept_ = nullptr;  // owned; the root, then the kept objects; null: nothing kept
  EpochEntry entry_;
};

}  // namespace ashlar

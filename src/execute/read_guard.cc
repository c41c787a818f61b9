#include "execute/read_guard.h"

namespace ashlar {

void ReadGuard::KeepRoot() {
  if (kept_ != nullptr) return;
  kept_ = new Kept;
  kept_->push_back(root_.Acquire());
}

void ReadGuard::Keep(Pin pin) {
  KeepRoot();
  kept_->push_back(std::move(pin));
}

void ReadGuard::Leave() {
  KeepRoot();
  ++pauses_;
  entry_.Leave();
}

void ReadGuard::ReleaseKept() {
  // The root is released last, when nothing else refers to objects that only it kept alive.
  while (!kept_->empty()) kept_->pop_back();
  delete kept_;
}

}  // namespace ashlar

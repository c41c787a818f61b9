// CallbackState: the `state` of an object that a C program builds from functions. It is passed to
// the destructor function at the end.
#pragma once

namespace ashlar::capi {

class CallbackState {
 public:
  CallbackState(void* state, void (*destructor)(void*)) : state_(state), destructor_(destructor) {}
  ~CallbackState() {
    if (destructor_ != nullptr) destructor_(state_);
  }
  CallbackState(const CallbackState&) = delete;
  CallbackState& operator=(const CallbackState&) = delete;

  void* get() const { return state_; }

 private:
  void* const state_;
  void (*const destructor_)(void*);
};

}  // namespace ashlar::capi

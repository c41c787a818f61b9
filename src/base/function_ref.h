// FunctionRef: a reference to a callable, for use as a parameter. It allocates nothing and throws
// nothing, which std::function does not promise.
//
// Lifetime: the callable outlives the reference. A temporary argument lives until the call ends.
// Thread safety: that of the callable.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace ashlar {

template <typename Signature>
class FunctionRef;

template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
 public:
  template <typename Function>
    requires(!std::is_same_v<Function, FunctionRef>)
  // NOLINTNEXTLINE(google-explicit-constructor): an argument is passed as it is
  FunctionRef(const Function& function) noexcept
      : function_(std::addressof(function)), call_([](const void* object, Args... args) -> R {
          return (*static_cast<const Function*>(object))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(function_, std::forward<Args>(args)...); }

 private:
  const void* function_;
  R (*call_)(const void*, Args...);
};

}  // namespace ashlar

// Result<T>: a T, or the Status that says why there is none. Also defines the two macros that
// propagate errors.
//
//   Result<uint64_t> ParseSize(const Slice& text);
//   ASHLAR_ASSIGN_OR_RETURN(const uint64_t size, ParseSize(text));
//   ASHLAR_RETURN_IF_ERROR(file->Append(data));
//
// I1. A Result without a value holds a Status that is not ok.
// T may be move-only. Taking the value of a Result without one is a bug and aborts.
// Thread safety: a value; const access from several threads is safe.
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include "ashlar/status.h"
#include "base/assert.h"
#include "base/compiler.h"

namespace ashlar {

template <typename T>
class [[nodiscard]] Result {
  static_assert(std::is_object_v<T> && !std::same_as<std::remove_cv_t<T>, Status>,
                "Result holds an object that is not a Status");

 public:
  using value_type = T;

  // NOLINTBEGIN(google-explicit-constructor): a function returns a value or a status as it is
  Result(T value) : value_(std::move(value)) {}
  // Any type that converts to T in one step, for example unique_ptr<Derived> to unique_ptr<Base>.
  template <typename U>
    requires(std::convertible_to<U &&, T> && !std::convertible_to<U &&, Status> &&
             !std::same_as<std::remove_cvref_t<U>, Result>)
  Result(U&& value) : value_(std::in_place, std::forward<U>(value)) {}
  // Requires: status is not ok.
  Result(Status status) : status_(std::move(status)) {
    ASHLAR_ASSERT(!status_.ok());  // I1
  }
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  const Status& status() const& ASHLAR_LIFETIME_BOUND { return status_; }
  Status status() && { return std::move(status_); }

  T& value() & ASHLAR_LIFETIME_BOUND {
    ASHLAR_ASSERT(ok());  // Requires: a value
    return *value_;
  }
  const T& value() const& ASHLAR_LIFETIME_BOUND {
    ASHLAR_ASSERT(ok());  // the same
    return *value_;
  }
  T value() && {
    ASHLAR_ASSERT(ok());  // the same
    return std::move(*value_);
  }
  T& operator*() & ASHLAR_LIFETIME_BOUND { return value(); }
  const T& operator*() const& ASHLAR_LIFETIME_BOUND { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() ASHLAR_LIFETIME_BOUND { return &value(); }
  const T* operator->() const ASHLAR_LIFETIME_BOUND { return &value(); }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace ashlar

#define ASHLAR_CONCAT_INNER(a, b) a##b
#define ASHLAR_CONCAT(a, b) ASHLAR_CONCAT_INNER(a, b)

// Evaluates expr, a Status, and returns it from the enclosing function if it is an error.
#define ASHLAR_RETURN_IF_ERROR(expr)                                                           \
  do {                                                                                         \
    if (::ashlar::Status ashlar_status_ = (expr); !ashlar_status_.ok()) return ashlar_status_; \
  } while (false)

// Evaluates the Result after the declaration. Returns its Status if it is an error, otherwise
// initialises or assigns `decl` with its value. Expands to several statements, so it cannot be the
// sole body of an if. A declaration with a comma outside parentheses needs a type alias.
#define ASHLAR_ASSIGN_OR_RETURN(decl, ...) \
  ASHLAR_ASSIGN_OR_RETURN_INNER(ASHLAR_CONCAT(ashlar_result_, __LINE__), decl, __VA_ARGS__)
#define ASHLAR_ASSIGN_OR_RETURN_INNER(result, decl, ...) \
  auto result = (__VA_ARGS__);                           \
  if (!result.ok()) return std::move(result).status();   \
  decl = std::move(result).value()

// Converts between Java's numbers and the engine's. Enumerations have the same values in Java,
// except where there is a specialisation below.
#pragma once

#include <jni.h>

#include <chrono>
#include <type_traits>

#include "ashlar/compression_type.h"

namespace ashlar::java {

template <typename T, typename J>
T FromJava(J value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_same_v<T, CompressionType>) {
    // Java uses 0x7f, because its byte cannot hold 0xff.
    return value == 0x7f ? kDisableCompressionOption : static_cast<CompressionType>(value);
  } else if constexpr (std::is_same_v<T, std::chrono::microseconds>) {
    return std::chrono::microseconds(value);
  } else {
    return static_cast<T>(value);
  }
}

template <typename J, typename T>
J ToJava(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? JNI_TRUE : JNI_FALSE;
  } else if constexpr (std::is_same_v<T, CompressionType>) {
    return value == kDisableCompressionOption ? J{0x7f} : static_cast<J>(value);
  } else if constexpr (std::is_same_v<T, std::chrono::microseconds>) {
    return static_cast<J>(value.count());
  } else {
    return static_cast<J>(value);
  }
}

}  // namespace ashlar::java

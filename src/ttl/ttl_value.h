// The values of a DBWithTTL on disk.
//
//   value of the program | fixed32 seconds since 1970 of the write
//
// RocksDB reads the seconds as a signed number and treats times before kTtlFirstSecond as damage.
// Ashlar does the same, but with an unsigned number.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/env.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "base/coding.h"

namespace ashlar {

inline constexpr size_t kTtlSuffixBytes = 4;
inline constexpr uint32_t kTtlFirstSecond = 1368146402;  // in May 2013

// The time of a write, in seconds since 1970.
inline uint32_t TtlNow(Env* env) { return static_cast<uint32_t>(env->NowMicros() / 1000000); }

inline void AppendTtlSuffix(uint32_t seconds, std::string* value) { PutFixed32(value, seconds); }

inline bool HasTtlSuffix(const Slice& stored) {
  return stored.size() >= kTtlSuffixBytes &&
         DecodeFixed32(stored.data() + stored.size() - kTtlSuffixBytes) >= kTtlFirstSecond;
}
// Requires: HasTtlSuffix.
inline uint32_t TtlSeconds(const Slice& stored) {
  return DecodeFixed32(stored.data() + stored.size() - kTtlSuffixBytes);
}
// The value of the program, in the same memory. Requires: at least kTtlSuffixBytes.
inline Slice WithoutTtlSuffix(const Slice& stored) {
  return {stored.data(), stored.size() - kTtlSuffixBytes};
}
inline Status CheckTtlSuffix(const Slice& stored) {
  if (HasTtlSuffix(stored)) [[likely]]
    return Status::OK();
  return Status::Corruption(
      stored.size() < kTtlSuffixBytes
          ? "a value is too short to end in the time of its write; was it written by DB::Open?"
          : "a value does not end in the time of its write; was it written by DB::Open?");
}

}  // namespace ashlar

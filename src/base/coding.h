// Integers and strings as bytes, the way every file of the engine stores them.
//
//   fixed16/32/64    little-endian
//   varint32/64      groups of 7 bits, lowest first; bit 7 of a byte says that another follows; at
//                    most 5 / 10 bytes
//   zigzag           0, -1, 1, -2, ... as 0, 1, 2, 3, ..., so that small negative numbers make
//                    short varints
//   length-prefixed  varint32 length, then the bytes
//   big-endian head  the first eight bytes of a key as an integer that sorts as the bytes do
//
// I1. Get* and Get*Ptr never read past the end of their input and accept no varint that is too long
//     or whose value does not fit. On failure they return false or nullptr and leave the input
//     unchanged.
// I2. A varint with needless trailing zero groups is accepted (RocksDB does too); the encoders
//     never write one.
// Thread safety: pure functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "ashlar/slice.h"
#include "base/compiler.h"

namespace ashlar {

inline constexpr size_t kVarint32BytesMax = 5;
inline constexpr size_t kVarint64BytesMax = 10;

constexpr uint16_t ByteSwap16(uint16_t v) { return static_cast<uint16_t>((v << 8) | (v >> 8)); }
constexpr uint32_t ByteSwap32(uint32_t v) {
  return (v << 24) | ((v & 0xff00u) << 8) | ((v >> 8) & 0xff00u) | (v >> 24);
}
constexpr uint64_t ByteSwap64(uint64_t v) {
  return (static_cast<uint64_t>(ByteSwap32(static_cast<uint32_t>(v))) << 32) |
         ByteSwap32(static_cast<uint32_t>(v >> 32));
}

// --- fixed width ---

inline void EncodeFixed16(char* p, uint16_t v) {
  if constexpr (std::endian::native == std::endian::big) v = ByteSwap16(v);
  memcpy(p, &v, sizeof(v));
}
inline void EncodeFixed32(char* p, uint32_t v) {
  if constexpr (std::endian::native == std::endian::big) v = ByteSwap32(v);
  memcpy(p, &v, sizeof(v));
}
inline void EncodeFixed64(char* p, uint64_t v) {
  if constexpr (std::endian::native == std::endian::big) v = ByteSwap64(v);
  memcpy(p, &v, sizeof(v));
}
inline uint16_t DecodeFixed16(const char* p) {
  uint16_t v;
  memcpy(&v, p, sizeof(v));
  return std::endian::native == std::endian::big ? ByteSwap16(v) : v;
}
inline uint32_t DecodeFixed32(const char* p) {
  uint32_t v;
  memcpy(&v, p, sizeof(v));
  return std::endian::native == std::endian::big ? ByteSwap32(v) : v;
}
inline uint64_t DecodeFixed64(const char* p) {
  uint64_t v;
  memcpy(&v, p, sizeof(v));
  return std::endian::native == std::endian::big ? ByteSwap64(v) : v;
}

inline void PutFixed32(std::string* out, uint32_t v) {
  char buffer[sizeof(v)];
  EncodeFixed32(buffer, v);
  out->append(buffer, sizeof(v));
}
inline void PutFixed64(std::string* out, uint64_t v) {
  char buffer[sizeof(v)];
  EncodeFixed64(buffer, v);
  out->append(buffer, sizeof(v));
}

[[nodiscard]] inline bool GetFixed32(Slice* input, uint32_t* v) {
  if (input->size() < sizeof(*v)) return false;
  *v = DecodeFixed32(input->data());
  input->remove_prefix(sizeof(*v));
  return true;
}
[[nodiscard]] inline bool GetFixed64(Slice* input, uint64_t* v) {
  if (input->size() < sizeof(*v)) return false;
  *v = DecodeFixed64(input->data());
  input->remove_prefix(sizeof(*v));
  return true;
}

// --- variable width ---

// Writes v at p and returns the end of the written bytes. Requires: p has room for
// kVarint64BytesMax bytes (kVarint32BytesMax for the 32-bit form).
inline char* EncodeVarint64(char* p, uint64_t v) {
  while (v >= 0x80) {
    *p++ = static_cast<char>(static_cast<uint8_t>(v) | 0x80u);
    v >>= 7;
  }
  *p++ = static_cast<char>(v);
  return p;
}
inline char* EncodeVarint32(char* p, uint32_t v) { return EncodeVarint64(p, v); }

// The bytes that v takes as a varint, 1 to 10.
constexpr size_t VarintLength(uint64_t v) {
  // ceil(bits / 7) for 1 to 64 bits, without a division by 7.
  return (9 * static_cast<size_t>(std::bit_width(v | 1)) + 64) / 64;
}

inline void PutVarint32(std::string* out, uint32_t v) {
  char buffer[kVarint32BytesMax];
  out->append(buffer, static_cast<size_t>(EncodeVarint32(buffer, v) - buffer));
}
inline void PutVarint64(std::string* out, uint64_t v) {
  char buffer[kVarint64BytesMax];
  out->append(buffer, static_cast<size_t>(EncodeVarint64(buffer, v) - buffer));
}

// For varints of more than one byte. Callers use GetVarint*Ptr.
const char* GetVarint32PtrSlow(const char* p, const char* limit, uint32_t* v);
const char* GetVarint64PtrSlow(const char* p, const char* limit, uint64_t* v);

// Parses at p and reads nothing at or after limit. Returns the first byte after the varint, or
// nullptr.
inline const char* GetVarint32Ptr(const char* p, const char* limit, uint32_t* v) {
  if (ASHLAR_LIKELY(p < limit)) {
    const auto byte = static_cast<uint8_t>(*p);
    if (ASHLAR_LIKELY(byte < 0x80)) {
      *v = byte;
      return p + 1;
    }
  }
  return GetVarint32PtrSlow(p, limit, v);
}
inline const char* GetVarint64Ptr(const char* p, const char* limit, uint64_t* v) {
  if (ASHLAR_LIKELY(p < limit)) {
    const auto byte = static_cast<uint8_t>(*p);
    if (ASHLAR_LIKELY(byte < 0x80)) {
      *v = byte;
      return p + 1;
    }
  }
  return GetVarint64PtrSlow(p, limit, v);
}

[[nodiscard]] inline bool GetVarint32(Slice* input, uint32_t* v) {
  const char* end = GetVarint32Ptr(input->data(), input->data() + input->size(), v);
  if (end == nullptr) return false;
  input->remove_prefix(static_cast<size_t>(end - input->data()));
  return true;
}
[[nodiscard]] inline bool GetVarint64(Slice* input, uint64_t* v) {
  const char* end = GetVarint64Ptr(input->data(), input->data() + input->size(), v);
  if (end == nullptr) return false;
  input->remove_prefix(static_cast<size_t>(end - input->data()));
  return true;
}

constexpr uint64_t ZigZagEncode(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ (v < 0 ? ~uint64_t{0} : 0);
}
constexpr int64_t ZigZagDecode(uint64_t v) {
  return static_cast<int64_t>((v >> 1) ^ ((v & 1) != 0 ? ~uint64_t{0} : 0));
}

inline void PutZigZag64(std::string* out, int64_t v) { PutVarint64(out, ZigZagEncode(v)); }

// --- strings ---

// Requires: s is shorter than 4 GiB.
void PutLengthPrefixedSlice(std::string* out, const Slice& s);
// *s points into the input's bytes.
[[nodiscard]] inline bool GetLengthPrefixedSlice(Slice* input, Slice* s) {
  uint32_t n;
  const char* limit = input->data() + input->size();
  const char* p = GetVarint32Ptr(input->data(), limit, &n);
  if (p == nullptr || static_cast<size_t>(limit - p) < n) return false;
  *s = Slice(p, n);
  *input = Slice(p + n, static_cast<size_t>(limit - p) - n);
  return true;
}

// --- heads of keys ---

inline uint64_t LoadBigEndian64(const char* p) {
  uint64_t v;
  memcpy(&v, p, sizeof(v));
  return std::endian::native == std::endian::little ? ByteSwap64(v) : v;
}
inline uint32_t LoadBigEndian32(const char* p) {
  uint32_t v;
  memcpy(&v, p, sizeof(v));
  return std::endian::native == std::endian::little ? ByteSwap32(v) : v;
}
inline void StoreBigEndian64(char* p, uint64_t v) {
  if constexpr (std::endian::native == std::endian::little) v = ByteSwap64(v);
  memcpy(p, &v, sizeof(v));
}

// The first min(8, n) bytes at p as a big-endian integer, padded with zeros. If LoadHead(a) <
// LoadHead(b) then a < b bytewise; if they are equal, the following bytes and the lengths decide.
// Reads nothing outside [p, p + n).
inline uint64_t LoadHead(const char* p, size_t n) {
  if (ASHLAR_LIKELY(n >= 8)) return LoadBigEndian64(p);
  // Two overlapping loads cover 4 to 7 bytes, and three cover 1 to 3. There is no loop, and no byte
  // outside the key is read.
  if (n >= 4) {
    const uint64_t first = LoadBigEndian32(p);
    const uint64_t last = LoadBigEndian32(p + n - 4);
    return (first << 32) | (last << (64 - 8 * n));
  }
  if (n == 0) return 0;
  const auto byte = [p](size_t i) { return uint64_t{static_cast<uint8_t>(p[i])}; };
  return (byte(0) << 56) | (byte(n / 2) << (56 - 8 * (n / 2))) |
         (byte(n - 1) << (56 - 8 * (n - 1)));
}

}  // namespace ashlar

#include "tests/out_of_memory/failing_new.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace ashlar {
namespace {

struct State {
  uint64_t fails_at = 0;
  FailingNew::Kind kind = FailingNew::Kind::kOnce;
  uint64_t count = 0;
  bool counting = false;
  bool failing = false;  // kUntilEnds: the rest of this scope fails
  bool has_failed = false;
};

constinit thread_local State g_state;

bool Fails() {
  State& state = g_state;
  if (!state.counting) return false;
  ++state.count;
  if (state.count == state.fails_at) {
    state.has_failed = true;
    state.failing = state.kind == FailingNew::Kind::kUntilEnds;
    return true;
  }
  return state.failing;
}

}  // namespace

void FailingNew::Arm(uint64_t number, Kind kind) {
  g_state = {.fails_at = number, .kind = kind, .counting = g_state.counting};
}
bool FailingNew::HasFailed() { return g_state.has_failed; }
uint64_t FailingNew::Count() { return g_state.count; }

FailingNew::Scope::Scope() { g_state.counting = true; }
FailingNew::Scope::~Scope() {
  g_state.counting = false;
  g_state.failing = false;
}

namespace {

// malloc's memory has this alignment.
constexpr bool IsAlignedByMalloc(std::size_t alignment) {
  return alignment <= alignof(std::max_align_t);
}

// Memory of a larger alignment is a part of malloc's memory, whose address precedes it. Not every
// system frees aligned memory like other memory.
void* AllocateOrNull(std::size_t bytes, std::size_t alignment) {
  if (Fails()) return nullptr;
  if (bytes == 0) bytes = 1;
  if (IsAlignedByMalloc(alignment)) return std::malloc(bytes);
  std::size_t room = bytes + alignment;
  void* const allocated = std::malloc(sizeof(allocated) + room);
  if (allocated == nullptr) return nullptr;
  void* aligned = static_cast<char*>(allocated) + sizeof(allocated);
  aligned = std::align(alignment, bytes, aligned, room);
  memcpy(static_cast<char*>(aligned) - sizeof(allocated), &allocated, sizeof(allocated));
  return aligned;
}

void Free(void* memory, std::align_val_t alignment) {
  if (memory != nullptr && !IsAlignedByMalloc(static_cast<std::size_t>(alignment)))
    memcpy(&memory, static_cast<char*>(memory) - sizeof(memory), sizeof(memory));
  std::free(memory);
}

void* AllocateOrThrow(std::size_t bytes, std::size_t alignment) {
  void* const memory = AllocateOrNull(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace
}  // namespace ashlar

using ashlar::AllocateOrNull;
using ashlar::AllocateOrThrow;
using ashlar::Free;

void* operator new(std::size_t n) { return AllocateOrThrow(n, 1); }
void* operator new[](std::size_t n) { return AllocateOrThrow(n, 1); }
void* operator new(std::size_t n, std::align_val_t a) {
  return AllocateOrThrow(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return AllocateOrThrow(n, static_cast<std::size_t>(a));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return AllocateOrNull(n, 1); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return AllocateOrNull(n, 1); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return AllocateOrNull(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return AllocateOrNull(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t a) noexcept { Free(p, a); }
void operator delete[](void* p, std::align_val_t a) noexcept { Free(p, a); }
void operator delete(void* p, std::size_t, std::align_val_t a) noexcept { Free(p, a); }
void operator delete[](void* p, std::size_t, std::align_val_t a) noexcept { Free(p, a); }

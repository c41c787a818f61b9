// The functions that code compiled with -fsanitize=thread calls. Each atomic operation is a point
// of the scheduler, and is then executed. Names and signatures are those of the compilers' runtime
// (compiler-rt, sanitizer/tsan_interface_atomic.h). Plain loads and stores are not points.
#include <cstddef>
#include <cstdint>

#include "tests/schedule/task.h"

namespace {

inline void BeforeAtomic() {
  using namespace ashlar::test::schedule;
  if (current == nullptr) return;
  if (operations_until_point > 1) {
    --operations_until_point;
    return;
  }
  Point();
}

}  // namespace

#define ASHLAR_FETCH(bits, name)                                                    \
  uint##bits##_t __tsan_atomic##bits##_fetch_##name(volatile uint##bits##_t* place, \
                                                    uint##bits##_t value, int) {    \
    BeforeAtomic();                                                                 \
    return __atomic_fetch_##name(place, value, __ATOMIC_SEQ_CST);                   \
  }
#define ASHLAR_COMPARE_EXCHANGE(bits, strength, weak)                                             \
  int __tsan_atomic##bits##_compare_exchange_##strength(                                          \
      volatile uint##bits##_t* place, uint##bits##_t* expected, uint##bits##_t value, int, int) { \
    BeforeAtomic();                                                                               \
    return __atomic_compare_exchange_n(place, expected, value, weak, __ATOMIC_SEQ_CST,            \
                                       __ATOMIC_SEQ_CST);                                         \
  }
#define ASHLAR_ATOMICS(bits)                                                                     \
  uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t* place, int) {         \
    BeforeAtomic();                                                                              \
    return __atomic_load_n(place, __ATOMIC_SEQ_CST);                                             \
  }                                                                                              \
  void __tsan_atomic##bits##_store(volatile uint##bits##_t* place, uint##bits##_t value, int) {  \
    BeforeAtomic();                                                                              \
    __atomic_store_n(place, value, __ATOMIC_SEQ_CST);                                            \
  }                                                                                              \
  uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t* place,                  \
                                                uint##bits##_t value, int) {                     \
    BeforeAtomic();                                                                              \
    return __atomic_exchange_n(place, value, __ATOMIC_SEQ_CST);                                  \
  }                                                                                              \
  ASHLAR_FETCH(bits, add)                                                                        \
  ASHLAR_FETCH(bits, sub)                                                                        \
  ASHLAR_FETCH(bits, and)                                                                        \
  ASHLAR_FETCH(bits, or)                                                                         \
  ASHLAR_FETCH(bits, xor)                                                                        \
  ASHLAR_COMPARE_EXCHANGE(bits, strong, false)                                                   \
  ASHLAR_COMPARE_EXCHANGE(bits, weak, true)                                                      \
  uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                     \
      volatile uint##bits##_t* place, uint##bits##_t expected, uint##bits##_t value, int, int) { \
    BeforeAtomic();                                                                              \
    __atomic_compare_exchange_n(place, &expected, value, false, __ATOMIC_SEQ_CST,                \
                                __ATOMIC_SEQ_CST);                                               \
    return expected;                                                                             \
  }

#define ASHLAR_IGNORED(name) \
  void name(void*) {}
#define ASHLAR_IGNORED_ACCESSES(bytes)         \
  ASHLAR_IGNORED(__tsan_read##bytes)           \
  ASHLAR_IGNORED(__tsan_write##bytes)          \
  ASHLAR_IGNORED(__tsan_unaligned_read##bytes) \
  ASHLAR_IGNORED(__tsan_unaligned_write##bytes)

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
void __tsan_init();
void __tsan_init() {}
ASHLAR_ATOMICS(8)
ASHLAR_ATOMICS(16)
ASHLAR_ATOMICS(32)
ASHLAR_ATOMICS(64)
void __tsan_atomic_thread_fence(int) { BeforeAtomic(); }
void __tsan_atomic_signal_fence(int) {}
ASHLAR_IGNORED_ACCESSES(1)
ASHLAR_IGNORED_ACCESSES(2)
ASHLAR_IGNORED_ACCESSES(4)
ASHLAR_IGNORED_ACCESSES(8)
ASHLAR_IGNORED_ACCESSES(16)
ASHLAR_IGNORED(__tsan_func_entry)
ASHLAR_IGNORED(__tsan_vptr_read)
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_read_range(void*, size_t) {}
void __tsan_write_range(void*, size_t) {}
// NOLINTEND(bugprone-reserved-identifier)
}

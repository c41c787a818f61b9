// Names for clang's thread-safety analysis (-Wthread-safety). Under other compilers they expand to
// nothing.
//
// A member declares which mutex guards it (GUARDED_BY). A function declares which mutexes its
// caller must hold (REQUIRES) or must not hold (EXCLUDES). The analysis then rejects an access or a
// call without the lock at compile time.
#pragma once

#if defined(__clang__)
#define ASHLAR_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define ASHLAR_THREAD_ANNOTATION(x)
#endif

#define ASHLAR_CAPABILITY(name) ASHLAR_THREAD_ANNOTATION(capability(name))
#define ASHLAR_SCOPED_CAPABILITY ASHLAR_THREAD_ANNOTATION(scoped_lockable)

#define ASHLAR_GUARDED_BY(mutex) ASHLAR_THREAD_ANNOTATION(guarded_by(mutex))
#define ASHLAR_PT_GUARDED_BY(mutex) ASHLAR_THREAD_ANNOTATION(pt_guarded_by(mutex))
#define ASHLAR_ACQUIRED_BEFORE(...) ASHLAR_THREAD_ANNOTATION(acquired_before(__VA_ARGS__))
#define ASHLAR_ACQUIRED_AFTER(...) ASHLAR_THREAD_ANNOTATION(acquired_after(__VA_ARGS__))

#define ASHLAR_REQUIRES(...) ASHLAR_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define ASHLAR_EXCLUDES(...) ASHLAR_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

#define ASHLAR_ACQUIRE(...) ASHLAR_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define ASHLAR_RELEASE(...) ASHLAR_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define ASHLAR_TRY_ACQUIRE(...) ASHLAR_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define ASHLAR_ASSERT_CAPABILITY(x) ASHLAR_THREAD_ANNOTATION(assert_capability(x))
#define ASHLAR_RETURN_CAPABILITY(x) ASHLAR_THREAD_ANNOTATION(lock_returned(x))

// For a function whose locking the analysis cannot follow; give the reason in a comment.
#define ASHLAR_NO_THREAD_SAFETY_ANALYSIS ASHLAR_THREAD_ANNOTATION(no_thread_safety_analysis)

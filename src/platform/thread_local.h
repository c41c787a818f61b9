// ASHLAR_TLS_MODEL: the attribute of thread-local variables on hot paths.
//
//   extern constinit thread_local Thing* current ASHLAR_TLS_MODEL;
//
// The initial-exec model makes an access one load relative to the thread register, also in the
// shared library. Such variables take space that the C library sets aside for libraries loaded by
// dlopen: a few hundred bytes in all.
#pragma once

#if defined(__GNUC__) && !defined(_WIN32)
#define ASHLAR_TLS_MODEL __attribute__((tls_model("initial-exec")))
#else
#define ASHLAR_TLS_MODEL
#endif

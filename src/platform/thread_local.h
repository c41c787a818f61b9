// ASHLAR_TLS_MODEL: the attribute of thread-local variables on hot paths.
//
//   extern constinit thread_local Thing* current ASHLAR_TLS_MODEL;
//
// With the initial-exec model an access is one load relative to the thread register, even in the
// shared library. Such variables use space that the C library reserves for libraries loaded by
// dlopen, which is a few hundred bytes in all.
#pragma once

#if defined(__GNUC__) && !defined(_WIN32)
#define ASHLAR_TLS_MODEL __attribute__((tls_model("initial-exec")))
#else
#define ASHLAR_TLS_MODEL
#endif

// Marks the symbols that libashlar exports. Everything without the mark is hidden.
// ASHLAR_API_PRINTF: the positions, from 1, of a format of printf and of its first argument, for
// the compiler to compare.
#pragma once

#if defined(__GNUC__)
#define ASHLAR_API_PRINTF(format_position, first_argument) \
  __attribute__((format(printf, format_position, first_argument)))
#else
#define ASHLAR_API_PRINTF(format_position, first_argument)
#endif

#if defined(_MSC_VER) || defined(__MINGW32__)
#if defined(ASHLAR_STATIC)
#define ASHLAR_API
#elif defined(__cplusplus) && !defined(_MSC_VER)
#if defined(ASHLAR_BUILDING)
#define ASHLAR_API [[gnu::dllexport]]
#else
#define ASHLAR_API [[gnu::dllimport]]
#endif
#elif defined(ASHLAR_BUILDING)
#define ASHLAR_API __declspec(dllexport)
#else
#define ASHLAR_API __declspec(dllimport)
#endif
#elif defined(__cplusplus)
#define ASHLAR_API [[gnu::visibility("default")]]
#else
#define ASHLAR_API __attribute__((visibility("default")))
#endif

// Marks the symbols that libashlar exports; everything else is hidden. ASHLAR_API_PRINTF gives the
// positions, from 1, of a printf format and of its first argument, so that the compiler checks
// them.
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

// Marks the symbols that libashlar exports. Everything without the mark is hidden.
#pragma once

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

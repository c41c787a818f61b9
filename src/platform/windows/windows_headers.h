// <windows.h> without its macros named min and max, without those that would rename functions of
// Ashlar, and without parts that this folder does not use. For this folder and the Windows tests.
#pragma once

#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#undef RemoveDirectory

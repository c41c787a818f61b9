// Places: where this checkout and this build are, for tests that read their files.
//
// places.cc alone is compiled with the paths, so that the compiler cache serves all other tests to
// every checkout.
#pragma once

namespace ashlar {

// The absolute path of the root of the source tree.
extern const char kSourceDir[];
// The absolute path of the root of the build tree; the command-line tool is in it.
extern const char kBuildDir[];
// The file of the shared library in it.
extern const char kSharedLibrary[];

}  // namespace ashlar

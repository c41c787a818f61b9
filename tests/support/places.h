// Places: where this checkout and this build are, for tests that read their files.
//
// Only places.cc is compiled with the paths, so that the compiler cache can serve all other tests
// to every checkout.
#pragma once

namespace ashlar {

// The absolute path of the root of the source tree.
extern const char kSourceDir[];
// The absolute path of the root of the build tree, which contains the command-line tool.
extern const char kBuildDir[];
// The path of the shared library in the build tree.
extern const char kSharedLibrary[];

}  // namespace ashlar

// The rules on the shape of the code. Each function takes the complete tree and returns its
// violations, each as "path:line: reason".
//
// Layers (docs/architecture.md): every folder of src/ has a number. A file may include its own
// folder, folders with a lower number, and the public headers. Two folders with the same number may
// not include each other.
#pragma once

#include <string>
#include <vector>

#include "tests/structure/source_tree.h"

namespace ashlar::structure {

using Violations = std::vector<std::string>;

// Includes.
Violations CheckLayers(
    const SourceTree&
        tree);  // src/ by number; include/ only itself; examples/ only the public headers
Violations CheckIncludesExist(const SourceTree& tree);   // "quoted" names are files of the tree
Violations CheckNoHeaderCycles(const SourceTree& tree);  // among headers
Violations CheckNoPairCycles(
    const SourceTree& tree);  // among the .h and .cc pairs of src/, each pair counted as one
Violations CheckNoFolderCycles(
    const SourceTree& tree);  // among folders, each sub-folder counted by itself; tests left out
Violations CheckOperatingSystem(
    const SourceTree&
        tree);  // its macros: only in src/platform; its headers: there, in tools and in tests

// Text.
Violations CheckLines(
    const SourceTree& tree);  // code of every language: no tabs, trailing blanks or carriage
                              // returns; at most kLineColumnsMax columns, except for one word
Violations CheckDocuments(
    const SourceTree&
        tree);  // documents: at most kLineColumnsMax columns, except for tables, code and one word
Violations CheckBanners(
    const SourceTree& tree);  // comments that begin in column 1: at most kBannerLinesMax lines
Violations CheckNoLeftovers(const SourceTree& tree);  // no notes for later
Violations CheckLocks(
    const SourceTree& tree);  // src/ (above base) and tools/ lock and wait through src/platform
Violations CheckAssertions(const SourceTree& tree);  // conditions of assertions have no side effect
Violations CheckPaths(
    const SourceTree& tree);  // src/ and tools/ open and inspect files through src/platform
Violations CheckGuardedMembers(
    const SourceTree& tree);  // only the listed users access members whose lock they cannot name
Violations CheckHeaderShape(
    const SourceTree& tree);  // a header begins with a comment, then #pragma once
Violations CheckFolderReadme(
    const SourceTree& tree);  // a folder with code has a README.md; not include/
Violations CheckOptionLists(
    const SourceTree& tree);  // docs/compatibility.md lists each option of src/config by its kind
Violations CheckCounterLists(
    const SourceTree&
        tree);  // docs/observability.md names the counters that src/ counts and no others

inline constexpr size_t kLineColumnsMax = 100;
inline constexpr size_t kBannerLinesMax = 25;

}  // namespace ashlar::structure

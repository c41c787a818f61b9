// The order of the files of an import. What a lookup finds first must be the newest.
//
//   level 0    [ a@9  c@4 ]     a lookup searches from here downwards, and ends at the first file
//              [ b@5 ]          that has the key
//   level 1    [ a@3 | b@4 ]    an iterator compares the sequences of all
//
// I1: for each user key in two files, all versions and range tombstones in the one searched first
//     are newer than all versions in the other. Also, all versions in the first are newer than all
//     range tombstones in the other. A compaction that does not read the other relies on this.
// I2: on level 0 the sequences of two files with common user keys do not overlap, except for two
//     traces of ingestions. So the order by sequences survives a compaction that drops some.
//
// For most pairs the sequences prove I1. The entries of the others are read, because levels come
// from outside and the sequences of two levels often interleave.
//
// Thread safety: pure, except that files are read.
#pragma once

#include <span>

#include "ashlar/status.h"
#include "lsm/imported_file.h"

namespace ashlar {

// Requires: files from InspectImportedFile. Returns InvalidArgument, with the names, if two files
// of a sorted level overlap or two files break I1 or I2. Returns NotSupported if epoch numbers and
// sequences order two files of level 0 with common keys differently.
Status CheckImportedOrder(const ImportedFileArgs& args, std::span<const ImportedFile> files);

}  // namespace ashlar

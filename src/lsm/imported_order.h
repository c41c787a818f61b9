// The order of the files of an import: what a lookup finds first has to be the newest.
//
//   level 0    [ a@9  c@4 ]     a lookup searches from here downwards, and ends at the first file
//              [ b@5 ]          that has the key
//   level 1    [ a@3 | b@4 ]    an iterator compares the sequences of all
//
// I1: of two files with common user keys, each version and range tombstone in the one that is
//     searched first is newer than each version in the other. So is each version in the first than
//     each range tombstone in the other. A compaction that does not read the other relies on it.
// I2: on level 0 the sequences of two files with common user keys do not overlap, except for two
//     traces of ingestions. So the order that sequences give survives a compaction that drops some.
//
// Most pairs prove I1 by their sequences. The entries of the others are read: levels come from
// outside, and the sequences of two levels are often interleaved.
//
// Thread safety: pure, except that files are read.
#pragma once

#include <span>

#include "ashlar/status.h"
#include "lsm/imported_file.h"

namespace ashlar {

// Of files from InspectImportedFile. InvalidArgument naming two files of a sorted level that
// overlap, or two files that break I1 or I2. NotSupported if epoch numbers order two files of level
// 0 with common keys otherwise than their sequences.
Status CheckImportedOrder(const ImportedFileArgs& args, std::span<const ImportedFile> files);

}  // namespace ashlar

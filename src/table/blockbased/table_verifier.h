// VerifyTable: reads every block of a table and checks what no reader checks on its way.
//
//   every block     its checksum
//   every entry     its type is supported; its key is larger than the one before it, and not larger
//                   than the separator of its block
//   the table       it has as many entries as its properties say
//
// Blocks are read from the file, also those that are cached, and are not offered to the cache.
// Thread safety: concurrent with readers of the table.
#pragma once

#include "ashlar/status.h"

namespace ashlar {

class BlockBasedTable;

Status VerifyTable(BlockBasedTable* table);

}  // namespace ashlar

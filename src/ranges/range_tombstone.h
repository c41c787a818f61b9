// RangeTombstone: one range deletion as a value.
//
// It deletes the entries of the user keys in [begin, end) whose sequence is smaller than its own.
//
// I1: begin < end in the order of the column family. Readers of files and batches check it.
// Thread safety: a value. Lifetime: the bytes of the keys outlive it.
#pragma once

#include "ashlar/slice.h"
#include "key/internal_key.h"

namespace ashlar {

struct RangeTombstone {
  Slice begin;
  Slice end;
  SequenceNumber sequence = 0;
};

}  // namespace ashlar

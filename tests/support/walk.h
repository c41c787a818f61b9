// Returns the entries of an iterator as text.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ashlar/iterator.h"
#include "tests/support/expect_ok.h"

namespace ashlar::test {

// Returns "a=1 b=2 " from a forward scan, and expects a backward scan to return the same.
inline std::string WalkBothWays(Iterator* it) {
  std::string forward;
  for (it->SeekToFirst(); it->Valid(); it->Next())
    forward += it->key().ToString() + "=" + it->value().ToString() + " ";
  EXPECT_OK(it->status());
  std::string backward;
  for (it->SeekToLast(); it->Valid(); it->Prev())
    backward = it->key().ToString() + "=" + it->value().ToString() + " " + backward;
  EXPECT_OK(it->status());
  EXPECT_EQ(forward, backward);
  return forward;
}

}  // namespace ashlar::test

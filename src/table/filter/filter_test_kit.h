// For the tests of filters: a filter block as a string.
#pragma once

#include <string>

#include "table/filter/filter_builder.h"

namespace ashlar::test {

inline std::string FinishFilter(FilterBuilder* builder) {
  std::string block(builder->BlockBytesMax(), 'x');
  block.resize(builder->Finish(block.data()));
  return block;
}

}  // namespace ashlar::test

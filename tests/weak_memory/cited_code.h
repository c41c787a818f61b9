// CitedCode: the lines of a source that the steps of a model are taken from. A model is worth as
// much as its likeness to the code: when the code changes, its test fails and the model is looked
// at.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ashlar {

// Whether the texts occur in this order in the first definition that begins with `from`, and it has
// no other atomic operation with a memory order: one that a model leaves out is cited, too. White
// space counts as one blank.
testing::AssertionResult CitedCode(const std::string& path, const std::string& from,
                                   const std::vector<std::string>& texts);

}  // namespace ashlar

// CitedCode: the source lines from which the steps of a model are taken. A model is only as good
// as its match with the code, so its test fails when the code changes, and the model is then
// reviewed.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ashlar {

// Returns whether the texts occur in this order in the first definition that begins with `from`,
// and it has no other atomic operation with a memory order. So an operation that a model leaves out
// is cited, too. White space counts as one blank.
testing::AssertionResult CitedCode(const std::string& path, const std::string& from,
                                   const std::vector<std::string>& texts);

}  // namespace ashlar

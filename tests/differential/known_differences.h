// The intended differences between libraries, each with its reason. Every other difference is a
// divergence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ashlar::differential {

// Returns the parts of an answer that must agree: of each error, its code and the promised texts
// (docs/compatibility.md); of everything else, including what follows an error, all of it.
std::string Comparable(const std::string& answer);

// Returns the reason why the answers to `line` may differ as they do, or an empty one. `libraries`
// and `answers` have the same order. Requires: Comparable returned the answers.
std::string_view ReasonForDifference(const std::string& line,
                                     const std::vector<std::string>& libraries,
                                     const std::vector<std::string>& answers);

}  // namespace ashlar::differential

// The differences between libraries that are intended, each with its reason. Everything else that
// differs is a divergence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ashlar::differential {

// The parts of an answer that must agree. Of each error: its code and the texts that are promised
// (docs/compatibility.md). Of everything else: all, also after an error.
std::string Comparable(const std::string& answer);

// The reason why the answers to `line` may differ as they do, or empty. `libraries` and `answers`
// have the same order; the answers are comparable ones.
std::string_view ReasonForDifference(const std::string& line,
                                     const std::vector<std::string>& libraries,
                                     const std::vector<std::string>& answers);

}  // namespace ashlar::differential

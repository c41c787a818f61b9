// The texts of tickers and histograms, by number.
//
// I1: the element at a ticker's or histogram's number is its text, and every number has a text.
//
// They are constants, so that statistics can be printed at any time, even while static variables
// are initialized or destroyed. Thread safety: constant.
#pragma once

#include <array>
#include <string_view>

#include "ashlar/statistics.h"

namespace ashlar {

extern const std::array<std::string_view, TICKER_ENUM_MAX> kTickerTexts;
extern const std::array<std::string_view, HISTOGRAM_ENUM_MAX> kHistogramTexts;

}  // namespace ashlar

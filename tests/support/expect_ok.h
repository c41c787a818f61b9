// ASSERT_OK and EXPECT_OK check that an expression's Status is Ok. A failure prints its text.
#pragma once

#include <gtest/gtest.h>

#include "ashlar/status.h"

namespace ashlar::test {

inline ::testing::AssertionResult IsOk(const Status& status) {
  if (status.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << status.ToString();
}

}  // namespace ashlar::test

#define ASSERT_OK(expression) ASSERT_TRUE(::ashlar::test::IsOk(expression))
#define EXPECT_OK(expression) EXPECT_TRUE(::ashlar::test::IsOk(expression))

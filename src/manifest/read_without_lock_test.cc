#include "manifest/read_without_lock.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ashlar {
namespace {

// The number of attempts and their result, if the nth attempt returns the nth status.
struct Attempts {
  explicit Attempts(std::vector<Status> answers) : answers_(std::move(answers)) {
    result = ReadWithoutLock([this] { return answers_.at(count++); });
  }
  Status result;
  size_t count = 0;

 private:
  const std::vector<Status> answers_;
};

TEST(ReadWithoutLock, SuccessIsTakenAtOnce) { EXPECT_EQ(Attempts({Status::OK()}).count, 1u); }

TEST(ReadWithoutLock, AFailureThatGoesAwayIsNotReported) {
  const Attempts attempts({Status::Corruption("a is missing"), Status::TryAgain("changed"),
                           Status::Corruption("b is missing"), Status::OK()});
  EXPECT_TRUE(attempts.result.ok());
  EXPECT_EQ(attempts.count, 4u);
}

TEST(ReadWithoutLock, AFailureThatComesBackIsReported) {
  const Attempts attempts({Status::Corruption("a is missing"), Status::Corruption("b is missing"),
                           Status::Corruption("a is missing")});
  EXPECT_EQ(attempts.result.ToString(), Status::Corruption("a is missing").ToString());
  EXPECT_EQ(attempts.count, 3u);
}

TEST(ReadWithoutLock, FailuresWithoutEndAreGivenUp) {
  size_t count = 0;
  const Status result = ReadWithoutLock(
      [&count] { return Status::Corruption(std::to_string(++count) + " is missing"); });
  EXPECT_TRUE(result.IsTryAgain()) << result.ToString();
  EXPECT_EQ(count, kReadAttemptsMax);
  EXPECT_NE(result.ToString().find("1000 is missing"), std::string::npos) << result.ToString();
}

}  // namespace
}  // namespace ashlar

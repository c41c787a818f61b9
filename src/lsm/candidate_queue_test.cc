#include "lsm/candidate_queue.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

// The queue only compares addresses, so no real family is needed.
std::shared_ptr<ColumnFamily> AFamily(int* owner) {
  return {std::shared_ptr<void>(), reinterpret_cast<ColumnFamily*>(owner)};
}

TEST(CandidateQueue, HoldsEachFamilyOnceInTheOrderOfArrival) {
  int owners[2] = {};
  const std::shared_ptr<ColumnFamily> a = AFamily(&owners[0]);
  const std::shared_ptr<ColumnFamily> b = AFamily(&owners[1]);
  CandidateQueue queue;
  for (int i = 0; i < 1000; ++i) {
    queue.Push(a);
    queue.Push(b);
  }
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue.Pop(), a);
  queue.Push(a);
  EXPECT_EQ(queue.Pop(), b);
  EXPECT_EQ(queue.Pop(), a);
  EXPECT_TRUE(queue.empty());
}

TEST(CandidateQueue, ForgetsAFamilyThatIsErased) {
  int owner = 0;
  const std::shared_ptr<ColumnFamily> a = AFamily(&owner);
  CandidateQueue queue;
  queue.Push(a);
  queue.Erase(a);
  EXPECT_TRUE(queue.empty());
  queue.Push(a);
  EXPECT_EQ(queue.size(), 1u);
  queue.Clear();
  queue.Push(a);
  EXPECT_EQ(queue.size(), 1u);
}

}  // namespace
}  // namespace ashlar

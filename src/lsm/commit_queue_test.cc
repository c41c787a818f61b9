#include "lsm/commit_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "platform/cpu.h"

namespace ashlar {
namespace {

constexpr size_t kNoLimit = 1 << 20;

// A leader and the followers that wait, in this order.
class CommitQueueTest : public testing::Test {
 protected:
  static constexpr size_t kRequests = 4;

  void SetUp() override {
    for (CommitRequest& request : requests_) request.batch_bytes = 100;
  }
  // Queues all requests in order. Call once, after the requests have been described.
  void JoinAll() {
    ASSERT_TRUE(queue_.Join(&requests_[0]));
    for (size_t i = 1; i < kRequests; ++i) {
      threads_.emplace_back([this, i] { leads_[i] = queue_.Join(&requests_[i]); });
      // A request sleeps once it is in the queue.
      while (requests_[i].state.load() != CommitRequest::kSleeps) CpuRelax();
    }
  }
  void JoinThreads() {
    for (std::thread& thread : threads_) thread.join();
  }

  CommitQueue queue_;
  std::array<CommitRequest, kRequests> requests_;
  std::array<bool, kRequests> leads_{};
  std::vector<std::thread> threads_;
};

TEST_F(CommitQueueTest, AGroupIsSyncedIfOneOfItsRequestsIs) {
  requests_[2].sync = true;
  JoinAll();
  const CommitGroup group = queue_.FormGroup(&requests_[0], kNoLimit);
  EXPECT_TRUE(group.sync);
  EXPECT_EQ(group.requests, kRequests);
  EXPECT_EQ(group.bytes, 100 * kRequests);
  queue_.Finish(group);
  JoinThreads();
  for (const bool leads : leads_) EXPECT_FALSE(leads);
}

TEST_F(CommitQueueTest, AGroupWithoutASyncedRequestIsNotSynced) {
  JoinAll();
  const CommitGroup group = queue_.FormGroup(&requests_[0], kNoLimit);
  EXPECT_FALSE(group.sync);
  queue_.Finish(group);
  JoinThreads();
}

TEST_F(CommitQueueTest, AGroupIsInTheOrderOfItsRequests) {
  JoinAll();
  const CommitGroup group = queue_.FormGroup(&requests_[0], kNoLimit);
  size_t i = 0;
  for (const CommitRequest& request : group) EXPECT_EQ(&request, &requests_[i++]);
  EXPECT_EQ(i, kRequests);
  queue_.Finish(group);
  JoinThreads();
}

TEST_F(CommitQueueTest, AGroupEndsAtItsLimitAndTheNextRequestLeads) {
  JoinAll();
  const CommitGroup group = queue_.FormGroup(&requests_[0], 250);
  EXPECT_EQ(group.requests, 2U);
  EXPECT_EQ(group.bytes, 200U);
  queue_.Finish(group);
  threads_[1].join();  // of the request that leads now
  EXPECT_TRUE(leads_[2]);
  const CommitGroup next = queue_.FormGroup(&requests_[2], 250);
  EXPECT_EQ(next.requests, 2U);
  queue_.Finish(next);
  threads_[0].join();
  threads_[2].join();
}

TEST_F(CommitQueueTest, AGroupEndsBeforeAnExclusiveRequest) {
  requests_[2].kind = CommitRequest::Kind::kExclusive;
  JoinAll();
  const CommitGroup group = queue_.FormGroup(&requests_[0], kNoLimit);
  EXPECT_EQ(group.requests, 2U);
  queue_.Finish(group);
  threads_[1].join();
  const CommitGroup exclusive = queue_.FormGroup(&requests_[2], kNoLimit);
  EXPECT_EQ(exclusive.requests, 1U);
  queue_.Finish(exclusive);
  threads_[2].join();
  const CommitGroup last = queue_.FormGroup(&requests_[3], kNoLimit);
  EXPECT_EQ(last.requests, 1U);
  queue_.Finish(last);
  threads_[0].join();
}

}  // namespace
}  // namespace ashlar

// The protocol of execute/epoch.h under the memory model: a reader, a writer that unlinks and
// retires an object, and a thread that reclaims.
#include <gtest/gtest.h>

#include "tests/support/memory_model.h"
#include "tests/weak_memory/cited_code.h"

namespace ashlar {
namespace {

using enum ModelOrder;

// The step that is left out or changed.
enum class Bug {
  kNone,
  kNoHeavyFence,
  kHeavyFenceAfterTheScan,
  kEntryLoadsRelaxed,
  kTagIsRelaxed,
  kLeavesBeforeTheUse,
  kRetiredBeforeUnlinked,
  kScanIsOneEpochOff,
};

MemoryModel::Outcome ExploreEpoch(Bug bug) {
  return MemoryModel::Explore([bug](MemoryModel* setup) {
    const auto word = setup->NewPlace("word.epoch", 0);
    const auto global = setup->NewPlace("global", 1);
    const auto shared = setup->NewPlace("shared", 1);    // 1: leads to the object
    const auto newest = setup->NewPlace("newest", 0);    // 1: the object is retired
    const auto deleted = setup->NewPlace("deleted", 0);  // 1: the object is deleted

    setup->Start("reader", [=](MemoryModel* m) -> ModelThread {
      const int64_t epoch =
          co_await m->Load(global, bug == Bug::kEntryLoadsRelaxed ? kRelaxed : kAcquire);
      co_await m->Store(word, epoch, kRelease);
      const bool found = co_await m->Load(shared, kAcquire) == 1;
      if (bug == Bug::kLeavesBeforeTheUse) co_await m->Store(word, 0, kRelease);
      if (found) m->Expect(co_await m->Now(deleted) == 0);
      if (bug != Bug::kLeavesBeforeTheUse) co_await m->Store(word, 0, kRelease);
    });
    setup->Start("writer", [=](MemoryModel* m) -> ModelThread {
      if (bug == Bug::kRetiredBeforeUnlinked) co_await m->Store(newest, 1, kRelease);
      co_await m->Store(shared, 0, kRelease);
      if (bug != Bug::kRetiredBeforeUnlinked) co_await m->Store(newest, 1, kRelease);
    });
    setup->Start("reclaimer", [=](MemoryModel* m) -> ModelThread {
      co_await m->Await(newest, [](int64_t retired) { return retired == 1; });
      if (co_await m->Exchange(newest, 0, kAcquire) == 0) co_return;
      const int64_t tag =
          co_await m->FetchAdd(global, 1, bug == Bug::kTagIsRelaxed ? kRelaxed : kAcqRel) + 1;
      if (bug == Bug::kNone || bug >= Bug::kEntryLoadsRelaxed) co_await m->HeavyFence();
      const int64_t epoch = co_await m->Load(word, kAcquire);
      if (bug == Bug::kHeavyFenceAfterTheScan) co_await m->HeavyFence();
      const int64_t oldest = epoch + (bug == Bug::kScanIsOneEpochOff ? 1 : 0);
      if (epoch == 0 || tag <= oldest) co_await m->Store(deleted, 1, kRelaxed);
    });
  });
}

TEST(EpochModel, NoReaderUsesADeletedObject) {
  const MemoryModel::Outcome outcome = ExploreEpoch(Bug::kNone);
  EXPECT_EQ(outcome.failures, 0U) << outcome.first_failure;
  EXPECT_GT(outcome.executions, 50U);
}

TEST(EpochModel, EverySeededBugIsFound) {
  for (const Bug bug : {Bug::kNoHeavyFence, Bug::kHeavyFenceAfterTheScan, Bug::kEntryLoadsRelaxed,
                        Bug::kTagIsRelaxed, Bug::kLeavesBeforeTheUse, Bug::kRetiredBeforeUnlinked,
                        Bug::kScanIsOneEpochOff}) {
    EXPECT_GT(ExploreEpoch(bug).failures, 0U) << static_cast<int>(bug);
  }
}

// The model has one domain, and no counts of waiting objects.
TEST(EpochModel, ItsStepsAreThoseOfTheCode) {
  EXPECT_TRUE(
      CitedCode("src/execute/epoch.h", "void Enter(",
                {"word_->domain.load(std::memory_order_relaxed) != &domain",
                 "word_->domain.store(&domain, std::memory_order_release);",
                 "word_->epoch.store(internal::global_epoch.load(std::memory_order_acquire),"
                 " std::memory_order_release);",
                 "LightFence();"}));
  EXPECT_TRUE(CitedCode("src/execute/epoch.h", "void Leave()",
                        {"word_->epoch.store(0, std::memory_order_release);"}));
  EXPECT_TRUE(CitedCode("src/execute/epoch.cc", "void EpochDomain::Push(",
                        {"pending_objects_.fetch_add(1, std::memory_order_relaxed);",
                         "fresh_bytes_.fetch_add(bytes, std::memory_order_relaxed);",
                         "fresh_objects_.fetch_add(1, std::memory_order_relaxed);",
                         "newest_.load(std::memory_order_relaxed);",
                         "newest_.compare_exchange_weak(retired->next, retired,"
                         " std::memory_order_release, std::memory_order_relaxed)"}));
  EXPECT_TRUE(CitedCode("src/execute/epoch.cc", "uint64_t EpochDomain::CloseBatch()",
                        {"fresh_objects_.store(0, std::memory_order_relaxed);",
                         "fresh_bytes_.store(0, std::memory_order_relaxed);",
                         "newest_.exchange(nullptr, std::memory_order_acquire);",
                         "const uint64_t tag = internal::global_epoch.fetch_add(1, "
                         "std::memory_order_acq_rel) + 1;"}));
  EXPECT_TRUE(CitedCode("src/execute/epoch.cc", "uint64_t EpochDomain::OldestEpochInUse()",
                        {"word.epoch.load(std::memory_order_acquire);",
                         "epoch != 0 && word.domain.load(std::memory_order_acquire) == this",
                         "oldest = std::min(oldest, epoch);"}));
  EXPECT_TRUE(CitedCode(
      "src/execute/epoch.cc", "bool EpochDomain::RunPass()",
      {"newest_tag = CloseBatch();", "HeavyFence();", "std::min(newest_tag, OldestEpochInUse());",
       "batches_[count].tag <= safe_tag", "RunDeleters("}));
}

}  // namespace
}  // namespace ashlar

// ScenarioFixture: one engine in a scratch directory, and short helpers for the scenarios.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/scenarios/engine.h"
#include "tests/support/expect_ok.h"
#include "tests/support/tool_runner.h"
#include "tests/support/walk.h"

namespace ashlar::scenarios {

class ScenarioFixture : public ::testing::TestWithParam<EngineKind> {
 protected:
  void Open() { ASSERT_OK(engine_->Open(request_)); }
  void Put(const Slice& key, const Slice& value) { ASSERT_OK(engine_->Put(key, value)); }
  void Delete(const Slice& key) { ASSERT_OK(engine_->Delete(key)); }

  // Returns the value, "(missing)", or the error.
  std::string Get(const Slice& key, const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    PinnableSlice value;
    const Status status = engine_->Get(options, key, &value);
    if (status.IsNotFound()) return "(missing)";
    return status.ok() ? value.ToString() : status.ToString();
  }
  // Returns "a=1 b=2 " from forward iteration, checked against backward iteration.
  std::string Contents(const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it = engine_->NewIterator(options);
    return test::WalkBothWays(it.get());
  }
  // Runs `look` on the present database, after each reorganisation, and after reopening.
  template <typename Look>
  void InEveryShape(const Look& look) {
    look();
    for (uint64_t choice = 0; choice < 2; ++choice) {
      ASSERT_OK(engine_->Rearrange(choice));
      look();
    }
    Open();
    look();
    ASSERT_OK(engine_->Verify());
  }

  ScratchDirectory scratch_;
  OpenRequest request_;
  std::unique_ptr<Engine> engine_ = GetParam().make(scratch_.path());
};

inline std::string KindName(const ::testing::TestParamInfo<EngineKind>& kind) {
  return kind.param.name;
}

}  // namespace ashlar::scenarios

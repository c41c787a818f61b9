// SweepFaults: makes the first call that matches a rule fail, then the second, and so on, until an
// attempt ends before it reaches the call.
//
//   FaultRule rule;
//   SweepFaults(&faults, rule, [&] { created = Create(); },      with the rule
//               [&] { ... what must hold, and the next attempt works });   without it
//
// RunAtCall: runs another program's step between two calls. RunDuring: the same in one attempt.
//
// Thread safety: none.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/format.h"
#include "base/function_ref.h"
#include "tests/support/fault_file_system.h"

namespace ashlar {

inline void SweepFaults(FaultFileSystem* faults, FaultRule rule, FunctionRef<void()> attempt,
                        FunctionRef<void()> check) {
  constexpr uint64_t kCallsMax = 1000;
  bool fired = true;
  for (rule.nth = 1; fired && !::testing::Test::HasFatalFailure(); ++rule.nth) {
    SCOPED_TRACE(StrCat("call ", rule.nth, ", effect ", static_cast<int>(rule.effect),
                        rule.sticky ? ", and all after it" : ""));
    faults->ResetCounts();
    faults->AddRule(rule);
    attempt();
    fired = faults->FaultsInjected() > 0;
    faults->ClearRules();
    check();
    ASSERT_LT(rule.nth, kCallsMax) << "the attempt has no end";
  }
}

// Runs the action at the nth call and, if sticky, at later calls, at most times_max times in all.
inline void RunAtCall(FaultFileSystem* faults, uint64_t nth, bool sticky, int times_max,
                      std::function<void()> action) {
  FaultRule rule;
  rule.nth = nth;
  rule.sticky = sticky;
  rule.effect = FaultEffect::kRunAction;
  rule.action = [left = std::make_shared<int>(times_max), action = std::move(action)] {
    if ((*left)-- > 0) action();
  };
  faults->AddRule(rule);
}

// Runs `attempt`, and `action` before the call that matches the rule. Returns false if no call did.
inline bool RunDuring(FaultFileSystem* faults, FaultRule rule, FunctionRef<void()> action,
                      FunctionRef<void()> attempt) {
  bool ran = false;
  rule.effect = FaultEffect::kRunAction;
  rule.action = [&] {
    ran = true;
    action();
  };
  faults->AddRule(rule);
  attempt();
  faults->ClearRules();
  return ran;
}

}  // namespace ashlar

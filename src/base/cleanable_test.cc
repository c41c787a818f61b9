#include "ashlar/cleanable.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

namespace ashlar {
namespace {

std::array<char, 4> letters = {'a', 'b', 'c', 'd'};

void Append(void* text, void* letter) {
  static_cast<std::string*>(text)->push_back(*static_cast<char*>(letter));
}

void Register(Cleanable* cleanable, std::string* text, size_t letter) {
  cleanable->RegisterCleanup(&Append, text, &letters[letter]);
}

TEST(CleanableTest, RunsInReverseOrderAndOnce) {
  std::string text;
  {
    Cleanable cleanable;
    for (size_t i = 0; i < 3; ++i) Register(&cleanable, &text, i);
    cleanable.Reset();
    EXPECT_EQ(text, "cba");
    Register(&cleanable, &text, 3);
  }
  EXPECT_EQ(text, "cbad");
}

TEST(CleanableTest, DelegationKeepsEachCleanupOnce) {
  std::string text;
  Cleanable target;
  {
    Cleanable source;
    source.DelegateCleanupsTo(&target);
    Register(&source, &text, 0);
    Register(&source, &text, 1);
    source.DelegateCleanupsTo(&target);
    Register(&source, &text, 2);
    Register(&source, &text, 3);
    source.DelegateCleanupsTo(&target);
  }
  EXPECT_EQ(text, "");
  target.Reset();
  EXPECT_EQ(text, "dcba");
}

TEST(CleanableTest, MoveTakesTheCleanupsAndRunsThoseItReplaces) {
  std::string text;
  Cleanable a;
  Register(&a, &text, 0);
  Register(&a, &text, 1);
  Cleanable b(std::move(a));
  a.Reset();
  EXPECT_EQ(text, "");
  Cleanable c;
  Register(&c, &text, 2);
  c = std::move(b);
  EXPECT_EQ(text, "c");
  c.Reset();
  EXPECT_EQ(text, "cba");
}

TEST(CleanableTest, ACleanupMayRegisterAnew) {
  std::string text;
  struct Context {
    Cleanable cleanable;
    std::string* text;
  } context{.cleanable = {}, .text = &text};
  context.cleanable.RegisterCleanup(
      [](void* p, void* /*unused*/) {
        auto* self = static_cast<Context*>(p);
        Register(&self->cleanable, self->text, 0);
      },
      &context, nullptr);
  context.cleanable.Reset();
  EXPECT_EQ(text, "");
  context.cleanable.Reset();
  EXPECT_EQ(text, "a");
}

}  // namespace
}  // namespace ashlar

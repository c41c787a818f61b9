#include "filesystem/write_behind.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/format.h"
#include "base/random.h"

namespace ashlar {
namespace {

class WriteBehindTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  Result<OsFile> Open(OpenMode mode) { return OsFile::Open(path_, {.mode = mode}); }
  std::string Contents() const {
    std::ifstream in(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }

  const std::string path_ = StrCat(testing::TempDir(), "ashlar_write_behind_", CurrentProcessId());
};

TEST_F(WriteBehindTest, WhatIsBegunIsInTheFileAfterWait) {
  Result<OsFile> file = Open(OpenMode::kCreateTruncate);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  std::string expected;
  {
    std::array<std::string, 2> buffers;
    WriteBehind behind(&*file);
    EXPECT_TRUE(behind.Wait().ok()) << "of nothing";
    Random random(1);
    for (size_t i = 0; i < 200; ++i) {
      std::string& filling = buffers[i % 2];
      filling = random.Bytes(1 + random.Uniform(100'000));
      ASSERT_TRUE(behind.Begin(expected.size(), filling).ok());
      expected += filling;
      if (!random.OneIn(20)) continue;
      ASSERT_TRUE(behind.Wait().ok());
      ASSERT_TRUE(Contents() == expected) << "after piece " << i;
    }
  }
  EXPECT_TRUE(Contents() == expected) << "what was on its way at the end";
}

TEST_F(WriteBehindTest, TheFirstErrorStays) {
  ASSERT_TRUE(Open(OpenMode::kCreateTruncate).ok());
  Result<OsFile> file = Open(OpenMode::kRead);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  WriteBehind behind(&*file);
  EXPECT_TRUE(behind.Begin(0, "first").ok()) << "nobody knows yet";
  const Status failed = behind.Wait();
  EXPECT_TRUE(failed.IsIOError()) << failed.ToString();
  EXPECT_EQ(behind.Begin(5, "second").ToString(), failed.ToString());
  EXPECT_EQ(behind.Wait().ToString(), failed.ToString());
}

}  // namespace
}  // namespace ashlar

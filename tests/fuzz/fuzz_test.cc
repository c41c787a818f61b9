// Every target over its seeds, over mutations of them, and over the inputs that once failed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "tests/fuzz/target.h"
#include "tests/support/places.h"

namespace ashlar::fuzz {

void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

namespace {

void FailTest(const char* file, int line, const std::string& what) {
  ADD_FAILURE_AT(file, line) << "wrong answer: " << what;
}

class FuzzTest : public testing::TestWithParam<Target> {
 protected:
  FuzzTest() { SetWrongAnswerHandler(FailTest); }
  const Target& target() const { return GetParam(); }
};

TEST_P(FuzzTest, SeedsAreTaken) {
  const std::vector<std::string> seeds = target().seeds();
  ASSERT_FALSE(seeds.empty());
  for (size_t i = 0; i < seeds.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_LE(seeds[i].size(), target().input_bytes_max);
    target().run(seeds[i]);
    if (target().repair == nullptr) continue;
    std::string repaired = seeds[i];
    target().repair(&repaired);
    EXPECT_EQ(repaired, seeds[i]) << "the repair changes an intact input";
  }
  EXPECT_EQ(target().seeds(), seeds) << "the seeds differ between two calls";
}

TEST_P(FuzzTest, MutationsAreRefusedOrConsistent) {
  constexpr uint64_t kMutations = 300;
  const std::vector<std::string> seeds = target().seeds();
  for (uint64_t i = 0; i < kMutations; ++i) {
    std::string input = seeds[i % seeds.size()];
    Mutate(&input, i, target().input_bytes_max);
    if (target().repair != nullptr && i % 8 != 0) target().repair(&input);
    SCOPED_TRACE(testing::Message() << "mutation " << i);
    target().run(input);
    if (!HasFailure()) continue;
    const std::string file = std::string(kBuildDir) + "/fuzz_failure_" + target().name;
    std::ofstream(file, std::ios::binary) << input;
    FAIL() << "the input is in " << file;
  }
}

// Inputs that the fuzzer found, one file each: regressions/<target>-<story>.
TEST_P(FuzzTest, RegressionsStayMended) {
  const std::filesystem::path folder =
      std::filesystem::path(kSourceDir) / "tests" / "fuzz" / "regressions";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().filename().string();
    if (!name.starts_with(std::string(target().name) + "-")) continue;
    SCOPED_TRACE(name);
    std::ifstream stream(file.path(), std::ios::binary);
    target().run(std::string(std::istreambuf_iterator<char>(stream), {}));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzTest, testing::ValuesIn(Targets().begin(), Targets().end()),
                         [](const testing::TestParamInfo<Target>& param) {
                           return std::string(param.param.name);
                         });

}  // namespace
}  // namespace ashlar::fuzz

// Runs every target with its seeds, with mutations of them, and with the inputs that once failed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/target.h"
#include "tests/support/places.h"

namespace ashlar::fuzz {

void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

namespace {

void FailTest(const char* file, int line, const std::string& what) {
  ADD_FAILURE_AT(file, line) << "wrong answer: " << what;
}

std::filesystem::path Folder(std::string_view name) {
  return std::filesystem::path(kSourceDir) / "tests" / "fuzz" / name;
}

std::string Contents(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

class FuzzTest : public testing::TestWithParam<Target> {
 protected:
  FuzzTest() { SetWrongAnswerHandler(FailTest); }
  const Target& target() const { return GetParam(); }
};

TEST_P(FuzzTest, SeedsAreTaken) {
  const std::vector<std::string> seeds = target().seeds();
  ASSERT_FALSE(seeds.empty());
  ASSERT_GE(seeds.size(),
            target().refused_seeds);  // equal: `compression` in a build without codecs
  const size_t accepted_seeds = seeds.size() - target().refused_seeds;
  for (size_t i = 0; i < seeds.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_LE(seeds[i].size(), target().input_bytes_max);
    EXPECT_EQ(target().run(seeds[i]), i < accepted_seeds) << "whether the seed is accepted";
    if (target().repair == nullptr) continue;
    std::string repaired = seeds[i];
    target().repair(&repaired);
    EXPECT_EQ(repaired, seeds[i]) << "the repair changes an intact input";
  }
  EXPECT_EQ(target().seeds(), seeds) << "the seeds differ between two calls";
}

TEST_P(FuzzTest, MutationsAreRefusedOrConsistent) {
  constexpr uint64_t kMutations = 2000;
  const std::vector<std::string> seeds = target().seeds();
  for (uint64_t i = 0; i < kMutations; ++i) {
    std::string input = seeds[i % seeds.size()];
    Mutate(&input, i, target().input_bytes_max);
    if (target().repair != nullptr && i % 8 != 0) target().repair(&input);
    SCOPED_TRACE(testing::Message() << "mutation " << i);
    static_cast<void>(target().run(input));
    if (!HasFailure()) continue;
    const std::string file = std::string(kBuildDir) + "/fuzz_failure_" + target().name;
    std::ofstream(file, std::ios::binary) << input;
    FAIL() << "the input is in " << file;
  }
}

// A repair that does nothing also keeps the seeds, and then no mutation would reach the code after
// the checksums.
TEST_P(FuzzTest, TheRepairMendsWhatAMutationBreaks) {
  constexpr uint64_t kMutations = 100;
  if (target().repair == nullptr) return;
  const std::vector<std::string> seeds = target().seeds();
  uint64_t mended = 0;
  for (uint64_t i = 0; i < kMutations; ++i) {
    std::string input = seeds[i % seeds.size()];
    Mutate(&input, i, target().input_bytes_max);
    std::string repaired = input;
    target().repair(&repaired);
    if (repaired != input) ++mended;
  }
  EXPECT_GT(mended, 0U);
}

// Inputs that reach further than the seeds, as chosen by ./dev fuzz --keep.
TEST_P(FuzzTest, TheCorpusIsTaken) {
  int inputs = 0;
  for (const auto& file : std::filesystem::directory_iterator(Folder("corpus") / target().name)) {
    SCOPED_TRACE(file.path().filename().string());
    const std::string input = Contents(file.path());
    EXPECT_LE(input.size(), target().input_bytes_max);
    static_cast<void>(target().run(input));
    ++inputs;
  }
  EXPECT_GT(inputs, 0) << "run ./dev fuzz " << target().name << ", then ./dev fuzz --keep";
}

// Inputs that failed once, one file each: regressions/<target>-<story>.
TEST_P(FuzzTest, RegressionsStayMended) {
  for (const auto& file : std::filesystem::directory_iterator(Folder("regressions"))) {
    const std::string name = file.path().filename().string();
    if (!name.starts_with(std::string(target().name) + "-")) continue;
    SCOPED_TRACE(name);
    static_cast<void>(target().run(Contents(file.path())));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzTest, testing::ValuesIn(Targets().begin(), Targets().end()),
                         [](const testing::TestParamInfo<Target>& param) {
                           return std::string(param.param.name);
                         });

}  // namespace
}  // namespace ashlar::fuzz

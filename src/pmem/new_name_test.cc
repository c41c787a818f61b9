#include "pmem/new_name.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "gtest/gtest.h"
#include "platform/file.h"

namespace ashlar::pmem {
namespace {

Status None(const std::string& from, const std::string& /*to*/) {
  return Status::NotSupported(from);
}

constexpr NameCalls kLinksOnly = {.link = HardLink, .rename_to_new = None};
constexpr NameCalls kRenamesOnly = {.link = None, .rename_to_new = RenameToNewPath};
constexpr NameCalls kNeither = {.link = None, .rename_to_new = None};

class NewNameTest : public ::testing::Test {
 protected:
  NewNameTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("ashlar-new-name-" +
                 std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~NewNameTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  bool Exists(const std::string& name) const { return std::filesystem::exists(Path(name)); }

  const std::filesystem::path folder_;
};

TEST_F(NewNameTest, IsGivenByALinkOrByARename) {
  for (const NameCalls& calls : {kLinksOnly, kRenamesOnly}) {
    Write("old", "contents");
    const Status status = GiveNewName(calls, Path("old"), Path("new"));
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_FALSE(Exists("old"));
    EXPECT_EQ(Read("new"), "contents");
    std::filesystem::remove(Path("new"));
  }
}

TEST_F(NewNameTest, OfAnotherFileIsRefused) {
  for (const NameCalls& calls : {kLinksOnly, kRenamesOnly}) {
    Write("old", "mine");
    Write("new", "another's");
    const Status status = GiveNewName(calls, Path("old"), Path("new"));
    EXPECT_TRUE(status.IsIOError()) << status.ToString();
    EXPECT_EQ(Read("old"), "mine");
    EXPECT_EQ(Read("new"), "another's");
  }
}

TEST_F(NewNameTest, IsNotSupportedWithoutEitherAndNothingChanges) {
  Write("old", "mine");
  const Status status = GiveNewName(kNeither, Path("old"), Path("new"));
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_NE(status.ToString().find("neither hard links"), std::string::npos);
  EXPECT_EQ(Read("old"), "mine");
  EXPECT_FALSE(Exists("new"));
}

// If there are two creators of a pool, the file of the second must not replace that of the first.
TEST_F(NewNameTest, IsGivenToOneOfTwoFilesOnly) {
  for (const NameCalls& calls : {kLinksOnly, kRenamesOnly}) {
    for (int round = 0; round < 50; ++round) {
      Write("a", "a");
      Write("b", "b");
      Status of_b;
      std::thread other([&] { of_b = GiveNewName(calls, Path("b"), Path("new")); });
      const Status of_a = GiveNewName(calls, Path("a"), Path("new"));
      other.join();
      ASSERT_NE(of_a.ok(), of_b.ok()) << of_a.ToString() << ", " << of_b.ToString();
      EXPECT_EQ(Read("new"), of_a.ok() ? "a" : "b");
      EXPECT_EQ(Exists("a"), of_b.ok());
      EXPECT_EQ(Exists("b"), of_a.ok());
      std::filesystem::remove(Path("new"));
    }
  }
}

}  // namespace
}  // namespace ashlar::pmem

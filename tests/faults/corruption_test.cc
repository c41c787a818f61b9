// Any damage to the files of a closed database. Opening or reading it either reports the damage and
// names the file, or loses nothing. It never crashes and never returns wrong data, and a refused
// open changes nothing.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "ashlar/vfs.h"
#include "base/format.h"
#include "base/random.h"
#include "filesystem/filename.h"
#include "tests/faults/closed_database.h"

namespace ashlar {
namespace {

class CorruptionTest : public ::testing::Test {
 protected:
  // Expects the damage to be harmless, or to be refused by a status that names `file` (or a file of
  // the same kind). A refusal must leave everything unchanged.
  void Check(const MemoryImage& image, const std::string& file) {
    ++damages_;
    const Autopsy autopsy = OpenAndReadAll(image, closed_.options(), closed_.contents());
    EXPECT_FALSE(autopsy.wrong_data) << "wrong data, status: " << autopsy.status.ToString();
    EXPECT_TRUE(autopsy.untouched)
        << "the refusal changed files; status: " << autopsy.status.ToString();
    if (autopsy.status.ok()) return;
    ++refused_;
    EXPECT_NE(autopsy.status.ToString().find(file), std::string::npos)
        << "the status does not name the file: " << autopsy.status.ToString();
    EXPECT_EQ(autopsy.status.ToString().find("vvvv"), std::string::npos)
        << "the status shows a value: " << autopsy.status.ToString();
  }
  void Print(const char* what) const {
    std::printf("%s: %d damages, %d refused, the others harmless; wrong data: %s\n", what, damages_,
                refused_, HasFailure() ? "SOME" : "0");
  }

  const ClosedDatabase closed_;
  int damages_ = 0;
  int refused_ = 0;
};

TEST_F(CorruptionTest, UndamagedItIsWhole) {
  const Autopsy autopsy = OpenAndReadAll(closed_.image(), closed_.options(), closed_.contents());
  EXPECT_TRUE(autopsy.opened && autopsy.status.ok() && !autopsy.wrong_data)
      << autopsy.status.ToString();
  EXPECT_GE(closed_.Files().size(), 8u);
}

TEST_F(CorruptionTest, FlippedBytes) {
  constexpr size_t kFlipsPerFile = 150;
  for (const std::string& name : closed_.Files()) {
    Random random(name.size());
    const std::string& bytes = closed_.Bytes(name);
    const size_t step = bytes.size() / kFlipsPerFile + 1;
    for (size_t offset = 0; offset < bytes.size() && !HasFailure();
         offset += 1 + static_cast<size_t>(random.Uniform(2 * step - 1))) {
      std::string damaged = bytes;
      damaged[offset] = static_cast<char>(damaged[offset] ^ (1 << random.Uniform(8)));
      SCOPED_TRACE(StrCat(name, " of ", bytes.size(), " bytes, a bit flipped at ", offset));
      Check(closed_.With(name, damaged), name);
    }
  }
  Print("flipped");
}

TEST_F(CorruptionTest, OverwrittenBatches) {
  for (const std::string& name : closed_.Files()) {
    const std::string& bytes = closed_.Bytes(name);
    Random random(bytes.size());
    for (int i = 0; i < 40 && !bytes.empty() && !HasFailure(); ++i) {
      std::string damaged = bytes;
      const size_t offset = static_cast<size_t>(random.Uniform(bytes.size()));
      const size_t length =
          std::min(bytes.size() - offset, static_cast<size_t>(1 + random.Skewed(12)));
      damaged.replace(offset, length,
                      random.OneIn(2) ? std::string(length, '\0') : random.Bytes(length));
      SCOPED_TRACE(
          StrCat(name, " of ", bytes.size(), " bytes, ", length, " overwritten at ", offset));
      // A loss at the end of a MANIFEST is detected by files that are missing or unexpected.
      Check(closed_.With(name, damaged), name.starts_with("MANIFEST") ? "/" : name);
    }
  }
  Print("overwritten");
}

TEST_F(CorruptionTest, CutFiles) {
  constexpr size_t kCutsPerFile = 60;
  for (const std::string& name : closed_.Files()) {
    const std::string& bytes = closed_.Bytes(name);
    const size_t step = bytes.size() / kCutsPerFile + 1;
    for (size_t length = 0; length < bytes.size() && !HasFailure(); length += step) {
      SCOPED_TRACE(StrCat(name, " of ", bytes.size(), " bytes, cut to ", length));
      Check(closed_.With(name, bytes.substr(0, length)), name.starts_with("MANIFEST") ? "/" : name);
    }
  }
  Print("cut");
}

TEST_F(CorruptionTest, MissingFiles) {
  for (const std::string& name : closed_.Files()) {
    SCOPED_TRACE(name);
    Check(closed_.Without(name), name);
  }
  Print("missing");
}

TEST_F(CorruptionTest, DirectoriesInPlaceOfFiles) {
  for (const std::string& name : closed_.Files()) {
    SCOPED_TRACE(name);
    Check(closed_.WithDirectoryInsteadOf(name), name);
  }
  Print("directories");
}

TEST_F(CorruptionTest, GarbageInCurrent) {
  const std::string manifest = closed_.FileLike("MANIFEST");
  const std::vector<std::string> garbage = {"",
                                            "\n",
                                            manifest,
                                            manifest + "\n\n",
                                            manifest + "x\n",
                                            "../" + manifest + "\n",
                                            "/db/" + manifest + "\n",
                                            "MANIFEST-999999\n",
                                            "MANIFEST-99999999999999999999999\n",
                                            "000001.log\n",
                                            "CURRENT\n",
                                            std::string("\0\0\0\0", 4),
                                            std::string(100000, 'M')};
  for (const std::string& contents : garbage) {
    SCOPED_TRACE(StrCat(contents.size(), " bytes"));
    const Autopsy autopsy =
        OpenAndReadAll(closed_.With("CURRENT", contents), closed_.options(), closed_.contents());
    EXPECT_FALSE(autopsy.opened);
    EXPECT_TRUE(autopsy.untouched);
    const std::string text = autopsy.status.ToString();
    EXPECT_TRUE(text.find("CURRENT") != std::string::npos ||
                text.find("MANIFEST-999999") != std::string::npos)
        << text;
  }
}

TEST_F(CorruptionTest, ForeignFilesAreKept) {
  const std::vector<std::string> foreign = {"README.txt",      "000012.sst.bak", "backup.log",
                                            "12.sst",          "OPTIONS",        "MANIFEST-",
                                            "manifest-000001", "x.dbtmp",        "LOG.txt"};
  const auto file_system = std::make_shared<MemoryFileSystem>(closed_.image());
  for (const std::string& name : foreign) {
    std::unique_ptr<vfs::WritableFile> file;
    ASSERT_TRUE(
        file_system->NewWritableFile(ClosedDatabase::Path(name), vfs::FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append("not ours").ok());
    ASSERT_TRUE(file->Close().ok());
  }
  ASSERT_TRUE(file_system->CreateDir(ClosedDatabase::Path("notes")).ok());
  OpenDatabase database(file_system, closed_.options(), 1);
  ASSERT_TRUE(database.Open().ok());
  ASSERT_TRUE(database.db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_TRUE(database.Close().ok());
  for (const std::string& name : foreign) {
    uint64_t bytes = 0;
    EXPECT_TRUE(file_system->GetFileSize(ClosedDatabase::Path(name), &bytes).ok()) << name;
    EXPECT_EQ(bytes, 8u) << name;
  }
  EXPECT_TRUE(file_system->FileExists(ClosedDatabase::Path("notes")).ok());
}

TEST_F(CorruptionTest, DestroyLeavesForeignFilesAndTheirDirectory) {
  const auto file_system = std::make_shared<MemoryFileSystem>(closed_.image());
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_TRUE(
      file_system->NewWritableFile(ClosedDatabase::Path("diary.txt"), vfs::FileOptions(), &file)
          .ok());
  ASSERT_TRUE(file->Close().ok());
  const std::unique_ptr<Env> env = NewCompositeEnv(file_system);
  Options options = closed_.options();
  options.env = env.get();
  const Status destroyed = DestroyDB(OpenDatabase::kPath, options);
  EXPECT_TRUE(destroyed.ok()) << destroyed.ToString();
  std::vector<std::string> left;
  ASSERT_TRUE(file_system->GetChildren(OpenDatabase::kPath, &left).ok());
  EXPECT_EQ(left, std::vector<std::string>{"diary.txt"});
}

}  // namespace
}  // namespace ashlar

// FileCallCrashTest: cuts off a call that takes external files into a database after each of its
// file system operations. A suite supplies the steps before the call, and the call.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/file_damage.h"
#include "tests/support/open_database.h"

namespace ashlar {

inline constexpr char kOther[] = "other";

// The ith batch: an operand in the default family, and a key in the other family.
inline Commit BatchOverFamilies(int i) {
  const std::string value = StrCat(i, std::string(200, 'v'));
  return {{.kind = Change::Kind::kMerge,
           .family = kDefaultColumnFamilyName,
           .key = "list",
           .value = value},
          {.kind = Change::Kind::kPut, .family = kOther, .key = StrCat("key", i), .value = value}};
}

class FileCallCrashTest : public ::testing::TestWithParam<size_t> {
 protected:
  explicit FileCallCrashTest(Options settings)
      : settings_(std::move(settings)),
        disk_(std::make_shared<CrashFileSystem>()),
        database_(disk_, settings_, 1) {}

  void Write(int i) {
    const Commit commit = BatchOverFamilies(i);
    ASSERT_OK(database_.Write(commit, WriteOptions()));
    Apply(commit, &contents_);
    states_.push_back(contents_);
  }
  // Opens the database with tables in both families.
  void OpenWithTables() {
    ASSERT_OK(database_.Open());
    ASSERT_OK(database_.CreateFamily(kOther));
    contents_ = {{kDefaultColumnFamilyName, {}}, {kOther, {}}};
    for (int i = 0; i < 3; ++i) {
      Write(i);
      ASSERT_OK(database_.Flush(database_.families(), true));
    }
  }
  // Adds a log of unsynced writes.
  void WriteUnsynced() {
    states_ = {contents_};  // durable
    Write(3);
    Write(4);
  }
  // Expects this file to stay unchanged, and to exist unless the call has taken it.
  void Keep(const std::string& path) { files_.emplace_back(path, ContentsOf(disk_.get(), path)); }

  void CutOffAnywhere() {
    for (uint64_t k = begun_; k <= done_ && !HasFailure(); ++k) {
      disk_->EnumerateCrashImages(k, 3, [&](const CrashImage& image) {
        if (HasFailure()) return;
        SCOPED_TRACE(StrCat("cut off after ", k, " operations (", CrashKindName(image.kind), ", ",
                            image.seed, "), the last one: ", disk_->DescribeOperation(k - 1)));
        CheckImage(image, k >= done_);
      });
    }
    EXPECT_GT(images_, 100U);
    std::printf("%llu operations, %llu images\n", static_cast<unsigned long long>(done_ - begun_),
                static_cast<unsigned long long>(images_));
  }

  const Options settings_;
  const std::shared_ptr<CrashFileSystem> disk_;
  OpenDatabase database_;
  Contents contents_;
  std::vector<Contents> states_;  // possible on disk, oldest first; the last has all files
  uint64_t begun_ = 0;            // the range of the call, in operations
  uint64_t done_ = 0;

 private:
  void CheckImage(const CrashImage& image, bool must_be_in) {
    ++images_;
    OpenDatabase recovered(image.file_system, settings_, 2);
    const Status opened = recovered.Open();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    Contents found;
    ASSERT_OK(recovered.Read(&found));
    const bool is_in = found == states_.back();
    ASSERT_TRUE(is_in || !must_be_in) << "what the call took is gone";
    bool is_a_state = is_in;
    for (const Contents& state : states_) is_a_state = is_a_state || state == found;
    ASSERT_TRUE(is_a_state) << "a part of the call, or its files without older writes";
    for (const auto& [path, bytes] : files_) {
      const bool exists = image.file_system->FileExists(path).ok();
      ASSERT_TRUE(is_in || exists) << path << " is gone";
      // The database may have it as a link, and does not write to links.
      if (exists) {
        ASSERT_TRUE(ContentsOf(image.file_system.get(), path) == bytes) << path;
      }
    }
    ExpectNoOrphan(image, recovered.db());
    ASSERT_OK(recovered.db()->VerifyChecksum());
  }
  static void ExpectNoOrphan(const CrashImage& image, DB* db) {
    std::vector<LiveFileMetaData> live;
    db->GetLiveFilesMetaData(&live);
    std::vector<std::string> names;
    ASSERT_OK(image.file_system->GetChildren(OpenDatabase::kPath, &names));
    const auto tables = std::count_if(
        names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".sst"); });
    ASSERT_EQ(static_cast<size_t>(tables), live.size()) << "a table belongs to nobody";
  }

  std::vector<std::pair<std::string, std::string>> files_;  // path, bytes
  uint64_t images_ = 0;
};

}  // namespace ashlar

// A power cut after a flush that waited for the install of another flush. In the meantime a third
// family has switched its memtable, so that a log is closed that no sync has reached.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "base/format.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/gate.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

constexpr char kPath[] = "/db";
constexpr size_t kLongBytes = size_t{200} << 10;  // more than one write of a log

class FlushPowerCutTest : public ::testing::Test {
 protected:
  // The action runs before the next such call on a file of this name.
  void RunBefore(FaultOperation operation, const std::string& name, std::function<void()> action) {
    FaultRule rule;
    rule.operations = operation;
    rule.name_contains = name;
    rule.effect = FaultEffect::kRunAction;
    rule.action = std::move(action);
    faults_->AddRule(rule);
  }
  void WriteAndQueueFlush(ColumnFamilyHandle* family, const std::string& value) {
    FlushOptions queued;
    queued.wait = false;
    ASSERT_OK(db_->Put(WriteOptions(), family, "key", value));
    ASSERT_OK(db_->Flush(queued, family));
  }
  ColumnFamilyHandle* Create(const std::string& name) {
    ColumnFamilyHandle* made = nullptr;
    EXPECT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), name, &made));
    handles_.emplace_back(made);
    return made;
  }
  void CheckImage(const CrashImage& image) const {
    SCOPED_TRACE(StrCat(CrashKindName(image.kind), " ", image.seed));
    ManualEnv env(image.file_system, 1);
    Options options = options_;
    options.env = &env;
    std::vector<ColumnFamilyDescriptor> families;
    for (const char* const name : {"default", "first", "second"})
      families.emplace_back(name, ColumnFamilyOptions(options));
    std::vector<ColumnFamilyHandle*> handles;
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(DBOptions(options), kPath, families, &handles, &db));
    std::string value;
    for (size_t i = 1; i < handles.size(); ++i) {
      EXPECT_OK(db->Get(ReadOptions(), handles[i], "key", &value));
      EXPECT_EQ(value, families[i].name);
    }
    for (ColumnFamilyHandle* const handle : handles) delete handle;
  }

  const std::shared_ptr<CrashFileSystem> files_ = std::make_shared<CrashFileSystem>();
  const std::shared_ptr<FaultFileSystem> faults_ = std::make_shared<FaultFileSystem>(files_);
  ManualEnv env_{faults_, 1};
  const Options options_ = [this] {
    Options options;
    options.env = &env_;
    options.create_if_missing = true;
    options.max_background_jobs = 8;  // two flushes at a time
    options.info_log = std::make_shared<SilentLogger>();
    return options;
  }();
  std::unique_ptr<DB> db_;
  std::vector<std::unique_ptr<ColumnFamilyHandle>> handles_;
};

TEST_F(FlushPowerCutTest, RecordsNoLogAsPassedThatNoSyncHasReached) {
  ASSERT_OK(DB::Open(options_, kPath, &db_));
  ColumnFamilyHandle* const first = Create("first");
  ColumnFamilyHandle* const second = Create("second");
  WriteAndQueueFlush(first, "first");
  Gate installs;
  Gate may_install;
  RunBefore(FaultOperation::kSync, "MANIFEST", [&] {
    installs.Open();
    may_install.Wait();
  });
  std::thread flush_of_first([this] { EXPECT_TRUE(env_.RunOneFlush()); });
  installs.Wait();
  WriteAndQueueFlush(second, "second");
  Gate has_synced;
  RunBefore(FaultOperation::kClose, ".log", [&] { has_synced.Open(); });
  std::thread flush_of_second([this] { EXPECT_TRUE(env_.RunOneFlush()); });
  has_synced.Wait();  // it now waits for the install of the first flush
  WriteAndQueueFlush(db_->DefaultColumnFamily(), std::string(kLongBytes, 'x'));
  may_install.Open();
  flush_of_first.join();
  flush_of_second.join();
  int images = 0;
  files_->EnumerateCrashImages(files_->OperationCount(), 1, [&](const CrashImage& image) {
    ++images;
    CheckImage(image);
  });
  EXPECT_GE(images, 10);
}

}  // namespace
}  // namespace ashlar

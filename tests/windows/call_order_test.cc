// The order of the system calls that make data durable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "tests/support/expect_ok.h"
#include "tests/support/manual_env.h"
#include "tests/support/tool_runner.h"
#include "tests/support/windows/call_recorder.h"

namespace ashlar {
namespace {

using Calls = std::vector<std::string>;

class CallOrderTest : public ::testing::Test {
 protected:
  CallOrderTest() {
    options_.create_if_missing = true;
    options_.info_log = std::make_shared<SilentLogger>();
  }
  void Open() { ASSERT_OK(DB::Open(options_, path_, &db_)); }
  std::string FolderName() const { return path_.substr(path_.rfind('/') + 1); }

  const ScratchDirectory scratch_;
  const std::string path_ = scratch_.File("call_order.db");
  Options options_;
  std::unique_ptr<DB> db_;
};

// Returns the first index, from `from` on, of a call with this start and end, or the number
// of calls if there is none.
size_t Find(const Calls& calls, const std::string& start, const std::string& end, size_t from = 0) {
  const auto found = std::find_if(
      calls.begin() + static_cast<ptrdiff_t>(std::min(from, calls.size())), calls.end(),
      [&](const std::string& call) { return call.starts_with(start) && call.ends_with(end); });
  return static_cast<size_t>(found - calls.begin());
}

struct Step {
  std::string start, end;
};

// Expects all steps in this order.
void ExpectInOrder(const Calls& calls, const std::vector<Step>& steps) {
  size_t at = 0;
  for (const Step& step : steps) {
    at = Find(calls, step.start, step.end, at);
    EXPECT_LT(at, calls.size()) << step.start << " … " << step.end
                                << " is not where it should be in\n"
                                << ::testing::PrintToString(calls);
    at++;
  }
}

TEST_F(CallOrderTest, ASyncedWriteIsFlushedBeforeItIsAcknowledged) {
  Open();
  const CallRecorder recorder;
  WriteOptions synced;
  synced.sync = true;
  ASSERT_OK(db_->Put(synced, "key", "value"));
  const Calls calls = recorder.Calls();
  ExpectInOrder(calls, {{"WriteFile ", ".log"}, {"FlushFileBuffers ", ".log"}});
  EXPECT_TRUE(calls.back().starts_with("FlushFileBuffers ")) << ::testing::PrintToString(calls);
}

TEST_F(CallOrderTest, AWriteThatIsNotSyncedIsHandedToTheSystemAndNotFlushed) {
  Open();
  const CallRecorder recorder;
  ASSERT_OK(db_->Put(WriteOptions(), "key", "value"));
  const Calls calls = recorder.Calls();
  ExpectInOrder(calls, {{"WriteFile ", ".log"}});
  EXPECT_EQ(Find(calls, "FlushFileBuffers ", ""), calls.size());
}

TEST_F(CallOrderTest, ATableAndItsNameAreDurableBeforeTheManifestNamesIt) {
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "key", "value"));
  const CallRecorder recorder;
  ASSERT_OK(db_->Flush(FlushOptions()));
  const Calls calls = recorder.Calls();
  ExpectInOrder(calls, {{"CreateFileW ", ".sst"},
                        {"WriteFile ", ".sst"},
                        {"FlushFileBuffers ", ".sst"},
                        {"FlushFileBuffers ", FolderName()},
                        {"WriteFile MANIFEST-", ""},
                        {"FlushFileBuffers MANIFEST-", ""}});
  // Nothing is written to the table after its flush.
  EXPECT_EQ(Find(calls, "WriteFile ", ".sst", Find(calls, "FlushFileBuffers ", ".sst")),
            calls.size());
}

TEST_F(CallOrderTest, CurrentIsReplacedByAFileThatIsDurableAndItsNameIsFlushed) {
  const CallRecorder recorder;
  Open();
  ExpectInOrder(recorder.Calls(), {{"WriteFile MANIFEST-", ""},
                                   {"FlushFileBuffers MANIFEST-", ""},
                                   {"WriteFile ", ".dbtmp"},
                                   {"FlushFileBuffers ", ".dbtmp"},
                                   {"MoveFileExW ", ".dbtmp CURRENT through"},
                                   {"FlushFileBuffers ", FolderName()}});
}

TEST_F(CallOrderTest, OnlyTablesAreUnbuffered) {
  options_.use_direct_io_for_flush_and_compaction = true;
  options_.use_direct_reads = true;
  const CallRecorder recorder;
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "key", "value"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  const Calls calls = recorder.Calls();
  EXPECT_LT(Find(calls, "CreateFileW ", ".sst unbuffered"), calls.size())
      << ::testing::PrintToString(calls);
  for (const std::string& call : calls) {
    EXPECT_TRUE(!call.ends_with("unbuffered") || call.ends_with(".sst unbuffered")) << call;
  }
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), "key", &value));
  EXPECT_EQ(value, "value");
}

}  // namespace
}  // namespace ashlar

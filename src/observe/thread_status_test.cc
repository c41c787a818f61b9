#include "ashlar/thread_status.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "observe/thread_operations.h"
#include "platform/thread.h"

namespace ashlar {
namespace {

using Operation = ThreadOperations::Operation;
using Properties = ThreadOperations::Properties;

TEST(ThreadStatus, ValuesHaveTexts) {
  EXPECT_EQ(ThreadStatus::GetThreadTypeName(ThreadStatus::BOTTOM_PRIORITY), "Bottom Pri");
  EXPECT_EQ(ThreadStatus::GetOperationName(ThreadStatus::OP_FLUSH), "Flush");
  EXPECT_EQ(
      ThreadStatus::GetOperationName(ThreadStatus::OP_GET_FILE_CHECKSUMS_FROM_CURRENT_MANIFEST),
      "GetFileChecksumsFromCurrentManifest");
  EXPECT_EQ(ThreadStatus::GetOperationName(static_cast<ThreadStatus::OperationType>(99)), "");
  EXPECT_EQ(ThreadStatus::GetOperationStageName(ThreadStatus::STAGE_COMPACTION_INSTALL),
            "CompactionJob::Install");
  EXPECT_EQ(ThreadStatus::GetOperationStageName(ThreadStatus::STAGE_MEMTABLE_INSTALL_FLUSH_RESULTS),
            "MemTableList::TryInstallMemtableFlushResults");
  EXPECT_EQ(ThreadStatus::GetStateName(ThreadStatus::STATE_MUTEX_WAIT), "Mutex Wait");
  EXPECT_EQ(ThreadStatus::GetOperationPropertyName(ThreadStatus::OP_FLUSH, 2), "BytesWritten");
  EXPECT_EQ(ThreadStatus::GetOperationPropertyName(ThreadStatus::OP_FLUSH, 3), "");
  EXPECT_EQ(ThreadStatus::GetOperationPropertyName(ThreadStatus::OP_COMPACTION, 5), "BytesWritten");
  EXPECT_EQ(ThreadStatus::GetOperationPropertyName(ThreadStatus::OP_GET, 0), "");
}

TEST(ThreadStatus, TimesAreForPeople) {
  EXPECT_EQ(ThreadStatus::MicrosToString(0), "");
  EXPECT_EQ(ThreadStatus::MicrosToString(9999), "9999 us");
  EXPECT_EQ(ThreadStatus::MicrosToString(20500), "20.500 ms");
  EXPECT_EQ(ThreadStatus::MicrosToString(30000000), "30.000 sec");
  EXPECT_EQ(ThreadStatus::MicrosToString(317000000), "05:17.000 M:S");
  EXPECT_EQ(ThreadStatus::MicrosToString(7394000000), "02:03:14.000 H:M:S");
}

TEST(ThreadStatus, PropertiesHaveNames) {
  Properties properties = {};
  properties[ThreadStatus::COMPACTION_JOB_ID] = 5;
  properties[ThreadStatus::COMPACTION_INPUT_OUTPUT_LEVEL] = uint64_t{2} << 32 | 3;
  properties[ThreadStatus::COMPACTION_PROP_FLAGS] = 1 << 1 | 1 << 3;
  properties[ThreadStatus::COMPACTION_BYTES_WRITTEN] = 77;
  const std::map<std::string, uint64_t> expected = {
      {"JobID", 5},           {"BaseInputLevel", 2}, {"OutputLevel", 3},
      {"IsManual", 1},        {"IsDeletion", 0},     {"IsTrivialMove", 1},
      {"TotalInputBytes", 0}, {"BytesRead", 0},      {"BytesWritten", 77}};
  EXPECT_EQ(
      ThreadStatus::InterpretOperationProperties(ThreadStatus::OP_COMPACTION, properties.data()),
      expected);
  EXPECT_EQ(
      ThreadStatus::InterpretOperationProperties(ThreadStatus::OP_FLUSH, properties.data()).size(),
      3u);
  EXPECT_TRUE(
      ThreadStatus::InterpretOperationProperties(ThreadStatus::OP_GET, properties.data()).empty());
}

TEST(ThreadOperations, TheNewestOperationOfAThreadIsItsStatus) {
  ThreadOperations operations;
  const std::array<ThreadOperations::Worker, 2> workers = {
      {{.thread_id = CurrentThreadSystemId(), .type = ThreadStatus::LOW_PRIORITY},
       {.thread_id = 0, .type = ThreadStatus::HIGH_PRIORITY}}};
  std::vector<ThreadStatus> list;
  Operation outer(&operations, ThreadStatus::OP_COMPACTION, "db", "cf", {1});
  {
    Operation inner(&operations, ThreadStatus::OP_FLUSH, "other", "default", {2, 10});
    inner.SetStage(ThreadStatus::STAGE_FLUSH_RUN);
    inner.Add(ThreadStatus::FLUSH_BYTES_MEMTABLES, 5);
    operations.List(workers, &list);
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0].thread_type, ThreadStatus::LOW_PRIORITY);
    EXPECT_EQ(list[0].operation_type, ThreadStatus::OP_FLUSH);
    EXPECT_EQ(list[0].operation_stage, ThreadStatus::STAGE_FLUSH_RUN);
    EXPECT_EQ(list[0].db_name, "other");
    EXPECT_EQ(list[0].op_properties[ThreadStatus::FLUSH_JOB_ID], 2u);
    EXPECT_EQ(list[0].op_properties[ThreadStatus::FLUSH_BYTES_MEMTABLES], 15u);
    EXPECT_EQ(list[1].thread_type, ThreadStatus::HIGH_PRIORITY);
    EXPECT_EQ(list[1].operation_type, ThreadStatus::OP_UNKNOWN);
  }
  operations.List(workers, &list);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].operation_type, ThreadStatus::OP_COMPACTION);
  EXPECT_EQ(list[0].cf_name, "cf");
}

TEST(ThreadOperations, AThreadOfTheProgramIsListedWhileItWorks) {
  ThreadOperations operations;
  std::vector<ThreadStatus> list;
  {
    const Operation operation(&operations, ThreadStatus::OP_FLUSH, "db", "default", {});
    operations.List({}, &list);
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].thread_id, CurrentThreadSystemId());
    EXPECT_EQ(list[0].thread_type, ThreadStatus::USER);
  }
  operations.List({}, &list);
  EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace ashlar

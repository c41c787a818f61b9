// The batches of a database, read through GetUpdatesSince.
//
// Thread safety: one thread.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/transaction_log.h"

namespace ashlar {

struct LoggedBatch {
  SequenceNumber sequence = 0;
  WriteBatch batch;
};

// Takes the iterator's batches until it has caught up or ended. Expects no gap between two batches.
inline std::vector<LoggedBatch> TakeBatches(TransactionLogIterator* iterator) {
  std::vector<LoggedBatch> batches;
  for (; iterator->Valid(); iterator->Next()) {
    BatchResult result = iterator->GetBatch();
    if (!batches.empty()) {
      EXPECT_EQ(result.sequence, batches.back().sequence + batches.back().batch.Count());
    }
    batches.push_back({.sequence = result.sequence, .batch = std::move(*result.writeBatchPtr)});
  }
  return batches;
}

// Returns the batches from `from` to the end. Expects the last sequence of the database there.
inline std::vector<LoggedBatch> AllBatches(DB* db, SequenceNumber from = 1) {
  std::unique_ptr<TransactionLogIterator> iterator;
  const Status status = db->GetUpdatesSince(from, &iterator);
  EXPECT_TRUE(status.ok()) << status.ToString();
  if (!status.ok()) return {};
  std::vector<LoggedBatch> batches = TakeBatches(iterator.get());
  EXPECT_TRUE(iterator->status().ok()) << iterator->status().ToString();
  if (!batches.empty()) {
    EXPECT_EQ(batches.back().sequence + batches.back().batch.Count(),
              db->GetLatestSequenceNumber() + 1);
  }
  return batches;
}

// "key=value " for every put, "-key " for every deletion.
inline std::string Text(const std::vector<LoggedBatch>& batches) {
  struct Printer final : WriteBatch::Handler {
    Status PutCF(uint32_t, const Slice& key, const Slice& value) override {
      text += key.ToString() + "=" + value.ToString() + " ";
      return Status::OK();
    }
    Status DeleteCF(uint32_t, const Slice& key) override {
      text += "-" + key.ToString() + " ";
      return Status::OK();
    }
    void LogData(const Slice& blob) override { text += "[" + blob.ToString() + "] "; }
    std::string text;
  };
  Printer printer;
  for (const LoggedBatch& logged : batches) {
    const Status walked = logged.batch.Iterate(&printer);
    EXPECT_TRUE(walked.ok()) << walked.ToString();
  }
  return printer.text;
}

}  // namespace ashlar

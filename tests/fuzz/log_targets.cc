#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/transaction_log.h"
#include "base/coding.h"
#include "base/compression.h"
#include "base/crc32c.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "key/write_batch_internal.h"
#include "tests/fuzz/all.h"
#include "tests/fuzz/small_database.h"
#include "tests/support/golden_pack.h"
#include "tests/support/open_database.h"
#include "wal/log_format.h"
#include "wal/log_reader.h"
#include "wal/log_writer.h"

#if __has_include(<zstd.h>)
#include <zstd.h>
#endif

namespace ashlar::fuzz {
namespace {

constexpr char kName[] = "000007.log";
constexpr uint64_t kNumber = 7;
// The most records and skipped damages of one file together.
constexpr int kStepsMax = 1 << 16;

struct Reading {
  std::vector<std::string> records;
  LogReader::Outcome outcome;
  std::string status;
  uint64_t last_good_offset;
};

Reading Read(const std::string& bytes, bool skip_damage) {
  MemoryFileSystem file_system;
  static_cast<void>(WriteStringToFile(&file_system, bytes, kName, Durability::kBuffered));
  std::unique_ptr<vfs::SequentialFile> file;
  static_cast<void>(file_system.NewSequentialFile(kName, {}, &file));
  LogReader reader(std::move(file), kName, kNumber, bytes.size());
  Reading reading;
  Slice record;
  std::string scratch;
  for (int steps = 0;; ++steps) {
    EXPECT_RIGHT(steps < kStepsMax, "endless reading");
    if (reader.ReadRecord(&record, &scratch)) {
      reading.records.push_back(record.ToString());
      continue;
    }
    reader.CheckInvariants();
    if (!skip_damage || reader.outcome() != LogReader::Outcome::kCorruption || steps >= kStepsMax)
      break;
    reader.SkipDamage();
  }
  EXPECT_RIGHT((reader.outcome() == LogReader::Outcome::kEnd) == reader.status().ok(),
               "outcome and status disagree");
  reading.outcome = reader.outcome();
  reading.status = reader.status().ToString();
  reading.last_good_offset = reader.last_good_offset();
  return reading;
}

std::string WriteLog(const std::vector<std::string>& records) {
  MemoryFileSystem file_system;
  std::unique_ptr<vfs::WritableFile> file;
  static_cast<void>(file_system.NewWritableFile(kName, {}, &file));
  LogWriter writer(std::move(file), kName, kNumber);
  for (const std::string& record : records) static_cast<void>(writer.AddRecord(record));
  static_cast<void>(writer.Close());
  return ReadFileToString(&file_system, kName, 1 << 24).value();
}

void AppendFragment(std::string* log, uint8_t type, const std::string& payload) {
  PutFixed32(log, 0);
  log->push_back(static_cast<char>(payload.size()));
  log->push_back(static_cast<char>(payload.size() >> 8));
  log->push_back(static_cast<char>(type));
  if (log_format::IsRecyclable(type)) PutFixed32(log, kNumber);
  log->append(payload);
}

// If a fragment is a complete record, stores the count of its records in the batch that it holds.
void RepairBatch(char* payload, size_t n) {
  if (n < WriteBatchInternal::kHeaderBytes) return;
  BatchReader reader(Slice(payload, n));
  while (reader.Next()) {
  }
  EncodeFixed32(payload + 8, static_cast<uint32_t>(reader.counted()));
}

void RepairFrom(std::string* log, size_t begin, bool batches) {
  using log_format::kBlockBytes;
  using log_format::kHeaderBytes;
  size_t at = begin;
  while (at + kHeaderBytes <= log->size()) {
    const size_t block_left = kBlockBytes - (at - begin) % kBlockBytes;
    if (block_left < kHeaderBytes) {
      at += block_left;
      continue;
    }
    char* const header = log->data() + at;
    const auto type = static_cast<uint8_t>(header[6]);
    const size_t payload =
        size_t{static_cast<uint8_t>(header[4])} | size_t{static_cast<uint8_t>(header[5])} << 8;
    const size_t bytes = log_format::HeaderBytes(type) + payload;
    if (type == log_format::kZero || bytes > std::min(block_left, log->size() - at)) {
      at += block_left;
      continue;
    }
    if (batches && type == log_format::kFull) RepairBatch(header + kHeaderBytes, payload);
    EncodeFixed32(header, crc32c::Mask(crc32c::Value(header + 6, bytes - 6)));
    at += bytes;
  }
}

}  // namespace

Seeds SeedLogs() {
  Seeds seeds;
  seeds.push_back(WriteLog({}));
  seeds.push_back(WriteLog({"one", "", std::string(300, 't'), "four"}));
  seeds.push_back(WriteLog({std::string(40'000, 'a'), "b", std::string(35'000, 'c')}));
#if __has_include(<zstd.h>)
  std::string compressed;
  AppendFragment(&compressed, log_format::kSetCompression, std::string("\x07\0\0\0", 4));
  const std::string raw(500, 'z');
  std::string frame(ZSTD_compressBound(raw.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), raw.data(), raw.size(), 1));
  AppendFragment(&compressed, log_format::kFull, frame);
  RepairLog(&compressed);
  seeds.push_back(compressed);
#endif
  for (const auto& [name, bytes] : FilesOfGoldenPack("rocksdb-11.8.1-compressed-log")) {
    if (name.ends_with(".log") && ValidateCompressionType(kZSTD).ok()) seeds.push_back(bytes);
  }
  // Refused: a recycled log whose last record has an unimplemented type, and reserved space that
  // was never written, after types that may be passed over.
  std::string recycled;
  AppendFragment(&recycled, log_format::kRecyclableFull, "first");
  AppendFragment(&recycled, log_format::kRecyclableFirst, "sec");
  AppendFragment(&recycled, log_format::kRecyclableLast, "ond");
  AppendFragment(&recycled, log_format::kRecyclableUserTimestampSizes, std::string(6, '\0'));
  RepairLog(&recycled);
  seeds.push_back(recycled);
  std::string others;
  AppendFragment(&others, log_format::kPredecessorLog, std::string(24, '\x01'));
  AppendFragment(&others, 0xf0, "ignorable");
  AppendFragment(&others, log_format::kFull, "record");
  others.append(2000, '\0');
  RepairLog(&others);
  seeds.push_back(others);
  return seeds;
}

void RepairLog(std::string* input) { RepairFrom(input, 0, false); }

void RepairReplay(std::string* input) { RepairFrom(input, 1, true); }

// Accepted if it ends directly after a record.
bool RunLog(const std::string& input) {
  const Reading reading = Read(input, false);
  static_cast<void>(Read(input, true));
  // LogReader's I2.
  const Reading cut = Read(input.substr(0, reading.last_good_offset), false);
  EXPECT_RIGHT(cut.outcome == LogReader::Outcome::kEnd,
               reading.status + ", but what is cut before it: " + cut.status);
  EXPECT_RIGHT(cut.records == reading.records, "the log that was cut has other records");
  return reading.outcome == LogReader::Outcome::kEnd;
}

Seeds SeedReplays() {
  const SmallDatabase& database = SmallDatabase::Get();
  Seeds seeds;
  for (const char mode : {'\0', '\1', '\2', '\3'})
    seeds.push_back(std::string(1, mode) + database.Bytes(database.log()));
  return seeds;
}

// A log of any bytes. The open refuses it, or the database has contents that a second open finds
// again.
bool RunReplay(const std::string& input) {
  if (input.empty()) return false;
  const SmallDatabase& small = SmallDatabase::Get();
  const auto file_system =
      std::make_shared<MemoryFileSystem>(small.With(small.log(), input.substr(1)));
  Options options = SmallDatabaseOptions();
  options.wal_recovery_mode = static_cast<WALRecoveryMode>(static_cast<uint8_t>(input[0]) % 4);
  Contents contents;
  {
    OpenDatabase database(file_system, options, 1);
    if (!database.Open().ok()) return false;
    const Status read = database.Read(&contents);
    EXPECT_RIGHT(read.ok(), "recovered, but not readable: " + read.ToString());
    const Commit commit{{Change::Kind::kPut, "default", "new key", "new value"},
                        {Change::Kind::kMerge, "two", "key1", "new operand"}};
    const Status written = database.Write(commit, WriteOptions());
    EXPECT_RIGHT(written.ok(), "recovered, but not writable: " + written.ToString());
    Apply(commit, &contents);
    const Status closed = database.Close();
    EXPECT_RIGHT(closed.ok(), "not closed: " + closed.ToString());
  }
  OpenDatabase database(file_system, options, 2);
  const Status opened = database.Open();
  EXPECT_RIGHT(opened.ok(), "not opened again: " + opened.ToString());
  if (!opened.ok()) return false;
  Contents again;
  EXPECT_RIGHT(database.Read(&again).ok() && again == contents, "other contents after a reopen");
  return true;
}

// ---- The other readers of logs: read-only databases, secondaries, and followers of the updates.
// Byte 0 chooses the recovery mode, and whether the rest is the log of the database or an archived
// one.

namespace {

constexpr uint8_t kArchived = 4;
// The most updates of one follower, which is more than the records of any input.
constexpr int kUpdatesMax = 1 << 16;

struct Following {
  bool reaches_end = false;
  SequenceNumber first = kSequenceNumberMax;  // of the updates
  // After a flush, a single deletion of a key that was written twice may show the older value.
  bool has_single_deletions = false;
};

Following FollowUpdates(DB* db) {
  Following following;
  std::unique_ptr<TransactionLogIterator> updates;
  if (!db->GetUpdatesSince(0, &updates).ok()) return following;
  SequenceNumber next = 0;
  for (int steps = 0; updates->Valid(); updates->Next(), ++steps) {
    EXPECT_RIGHT(steps < kUpdatesMax, "endless updates");
    if (steps >= kUpdatesMax) break;
    const BatchResult update = updates->GetBatch();
    EXPECT_RIGHT(update.sequence >= next, "an update is returned again");
    EXPECT_RIGHT(update.sequence <= db->GetLatestSequenceNumber() + 1,
                 "an update that the database does not have");
    next = update.sequence + static_cast<uint64_t>(update.writeBatchPtr->Count());
    following.first = std::min(following.first, update.sequence);
    following.has_single_deletions |= update.writeBatchPtr->HasSingleDelete();
  }
  following.reaches_end = updates->status().ok();
  return following;
}

SequenceNumber BeginOf(const std::vector<std::string>& records) {
  return WriteBatchInternal::Sequence(Slice(records.front()));
}

// Returns the same batches, numbered so that they come directly before those of the log.
std::string LogBefore(const std::string& log) {
  std::vector<std::string> records = Read(log, false).records;
  uint64_t count = 0;
  for (const std::string& record : records) count += DecodeFixed32(record.data() + 8);
  for (std::string& record : records)
    EncodeFixed64(record.data(), WriteBatchInternal::Sequence(Slice(record)) - count);
  return WriteLog(records);
}

}  // namespace

Seeds SeedLogReaders() {
  const SmallDatabase& database = SmallDatabase::Get();
  const std::string& log = database.Bytes(database.log());
  return {std::string(1, '\0') + log, std::string(1, '\2') + log,
          std::string(1, '\4') + LogBefore(log)};
}

// Accepted if the readers and the database open and follow the updates to their end. The readers
// must also follow those of an archived log.
bool RunLogReaders(const std::string& input) {
  if (input.empty()) return false;
  const SmallDatabase& small = SmallDatabase::Get();
  const auto choice = static_cast<uint8_t>(input[0]);
  const std::string bytes = input.substr(1);
  const bool archived = (choice & kArchived) != 0;
  const auto file_system =
      std::make_shared<MemoryFileSystem>(archived ? small.image() : small.With(small.log(), bytes));
  if (archived) {
    EXPECT_RIGHT(file_system->CreateDir("/db/archive").ok() &&
                     WriteStringToFile(file_system.get(), bytes, "/db/archive/000001.log",
                                       Durability::kBuffered)
                         .ok(),
                 "no archive");
  }
  Options options = SmallDatabaseOptions();
  options.wal_recovery_mode = static_cast<WALRecoveryMode>(choice % 4);
  options.WAL_ttl_seconds = 1'000'000;
  const SequenceNumber begin = BeginOf(Read(small.Bytes(small.log()), false).records);
  std::vector<Contents> read;
  bool followed = true;
  const auto use = [&](DB* reader, const Contents* contents) {
    const Following following = FollowUpdates(reader);
    followed &= following.reaches_end && (!archived || following.first < begin);
    EXPECT_RIGHT(contents != nullptr, "opened, but not readable");
    if (contents != nullptr) read.push_back(*contents);
  };
  const bool both_open = ForEachReader(file_system, options, use);
  OpenDatabase database(file_system, options, 1);
  if (!database.Open().ok()) return false;
  Contents contents;
  EXPECT_RIGHT(database.Read(&contents).ok(), "recovered, but not readable");
  const Following following = FollowUpdates(database.db());
  const bool accepted = both_open && followed && following.reaches_end;
  if (following.has_single_deletions) return accepted;
  for (const Contents& other : read)
    EXPECT_RIGHT(other == contents, "a reader has other contents than the database");
  return accepted;
}

}  // namespace ashlar::fuzz

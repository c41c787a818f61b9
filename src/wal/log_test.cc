// Tests LogWriter and LogReader together. Written records are read back, a cut is a torn tail or an
// end, a flipped byte is corruption, and the effects of a power cut are told apart from bit rot.
#include <gtest/gtest.h>
#if __has_include(<zstd.h>)
#include <zstd.h>
#endif

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/compression.h"
#include "base/crc32c.h"
#include "base/format.h"
#include "base/random.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/fault_file_system.h"
#include "wal/log_reader.h"
#include "wal/log_writer.h"
#include "wal/record_compression.h"

namespace ashlar {
namespace {

using Outcome = LogReader::Outcome;
using log_format::kBlockBytes;
using log_format::kHeaderBytes;

constexpr const char* kName = "000007.log";
constexpr uint64_t kNumber = 7;

struct ReadResult {
  std::vector<std::string> records;
  Outcome outcome = Outcome::kReading;
  Status status;
  uint64_t last_good_offset = 0;
  uint64_t torn_end = 0;
};

class LogTest : public testing::Test {
 protected:
  std::unique_ptr<LogWriter> OpenWriter() {
    std::unique_ptr<vfs::WritableFile> file;
    EXPECT_TRUE(file_system_->ReopenWritableFile(kName, vfs::FileOptions{}, &file).ok());
    return std::make_unique<LogWriter>(std::move(file), kName, kNumber);
  }

  std::string Write(const std::vector<std::string>& records) {
    const std::unique_ptr<LogWriter> writer = OpenWriter();
    for (const std::string& record : records) EXPECT_TRUE(writer->AddRecord(record).ok());
    EXPECT_TRUE(writer->Close().ok());
    Result<std::string> bytes = ReadFileToString(file_system_.get(), kName, size_t{1} << 30);
    EXPECT_TRUE(bytes.ok());
    EXPECT_EQ(bytes->size(), writer->bytes());
    return *bytes;
  }

  void SetFile(const std::string& bytes) {
    ASSERT_TRUE(WriteStringToFile(file_system_.get(), bytes, kName, Durability::kBuffered).ok());
  }

  std::unique_ptr<LogReader> OpenReader() {
    uint64_t bytes = 0;
    std::unique_ptr<vfs::SequentialFile> file;
    EXPECT_TRUE(file_system_->GetFileSize(kName, &bytes).ok());
    EXPECT_TRUE(file_system_->NewSequentialFile(kName, vfs::FileOptions{}, &file).ok());
    return std::make_unique<LogReader>(std::move(file), kName, kNumber, bytes);
  }

  ReadResult Read() {
    const std::unique_ptr<LogReader> reader = OpenReader();
    ReadResult result;
    Slice record;
    std::string scratch;
    while (reader->ReadRecord(&record, &scratch)) result.records.push_back(record.ToString());
    result.outcome = reader->outcome();
    result.status = reader->status();
    result.last_good_offset = reader->last_good_offset();
    result.torn_end = reader->torn_end();
    return result;
  }

  ReadResult ReadBytes(const std::string& bytes) {
    SetFile(bytes);
    return Read();
  }

  // Returns every record that can be found, including those after damage.
  std::vector<std::string> Salvage(const std::string& bytes) {
    SetFile(bytes);
    const std::unique_ptr<LogReader> reader = OpenReader();
    std::vector<std::string> records;
    Slice record;
    std::string scratch;
    while (true) {
      while (reader->ReadRecord(&record, &scratch)) records.push_back(record.ToString());
      if (reader->outcome() != Outcome::kCorruption) return records;
      reader->SkipDamage();
    }
  }

  const std::shared_ptr<MemoryFileSystem> file_system_ = std::make_shared<MemoryFileSystem>();
};

// Reads like a follower in another process: first some bytes of the file, then more of them.
class GrowingLog {
 public:
  GrowingLog(MemoryFileSystem* file_system, std::string whole)
      : file_system_(file_system), whole_(std::move(whole)), reader_(nullptr, kName, kNumber, 0) {}

  // Reads the first `bytes` bytes of the log followed by zeros. Appends the records that were not
  // found before.
  void Read(size_t bytes, size_t zeros, std::vector<std::string>* records) {
    const std::string contents = whole_.substr(0, bytes) + std::string(zeros, '\0');
    ASSERT_TRUE(WriteStringToFile(file_system_, contents, kName, Durability::kBuffered).ok());
    std::unique_ptr<vfs::SequentialFile> file;
    ASSERT_TRUE(file_system_->NewSequentialFile(kName, vfs::FileOptions{}, &file).ok());
    ASSERT_TRUE(reader_.ContinueAt(good_bytes_, std::move(file), contents.size()).ok());
    Slice record;
    std::string scratch;
    while (reader_.ReadRecord(&record, &scratch)) records->push_back(record.ToString());
    good_bytes_ = reader_.last_good_offset();
  }
  LogReader& reader() { return reader_; }

 private:
  MemoryFileSystem* const file_system_;
  const std::string whole_;
  LogReader reader_;
  uint64_t good_bytes_ = 0;
};

// Returns bytes other than zero, so that no sector of a record looks unwritten.
std::string Text(size_t bytes, char seed) {
  std::string text(bytes, 'x');
  for (size_t i = 0; i < bytes; ++i)
    text[i] = static_cast<char>('a' + (static_cast<size_t>(seed) + i * 7 + i / 26) % 26);
  return text;
}

std::string FragmentBytes(uint8_t type, const std::string& payload, uint32_t log_number) {
  std::string covered(1, static_cast<char>(type));
  if (log_format::IsRecyclable(type)) PutFixed32(&covered, log_number);
  covered += payload;
  std::string out;
  PutFixed32(&out, crc32c::Mask(crc32c::Value(covered)));
  out.append(2, '\0');
  EncodeFixed16(out.data() + 4, static_cast<uint16_t>(payload.size()));
  return out + covered;
}
std::string FragmentBytes(uint8_t type, const std::string& payload) {
  return FragmentBytes(type, payload, kNumber);
}

bool IsPrefixOf(const std::vector<std::string>& prefix, const std::vector<std::string>& whole) {
  return prefix.size() <= whole.size() && std::equal(prefix.begin(), prefix.end(), whole.begin());
}

TEST_F(LogTest, AnEmptyFileEndsAtOnce) {
  const ReadResult result = ReadBytes("");
  EXPECT_EQ(result.outcome, Outcome::kEnd);
  EXPECT_TRUE(result.records.empty());
  EXPECT_EQ(result.last_good_offset, 0u);
}

TEST_F(LogTest, TheBytesAreThoseOfTheFormat) {
  // "foo" as LevelDB's and RocksDB's writers store it.
  EXPECT_EQ(Slice(Write({"foo"})).ToString(true),
            Slice(FragmentBytes(log_format::kFull, "foo")).ToString(true));
  EXPECT_EQ(FragmentBytes(log_format::kFull, "foo").size(), 10u);
}

TEST_F(LogTest, RecordsOfEverySizeAroundABlockComeBack) {
  for (const size_t before : {size_t{0}, size_t{1}, kBlockBytes - 2 * kHeaderBytes - 1,
                              kBlockBytes - 2 * kHeaderBytes, kBlockBytes - kHeaderBytes - 1}) {
    for (size_t slack = 0; slack < 2 * kHeaderBytes + 2; ++slack) {
      const std::vector<std::string> records{Text(before, 1), Text(kBlockBytes - slack, 2), "",
                                             Text(3 * kBlockBytes - slack, 3), Text(slack, 4)};
      SetFile("");
      const std::string bytes = Write(records);
      const ReadResult result = Read();
      ASSERT_EQ(result.records, records) << before << " " << slack;
      ASSERT_EQ(result.outcome, Outcome::kEnd);
      ASSERT_EQ(result.last_good_offset, bytes.size());
    }
  }
}

TEST_F(LogTest, ARecordIsTheConcatenationOfItsPieces) {
  const std::unique_ptr<LogWriter> writer = OpenWriter();
  const std::string a = Text(10, 1), b = Text(2 * kBlockBytes, 2), c = Text(5, 3);
  const std::vector<Slice> pieces{Slice(), a, Slice(), b, c, Slice()};
  ASSERT_TRUE(writer->AddRecord(std::span<const Slice>(pieces)).ok());
  ASSERT_TRUE(writer->AddRecord(std::span<const Slice>()).ok());
  ASSERT_TRUE(writer->Close().ok());
  EXPECT_EQ(Read().records, (std::vector<std::string>{a + b + c, ""}));
}

TEST_F(LogTest, RandomRecordsComeBackAcrossReopens) {
  const uint64_t seed = 20240601;
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  std::vector<std::string> all;
  for (int session = 0; session < 20; ++session) {
    std::vector<std::string> records;
    for (uint64_t i = random.Uniform(20); i > 0; --i)
      records.push_back(random.Bytes(random.Skewed(17)));
    Write(records);
    all.insert(all.end(), records.begin(), records.end());
  }
  const ReadResult result = Read();
  EXPECT_EQ(result.records, all);
  EXPECT_EQ(result.outcome, Outcome::kEnd);
}

TEST_F(LogTest, EveryCutIsATornTailOrAnEnd) {
  const std::vector<std::string> records{"one", Text(600, 1), Text(kBlockBytes, 2), "",
                                         Text(40, 3)};
  const std::string bytes = Write(records);
  uint64_t whole = 0;
  for (size_t cut = 0; cut <= bytes.size();
       cut += cut < 1000 || cut + 1000 > bytes.size() ? size_t{1} : 97) {
    const ReadResult result = ReadBytes(bytes.substr(0, cut));
    ASSERT_TRUE(IsPrefixOf(result.records, records)) << cut;
    ASSERT_GE(result.records.size(), whole) << cut;
    whole = result.records.size();
    ASSERT_TRUE(result.outcome == Outcome::kTornTail || result.outcome == Outcome::kEnd)
        << cut << " " << result.status.ToString();
    ASSERT_LE(result.last_good_offset, cut);
    if (result.outcome == Outcome::kEnd) {
      ASSERT_LT(cut - result.last_good_offset, kHeaderBytes)
          << "more than a block's padding is left";
    }
    // A file cut at last_good_offset ends without damage and has the same records.
    const ReadResult again = ReadBytes(bytes.substr(0, result.last_good_offset));
    ASSERT_EQ(again.outcome, Outcome::kEnd) << cut;
    ASSERT_EQ(again.records, result.records) << cut;
  }
  EXPECT_EQ(whole, records.size());
}

TEST_F(LogTest, ACutFollowedByZerosIsATornTail) {
  const std::vector<std::string> records{Text(700, 1), Text(kBlockBytes, 2), Text(900, 3)};
  const std::string bytes = Write(records);
  for (size_t sector = 0; sector < bytes.size(); sector += 512) {
    for (const size_t zeros : {size_t{600}, size_t{5000}, 2 * kBlockBytes}) {
      const ReadResult result = ReadBytes(bytes.substr(0, sector) + std::string(zeros, '\0'));
      ASSERT_TRUE(IsPrefixOf(result.records, records)) << sector;
      ASSERT_EQ(result.outcome, Outcome::kTornTail) << sector << " " << result.status.ToString();
    }
  }
}

// A part of the record's header is in the lost sector.
TEST_F(LogTest, AHeaderThatEndsInALostSectorIsATornTail) {
  for (size_t cut = 1; cut < kHeaderBytes; ++cut) {
    const std::string first = Text(512 - cut - kHeaderBytes, 1);
    SetFile("");
    std::string bytes = Write({first, Text(60, 2)});
    std::fill(bytes.begin() + 512, bytes.end(), '\0');
    const ReadResult result = ReadBytes(bytes);
    EXPECT_EQ(result.records, std::vector<std::string>{first}) << cut;
    EXPECT_EQ(result.outcome, Outcome::kTornTail) << cut << " " << result.status.ToString();
  }
}

TEST_F(LogTest, APreallocatedTailBehindWholeRecordsIsATornTailAtItsBeginning) {
  const std::string bytes = Write({"one", "two"});
  const ReadResult result = ReadBytes(bytes + std::string(3 * kBlockBytes, '\0'));
  EXPECT_EQ(result.records.size(), 2u);
  EXPECT_EQ(result.outcome, Outcome::kTornTail);
  EXPECT_EQ(result.last_good_offset, bytes.size());
}

TEST_F(LogTest, EveryFlippedByteIsCorruption) {
  const std::vector<std::string> records{"one", Text(100, 1), Text(kBlockBytes, 2), Text(30, 3),
                                         Text(kBlockBytes + 500, 4)};
  const std::string bytes = Write(records);
  const uint64_t seed = 31;
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  for (size_t at = 0; at < bytes.size();
       at += at < 400 || at % kBlockBytes < 20 || at + 100 > bytes.size() ? size_t{1} : 61) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(static_cast<uint8_t>(damaged[at]) ^ random.Between(1, 255));
    const ReadResult result = ReadBytes(damaged);
    ASSERT_TRUE(IsPrefixOf(result.records, records)) << at;
    ASSERT_LT(result.records.size(), records.size()) << at;
    ASSERT_EQ(result.outcome, Outcome::kCorruption) << at << " " << result.status.ToString();
    ASSERT_NE(result.status.ToString().find(kName), std::string::npos);
    ASSERT_NE(result.status.ToString().find(" at offset "), std::string::npos);
  }
}

TEST_F(LogTest, EveryFlippedByteBeforeAPreallocatedTailIsCorruption) {
  const std::vector<std::string> records{"one", Text(100, 1), Text(30, 3)};
  const std::string bytes = Write(records);
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes + std::string(10000, '\0');
    damaged[at] ^= 0x40;
    const ReadResult result = ReadBytes(damaged);
    ASSERT_EQ(result.outcome, Outcome::kCorruption) << at << " " << result.status.ToString();
  }
}

TEST_F(LogTest, AHoleBeforeARecordIsCorruptionAndIsNotSkipped) {
  std::vector<std::string> records;
  for (int i = 0; i < 40; ++i) records.push_back(Text(4000, static_cast<char>(i)));
  const std::string bytes = Write(records);
  for (size_t page = 0; page + 2 * 4096 < bytes.size(); page += 4096) {
    std::string holed = bytes;
    std::fill_n(holed.begin() + static_cast<std::ptrdiff_t>(page), 4096, '\0');
    const ReadResult result = ReadBytes(holed);
    ASSERT_TRUE(IsPrefixOf(result.records, records)) << page;
    ASSERT_EQ(result.outcome, Outcome::kCorruption) << page << " " << result.status.ToString();
  }
}

TEST_F(LogTest, AWholeBlockOfZerosBeforeARecordIsCorruption) {
  const std::string bytes = Write(
      {Text(kBlockBytes - kHeaderBytes, 1), Text(kBlockBytes - kHeaderBytes, 2), Text(100, 3)});
  std::string holed = bytes;
  std::fill_n(holed.begin() + kBlockBytes, kBlockBytes, '\0');
  const ReadResult result = ReadBytes(holed);
  EXPECT_EQ(result.records.size(), 1u);
  EXPECT_EQ(result.outcome, Outcome::kCorruption);
  EXPECT_TRUE(result.status.ToString().ends_with(StrCat(" at offset ", kBlockBytes)))
      << result.status.ToString();
}

TEST_F(LogTest, GarbageInPlaceOfTheLastWriteIsATornTail) {
  const uint64_t seed = 99;
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  const std::string bytes = Write({"one", "two"});
  for (int i = 0; i < 300; ++i) {
    const ReadResult result = ReadBytes(bytes + random.Bytes(random.Between(8, 3 * kBlockBytes)));
    ASSERT_EQ(result.records.size(), 2u);
    ASSERT_EQ(result.outcome, Outcome::kTornTail) << i << " " << result.status.ToString();
    ASSERT_EQ(result.last_good_offset, bytes.size());
  }
}

TEST_F(LogTest, ALostPageInTheLastRecordIsATornTail) {
  const std::string start = Write({"one"});
  const std::string bytes = Write({Text(20000, 1)});
  for (size_t page = 0; page < bytes.size(); page += 4096) {
    std::string holed = bytes;
    const size_t from = std::max(page, start.size());
    std::fill(holed.begin() + static_cast<std::ptrdiff_t>(from),
              holed.begin() + static_cast<std::ptrdiff_t>(std::min(page + 4096, bytes.size())),
              '\0');
    const ReadResult result = ReadBytes(holed);
    ASSERT_EQ(result.records.size(), 1u);
    ASSERT_EQ(result.outcome, Outcome::kTornTail) << page << " " << result.status.ToString();
  }
}

TEST_F(LogTest, SkippingDamageFindsEveryOtherRecord) {
  std::vector<std::string> records;
  for (int i = 0; i < 60; ++i)
    records.push_back(
        Text(i % 7 == 0 ? 40000 : 300 + static_cast<size_t>(i), static_cast<char>(i)));
  const std::string bytes = Write(records);
  const uint64_t seed = 5;
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  for (int round = 0; round < 60; ++round) {
    std::string damaged = bytes;
    damaged[random.Uniform(bytes.size())] ^= 0x10;
    const std::vector<std::string> found = Salvage(damaged);
    ASSERT_GE(found.size() + 1, records.size());
    ASSERT_LE(found.size(), records.size());
    size_t missing = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i] != records[i + missing]) ++missing;
      ASSERT_EQ(found[i], records[i + missing]);
    }
  }
}

// A value may hold a log, and the last record of that log may end where the value ends. So a record
// after damage counts only where a writer puts one. Its bytes alone do not show that.
TEST_F(LogTest, SkippingDamageFindsNoRecordInAValue) {
  const std::string inner = FragmentBytes(log_format::kFull, Text(50, 8));
  const std::string outer = FragmentBytes(log_format::kFull, Text(100, 1) + inner + inner);
  const std::string next = FragmentBytes(log_format::kFull, "next");
  const std::string bytes = outer + next;
  for (size_t at = 0; at < outer.size() - inner.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] ^= 0x40;
    EXPECT_EQ(ReadBytes(damaged).outcome, Outcome::kCorruption) << at;
    EXPECT_EQ(Salvage(damaged), std::vector<std::string>{"next"}) << at;
  }
  // Neither the length nor the checksum shows the end. The next block begins with a record.
  const std::string third(kBlockBytes - bytes.size() - log_format::kHeaderBytes, 'x');
  const std::string last = FragmentBytes(log_format::kFull, "last");
  std::string damaged = bytes + FragmentBytes(log_format::kFull, third) + last;
  std::fill(damaged.begin(), damaged.begin() + log_format::kHeaderBytes, '\x7f');
  EXPECT_EQ(Salvage(damaged), std::vector<std::string>{"last"});
}

TEST_F(LogTest, RandomBytesAndRandomDamageNeverGiveARecordThatWasNotWritten) {
  const uint64_t seed = 77;
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  std::vector<std::string> records;
  for (int i = 0; i < 30; ++i)
    records.push_back(Text(random.Skewed(13), static_cast<char>(i)) + StrCat(i));
  const std::string bytes = Write(records);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = bytes;
    for (uint64_t i = random.Between(1, 5); i > 0; --i) {
      const size_t at = random.Uniform(damaged.size());
      const std::string garbage = random.OneIn(2) ? std::string(random.Uniform(600), '\0')
                                                  : random.Bytes(random.Uniform(600));
      damaged.replace(at, std::min(garbage.size(), damaged.size() - at), garbage, 0,
                      std::min(garbage.size(), damaged.size() - at));
    }
    damaged.resize(damaged.size() - random.Uniform(damaged.size() / 2));
    const ReadResult result = ReadBytes(damaged);
    ASSERT_TRUE(IsPrefixOf(result.records, records)) << round;
    ASSERT_NE(result.outcome, Outcome::kReading);
    for (const std::string& record : Salvage(damaged))
      ASSERT_NE(std::find(records.begin(), records.end(), record), records.end()) << round;
  }
}

// I4: garbage that looks like fragments everywhere uses up the budget of the search. A record
// longer than the rest of the budget is then found only at the beginning of a block.
TEST_F(LogTest, TheSearchAfterDamageIsBounded) {
  const std::string record = FragmentBytes(log_format::kFull, Text(20000, 4));
  const std::string ones(256 * kBlockBytes, '\x01');  // every byte begins a fragment of 257 bytes
  std::string halves = ones;                          // every other byte begins half a block
  for (size_t i = 0; i < halves.size(); i += 2) halves[i] = 0x3f;
  for (const std::string& garbage : {ones, halves}) {
    const std::string piece = garbage.substr(0, 8192);
    EXPECT_EQ(ReadBytes(piece + record).outcome, Outcome::kCorruption);
    EXPECT_EQ(ReadBytes(garbage + piece + record).outcome, Outcome::kTornTail);
    EXPECT_EQ(ReadBytes(garbage + record).outcome, Outcome::kCorruption);
  }
}

TEST_F(LogTest, AMiddleWithoutABeginningIsCorruption) {
  const ReadResult result = ReadBytes(FragmentBytes(log_format::kFull, "one") +
                                      FragmentBytes(log_format::kMiddle, "two"));
  EXPECT_EQ(result.records.size(), 1u);
  EXPECT_EQ(result.outcome, Outcome::kCorruption);
}

TEST_F(LogTest, ARecordWithoutAnEndBeforeAnotherIsCorruptionAndTheOtherIsFound) {
  const std::string bytes =
      FragmentBytes(log_format::kFirst, "one") + FragmentBytes(log_format::kFull, "two");
  const ReadResult result = ReadBytes(bytes);
  EXPECT_TRUE(result.records.empty());
  EXPECT_EQ(result.outcome, Outcome::kCorruption);
  EXPECT_EQ(Salvage(bytes), std::vector<std::string>{"two"});
}

TEST_F(LogTest, AnEmptyFirstFragmentOfEarlyWritersIsPassedOver) {
  const ReadResult result =
      ReadBytes(FragmentBytes(log_format::kFirst, "") + FragmentBytes(log_format::kFull, "two"));
  EXPECT_EQ(result.records, std::vector<std::string>{"two"});
  EXPECT_EQ(result.outcome, Outcome::kEnd);
}

TEST_F(LogTest, RecyclableFragmentsAreReadUntilTheOlderLogBegins) {
  const std::string own = FragmentBytes(log_format::kRecyclableFull, "one") +
                          FragmentBytes(log_format::kRecyclableFirst, "tw") +
                          FragmentBytes(log_format::kRecyclableLast, "o");
  ReadResult result = ReadBytes(own + FragmentBytes(log_format::kRecyclableFull, "older", 3) +
                                FragmentBytes(log_format::kRecyclableFull, "older", 3));
  EXPECT_EQ(result.records, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(result.outcome, Outcome::kEnd);
  EXPECT_EQ(result.last_good_offset, own.size());
  // The leftovers begin inside a fragment of the older log.
  result = ReadBytes(own + Text(200, 4));
  EXPECT_EQ(result.records.size(), 2u);
  EXPECT_EQ(result.outcome, Outcome::kTornTail);
  result = ReadBytes(own + Text(200, 4) + FragmentBytes(log_format::kRecyclableFull, "older", 3));
  EXPECT_EQ(result.records.size(), 2u);
  EXPECT_EQ(result.outcome, Outcome::kTornTail)
      << "an intact record of an older log is no sign of corruption";
  // The leftovers of the older log cut off a record.
  result = ReadBytes(own + FragmentBytes(log_format::kRecyclableFirst, "th") +
                     FragmentBytes(log_format::kRecyclableLast, "ree", 3));
  EXPECT_EQ(result.records.size(), 2u);
  EXPECT_EQ(result.outcome, Outcome::kTornTail);
  EXPECT_EQ(result.last_good_offset, own.size());
}

// A value of the older log may begin where this log ends, and a value may hold a log.
TEST_F(LogTest, AFragmentWithoutANumberIsNoneOfARecycledLog) {
  const std::string own = FragmentBytes(log_format::kRecyclableFull, "one");
  const std::string head =
      FragmentBytes(log_format::kSetCompression, std::string(sizeof(uint32_t), '\0'));
  for (const uint8_t type : {uint8_t{1}, uint8_t{2}, uint8_t{9}, uint8_t{10}, uint8_t{12}}) {
    SCOPED_TRACE(testing::Message() << "type " << int{type});
    const std::string value =
        FragmentBytes(type, "val") + FragmentBytes(log_format::kLast, "ue") + Text(100, 3);
    ReadResult result = ReadBytes(own + value);
    EXPECT_EQ(result.records, (std::vector<std::string>{"one"}));
    EXPECT_EQ(result.outcome, Outcome::kEnd);
    EXPECT_EQ(result.last_good_offset, own.size());
    // The fragment that names the compression of records has no number in any log.
    result = ReadBytes(head + own + value);
    EXPECT_EQ(result.records, (std::vector<std::string>{"one"}));
    EXPECT_EQ(result.outcome, Outcome::kEnd);
    // A lost sector between records of the log.
    result = ReadBytes(own + value + own);
    EXPECT_EQ(result.records.size(), 1u);
    EXPECT_EQ(result.outcome, Outcome::kCorruption);
    // The value is inside a record that the bytes of the older log cut off.
    result = ReadBytes(own + FragmentBytes(log_format::kRecyclableFirst, "tw") + value);
    EXPECT_EQ(result.records.size(), 1u);
    EXPECT_EQ(result.outcome, Outcome::kTornTail);
    EXPECT_EQ(result.last_good_offset, own.size());
  }
}

// Records with this log's number after the damage were written since the file was recycled.
TEST_F(LogTest, DamageInTheMiddleOfARecycledLogIsCorruption) {
  constexpr size_t kRecords = 600;
  constexpr size_t kFragmentBytes = 64;  // so that fragments fill blocks
  std::string own;
  for (size_t i = 0; i < kRecords; ++i) {
    own += FragmentBytes(
        log_format::kRecyclableFull,
        Text(kFragmentBytes - log_format::kRecyclableHeaderBytes, static_cast<char>(i % 100)));
  }
  const std::string older = Text(200, 4) + FragmentBytes(log_format::kRecyclableFull, "older", 3);
  for (const std::string& end : {std::string(), older}) {
    for (const size_t at : {size_t{0}, size_t{5}, size_t{8}, size_t{40}}) {
      SCOPED_TRACE(testing::Message() << "byte " << at << " of a record");
      std::string bytes = own + end;
      bytes[5 * kFragmentBytes + at] ^= 0x20;
      const ReadResult result = ReadBytes(bytes);
      EXPECT_EQ(result.records.size(), 5u);
      EXPECT_EQ(result.outcome, Outcome::kCorruption);
      EXPECT_EQ(Salvage(bytes).size(), kRecords - 1);
      // No record follows the last one.
      bytes = own + end;
      bytes[own.size() - kFragmentBytes + at] ^= 0x20;
      EXPECT_EQ(ReadBytes(bytes).records.size(), kRecords - 1);
      EXPECT_EQ(ReadBytes(bytes).outcome, Outcome::kTornTail);
    }
  }
}

// Writes a log over an older one, number 3, whose bytes follow it until the file is flushed.
class RecycledLogTest : public LogTest {
 protected:
  static constexpr const char* kOlderName = "000003.dbtmp";
  static constexpr uint64_t kOlderNumber = 3;

  // Returns the bytes of a log with this number that overwrites no other log.
  std::string Numbered(const std::vector<std::string>& records, uint64_t number) {
    std::unique_ptr<vfs::WritableFile> file;
    EXPECT_TRUE(file_system_->NewWritableFile(kOlderName, vfs::FileOptions{}, &file).ok());
    LogWriter writer(std::move(file), kOlderName, number);
    writer.NumberFragments();
    for (const std::string& record : records) EXPECT_TRUE(writer.AddRecord(record).ok());
    EXPECT_TRUE(writer.Close().ok());
    return *ReadFileToString(file_system_.get(), kOlderName, size_t{1} << 30);
  }
  // Overwrites the file that Numbered wrote last.
  std::unique_ptr<LogWriter> WriteOver() {
    std::unique_ptr<vfs::WritableFile> file;
    EXPECT_TRUE(file_system_->ReuseWritableFile(kOlderName, kName, vfs::FileOptions{}, &file).ok());
    auto writer = std::make_unique<LogWriter>(std::move(file), kName, kNumber);
    writer->NumberFragments();
    return writer;
  }
  uint64_t FileBytes() {
    uint64_t bytes = 0;
    EXPECT_TRUE(file_system_->GetFileSize(kName, &bytes).ok());
    return bytes;
  }
};

TEST_F(RecycledLogTest, ItsFragmentsHaveItsNumber) {
  EXPECT_EQ(Slice(Numbered({"foo"}, (uint64_t{1} << 32) + kNumber)).ToString(true),
            Slice(FragmentBytes(log_format::kRecyclableFull, "foo")).ToString(true));
  EXPECT_EQ(FragmentBytes(log_format::kRecyclableFull, "foo").size(), 14u);
}

TEST_F(RecycledLogTest, RecordsOfEverySizeAroundABlockComeBack) {
  for (size_t slack = 0; slack < 3 * log_format::kRecyclableHeaderBytes; ++slack) {
    const std::vector<std::string> records{Text(kBlockBytes - slack, 2), "",
                                           Text(2 * kBlockBytes - slack, 3), Text(slack, 4)};
    const ReadResult result = ReadBytes(Numbered(records, kNumber));
    ASSERT_EQ(result.records, records) << slack;
    ASSERT_EQ(result.outcome, Outcome::kEnd) << slack << " " << result.status.ToString();
  }
}

TEST_F(RecycledLogTest, WhatWasHandedOverIsReadAndNothingOfTheOlderLog) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    // If records have one size, the fragments of both logs begin at the same offsets.
    const size_t fixed_bytes = random.OneIn(3) ? 1 + random.Uniform(300) : 0;
    const auto draw = [&] {
      return Text(fixed_bytes > 0 ? fixed_bytes : random.Skewed(15),
                  static_cast<char>(random.Uniform(20)));
    };
    std::vector<std::string> older;
    for (uint64_t i = random.Uniform(200); i > 0; --i) older.push_back(draw());
    Numbered(older, kOlderNumber);
    const std::unique_ptr<LogWriter> writer = WriteOver();
    std::vector<std::string> written;
    for (uint64_t i = random.Uniform(40); i > 0; --i) {
      written.push_back(draw());
      ASSERT_TRUE(writer->AddRecord(written.back()).ok());
      const ReadResult result = Read();
      ASSERT_EQ(result.records, written);
      ASSERT_EQ(result.last_good_offset, writer->bytes());
      ASSERT_TRUE(result.outcome == Outcome::kEnd || result.outcome == Outcome::kTornTail)
          << result.status.ToString();
      if (result.outcome == Outcome::kTornTail) {
        ASSERT_EQ(result.torn_end, result.last_good_offset) << "nothing of this log is torn";
      }
    }
    ASSERT_TRUE(writer->Sync().ok());
    ASSERT_TRUE(writer->Flush().ok());
    EXPECT_EQ(FileBytes(), writer->bytes()) << "a closed log ends with its last record";
    EXPECT_EQ(Read().outcome, Outcome::kEnd);
    ASSERT_TRUE(writer->Close().ok());
  }
}

TEST_F(RecycledLogTest, EveryCutOverAnOlderLogIsItsEnd) {
  const std::vector<std::string> records{"one", Text(600, 1), Text(kBlockBytes, 2), "",
                                         Text(40, 3)};
  const std::string older = Numbered({Text(90, 5), Text(3 * kBlockBytes, 6)}, kOlderNumber);
  const std::string bytes = Numbered(records, kNumber);
  ASSERT_LT(bytes.size(), older.size());
  EXPECT_EQ(ReadBytes(older).outcome, Outcome::kEnd);
  uint64_t whole = 0;
  // The first fragment is within one sector.
  for (size_t cut = log_format::kRecyclableHeaderBytes + 3; cut <= bytes.size();
       cut += cut < 1000 || cut + 1000 > bytes.size() ? size_t{1} : 97) {
    const ReadResult result = ReadBytes(bytes.substr(0, cut) + older.substr(cut));
    ASSERT_TRUE(IsPrefixOf(result.records, records)) << cut;
    ASSERT_GE(result.records.size(), whole) << cut;
    whole = result.records.size();
    // The older log may have the same bytes here.
    const auto differs = std::mismatch(bytes.begin() + static_cast<ptrdiff_t>(cut), bytes.end(),
                                       older.begin() + static_cast<ptrdiff_t>(cut));
    ASSERT_LE(result.last_good_offset, static_cast<uint64_t>(differs.first - bytes.begin()));
    ASSERT_TRUE(result.outcome == Outcome::kTornTail || result.outcome == Outcome::kEnd)
        << cut << " " << result.status.ToString();
  }
  EXPECT_EQ(whole, records.size());
}

// A power cut may leave any sector with the bytes of the older log.
TEST_F(RecycledLogTest, AStaleSectorBeforeItsRecordsIsCorruption) {
  constexpr size_t kSector = 512;
  constexpr size_t kFragmentBytes = 64;  // eight fill a sector in both logs
  constexpr size_t kRecords = 1000;
  std::vector<std::string> records;
  std::vector<std::string> older_records;
  for (size_t i = 0; i < kRecords; ++i) {
    const size_t payload = kFragmentBytes - log_format::kRecyclableHeaderBytes;
    records.push_back(Text(payload, static_cast<char>(i % 20)));
    older_records.push_back(Text(payload, static_cast<char>(i % 19)));
  }
  const std::string bytes = Numbered(records, kNumber);
  for (const std::string& first : {std::string(), Text(100, 1)}) {  // the same alignment or not
    SCOPED_TRACE(testing::Message() << "the older log has " << first.size() << " bytes more");
    std::vector<std::string> shifted = older_records;
    if (!first.empty()) shifted.insert(shifted.begin(), first);
    const std::string older = Numbered(shifted, kOlderNumber);
    for (const size_t sector : {size_t{0}, size_t{1}, size_t{30}, size_t{64}}) {
      std::string mixed = bytes;
      mixed.replace(sector * kSector, kSector, older, sector * kSector, kSector);
      const ReadResult result = ReadBytes(mixed);
      EXPECT_EQ(result.records.size(), sector * kSector / kFragmentBytes) << sector;
      // At the beginning of the log, only an intact fragment shows that the log is recycled.
      EXPECT_EQ(result.outcome, Outcome::kCorruption) << sector << result.status.ToString();
      // The end of a fragment that continues in another sector is not known. In this case the rest
      // of its block is lost.
      const size_t block_end = std::min(bytes.size(), (sector / 64 + 1) * kBlockBytes);
      const size_t lost_bytes_max = first.empty() ? kSector : block_end - sector * kSector;
      const size_t found = Salvage(mixed).size();
      EXPECT_LE(found, kRecords - kSector / kFragmentBytes) << sector;
      EXPECT_GE(found, kRecords - lost_bytes_max / kFragmentBytes) << sector;
    }
    std::string mixed = bytes;
    const size_t last = bytes.size() / kSector - 1;
    mixed.replace(last * kSector, std::string::npos, older, last * kSector, std::string::npos);
    const ReadResult result = ReadBytes(mixed);
    EXPECT_EQ(result.records.size(), last * kSector / kFragmentBytes);
    EXPECT_NE(result.outcome, Outcome::kCorruption) << "no record of this log follows";
  }
}

TEST_F(RecycledLogTest, AFollowerReadsOnWhereTheOlderLogWas) {
  std::vector<std::string> records;
  for (size_t i = 0; i < 120; ++i)
    records.push_back(Text(i % 13 == 12 ? 20000 : 200 + i % 17, static_cast<char>(i % 20)));
  const std::string older = Numbered(std::vector<std::string>(1000, Text(333, 7)), kOlderNumber);
  const std::string bytes = Numbered(records, kNumber);
  ASSERT_LT(bytes.size(), older.size());
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    LogReader reader(nullptr, kName, kNumber, 0);
    std::vector<std::string> read;
    uint64_t good_bytes = 0;
    for (size_t written = 0;;) {
      const std::string contents = bytes.substr(0, written) + older.substr(written);
      SetFile(contents);
      std::unique_ptr<vfs::SequentialFile> file;
      ASSERT_TRUE(file_system_->NewSequentialFile(kName, vfs::FileOptions{}, &file).ok());
      ASSERT_TRUE(reader.ContinueAt(good_bytes, std::move(file), contents.size()).ok());
      Slice record;
      std::string scratch;
      while (reader.ReadRecord(&record, &scratch)) read.push_back(record.ToString());
      ASSERT_TRUE(IsPrefixOf(read, records));
      ASSERT_NE(reader.outcome(), Outcome::kCorruption) << reader.status().ToString();
      good_bytes = reader.last_good_offset();
      if (written == bytes.size()) break;
      written = std::min(bytes.size(), written + random.Uniform(random.OneIn(2) ? 50 : 50000));
    }
    EXPECT_EQ(read, records);
  }
}

TEST_F(LogTest, AReaderContinuesWhereALogEndedBefore) {
  std::vector<std::string> written;
  for (const size_t bytes : {size_t{1}, size_t{100}, size_t{40000}, size_t{0}, size_t{32741},
                             size_t{7}, size_t{90000}, size_t{3}})
    written.push_back(Text(bytes, static_cast<char>(written.size())));
  const std::string whole = Write(written);
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    GrowingLog log(file_system_.get(), whole);
    std::vector<std::string> records;
    for (size_t bytes = 0; bytes < whole.size();) {
      bytes = std::min(whole.size(), bytes + random.Uniform(random.OneIn(2) ? 50 : 50000));
      log.Read(bytes, random.OneIn(2) ? 0 : random.Uniform(40000), &records);
      ASSERT_TRUE(IsPrefixOf(records, written));
    }
    log.Read(whole.size(), 0, &records);
    EXPECT_EQ(records, written);
    EXPECT_EQ(log.reader().outcome(), Outcome::kEnd);
  }
}

TEST_F(LogTest, ALogThatHasBecomeShorterIsCorruption) {
  const std::string whole = Write({"one", "two", "three"});
  GrowingLog log(file_system_.get(), whole);
  std::vector<std::string> records;
  log.Read(whole.size(), 0, &records);
  ASSERT_EQ(records.size(), 3u);
  SetFile(whole.substr(0, whole.size() - 1));
  std::unique_ptr<vfs::SequentialFile> file;
  ASSERT_TRUE(file_system_->NewSequentialFile(kName, vfs::FileOptions{}, &file).ok());
  ASSERT_TRUE(log.reader().ContinueAt(whole.size(), std::move(file), whole.size()).ok());
  Slice record;
  std::string scratch;
  EXPECT_FALSE(log.reader().ReadRecord(&record, &scratch));
  EXPECT_EQ(log.reader().outcome(), Outcome::kCorruption);
}

TEST_F(LogTest, AFlippedTypeDoesNotMakeALogLookRecycled) {
  std::string bytes = Write({"one", "two"});
  bytes[6] = log_format::kRecyclableFull;
  EXPECT_EQ(ReadBytes(bytes).outcome, Outcome::kCorruption);
}

TEST_F(LogTest, FragmentsThatMayBeIgnoredAreAndOthersAreRefused) {
  const std::string one = FragmentBytes(log_format::kFull, "one");
  const std::string two = FragmentBytes(log_format::kFull, "two");
  for (const uint8_t type : {uint8_t{130}, uint8_t{200}, uint8_t{255}}) {
    const ReadResult result = ReadBytes(one + FragmentBytes(type, "something") + two);
    EXPECT_EQ(result.records.size(), 2u) << int{type};
    EXPECT_EQ(result.outcome, Outcome::kEnd);
  }
  const std::string numbered = FragmentBytes(log_format::kRecyclableFull, "numbered");
  for (const uint8_t type : {uint8_t{130}, uint8_t{131}, uint8_t{200}, uint8_t{255}}) {
    const ReadResult result = ReadBytes(numbered + FragmentBytes(type, "something") + numbered);
    EXPECT_EQ(result.records.size(), 2u) << int{type};
    EXPECT_EQ(result.outcome, Outcome::kEnd);
  }
  for (const uint8_t type : {uint8_t{10}, uint8_t{11}, uint8_t{12}, uint8_t{127}}) {
    const ReadResult result = ReadBytes(one + FragmentBytes(type, "something") + two);
    EXPECT_EQ(result.records.size(), 1u) << int{type};
    EXPECT_EQ(result.outcome, Outcome::kUnsupported) << int{type};
    EXPECT_TRUE(result.status.IsNotSupported());
  }
}

std::string CompressionFragment(uint32_t codec) {
  std::string payload;
  PutFixed32(&payload, codec);
  return FragmentBytes(log_format::kSetCompression, payload);
}

// A build without the codec also lacks its header. tests/no_codecs tests the refusals then.
#if __has_include(<zstd.h>)
std::string ZstdFrame(const std::string& bytes) {
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), 3));
  return frame;
}

TEST_F(LogTest, CompressedRecordsAreRead) {
  const std::string text = Text(100000, 1);
  const std::string frame = ZstdFrame(text);
  const std::string head = CompressionFragment(7) + FragmentBytes(log_format::kFull, ZstdFrame(""));
  const std::string split = FragmentBytes(log_format::kFirst, frame.substr(0, 20)) +
                            FragmentBytes(log_format::kLast, frame.substr(20));
  ReadResult result = ReadBytes(head + split + split);
  EXPECT_EQ(result.records, (std::vector<std::string>{"", text, text}));
  EXPECT_EQ(result.outcome, Outcome::kEnd);
  for (const std::string& bad :
       {frame.substr(0, frame.size() - 1), frame + "x", std::string("plain"), std::string()}) {
    result = ReadBytes(head + FragmentBytes(log_format::kFull, bad));
    EXPECT_EQ(result.records.size(), 1u);
    EXPECT_EQ(result.outcome, Outcome::kCorruption);
  }
}

TEST_F(LogTest, ACompressedLogIsContinued) {
  std::string whole = CompressionFragment(7);
  std::vector<std::string> written;
  for (const char seed : {'a', 'b', 'c'}) {
    written.push_back(Text(5000, seed));
    whole += FragmentBytes(log_format::kFull, ZstdFrame(written.back()));
  }
  for (size_t first = 0; first <= whole.size(); first += 3) {
    GrowingLog log(file_system_.get(), whole);
    std::vector<std::string> records;
    log.Read(first, 0, &records);
    log.Read(whole.size(), 0, &records);
    ASSERT_EQ(records, written) << first;
  }
}

TEST_F(LogTest, ACompressedLogIsOneFragmentAndAFramePerRecord) {
  std::vector<std::string> written{"", "one", Text(100, 'a'), std::string(1 << 20, 'z')};
  Random random(301);
  for (const size_t bytes : {32768u, 100000u, 5u}) written.push_back(random.Bytes(bytes));
  const std::unique_ptr<LogWriter> writer = OpenWriter();
  ASSERT_TRUE(writer->CompressRecords(kZSTD).ok());
  uint64_t raw_bytes = 0;
  for (const std::string& record : written) {
    // The pieces, some of which are empty, are compressed as one record.
    const size_t middle = record.size() / 3;
    const std::vector<Slice> pieces{Slice(record.data(), middle), Slice(),
                                    Slice(record.data() + middle, record.size() - middle)};
    ASSERT_TRUE(writer->AddRecord(std::span<const Slice>(pieces)).ok());
    writer->MarkCommitted();
    raw_bytes += record.size();
  }
  EXPECT_LT(writer->bytes(), raw_bytes / 2);
  ASSERT_TRUE(writer->Close().ok());
  EXPECT_EQ(writer->good_bytes(), writer->bytes());
  Result<std::string> contents = ReadFileToString(file_system_.get(), kName, size_t{1} << 30);
  ASSERT_TRUE(contents.ok());
  const std::string& bytes = *contents;
  EXPECT_TRUE(Slice(bytes).starts_with(CompressionFragment(7)));
  const ReadResult result = ReadBytes(bytes);
  EXPECT_EQ(result.records, written);
  EXPECT_EQ(result.outcome, Outcome::kEnd);
  // If a crash cuts the log anywhere, the records before the cut are read.
  for (size_t cut = 0; cut < 4000; ++cut) {
    const ReadResult torn = ReadBytes(bytes.substr(0, cut));
    EXPECT_TRUE(torn.outcome == Outcome::kEnd || torn.outcome == Outcome::kTornTail) << cut;
    ASSERT_TRUE(std::equal(torn.records.begin(), torn.records.end(), written.begin())) << cut;
  }
}

TEST(RecordCompressor, OtherCodecsCompressNoLogs) {
  EXPECT_TRUE(CompressesLogs(kZSTD));
  for (const CompressionType type : {kNoCompression, kSnappyCompression, kLZ4Compression,
                                     kZlibCompression, kDisableCompressionOption})
    EXPECT_FALSE(CompressesLogs(type)) << int{type};
}

TEST(RecordDecompressor, ACompressionBombIsRefusedWithoutItsMemory) {
  const std::string zeros(1 << 20, '\0');
  const std::string bomb = ZstdFrame(zeros);
  Result<std::unique_ptr<RecordDecompressor>> decompressor = RecordDecompressor::Create(7);
  ASSERT_TRUE(decompressor.ok());
  std::string out;
  EXPECT_TRUE((*decompressor)->Decompress(bomb, zeros.size() - 1, &out).IsCorruption());
  EXPECT_LT(out.capacity(), 2 * zeros.size());
  out = std::string();
  EXPECT_TRUE((*decompressor)->Decompress(bomb, 1000, &out).IsCorruption());
  EXPECT_LE(out.size(), 1000u);
  ASSERT_TRUE((*decompressor)->Decompress(bomb, zeros.size(), &out).ok());
  EXPECT_EQ(out, zeros);
}
#endif

TEST_F(LogTest, AnotherCodecIsRefusedByName) {
  const ReadResult result =
      ReadBytes(CompressionFragment(4) + FragmentBytes(log_format::kFull, "x"));
  EXPECT_EQ(result.outcome, Outcome::kUnsupported);
  EXPECT_NE(result.status.ToString().find("LZ4"), std::string::npos) << result.status.ToString();
  // LogReader's I2: the part before the fragment is a complete log.
  EXPECT_EQ(result.last_good_offset, 0U);
}

TEST_F(LogTest, ACompressionFragmentInTheMiddleIsCorruption) {
  EXPECT_EQ(ReadBytes(FragmentBytes(log_format::kFull, "one") + CompressionFragment(7)).outcome,
            Outcome::kCorruption);
  EXPECT_EQ(ReadBytes(FragmentBytes(log_format::kSetCompression, "abc")).outcome,
            Outcome::kCorruption);
}

TEST_F(LogTest, AReadErrorIsNeverAnEnd) {
  Write({Text(3 * kBlockBytes, 1), "two"});
  for (uint64_t nth = 1; nth <= 4; ++nth) {
    FaultFileSystem faults(file_system_);
    FaultRule rule;
    rule.operations = FaultOperation::kRead;
    rule.nth = nth;
    faults.AddRule(rule);
    std::unique_ptr<vfs::SequentialFile> file;
    ASSERT_TRUE(faults.NewSequentialFile(kName, vfs::FileOptions{}, &file).ok());
    uint64_t bytes = 0;
    ASSERT_TRUE(file_system_->GetFileSize(kName, &bytes).ok());
    LogReader reader(std::move(file), kName, kNumber, bytes);
    Slice record;
    std::string scratch;
    while (reader.ReadRecord(&record, &scratch)) {
    }
    EXPECT_EQ(reader.outcome(), Outcome::kIoError) << nth;
    EXPECT_TRUE(reader.status().IsIOError());
  }
}

TEST_F(LogTest, ShortReadsAreNotTheEndOfTheFile) {
  const std::vector<std::string> records{Text(3 * kBlockBytes, 1), "two"};
  Write(records);
  FaultFileSystem faults(file_system_);
  FaultRule rule;
  rule.operations = FaultOperation::kRead;
  rule.effect = FaultEffect::kShortRead;
  rule.nth = 2;
  faults.AddRule(rule);
  std::unique_ptr<vfs::SequentialFile> file;
  ASSERT_TRUE(faults.NewSequentialFile(kName, vfs::FileOptions{}, &file).ok());
  uint64_t bytes = 0;
  ASSERT_TRUE(file_system_->GetFileSize(kName, &bytes).ok());
  LogReader reader(std::move(file), kName, kNumber, bytes);
  Slice record;
  std::string scratch;
  std::vector<std::string> found;
  while (reader.ReadRecord(&record, &scratch)) found.push_back(record.ToString());
  EXPECT_TRUE(IsPrefixOf(found, records));
  EXPECT_NE(reader.outcome(), Outcome::kReading);
}

TEST_F(LogTest, AfterAnErrorEveryCallReturnsIt) {
  for (const FaultOperation operation : {FaultOperation::kAppend, FaultOperation::kFlush,
                                         FaultOperation::kSync, FaultOperation::kClose}) {
    FaultFileSystem faults(file_system_);
    std::unique_ptr<vfs::WritableFile> file;
    ASSERT_TRUE(faults.NewWritableFile(kName, vfs::FileOptions{}, &file).ok());
    LogWriter writer(std::move(file), kName, kNumber);
    ASSERT_TRUE(writer.AddRecord("one").ok());
    ASSERT_TRUE(writer.Sync().ok());
    FaultRule rule;
    rule.operations = operation;
    rule.error = Status::IOError("the first error");
    faults.AddRule(rule);
    Status first = writer.AddRecord("two");
    if (first.ok()) first = writer.Flush();
    if (first.ok()) first = writer.Sync();
    if (first.ok()) first = writer.Close();
    ASSERT_TRUE(first.IsIOError()) << static_cast<uint32_t>(operation);
    const uint64_t calls = faults.CallCount(FaultOperation::kAny);
    for (const Status& status : {writer.AddRecord("three"), writer.Flush(), writer.Sync(),
                                 writer.Close(), writer.status()}) {
      EXPECT_EQ(status.ToString(), first.ToString());
    }
    EXPECT_EQ(faults.CallCount(FaultOperation::kAny), calls)
        << "an operation after the error touched the file";
  }
}

// If an allocation fails inside a call of the file, its contents are as unknown as after an error.
TEST_F(LogTest, LackOfMemoryInsideTheFileIsAnErrorOfTheLog) {
  class Throwing final : public vfs::WritableFile {
   public:
    Status Append(const Slice&) override { throw std::bad_alloc(); }
    Status Flush() override { return Status::OK(); }
    Status Sync() override { return Status::OK(); }
    Status Close() override { return Status::OK(); }
    uint64_t Size() const override { return 0; }
  };
  LogWriter writer(std::make_unique<Throwing>(), kName, kNumber);
  EXPECT_TRUE(writer.AddRecord("one").IsMemoryLimit());
  EXPECT_TRUE(writer.Flush().IsMemoryLimit());
  EXPECT_EQ(writer.good_bytes(), 0u);
}

TEST_F(LogTest, ALargeRecordReachesTheFileInLargePieces) {
  FaultFileSystem counting(file_system_);
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_TRUE(counting.NewWritableFile(kName, vfs::FileOptions{}, &file).ok());
  LogWriter writer(std::move(file), kName, kNumber);
  counting.ResetCounts();
  ASSERT_TRUE(writer.AddRecord(Text(100, 1)).ok());
  EXPECT_EQ(counting.CallCount(FaultOperation::kAppend), 1u);
  ASSERT_TRUE(writer.AddRecord(Text(1 << 20, 1)).ok());
  EXPECT_LE(counting.CallCount(FaultOperation::kAppend), 1u + 17u);
}

TEST_F(LogTest, StagedRecordsReachTheFileInOneAppend) {
  FaultFileSystem counting(file_system_);
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_TRUE(counting.NewWritableFile(kName, vfs::FileOptions{}, &file).ok());
  LogWriter writer(std::move(file), kName, kNumber);
  counting.ResetCounts();
  const std::vector<std::string> records = {Text(100, 1), Text(40000, 2), "", Text(10, 3)};
  for (const std::string& record : records) {
    const Slice piece(record);
    ASSERT_TRUE(writer.StageRecord(std::span<const Slice>(&piece, 1)).ok());
  }
  EXPECT_EQ(counting.CallCount(FaultOperation::kAppend), 0u);
  ASSERT_TRUE(writer.HandOver().ok());
  EXPECT_EQ(counting.CallCount(FaultOperation::kAppend), 1u);
  EXPECT_EQ(Read().records, records);
}

// I4: after every failure, the counted bytes are complete records in the file.
TEST_F(LogTest, GoodBytesAreThoseOfCommittedRecordsInTheFile) {
  const std::string large = Text(
      200000,
      5);  // more than the buffer holds, so its first pieces are in the file when a later one fails
  for (uint64_t nth = 1; nth <= 3; ++nth) {
    SCOPED_TRACE(nth);
    FaultFileSystem faults(file_system_);
    std::unique_ptr<vfs::WritableFile> file;
    ASSERT_TRUE(faults.NewWritableFile(kName, vfs::FileOptions{}, &file).ok());
    LogWriter writer(std::move(file), kName, kNumber);
    EXPECT_EQ(writer.good_bytes(), 0u);
    ASSERT_TRUE(writer.AddRecord("first").ok());
    EXPECT_EQ(writer.good_bytes(), 0u) << "neither committed nor flushed";
    writer.MarkCommitted();
    EXPECT_EQ(writer.good_bytes(), 0u) << "still in this process";
    ASSERT_TRUE(writer.Flush().ok());
    const uint64_t whole = writer.bytes();
    EXPECT_EQ(writer.good_bytes(), whole);

    FaultRule rule;
    rule.operations = FaultOperation::kAppend;
    rule.effect = FaultEffect::kPartialAppend;
    rule.nth = nth;
    faults.AddRule(rule);
    Status failed = writer.AddRecord(large);
    if (failed.ok()) failed = writer.Flush();
    ASSERT_TRUE(failed.IsIOError());
    EXPECT_EQ(writer.good_bytes(), whole);
    EXPECT_EQ(writer.Close().ToString(), failed.ToString());
    EXPECT_EQ(writer.good_bytes(), whole);
    ASSERT_TRUE(file_system_->Truncate(kName, writer.good_bytes()).ok());
    const ReadResult result = Read();
    EXPECT_EQ(result.outcome, Outcome::kEnd);
    EXPECT_EQ(result.records, std::vector<std::string>{"first"});
  }
}

}  // namespace
}  // namespace ashlar

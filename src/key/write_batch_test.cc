#include "ashlar/write_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "base/format.h"
#include "base/random.h"
#include "key/write_batch_internal.h"

namespace ashlar {
namespace {

class FakeFamily final : public ColumnFamilyHandle {
 public:
  explicit FakeFamily(uint32_t id) : id_(id) {}
  const std::string& GetName() const override { return name_; }
  uint32_t GetID() const override { return id_; }
  Status GetDescriptor(ColumnFamilyDescriptor*) override { return Status::NotSupported(); }
  const Comparator* GetComparator() const override { return BytewiseComparator(); }

 private:
  const std::string name_ = "fake";
  const uint32_t id_;
};

// Writes the records as text, one after another.
class Recorder : public WriteBatch::Handler {
 public:
  Status PutCF(uint32_t id, const Slice& key, const Slice& value) override {
    return Note("put", id, key, value);
  }
  Status DeleteCF(uint32_t id, const Slice& key) override { return Note("delete", id, key, ""); }
  Status SingleDeleteCF(uint32_t id, const Slice& key) override {
    return Note("single", id, key, "");
  }
  Status MergeCF(uint32_t id, const Slice& key, const Slice& value) override {
    return Note("merge", id, key, value);
  }
  Status DeleteRangeCF(uint32_t id, const Slice& begin, const Slice& end) override {
    return Note("range", id, begin, end);
  }
  Status PutBlobIndexCF(uint32_t id, const Slice& key, const Slice& value) override {
    return Note("blob", id, key, value);
  }
  Status PutEntityCF(uint32_t id, const Slice& key, const Slice& entity) override {
    return Note("entity", id, key, entity);
  }
  Status MarkBeginPrepare(bool unprepare) override {
    return Note(unprepare ? "unprepare" : "prepare", 0, "", "");
  }
  Status MarkEndPrepare(const Slice& xid) override { return Note("prepared", 0, xid, ""); }
  Status MarkCommit(const Slice& xid) override { return Note("commit", 0, xid, ""); }
  Status MarkCommitWithTimestamp(const Slice& xid, const Slice& ts) override {
    return Note("commit-at", 0, xid, ts);
  }
  Status MarkRollback(const Slice& xid) override { return Note("rollback", 0, xid, ""); }
  Status MarkNoop(bool empty) override { return Note(empty ? "noop-first" : "noop", 0, "", ""); }
  void LogData(const Slice& blob) override { EXPECT_TRUE(Note("log", 0, blob, "").ok()); }

  std::string text;

 private:
  Status Note(const char* what, uint32_t id, const Slice& a, const Slice& b) {
    StrAppend(&text, what, "(", id, ",", a.ToStringView(), ",", b.ToStringView(), ")");
    return Status::OK();
  }
};

std::string Text(const WriteBatch& batch) {
  Recorder recorder;
  const Status s = batch.Iterate(&recorder);
  return s.ok() ? recorder.text : StrCat(recorder.text, " ", s.ToString());
}

std::string Hex(const WriteBatch& batch) { return Slice(batch.Data()).ToString(true); }

std::string Unhex(const std::string& hex) {
  std::string bytes;
  EXPECT_TRUE(Slice(hex).DecodeHex(&bytes));
  return bytes;
}

constexpr const char* kHeaderOf1 =
    "0000000000000000"
    "01000000";

TEST(WriteBatch, EmptyBatchIsAHeaderOfZeros) {
  const WriteBatch batch;
  EXPECT_EQ(Hex(batch), "000000000000000000000000");
  EXPECT_EQ(batch.Count(), 0u);
  EXPECT_EQ(Text(batch), "");
}

TEST(WriteBatch, BytesAreThoseOfTheFormat) {
  FakeFamily family(300);
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("k", "vv").ok());
  ASSERT_TRUE(batch.Put(&family, "k", "").ok());
  ASSERT_TRUE(batch.Delete("d").ok());
  ASSERT_TRUE(batch.Delete(&family, "d").ok());
  ASSERT_TRUE(batch.SingleDelete("s").ok());
  ASSERT_TRUE(batch.SingleDelete(&family, "s").ok());
  ASSERT_TRUE(batch.Merge("m", "1").ok());
  ASSERT_TRUE(batch.Merge(&family, "m", "1").ok());
  ASSERT_TRUE(batch.DeleteRange("a", "b").ok());
  ASSERT_TRUE(batch.DeleteRange(&family, "a", "b").ok());
  ASSERT_TRUE(batch.PutLogData("L").ok());
  WriteBatchInternal::SetSequence(&batch, 0x0102030405060708);
  EXPECT_EQ(Hex(batch),
            "0807060504030201"
            "0A000000"
            "01016B027676"
            "05AC02016B00"
            "000164"
            "04AC020164"
            "070173"
            "08AC020173"
            "02016D0131"
            "06AC02016D0131"
            "0F01610162"
            "0EAC0201610162"
            "03014C");
  EXPECT_EQ(WriteBatchInternal::Sequence(&batch), 0x0102030405060708u);
  EXPECT_EQ(Text(batch),
            "put(0,k,vv)put(300,k,)delete(0,d,)delete(300,d,)single(0,s,)single(300,s,)merge(0,m,1)"
            "merge(300,m,1)"
            "range(0,a,b)range(300,a,b)log(0,L,)");
}

TEST(WriteBatch, AFamilyHandleOfTheDefaultFamilyWritesTheShortForm) {
  FakeFamily family(0);
  WriteBatch with_handle;
  WriteBatch without;
  ASSERT_TRUE(with_handle.Put(&family, "k", "v").ok());
  ASSERT_TRUE(without.Put("k", "v").ok());
  EXPECT_EQ(with_handle.Data(), without.Data());
}

TEST(WriteBatch, PartsAreJoined) {
  const Slice key_parts[] = {"a", "", "bc"};
  const Slice value_parts[] = {"x", "yz"};
  WriteBatch parts;
  WriteBatch whole;
  ASSERT_TRUE(parts.Put(SliceParts(key_parts, 3), SliceParts(value_parts, 2)).ok());
  ASSERT_TRUE(parts.Merge(SliceParts(key_parts, 3), SliceParts(value_parts, 0)).ok());
  ASSERT_TRUE(parts.Delete(SliceParts(key_parts, 3)).ok());
  ASSERT_TRUE(parts.SingleDelete(SliceParts(key_parts, 1)).ok());
  ASSERT_TRUE(parts.DeleteRange(SliceParts(key_parts, 1), SliceParts(key_parts, 3)).ok());
  ASSERT_TRUE(whole.Put("abc", "xyz").ok());
  ASSERT_TRUE(whole.Merge("abc", "").ok());
  ASSERT_TRUE(whole.Delete("abc").ok());
  ASSERT_TRUE(whole.SingleDelete("a").ok());
  ASSERT_TRUE(whole.DeleteRange("a", "abc").ok());
  EXPECT_EQ(parts.Data(), whole.Data());
}

TEST(WriteBatch, EveryTypeReachesItsHandlerMethodAndOnlyUpdatesCount) {
  const WriteBatch batch(
      Unhex("0000000000000000"
            "04000000"
            "0D"
            "09"
            "12"
            "13"
            "1101620178"
            "10AC0201620178"
            "16016501"
            "79"
            "17AC0201650179"
            "0A0178"
            "0B0178"
            "1502747301"
            "78"
            "0C0178"
            "0D"));
  EXPECT_EQ(Text(batch),
            "noop-first(0,,)prepare(0,,)prepare(0,,)unprepare(0,,)blob(0,b,x)blob(300,b,x)entity(0,"
            "e,y)entity(300,e,y)"
            "prepared(0,x,)commit(0,x,)commit-at(0,x,ts)rollback(0,x,)noop(0,,)");
  EXPECT_TRUE(batch.HasBeginPrepare());
  EXPECT_TRUE(batch.HasEndPrepare());
  EXPECT_TRUE(batch.HasCommit());
  EXPECT_TRUE(batch.HasRollback());
  EXPECT_FALSE(batch.HasPut());
}

TEST(WriteBatch, CutAnywhereIsCorruptionAndNeverReadsPastTheEnd) {
  FakeFamily family(300);
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(&family, "key", std::string(200, 'v')).ok());
  ASSERT_TRUE(batch.Delete("gone").ok());
  ASSERT_TRUE(batch.PutLogData("log").ok());
  for (size_t bytes = 0; bytes < batch.Data().size(); ++bytes) {
    // An exact allocation, so that a sanitizer sees a read past the end.
    const std::vector<char> cut(batch.Data().begin(),
                                batch.Data().begin() + static_cast<std::ptrdiff_t>(bytes));
    const Slice contents(cut.data(), cut.size());
    const Status s = WriteBatchInternal::Validate(contents);
    // The only complete record that may be missing unnoticed is the log data, which is not counted.
    const bool only_log_data_missing = bytes == batch.Data().size() - 5;
    EXPECT_EQ(s.ok(), only_log_data_missing) << bytes << " " << s.ToString();
    EXPECT_TRUE(s.ok() || s.IsCorruption());
    EXPECT_TRUE(WriteBatch(contents.ToString()).Count() <= 2);
  }
}

TEST(WriteBatch, HugeLengthsAreCorruption) {
  for (const char* record : {"01FFFFFFFF0F", "01FFFFFFFFFF",
                             "0101"
                             "6B"
                             "FFFFFFFF0F",
                             "05FFFFFFFFFF01", "03FFFFFFFF0F"}) {
    const WriteBatch batch(Unhex(StrCat(kHeaderOf1, record)));
    Recorder recorder;
    const Status s = batch.Iterate(&recorder);
    EXPECT_TRUE(s.IsCorruption()) << record;
    EXPECT_NE(s.ToString().find("offset 12"), std::string::npos) << s.ToString();
    EXPECT_EQ(recorder.text, "");
  }
}

TEST(WriteBatch, AnUnknownTypeIsCorruptionNamingTypeAndOffset) {
  const WriteBatch batch(Unhex(StrCat("0000000000000000", "02000000", "00016B", "63016B")));
  Recorder recorder;
  const Status s = batch.Iterate(&recorder);
  EXPECT_EQ(s.ToString(), "Corruption: write batch: record of unknown type 99 at offset 15");
  EXPECT_EQ(recorder.text, "delete(0,k,)");
}

TEST(WriteBatch, AWrongCountIsCorruption) {
  for (const char* count : {"00000000", "02000000"}) {
    const WriteBatch batch(Unhex(StrCat("0000000000000000", count, "00016B")));
    Recorder recorder;
    EXPECT_TRUE(batch.Iterate(&recorder).IsCorruption());
    EXPECT_EQ(recorder.text, "delete(0,k,)");
  }
}

TEST(WriteBatch, ErrorTextsDoNotShowKeys) {
  const WriteBatch batch(Unhex(StrCat(kHeaderOf1, "0106", Slice("secret").ToString(true), "7F")));
  const Status s = WriteBatchInternal::Validate(Slice(batch.Data()));
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_EQ(s.ToString().find("secret"), std::string::npos);
}

TEST(WriteBatch, AHandlerErrorEndsTheIteration) {
  class Stops final : public Recorder {
   public:
    Status DeleteCF(uint32_t, const Slice&) override { return Status::Busy("enough"); }
  };
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Delete("b").ok());
  ASSERT_TRUE(batch.Put("c", "3").ok());
  Stops handler;
  EXPECT_TRUE(batch.Iterate(&handler).IsBusy());
  EXPECT_EQ(handler.text, "put(0,a,1)");
}

TEST(WriteBatch, AHandlerMayStopWithoutAnError) {
  class Two final : public Recorder {
   public:
    bool Continue() override { return calls_++ < 2; }

   private:
    int calls_ = 0;
  };
  WriteBatch batch;
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(batch.Delete(key).ok());
  Two handler;
  EXPECT_TRUE(batch.Iterate(&handler).ok());
  EXPECT_EQ(handler.text, "delete(0,a,)delete(0,b,)");
}

TEST(WriteBatch, HandlersWithoutFamiliesRefuseOthersThanTheDefault) {
  class Old final : public WriteBatch::Handler {
   public:
    void Put(const Slice& key, const Slice& value) override {
      StrAppend(&text, "put(", key.ToStringView(), ",", value.ToStringView(), ")");
    }
    void Delete(const Slice& key) override { StrAppend(&text, "delete(", key.ToStringView(), ")"); }
    void SingleDelete(const Slice& key) override {
      StrAppend(&text, "single(", key.ToStringView(), ")");
    }
    void Merge(const Slice& key, const Slice& value) override {
      StrAppend(&text, "merge(", key.ToStringView(), ",", value.ToStringView(), ")");
    }
    std::string text;
  };
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Delete("b").ok());
  ASSERT_TRUE(batch.SingleDelete("c").ok());
  ASSERT_TRUE(batch.Merge("d", "4").ok());
  Old old;
  EXPECT_TRUE(batch.Iterate(&old).ok());
  EXPECT_EQ(old.text, "put(a,1)delete(b)single(c)merge(d,4)");

  FakeFamily family(7);
  using Adder = Status (*)(WriteBatch*, ColumnFamilyHandle*);
  for (const Adder add :
       {Adder([](WriteBatch* b, ColumnFamilyHandle* f) { return b->Put(f, "k", "v"); }),
        Adder([](WriteBatch* b, ColumnFamilyHandle* f) { return b->Delete(f, "k"); }),
        Adder([](WriteBatch* b, ColumnFamilyHandle* f) { return b->SingleDelete(f, "k"); }),
        Adder([](WriteBatch* b, ColumnFamilyHandle* f) { return b->Merge(f, "k", "v"); }),
        Adder([](WriteBatch* b, ColumnFamilyHandle* f) { return b->DeleteRange(f, "k", "l"); })}) {
    WriteBatch other;
    ASSERT_TRUE(add(&other, &family).ok());
    EXPECT_TRUE(other.Iterate(&old).IsInvalidArgument());
  }
}

TEST(WriteBatch, RollbackReturnsToTheLatestSavePoint) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Merge("b", "2").ok());
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Delete("c").ok());
  EXPECT_TRUE(batch.HasDelete());
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  EXPECT_EQ(Text(batch), "put(0,a,1)merge(0,b,2)");
  EXPECT_EQ(batch.Count(), 2u);
  EXPECT_FALSE(batch.HasDelete());
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  EXPECT_EQ(Text(batch), "put(0,a,1)");
  EXPECT_FALSE(batch.HasMerge());
  EXPECT_TRUE(batch.RollbackToSavePoint().IsNotFound());
  EXPECT_EQ(Text(batch), "put(0,a,1)");
}

TEST(WriteBatch, PopForgetsTheMarkAndKeepsTheRecords) {
  WriteBatch batch;
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Put("a", "1").ok());
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Put("b", "2").ok());
  ASSERT_TRUE(batch.PopSavePoint().ok());
  EXPECT_EQ(batch.Count(), 2u);
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  EXPECT_EQ(batch.Count(), 0u);
  EXPECT_TRUE(batch.PopSavePoint().IsNotFound());
}

TEST(WriteBatch, ClearForgetsSavePoints) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  batch.SetSavePoint();
  batch.Clear();
  EXPECT_TRUE(batch.RollbackToSavePoint().IsNotFound());
  EXPECT_EQ(Hex(batch), "000000000000000000000000");
}

// Returns the records that would go to the log.
std::string LoggedText(const WriteBatch& batch) {
  const LoggedPart logged(batch);
  std::string bytes;
  for (const Slice& piece : logged.pieces()) bytes.append(piece.data(), piece.size());
  EXPECT_EQ(bytes.size(), logged.bytes());
  return Text(WriteBatch(bytes));
}

TEST(WriteBatch, OnlyWhatIsBeforeTheTerminationPointGoesToTheLog) {
  WriteBatch batch;
  EXPECT_TRUE(batch.GetWalTerminationPoint().is_cleared());
  ASSERT_TRUE(batch.Put("a", "1").ok());
  EXPECT_TRUE(LoggedPart(batch).IsWhole());
  batch.MarkWalTerminationPoint();
  const SavePoint point = batch.GetWalTerminationPoint();
  EXPECT_EQ(point.size, batch.GetDataSize());
  EXPECT_EQ(point.count, 1u);
  EXPECT_EQ(point.content_flags, 2u);  // a put
  EXPECT_TRUE(LoggedPart(batch).IsWhole());
  ASSERT_TRUE(batch.Delete("b").ok());
  EXPECT_FALSE(LoggedPart(batch).IsWhole());
  WriteBatchInternal::SetSequence(&batch, 77);
  EXPECT_EQ(WriteBatchInternal::Sequence(LoggedPart(batch).pieces()[0]), 77u);
  EXPECT_EQ(LoggedText(batch), "put(0,a,1)");
  EXPECT_EQ(Text(batch), "put(0,a,1)delete(0,b,)");
  batch.MarkWalTerminationPoint();
  ASSERT_TRUE(batch.Put("c", "3").ok());
  EXPECT_EQ(LoggedText(batch), "put(0,a,1)delete(0,b,)");
}

TEST(WriteBatch, ATerminationPointAtTheBeginningLogsNothing) {
  WriteBatch batch;
  batch.MarkWalTerminationPoint();
  EXPECT_FALSE(batch.GetWalTerminationPoint().is_cleared());
  ASSERT_TRUE(batch.Put("a", "1").ok());
  EXPECT_EQ(LoggedText(batch), "");
  EXPECT_EQ(LoggedPart(batch).bytes(), WriteBatchInternal::kHeaderBytes);
}

TEST(WriteBatch, ARollbackTakesTheTerminationPointAlong) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Put("b", "2").ok());
  batch.MarkWalTerminationPoint();
  ASSERT_TRUE(batch.Put("c", "3").ok());
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  ASSERT_TRUE(batch.Put("d", "4").ok());
  EXPECT_EQ(Text(batch), "put(0,a,1)put(0,d,4)");
  EXPECT_EQ(LoggedText(batch), "put(0,a,1)");
}

TEST(WriteBatch, CopiesHaveTheTerminationPointAndClearedBatchesHaveNone) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  batch.MarkWalTerminationPoint();
  ASSERT_TRUE(batch.Put("b", "2").ok());
  WriteBatch copy(batch);
  EXPECT_EQ(LoggedText(copy), "put(0,a,1)");
  WriteBatch moved(std::move(copy));
  EXPECT_EQ(LoggedText(moved), "put(0,a,1)");
  copy = std::move(moved);
  EXPECT_EQ(LoggedText(copy), "put(0,a,1)");
  EXPECT_TRUE(moved.GetWalTerminationPoint().is_cleared());  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(LoggedPart(WriteBatch(batch.Data())).IsWhole());
  batch.Clear();
  EXPECT_TRUE(batch.GetWalTerminationPoint().is_cleared());
  ASSERT_TRUE(WriteBatchInternal::SetContents(&copy, Slice(batch.Data())).ok());
  EXPECT_TRUE(copy.GetWalTerminationPoint().is_cleared());
}

TEST(WriteBatch, ALimitIsKeptAndAFailureChangesNothing) {
  WriteBatch batch(0, WriteBatchInternal::kHeaderBytes + 10);
  ASSERT_TRUE(batch.Put("k", "v").ok());  // 5 bytes
  const std::string before = batch.Data();
  const Status s = batch.Put("k", "vv");  // 6 bytes
  EXPECT_TRUE(s.IsMemoryLimit()) << s.ToString();
  EXPECT_EQ(batch.Data(), before);
  EXPECT_TRUE(batch.Put("k", "w").ok());
  EXPECT_TRUE(batch.PutLogData("").IsMemoryLimit());
  batch.SetMaxBytes(0);
  EXPECT_TRUE(batch.Put("k", std::string(1000, 'v')).ok());
  batch.SetMaxBytes(20);  // less than the batch has
  EXPECT_TRUE(batch.Delete("").IsMemoryLimit());
}

TEST(WriteBatch, KeysAndValuesOfFourGigabytesAreRefused) {
  // Never read, because the length is checked first.
  const Slice huge("x", size_t{std::numeric_limits<uint32_t>::max()} + 1);
  WriteBatch batch;
  EXPECT_TRUE(batch.Put(huge, "v").IsInvalidArgument());
  EXPECT_TRUE(batch.Put("k", huge).IsInvalidArgument());
  EXPECT_TRUE(batch.Delete(huge).IsInvalidArgument());
  EXPECT_EQ(batch.Count(), 0u);
  EXPECT_EQ(batch.GetDataSize(), WriteBatchInternal::kHeaderBytes);
}

TEST(WriteBatch, MovedFromAndReleasedBatchesAreEmptyAndUsable) {
  WriteBatch a;
  ASSERT_TRUE(a.Put("a", "1").ok());
  a.SetSavePoint();
  WriteBatch b(std::move(a));
  EXPECT_EQ(Text(b), "put(0,a,1)");
  EXPECT_TRUE(b.PopSavePoint().ok());
  ASSERT_TRUE(a.Delete("x").ok());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(Text(a), "delete(0,x,)");
  a = std::move(b);
  EXPECT_EQ(Text(a), "put(0,a,1)");
  EXPECT_EQ(b.Count(), 0u);  // NOLINT(bugprone-use-after-move)
  const WriteBatch copy(a);
  const std::string bytes = a.Release();
  EXPECT_EQ(bytes, copy.Data());
  EXPECT_EQ(a.Count(), 0u);
  EXPECT_FALSE(a.HasPut());
  EXPECT_EQ(Text(WriteBatch(bytes)), "put(0,a,1)");
}

TEST(WriteBatch, ABatchOfTooFewBytesIsHarmless) {
  WriteBatch batch(std::string("short"));
  EXPECT_EQ(batch.Count(), 0u);
  Recorder recorder;
  EXPECT_TRUE(batch.Iterate(&recorder).IsCorruption());
  EXPECT_TRUE(batch.Put("a", "b").IsCorruption());
  batch.SetSavePoint();
  EXPECT_TRUE(batch.RollbackToSavePoint().ok());
  EXPECT_TRUE(WriteBatchInternal::CheckApplicable(&batch).IsCorruption());
  batch.Clear();
  EXPECT_TRUE(batch.Put("a", "b").ok());
}

WriteBatch BatchWithChecksum() { return WriteBatch(0, 0, 8, 0); }

void FlipBit(WriteBatch* batch, size_t offset) {
  const_cast<char*>(batch->Data().data())[offset] ^= 1;
}

// Also flips a bit of the last byte for a moment, to show that the batch has a checksum.
void ExpectMatchingChecksum(WriteBatch* batch) {
  EXPECT_EQ(batch->GetProtectionBytesPerKey(), 8u);
  const Status whole = batch->VerifyChecksum();
  EXPECT_TRUE(whole.ok()) << whole.ToString();
  FlipBit(batch, batch->GetDataSize() - 1);
  EXPECT_TRUE(batch->VerifyChecksum().IsCorruption());
  FlipBit(batch, batch->GetDataSize() - 1);
}

TEST(WriteBatch, AChecksumFindsEveryChangedByteOfTheRecords) {
  FakeFamily family(300);
  WriteBatch batch = BatchWithChecksum();
  EXPECT_TRUE(batch.VerifyChecksum().ok());
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Put(&family, "key", "value").ok());
  ASSERT_TRUE(batch.Delete("b").ok());
  ASSERT_TRUE(batch.SingleDelete("c").ok());
  ASSERT_TRUE(batch.Merge("d", "4").ok());
  ASSERT_TRUE(batch.DeleteRange("e", "f").ok());
  ASSERT_TRUE(batch.PutLogData("log").ok());
  const Slice pieces[] = {"in", "pieces"};
  ASSERT_TRUE(batch.Put(SliceParts(pieces, 2), SliceParts(pieces, 2)).ok());
  // The sequence is not part of the added data and is not checked, but the count is.
  WriteBatchInternal::SetSequence(&batch, 77);
  ExpectMatchingChecksum(&batch);
  for (size_t i = 8; i < batch.GetDataSize(); ++i) {
    FlipBit(&batch, i);
    EXPECT_TRUE(batch.VerifyChecksum().IsCorruption()) << "byte " << i;
    FlipBit(&batch, i);
  }
  EXPECT_TRUE(batch.VerifyChecksum().ok());
}

TEST(WriteBatch, AChecksumFindsRecordsThatChangedPlaces) {
  WriteBatch batch = BatchWithChecksum();
  ASSERT_TRUE(batch.Put("a", "1").ok());
  const size_t bytes = batch.GetDataSize() - WriteBatchInternal::kHeaderBytes;
  ASSERT_TRUE(batch.Put("b", "2").ok());
  char* const first = const_cast<char*>(batch.Data().data()) + WriteBatchInternal::kHeaderBytes;
  std::swap_ranges(first, first + bytes, first + bytes);
  EXPECT_EQ(Text(batch), "put(0,b,2)put(0,a,1)");
  EXPECT_TRUE(batch.VerifyChecksum().IsCorruption());
}

TEST(WriteBatch, AChecksumFollowsTheRecords) {
  WriteBatch batch = BatchWithChecksum();
  ASSERT_TRUE(batch.Put("a", "1").ok());
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Put("b", "2").ok());
  batch.SetSavePoint();
  ASSERT_TRUE(batch.PopSavePoint().ok());
  ExpectMatchingChecksum(&batch);
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  ExpectMatchingChecksum(&batch);
  ASSERT_TRUE(batch.Delete("c").ok());
  ExpectMatchingChecksum(&batch);

  WriteBatch copy(batch);
  ASSERT_TRUE(copy.Put("d", "4").ok());
  ExpectMatchingChecksum(&copy);
  WriteBatch moved(std::move(copy));
  ExpectMatchingChecksum(&moved);
  ASSERT_TRUE(copy.Put("e", "5").ok());  // NOLINT(bugprone-use-after-move)
  ExpectMatchingChecksum(&copy);
  WriteBatch assigned;
  assigned = std::move(moved);
  ASSERT_TRUE(assigned.Put("f", "6").ok());
  ExpectMatchingChecksum(&assigned);
  assigned = batch;
  ExpectMatchingChecksum(&assigned);

  WriteBatchInternal::Append(&batch, &copy);
  ExpectMatchingChecksum(&batch);
  batch.Clear();
  ASSERT_TRUE(batch.Put("g", "7").ok());
  ExpectMatchingChecksum(&batch);
  EXPECT_FALSE(batch.Release().empty());
  ASSERT_TRUE(batch.Put("h", "8").ok());
  ExpectMatchingChecksum(&batch);
}

TEST(WriteBatch, WithoutAChecksumNothingIsVerified) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  EXPECT_EQ(batch.GetProtectionBytesPerKey(), 0u);
  FlipBit(&batch, batch.GetDataSize() - 1);
  EXPECT_TRUE(batch.VerifyChecksum().ok());
  WriteBatch other = BatchWithChecksum();
  ASSERT_TRUE(WriteBatchInternal::SetContents(&other, batch.Data()).ok());
  EXPECT_EQ(other.GetProtectionBytesPerKey(), 0u);
  EXPECT_TRUE(other.VerifyChecksum().ok());
}

TEST(WriteBatchInternal, AppendJoinsRecordsAndCounts) {
  WriteBatch a;
  WriteBatch b;
  ASSERT_TRUE(a.Put("a", "1").ok());
  ASSERT_TRUE(b.Merge("b", "2").ok());
  ASSERT_TRUE(b.PutLogData("l").ok());
  WriteBatchInternal::SetSequence(&a, 9);
  WriteBatchInternal::Append(&a, &b);
  EXPECT_EQ(Text(a), "put(0,a,1)merge(0,b,2)log(0,l,)");
  EXPECT_EQ(a.Count(), 2u);
  EXPECT_EQ(WriteBatchInternal::Sequence(&a), 9u);
  EXPECT_TRUE(a.HasMerge());
}

// A record may have only two bytes, so the records of 8 GiB would wrap a count of 32 bits. They
// would pass for a few and reuse the sequences of later ones. Such a batch is too long for a test.
TEST(BatchReader, TheCountOfRecordsDoesNotWrap) {
  static_assert(std::is_same_v<decltype(BatchReader(Slice()).counted()), uint64_t>);
}

TEST(WriteBatchInternal, SetContentsTakesOnlyWholeBatches) {
  WriteBatch good;
  ASSERT_TRUE(good.Put("a", "1").ok());
  WriteBatch batch;
  ASSERT_TRUE(batch.Delete("old").ok());
  EXPECT_TRUE(
      WriteBatchInternal::SetContents(&batch, Slice(good.Data().data(), good.Data().size() - 1))
          .IsCorruption());
  EXPECT_EQ(Text(batch), "delete(0,old,)");
  ASSERT_TRUE(WriteBatchInternal::SetContents(&batch, good.Data()).ok());
  EXPECT_EQ(Text(batch), "put(0,a,1)");
  EXPECT_TRUE(batch.HasPut());
  EXPECT_FALSE(batch.HasDelete());
}

TEST(WriteBatchInternal, WhatTheEngineCannotApplyIsNotSupportedNamingTypeAndOffset) {
  WriteBatch known;
  ASSERT_TRUE(known.Put("a", "1").ok());
  ASSERT_TRUE(known.DeleteRange("a", "b").ok());
  EXPECT_TRUE(WriteBatchInternal::IsKnownApplicable(&known));
  const WriteBatch blob(Unhex(StrCat(kHeaderOf1, "03014C", "1101620178")));
  const Status s = WriteBatchInternal::CheckApplicable(&blob);
  EXPECT_TRUE(s.IsNotSupported());
  EXPECT_NE(s.ToString().find("(type 17) at offset 15"), std::string::npos) << s.ToString();

  for (const char* record : {"09", "12", "13", "1101620178",
                             "160165"
                             "0179"}) {
    const bool counted = std::string(record).size() > 2;
    const WriteBatch batch(
        Unhex(StrCat("0000000000000000", counted ? "01000000" : "00000000", record)));
    EXPECT_TRUE(WriteBatchInternal::CheckApplicable(&batch).IsNotSupported()) << record;
  }
  // Batches from outside are accepted if all their records are supported. Damage and unsupported
  // records have different statuses.
  const WriteBatch foreign(Unhex(StrCat(kHeaderOf1, "0D", "03014C", "00016B")));
  EXPECT_FALSE(WriteBatchInternal::IsKnownApplicable(&foreign));
  EXPECT_TRUE(WriteBatchInternal::CheckApplicable(&foreign).ok());
  const WriteBatch damaged(Unhex(StrCat(kHeaderOf1, "0F01610162", "00")));
  EXPECT_TRUE(WriteBatchInternal::CheckApplicable(&damaged).IsCorruption());
}

TEST(WriteBatchInternal, ReaderGivesOffsetsAndRunningCounts) {
  WriteBatch batch;
  ASSERT_TRUE(batch.PutLogData("l").ok());
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Delete("b").ok());
  std::string seen;
  BatchReader reader(WriteBatchInternal::Contents(&batch));
  while (reader.Next())
    StrAppend(&seen, reader.record().offset, ":", reader.counted(),
              reader.record().counted ? "c " : " ");
  EXPECT_TRUE(reader.status().ok());
  EXPECT_EQ(seen, "12:0 15:1c 20:2c ");
  EXPECT_FALSE(reader.Next());
}

TEST(WriteBatch, RandomBatchesReadBackAsWritten) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Random random(seed);
    WriteBatch batch;
    std::string expected;
    uint32_t count = 0;
    for (int i = 0; i < 200; ++i) {
      FakeFamily family(
          static_cast<uint32_t>(random.Uniform(2) == 0 ? 0 : random.Uniform(1 << 20)));
      const std::string key(random.Uniform(300), 'k');
      const std::string value(random.Uniform(300), 'v');
      const uint32_t id = family.GetID();
      switch (random.Uniform(5)) {
        case 0:
          ASSERT_TRUE(batch.Put(&family, key, value).ok());
          StrAppend(&expected, "put(", id, ",", key, ",", value, ")");
          break;
        case 1:
          ASSERT_TRUE(batch.Merge(&family, key, value).ok());
          StrAppend(&expected, "merge(", id, ",", key, ",", value, ")");
          break;
        case 2:
          ASSERT_TRUE(batch.Delete(&family, key).ok());
          StrAppend(&expected, "delete(", id, ",", key, ",)");
          break;
        case 3:
          ASSERT_TRUE(batch.SingleDelete(&family, key).ok());
          StrAppend(&expected, "single(", id, ",", key, ",)");
          break;
        default:
          ASSERT_TRUE(batch.PutLogData(value).ok());
          StrAppend(&expected, "log(0,", value, ",)");
          --count;
          break;
      }
      ++count;
    }
    EXPECT_EQ(batch.Count(), count);
    EXPECT_EQ(Text(batch), expected);
    EXPECT_EQ(Text(WriteBatch(batch.Data())), expected);
  }
}

TEST(WriteBatch, FlippedBytesNeverCrash) {
  WriteBatch batch;
  FakeFamily family(300);
  ASSERT_TRUE(batch.Put(&family, "key", "value").ok());
  ASSERT_TRUE(batch.Merge("key", "value").ok());
  ASSERT_TRUE(batch.SingleDelete("key").ok());
  for (size_t i = 0; i < batch.Data().size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string damaged = batch.Data();
      damaged[i] = static_cast<char>(byte);
      Recorder recorder;
      const Status s = WriteBatch(std::move(damaged)).Iterate(&recorder);
      EXPECT_TRUE(s.ok() || s.IsCorruption());
    }
  }
}

}  // namespace
}  // namespace ashlar

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/crc32c.h"
#include "base/format.h"
#include "pmem/layout.h"
#include "pmem/log_replay.h"
#include "pmem/logged_medium.h"
#include "pmem/pool.h"
#include "pmem/redo_log.h"
#include "tests/fuzz/all.h"
#include "tests/support/memory_storage.h"
#include "tests/support/test_pool.h"
#include "tests/support/verify_tree.h"

namespace ashlar::fuzz {
namespace {

using namespace pmem;  // NOLINT(google-build-using-namespace)

constexpr uint64_t kPoolBytes = kPoolBytesMin;
constexpr uint64_t kEntriesMax = 100'000;

std::string Key(int i) { return StrCat("key", 1000 + i); }

// A pool that was filled and closed, with its bytes.
class FilledPool {
 public:
  static FilledPool& Get() {
    static FilledPool pool;
    return pool;
  }

  TestPool* pool() { return &pool_; }
  char* bytes() { return raw_->data(); }
  const std::string& image() const { return image_; }
  void Restore() { memcpy(raw_->data(), image_.data(), image_.size()); }

 private:
  FilledPool() : pool_(kPoolBytes) {
    std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool_);
    bool ok = true;
    for (int i = 0; i < 200; ++i) ok &= tree->Put(Key(i * 37 % 200), std::string(20, 'v')).ok();
    for (int i = 60; i < 120; ++i) ok &= tree->Delete(Key(i)).ok();
    ok &= tree->Put(Key(500), std::string(9'000, 'l')).ok();
    ok &= tree->Close().ok();
    EXPECT_RIGHT(ok, "the pool was not filled");
    tree.reset();
    raw_ = pool_.file()->Map(PoolMapMode::kShared).value();
    image_.assign(raw_->data(), raw_->bytes());
  }

  TestPool pool_;
  std::unique_ptr<PoolMapping> raw_;
  std::string image_;
};

// Recomputes the checks of a pool from its present bytes.
class PoolRepair {
 public:
  explicit PoolRepair(char* pool) : pool_(pool) {}

  void Run() {
    RepairHeader();
    uint64_t page = FirstLeafOf(kPoolBytes) / kPageBytes;
    while (page < kPoolBytes / kPageBytes) {
      const PoolOffset at = kPageBytes + page * 8;
      const uint64_t word = Word(at);
      const SpanEntry entry{.kind = static_cast<SpanKind>((word & 7) % 5),
                            .size_class = static_cast<uint16_t>(word >> 3 & 0x7f),
                            .pages = static_cast<uint32_t>(word >> 32)};
      EncodeFixed64(pool_ + at, EncodeSpanEntry(page, entry));
      if (entry.kind == SpanKind::kEnd || entry.pages == 0 ||
          entry.pages > kPoolBytes / kPageBytes - page)
        return;
      if (entry.kind == SpanKind::kLeaves) {
        for (uint64_t leaf = page * kPageBytes; leaf < (page + entry.pages) * kPageBytes;
             leaf += kLeafBytes)
          RepairLeaf(leaf);
      }
      page += entry.pages;
    }
  }

 private:
  uint64_t Word(PoolOffset at) const { return DecodeFixed64(pool_ + at); }

  void RepairHeader() {
    PoolHeader header;
    memcpy(&header, pool_, sizeof(header));
    if (header.comparator_name_bytes > kComparatorNameBytesMax) return;
    const uint32_t crc = crc32c::Value(pool_, offsetof(PoolHeader, checksum));
    header.checksum = crc32c::Mask(
        crc32c::Extend(crc, pool_ + kComparatorNameOffset, header.comparator_name_bytes));
    memcpy(pool_, &header, sizeof(header));
    const std::string link =
        EncodeLogLink(static_cast<LogState>(Word(kLogLinkOffset)), Word(kLogLinkOffset + 8));
    memcpy(pool_ + kLogLinkOffset, link.data(), link.size());
    const PoolOffset log = BatchMarkLog(Word(kBatchMarkOffset));
    const bool has_log = log >= kSmallBatchLogOffset && log <= kPoolBytes - kBatchLogHeaderBytes;
    EncodeFixed64(pool_ + kBatchMarkOffset,
                  has_log ? EncodeBatchMark(log, Word(log + 8)) : kNoBatchMark);
  }

  // Repairs leaves and records that are in use.
  void RepairLeaf(PoolOffset leaf) {
    const uint64_t commit = Word(leaf + kLeafCommit);
    if (commit == 0 && Word(leaf + kLeafTag) == 0) return;
    EncodeFixed64(pool_ + leaf + kLeafTag, LeafTag(leaf));
    const uint32_t selected = SelectedNext(commit);
    EncodeFixed64(pool_ + leaf + kLeafCommit,
                  EncodeCommit(leaf, Word(leaf + LeafNext(selected)), Occupied(commit), selected));
    RepairRecord(Word(leaf + kLeafSeparator));
    for (uint32_t slot = 0; slot < kSlots; ++slot) {
      if ((Occupied(commit) >> slot & 1) != 0)
        RepairRecord(SlotRecord(Word(leaf + kLeafSlots + slot * 8)));
    }
  }

  void RepairRecord(PoolOffset record) {
    if (record < kPageBytes || record > kPoolBytes - kRecordHeaderBytes) return;
    char* const start = pool_ + record;
    const uint64_t bytes =
        kRecordHeaderBytes + uint64_t{DecodeFixed32(start + 4)} + DecodeFixed32(start + 8);
    if (bytes > kPoolBytes - record) return;
    EncodeFixed32(start, crc32c::Mask(crc32c::Value(start + 4, bytes - 4)));
  }

  char* const pool_;
};

// Returns false if the tree does not verify.
bool UseTree(PersistentTree* tree) {
  const bool verified = VerifyAndCheck(tree).ok();
  const std::unique_ptr<Iterator> it = tree->NewIterator(ReadOptions());
  uint64_t entries = 0;
  std::string last;
  bool ascending = true;
  for (it->SeekToFirst(); it->Valid() && entries <= kEntriesMax; it->Next(), ++entries) {
    const std::string key = it->key().ToString();
    ascending &= entries == 0 || last < key;
    last = key;
  }
  EXPECT_RIGHT(entries <= kEntriesMax, "endless walk");
  if (verified) {
    EXPECT_RIGHT(it->status().ok(), "verified, but not readable: " + it->status().ToString());
    EXPECT_RIGHT(ascending, "verified, but out of order");
    EXPECT_RIGHT(tree->Count(KeyRange::All()) == entries, "verified, but Count differs");
  }
  uint64_t backwards = 0;
  for (it->SeekToLast(); it->Valid() && backwards <= kEntriesMax; it->Prev()) ++backwards;
  EXPECT_RIGHT(backwards <= kEntriesMax, "endless walk backwards");
  if (verified) EXPECT_RIGHT(backwards == entries, "verified, but other entries backwards");
  std::string value;
  for (int i = 0; i < 200; i += 17) static_cast<void>(tree->Get(ReadOptions(), Key(i), &value));
  static_cast<void>(tree->Put("more", std::string(100, 'x')));
  static_cast<void>(tree->Put(Key(1), std::string(20, 'x')));
  static_cast<void>(tree->Delete(Key(30)));
  static_cast<void>(tree->Defragment());
  static_cast<void>(tree->DeleteRange(KeyRange::Between(Key(20), Key(90))));
  static_cast<void>(tree->DeleteRange(KeyRange::All()));
  return verified;
}

bool OpenAndUse(Result<std::unique_ptr<Medium>> medium) {
  if (!medium.ok()) return false;
  Result<std::unique_ptr<PersistentTree>> opened =
      OpenTree(std::move(medium).value(),
               {.recovery = {.comparator = BytewiseComparator(), .refuse_allocation = {}},
                .mark = MarkRun::kAtOpen});
  return opened.ok() && UseTree(opened->get());
}

void PutPatch(std::string* input, uint32_t offset, uint64_t word) {
  for (int i = 3; i >= 0; --i) input->push_back(static_cast<char>(offset >> 8 * i));
  PutFixed64(input, word);
}

}  // namespace

// ---- Pools. Byte 0 decides whether checks are repaired. (Big-endian offset, word) pairs follow. A
// word is stored at the offset modulo the part of the pool that is in use.

Seeds SeedPools() {
  const std::string& image = FilledPool::Get().image();
  const uint64_t first_leaf = FirstLeafOf(kPoolBytes);
  Seeds seeds{std::string(1, '\1')};
  std::string all(1, '\1');
  for (const uint64_t offset :
       {uint64_t{0}, uint64_t{8}, uint64_t{16}, uint64_t{32}, uint64_t{40}, uint64_t{48},
        uint64_t{56}, uint64_t{kLogLinkOffset}, uint64_t{kBatchMarkOffset},
        kPageBytes + first_leaf / kPageBytes * 8, first_leaf, first_leaf + kLeafNext0,
        first_leaf + kLeafSeparator, first_leaf + kLeafSlots, first_leaf + kLeafBytes,
        first_leaf + 2 * kLeafBytes}) {
    std::string one(1, '\1');
    const uint64_t word = DecodeFixed64(image.data() + offset);
    PutPatch(&one, static_cast<uint32_t>(offset), word);
    PutPatch(&all, static_cast<uint32_t>(offset), word);
    seeds.push_back(one);
  }
  seeds.push_back(all);
  return seeds;
}

bool RunPool(const std::string& input) {
  FilledPool& filled = FilledPool::Get();
  constexpr uint64_t kUsedBytes = uint64_t{256} << 10;
  Choices choices(input);
  const bool repair = (choices.Byte() & 1) != 0;
  while (!choices.empty()) {
    const uint64_t offset = choices.Word() % kUsedBytes;
    const std::string word = choices.Bytes(8);
    memcpy(filled.bytes() + offset, word.data(), word.size());
  }
  if (repair) PoolRepair(filled.bytes()).Run();
  const Slice page(filled.bytes(), kPageBytes);
  bool accepted = false;
  if (DecodePoolHeader("pool", page, kPoolBytes, *BytewiseComparator()).ok()) {
    accepted = OpenAndUse(std::unique_ptr<Medium>(CountingMedium::Create(filled.pool()->file())));
  }
  filled.Restore();
  return accepted;
}

// ---- Logs of pools. Byte 0 decides whether the log is repaired, whether power was lost, the state
// of the link, and whether the header's end follows. The records follow without the log's header.

namespace {

constexpr LogHeader kLogOfPool{.pool_id = 77, .generation = 3, .boot_id = 1};
constexpr size_t kRecordHeadBytes = 48;

// Gives each record the correct checksums, identity and number.
std::string RepairRecords(const std::string& records) {
  std::string repaired;
  Slice rest(records);
  for (uint64_t number = 0; rest.size() >= kRecordHeadBytes; ++number) {
    const uint64_t bytes = DecodeFixed64(rest.data());
    if (bytes < kRecordHeadBytes || bytes > rest.size()) break;
    AppendRecord(kLogOfPool, number,
                 Slice(rest.data() + kRecordHeadBytes, bytes - kRecordHeadBytes), &repaired);
    rest.remove_prefix(bytes);
  }
  return repaired + rest.ToString();
}

std::string Redo(uint64_t offset, const Slice& bytes) {
  std::string redo;
  PutFixed64(&redo, offset);
  PutFixed64(&redo, bytes.size());
  return redo + bytes.ToString();
}

}  // namespace

Seeds SeedPoolLogs() {
  const std::string& image = FilledPool::Get().image();
  const uint64_t leaf = FirstLeafOf(kPoolBytes);
  std::string records;
  AppendRecord(kLogOfPool, 0, Redo(leaf, Slice(image.data() + leaf, 64)), &records);
  AppendRecord(kLogOfPool, 1,
               Redo(leaf + 128, Slice(image.data() + leaf + 128, 32)) +
                   Redo(kBatchMarkOffset, Slice(image.data() + kBatchMarkOffset, 8)),
               &records);
  AppendRecord(kLogOfPool, 2, Redo(kPageBytes + 24, std::string(8, '\0')), &records);
  // The last one is refused, because its header gives an end that the records do not reach.
  return {std::string(1, '\1'), std::string(1, '\1') + records, std::string(1, '\2') + records,
          std::string(1, '\5') + records, std::string("\x11\0\0\x20\0", 5) + records};
}

bool RunPoolLog(const std::string& input) {
  FilledPool& filled = FilledPool::Get();
  Choices choices(input);
  const uint8_t choice = choices.Byte();
  LogHeader header = kLogOfPool;
  if ((choice & 2) != 0) header.boot_id = 2;
  if ((choice & 16) != 0) header.whole_end = uint64_t{choices.Word()} << (choice >> 5);
  std::string records = choices.Rest();
  if ((choice & 1) != 0) records = RepairRecords(records);
  std::string log = EncodeLogHeader(header) + records;
  log.resize((log.size() + kLogGrowthBytes - 1) / kLogGrowthBytes * kLogGrowthBytes, '\0');
  auto storage = std::make_unique<MemoryStorage>(filled.pool()->file(), log);
  const LogState state = (choice & 4) != 0 ? LogState::kNext : LogState::kOpen;
  EXPECT_RIGHT(WriteLogLink(storage.get(), state, header.generation).ok(), "no link");
  const Status replayed =
      ReplayLog(storage.get(), {.pool_id = header.pool_id, .accept_damage = (choice & 8) != 0});
  bool accepted = false;
  if (replayed.ok()) {
    Result<std::unique_ptr<Medium>> medium =
        LoggedMedium::Create(std::move(storage), {.pool_id = header.pool_id,
                                                  .log_bytes_max = uint64_t{1} << 20,
                                                  .private_bytes_max = uint64_t{1} << 20});
    accepted = OpenAndUse(std::move(medium));
  }
  filled.Restore();
  return accepted;
}

}  // namespace ashlar::fuzz

#include "pmem/redo_log.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/coding.h"
#include "base/crc32c.h"

namespace ashlar::pmem {
namespace {

constexpr char kLogMagic[8] = {'A', 's', 'h', 'l', 'R', 'e', 'd', 'o'};
constexpr size_t kHeaderChecksumOffset = 8;
constexpr size_t kHeaderSummedOffset = 16;
constexpr size_t kHeaderSummedBytes = 32;

constexpr size_t kRedoChecksumOffset = 8;
constexpr size_t kHeadChecksumOffset = 12;
constexpr size_t kIdentityOffset = 16;  // pool id and generation
constexpr size_t kIdentityBytes = 16;
constexpr size_t kNumberOffset = 32;
constexpr size_t kSyncedEndOffset = 40;
constexpr size_t kHeadBytes = 48;

uint64_t HeaderChecksum(const char* header) {
  return crc32c::Mask(crc32c::Value(header + kHeaderSummedOffset, kHeaderSummedBytes));
}

uint32_t HeadChecksum(const char* head) {
  const uint32_t crc = crc32c::Value(head, kHeadChecksumOffset);
  return crc32c::Mask(crc32c::Extend(crc, head + kIdentityOffset, kHeadBytes - kIdentityOffset));
}

uint32_t RedoChecksum(const Slice& redo) { return crc32c::Mask(crc32c::Value(redo)); }

std::string IdentityOf(const LogHeader& log) {
  std::string identity;
  PutFixed64(&identity, log.pool_id);
  PutFixed64(&identity, log.generation);
  return identity;
}

struct RecordHead {
  uint64_t bytes;
  uint64_t number;
  uint64_t synced_end;
};

// False if there is no head of a record of this log.
bool ReadHead(const Slice& rest, const std::string& identity, RecordHead* head) {
  if (rest.size() < kHeadBytes ||
      memcmp(rest.data() + kIdentityOffset, identity.data(), kIdentityBytes) != 0 ||
      HeadChecksum(rest.data()) != DecodeFixed32(rest.data() + kHeadChecksumOffset))
    return false;
  *head = {.bytes = DecodeFixed64(rest.data()),
           .number = DecodeFixed64(rest.data() + kNumberOffset),
           .synced_end = DecodeFixed64(rest.data() + kSyncedEndOffset)};
  return head->bytes >= kHeadBytes;
}

bool IsWhole(const Slice& rest, const RecordHead& head) {
  return head.bytes <= rest.size() &&
         RedoChecksum(Slice(rest.data() + kHeadBytes, head.bytes - kHeadBytes)) ==
             DecodeFixed32(rest.data() + kRedoChecksumOffset);
}

// Whether the file may end within a head of this log that begins here: the bytes are not only
// zeros, by which a log grows, and have the identity, as far as they go.
bool MayBeCutHead(const Slice& rest, const std::string& identity) {
  if (rest.size() >= kHeadBytes) return false;
  const std::string_view bytes(rest.data(), rest.size());
  const std::string_view start = bytes.substr(std::min(bytes.size(), kIdentityOffset));
  return bytes.find_first_not_of('\0') != std::string_view::npos &&
         identity.starts_with(start.substr(0, kIdentityBytes));
}

// Whether a record after the end of the readable ones proves that records before it were lost. The
// heads alone are read: they have a checksum of their own, so the search takes linear time.
bool ProvesDamage(const Slice& log, const std::string& identity, const LogScan& scan,
                  bool power_was_lost) {
  const std::string_view bytes(log.data(), log.size());
  for (size_t found = bytes.find(identity, scan.end + kIdentityOffset);
       found != std::string_view::npos; found = bytes.find(identity, found + 1)) {
    const size_t at = found - kIdentityOffset;
    RecordHead head;
    if (!ReadHead(Slice(log.data() + at, log.size() - at), identity, &head)) continue;
    // At the end itself a record with a readable head was cut off, or is damaged: no proof. Copies
    // of earlier records may be part of a value.
    if (at > scan.end && head.number > scan.records &&
        (!power_was_lost || head.synced_end > scan.end))
      return true;
  }
  return false;
}

// Whether a part of a record of this log is after the end: of one that was cut off, or is damaged.
bool HasRest(const Slice& log, const LogHeader& header, const std::string& identity, uint64_t end) {
  const Slice rest(log.data() + end, log.size() - end);
  if (rest.size() >= kHeadBytes) {
    const uint64_t pool_id = DecodeFixed64(rest.data() + kIdentityOffset);
    const uint64_t generation = DecodeFixed64(rest.data() + kIdentityOffset + 8);
    const bool is_whole =
        HeadChecksum(rest.data()) == DecodeFixed32(rest.data() + kHeadChecksumOffset);
    // An older log of the pool may have had a record here. Its head is whole.
    if (generation == header.generation || (pool_id == header.pool_id && !is_whole)) return true;
  } else if (MayBeCutHead(rest, identity)) {
    return true;
  }
  return std::string_view(log.data(), log.size()).find(identity, end) != std::string_view::npos;
}

}  // namespace

std::string EncodeLogHeader(const LogHeader& header) {
  std::string page(kLogHeaderBytes, '\0');
  memcpy(page.data(), kLogMagic, sizeof(kLogMagic));
  EncodeFixed64(page.data() + 16, header.pool_id);
  EncodeFixed64(page.data() + 24, header.generation);
  EncodeFixed64(page.data() + 32, header.boot_id);
  EncodeFixed64(page.data() + 40, header.whole_end);
  EncodeFixed64(page.data() + kHeaderChecksumOffset, HeaderChecksum(page.data()));
  return page;
}

bool DecodeLogHeader(const Slice& log, LogHeader* header) {
  if (log.size() < kLogHeaderBytes || memcmp(log.data(), kLogMagic, sizeof(kLogMagic)) != 0 ||
      HeaderChecksum(log.data()) != DecodeFixed64(log.data() + kHeaderChecksumOffset))
    return false;
  *header = {.pool_id = DecodeFixed64(log.data() + 16),
             .generation = DecodeFixed64(log.data() + 24),
             .boot_id = DecodeFixed64(log.data() + 32),
             .whole_end = DecodeFixed64(log.data() + 40)};
  return true;
}

uint64_t RecordBytesFor(const Slice& redo) { return kHeadBytes + redo.size(); }

void AppendRecord(const LogHeader& log, uint64_t number, const Slice& redo, std::string* to) {
  char head[kHeadBytes] = {};
  EncodeFixed64(head, RecordBytesFor(redo));
  EncodeFixed32(head + kRedoChecksumOffset, RedoChecksum(redo));
  EncodeFixed64(head + kIdentityOffset, log.pool_id);
  EncodeFixed64(head + kIdentityOffset + 8, log.generation);
  EncodeFixed64(head + kNumberOffset, number);
  EncodeFixed32(head + kHeadChecksumOffset, HeadChecksum(head));
  to->append(head, kHeadBytes);
  to->append(redo.data(), redo.size());
}

void SetSyncedEnd(char* record, uint64_t synced_end) {
  EncodeFixed64(record + kSyncedEndOffset, synced_end);
  EncodeFixed32(record + kHeadChecksumOffset, HeadChecksum(record));
}

LogScan ScanLog(const Slice& log, const LogHeader& header, bool power_was_lost) {
  const std::string identity = IdentityOf(header);
  LogScan scan;
  RecordHead head;
  bool crosses_end = false;  // of the file
  for (;;) {
    const Slice rest(log.data() + scan.end, log.size() - scan.end);
    // A head that is cut after its identity is of this log. A shorter one may be the end of an
    // older log: HasRest.
    crosses_end = rest.size() >= kIdentityOffset + kIdentityBytes && MayBeCutHead(rest, identity);
    if (!ReadHead(rest, identity, &head) || head.number != scan.records) break;
    crosses_end = head.bytes > rest.size();
    if (!IsWhole(rest, head)) break;
    scan.end += head.bytes;
    scan.records++;
  }
  scan.is_damaged = scan.end < header.whole_end || (crosses_end && !power_was_lost) ||
                    ProvesDamage(log, identity, scan, power_was_lost);
  scan.has_rest = HasRest(log, header, identity, scan.end);
  return scan;
}

Slice TakeRedo(Slice* records) {
  const uint64_t bytes = DecodeFixed64(records->data());
  const Slice redo(records->data() + kHeadBytes, bytes - kHeadBytes);
  records->remove_prefix(bytes);
  return redo;
}

}  // namespace ashlar::pmem

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

// Returns false if this is not the head of a record of this log.
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

bool IsWhole(const Slice& record) {
  return RedoChecksum(Slice(record.data() + kHeadBytes, record.size() - kHeadBytes)) ==
         DecodeFixed32(record.data() + kRedoChecksumOffset);
}

// Whether the file may end within a head of this log that begins here. The bytes must not be only
// zeros, with which a log grows, and must match the identity as far as they go.
bool MayBeCutHead(const Slice& rest, const std::string& identity) {
  if (rest.size() >= kHeadBytes) return false;
  const std::string_view bytes(rest.data(), rest.size());
  const std::string_view start = bytes.substr(std::min(bytes.size(), kIdentityOffset));
  return bytes.find_first_not_of('\0') != std::string_view::npos &&
         identity.starts_with(start.substr(0, kIdentityBytes));
}

// The first offset of the identity at or after `from`, or bytes() if there is none.
Result<uint64_t> FindIdentity(LogWindow* log, const std::string& identity, uint64_t from) {
  while (from < log->bytes()) {
    ASHLAR_ASSIGN_OR_RETURN(const Slice bytes, log->Read(from, kIdentityBytes));
    const size_t found = std::string_view(bytes.data(), bytes.size()).find(identity);
    if (found != std::string_view::npos) return from + found;
    if (from + bytes.size() == log->bytes()) break;
    from += bytes.size() - (kIdentityBytes - 1);
  }
  return log->bytes();
}

// Whether a record after the end of the readable ones proves that records before it were lost.
// Reads only the heads, which have their own checksum, so the search takes linear time.
Result<bool> ProvesDamage(LogWindow* log, const std::string& identity, const LogScan& scan,
                          bool power_was_lost) {
  // A record with a readable head at the end itself is torn or damaged, which proves nothing.
  for (uint64_t from = scan.end + kIdentityOffset + 1;; ++from) {
    ASHLAR_ASSIGN_OR_RETURN(from, FindIdentity(log, identity, from));
    if (from == log->bytes()) return false;
    ASHLAR_ASSIGN_OR_RETURN(const Slice rest, log->Read(from - kIdentityOffset, kHeadBytes));
    RecordHead head;
    // Copies of earlier records may be part of a value.
    if (ReadHead(rest, identity, &head) && head.number > scan.records &&
        (!power_was_lost || head.synced_end > scan.end))
      return true;
  }
}

// Whether a part of a torn or damaged record of this log follows the end.
Result<bool> HasRest(LogWindow* log, const LogHeader& header, const std::string& identity,
                     uint64_t end) {
  ASHLAR_ASSIGN_OR_RETURN(const Slice rest, log->Read(end, kHeadBytes));
  if (rest.size() >= kHeadBytes) {
    const uint64_t pool_id = DecodeFixed64(rest.data() + kIdentityOffset);
    const uint64_t generation = DecodeFixed64(rest.data() + kIdentityOffset + 8);
    const bool is_whole =
        HeadChecksum(rest.data()) == DecodeFixed32(rest.data() + kHeadChecksumOffset);
    // An older log of the pool may have had a record here, but the head of that one is intact.
    if (generation == header.generation || (pool_id == header.pool_id && !is_whole)) return true;
  } else if (MayBeCutHead(rest, identity)) {
    return true;
  }
  ASHLAR_ASSIGN_OR_RETURN(const uint64_t found, FindIdentity(log, identity, end));
  return found < log->bytes();
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

Result<Slice> LogWindow::Read(uint64_t offset, uint64_t n) {
  constexpr uint64_t kPieceBytes = uint64_t{1} << 20;
  const uint64_t rest = bytes() - offset;
  const uint64_t end = offset + std::min(n, rest);
  if (offset < start_ || end > start_ + buffer_.size()) {
    buffer_.resize(std::min(std::max(n, kPieceBytes), rest));
    start_ = offset;
    const Status read = log_.ReadAt(offset, buffer_.size(), buffer_.data());
    if (!read.ok()) {
      buffer_.clear();
      return read;
    }
  }
  return Slice(buffer_.data() + (offset - start_), buffer_.size() - (offset - start_));
}

Result<LogScan> ScanLog(LogWindow* log, const LogHeader& header, bool power_was_lost) {
  const std::string identity = IdentityOf(header);
  LogScan scan;
  RecordHead head;
  bool crosses_end = false;  // of the file
  for (;;) {
    ASHLAR_ASSIGN_OR_RETURN(const Slice rest, log->Read(scan.end, kHeadBytes));
    // A head that is cut off after its identity belongs to this log. A shorter one may be the end
    // of an older log (see HasRest).
    crosses_end = rest.size() >= kIdentityOffset + kIdentityBytes && MayBeCutHead(rest, identity);
    if (!ReadHead(rest, identity, &head) || head.number != scan.records) break;
    crosses_end = head.bytes > log->bytes() - scan.end;
    if (crosses_end) break;
    ASHLAR_ASSIGN_OR_RETURN(const Slice record, log->Read(scan.end, head.bytes));
    if (!IsWhole(Slice(record.data(), head.bytes))) break;
    scan.end += head.bytes;
    scan.records++;
  }
  ASHLAR_ASSIGN_OR_RETURN(const bool has_hole, ProvesDamage(log, identity, scan, power_was_lost));
  scan.is_damaged = scan.end < header.whole_end || (crosses_end && !power_was_lost) || has_hole;
  ASHLAR_ASSIGN_OR_RETURN(scan.has_rest, HasRest(log, header, identity, scan.end));
  return scan;
}

Result<Slice> ReadRedo(LogWindow* log, uint64_t offset) {
  ASHLAR_ASSIGN_OR_RETURN(const Slice head, log->Read(offset, kHeadBytes));
  const uint64_t bytes = head.size() < kHeadBytes ? 0 : DecodeFixed64(head.data());
  if (bytes >= kHeadBytes && bytes <= log->bytes() - offset) {
    ASHLAR_ASSIGN_OR_RETURN(const Slice rest, log->Read(offset, bytes));
    const Slice record(rest.data(), bytes);
    if (IsWhole(record)) return Slice(record.data() + kHeadBytes, bytes - kHeadBytes);
  }
  // The second read of a record may return other bytes than the scan's.
  return Status::IOError("the log changed while it was read");
}

}  // namespace ashlar::pmem

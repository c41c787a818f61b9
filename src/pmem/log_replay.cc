#include "pmem/log_replay.h"

#include <algorithm>

#include "base/coding.h"
#include "base/format.h"
#include "pmem/pool.h"
#include "pmem/redo_log.h"

namespace ashlar::pmem {
namespace {

constexpr size_t kPieceHead = 16;

struct Verdict {
  enum class Fate : uint8_t { kNone, kRemove, kKeep };
  Fate fate = Fate::kNone;  // of the log's file
  uint64_t replay_end = kLogHeaderBytes;
  uint64_t closed_generation = 0;  // of the link, afterwards
  std::string damage;              // empty: none
};

Verdict Damaged(uint64_t generation, Verdict::Fate fate, std::string damage) {
  // The link is newer than a log that is kept aside, so putting that log back changes nothing. A
  // log at the end of a checkpoint may have the next generation, hence 2.
  return {.fate = fate,
          .replay_end = kLogHeaderBytes,
          .closed_generation = generation + 2,
          .damage = std::move(damage)};
}

// I1 of pool_storage.h.
bool IsCut(const LogWindow& log) { return log.bytes() % kLogGrowthBytes != 0; }

bool PowerWasLost(const PoolStorage& storage, const LogHeader& header) {
  return header.boot_id == 0 || header.boot_id != storage.BootId();
}

Result<Verdict> JudgeForClosedPool(const PoolStorage& storage, LogWindow* log, const LogLink& link,
                                   uint64_t pool_id) {
  using Fate = Verdict::Fate;
  Verdict verdict = {.fate = Fate::kKeep,
                     .replay_end = kLogHeaderBytes,
                     .closed_generation = link.generation,
                     .damage = {}};
  LogHeader header;
  ASHLAR_ASSIGN_OR_RETURN(const Slice page, log->Read(0, kLogHeaderBytes));
  if (!DecodeLogHeader(page, &header) || header.pool_id != pool_id ||
      header.generation < link.generation)
    return verdict;
  ASHLAR_ASSIGN_OR_RETURN(const LogScan scan, ScanLog(log, header, PowerWasLost(storage, header)));
  // An open writes no record before the link names its log.
  const bool is_new = scan.records == 0 && !scan.is_damaged && !scan.has_rest && !IsCut(*log);
  if (header.generation > link.generation && !is_new) {
    return Damaged(header.generation, Fate::kKeep,
                   "it has or had changes that are newer than the pool");
  }
  verdict.fate = Fate::kRemove;
  return verdict;
}

Result<Verdict> JudgeForOpenPool(const PoolStorage& storage, LogWindow* log, const LogLink& link,
                                 uint64_t pool_id) {
  using Fate = Verdict::Fate;
  LogHeader header;
  ASHLAR_ASSIGN_OR_RETURN(const Slice page, log->Read(0, kLogHeaderBytes));
  if (!DecodeLogHeader(page, &header))
    return Damaged(link.generation, Fate::kKeep, "its header is damaged (offset 0)");
  if (header.pool_id != pool_id)
    return Damaged(link.generation, Fate::kKeep, "it belongs to another pool");
  const bool may_be_next = link.state == static_cast<uint64_t>(LogState::kNext);
  if (header.generation != link.generation &&
      !(may_be_next && header.generation == link.generation + 1)) {
    return Damaged(link.generation, Fate::kKeep,
                   StrCat("it has generation ", header.generation,
                          ", the pool's log has generation ", link.generation));
  }
  ASHLAR_ASSIGN_OR_RETURN(const LogScan scan, ScanLog(log, header, PowerWasLost(storage, header)));
  // The rest belongs to a record that a crash tore, or to one that was acknowledged.
  Verdict verdict = {.fate = scan.has_rest ? Fate::kKeep : Fate::kRemove,
                     .replay_end = scan.end,
                     .closed_generation = header.generation + (scan.has_rest ? 1 : 0),
                     .damage = {}};
  const bool is_cut = IsCut(*log);
  if (is_cut || scan.is_damaged) {
    verdict = Damaged(header.generation, Fate::kKeep,
                      StrCat(is_cut ? "it was cut short" : "records are damaged or missing",
                             "; it can be read up to offset ", scan.end));
    verdict.replay_end = scan.end;
  }
  return verdict;
}

Status StorePieces(PoolStorage* storage, Slice pieces) {
  while (!pieces.empty()) {
    const uint64_t offset = pieces.size() < kPieceHead ? 0 : DecodeFixed64(pieces.data());
    const uint64_t bytes =
        pieces.size() < kPieceHead ? ~uint64_t{0} : DecodeFixed64(pieces.data() + 8);
    if (pieces.size() < kPieceHead || bytes > pieces.size() - kPieceHead ||
        offset > storage->bytes() || bytes > storage->bytes() - offset) {
      return Status::Corruption(storage->log_path(),
                                "a record with a good checksum stores outside of the pool");
    }
    ASHLAR_RETURN_IF_ERROR(storage->WritePool(offset, Slice(pieces.data() + kPieceHead, bytes)));
    pieces.remove_prefix(kPieceHead + bytes);
  }
  return Status::OK();
}

Status StoreRecords(PoolStorage* storage, LogWindow* log, uint64_t end) {
  if (end == kLogHeaderBytes) return Status::OK();
  for (uint64_t at = kLogHeaderBytes; at < end;) {
    ASHLAR_ASSIGN_OR_RETURN(const Slice redo, ReadRedo(log, at));
    ASHLAR_RETURN_IF_ERROR(StorePieces(storage, redo));
    at += RecordBytesFor(redo);
  }
  return storage->SyncPool();
}

Status Refusal(const PoolStorage& storage, const std::string& damage) {
  return Status::Corruption(
      storage.log_path(),
      StrCat("this log and the pool do not fit together: ", damage,
             ". Nothing was changed. Restore pool and log from the same copy, or set "
             "accept_log_damage to open without the changes that cannot be read"));
}

}  // namespace

Status WriteLogLink(PoolStorage* storage, LogState state, uint64_t generation) {
  ASHLAR_RETURN_IF_ERROR(storage->WritePool(kLogLinkOffset, EncodeLogLink(state, generation)));
  return storage->SyncPool();
}

Status ReplayLog(PoolStorage* storage, const ReplayConfig& config) {
  if (config.sync_pool) ASHLAR_RETURN_IF_ERROR(storage->SyncPool());
  char bytes[sizeof(LogLink)];
  ASHLAR_RETURN_IF_ERROR(storage->ReadPool(kLogLinkOffset, sizeof(bytes), bytes));
  ASHLAR_ASSIGN_OR_RETURN(const LogLink link,
                          DecodeLogLink(storage->path(), Slice(bytes, sizeof(bytes))));
  const bool is_open = link.state != static_cast<uint64_t>(LogState::kClosed);
  Verdict verdict;
  const Status replayed = storage->UseLog([&](const LogSource& source) -> Status {
    LogWindow log(&source);
    ASHLAR_ASSIGN_OR_RETURN(verdict,
                            is_open ? JudgeForOpenPool(*storage, &log, link, config.pool_id)
                                    : JudgeForClosedPool(*storage, &log, link, config.pool_id));
    if (!verdict.damage.empty() && !config.accept_damage) return Refusal(*storage, verdict.damage);
    return StoreRecords(storage, &log, verdict.replay_end);
  });
  if (replayed.IsPathNotFound()) {
    if (!is_open) return Status::OK();
    verdict = Damaged(link.generation, Verdict::Fate::kNone, "the log is missing");
    if (!config.accept_damage) return Refusal(*storage, verdict.damage);
  } else {
    ASHLAR_RETURN_IF_ERROR(replayed);
  }
  if (is_open || verdict.closed_generation != link.generation) {
    ASHLAR_RETURN_IF_ERROR(WriteLogLink(storage, LogState::kClosed, verdict.closed_generation));
  }
  switch (verdict.fate) {
    case Verdict::Fate::kNone: return Status::OK();
    case Verdict::Fate::kRemove: return storage->RemoveLog();
    case Verdict::Fate::kKeep: return storage->KeepLog();
  }
  return Status::OK();
}

}  // namespace ashlar::pmem

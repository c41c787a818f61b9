#include "lsm/primary_follower.h"

#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "lsm/recovery.h"
#include "lsm/replayed_order.h"
#include "manifest/read_without_lock.h"

namespace ashlar {

Status PrimaryFollower::CatchUp() {
  ASHLAR_ASSERT(!state_->writes_files());  // I5
  MutexLock installers(state_->manifest_mutex());
  return ReadWithoutLock([this] {
    kManifestMutex.AssertHeld();
    return TryToCatchUp();
  });
}

void PrimaryFollower::CheckInvariants() const {
  ASHLAR_ASSERT(!state_->writes_files());                                              // I5
  ASHLAR_ASSERT(state_->secondary_installs.load(std::memory_order_acquire) % 2 == 0);  // I7
  ASHLAR_ASSERT(replay_ != nullptr);  // from the open, or a newer one
  // I4: the replay has applied at least the sequences that readers see.
  ASHLAR_ASSERT(must_rebuild_ || replay_->sequence() >= state_->PublishedSequence());
}

Status PrimaryFollower::TryToCatchUp() {
  ASHLAR_ASSIGN_OR_RETURN(RecoveredState read, state_->versions->ReadOn(/*for_writing=*/false));
  const bool rebuilds = must_rebuild_;
  if (rebuilds) {
    replay_ = std::make_unique<LogReplay>(state_, state_->options.wal_recovery_mode,
                                          /*follows=*/true);
  }
  const std::unique_ptr<FamilyTable> families = FamiliesOf(read.published, rebuilds);
  RecoveryReport report;
  const SequenceNumber shown = state_->PublishedSequence();
  const Status found =
      replay_->FindLogs({.recorded = &read.published,
                         .families = families.get(),
                         .report = &report,
                         .shown = rebuilds ? std::nullopt : std::optional(shown)});  // I4
  if (found.IsTryAgain()) must_rebuild_ = true;
  ASHLAR_RETURN_IF_ERROR(found);
  ASHLAR_RETURN_IF_ERROR(state_->versions->CheckManifestUnchanged(read));
  must_rebuild_ = true;  // until everything that is applied is installed
  ASHLAR_RETURN_IF_ERROR(Replay(report));
  ASHLAR_RETURN_IF_ERROR(state_->versions->CheckNothingIngestedBefore(replay_->sequence(), read));
  const SequenceNumber sequence = replay_->sequence();
  Install(std::move(read), rebuilds ? families.get() : nullptr, sequence);
  shown_ = replay_->place();
  must_rebuild_ = false;
  was_shorter_ = false;
  if (sequence < shown) {
    IgnoreBadAlloc([&] {
      LogWarning(*state_, StrCat("the primary took back the writes with the sequences ",
                                 sequence + 1, " to ", shown));
    });
  }
  if constexpr (kDebugChecks) CheckInvariants();
  return Status::OK();
}

Status PrimaryFollower::Recover() {
  ASHLAR_ASSERT(state_->lock != nullptr);  // no other process writes meanwhile
  ASHLAR_ASSERT(!state_->writes_files());  // I3 of life_cycle.h: it can still be undone
  MutexLock installers(state_->manifest_mutex());
  ASHLAR_ASSIGN_OR_RETURN(RecoveredState read, state_->versions->ReadOn(/*for_writing=*/true));
  const std::unique_ptr<FamilyTable> families = FamiliesOf(read.published, /*rebuilt=*/true);
  LogReplay replay(state_, state_->options.wal_recovery_mode, /*follows=*/false);
  RecoveryReport report;
  ASHLAR_RETURN_IF_ERROR(replay.FindLogs(
      {.recorded = &read.published, .families = families.get(), .report = &report}));
  ASHLAR_RETURN_IF_ERROR(replay.Run());
  ASHLAR_RETURN_IF_ERROR(CheckReplayedOrder(*families));
  if (const std::string missing = MissingIn(replay); !missing.empty()) {  // I6
    return Status::Corruption(
        state_->directory,
        StrCat(missing, report.losses.empty() ? "" : ": ",
               report.losses.empty() ? std::string() : report.losses.front().reason,
               "; catch up first if the primary took writes back"));
  }
  must_rebuild_ = true;  // replay_ does not match the memtables from here on
  Install(std::move(read), families.get(), replay.sequence());
  shown_ = replay.place();
  for (const uint64_t number : report.logs)
    state_->logs.AdoptClosed(number, replay.good_bytes(number));
  MutexLock lock(state_->mutex());
  state_->recovery = std::move(report);
  return Status::OK();
}

std::unique_ptr<FamilyTable> PrimaryFollower::FamiliesOf(const PublishedState& recorded,
                                                         bool rebuilt) {
  auto families = std::make_unique<FamilyTable>();
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies()) {
    const ColumnFamilyState* const now = recorded.FindFamily(family->id());
    if (now == nullptr) continue;
    families->Add(
        rebuilt ? MakeColumnFamily(state_, *now, now->current, family->options(), now->log_number)
                : family);
  }
  return families;
}

Status PrimaryFollower::Replay(const RecoveryReport& report) {
  ASHLAR_RETURN_IF_ERROR(replay_->Run());
  const std::string damage = report.DamageReasons();
  const bool passes_over =
      state_->options.wal_recovery_mode == WALRecoveryMode::kSkipAnyCorruptedRecords;
  if (!damage.empty() && !passes_over) return Status::Corruption(damage);
  if (replay_->dropped_rest())
    return Status::Corruption(state_->wal_directory, "records of the logs are missing");
  return CheckLength();
}

std::string PrimaryFollower::MissingIn(const LogReplay& replay) const {
  const SequenceNumber shown = state_->PublishedSequence();
  if (replay.sequence() < shown) {
    return StrCat("the last sequence in the MANIFEST and the logs is ", replay.sequence(),
                  ", and the secondary has shown ", shown);
  }
  if (replay.HasRead(shown_)) return {};
  return StrCat("log ", shown_.log, " can be read up to offset ", replay.good_bytes(shown_.log),
                ", and the secondary has shown its writes up to ", shown_.bytes);
}

Status PrimaryFollower::CheckLength() {
  const std::string missing = MissingIn(*replay_);
  const bool is_shorter = !missing.empty();
  const bool was_shorter = std::exchange(was_shorter_, is_shorter);
  if (!is_shorter || was_shorter) return Status::OK();
  return Status::TryAgain(state_->directory,
                          StrCat("the primary took back writes that were in its log: ", missing));
}

std::vector<PrimaryFollower::Change> PrimaryFollower::Prepare(const PublishedState& recorded,
                                                              const FamilyTable* rebuilt) {
  std::vector<Change> changes;
  for (std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies()) {
    const ColumnFamilyState* const now = recorded.FindFamily(family->id());
    if (now == nullptr) {
      changes.push_back({.family = std::move(family), .prepared = std::nullopt});
      continue;
    }
    const ColumnFamily* const source = rebuilt != nullptr ? rebuilt->Find(now->id) : nullptr;
    const bool stays = now->current == family->version() && source == nullptr &&
                       family->OldestLogNumber() >= now->log_number;
    if (stays) continue;
    ColumnFamily::PreparedFollow prepared =
        family->PrepareFollow(now->current, now->log_number, source);
    changes.push_back({.family = std::move(family), .prepared = std::move(prepared)});
  }
  return changes;
}

void PrimaryFollower::Install(RecoveredState read, const FamilyTable* rebuilt,
                              SequenceNumber sequence) {
  // I1 and I6. Rebuilt memtables have none of the writes that were taken back.
  ASHLAR_ASSERT(rebuilt != nullptr || sequence >= state_->PublishedSequence());
  ASHLAR_ASSERT(sequence >= read.published.last_sequence);  // I3 of database_state.h
  std::vector<Change> changes;
  {
    std::optional<PublishedState> replaced;  // released without the mutex
    MutexLock lock(state_->mutex());
    changes = Prepare(read.published, rebuilt);
    auto remaining = std::make_unique<FamilyTable>(state_->Families());
    for (const std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies()) {
      if (read.published.FindFamily(family->id()) == nullptr) remaining->Remove(family->id());
    }
    const bool drops = remaining->families.size() < state_->Families().families.size();
    // Nothing fails from here on (I3). The sequence is published before the views. Readers that
    // acquire either one find an odd number of installs (I7).
    const uint64_t installs = state_->secondary_installs.load(std::memory_order_relaxed);
    ASHLAR_ASSERT(installs % 2 == 0);  // I7: no install is under way
    state_->secondary_installs.store(installs + 1, std::memory_order_relaxed);
    state_->published_sequence.store(sequence, std::memory_order_release);
    replaced.emplace(state_->versions->Adopt(std::move(read)));
    for (Change& change : changes) {
      if (change.prepared.has_value()) {
        change.family->Follow(*std::move(change.prepared), sequence);
      } else {
        change.family->MarkDropped();
      }
    }
    if (drops) state_->SetFamilies(std::move(remaining));
    state_->secondary_installs.store(installs + 2, std::memory_order_release);
    if constexpr (kDebugChecks) state_->CheckInvariants();
    state_->NotifyChange();
  }
  if constexpr (kDebugChecks) CheckInvariants();
  state_->epochs.Reclaim();
  // Failures are ignored, because readers see the new state (I3). The next install closes the rest.
  IgnoreBadAlloc([&] {
    kManifestMutex.AssertHeld();
    if (!changes.empty()) state_->pinned_tables->Retain(state_->versions->LiveTables());
    for (const Change& change : changes) {
      if (change.family->dropped())
        LogInfo(*state_, StrCat("[", NameForDisplay(change.family->name()),
                                "] the primary has dropped the family"));
    }
  });
}

}  // namespace ashlar

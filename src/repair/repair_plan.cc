#include "repair/repair_plan.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "filesystem/filename.h"
#include "wal/recovery_policy.h"

namespace ashlar {

namespace {

SequenceNumber LargestSequence(const TableSurvey& table) {
  return std::max(table.largest_sequence, table.recorded_largest_sequence);
}

// Returns true if every entry of a is newer than every entry of b.
bool IsNewer(const TableSurvey& a, const TableSurvey& b) {
  return a.smallest_sequence > LargestSequence(b);
}

bool ShareKeys(const KeyComparator& comparator, const TableSurvey& a, const TableSurvey& b) {
  return comparator.Compare(ExtractUserKey(a.smallest), ExtractUserKey(b.largest)) <= 0 &&
         comparator.Compare(ExtractUserKey(b.smallest), ExtractUserKey(a.largest)) <= 0;
}

Level LevelOf(const TableSurvey& table) { return table.IsPlaced() ? table.level : 0; }

// Checks I1 for two tables.
bool AreInOrder(const KeyComparator& comparator, const TableSurvey& a, const TableSurvey& b) {
  const bool both_placed = a.IsPlaced() && b.IsPlaced();
  const Level level_a = LevelOf(a);
  const Level level_b = LevelOf(b);
  if (!ShareKeys(comparator, a, b)) return true;
  // Recorded levels decide the order. Neighbours in a sorted level may share a user key.
  if (both_placed && level_a != level_b) return true;
  if (both_placed && IsSorted(level_a)) {
    return comparator.CompareInternal(a.largest, b.smallest) < 0 ||
           comparator.CompareInternal(b.largest, a.smallest) < 0;
  }
  if (both_placed) return true;
  if (level_a == level_b) return IsNewer(a, b) || IsNewer(b, a);
  return level_a < level_b ? IsNewer(a, b) : IsNewer(b, a);
}

bool IsInOrder(const KeyComparator& comparator, const std::vector<const TableSurvey*>& tables) {
  for (size_t i = 0; i < tables.size(); ++i) {
    // Only a table that is not recorded, or not at its recorded place, can be out of order.
    for (size_t j = 0; j < i; ++j) {
      if (!AreInOrder(comparator, *tables[i], *tables[j])) return false;
    }
  }
  return true;
}

class Planner {
 public:
  Planner(const RepairFindings& findings, const FamilyOptions& options)
      : findings_(findings), manifest_(findings.manifest), options_(options) {}

  Result<RepairPlan> Plan() {
    ASHLAR_RETURN_IF_ERROR(FindFamilies());
    for (const TableSurvey& table : findings_.tables) Place(table);
    for (auto& [id, family] : plan_.families) FindFlushedWrites(id, &family);
    for (const LogSurvey& log : findings_.logs) PlanLog(log);
    FindLogDamage();
    for (auto& [id, family] : plan_.families) {
      const KeyComparator comparator(options_.Find(family.name)->comparator);
      const bool is_changed = changed_.contains(id) || HasLost(id);
      family.is_merged =
          family.has_stale_write || (is_changed && (!IsInOrder(comparator, family.tables) ||
                                                    !WritesAreNewest(comparator, family)));
    }
    PlanNumbers();
    plan_.needs_repair |= !manifest_.IsSound();
    if constexpr (kDebugChecks) plan_.CheckInvariants(findings_, options_);
    return std::move(plan_);
  }

 private:
  // Returns true if the MANIFEST has dropped the family.
  bool IsDropped(ColumnFamilyId id) const {
    return manifest_.number != 0 && id <= manifest_.max_column_family &&
           !manifest_.families.contains(id);
  }

  Status AddFamily(ColumnFamilyId id, const std::string& name, const std::string& comparator) {
    const ColumnFamilyOptions* const options = options_.Find(name);
    if (options == nullptr) {
      return Status::InvalidArgument(StrCat("the options of column family \"", NameForDisplay(name),
                                            "\", id ", id,
                                            ", are needed: name it in column_families, or give "
                                            "unknown_cf_opts"));
    }
    if (!comparator.empty() && comparator != options->comparator->Name()) {
      return Status::InvalidArgument(options->comparator->Name(),
                                     StrCat("does not match existing comparator ", comparator,
                                            " of column family \"", NameForDisplay(name), "\""));
    }
    for (const auto& [other_id, other] : plan_.families) {
      if (other_id != id && other.name == name)
        return Status::Corruption(StrCat("column families ", other_id, " and ", id,
                                         " have the same name, ", NameForDisplay(name)));
    }
    plan_.families[id].name = name;
    return Status::OK();
  }

  Status FindFamilies() {
    for (const auto& [id, family] : manifest_.families)
      ASHLAR_RETURN_IF_ERROR(AddFamily(id, family.name, family.comparator));
    if (!plan_.families.contains(kDefaultFamilyId))
      ASHLAR_RETURN_IF_ERROR(AddFamily(kDefaultFamilyId, kDefaultFamilyName, ""));
    for (const TableSurvey& table : findings_.tables) {
      const bool is_new = table.state == TableSurvey::State::kReadable && !table.is_recorded &&
                          !plan_.families.contains(table.family) && !IsDropped(table.family);
      if (is_new) ASHLAR_RETURN_IF_ERROR(AddFamily(table.family, table.family_name, ""));
    }
    for (const TableSurvey& table : findings_.tables) {
      const bool is_readable = table.state == TableSurvey::State::kReadable && !table.is_other;
      if (table.is_recorded && !is_readable) lossy_.insert(table.family);
    }
    return Status::OK();
  }

  // Returns why a table that the MANIFEST does not name is not part of the database, or empty if it
  // is part of it.
  std::string WhyLeftOut(const TableSurvey& table) const {
    if (manifest_.deleted.contains(table.number)) return "the MANIFEST has deleted it";
    if (!plan_.families.contains(table.family)) return "its column family was dropped";
    const auto recorded = manifest_.families.find(table.family);
    if (recorded == manifest_.families.end() || lossy_.contains(table.family)) return "";
    // A lost edit may have added the table.
    const bool may_be_recorded =
        table.largest_sequence > recorded->second.flushed_sequence || !manifest_.IsSound();
    if (may_be_recorded && !table.is_copy) return "";
    return "the recorded tables have all of its data";
  }

  void Place(const TableSurvey& table) {
    RepairFate& fate = plan_.fates[table.number];
    std::string& reason = plan_.reasons[table.number];
    reason = table.damage.first.ok() ? "" : table.damage.first.ToString();
    if (table.state == TableSurvey::State::kMissing) {
      fate = RepairFate::kMissing;
      reason = "the file is missing";
    } else if (table.state == TableSurvey::State::kUnreadable) {
      fate = RepairFate::kUnreadable;
      has_unknown_table_ |= !table.is_recorded;
    } else if (!table.is_recorded && !WhyLeftOut(table).empty()) {
      fate = RepairFate::kLeftOut;
      reason = WhyLeftOut(table);
    } else {
      fate = !table.IsIntact()   ? RepairFate::kSalvaged
             : table.is_recorded ? RepairFate::kKept
                                 : RepairFate::kRecovered;
      if (reason.empty() && !table.is_recorded) reason = "the MANIFEST does not name it";
      if (reason.empty()) reason = table.wrong_record;
      if (table.damage.lost_blocks > 0 || table.damage.lost_ranges) damaged_.insert(table.family);
      if (table.HasContents()) plan_.families.at(table.family).tables.push_back(&table);
    }
    const bool is_ordinary = fate == RepairFate::kKept || fate == RepairFate::kLeftOut ||
                             (fate == RepairFate::kUnreadable && !table.is_recorded);
    const bool is_wrong = !table.wrong_record.empty();
    plan_.needs_repair |= !is_ordinary || is_wrong;
    if (fate == RepairFate::kRecovered || is_wrong || !manifest_.IsSound())
      changed_.insert(table.family);
  }

  // Returns the number of the family's oldest log that was not flushed, by the record.
  FileNumber RecordedLogNumber(ColumnFamilyId id) const {
    const auto recorded = manifest_.families.find(id);
    return recorded == manifest_.families.end() ? 0 : recorded->second.log_number;
  }

  // Returns whether a part of the family's tables is or may be lost. A completely unreadable table
  // may be of any family, unless a sound MANIFEST says which tables each family has.
  bool HasLost(ColumnFamilyId id) const {
    return lossy_.contains(id) || damaged_.contains(id) ||
           (has_unknown_table_ && !manifest_.IsSound());
  }

  // Prepares I3.
  void FindFlushedWrites(ColumnFamilyId id, PlannedFamily* family) const {
    FlushedWrites::Args args{.versions = {},
                             .log_number = RecordedLogNumber(id),
                             .knows_logs = manifest_.IsSound(),
                             .is_lossy = HasLost(id)};
    for (const TableSurvey* table : family->tables) {
      args.versions.insert(args.versions.end(), table->logged_keys.begin(),
                           table->logged_keys.end());
    }
    family->flushed = FlushedWrites(std::move(args));
    for (const LogSurvey& log : findings_.logs) {
      const auto writes = log.writes.find(id);
      if (writes == log.writes.end()) continue;
      for (const LoggedWrite& write : writes->second) family->flushed.Note(write);
    }
  }

  void PlanLog(const LogSurvey& log) {
    PlannedLog& planned = plan_.logs[log.number];
    bool is_of_family = false;
    for (const auto& [id, writes] : log.writes) {
      const auto family = plan_.families.find(id);
      if (family == plan_.families.end()) continue;
      is_of_family = true;
      for (const LoggedWrite& write : writes) {
        plan_.last_sequence = std::max(plan_.last_sequence, write.sequence);
        if (family->second.flushed.Holds(log.number, write)) continue;
        ++planned.writes;
        TakeWrite(write, &family->second);
      }
    }
    for (const auto& [id, table] : log.misplaced) {
      plan_.needs_repair = true;
      changed_.insert(id);
      planned.reason = StrCat("it has writes that are newer than table ", table,
                              " of level 0, but have older sequences");
    }
    if (planned.writes > 0 || log.writes.empty()) return;
    planned.fate = RepairFate::kLeftOut;
    planned.reason = is_of_family ? "the tables have all of its writes"
                                  : "its column families were dropped, or are not known";
  }

  static void TakeWrite(const LoggedWrite& write, PlannedFamily* family) {
    family->has_stale_write |=
        write.sequence <= family->newest_write || family->flushed.HasNewer(write);
    family->oldest_write = std::min(family->oldest_write, write.sequence);
    family->newest_write = std::max(family->newest_write, write.sequence);
  }

  // Finds damage in the logs that an open reads.
  void FindLogDamage() {
    FileNumber first = UINT64_MAX;
    for (const auto& [id, family] : plan_.families) first = std::min(first, RecordedLogNumber(id));
    for (const LogSurvey& log : findings_.logs)
      plan_.needs_repair |= log.number >= first && !log.damage.ok() && !log.is_torn_tail;
    const FileNumber oldest = std::max(first, manifest_.min_log_number_to_keep);
    for (const LogSurvey& log : findings_.logs) {
      if (log.number < oldest) continue;
      plan_.needs_repair |= log.is_torn_tail && IsTornTailRefused(log.number);
      FindLostPredecessor(log, oldest);
    }
    for (const auto& [number, synced] : manifest_.recorded_logs) {
      if (number >= oldest && synced.has_value()) FindLostSyncedBytes(number, *synced);
    }
  }

  // Returns null if there is no such file.
  const LogSurvey* FindLog(FileNumber number) const {
    const auto found =
        std::find_if(findings_.logs.begin(), findings_.logs.end(),
                     [number](const LogSurvey& log) { return log.number == number; });
    return found == findings_.logs.end() ? nullptr : &*found;
  }

  // An open refuses a log that is missing, or shorter than its synced length.
  void FindLostSyncedBytes(FileNumber number, uint64_t synced_bytes) {
    const LogSurvey* const log = FindLog(number);
    if (log != nullptr && log->good_bytes >= synced_bytes) return;
    plan_.needs_repair = true;
    PlannedLog& planned = plan_.logs[number];
    if (log == nullptr) {
      planned.fate = RepairFate::kMissing;
      planned.reason = StrCat("the MANIFEST has ", synced_bytes,
                              " bytes of it on record as synced; if it is in another directory, "
                              "set wal_dir to that");
    } else if (planned.reason.empty() && log->damage.ok()) {
      planned.reason = StrCat("it ends at offset ", log->good_bytes, " of ", synced_bytes,
                              " bytes that the MANIFEST has on record as synced");
    }
  }

  // Returns whether a family has tables from a later log. An open then refuses a log that ends
  // early (lsm/log_replay.h), because it cannot recover the families to one point in time.
  bool HasFamilyAhead(FileNumber log) const {
    return std::any_of(manifest_.families.begin(), manifest_.families.end(),
                       [&](const auto& entry) {
                         const RecordedFamily& family = entry.second;
                         return FamilyIsAhead(family.log_number, !family.tables.empty(), log);
                       });
  }

  bool IsTornTailRefused(FileNumber log) const {
    switch (findings_.recovery_mode) {
      case WALRecoveryMode::kAbsoluteConsistency: return true;
      case WALRecoveryMode::kPointInTimeRecovery: return HasFamilyAhead(log);
      case WALRecoveryMode::kTolerateCorruptedTailRecords:
      case WALRecoveryMode::kSkipAnyCorruptedRecords: break;
    }
    return false;
  }

  // Finds a log whose predecessor is missing or was cut, if an open refuses it. Only a sound
  // MANIFEST says which logs were flushed and may be missing.
  void FindLostPredecessor(const LogSurvey& log, FileNumber oldest) {
    if (!manifest_.IsSound() || !log.predecessor.has_value() ||
        log.predecessor->previous_number < oldest ||
        findings_.recovery_mode == WALRecoveryMode::kSkipAnyCorruptedRecords)
      return;
    const auto [number, bytes] = *log.predecessor;
    const LogSurvey* const previous = FindLog(number);
    std::string lost = "is missing";
    if (previous != nullptr) {
      const bool may_drop = findings_.recovery_mode == WALRecoveryMode::kPointInTimeRecovery;
      if (previous->good_bytes >= bytes || (may_drop && !HasFamilyAhead(number))) return;
      lost = StrCat("ends at offset ", previous->good_bytes, " of ", bytes, " bytes");
    }
    plan_.needs_repair = true;
    std::string& reason = plan_.logs.at(log.number).reason;
    if (reason.empty())
      reason = StrCat(BaseName(WalFileName("", number)), ", which it continues, ", lost);
  }

  // Checks I1 for the tables that are made from logs. In level 0, an older write is not hidden by a
  // range tombstone below level 0. Nor is it hidden by a newer version of its key with other
  // bytes, which FlushedWrites does not find, because it compares hashes of the bytes.
  static bool WritesAreNewest(const KeyComparator& comparator, const PlannedFamily& family) {
    const bool knows_equal_keys =
        !comparator.user_comparator()->CanKeysWithDifferentByteContentsBeEqual();
    return std::none_of(family.tables.begin(), family.tables.end(), [&](const TableSurvey* table) {
      const bool may_be_newer = LevelOf(*table) == 0 || table->has_ranges || !knows_equal_keys;
      return may_be_newer && LargestSequence(*table) >= family.oldest_write;
    });
  }

  void PlanNumbers() {
    plan_.last_sequence = std::max(plan_.last_sequence, manifest_.last_sequence);
    plan_.next_file_number = std::max(manifest_.next_file_number, findings_.largest_number + 1);
    for (const auto& [id, family] : plan_.families) {
      for (const TableSurvey* table : family.tables)
        plan_.last_sequence = std::max(plan_.last_sequence, LargestSequence(*table));
    }
  }

  const RepairFindings& findings_;
  const ManifestSurvey& manifest_;
  const FamilyOptions& options_;
  RepairPlan plan_;
  std::set<ColumnFamilyId> lossy_;    // a recorded table is missing, unreadable or another file
  std::set<ColumnFamilyId> damaged_;  // a part of a table is unreadable
  bool has_unknown_table_ = false;    // an unreadable table that is not recorded
  std::set<ColumnFamilyId> changed_;  // its tables may differ from those that the MANIFEST names
};

RepairFile Describe(const TableSurvey& table, const RepairPlan& plan) {
  RepairFile file;
  file.name = table.file_name.empty() ? std::string(BaseName(TableFileName("", table.number)))
                                      : table.file_name;
  file.fate = plan.fates.at(table.number);
  file.column_family = table.family_name;
  file.bytes = table.file_bytes;
  file.entries = file.fate == RepairFate::kLeftOut ? 0 : table.entries;
  file.lost_blocks = table.damage.lost_blocks;
  file.reason = plan.reasons.at(table.number);
  if (table.damage.lost_ranges) file.reason += "; its range deletions are lost";
  return file;
}

}  // namespace

Result<RepairPlan> PlanRepair(const RepairFindings& findings, const FamilyOptions& options) {
  return Planner(findings, options).Plan();
}

void RepairPlan::CheckInvariants(const RepairFindings& findings,
                                 const FamilyOptions& options) const {
  for (const auto& [id, family] : families) {
    const KeyComparator comparator(options.Find(family.name)->comparator);
    for (const TableSurvey* table : family.tables)
      ASHLAR_ASSERT(table->is_recorded ||
                    !findings.manifest.deleted.contains(table->number));  // I2
    // I1. A sound MANIFEST decides the order.
    ASHLAR_ASSERT(family.is_merged || !needs_repair || findings.manifest.IsSound() ||
                  IsInOrder(comparator, family.tables));
  }
}

RepairReport MakeReport(const RepairFindings& findings, const RepairPlan& plan) {
  RepairReport report;
  report.needs_repair = plan.needs_repair;
  if (!findings.manifest.IsSound()) report.manifest_reason = findings.manifest.damage.ToString();
  std::map<ColumnFamilyId, RepairColumnFamily> families;
  for (const auto& [id, family] : plan.families) {
    RepairColumnFamily& described = families[id];
    described.id = id;
    described.name = family.name;
    described.tables = family.tables.size();
    described.is_merged = family.is_merged;
  }
  for (const TableSurvey& table : findings.tables) {
    report.files.push_back(Describe(table, plan));
    const RepairFile& file = report.files.back();
    const auto family = families.find(table.family);
    const bool is_of_family = family != families.end() && !table.family_name.empty();
    if (!is_of_family || file.fate == RepairFate::kLeftOut) continue;
    const bool is_lost = file.fate == RepairFate::kUnreadable || file.fate == RepairFate::kMissing;
    family->second.lost_tables += is_lost ? 1 : 0;
    family->second.lost_blocks += file.lost_blocks;
    family->second.entries += file.entries;
  }
  auto log = findings.logs.begin();
  for (const auto& [number, planned] : plan.logs) {
    RepairFile& file = report.files.emplace_back();
    file.name = BaseName(WalFileName("", number));
    file.fate = planned.fate;
    file.entries = planned.writes;
    file.reason = planned.reason;
    if (log == findings.logs.end() || log->number != number) continue;  // missing
    file.bytes = log->file_bytes;
    file.lost_bytes = log->lost_bytes;
    if (file.reason.empty() && !log->damage.ok()) file.reason = log->damage.ToString();
    ++log;
  }
  ASHLAR_ASSERT(log == findings.logs.end());  // each log is planned, in the order of the numbers
  for (auto& [id, family] : families) report.column_families.push_back(std::move(family));
  return report;
}

}  // namespace ashlar

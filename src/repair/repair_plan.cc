#include "repair/repair_plan.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "filesystem/filename.h"

namespace ashlar {

namespace {

SequenceNumber LargestSequence(const TableSurvey& table) {
  return std::max(table.largest_sequence, table.recorded_largest_sequence);
}

// True: every entry of a is newer than every one of b.
bool IsNewer(const TableSurvey& a, const TableSurvey& b) {
  return a.smallest_sequence > LargestSequence(b);
}

bool ShareKeys(const KeyComparator& comparator, const TableSurvey& a, const TableSurvey& b) {
  return comparator.Compare(ExtractUserKey(a.smallest), ExtractUserKey(b.largest)) <= 0 &&
         comparator.Compare(ExtractUserKey(b.smallest), ExtractUserKey(a.largest)) <= 0;
}

Level LevelOf(const TableSurvey& table) { return table.is_recorded ? table.level : 0; }

// I1 for two tables.
bool AreInOrder(const KeyComparator& comparator, const TableSurvey& a, const TableSurvey& b) {
  const bool both_recorded = a.is_recorded && b.is_recorded;
  const Level level_a = LevelOf(a);
  const Level level_b = LevelOf(b);
  if (!ShareKeys(comparator, a, b)) return true;
  // Neighbours of a level may share a user key, and the record has said what is above what.
  if (both_recorded && level_a != level_b) return true;
  if (both_recorded && IsSorted(level_a)) {
    return comparator.CompareInternal(a.largest, b.smallest) < 0 ||
           comparator.CompareInternal(b.largest, a.smallest) < 0;
  }
  if (both_recorded) return true;
  if (level_a == level_b) return IsNewer(a, b) || IsNewer(b, a);
  return level_a < level_b ? IsNewer(a, b) : IsNewer(b, a);
}

bool IsInOrder(const KeyComparator& comparator, const std::vector<const TableSurvey*>& tables) {
  for (size_t i = 0; i < tables.size(); ++i) {
    // Only what is not on record, or does not lie where it should, can be out of order.
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
    for (auto& [id, family] : plan_.families) {
      const KeyComparator comparator(options_.Find(family.name)->comparator);
      family.is_merged = changed_.contains(id) && !IsInOrder(comparator, family.tables);
    }
    PlanLogs();
    PlanNumbers();
    plan_.needs_repair |= !manifest_.IsSound();
    if constexpr (kDebugChecks) plan_.CheckInvariants(findings_, options_);
    return std::move(plan_);
  }

 private:
  // True: the MANIFEST has dropped the family.
  bool IsDropped(ColumnFamilyId id) const {
    return manifest_.number != 0 && id <= manifest_.max_column_family &&
           !manifest_.families.contains(id);
  }

  Status AddFamily(ColumnFamilyId id, const std::string& name, const std::string& comparator) {
    const ColumnFamilyOptions* const options = options_.Find(name);
    if (options == nullptr) {
      return Status::InvalidArgument(StrCat("the options of column family \"", NameForDisplay(name),
                                            "\", id ", id, ", are needed"));
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
      if (table.is_recorded && !(table.state == TableSurvey::State::kReadable))
        lossy_.insert(table.family);
    }
    return Status::OK();
  }

  // Of a table that the MANIFEST does not name: why it is no part of the database; empty if it is.
  std::string WhyLeftOut(const TableSurvey& table) const {
    if (manifest_.deleted.contains(table.number)) return "the MANIFEST has deleted it";
    if (!plan_.families.contains(table.family)) return "its column family was dropped";
    const auto recorded = manifest_.families.find(table.family);
    if (recorded == manifest_.families.end() || lossy_.contains(table.family)) return "";
    // An edit that is lost may have added the table.
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
    } else if (!table.is_recorded && !WhyLeftOut(table).empty()) {
      fate = RepairFate::kLeftOut;
      reason = WhyLeftOut(table);
    } else {
      fate = !table.IsIntact()   ? RepairFate::kSalvaged
             : table.is_recorded ? RepairFate::kKept
                                 : RepairFate::kRecovered;
      if (reason.empty() && !table.is_recorded) reason = "the MANIFEST does not name it";
      if (table.HasContents()) plan_.families.at(table.family).tables.push_back(&table);
    }
    const bool is_ordinary = fate == RepairFate::kKept || fate == RepairFate::kLeftOut ||
                             (fate == RepairFate::kUnreadable && !table.is_recorded);
    plan_.needs_repair |= !is_ordinary;
    if (fate == RepairFate::kRecovered || !manifest_.IsSound()) changed_.insert(table.family);
  }

  void PlanLogs() {
    FileNumber first = UINT64_MAX;
    for (auto& [id, family] : plan_.families) {
      family.log_number = FirstLogFor(id, family);
      first = std::min(first, family.log_number);
    }
    plan_.first_log = first;
    for (const LogSurvey& log : findings_.logs)
      plan_.needs_repair |= log.number >= first && !log.damage.ok() && !log.is_torn_tail;
    for (const auto& [number, synced] : manifest_.recorded_logs) {
      // An open refuses a log that is shorter than what was synced.
      const bool is_there = std::any_of(findings_.logs.begin(), findings_.logs.end(),
                                        [n = number, s = synced](const auto& log) {
                                          return log.number == n && log.good_bytes >= s.value_or(0);
                                        });
      const bool is_needed =
          number >= std::max(first, manifest_.min_log_number_to_keep) && synced.has_value();
      plan_.needs_repair |= is_needed && !is_there;
    }
  }

  // I3. A record that a table has already must not be replayed over it: merge operands would count
  // twice. The recorded tables have all records of the logs before the recorded number, and no
  // others. The flush of another table has written every entry up to its newest, and memtables
  // change with logs. An ingested table has no records of a log.
  uint64_t FirstLogFor(ColumnFamilyId id, const PlannedFamily& family) const {
    const auto recorded = manifest_.families.find(id);
    const uint64_t log_number =
        recorded == manifest_.families.end() ? 0 : recorded->second.log_number;
    SequenceNumber flushed = 0;
    for (const TableSurvey* table : family.tables) {
      if (!table->is_recorded && !table->is_external)
        flushed = std::max(flushed, table->largest_sequence);
    }
    if (flushed == 0 && recorded != manifest_.families.end()) return log_number;
    for (const LogSurvey& log : findings_.logs) {
      const auto last = log.last_sequences.find(id);
      if (log.number >= log_number && last != log.last_sequences.end() && last->second > flushed)
        return log.number;
    }
    return findings_.largest_number + 1;
  }

  void PlanNumbers() {
    plan_.last_sequence = manifest_.last_sequence;
    plan_.next_file_number = std::max(manifest_.next_file_number, findings_.largest_number + 1);
    for (const auto& [id, family] : plan_.families) {
      for (const TableSurvey* table : family.tables)
        plan_.last_sequence = std::max(plan_.last_sequence, LargestSequence(*table));
      plan_.next_file_number = std::max(plan_.next_file_number, family.log_number);
    }
  }

  const RepairFindings& findings_;
  const ManifestSurvey& manifest_;
  const FamilyOptions& options_;
  RepairPlan plan_;
  std::set<ColumnFamilyId> lossy_;    // a recorded table is missing or unreadable
  std::set<ColumnFamilyId> changed_;  // its tables may not be those that the MANIFEST names
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
    // I1. What a sound MANIFEST says is the order.
    ASHLAR_ASSERT(family.is_merged || !needs_repair || findings.manifest.IsSound() ||
                  IsInOrder(comparator, family.tables));
    ASHLAR_ASSERT(family.log_number >= first_log);  // I3
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
  for (const LogSurvey& log : findings.logs) {
    RepairFile& file = report.files.emplace_back();
    file.name = BaseName(WalFileName("", log.number));
    const bool is_replayed = log.number >= plan.first_log;
    file.fate = is_replayed ? RepairFate::kReplayed : RepairFate::kLeftOut;
    file.bytes = log.file_bytes;
    file.entries = is_replayed ? log.records : 0;
    file.lost_bytes = log.lost_bytes;
    file.reason = !is_replayed      ? "the tables have all of its records"
                  : log.damage.ok() ? ""
                                    : log.damage.ToString();
  }
  for (auto& [id, family] : families) report.column_families.push_back(std::move(family));
  return report;
}

}  // namespace ashlar

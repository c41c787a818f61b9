// RepairPlan: how a repair treats each file, decided from the surveys. Pure.
//
// A table that the MANIFEST does not name is recovered in each of three cases. First, it may hold
// data of its family that no recorded table has: its sequences exceed the family's recorded flushes
// or edits of the MANIFEST are lost, and no recorded table has its newest sequence. Second,
// recorded tables are missing or unreadable. Third, the family is not recorded. A table that the
// MANIFEST deletes is left out.
//
//   recorded tables alone                 stay in their levels
//   with others, and the order is known   the others go to level 0
//   with others, and it is not known      all tables of the family are merged into one sorted run
//
// The order is known if any two tables with common keys have disjoint sequences, and the one in the
// higher level is older. Logged writes that the tables lack become level-0 tables. For these, the
// order is not known if the tables have a newer version of a write's key, or the logs a newer write
// before it. Nor is it known if one of these tables may be newer than such a write: one in level 0,
// one with range tombstones, or any if the comparator may call different bytes equal.
//
// I1: the levels of the plan are in order. A search from level 0 on finds the newest version of a
//     key first, as far as sequences tell.
// I2: no table that the MANIFEST deletes is part of the plan.
// I3: a write of a log is kept unless the tables hold it (flushed_writes.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/repair.h"
#include "repair/family_options.h"
#include "repair/flushed_writes.h"
#include "repair/log_survey.h"
#include "repair/manifest_survey.h"
#include "repair/table_survey.h"

namespace ashlar {

struct RepairFindings {
  ManifestSurvey manifest;
  std::vector<TableSurvey> tables;  // by number, including recorded ones that are missing
  std::vector<LogSurvey> logs;      // by number
  FileNumber largest_number = 0;    // of any file of the database
  WALRecoveryMode recovery_mode = WALRecoveryMode::kPointInTimeRecovery;  // of the options
};

struct PlannedFamily {
  std::string name;
  // The readable tables that stay, in the order of their numbers.
  std::vector<const TableSurvey*> tables;
  bool is_merged = false;
  FlushedWrites flushed;  // in these tables
  // Of the logged writes that they lack. kSequenceNumberMax and 0 if there are none.
  SequenceNumber oldest_write = kSequenceNumberMax;
  SequenceNumber newest_write = 0;
  // One of these writes follows a newer one, or a table has a newer version of its key.
  bool has_stale_write = false;
};

struct PlannedLog {
  RepairFate fate = RepairFate::kReplayed;
  uint64_t writes = 0;  // that the tables lack
  std::string reason;   // of a log that is missing, left out, or refused by an open
};

struct RepairPlan {
  bool needs_repair = false;
  std::map<ColumnFamilyId, PlannedFamily> families;
  std::map<FileNumber, RepairFate> fates;     // of tables
  std::map<FileNumber, std::string> reasons;  // of tables: empty or absent if intact
  std::map<FileNumber, PlannedLog> logs;      // those of the findings, and missing ones
  SequenceNumber last_sequence = 0;
  FileNumber next_file_number = 0;

  // Returns whether a write of a log is kept.
  bool IsNeeded(FileNumber log, ColumnFamilyId family, const LoggedWrite& write) const {
    const auto found = families.find(family);
    return found != families.end() && !found->second.flushed.Holds(log, write);
  }
  // Asserts I1 for families that are not merged, and I2.
  void CheckInvariants(const RepairFindings& findings, const FamilyOptions& options) const;
};

// Returns InvalidArgument if the options of a family are missing or have another comparator.
Result<RepairPlan> PlanRepair(const RepairFindings& findings, const FamilyOptions& options);

RepairReport MakeReport(const RepairFindings& findings, const RepairPlan& plan);

}  // namespace ashlar

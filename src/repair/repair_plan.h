// RepairPlan: the treatment of each file by a repair, decided from the surveys. Pure.
//
// A table that the MANIFEST does not name comes back in each of three cases. First, it may hold
// data of its family that no recorded table has: its sequences go beyond the family's recorded
// flushes, or edits of the MANIFEST are lost and no recorded table has the newest of them. Second,
// recorded tables are missing or unreadable. Third, the family is not recorded. A table that the
// MANIFEST deletes stays out.
//
//   recorded tables alone                 stay in their levels
//   with others, and the order is known   those go to level 0
//   with others, and it is not known      all tables of the family are merged into one sorted run
//
// The order is known if every two tables with common keys have disjoint sequences, and the table in
// the higher level is the older one. Writes of the logs that the tables lack become tables of level
// 0. If a table there may be newer than such a write, or one with range tombstones in any level, or
// any table if the comparator may call different bytes equal, or the tables have a newer version of
// its key, or the logs a newer write before it, the order is not known.
//
// I1: the levels of the plan are in order: a search from level 0 on meets the newest version of a
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
  std::vector<TableSurvey> tables;  // by number; recorded ones that are missing too
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
  // Of the writes that they lack; kSequenceNumberMax and 0: none.
  SequenceNumber oldest_write = kSequenceNumberMax;
  SequenceNumber newest_write = 0;
  // One of these comes after a newer one, or a table has a newer version of its key.
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

  // Whether a write of a log is kept.
  bool IsNeeded(FileNumber log, ColumnFamilyId family, const LoggedWrite& write) const {
    const auto found = families.find(family);
    return found != families.end() && !found->second.flushed.Holds(log, write);
  }
  // Asserts I1 for families that are not merged, and I2.
  void CheckInvariants(const RepairFindings& findings, const FamilyOptions& options) const;
};

// InvalidArgument: the options of a family are missing, or have another comparator.
Result<RepairPlan> PlanRepair(const RepairFindings& findings, const FamilyOptions& options);

RepairReport MakeReport(const RepairFindings& findings, const RepairPlan& plan);

}  // namespace ashlar

// PropertyReader: the answers of DB::GetProperty and its relatives about an open database.
//
// Numeric properties are in tables of names and functions (properties.cc). Texts are made from the
// numbers and from the version. Thread safety: all methods from any thread. No method reads a table
// file, except TablesOf, TablesByLevel, TablesInRanges, and those that need entry counts of tables
// that are not open.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "lsm/background_work.h"
#include "lsm/database_state.h"

namespace ashlar {

class PropertyReader {
 public:
  PropertyReader(DatabaseState* state, BackgroundWork* background)
      : state_(state), background_(background) {}

  // These methods return false if there is no such property in that form.
  bool Number(const std::shared_ptr<ColumnFamily>& family, const Slice& property,
              uint64_t* value) const;
  bool Text(const std::shared_ptr<ColumnFamily>& family, const Slice& property,
            std::string* value) const;
  bool Map(const std::shared_ptr<ColumnFamily>& family, const Slice& property,
           std::map<std::string, std::string>* value) const;
  // Sums over all families. A property of the whole database counts once.
  bool Sum(const Slice& property, uint64_t* value) const;

  void LiveFiles(std::vector<LiveFileMetaData>* metadata) const;
  void FamilyMetaData(const std::shared_ptr<ColumnFamily>& family,
                      ColumnFamilyMetaData* metadata) const;
  // The statistics that the LOG gets periodically.
  std::string Dump(std::span<const std::shared_ptr<ColumnFamily>> families) const;
  Status TablesOf(const std::shared_ptr<ColumnFamily>& family,
                  TablePropertiesCollection* properties) const;
  Status TablesByLevel(const std::shared_ptr<ColumnFamily>& family,
                       std::vector<std::unique_ptr<TablePropertiesCollection>>* levels) const;
  // Only of the tables that overlap one of the ranges, whose limits are inclusive.
  Status TablesInRanges(const std::shared_ptr<ColumnFamily>& family, std::span<const Range> ranges,
                        TablePropertiesCollection* properties) const;

 private:
  Status AddTable(const ColumnFamily& family, FileMetaData* file,
                  TablePropertiesCollection* properties) const;
  std::vector<std::shared_ptr<ColumnFamily>> Families() const;
  void LearnAllEntryCounts() const;
  std::string LevelStats(const ColumnFamily& family) const ASHLAR_REQUIRES(kDatabaseMutex);
  std::string FamilyStats(const ColumnFamily& family) const ASHLAR_REQUIRES(kDatabaseMutex);
  std::string DatabaseStats() const ASHLAR_REQUIRES(kDatabaseMutex);

  DatabaseState* const state_;
  BackgroundWork* const background_;
};

// Whether a value that Get returned, or a running call, still pins memtables or tables of this
// database.
bool AnyValuePinned(DatabaseState* state);

}  // namespace ashlar

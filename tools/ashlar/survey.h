// Survey: the metadata of a database, read without opening it.
//
//   MANIFEST  the families, their comparators and tables
//   OPTIONS   the options, and the names of objects that only the program can make
//
// An unknown comparator, merge operator or table factory does not fail the survey, nor does a
// damaged OPTIONS file. Commands that need them fail. Thread safety: one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/inspect.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options_util.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/outcome.h"

namespace ashlar::cli {

struct Survey {
  DatabaseInventory inventory;
  // From the newest readable OPTIONS file, or the defaults if there is none. The families are those
  // of the MANIFEST, in the order of the inventory.
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  std::vector<UnsupportedOption> unsupported;
  // The damage of the OPTIONS files that are newer than the one that was read.
  Outcome options_damage;
  std::string options_used;  // the name of the file that was read; empty if none

  // Warns of a damaged OPTIONS file and names the one that is used instead.
  void WarnOfOptions(const GlobalOptions& global) const;
  // Returns an error if a command may not write with these options: the damage, unless
  // --ignore-damaged-options is given, or kNotSupported if a table factory is unknown.
  Outcome CheckWritable(const GlobalOptions& global) const;
  // Returns the family that --column-family names, or all. kUsage if none has this name.
  Outcome ChosenFamilies(const GlobalOptions& global,
                         std::vector<const ColumnFamilyInventory*>* chosen) const;
  // The name of the recorded merge operator. Empty if none is recorded.
  std::string MergeOperatorOf(const std::string& column_family) const;
  // Returns kUsage if another merge operator is recorded for the family.
  Outcome CheckRecordsNoOther(const std::string& column_family,
                              const std::string& merge_operator) const;
  // Returns null if no such option is recorded.
  const UnsupportedOption* FindUnsupported(const std::string& column_family,
                                           const std::string& option) const;
};

// Reads db_options, unsupported and the families of the newest OPTIONS file that can be read. Fails
// only if the directory cannot be listed.
Outcome ReadOptionsFile(const std::string& directory, Survey* survey,
                        std::vector<ColumnFamilyDescriptor>* recorded);
// Fails if there is no database, or its MANIFEST cannot be read.
Outcome ReadSurvey(const GlobalOptions& global, Survey* survey);

// Makes the merge operator of --merge-operator. Null without it, kUsage if the name is unknown.
Outcome MakeMergeOperator(const GlobalOptions& global,
                          std::shared_ptr<MergeOperator>* merge_operator);
// Returns kUsage if a family's table was written with another merge operator. An OPTIONS file can
// be lost, but each table also has the name of its operator.
Outcome CheckTableHasNoOther(const std::string& column_family, const std::string& table,
                             const TableProperties& properties, const std::string& merge_operator);

// Returns the library's comparator of this name, or null if only the program has it.
const Comparator* KnownComparator(const std::string& name);
// Returns the failure to read the keys of a family, whose comparator is unknown.
Outcome UnknownComparator(const ColumnFamilyInventory& family);

Outcome NoSuchFamily(const std::string& name);

}  // namespace ashlar::cli

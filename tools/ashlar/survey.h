// Survey: the metadata of a database, read without opening it.
//
//   MANIFEST  the families, their comparators and tables
//   OPTIONS   the options, and the names of objects that only the program can make
//
// A comparator, merge operator or table factory that is unknown here is no failure of the survey,
// nor is a damaged OPTIONS file: commands that need them fail. Thread safety: one thread.
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
  // Of the newest OPTIONS file that can be read, the defaults without one. The families are those
  // of the MANIFEST, in the order of the inventory.
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  std::vector<UnsupportedOption> unsupported;
  // The damage of the OPTIONS files that are newer than the one that was read.
  Outcome options_damage;
  std::string options_used;  // the name of that one; empty: none

  // Warns of a damaged OPTIONS file and names the one that is used instead.
  void WarnOfOptions(const GlobalOptions& global) const;
  // Whether a command may write with these options: the damage, unless --ignore-damaged-options is
  // given, or kNotSupported if a table factory is unknown.
  Outcome CheckWritable(const GlobalOptions& global) const;
  // The families that --column-family names, else all; kUsage if there is none of this name.
  Outcome ChosenFamilies(const GlobalOptions& global,
                         std::vector<const ColumnFamilyInventory*>* chosen) const;
  // The name of the recorded merge operator; empty: none.
  std::string MergeOperatorOf(const std::string& column_family) const;
  // Whether a merge operator may be used for a family: kUsage if another one is recorded.
  Outcome CheckRecordsNoOther(const std::string& column_family,
                              const std::string& merge_operator) const;
  // Null: nothing of the kind is recorded.
  const UnsupportedOption* FindUnsupported(const std::string& column_family,
                                           const std::string& option) const;
};

// Reads db_options, unsupported and the families of the newest OPTIONS file that can be read. Fails
// only if the directory cannot be listed.
Outcome ReadOptionsFile(const std::string& directory, Survey* survey,
                        std::vector<ColumnFamilyDescriptor>* recorded);
// Fails if there is no database, or its MANIFEST cannot be read.
Outcome ReadSurvey(const GlobalOptions& global, Survey* survey);

// The merge operator of --merge-operator; null without it, kUsage if the name is unknown.
Outcome MakeMergeOperator(const GlobalOptions& global,
                          std::shared_ptr<MergeOperator>* merge_operator);
// Whether a merge operator may be used with a family's table: kUsage if it was written with another
// one. An OPTIONS file can be lost; each table has the name of its operator, too.
Outcome CheckTableHasNoOther(const std::string& column_family, const std::string& table,
                             const TableProperties& properties, const std::string& merge_operator);

// The library's comparator of this name; null: only the program has it.
const Comparator* KnownComparator(const std::string& name);
// Why the keys of a family cannot be read: its comparator is unknown.
Outcome UnknownComparator(const ColumnFamilyInventory& family);

Outcome NoSuchFamily(const std::string& name);

}  // namespace ashlar::cli

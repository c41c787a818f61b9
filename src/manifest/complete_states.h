// CompleteStates: for each column family the newest state in a MANIFEST of which every table
// exists. For DBOptions::best_efforts_recovery.
//
//   edits   1 ... k ... n     complete after edit k: every table that the family has then is there
//                             with its recorded size
//
// A family that has tables after edit n and none before it that are complete has no such state: a
// family that is empty is not the family with its data.
//
// Thread safety: pure functions of the files.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "ashlar/vfs.h"
#include "base/result.h"
#include "manifest/manifest_reader.h"
#include "manifest/version_edit.h"

namespace ashlar {

struct CompleteState {
  std::string name;
  uint64_t edit = 0;      // the state is that after so many edits of the MANIFEST
  bool is_newest = true;  // there was no newer one
};

struct CompleteStates {
  FileNumber manifest_number = 0;
  Status damage;                                     // Ok: the MANIFEST was read to its end
  std::map<ColumnFamilyId, CompleteState> families;  // at the end of what was read
};

// Of the MANIFEST that CURRENT names, or if that is unusable of the newest that is not. Corruption:
// there is none, or a family has no complete state.
Result<CompleteStates> FindCompleteStates(vfs::FileSystem* file_system,
                                          const std::string& directory);

}  // namespace ashlar

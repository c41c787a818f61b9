// CompleteStates: for each column family, the newest state in a MANIFEST whose tables all exist.
// Used for DBOptions::best_efforts_recovery.
//
//   edits   1 ... k ... n     complete after edit k: every table that the family has then exists
//                             with its recorded size
//
// A state without tables does not count if the family has tables later, because an empty family is
// not the family with its data. Such a family may have no complete state.
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
  uint64_t edit = 0;      // the state is the one after this many edits of the MANIFEST
  bool is_newest = true;  // there was no newer one
};

struct CompleteStates {
  FileNumber manifest_number = 0;
  Status damage;                                     // Ok: the MANIFEST was read to its end
  std::map<ColumnFamilyId, CompleteState> families;  // those after the last edit that was read
};

// Finds the states in the MANIFEST that CURRENT names or, if that is unusable, in the newest usable
// one. Corruption: there is none, or a family has no complete state.
Result<CompleteStates> FindCompleteStates(vfs::FileSystem* file_system,
                                          const std::string& directory);

}  // namespace ashlar

// Gives a file a new name in place of its old one, and never replaces another file. Used for a pool
// that is complete and for a log that is kept.
//
//   hard link, then the old name is removed
//     not supported: a rename that replaces nothing
//       not supported: NotSupported, and nothing has changed
//
// Network file systems support only the link. FAT, some FUSE file systems and some shares support
// only the rename. A crash after the link may leave both names. Rejected: a check for the name
// before a plain rename, because another process may take the name in between.
//
// The new name is durable only after SyncFolderOf. Thread safety: any thread.
#pragma once

#include <string>

#include "ashlar/status.h"

namespace ashlar::pmem {

// The system's calls. Tests replace them with calls that return NotSupported.
struct NameCalls {
  Status (*link)(const std::string& from, const std::string& to);
  Status (*rename_to_new)(const std::string& from, const std::string& to);
};

Status GiveNewName(const NameCalls& calls, const std::string& from, const std::string& to);
// With the system's calls.
Status GiveNewName(const std::string& from, const std::string& to);

// Makes the names in the folder of `path` durable.
Status SyncFolderOf(const std::string& path);

}  // namespace ashlar::pmem

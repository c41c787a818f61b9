// A new name for a file, in the place of its old one and never over another file: that of a pool
// that is whole, and that of a log that is kept.
//
//   hard link, then the old name is removed
//     not supported: a rename that replaces nothing
//       not supported: NotSupported, and nothing has changed
//
// Network file systems have the link alone; FAT, some FUSE file systems and some shares have the
// rename alone. A crash after the link may leave both names. A look for the name before a plain
// rename was rejected: another process may take the name in between.
//
// Not durable before SyncFolderOf. Thread safety: any thread.
#pragma once

#include <string>

#include "ashlar/status.h"

namespace ashlar::pmem {

// The system's calls; tests replace them by those of a system without.
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

#include "pmem/new_name.h"

#include "base/format.h"
#include "platform/file.h"
#include "platform/path.h"

namespace ashlar::pmem {

Status GiveNewName(const NameCalls& calls, const std::string& from, const std::string& to) {
  const Status linked = calls.link(from, to);
  if (linked.ok()) return RemoveFile(from);
  if (!linked.IsNotSupported()) return linked;
  const Status renamed = calls.rename_to_new(from, to);
  if (!renamed.IsNotSupported()) return renamed;
  return Status::NotSupported(
      StrCat("name ", from, " ", to),
      "the file system has neither hard links nor a rename that replaces nothing");
}

Status GiveNewName(const std::string& from, const std::string& to) {
  return GiveNewName({.link = HardLink, .rename_to_new = RenameToNewPath}, from, to);
}

Status SyncFolderOf(const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(OsDirectory folder, OsDirectory::Open(ParentDirectory(path)));
  return folder.Sync();
}

}  // namespace ashlar::pmem

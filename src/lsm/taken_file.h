// TakenFile: a table file from outside that has a number of the database, until a version lists it.
//
//   (none) --Take: a link or a copy, synced--> taken --Keep--> (none): it belongs to a version
//                                                    --Remove--> (none): deleted
//
// The directory entry is not durable before the caller has synced the directory. After a crash the
// next open deletes a taken file, because no version names it.
//
// I1: Take writes a copy to a file that it makes, because an existing one may link to the original.
// I2: the original is not changed.
// I3: an original that the caller deletes afterwards is no table of the database itself, however
//     its path is spelled. A directory in which the new file appears is the database's.
//
// Thread safety: one thread. Lifetime: after Take, Keep or Remove is called before destruction.
#pragma once

#include <cstdint>
#include <string>

#include "filesystem/file_helpers.h"
#include "lsm/database_state.h"

namespace ashlar {

class TakenFile {
 public:
  struct Source {
    const std::string& path;
    uint64_t file_bytes = 0;  // Corruption if a copy has another size: the file has changed
    bool may_link = false;
    bool may_copy = true;   // if a link is refused
    bool is_moved = false;  // I3: InvalidArgument for a table of the database itself
    FilePatch patch = {};   // of the copy; not linked if it has bytes
  };
  // After an error, a part of the file may exist, which Remove deletes.
  Status Take(const DatabaseState& state, const Source& source);
  void Keep() { taken_ = false; }
  void Remove(vfs::FileSystem* file_system) noexcept;

  FileNumber number() const { return number_; }
  const std::string& path() const { return path_; }
  bool is_linked() const { return is_linked_; }

 private:
  Status LinkOrCopy(const DatabaseState& state, const Source& source);

  FileNumber number_ = 0;
  std::string path_;
  bool taken_ = false;  // something may be at path_, which belongs to this object
  bool is_linked_ = false;
};

}  // namespace ashlar

// Writes a new MANIFEST: creates it, fills it with edits, and makes it the current one.
//
//   CreateManifest -> AppendEdit* -> MakeCurrent
//
// I1: CURRENT never names a file that a power cut may remove or shorten: MakeCurrent makes the
//     bytes durable, then the name, then CURRENT.
// I2: the directory is opened before the file is created. The system reports a write error of a
//     directory once to each handle that was open. So a job whose sync already returned the error
//     hides nothing.
//
// Thread safety: one thread.
#pragma once

#include <memory>
#include <string>

#include "ashlar/vfs.h"
#include "base/result.h"
#include "manifest/version_edit.h"
#include "wal/log_writer.h"

namespace ashlar {

struct NewManifest {
  std::unique_ptr<vfs::Directory> directory;
  std::unique_ptr<LogWriter> writer;
};

Result<NewManifest> CreateManifest(vfs::FileSystem* file_system, const std::string& directory,
                                   FileNumber number);
Status AppendEdit(const VersionEdit& edit, LogWriter* writer);
// After an error CURRENT may name either MANIFEST.
Status MakeCurrent(vfs::FileSystem* file_system, const std::string& directory, FileNumber number,
                   const NewManifest& manifest);

}  // namespace ashlar

// How a MANIFEST comes to be: created, filled with edits, and made the current one.
//
//   CreateManifest -> AppendEdit* -> MakeCurrent
//
// I1: CURRENT never names a file that a power cut may remove or shorten: MakeCurrent makes the
//     bytes durable, then the name, then CURRENT.
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

Result<std::unique_ptr<LogWriter>> CreateManifest(vfs::FileSystem* file_system,
                                                  const std::string& directory, FileNumber number);
Status AppendEdit(const VersionEdit& edit, LogWriter* writer);
// After an error CURRENT may name either MANIFEST.
Status MakeCurrent(vfs::FileSystem* file_system, const std::string& directory, FileNumber number,
                   LogWriter* writer);

}  // namespace ashlar

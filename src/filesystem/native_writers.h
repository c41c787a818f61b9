// The writing halves of NativeFileSystem: buffered, unbuffered, direct and mapped.
// native_file_system.h has the picture and the invariants.
#pragma once

#include <memory>
#include <string>

#include "ashlar/vfs.h"

namespace ashlar {

// kWriteOver: the file is written from its beginning; what the writes do not reach is cut off by
// Flush and Close.
enum class ExistingContents { kCut, kKeep, kWriteOver };

Status OpenNativeWritableFile(const std::string& path, const vfs::FileOptions& options,
                              ExistingContents existing,
                              std::unique_ptr<vfs::WritableFile>* result);

}  // namespace ashlar

// The writing halves of NativeFileSystem: buffered, unbuffered, direct and mapped.
// native_file_system.h has the picture and the invariants.
#pragma once

#include <memory>
#include <string>

#include "ashlar/vfs.h"

namespace ashlar {

// kWriteOver: the file is written from its beginning. Flush and Close truncate it after the last
// write.
enum class ExistingContents { kCut, kKeep, kWriteOver };

Status OpenNativeWritableFile(const std::string& path, const vfs::FileOptions& options,
                              ExistingContents existing,
                              std::unique_ptr<vfs::WritableFile>* result);

}  // namespace ashlar

// The writing halves of NativeFileSystem: buffered, unbuffered, direct and mapped.
// native_file_system.h has the picture and the invariants.
#pragma once

#include <memory>
#include <string>

#include "ashlar/file_system.h"

namespace ashlar {

// kWriteOver: the file is written from its beginning; what the writes do not reach is cut off by
// Flush and Close.
enum class ExistingContents { kCut, kKeep, kWriteOver };

Status OpenNativeWritableFile(const std::string& path, const FileOptions& options,
                              ExistingContents existing, std::unique_ptr<WritableFile>* result);

}  // namespace ashlar

// The writing halves of NativeFileSystem: buffered, unbuffered, direct and mapped.
// native_file_system.h has the picture and the invariants.
#pragma once

#include <memory>
#include <string>

#include "ashlar/file_system.h"

namespace ashlar {

enum class ExistingContents { kCut, kKeep };

Status OpenNativeWritableFile(const std::string& path, const FileOptions& options,
                              ExistingContents existing, std::unique_ptr<WritableFile>* result);

}  // namespace ashlar

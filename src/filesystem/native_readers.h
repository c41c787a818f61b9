// The readers of NativeFileSystem: one class per way of reading, so that a read has no mode to
// check.
//   buffered   pread through the page cache
//   mapped     the whole file mapped at the open; Read returns pointers into the mapping
//   direct     pread around the page cache; unaligned requests go through an aligned buffer
#pragma once

#include <memory>
#include <string>

#include "ashlar/vfs.h"

namespace ashlar {

// Refuses a lock file (I3 of native_file_system.h).
Status CheckNoLockFile(const std::string& path);

Status OpenNativeSequentialFile(const std::string& path, const vfs::FileOptions& options,
                                std::unique_ptr<vfs::SequentialFile>* result);
Status OpenNativeRandomAccessFile(const std::string& path, const vfs::FileOptions& options,
                                  std::unique_ptr<vfs::RandomAccessFile>* result);

}  // namespace ashlar

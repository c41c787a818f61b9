// CopyLiveFile: copies one file of DB::GetLiveFilesStorageInfo to another directory.
//
// Thread safety: any thread.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ashlar/metadata.h"
#include "ashlar/vfs.h"
#include "base/format.h"
#include "base/result.h"
#include "filesystem/file_helpers.h"
#include "tests/support/expect_ok.h"

namespace ashlar {

// Follows the contract of the file: writes its replacement contents, copies its first bytes, or
// links it. A failure ends the test.
inline void CopyLiveFile(vfs::FileSystem* system, const LiveFileStorageInfo& file,
                         const std::string& to) {
  const std::string from = StrCat(file.directory, "/", file.relative_filename);
  const std::string target = StrCat(to, "/", file.relative_filename);
  if (!file.replacement_contents.empty()) {
    EXPECT_EQ(file.size, file.replacement_contents.size());
    ASSERT_OK(WriteStringToFile(system, file.replacement_contents, target, Durability::kBuffered));
  } else if (file.trim_to_size) {
    const Result<std::string> bytes = ReadFileToString(system, from, size_t{64} << 20);
    ASSERT_OK(bytes.status());
    ASSERT_GE(bytes->size(), file.size) << from;
    ASSERT_OK(
        WriteStringToFile(system, bytes->substr(0, file.size), target, Durability::kBuffered));
  } else {
    uint64_t bytes = 0;
    ASSERT_OK(system->GetFileSize(from, &bytes));
    ASSERT_EQ(bytes, file.size) << from;
    ASSERT_OK(system->LinkFile(from, target));
  }
}

}  // namespace ashlar

// Backup options that are C functions. Calls the C++ options that are made of them, because no
// backup calls the one that leaves files out.
#include <gtest/gtest.h>

#include <string>

#include "ashlar/backup_engine.h"
#include "ashlar/c.h"
#include "capi/handles.h"

namespace ashlar {
namespace {

unsigned char ExcludeSecond(void* state, const char* relative_file, size_t relative_file_size) {
  auto* const asked = static_cast<std::string*>(state);
  const std::string name(relative_file, relative_file_size);
  *asked += name + " ";
  return name == "shared_checksum/2.sst" ? 7 : 0;
}

TEST(BackupOptions, AFunctionDecidesAboutEachFile) {
  rocksdb_create_backup_options_t* const options = rocksdb_create_backup_options_create();
  EXPECT_FALSE(options->rep.exclude_files_callback);
  std::string asked;
  rocksdb_create_backup_options_set_exclude_files_callback(options, &asked, ExcludeSecond);
  MaybeExcludeBackupFile files[] = {
      MaybeExcludeBackupFile(BackupExcludedFileInfo("shared_checksum/1.sst")),
      MaybeExcludeBackupFile(BackupExcludedFileInfo("shared_checksum/2.sst"))};
  ASSERT_TRUE(options->rep.exclude_files_callback);
  options->rep.exclude_files_callback(files, files + 2);
  EXPECT_EQ(asked, "shared_checksum/1.sst shared_checksum/2.sst ");
  EXPECT_FALSE(files[0].exclude_decision);
  EXPECT_TRUE(files[1].exclude_decision);
  rocksdb_create_backup_options_set_exclude_files_callback(options, &asked, nullptr);
  EXPECT_FALSE(options->rep.exclude_files_callback);
  rocksdb_create_backup_options_destroy(options);
}

}  // namespace
}  // namespace ashlar

#include "tests/support/database_table.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/format.h"
#include "tests/support/expect_ok.h"
#include "tests/support/manual_env.h"

namespace ashlar {

void WriteTableByADatabase(const std::shared_ptr<vfs::FileSystem>& file_system,
                           const std::string& path, const FamilyContents& entries) {
  const std::string source = "/source";
  ManualEnv env(file_system, 1);
  Options options = SmallDatabaseOptions();
  options.env = &env;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, source, &db));
  for (const auto& [key, value] : entries) ASSERT_OK(db->Put(WriteOptions(), key, value));
  ASSERT_OK(db->Flush(FlushOptions()));
  std::vector<LiveFileMetaData> tables;
  db->GetLiveFilesMetaData(&tables);
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_OK(db->Close());
  db.reset();
  ASSERT_OK(file_system->RenameFile(StrCat(source, tables[0].name), path));
  ASSERT_OK(DestroyDB(source, options));
}

}  // namespace ashlar

// Values whose copies by the C interface cannot be allocated. Sanitizers end a process that
// requests so much memory, so the file is not built with them.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "ashlar/c.h"
#include "ashlar/utilities/stackable_db.h"
#include "capi/handles.h"

namespace ashlar {
namespace {

// The value of "huge" has one exbibyte, and each other value one byte.
class HugeValues : public StackableDB {
 public:
  using StackableDB::Get;
  using StackableDB::MultiGet;
  using StackableDB::StackableDB;
  Status Get(const ReadOptions& /*options*/, ColumnFamilyHandle* /*column_family*/,
             const Slice& key, PinnableSlice* value) override {
    value->PinSlice(Slice("v", key == "huge" ? size_t{1} << 60 : 1), nullptr);
    return Status::OK();
  }
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family, size_t num_keys,
                const Slice* keys, PinnableSlice* values, Status* statuses,
                bool /*sorted_input*/) override {
    for (size_t i = 0; i < num_keys; ++i)
      statuses[i] = Get(options, column_family, keys[i], &values[i]);
  }
};

TEST(CopiedValues, OneWithoutMemoryIsAnError) {
  const std::string directory = ::testing::TempDir() + "copied_values";
  std::filesystem::remove_all(directory);
  Options options;
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, directory, &db).ok());
  HugeValues huge(std::shared_ptr<DB>(std::shared_ptr<DB>(), db.get()));
  rocksdb_t handle{.owned = nullptr, .rep = &huge, .default_family = db->DefaultColumnFamily()};
  rocksdb_readoptions_t* const read = rocksdb_readoptions_create();

  char* error = nullptr;
  size_t size = 99;
  EXPECT_EQ(rocksdb_get(&handle, read, "huge", 4, &size, &error), nullptr);
  EXPECT_EQ(size, 0u);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error, Status::MemoryLimit().ToString());
  rocksdb_free(error);

  const char* const keys[] = {"huge", "a"};
  const size_t key_sizes[] = {4, 1};
  char* values[2];
  size_t sizes[2];
  char* errors[2];
  rocksdb_multi_get(&handle, read, 2, keys, key_sizes, values, sizes, errors);
  EXPECT_EQ(values[0], nullptr);
  EXPECT_EQ(sizes[0], 0u);
  ASSERT_NE(errors[0], nullptr);
  EXPECT_EQ(errors[0], Status::MemoryLimit().ToString());
  ASSERT_NE(values[1], nullptr);
  EXPECT_EQ(sizes[1], 1u);
  EXPECT_EQ(errors[1], nullptr);
  rocksdb_free(errors[0]);
  rocksdb_free(values[1]);

  rocksdb_readoptions_destroy(read);
  ASSERT_TRUE(db->Close().ok());
  db.reset();
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace ashlar

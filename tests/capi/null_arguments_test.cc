// Arguments of C functions that may be null, numbers out of range, and flags for objects that
// Ashlar does not have. The results are RocksDB's.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "ashlar/c.h"
#include "ashlar/utilities/stackable_db.h"
#include "capi/handles.h"

namespace ashlar {
namespace {

class WithoutIdentity : public StackableDB {
 public:
  using StackableDB::StackableDB;
  Status GetDbIdentity(std::string& /*identity*/) const override { return Status::NotFound(); }
};

class CountedHandle : public ColumnFamilyHandle {
 public:
  explicit CountedHandle(int* destroyed) : destroyed_(destroyed) {}
  ~CountedHandle() override { ++*destroyed_; }
  const std::string& GetName() const override { return name_; }
  uint32_t GetID() const override { return 1; }
  Status GetDescriptor(ColumnFamilyDescriptor* /*descriptor*/) override {
    return Status::NotSupported();
  }
  const Comparator* GetComparator() const override { return BytewiseComparator(); }

 private:
  const std::string name_ = "f";
  int* const destroyed_;
};

// Creates families and then fails, as with fail_if_options_file_error.
class FailsAfterCreations : public StackableDB {
 public:
  FailsAfterCreations(const std::shared_ptr<DB>& db, int* destroyed)
      : StackableDB(db), destroyed_(destroyed) {}
  Status CreateColumnFamily(const ColumnFamilyOptions& /*options*/, const std::string& /*name*/,
                            ColumnFamilyHandle** handle) override {
    *handle = new CountedHandle(destroyed_);
    return Status::IOError("the OPTIONS file");
  }

 private:
  int* const destroyed_;
};

class NullArguments : public ::testing::Test {
 protected:
  NullArguments() {
    std::filesystem::remove_all(directory_);
    rocksdb_options_set_create_if_missing(options_, 1);
    rocksdb_options_set_disable_auto_compactions(options_, 1);
  }
  ~NullArguments() override {
    if (db_ != nullptr) rocksdb_close(db_);
    rocksdb_options_destroy(options_);
    std::filesystem::remove_all(directory_);
  }

  void ExpectNoError() {
    EXPECT_EQ(error_, nullptr) << error_;
    rocksdb_free(error_);
    error_ = nullptr;
  }
  // Opens a database with the key "k" in one table.
  void Open() {
    db_ = rocksdb_open(options_, directory_.c_str(), &error_);
    ExpectNoError();
    ASSERT_NE(db_, nullptr);
    rocksdb_writeoptions_t* const write = rocksdb_writeoptions_create();
    rocksdb_put(db_, write, "k", 1, "v", 1, &error_);
    rocksdb_writeoptions_destroy(write);
    rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
    rocksdb_flush(db_, flush, &error_);
    rocksdb_flushoptions_destroy(flush);
    ExpectNoError();
  }
  std::string TableName() {
    const rocksdb_livefiles_t* const files = rocksdb_livefiles(db_);
    const std::string name = rocksdb_livefiles_name(files, 0);
    rocksdb_livefiles_destroy(files);
    return name;
  }

  const std::string directory_ =
      ::testing::TempDir() + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  rocksdb_options_t* const options_ = rocksdb_options_create();
  rocksdb_t* db_ = nullptr;
  char* error_ = nullptr;
};

TEST_F(NullArguments, NullOptionsOfChecksAreTheDefaults) {
  rocksdb_file_checksum_gen_factory_t* const factory =
      rocksdb_file_checksum_gen_crc32c_factory_create();
  rocksdb_options_set_file_checksum_gen_factory(options_, factory);
  rocksdb_file_checksum_gen_factory_destroy(factory);
  ASSERT_NO_FATAL_FAILURE(Open());
  rocksdb_verify_checksum_with_options(db_, nullptr, &error_);
  ExpectNoError();
  rocksdb_verify_file_checksums_with_options(db_, nullptr, &error_);
  ExpectNoError();
}

TEST_F(NullArguments, NullOptionsOfSizesAreTheDefaults) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const char* const start = "a";
  const char* const limit = "z";
  const size_t bytes = 1;
  uint64_t of_default = 0;
  uint64_t of_family = 0;
  rocksdb_approximate_sizes_with_options(db_, nullptr, 1, &start, &bytes, &limit, &bytes,
                                         &of_default, &error_);
  rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(db_);
  rocksdb_approximate_sizes_cf_with_options(db_, family, nullptr, 1, &start, &bytes, &limit, &bytes,
                                            &of_family, &error_);
  rocksdb_column_family_handle_destroy(family);
  ExpectNoError();
  EXPECT_GT(of_default, 0u);
  EXPECT_EQ(of_family, of_default);
}

TEST_F(NullArguments, SizesOfBlobFilesAloneAreZero) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const char* const start = "a";
  const char* const limit = "z";
  const size_t bytes = 1;
  const auto size_with = [&](uint8_t flags) {
    uint64_t size = 99;
    rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(db_);
    rocksdb_approximate_sizes_cf_with_flags(db_, family, 1, &start, &bytes, &limit, &bytes, flags,
                                            &size, &error_);
    rocksdb_column_family_handle_destroy(family);
    return size;
  };
  EXPECT_EQ(size_with(rocksdb_size_approximation_flags_include_blob_files), 0u);
  ExpectNoError();
  const Range range(start, limit);
  uint64_t size = 99;
  EXPECT_TRUE(
      db_->rep
          ->GetApproximateSizes(&range, 1, &size, DB::SizeApproximationFlags::INCLUDE_BLOB_FILES)
          .ok());
  EXPECT_EQ(size, 0u);
  size_with(rocksdb_size_approximation_flags_none);
  EXPECT_NE(error_, nullptr);
  rocksdb_free(error_);
  error_ = nullptr;
}

TEST_F(NullArguments, NullOptionsOfACompactionAreTheDefaults) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const std::string first = TableName();
  const char* name = first.c_str();
  rocksdb_compact_files(db_, nullptr, &name, 1, 2, 0, nullptr, nullptr, nullptr, &error_);
  ExpectNoError();
  const std::string second = TableName();
  name = second.c_str();
  char** made = nullptr;
  size_t count = 0;
  rocksdb_compact_files_cf(db_, nullptr, nullptr, &name, 1, 3, 0, &made, &count, nullptr, &error_);
  ExpectNoError();
  EXPECT_EQ(count, 1u);
  rocksdb_compact_files_output_file_names_destroy(made, count);
}

TEST_F(NullArguments, AnIdentityThatIsNotKnownHasNoBytes) {
  ASSERT_NO_FATAL_FAILURE(Open());
  WithoutIdentity unknown(std::shared_ptr<DB>(std::shared_ptr<DB>(), db_->rep));
  rocksdb_t handle{.owned = nullptr, .rep = &unknown, .default_family = db_->default_family};
  size_t size = 99;
  EXPECT_EQ(rocksdb_get_db_identity(&handle, &size), nullptr);
  EXPECT_EQ(size, 0u);
}

TEST_F(NullArguments, AnErrorAfterTheCreationOfAFamilyLeavesNoHandle) {
  ASSERT_NO_FATAL_FAILURE(Open());
  int destroyed = 0;
  FailsAfterCreations fails(std::shared_ptr<DB>(std::shared_ptr<DB>(), db_->rep), &destroyed);
  rocksdb_t handle{.owned = nullptr, .rep = &fails, .default_family = db_->default_family};
  EXPECT_EQ(rocksdb_create_column_family(&handle, options_, "f", &error_), nullptr);
  EXPECT_NE(error_, nullptr);
  rocksdb_free(error_);
  error_ = nullptr;
  EXPECT_EQ(destroyed, 1);
}

TEST_F(NullArguments, AWriterWithoutAComparatorHasThatOfItsOptions) {
  const std::string file = directory_ + ".sst";
  rocksdb_envoptions_t* const env = rocksdb_envoptions_create();
  rocksdb_sstfilewriter_t* const writer =
      rocksdb_sstfilewriter_create_with_comparator(env, options_, nullptr);
  rocksdb_sstfilewriter_open(writer, file.c_str(), &error_);
  rocksdb_sstfilewriter_put(writer, "a", 1, "1", 1, &error_);
  rocksdb_sstfilewriter_put(writer, "b", 1, "2", 1, &error_);
  rocksdb_sstfilewriter_finish(writer, &error_);
  ExpectNoError();
  rocksdb_sstfilewriter_destroy(writer);
  rocksdb_envoptions_destroy(env);
  std::filesystem::remove(file);
}

TEST_F(NullArguments, AReaderOfATableRefusesObjectsThatLackAFunction) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const std::string file = directory_ + TableName();
  const auto name = [](void* /*state*/) { return "of the test"; };
  rocksdb_comparator_t* const comparator =
      rocksdb_comparator_create(nullptr, nullptr, nullptr, name);
  for (const bool merges : {false, true}) {
    rocksdb_options_t* const options = rocksdb_options_create();
    if (merges) {
      rocksdb_options_set_merge_operator(
          options, rocksdb_mergeoperator_create(nullptr, nullptr, nullptr, nullptr, nullptr, name));
    } else {
      rocksdb_options_set_comparator(options, comparator);
    }
    ashlar_sstfilereader_t* const reader = ashlar_sstfilereader_create(options);
    ashlar_sstfilereader_open(reader, file.c_str(), &error_);
    ASSERT_NE(error_, nullptr);
    EXPECT_NE(std::string(error_).find(merges ? "merge_operator" : "comparator"), std::string::npos)
        << error_;
    rocksdb_free(error_);
    error_ = nullptr;
    ashlar_sstfilereader_destroy(reader);
    rocksdb_options_destroy(options);
  }
  rocksdb_comparator_destroy(comparator);
}

TEST_F(NullArguments, ANullRequestIdIsNone) {
  rocksdb_readoptions_t* const read = rocksdb_readoptions_create();
  rocksdb_readoptions_set_request_id(read, "id", 2);
  EXPECT_STREQ(rocksdb_readoptions_get_request_id(read, nullptr), "id");
  rocksdb_readoptions_set_request_id(read, nullptr, 2);
  EXPECT_EQ(read->rep.request_id, nullptr);
  EXPECT_EQ(rocksdb_readoptions_get_request_id(read, nullptr), nullptr);
  rocksdb_readoptions_destroy(read);
}

TEST_F(NullArguments, ANullTableFilterReadsAllTables) {
  ASSERT_NO_FATAL_FAILURE(Open());
  int destroyed = 0;
  rocksdb_readoptions_t* const read = rocksdb_readoptions_create();
  rocksdb_readoptions_set_table_filter(
      read, &destroyed, [](void* state) { ++*static_cast<int*>(state); }, nullptr);
  EXPECT_EQ(rocksdb_readoptions_has_table_filter(read), 0);
  EXPECT_EQ(destroyed, 1);
  rocksdb_iterator_t* const iterator = rocksdb_create_iterator(db_, read);
  rocksdb_iter_seek_to_first(iterator);
  EXPECT_EQ(rocksdb_iter_valid(iterator), 1);
  rocksdb_iter_destroy(iterator);
  rocksdb_readoptions_destroy(read);
}

TEST_F(NullArguments, AFilterWithoutAFunctionFailsTheCompactionThatMakesIt) {
  int filters_destroyed = 0;
  rocksdb_options_set_compaction_filter_factory(
      options_, rocksdb_compactionfilterfactory_create(
                    &filters_destroyed, nullptr,
                    [](void* state, rocksdb_compactionfiltercontext_t* /*context*/) {
                      return rocksdb_compactionfilter_create(
                          state, [](void* destroyed) { ++*static_cast<int*>(destroyed); }, nullptr,
                          [](void* /*destroyed*/) { return "Empty"; });
                    },
                    [](void* /*state*/) { return "MakesEmpty"; }));
  ASSERT_NO_FATAL_FAILURE(Open());
  const Status failed = db_->rep->CompactRange(CompactRangeOptions(), nullptr, nullptr);
  EXPECT_TRUE(failed.IsInvalidArgument()) << failed.ToString();
  EXPECT_NE(failed.ToString().find("compaction filter factory MakesEmpty"), std::string::npos)
      << failed.ToString();
  EXPECT_NE(failed.ToString().find("filter is null"), std::string::npos) << failed.ToString();
  EXPECT_EQ(filters_destroyed, 1);
  std::string value;
  EXPECT_TRUE(db_->rep->Get(ReadOptions(), "k", &value).ok());
  EXPECT_EQ(value, "v");
  rocksdb_close(db_);  // before `filters_destroyed` ends
  db_ = nullptr;
}

// Like RocksDB, this needs no name of a filter that a factory makes.
TEST_F(NullArguments, AFilterOfAFactoryNeedsNoName) {
  rocksdb_options_set_compaction_filter_factory(
      options_, rocksdb_compactionfilterfactory_create(
                    nullptr, nullptr,
                    [](void* /*state*/, rocksdb_compactionfiltercontext_t* /*context*/) {
                      return rocksdb_compactionfilter_create(
                          nullptr, nullptr,
                          [](void* /*state*/, int /*level*/, const char* /*key*/, size_t /*size*/,
                             const char* /*value*/, size_t /*value_size*/, char** /*new_value*/,
                             size_t* /*new_value_size*/,
                             unsigned char* /*value_changed*/) -> unsigned char { return 1; },
                          nullptr);
                    },
                    [](void* /*state*/) { return "RemovesAll"; }));
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_TRUE(db_->rep->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  std::string value;
  EXPECT_TRUE(db_->rep->Get(ReadOptions(), "k", &value).IsNotFound());
}

TEST_F(NullArguments, ANullResultOfAMergeIsPassedToDeleteValue) {
  int deleted = 0;
  rocksdb_options_set_merge_operator(
      options_,
      rocksdb_mergeoperator_create(
          &deleted, nullptr,
          [](void* /*state*/, const char* key, size_t /*key_size*/, const char* /*existing*/,
             size_t /*existing_size*/, const char* const* /*operands*/, const size_t* /*sizes*/,
             int /*count*/, unsigned char* success, size_t* size) -> char* {
            *success = key[0] == 'e' ? 1 : 0;
            *size = 0;
            return nullptr;
          },
          nullptr,
          [](void* state, const char* value, size_t size) {
            EXPECT_EQ(value, nullptr);
            EXPECT_EQ(size, 0u);
            ++*static_cast<int*>(state);
          },
          [](void* /*state*/) { return "Null"; }));
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_TRUE(db_->rep->Merge(WriteOptions(), "empty", "1").ok());
  ASSERT_TRUE(db_->rep->Merge(WriteOptions(), "fails", "1").ok());
  std::string value = "before";
  EXPECT_TRUE(db_->rep->Get(ReadOptions(), "empty", &value).ok());
  EXPECT_EQ(value, "");
  EXPECT_EQ(deleted, 1);
  EXPECT_TRUE(db_->rep->Get(ReadOptions(), "fails", &value).IsCorruption());
  EXPECT_EQ(deleted, 2);
  rocksdb_close(db_);  // before `deleted` ends
  db_ = nullptr;
}

TEST_F(NullArguments, NullFlagsAndListsAreNone) {
  rocksdb_compaction_options_canceled_set(nullptr, 1);
  rocksdb_compaction_options_canceled_destroy(nullptr);
  rocksdb_load_latest_options_destroy(nullptr, nullptr, nullptr, 3);
}

TEST_F(NullArguments, ALevelOfStatisticsOutOfRangeIsTheNearest) {
  rocksdb_options_enable_statistics(options_);
  rocksdb_options_set_statistics_level(options_, -1);
  EXPECT_EQ(rocksdb_options_get_statistics_level(options_), rocksdb_statistics_level_disable_all);
  rocksdb_options_set_statistics_level(options_, 99);
  EXPECT_EQ(rocksdb_options_get_statistics_level(options_), rocksdb_statistics_level_all);
}

}  // namespace
}  // namespace ashlar

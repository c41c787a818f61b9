// Databases that releases of RocksDB and LevelDB wrote. Each is read, written and read again with
// the contents that its own library saw. Features that Ashlar does not have are refused by name.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options_util.h"
#include "ashlar/slice_transform.h"
#include "ashlar/statistics.h"
#include "base/crc32c.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/golden_pack.h"
#include "tests/support/open_database.h"
#include "tests/support/places.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

namespace fs = std::filesystem;

fs::path PacksFolder() { return fs::path(kSourceDir) / "tests" / "golden" / "databases"; }

std::vector<std::string> ListPacks() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(PacksFolder())) {
    if (entry.path().extension() == ".pack") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// A database that generate.py made, and the contents that it must have.
struct Pack {
  std::map<std::string, std::string> files;
  Contents contents;
  std::string expected_refusal;  // empty if the database must open
};

std::string FromHex(const std::string& hex) {
  std::string bytes;
  EXPECT_TRUE(hex.empty() || Slice(hex).DecodeHex(&bytes));
  return bytes;
}

Pack ReadPack(const std::string& name) {
  Pack pack;
  pack.files = FilesOfGoldenPack(name);
  EXPECT_FALSE(pack.files.empty()) << "a damaged pack";
  pack.expected_refusal = pack.files["EXPECTED"];
  std::istringstream lines(pack.files["CONTENTS"]);
  pack.files.erase("EXPECTED");
  pack.files.erase("CONTENTS");
  for (std::string line; std::getline(lines, line);) {
    const size_t key = line.find(' ') + 1;
    const size_t value = line.find(' ', key) + 1;
    pack.contents[line.substr(0, key - 1)][FromHex(line.substr(key, value - key - 1))] =
        FromHex(line.substr(value));
  }
  return pack;
}

class GoldenTest : public testing::TestWithParam<std::string> {
 protected:
  GoldenTest() : pack_(ReadPack(GetParam())), file_system_(std::make_shared<MemoryFileSystem>()) {
    EXPECT_OK(file_system_->CreateDir(OpenDatabase::kPath));
    for (const auto& [name, bytes] : pack_.files)
      EXPECT_OK(WriteStringToFile(file_system_.get(), bytes, StrCat(OpenDatabase::kPath, "/", name),
                                  Durability::kBuffered));
  }

  static Options MakeOptions() {
    Options options = SmallDatabaseOptions();
    options.create_if_missing = false;
    options.merge_operator = MergeOperators::CreateUInt64AddOperator();
    options.compression = kNoCompression;
    return options;
  }
  struct Opened {
    std::unique_ptr<DB> db;
    std::vector<ColumnFamilyHandle*> handles;

    ~Opened() {
      for (ColumnFamilyHandle* handle : handles) delete handle;
    }
    ColumnFamilyHandle* family(const std::string& name) const {
      for (ColumnFamilyHandle* handle : handles) {
        if (handle->GetName() == name) return handle;
      }
      return nullptr;
    }
  };
  // Opens with the families and prefix extractors of the OPTIONS file. Its other options belong to
  // another release and to the place where the database was made.
  Status Open(ManualEnv* env, bool read_only, Opened* opened) {
    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    ConfigOptions config;
    config.env = env;
    const Status loaded = LoadLatestOptions(config, OpenDatabase::kPath, &db_options, &families);
    if (!loaded.IsNotFound()) {
      ASHLAR_RETURN_IF_ERROR(loaded);
    } else {
      families = {{kDefaultColumnFamilyName, {}}};
    }
    for (ColumnFamilyDescriptor& family : families) {
      const std::shared_ptr<const SliceTransform> prefixes = family.options.prefix_extractor;
      family.options = ColumnFamilyOptions(MakeOptions());
      family.options.prefix_extractor = prefixes;
    }
    db_options = DBOptions(MakeOptions());
    db_options.env = env;
    db_options.statistics = statistics_;
    if (read_only)
      return DB::OpenForReadOnly(db_options, OpenDatabase::kPath, families, &opened->handles,
                                 &opened->db);
    return DB::Open(db_options, OpenDatabase::kPath, families, &opened->handles, &opened->db);
  }

  // Reads every entry of each prefix with Seek and SeekForPrev, and seeks prefixes that no key has.
  static void ExpectContentsByPrefix(DB* db, ColumnFamilyHandle* handle,
                                     const SliceTransform& prefixes,
                                     const FamilyContents& entries) {
    ReadOptions in_prefix;
    in_prefix.prefix_same_as_start = true;
    const std::unique_ptr<Iterator> it(db->NewIterator(in_prefix, handle));
    for (const auto& [key, value] : entries) {
      if (!prefixes.InDomain(key)) continue;
      const std::string prefix = prefixes.Transform(key).ToString();
      std::vector<std::string> expected;
      for (auto at = entries.lower_bound(prefix);
           at != entries.end() && at->first.starts_with(prefix); ++at)
        expected.push_back(at->first);
      std::vector<std::string> found;
      for (it->Seek(prefix); it->Valid(); it->Next()) found.push_back(it->key().ToString());
      EXPECT_EQ(found, expected);
      it->Seek(key);
      EXPECT_TRUE(it->Valid() && it->key() == Slice(key) && it->value() == Slice(value)) << key;
      it->SeekForPrev(key + "\xff");
      EXPECT_TRUE(it->Valid() && it->key() == Slice(key) && it->value() == Slice(value)) << key;
      std::string absent = key;
      absent[prefix.size() - 1] = '~';
      it->Seek(absent);
      EXPECT_FALSE(it->Valid()) << absent;
    }
    EXPECT_OK(it->status());
  }

  // Reads every entry by iterators in both directions and by Get.
  static void ExpectContents(const Opened& opened, const Contents& expected) {
    for (const ColumnFamilyHandle* handle : opened.handles)
      EXPECT_TRUE(expected.contains(handle->GetName())) << handle->GetName();
    for (const auto& [name, entries] : expected) {
      SCOPED_TRACE(name);
      ColumnFamilyHandle* const handle = opened.family(name);
      ASSERT_NE(handle, nullptr);
      FamilyContents forwards;
      FamilyContents backwards;
      ReadOptions total_order;
      total_order.total_order_seek = true;
      const std::unique_ptr<Iterator> it(opened.db->NewIterator(total_order, handle));
      for (it->SeekToFirst(); it->Valid(); it->Next())
        forwards[it->key().ToString()] = it->value().ToString();
      EXPECT_OK(it->status());
      for (it->SeekToLast(); it->Valid(); it->Prev())
        backwards[it->key().ToString()] = it->value().ToString();
      EXPECT_OK(it->status());
      EXPECT_EQ(forwards, entries);
      EXPECT_EQ(backwards, entries);
      for (const auto& [key, value] : entries) {
        std::string found;
        EXPECT_OK(opened.db->Get(ReadOptions(), handle, key, &found));
        EXPECT_EQ(found, value);
        it->Seek(key);
        EXPECT_TRUE(it->Valid() && it->key() == Slice(key));
      }
      std::string found;
      EXPECT_TRUE(opened.db->Get(ReadOptions(), handle, "key0005", &found).IsNotFound());
      const Options options = opened.db->GetOptions(handle);
      if (options.prefix_extractor != nullptr)
        ExpectContentsByPrefix(opened.db.get(), handle, *options.prefix_extractor, entries);
    }
    EXPECT_OK(opened.db->VerifyChecksum());
  }

  // The open must fail, or the first read if only a table shows the feature.
  void ExpectRefusal(Status status, const Opened& opened) const {
    if (status.ok()) {
      const std::unique_ptr<Iterator> it(opened.db->NewIterator(ReadOptions()));
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
      }
      status = it->status();
    }
    EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
    EXPECT_NE(status.ToString().find(pack_.expected_refusal), std::string::npos)
        << status.ToString();
  }

  Pack pack_;
  std::shared_ptr<MemoryFileSystem> file_system_;
  const std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
};

// The packs have the bytes that were checked in, and there is no other pack.
TEST(GoldenPacks, AreThoseOfTheListOfChecksums) {
  std::ifstream list(PacksFolder() / "CHECKSUMS");
  std::vector<std::string> listed;
  std::string name;
  uint64_t bytes = 0;
  std::string checksum;
  while (list >> name >> bytes >> checksum) {
    listed.push_back(name);
    const std::string packed = GoldenPackBytes(name);
    EXPECT_EQ(packed.size(), bytes) << name;
    EXPECT_EQ(crc32c::Value(packed.data(), packed.size()), std::stoul(checksum, nullptr, 16))
        << name;
  }
  std::sort(listed.begin(), listed.end());
  EXPECT_EQ(listed, ListPacks());
}

uint64_t FingerprintWithoutLock(MemoryImage image) {
  std::erase_if(image.entries,
                [](const MemoryImage::Entry& entry) { return entry.path.ends_with("/LOCK"); });
  return image.Fingerprint();
}

TEST_P(GoldenTest, IsReadAsItsOwnLibraryReadsIt) {
  const uint64_t before = FingerprintWithoutLock(file_system_->Snapshot());
  ManualEnv env(file_system_, 1);
  {
    Opened opened;
    const Status status = Open(&env, true, &opened);
    if (!pack_.expected_refusal.empty()) {
      ExpectRefusal(status, opened);
    } else {
      ASSERT_OK(status);
      ExpectContents(opened, pack_.contents);
    }
  }
  EXPECT_EQ(FingerprintWithoutLock(file_system_->Snapshot()), before)
      << "reading has changed files";
}

TEST_P(GoldenTest, IsWrittenCompactedAndGivenBack) {
  ManualEnv env(file_system_, 1);
  Opened opened;
  const Status status = Open(&env, false, &opened);
  if (!pack_.expected_refusal.empty()) {
    ExpectRefusal(status, opened);
    return;
  }
  ASSERT_OK(status);
  ExpectContents(opened, pack_.contents);
  Contents contents = pack_.contents;
  for (ColumnFamilyHandle* handle : opened.handles) {
    ASSERT_OK(opened.db->Put(WriteOptions(), handle, "key900", "new"));
    contents[handle->GetName()]["key900"] = "new";
    const std::string one("\x01\0\0\0\0\0\0\0", 8);
    ASSERT_OK(opened.db->Merge(WriteOptions(), handle, "key901", one));
    contents[handle->GetName()]["key901"] = one;
    ASSERT_OK(opened.db->Delete(WriteOptions(), handle, "key007"));
    contents[handle->GetName()].erase("key007");
  }
  ExpectContents(opened, contents);
  CompactRangeOptions compact;
  compact.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  for (ColumnFamilyHandle* handle : opened.handles)
    ASSERT_OK(opened.db->CompactRange(compact, handle, nullptr, nullptr));
  ExpectContents(opened, contents);
  for (ColumnFamilyHandle* handle : opened.handles) delete handle;
  opened.handles.clear();
  ASSERT_OK(opened.db->Close());
  Opened again;
  ASSERT_OK(Open(&env, false, &again));
  ExpectContents(again, contents);
  for (ColumnFamilyHandle* handle : again.handles) delete handle;
  again.handles.clear();
  ASSERT_OK(again.db->Close());

  // RocksDB 7.8.3 reads the databases of all releases here, because Ashlar has written the tables.
  ASSERT_TRUE(HaveRocksDbTools());
  const ScratchDirectory scratch;
  for (const MemoryImage::Entry& entry : file_system_->Snapshot().entries) {
    if (entry.is_directory) continue;
    std::ofstream(scratch.File(fs::path(entry.path).filename().string()), std::ios::binary)
        << *entry.bytes;
  }
  for (const auto& [name, entries] : contents) {
    const ToolRun run = RunTool(StrCat("ldb --db=", scratch.path(), " --column_family=", name,
                                       " --try_load_options scan --hex 2>&1"));
    EXPECT_EQ(run.exit_code, 0) << run.output;
    std::string expected;
    for (const auto& [key, value] : entries)
      expected +=
          StrCat("0x", Slice(key).ToString(true), " : 0x", Slice(value).ToString(true), "\n");
    EXPECT_EQ(run.output, expected) << name;
  }
}

using PrefixFilterTest = GoldenTest;

// Does not compare the contents, because IsReadAsItsOwnLibraryReadsIt does.
TEST_P(PrefixFilterTest, RulesOutPrefixesThatNoKeyHas) {
  ManualEnv env(file_system_, 1);
  Opened opened;
  ASSERT_OK(Open(&env, true, &opened));
  ReadOptions in_prefix;
  in_prefix.prefix_same_as_start = true;
  const std::unique_ptr<Iterator> it(opened.db->NewIterator(in_prefix));
  for (char last = 'a'; last <= 'z'; ++last) {
    it->Seek(StrCat("key0", std::string(1, last)));
    EXPECT_FALSE(it->Valid());
  }
  EXPECT_OK(it->status());
  EXPECT_GT(statistics_->getTickerCount(BLOOM_FILTER_PREFIX_USEFUL), 20u);
}

INSTANTIATE_TEST_SUITE_P(Partitions, PrefixFilterTest, testing::Values("rocksdb-7.8.3-prefixes"),
                         [](const testing::TestParamInfo<std::string>& /*param*/) {
                           return std::string("rocksdb_7_8_3");
                         });

using PropertiesOfLaterReleasesTest = GoldenTest;

TEST_P(PropertiesOfLaterReleasesTest, AreMembersOfTheTablesProperties) {
  ManualEnv env(file_system_, 1);
  Opened opened;
  ASSERT_OK(Open(&env, true, &opened));
  uint64_t uncompressed_blocks = 0;
  for (ColumnFamilyHandle* const handle : opened.handles) {
    TablePropertiesCollection tables;
    ASSERT_OK(opened.db->GetPropertiesOfAllTables(handle, &tables));
    EXPECT_FALSE(tables.empty()) << handle->GetName();
    for (const auto& [path, properties] : tables) {
      SCOPED_TRACE(path);
      EXPECT_EQ(properties->tail_start_offset, properties->data_size);
      EXPECT_GT(properties->newest_key_time, 0u);
      EXPECT_TRUE(properties->HasKeySmallestSeqno() && properties->HasKeyLargestSeqno());
      EXPECT_LE(properties->key_smallest_seqno, properties->key_largest_seqno);
      EXPECT_EQ(properties->data_block_restart_interval, 16u);
      EXPECT_EQ(properties->index_block_restart_interval, 1u);
      uncompressed_blocks += properties->num_data_blocks_compression_rejected +
                             properties->num_data_blocks_compression_bypassed;
      for (const auto& [name, value] : properties->user_collected_properties)
        EXPECT_TRUE(name.starts_with("rocksdb.block.based.table.")) << name;
    }
  }
  EXPECT_GT(uncompressed_blocks, 0u);
}

INSTANTIATE_TEST_SUITE_P(Latest, PropertiesOfLaterReleasesTest, testing::Values("rocksdb-11.8.1"),
                         [](const testing::TestParamInfo<std::string>& /*param*/) {
                           return std::string("rocksdb_11_8_1");
                         });

INSTANTIATE_TEST_SUITE_P(Packs, GoldenTest, testing::ValuesIn(ListPacks()),
                         [](const testing::TestParamInfo<std::string>& param) {
                           std::string name = param.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return c == '-' || c == '.'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace ashlar

// Damaged and hostile PlainTables. Every read returns a Status or the data in the bytes, and
// nothing reads outside its memory. Iteration ends and stays in order. Values and keys have no
// checksum, so a flipped bit that leaves the keys in order is not detected.
#include <gtest/gtest.h>

#include <functional>

#include "ashlar/table.h"
#include "ashlar/vfs.h"
#include "base/coding.h"
#include "table/block/block_builder.h"
#include "table/plain/plain_table_test_kit.h"
#include "table/table_properties.h"
#include "tests/support/test_epochs.h"

namespace ashlar::test {
namespace {

constexpr char kPath[] = "db/000007.sst";

struct Sample {
  PlainSpec spec;
  Entries entries;
  std::string file{};
  uint64_t data_bytes = 0;
};

Sample MakeSample(const PlainSpec& spec, const EntriesSpec& wanted, uint64_t seed) {
  Random random(seed);
  Sample sample{.spec = spec, .entries = MakeEntries(spec.comparator, wanted, &random)};
  MemoryFileSystem fs;
  TableWriteResult result;
  EXPECT_OK(fs.CreateDir("db"));
  EXPECT_OK(WritePlainTable(&fs, kPath, spec, sample.entries, &result));
  Result<std::string> file = ReadFileToString(&fs, kPath, 1 << 24);
  EXPECT_OK(file.status());
  sample.file = *file;
  sample.data_bytes = result.properties.data_size;
  return sample;
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  for (const PlainEncoding encoding : {PlainEncoding::kPlain, PlainEncoding::kPrefix}) {
    for (const bool hashed : {false, true}) {
      PlainSpec spec;
      spec.config.encoding = encoding;
      spec.config.index_sparseness = 4;
      spec.config.hash_table_ratio = hashed ? 0.75 : 0;
      spec.config.store_index_in_file = hashed;
      spec.config.user_key_bytes = !hashed && encoding == PlainEncoding::kPlain ? 16 : 0;
      if (hashed || encoding == PlainEncoding::kPrefix)
        spec.prefix_extractor.reset(NewFixedPrefixTransform(15));
      samples.push_back(MakeSample(spec, {.keys = 24, .value_bytes_max = 12}, samples.size()));
    }
  }
  return samples;
}

void CheckRefusal(const Status& status) {
  ASSERT_TRUE(status.IsCorruption() || status.IsNotSupported() || status.IsInvalidArgument())
      << status.ToString();
  ASSERT_NE(status.ToString().find(kPath), std::string::npos) << status.ToString();
}

// Reads the table in every way and checks the order. Returns true if the table could be opened.
bool ReadEverything(const std::string& bytes, const Sample& sample) {
  MemoryFileSystem fs;
  EXPECT_OK(fs.CreateDir("db"));
  EXPECT_OK(WriteStringToFile(&fs, bytes, kPath, Durability::kBuffered));
  Result<TableReaderPtr> opened = OpenPlainTable(&fs, kPath, sample.spec);
  if (!opened.ok()) {
    CheckRefusal(opened.status());
    return false;
  }
  const OpenedTable table(std::move(opened).value());
  const KeyComparator& comparator = sample.spec.comparator;
  EXPECT_OK(table->Verify());
  for (const bool forwards : {true, false}) {
    const auto cursor = table->NewCursor({});
    std::string last;
    size_t seen = 0;
    for (forwards ? cursor->SeekToFirst() : cursor->SeekToLast(); cursor->Valid();
         forwards ? cursor->Next() : cursor->Prev(), ++seen) {
      if (seen > 0) {
        EXPECT_EQ(comparator.CompareInternal(last, cursor->key()) < 0, forwards);
      }
      last = cursor->key().ToString();
    }
    EXPECT_OK(cursor->status());
    EXPECT_EQ(seen, table->properties().num_entries);
  }
  SeekPrefix seek(
      {.comparator = sample.spec.comparator, .transform = sample.spec.prefix_extractor.get()});
  seek.SetScope(SeekScope::kPrefix);
  const auto cursor = table->NewCursor({.seek_prefix = &seek});
  for (const auto& entry : sample.entries) {
    static_cast<void>(GetText(table.get(), {}, ExtractUserKey(entry.first), kSequenceNumberMax));
    seek.Begin(ExtractUserKey(entry.first), true);
    cursor->Seek(entry.first);
    seek.Begin(ExtractUserKey(entry.first), false);
    cursor->SeekForPrev(entry.first);
    static_cast<void>(table->ApproximateOffsetOf(entry.first));
  }
  static_cast<void>(table->Anchors(5));
  return true;
}

TEST(PlainTableDamage, EveryFlippedByte) {
  for (const Sample& sample : Samples()) {
    ASSERT_TRUE(ReadEverything(sample.file, sample));
    // Marks the bytes of values in the data, because flips there change what is read.
    std::vector<bool> is_value(sample.file.size(), false);
    PlainData data{.begin = sample.file.data(),
                   .end = sample.file.data() + sample.data_bytes,
                   .encoding = sample.spec.config.encoding,
                   .user_key_bytes = sample.spec.config.user_key_bytes};
    PlainDecoder decoder(&data);
    PlainEntry entry;
    for (const char* at = data.begin; at != data.end; at = entry.end) {
      ASSERT_EQ(decoder.Read(at, &entry), PlainFault::kNone);
      for (size_t i = 0; i < entry.value.size(); ++i)
        is_value[static_cast<size_t>(entry.value.data() - data.begin) + i] = true;
    }
    size_t refused = 0;
    for (size_t i = 0; i < sample.file.size(); ++i) {
      for (const int flip : {0x01, 0x40, 0x80, 0xff}) {
        SCOPED_TRACE("byte " + std::to_string(i) + " flipped by " + std::to_string(flip));
        std::string damaged = sample.file;
        damaged[i] = static_cast<char>(damaged[i] ^ flip);
        if (!ReadEverything(damaged, sample)) {
          ++refused;
          continue;
        }
        // A key that is still present has its value unless the flip is in the value.
        MemoryFileSystem fs;
        ASSERT_OK(fs.CreateDir("db"));
        ASSERT_OK(WriteStringToFile(&fs, damaged, kPath, Durability::kBuffered));
        Result<TableReaderPtr> opened = OpenPlainTable(&fs, kPath, sample.spec);
        ASSERT_OK(opened.status());
        const OpenedTable table(std::move(opened).value());
        for (const auto& [key, value] : sample.entries) {
          const std::string expected = ModelText(sample.entries, sample.spec.comparator,
                                                 ExtractUserKey(key), kSequenceNumberMax);
          const std::string found =
              GetText(table.get(), {}, ExtractUserKey(key), kSequenceNumberMax);
          // A deletion whose type a flip changes to that of a value has an empty value.
          ASSERT_TRUE(is_value[i] || found == expected || found == "(none)" ||
                      (expected == "(none)" && found.empty()) ||
                      found.find("merge operator") != std::string::npos)
              << found << " instead of " << expected;
        }
      }
    }
    EXPECT_GT(refused, sample.file.size());
  }
}

TEST(PlainTableDamage, EveryCut) {
  for (const Sample& sample : Samples()) {
    for (size_t bytes = 0; bytes < sample.file.size(); ++bytes)
      EXPECT_FALSE(ReadEverything(sample.file.substr(0, bytes), sample)) << bytes;
  }
}

TEST(PlainTableDamage, RandomBytes) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    for (const Sample& sample : Samples()) {
      std::string damaged = sample.file;
      for (uint64_t n = 1 + random.Uniform(20); n > 0; --n)
        damaged[random.Uniform(sample.data_bytes)] = static_cast<char>(random.Next());
      ReadEverything(damaged, sample);
    }
  }
}

// The bytes of an open table change. Reads still return a result and read nothing outside the file.
// The output of a compaction would be in order.
TEST(PlainTableDamage, BytesThatChangeUnderTheMapping) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    for (const Sample& sample : Samples()) {
      class BytesFile final : public vfs::RandomAccessFile {
       public:
        explicit BytesFile(const std::string* bytes) : bytes_(bytes) {}
        Status Read(uint64_t, size_t, Slice*, char*) const override {
          return Status::NotSupported("mapped");
        }
        Status Map(Slice* contents) const override {
          *contents = *bytes_;
          return Status::OK();
        }
        Status Size(uint64_t* bytes) const override {
          *bytes = bytes_->size();
          return Status::OK();
        }

       private:
        const std::string* const bytes_;
      };
      std::string bytes = sample.file;
      Result<TableReaderPtr> opened =
          PlainTable::Open({.file = std::make_unique<BytesFile>(&bytes),
                            .file_name = kPath,
                            .file_bytes = bytes.size(),
                            .epochs = &TestEpochs(),
                            .comparator = sample.spec.comparator,
                            .config = sample.spec.config,
                            .prefix_extractor = sample.spec.prefix_extractor});
      ASSERT_OK(opened.status());
      const OpenedTable table(std::move(opened).value());
      for (uint64_t n = 1 + random.Uniform(10); n > 0; --n)
        bytes[random.Uniform(sample.data_bytes)] = static_cast<char>(random.Next());
      const auto cursor = table->NewCursor({.readahead_bytes = 1 << 20});
      std::string last;
      for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
        if (!last.empty()) {
          ASSERT_LT(sample.spec.comparator.CompareInternal(last, cursor->key()), 0);
        }
        last = cursor->key().ToString();
      }
      if (!cursor->status().ok()) CheckRefusal(cursor->status());
      size_t steps = 0;
      for (cursor->SeekToLast(); cursor->Valid(); cursor->Prev()) ASSERT_LT(++steps, 10000u);
      for (const auto& entry : sample.entries) {
        static_cast<void>(
            GetText(table.get(), {}, ExtractUserKey(entry.first), kSequenceNumberMax));
        for (const SeekScope scope : {SeekScope::kTotalOrder, SeekScope::kPrefix}) {
          SeekPrefix seek({.comparator = sample.spec.comparator,
                           .transform = sample.spec.prefix_extractor.get()});
          seek.SetScope(scope);
          const auto seeker = table->NewCursor({.seek_prefix = &seek});
          seek.Begin(ExtractUserKey(entry.first), true);
          seeker->Seek(entry.first);
          seek.Begin(ExtractUserKey(entry.first), false);
          seeker->SeekForPrev(entry.first);
          if (seeker->Valid()) seeker->Prev();
        }
        static_cast<void>(table->ApproximateOffsetOf(entry.first));
      }
      static_cast<void>(table->Anchors(5));
      const Status verified = table->Verify();
      if (!verified.ok()) CheckRefusal(verified);
    }
  }
}

// ---- Completely hostile files

// Returns a table with this data and with its correct properties as modified by `change`.
std::string MakeFile(const std::string& data, const std::function<void(TableProperties*)>& change,
                     uint64_t magic = 0) {
  TableProperties properties;
  properties.data_size = data.size();
  properties.num_entries = 1;
  properties.raw_key_size = 9;
  properties.raw_value_size = 1;
  change(&properties);
  std::string file = data;
  const std::string encoded = EncodeTableProperties(properties);
  BlockBuilder metaindex({.restart_interval = 1, .delta_keys = true, .values_have_length = true});
  std::string handle;
  PutBlockHandle(&handle, {file.size(), encoded.size()});
  metaindex.Add(kPlainPropertiesBlock, handle, 0);
  file += encoded;
  const Slice index = metaindex.Finish();
  const BlockHandle at{file.size(), index.size()};
  file.append(index.data(), index.size());
  if (magic == 0) {
    PutPlainFooter(&file, at);
  } else {
    file.push_back('\0');
    const size_t start = file.size();
    PutBlockHandle(&file, at);
    PutBlockHandle(&file, {});
    file.resize(start + 40, '\0');
    PutFixed32(&file, 1);
    PutFixed64(&file, magic);
  }
  return file;
}

Status OpenBytes(const std::string& bytes) {
  MemoryFileSystem fs;
  EXPECT_OK(fs.CreateDir("db"));
  EXPECT_OK(WriteStringToFile(&fs, bytes, kPath, Durability::kBuffered));
  return OpenPlainTable(&fs, kPath, {}).status();
}

const std::string kOneEntry(
    "\x01"
    "a\xff\x01"
    "1",
    5);

TEST(PlainTableDamage, BothFootersAreRead) {
  EXPECT_OK(OpenBytes(MakeFile(kOneEntry, [](TableProperties*) {})));
  EXPECT_OK(OpenBytes(MakeFile(kOneEntry, [](TableProperties*) {}, kPlainTableMagic)));
  EXPECT_TRUE(OpenBytes(MakeFile(
                            kOneEntry, [](TableProperties*) {}, kBlockBasedTableMagic))
                  .IsCorruption());
}

TEST(PlainTableDamage, PropertiesThatDoNotFitTheDataAreRefused) {
  const auto open = [](const std::function<void(TableProperties*)>& change) {
    return OpenBytes(MakeFile(kOneEntry, change)).ToString();
  };
  EXPECT_EQ(open([](TableProperties* p) { p->num_entries = 2; }),
            "Corruption: db/000007.sst: holds 1 entries, its properties say 2");
  EXPECT_EQ(open([](TableProperties* p) { p->raw_key_size = 8; }),
            "Corruption: db/000007.sst: holds 9 bytes of keys, its properties say 8");
  EXPECT_EQ(open([](TableProperties* p) { p->raw_value_size = 0; }),
            "Corruption: db/000007.sst: holds 1 bytes of values, its properties say 0");
  EXPECT_EQ(open([](TableProperties* p) { p->data_size = 4; }),
            "Corruption: db/000007.sst: offset 0: a value that leads outside the data");
  EXPECT_EQ(open([](TableProperties* p) { p->data_size = uint64_t{1} << 40; }),
            "Corruption: db/000007.sst: its properties say 1099511627776 bytes of data");
  EXPECT_EQ(open([](TableProperties* p) { p->fixed_key_len = 4; }),
            "Corruption: db/000007.sst: offset 0: a key that leads outside the data");
  EXPECT_EQ(open([](TableProperties* p) { p->fixed_key_len = uint64_t{1} << 40; }),
            "Corruption: db/000007.sst: keys of 1099511627776 bytes");
  EXPECT_EQ(open([](TableProperties* p) { p->num_range_deletions = 1; }),
            "Not implemented: db/000007.sst: the table holds range deletions");
  EXPECT_EQ(open([](TableProperties* p) { p->comparator_name = "other"; }),
            "Invalid argument: db/000007.sst: was written with comparator other, not "
            "leveldb.BytewiseComparator");
  EXPECT_EQ(open([](TableProperties* p) {
              p->user_collected_properties[PlainTablePropertyNames::kEncodingType] =
                  std::string("\2\0\0\0", 4);
            }),
            "Not implemented: db/000007.sst: PlainTable with encoding 2");
  EXPECT_EQ(open([](TableProperties* p) {
              p->user_collected_properties[PlainTablePropertyNames::kEncodingType] = "x";
            }),
            "Corruption: db/000007.sst: bad property for the encoding");
}

// An iteration over the entries would copy the first key for each of them.
TEST(PlainTableDamage, KeysThatExpandWithoutBoundAreRefused) {
  constexpr uint32_t kKeyBytes = 1 << 20;
  for (const int sharing : {1000, 1100}) {
    std::string data = "\x3f";  // a full key
    PutVarint32(&data, kKeyBytes - 63);
    data += std::string(kKeyBytes, 'k') + std::string("\xff\0", 2);
    for (int i = 0; i < sharing; ++i) {
      if (i == 0) {
        data += "\x7f";
        PutVarint32(&data, kKeyBytes - 63);
      }
      data += "\x82";
      data += static_cast<char>(i >> 8);
      data += static_cast<char>(i);
      data += std::string("\xff\0", 2);
    }
    const Status opened = OpenBytes(MakeFile(data, [](TableProperties* p) {
      p->user_collected_properties[PlainTablePropertyNames::kEncodingType] =
          std::string("\1\0\0\0", 4);
    }));
    EXPECT_TRUE(opened.IsCorruption()) << opened.ToString();
    EXPECT_EQ(opened.ToString().find("expand") != std::string::npos, sharing == 1100)
        << opened.ToString();
  }
}

TEST(PlainTableDamage, EntriesThatLeadOutsideAreRefused) {
  const auto open = [](const std::string& data, bool prefix) {
    return OpenBytes(
               MakeFile(data,
                        [&](TableProperties* p) {
                          p->user_collected_properties[PlainTablePropertyNames::kEncodingType] =
                              std::string(prefix ? "\1\0\0\0" : "\0\0\0\0", 4);
                        }))
        .ToString();
  };
  const std::string place = "Corruption: db/000007.sst: offset ";
  EXPECT_EQ(open(std::string("\xff\xff\xff\xff\x0f", 5), false),
            place + "0: a key that leads outside the data");
  EXPECT_EQ(open(std::string("\xff\xff\xff\xff\xff\xff", 6), false),
            place + "0: a key that leads outside the data");
  EXPECT_EQ(open(std::string("\x01"
                             "a\x01\x02",
                             4),
                 false),
            place + "0: a key that leads outside the data");
  EXPECT_EQ(open(std::string("\x01"
                             "a\xff\xff\xff\xff\xff\x0f",
                             8),
                 false),
            place + "0: a value that leads outside the data");
  EXPECT_EQ(open(std::string("\x01"
                             "a\xff",
                             3),
                 false),
            place + "0: a value that leads outside the data");
  EXPECT_EQ(open(std::string("\x01"
                             "a\x11\0\0\0\0\0\0\0\0",
                             11),
                 false),
            "Not implemented: db/000007.sst: offset 0: an entry of a type that is not supported");
  EXPECT_EQ(open(kOneEntry + kOneEntry, false), place + "5: keys out of order");
  EXPECT_EQ(open(std::string("\x81"
                             "a\xff\x01"
                             "1",
                             5),
                 true),
            place + "0: a key that shares more than the full key before it has");
  EXPECT_EQ(open(std::string("\x01"
                             "a\xff\x01"
                             "1\x42\x81"
                             "b\xff\x00",
                             10),
                 true),
            place + "5: a key that shares more than the full key before it has");
  EXPECT_EQ(open(std::string("\x01"
                             "a\xff\x01"
                             "1\x81"
                             "b\xff\x00",
                             9),
                 true),
            place + "5: a key that shares more than the full key before it has");
  EXPECT_EQ(open(std::string("\xc1"
                             "a\xff\x01"
                             "1",
                             5),
                 true),
            place + "0: a key of an unknown kind");
  EXPECT_EQ(open(std::string("\x01"
                             "a\xff\x01"
                             "1\x41",
                             6),
                 true),
            place + "5: a key that leads outside the data");
  EXPECT_EQ(open(std::string("\x3f\xff\xff\xff\xff\x0f", 6), true),
            place + "0: a key that leads outside the data");
}

}  // namespace
}  // namespace ashlar::test

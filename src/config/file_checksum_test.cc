#include "ashlar/file_checksum.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/slice.h"

namespace ashlar {
namespace {

std::string ChecksumOf(const std::vector<std::string>& pieces) {
  const auto generator = GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator({});
  for (const std::string& piece : pieces) generator->Update(piece.data(), piece.size());
  generator->Finalize();
  return Slice(generator->GetChecksum()).ToString(/*hex=*/true);
}

// The check value of CRC-32C and a test vector of RFC 3720.
TEST(FileChecksum, IsCrc32cInBigEndianOfAllPieces) {
  EXPECT_EQ(ChecksumOf({"123456789"}), "E3069283");
  EXPECT_EQ(ChecksumOf({"1234", "", "56789"}), "E3069283");
  EXPECT_EQ(ChecksumOf({std::string(32, '\0')}), "8A9136AA");
  EXPECT_EQ(ChecksumOf({}), "00000000");
}

TEST(FileChecksum, TheFactoryHasOneFunction) {
  FileChecksumGenFactory* const factory = GetFileChecksumGenCrc32cFactory().get();
  EXPECT_EQ(factory, GetFileChecksumGenCrc32cFactory().get());
  EXPECT_STREQ(factory->Name(), "FileChecksumGenCrc32cFactory");
  for (const char* const function : {"", "FileChecksumCrc32c"}) {
    const auto generator = factory->CreateFileChecksumGenerator(
        {.file_name = "f", .requested_checksum_func_name = function});
    ASSERT_NE(generator, nullptr);
    EXPECT_STREQ(generator->Name(), "FileChecksumCrc32c");
  }
  EXPECT_EQ(factory->CreateFileChecksumGenerator(
                {.file_name = "f", .requested_checksum_func_name = "Other"}),
            nullptr);
}

TEST(FileChecksum, IsMadeFromItsText) {
  std::shared_ptr<FileChecksumGenFactory> made;
  for (const char* const text :
       {"FileChecksumGenCrc32cFactory", "{id=FileChecksumGenCrc32cFactory;}"}) {
    made.reset();
    ASSERT_TRUE(FileChecksumGenFactory::CreateFromString(ConfigOptions(), text, &made).ok());
    EXPECT_EQ(made, GetFileChecksumGenCrc32cFactory());
  }
  const Status unknown = FileChecksumGenFactory::CreateFromString(ConfigOptions(), "Mine", &made);
  EXPECT_TRUE(unknown.IsNotSupported());
  EXPECT_NE(unknown.ToString().find("Mine"), std::string::npos);
  EXPECT_NE(made, nullptr) << "nothing is changed";
  ASSERT_TRUE(FileChecksumGenFactory::CreateFromString(ConfigOptions(), "nullptr", &made).ok());
  EXPECT_EQ(made, nullptr);
}

TEST(FileChecksumList, HasAChecksumForEachFile) {
  const std::unique_ptr<FileChecksumList> list(NewFileChecksumList());
  ASSERT_TRUE(list->InsertOneFileChecksum(1, "one", "f").ok());
  ASSERT_TRUE(list->InsertOneFileChecksum(2, "two", "f").ok());
  ASSERT_TRUE(list->InsertOneFileChecksum(1, "new", "g").ok());
  EXPECT_EQ(list->size(), 2U);
  std::string checksum;
  std::string function;
  ASSERT_TRUE(list->SearchOneFileChecksum(1, &checksum, &function).ok());
  EXPECT_EQ(checksum + function, "newg");
  EXPECT_TRUE(list->SearchOneFileChecksum(3, &checksum, &function).IsNotFound());
  EXPECT_TRUE(list->SearchOneFileChecksum(1, nullptr, &function).IsInvalidArgument());
  std::vector<uint64_t> numbers;
  std::vector<std::string> checksums;
  std::vector<std::string> functions;
  EXPECT_TRUE(list->GetAllFileChecksums(&numbers, nullptr, &functions).IsInvalidArgument());
  ASSERT_TRUE(list->GetAllFileChecksums(&numbers, &checksums, &functions).ok());
  ASSERT_EQ(numbers.size(), 2U);
  for (size_t i = 0; i < numbers.size(); ++i)
    EXPECT_EQ(checksums[i] + functions[i], numbers[i] == 1 ? "newg" : "twof");
  EXPECT_TRUE(list->RemoveOneFileChecksum(1).ok());
  EXPECT_TRUE(list->RemoveOneFileChecksum(1).IsNotFound());
  list->reset();
  EXPECT_EQ(list->size(), 0U);
}

}  // namespace
}  // namespace ashlar

// Allocation failure in a file of the program that is written.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/file_system.h"
#include "ashlar/vfs.h"
#include "base/out_of_memory.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "tests/out_of_memory/failing_new.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

class ProgramFileSystem final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "ProgramFileSystem"; }
};

TEST(ProgramFileOutOfMemory, AnAppendThatThrowsAppendsNothing) {
  const auto disk = std::make_shared<MemoryFileSystem>();
  const std::shared_ptr<vfs::FileSystem> files =
      vfs::ToEngineFiles(std::make_shared<ProgramFileSystem>(vfs::ToRocksFiles(disk)));
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_OK(files->NewWritableFile("/file", vfs::FileOptions(), &file));
  ASSERT_OK(file->Append("first"));
  const std::string second(1000, 'x');
  FailingNew::Arm(1, FailingNew::Kind::kOnce);
  const Status status = CatchBadAlloc([&] {
    const FailingNew::Scope scope;
    return file->Append(second);
  });
  EXPECT_TRUE(status.IsMemoryLimit()) << status.ToString();
  EXPECT_EQ(file->Size(), 5u);
  ASSERT_OK(file->Append(second));
  EXPECT_EQ(file->Size(), 1005u);
  ASSERT_OK(file->Close());
  EXPECT_EQ(ReadFileToString(disk.get(), "/file", 2000).value(), "first" + second);
}

}  // namespace
}  // namespace ashlar

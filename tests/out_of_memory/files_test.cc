// Allocation failure in files in memory, and in writes to a program's file.
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

// Runs `call` with its allocation `number` failing. Returns true if one failed, and so the call.
template <typename Function>
bool FailsAtAllocation(uint64_t number, const Function& call) {
  FailingNew::Arm(number, FailingNew::Kind::kOnce);
  const Status status = CatchBadAlloc([&] {
    const FailingNew::Scope scope;
    return call();
  });
  EXPECT_EQ(status.ok(), !FailingNew::HasFailed()) << status.ToString();
  return FailingNew::HasFailed();
}

TEST(MemoryFilesOutOfMemory, ARenameLosesNoFile) {
  MemoryFileSystem disk;
  const std::string names[] = {"/a name of some length", "/another name of some length"};
  ASSERT_OK(WriteStringToFile(&disk, "contents", names[0], Durability::kBuffered));
  for (uint64_t number = 1;
       FailsAtAllocation(number, [&] { return disk.RenameFile(names[0], names[1]); }); ++number) {
    ASSERT_OK(disk.FileExists(names[0]));
    ASSERT_TRUE(disk.FileExists(names[1]).IsNotFound());
  }
  EXPECT_EQ(ReadFileToString(&disk, names[1], 100).value(), "contents");
}

TEST(MemoryFilesOutOfMemory, AFlushThatFailedIsFinal) {
  MemoryFileSystem disk;
  bool has_failed = true;
  for (uint64_t number = 1; has_failed; ++number) {
    std::unique_ptr<vfs::WritableFile> file;
    ASSERT_OK(disk.NewWritableFile("/file", vfs::FileOptions(), &file));
    ASSERT_OK(file->Append(std::string(1000, 'x')));
    has_failed = FailsAtAllocation(number, [&] { return file->Flush(); });
    EXPECT_EQ(file->Append("more").IsMemoryLimit(), has_failed);
    EXPECT_EQ(file->Close().IsMemoryLimit(), has_failed);
  }
  EXPECT_EQ(ReadFileToString(&disk, "/file", 2000).value(), std::string(1000, 'x') + "more");
}

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

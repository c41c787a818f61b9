// Checksums of complete files (ashlar/file_checksum.h), computed while a file is written or from an
// existing file.
//
// Thread safety: that of the files. Lifetime: a factory outlives the call.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "ashlar/file_checksum.h"
#include "ashlar/vfs.h"
#include "base/result.h"

namespace ashlar {

struct FileChecksum {
  std::string value;  // empty: none
  std::string function = kUnknownFileChecksumFuncName;

  bool operator==(const FileChecksum&) const = default;
};

// The checksum of kStandardDbFileChecksumFuncName: 4 bytes, big-endian.
std::string StandardChecksum(uint32_t crc);
// Returns Corruption with the file's name if `found` is not the checksum that the MANIFEST records.
Status CheckIsRecorded(const std::string& path, const std::string& found,
                       const std::string& recorded);

// Returns InvalidArgument if the factory does not have the function. Returns null if no function is
// named and the factory provides no checksum for the file.
Result<std::unique_ptr<FileChecksumGenerator>> NewChecksumGenerator(FileChecksumGenFactory* factory,
                                                                    const std::string& path,
                                                                    const std::string& function);

// Reads the complete file. `function` is as in NewChecksumGenerator; if empty, the factory chooses.
Result<FileChecksum> ComputeFileChecksum(vfs::FileSystem* file_system, const std::string& path,
                                         FileChecksumGenFactory* factory,
                                         const std::string& function);

// A writable file that computes the checksum of its appends. It is a wrapper, so that files without
// a checksum cost nothing.
class ChecksummedFile final : public vfs::WritableFile {
 public:
  ChecksummedFile(std::unique_ptr<vfs::WritableFile> file,
                  std::unique_ptr<FileChecksumGenerator> generator)
      : file_(std::move(file)), generator_(std::move(generator)) {}

  Status Append(const Slice& data) override {
    generator_->Update(data.data(), data.size());
    return file_->Append(data);
  }
  bool AppendsAtOnce() const override { return file_->AppendsAtOnce(); }
  Status Flush() override { return file_->Flush(); }
  Status Sync() override { return file_->Sync(); }
  Status Close() override { return file_->Close(); }
  uint64_t Size() const override { return file_->Size(); }
  Status RangeSync(uint64_t offset, uint64_t bytes) override {
    return file_->RangeSync(offset, bytes);
  }

  // Returns the checksum of all appended bytes. Call once, after the last Append.
  FileChecksum Finish();

 private:
  const std::unique_ptr<vfs::WritableFile> file_;
  const std::unique_ptr<FileChecksumGenerator> generator_;
};

}  // namespace ashlar

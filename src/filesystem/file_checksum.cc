#include "filesystem/file_checksum.h"

#include "base/format.h"
#include "filesystem/file_helpers.h"

namespace ashlar {

namespace {

FileChecksum FinishGenerator(FileChecksumGenerator* generator) {
  generator->Finalize();
  return {.value = generator->GetChecksum(), .function = generator->Name()};
}

}  // namespace

std::string StandardChecksum(uint32_t crc) {
  std::string checksum;
  for (int shift = 24; shift >= 0; shift -= 8) checksum.push_back(static_cast<char>(crc >> shift));
  return checksum;
}

Status CheckIsRecorded(const std::string& path, const std::string& found,
                       const std::string& recorded) {
  if (found == recorded) return Status::OK();
  return Status::Corruption(
      path, StrCat("has the checksum ", Slice(found).ToString(/*hex=*/true),
                   ", and the MANIFEST says ", Slice(recorded).ToString(/*hex=*/true)));
}

Result<std::unique_ptr<FileChecksumGenerator>> NewChecksumGenerator(FileChecksumGenFactory* factory,
                                                                    const std::string& path,
                                                                    const std::string& function) {
  std::unique_ptr<FileChecksumGenerator> generator = factory->CreateFileChecksumGenerator(
      {.file_name = path, .requested_checksum_func_name = function});
  if (function.empty() || (generator != nullptr && generator->Name() == function)) return generator;
  return Status::InvalidArgument(
      path, StrCat("file_checksum_gen_factory, a ", factory->Name(),
                   ", does not have the function \"", function, "\" of its checksum"));
}

Result<FileChecksum> ComputeFileChecksum(vfs::FileSystem* file_system, const std::string& path,
                                         FileChecksumGenFactory* factory,
                                         const std::string& function) {
  ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<FileChecksumGenerator> generator,
                          NewChecksumGenerator(factory, path, function));
  if (generator == nullptr) return FileChecksum();
  ASHLAR_RETURN_IF_ERROR(ForEachPiece(file_system, path, [&](const Slice& piece) {
    generator->Update(piece.data(), piece.size());
    return Status::OK();
  }));
  return FinishGenerator(generator.get());
}

FileChecksum ChecksummedFile::Finish() { return FinishGenerator(generator_.get()); }

}  // namespace ashlar

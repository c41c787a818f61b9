#include "manifest/manifest_writer.h"

#include "ashlar/vfs.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"

namespace ashlar {

Status AppendEdit(const VersionEdit& edit, LogWriter* writer) {
  std::string record;
  edit.EncodeTo(&record);
  return writer->AddRecord(record);
}

Result<std::unique_ptr<LogWriter>> CreateManifest(vfs::FileSystem* file_system,
                                                  const std::string& directory, FileNumber number) {
  const std::string name = DescriptorFileName(directory, number);
  std::unique_ptr<vfs::WritableFile> file;
  ASHLAR_RETURN_IF_ERROR(file_system->NewWritableFile(name, vfs::FileOptions{}, &file));
  return std::make_unique<LogWriter>(std::move(file), name, number);
}

Status MakeCurrent(vfs::FileSystem* file_system, const std::string& directory, FileNumber number,
                   LogWriter* writer) {
  ASHLAR_RETURN_IF_ERROR(writer->Sync());
  std::unique_ptr<vfs::Directory> handle;
  ASHLAR_RETURN_IF_ERROR(file_system->NewDirectory(directory, &handle));
  ASHLAR_RETURN_IF_ERROR(handle->Sync());
  return SetCurrentFile(file_system, directory, number, handle.get());
}

}  // namespace ashlar

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

Result<NewManifest> CreateManifest(vfs::FileSystem* file_system, const std::string& directory,
                                   FileNumber number) {
  NewManifest manifest;
  ASHLAR_RETURN_IF_ERROR(file_system->NewDirectory(directory, &manifest.directory));  // I2
  const std::string name = DescriptorFileName(directory, number);
  std::unique_ptr<vfs::WritableFile> file;
  ASHLAR_RETURN_IF_ERROR(file_system->NewWritableFile(name, vfs::FileOptions{}, &file));
  manifest.writer = std::make_unique<LogWriter>(std::move(file), name, number);
  return manifest;
}

Status MakeCurrent(vfs::FileSystem* file_system, const std::string& directory, FileNumber number,
                   const NewManifest& manifest) {
  ASHLAR_RETURN_IF_ERROR(manifest.writer->Sync());
  ASHLAR_RETURN_IF_ERROR(manifest.directory->Sync());
  return SetCurrentFile(file_system, directory, number, manifest.directory.get());
}

}  // namespace ashlar

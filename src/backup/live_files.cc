#include "backup/live_files.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/file_checksum.h"
#include "base/format.h"
#include "base/result.h"
#include "config/option_text.h"
#include "filesystem/file_checksum.h"
#include "filesystem/file_helpers.h"
#include "manifest/manifest_reader.h"
#include "manifest/manifest_replay.h"
#include "wal/log_writer.h"

namespace ashlar {

std::string PathOf(const FileStorageInfo& file) {
  return StrCat(file.directory, "/", file.relative_filename);
}

DeletionsHeld::DeletionsHeld(DB* db) : db_(db), status_(db->DisableFileDeletions()) {}

DeletionsHeld::~DeletionsHeld() {
  if (status_.ok()) static_cast<void>(db_->EnableFileDeletions().ok());
}

namespace {

// Returns the number and the size of the MANIFEST in the list.
std::pair<uint64_t, uint64_t> ManifestOf(const std::vector<LiveFileStorageInfo>& files) {
  for (const LiveFileStorageInfo& file : files) {
    if (file.file_type == kDescriptorFile) return {file.file_number, file.size};
  }
  return {};
}

}  // namespace

Status VisitLiveFiles(DB* db, uint64_t wal_size_for_flush,
                      FunctionRef<Status(const LiveFileStorageInfo&)> visit) {
  const DeletionsHeld held(db);
  const bool only_reads = held.status().IsNotSupported();
  if (!only_reads) ASHLAR_RETURN_IF_ERROR(held.status());
  LiveFilesStorageInfoOptions options;
  options.include_checksum_info = true;
  options.wal_size_for_flush = wal_size_for_flush;
  std::vector<LiveFileStorageInfo> files;
  ASHLAR_RETURN_IF_ERROR(db->GetLiveFilesStorageInfo(options, &files));
  for (const LiveFileStorageInfo& file : files) ASHLAR_RETURN_IF_ERROR(visit(file));
  if (!only_reads) return Status::OK();
  // A writer changes the MANIFEST before it deletes or overwrites a file.
  std::vector<LiveFileStorageInfo> now;
  ASHLAR_RETURN_IF_ERROR(db->GetLiveFilesStorageInfo(options, &now));
  if (ManifestOf(now) == ManifestOf(files)) return Status::OK();
  return Status::TryAgain(db->GetName(), "the database went on while its files were copied");
}

Status CheckAgainstRecord(const FileStorageInfo& file, uint32_t crc) {
  if (file.file_checksum.empty() || file.file_checksum_func_name != kStandardDbFileChecksumFuncName)
    return Status::OK();
  return CheckIsRecorded(PathOf(file), StandardChecksum(crc), file.file_checksum);
}

Status SetLogFolder(vfs::FileSystem* file_system, const std::string& options_file,
                    const std::string& wal_dir) {
  constexpr size_t kOptionsBytesMax = size_t{64} << 20;
  constexpr std::string_view kSection = "[DBOptions]\n";
  ASHLAR_ASSIGN_OR_RETURN(const std::string text,
                          ReadFileToString(file_system, options_file, kOptionsBytesMax));
  std::string changed;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end;
    const std::string_view content = TrimSpaces(line);
    if (content.substr(0, content.find('=')) == "wal_dir") continue;
    changed += line;
    if (line == kSection && !wal_dir.empty())
      StrAppend(&changed, "  wal_dir=", EscapeOptionText(wal_dir), "\n");
  }
  return changed == text
             ? Status::OK()
             : WriteStringToFile(file_system, changed, options_file, Durability::kSynced);
}

Status ForgetLogs(vfs::FileSystem* file_system, const std::string& directory, FileNumber manifest,
                  bool sync) {
  RecordedLogs logs;
  ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<ManifestReader> reader,
                          ManifestReader::OpenNumber(file_system, directory, manifest, 0));
  for (VersionEdit edit; reader->Next(&edit); edit = VersionEdit()) RecordLogs(edit, &logs);
  ASHLAR_RETURN_IF_ERROR(reader->status());
  if (logs.empty()) return Status::OK();
  VersionEdit edit;
  edit.log_deletion = logs.rbegin()->first + 1;
  std::string record;
  edit.EncodeTo(&record);
  std::unique_ptr<vfs::WritableFile> file;
  ASHLAR_RETURN_IF_ERROR(
      file_system->ReopenWritableFile(reader->file_name(), vfs::FileOptions(), &file));
  LogWriter writer(std::move(file), reader->file_name(), manifest);
  ASHLAR_RETURN_IF_ERROR(writer.AddRecord(record));
  ASHLAR_RETURN_IF_ERROR(sync ? writer.Sync() : writer.Flush());
  return writer.Close();
}

}  // namespace ashlar

// The optional methods of FileSystem and of its file classes, and the conversions between the two
// interfaces to files.
#include "ashlar/file_system.h"

#include <sstream>
#include <utility>

#include "base/format.h"
#include "environment/program_files.h"
#include "environment/vfs_file_system.h"
#include "filesystem/filename.h"
#include "observe/info_log.h"
#include "platform/clock.h"
#include "platform/path.h"

namespace ashlar {
namespace {

IOStatus WithoutMethod(std::string_view type, std::string_view method) {
  return IOStatus::NotSupported(StrCat("this ", type, " has no ", method));
}

}  // namespace

// ---- Between the interfaces

std::shared_ptr<FileSystem> vfs::ToRocksFiles(const std::shared_ptr<vfs::FileSystem>& files) {
  if (const auto* const program = dynamic_cast<const ProgramFiles*>(files.get()))
    return program->files();
  return std::make_shared<VfsFileSystem>(files);
}

std::shared_ptr<vfs::FileSystem> vfs::ToEngineFiles(
    const std::shared_ptr<ashlar::FileSystem>& files) {
  if (const auto* const engine = dynamic_cast<const VfsFileSystem*>(files.get()))
    return engine->files();
  return std::make_shared<ProgramFiles>(files);
}

std::shared_ptr<FileSystem> FileSystem::Default() {
  static const std::shared_ptr<FileSystem>& files =
      *new std::shared_ptr<FileSystem>(vfs::ToRocksFiles(vfs::FileSystem::Default()));
  return files;
}

// ---- IODebugContext

IODebugContext::IODebugContext(const IODebugContext& other) { *this = other; }

IODebugContext& IODebugContext::operator=(const IODebugContext& other) {
  if (this == &other) return *this;
  file_path = other.file_path;
  counters = other.counters;
  msg = other.msg;
  trace_data = other.trace_data;
  cost_info = other.cost_info;
  // The copy may outlive the id to which `other` refers.
  owned_request_id_ = other.request_id == nullptr ? std::string() : *other.request_id;
  request_id = other.request_id == nullptr ? nullptr : &owned_request_id_;
  return *this;
}

std::string IODebugContext::ToString() {
  std::ostringstream text;
  text << file_path << ", ";
  for (const auto& [name, value] : counters) text << name << " = " << value << ",";
  text << msg;
  return text.str();
}

// ---- FileSystem

FileSystem::~FileSystem() = default;

Status FileSystem::RegisterDbPaths(const std::vector<std::string>&) { return Status::OK(); }
Status FileSystem::UnregisterDbPaths(const std::vector<std::string>&) { return Status::OK(); }

IOStatus FileSystem::ReopenWritableFile(const std::string&, const FileOptions&,
                                        std::unique_ptr<FSWritableFile>*, IODebugContext*) {
  return WithoutMethod("FileSystem", "ReopenWritableFile");
}

IOStatus FileSystem::ReuseWritableFile(const std::string& path, const std::string& old_path,
                                       const FileOptions& options,
                                       std::unique_ptr<FSWritableFile>* result,
                                       IODebugContext* dbg) {
  IOStatus renamed = RenameFile(old_path, path, options.io_options, dbg);
  return renamed.ok() ? NewWritableFile(path, options, result, dbg) : renamed;
}

IOStatus FileSystem::NewRandomRWFile(const std::string&, const FileOptions&,
                                     std::unique_ptr<FSRandomRWFile>*, IODebugContext*) {
  return WithoutMethod("FileSystem", "NewRandomRWFile");
}

IOStatus FileSystem::NewMemoryMappedFileBuffer(const std::string&,
                                               std::unique_ptr<MemoryMappedFileBuffer>*) {
  return WithoutMethod("FileSystem", "NewMemoryMappedFileBuffer");
}

IOStatus FileSystem::GetChildrenFileAttributes(const std::string& dir, const IOOptions& options,
                                               std::vector<FileAttributes>* attributes,
                                               IODebugContext* dbg) {
  attributes->clear();
  std::vector<std::string> names;
  IOStatus listed = GetChildren(dir, options, &names, dbg);
  if (!listed.ok()) return listed;
  for (std::string& name : names) {
    const std::string path = StrCat(dir, "/", name);
    uint64_t bytes = 0;
    IOStatus sized = GetFileSize(path, options, &bytes, dbg);
    if (sized.ok()) {
      attributes->push_back({.name = std::move(name), .size_bytes = bytes});
    } else if (!FileExists(path, options, dbg).IsNotFound()) {
      return sized;
    }
  }
  return IOStatus::OK();
}

IOStatus FileSystem::Truncate(const std::string&, size_t, const IOOptions&, IODebugContext*) {
  return WithoutMethod("FileSystem", "Truncate");
}

IOStatus FileSystem::LinkFile(const std::string&, const std::string&, const IOOptions&,
                              IODebugContext*) {
  return WithoutMethod("FileSystem", "LinkFile");
}

IOStatus FileSystem::SyncFile(const std::string& path, const FileOptions& file_options,
                              const IOOptions& options, bool use_fsync, IODebugContext* dbg) {
  std::unique_ptr<FSWritableFile> file;
  IOStatus opened = ReopenWritableFile(path, file_options, &file, dbg);
  if (!opened.ok()) return opened;
  IOStatus synced = use_fsync ? file->Fsync(options, dbg) : file->Sync(options, dbg);
  IOStatus closed = file->Close(options, dbg);
  return synced.ok() ? closed : synced;
}

IOStatus FileSystem::NumFileLinks(const std::string&, const IOOptions&, uint64_t*,
                                  IODebugContext*) {
  return WithoutMethod("FileSystem", "NumFileLinks");
}

IOStatus FileSystem::AreFilesSame(const std::string&, const std::string&, const IOOptions&, bool*,
                                  IODebugContext*) {
  return WithoutMethod("FileSystem", "AreFilesSame");
}

IOStatus FileSystem::NewLogger(const std::string& path, const IOOptions&,
                               std::shared_ptr<Logger>* result, IODebugContext*) {
  // Not owned, because a file system outlives its files.
  const std::shared_ptr<FileSystem> self(std::shared_ptr<FileSystem>(), this);
  Result<std::shared_ptr<FileLogger>> logger =
      FileLogger::Open({.file_system = vfs::ToEngineFiles(self),
                        .directory = ParentDirectory(path),
                        .name = std::string(BaseName(path)),
                        .now_unix_micros = [] { return UnixMicros(); }});
  if (!logger.ok()) return status_to_io_status(Status(logger.status()));
  *result = std::move(logger).value();
  return IOStatus::OK();
}

IOStatus FileSystem::GetFreeSpace(const std::string&, const IOOptions&, uint64_t*,
                                  IODebugContext*) {
  return WithoutMethod("FileSystem", "GetFreeSpace");
}

void FileSystem::SanitizeFileOptions(FileOptions*) const {}

FileOptions FileSystem::OptimizeForLogRead(const FileOptions& options) const {
  FileOptions result = options;
  result.use_direct_reads = false;
  return result;
}

FileOptions FileSystem::OptimizeForManifestRead(const FileOptions& options) const {
  return OptimizeForLogRead(options);
}

FileOptions FileSystem::OptimizeForLogWrite(const FileOptions& options, const DBOptions&) const {
  return options;
}

FileOptions FileSystem::OptimizeForManifestWrite(const FileOptions& options) const {
  return options;
}

FileOptions FileSystem::OptimizeForCompactionTableWrite(const FileOptions& options,
                                                        const ImmutableDBOptions&) const {
  return options;
}

FileOptions FileSystem::OptimizeForCompactionTableRead(const FileOptions& options,
                                                       const ImmutableDBOptions&) const {
  return options;
}

FileOptions FileSystem::OptimizeForBlobFileRead(const FileOptions& options,
                                                const ImmutableDBOptions&) const {
  return options;
}

IOStatus FileSystem::Poll(std::vector<void*>&, size_t) { return IOStatus::OK(); }
IOStatus FileSystem::AbortIO(std::vector<void*>&) { return IOStatus::OK(); }
void FileSystem::DiscardCacheForDirectory(const std::string&) {}

void FileSystem::SupportedOps(int64_t& supported_ops) {
  supported_ops = (int64_t{1} << kAsyncIO) | (int64_t{1} << kFSPrefetch);
}

FileSystemWrapper::~FileSystemWrapper() = default;

// ---- Files

FSSequentialFile::~FSSequentialFile() = default;

IOStatus FSSequentialFile::InvalidateCache(size_t, size_t) {
  return WithoutMethod("FSSequentialFile", "InvalidateCache");
}

IOStatus FSSequentialFile::PositionedRead(uint64_t, size_t, const IOOptions&, Slice*, char*,
                                          IODebugContext*) {
  return WithoutMethod("FSSequentialFile", "PositionedRead");
}

FSRandomAccessFile::~FSRandomAccessFile() = default;

IOStatus FSRandomAccessFile::Prefetch(uint64_t, size_t, const IOOptions&, IODebugContext*) {
  return WithoutMethod("FSRandomAccessFile", "Prefetch");
}

IOStatus FSRandomAccessFile::MultiRead(FSReadRequest* requests, size_t count,
                                       const IOOptions& options, IODebugContext* dbg) {
  for (FSReadRequest* request = requests; request != requests + count; ++request) {
    request->status =
        Read(request->offset, request->len, options, &request->result, request->scratch, dbg);
  }
  return IOStatus::OK();
}

size_t FSRandomAccessFile::GetUniqueId(char*, size_t) const { return 0; }
void FSRandomAccessFile::Hint(AccessPattern) {}

IOStatus FSRandomAccessFile::InvalidateCache(size_t, size_t) {
  return WithoutMethod("FSRandomAccessFile", "InvalidateCache");
}

// NOLINTBEGIN(performance-unnecessary-value-param): the signatures are RocksDB's
IOStatus FSRandomAccessFile::ReadAsync(FSReadRequest& request, const IOOptions& options,
                                       std::function<void(FSReadRequest&, void*)> callback,
                                       void* callback_arg, void**, IOHandleDeleter*,
                                       IODebugContext* dbg) {
  request.status =
      Read(request.offset, request.len, options, &request.result, request.scratch, dbg);
  callback(request, callback_arg);
  return IOStatus::OK();
}

IOStatus FSRandomAccessFile::ReadAsync(FSReadRequest& request, const IOOptions& options,
                                       std::function<void(const FSReadRequest&, void*)> callback,
                                       void* callback_arg, void** io_handle,
                                       IOHandleDeleter* deleter, IODebugContext* dbg) {
  return ReadAsync(request, options,
                   std::function<void(FSReadRequest&, void*)>(std::move(callback)), callback_arg,
                   io_handle, deleter, dbg);
}

bool FSRandomAccessFile::SubmitReadAsync(FSReadRequest& request, const IOOptions& options,
                                         std::function<void(FSReadRequest&)> callback,
                                         IODebugContext* dbg) {
  request.status =
      Read(request.offset, request.len, options, &request.result, request.scratch, dbg);
  callback(request);
  return false;
}
// NOLINTEND(performance-unnecessary-value-param)

IOStatus FSRandomAccessFile::GetFileSize(uint64_t*) {
  return WithoutMethod("FSRandomAccessFile", "GetFileSize");
}

IOStatus FSRandomAccessFile::GetFileOpenMetadata(std::string*) {
  return WithoutMethod("FSRandomAccessFile", "GetFileOpenMetadata");
}

FSWritableFile::~FSWritableFile() = default;

IOStatus FSWritableFile::Append(const Slice& data, const IOOptions& options,
                                const DataVerificationInfo&, IODebugContext* dbg) {
  return Append(data, options, dbg);
}

IOStatus FSWritableFile::PositionedAppend(const Slice&, uint64_t, const IOOptions&,
                                          IODebugContext*) {
  return WithoutMethod("FSWritableFile", "PositionedAppend");
}

IOStatus FSWritableFile::PositionedAppend(const Slice& data, uint64_t offset,
                                          const IOOptions& options, const DataVerificationInfo&,
                                          IODebugContext* dbg) {
  return PositionedAppend(data, offset, options, dbg);
}

IOStatus FSWritableFile::Truncate(uint64_t, const IOOptions&, IODebugContext*) {
  return IOStatus::OK();
}

IOStatus FSWritableFile::Fsync(const IOOptions& options, IODebugContext* dbg) {
  return Sync(options, dbg);
}

uint64_t FSWritableFile::GetFileSize(const IOOptions&, IODebugContext*) { return 0; }

void FSWritableFile::GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) {
  *block_size = preallocation_block_size_;
  *last_allocated_block = last_preallocated_block_;
}

size_t FSWritableFile::GetUniqueId(char*, size_t) const { return 0; }

IOStatus FSWritableFile::InvalidateCache(size_t, size_t) {
  return WithoutMethod("FSWritableFile", "InvalidateCache");
}

IOStatus FSWritableFile::RangeSync(uint64_t, uint64_t, const IOOptions& options,
                                   IODebugContext* dbg) {
  return strict_bytes_per_sync_ ? Sync(options, dbg) : IOStatus::OK();
}

void FSWritableFile::PrepareWrite(size_t offset, size_t bytes, const IOOptions& options,
                                  IODebugContext* dbg) {
  const size_t block = preallocation_block_size_;
  if (block == 0) return;
  const size_t first = last_preallocated_block_;
  const size_t end = (offset + bytes + block - 1) / block;
  if (end <= first) return;
  // If the space cannot be reserved, the write itself reports that.
  Allocate(uint64_t{block} * first, uint64_t{block} * (end - first), options, dbg)
      .PermitUncheckedError();
  last_preallocated_block_ = end;
}

IOStatus FSWritableFile::Allocate(uint64_t, uint64_t, const IOOptions&, IODebugContext*) {
  return IOStatus::OK();
}

FSRandomRWFile::~FSRandomRWFile() = default;
FSDirectory::~FSDirectory() = default;

IOStatus FSDirectory::FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                                          const DirFsyncOptions&) {
  return Fsync(options, dbg);
}

IOStatus FSDirectory::Close(const IOOptions&, IODebugContext*) {
  return WithoutMethod("FSDirectory", "Close");
}

size_t FSDirectory::GetUniqueId(char*, size_t) const { return 0; }

// ---- Whole files

IOStatus WriteStringToFile(FileSystem* file_system, const Slice& data, const std::string& path,
                           bool should_sync, const IOOptions& io_options,
                           const FileOptions& file_options) {
  std::unique_ptr<FSWritableFile> file;
  IOStatus opened = file_system->NewWritableFile(path, file_options, &file, nullptr);
  if (!opened.ok()) return opened;
  IOStatus written = file->Append(data, io_options, nullptr);
  if (written.ok() && should_sync) written = file->Sync(io_options, nullptr);
  IOStatus closed = file->Close(io_options, nullptr);
  if (written.ok()) written = std::move(closed);
  if (!written.ok()) file_system->DeleteFile(path, io_options, nullptr).PermitUncheckedError();
  return written;
}

IOStatus ReadFileToString(FileSystem* file_system, const std::string& path,
                          const IOOptions& options, std::string* data) {
  data->clear();
  FileOptions file_options;
  file_options.io_options = options;
  std::unique_ptr<FSSequentialFile> file;
  IOStatus status = file_system->NewSequentialFile(path, file_options, &file, nullptr);
  constexpr size_t kPieceBytes = 8192;
  const std::unique_ptr<char[]> scratch(new char[kPieceBytes]);
  while (status.ok()) {
    Slice piece;
    status = file->Read(kPieceBytes, options, &piece, scratch.get(), nullptr);
    if (piece.empty()) break;
    data->append(piece.data(), piece.size());
  }
  return status;
}

IOStatus ReadFileToString(FileSystem* file_system, const std::string& path, std::string* data) {
  return ReadFileToString(file_system, path, IOOptions(), data);
}

}  // namespace ashlar

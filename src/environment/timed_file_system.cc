// NewTimedEnv: an Env whose FileSystem adds the time of each call to the PerfContext of the calling
// thread.
#include <memory>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "environment/composite_env.h"
#include "observe/perf.h"

namespace ashlar {
namespace {

class TimedFileSystem final : public FileSystemWrapper {
 public:
  explicit TimedFileSystem(const std::shared_ptr<FileSystem>& files) : FileSystemWrapper(files) {}

  const char* Name() const override { return "TimedFileSystem"; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_new_sequential_file_nanos);
    return target()->NewSequentialFile(path, options, result, dbg);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_new_random_access_file_nanos);
    return target()->NewRandomAccessFile(path, options, result, dbg);
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_new_writable_file_nanos);
    return target()->NewWritableFile(path, options, result, dbg);
  }
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* result,
                             IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_reuse_writable_file_nanos);
    return target()->ReuseWritableFile(path, old_path, options, result, dbg);
  }
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_new_random_rw_file_nanos);
    return target()->NewRandomRWFile(path, options, result, dbg);
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_new_directory_nanos);
    return target()->NewDirectory(path, options, result, dbg);
  }
  IOStatus FileExists(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_file_exists_nanos);
    return target()->FileExists(path, options, dbg);
  }
  IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                       std::vector<std::string>* names, IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_get_children_nanos);
    return target()->GetChildren(dir, options, names, dbg);
  }
  IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions& options,
                                     std::vector<FileAttributes>* attributes,
                                     IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_get_children_file_attributes_nanos);
    return target()->GetChildrenFileAttributes(dir, options, attributes, dbg);
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_delete_file_nanos);
    return target()->DeleteFile(path, options, dbg);
  }
  IOStatus CreateDir(const std::string& dir, const IOOptions& options,
                     IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_create_dir_nanos);
    return target()->CreateDir(dir, options, dbg);
  }
  IOStatus CreateDirIfMissing(const std::string& dir, const IOOptions& options,
                              IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_create_dir_if_missing_nanos);
    return target()->CreateDirIfMissing(dir, options, dbg);
  }
  IOStatus DeleteDir(const std::string& dir, const IOOptions& options,
                     IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_delete_dir_nanos);
    return target()->DeleteDir(dir, options, dbg);
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* bytes,
                       IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_get_file_size_nanos);
    return target()->GetFileSize(path, options, bytes, dbg);
  }
  IOStatus GetFileModificationTime(const std::string& path, const IOOptions& options,
                                   uint64_t* unix_seconds, IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_get_file_modification_time_nanos);
    return target()->GetFileModificationTime(path, options, unix_seconds, dbg);
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_rename_file_nanos);
    return target()->RenameFile(from, to, options, dbg);
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_link_file_nanos);
    return target()->LinkFile(from, to, options, dbg);
  }
  IOStatus LockFile(const std::string& path, const IOOptions& options, FileLock** lock,
                    IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_lock_file_nanos);
    return target()->LockFile(path, options, lock, dbg);
  }
  IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_unlock_file_nanos);
    return target()->UnlockFile(lock, options, dbg);
  }
  IOStatus NewLogger(const std::string& path, const IOOptions& options,
                     std::shared_ptr<Logger>* result, IODebugContext* dbg) override {
    const PerfTimer timer(&PerfContext::env_new_logger_nanos);
    return target()->NewLogger(path, options, result, dbg);
  }
};

}  // namespace

Env* NewTimedEnv(Env* base_env) {
  Env* const base = base_env == nullptr ? Env::Default() : base_env;
  return new CompositeEnv(std::make_shared<TimedFileSystem>(base->GetFileSystem()), base);
}

}  // namespace ashlar

#include "tests/env/small_file_system.h"

#include <algorithm>
#include <cstring>

namespace ashlar {
namespace {

using State = SmallFileSystem::State;

// One open file.
struct Open {
  std::shared_ptr<State> state;
  std::string path;
  std::shared_ptr<std::string> bytes;

  Slice ReadAt(uint64_t offset, size_t n, char* scratch) const {
    const MutexLock lock(state->mutex);
    if (offset >= bytes->size()) return Slice();
    const size_t start = static_cast<size_t>(offset);
    const size_t count = std::min(n, bytes->size() - start);
    memcpy(scratch, bytes->data() + start, count);
    return Slice(scratch, count);
  }
};

class SmallSequentialFile final : public FSSequentialFile {
 public:
  explicit SmallSequentialFile(Open open) : open_(std::move(open)) {}
  IOStatus Read(size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) override {
    *result = open_.ReadAt(position_, std::min<size_t>(n, 7), scratch);
    position_ += result->size();
    return IOStatus::OK();
  }
  IOStatus Skip(uint64_t n) override {
    position_ += n;
    return IOStatus::OK();
  }

 private:
  const Open open_;
  uint64_t position_ = 0;
};

class SmallRandomAccessFile final : public FSRandomAccessFile {
 public:
  explicit SmallRandomAccessFile(Open open) : open_(std::move(open)) {}
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    *result = open_.ReadAt(offset, n, scratch);
    return IOStatus::OK();
  }

 private:
  const Open open_;
};

class SmallWritableFile final : public FSWritableFile {
 public:
  explicit SmallWritableFile(Open open) : open_(std::move(open)) {}
  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    const MutexLock lock(open_.state->mutex);
    ++open_.state->appends;
    if (!open_.state->failing_name.empty() &&
        open_.path.find(open_.state->failing_name) != std::string::npos)
      return open_.state->failure;
    open_.bytes->append(data.data(), data.size());
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return 0; }

 private:
  const Open open_;
};

class SmallDirectory final : public FSDirectory {
 public:
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
};

struct SmallLock final : public FileLock {
  explicit SmallLock(std::string locked) : path(std::move(locked)) {}
  const std::string path;
};

IOStatus Missing(const std::string& path) { return IOStatus::NotFound(path, "is not there"); }

}  // namespace

IOStatus SmallFileSystem::NewSequentialFile(const std::string& path, const FileOptions&,
                                            std::unique_ptr<FSSequentialFile>* result,
                                            IODebugContext*) {
  const MutexLock lock(state_->mutex);
  const auto file = state_->files.find(path);
  if (file == state_->files.end()) return Missing(path);
  *result = std::make_unique<SmallSequentialFile>(Open{state_, path, file->second});
  return IOStatus::OK();
}

IOStatus SmallFileSystem::NewRandomAccessFile(const std::string& path, const FileOptions&,
                                              std::unique_ptr<FSRandomAccessFile>* result,
                                              IODebugContext*) {
  const MutexLock lock(state_->mutex);
  const auto file = state_->files.find(path);
  if (file == state_->files.end()) return Missing(path);
  *result = std::make_unique<SmallRandomAccessFile>(Open{state_, path, file->second});
  return IOStatus::OK();
}

IOStatus SmallFileSystem::NewWritableFile(const std::string& path, const FileOptions&,
                                          std::unique_ptr<FSWritableFile>* result,
                                          IODebugContext*) {
  const MutexLock lock(state_->mutex);
  const auto bytes = std::make_shared<std::string>();
  state_->files[path] = bytes;
  *result = std::make_unique<SmallWritableFile>(Open{state_, path, bytes});
  return IOStatus::OK();
}

IOStatus SmallFileSystem::NewDirectory(const std::string& path, const IOOptions&,
                                       std::unique_ptr<FSDirectory>* result, IODebugContext*) {
  const MutexLock lock(state_->mutex);
  if (path != "/" && !state_->directories.contains(path)) return Missing(path);
  *result = std::make_unique<SmallDirectory>();
  return IOStatus::OK();
}

IOStatus SmallFileSystem::FileExists(const std::string& path, const IOOptions&, IODebugContext*) {
  const MutexLock lock(state_->mutex);
  const bool is_there = state_->files.contains(path) || state_->directories.contains(path);
  return is_there ? IOStatus::OK() : Missing(path);
}

IOStatus SmallFileSystem::GetChildren(const std::string& dir, const IOOptions&,
                                      std::vector<std::string>* names, IODebugContext*) {
  const MutexLock lock(state_->mutex);
  if (!state_->directories.contains(dir)) return Missing(dir);
  *names = {".", ".."};
  const std::string prefix = dir + "/";
  const auto add = [&](const std::string& path) {
    if (path.starts_with(prefix) && path.find('/', prefix.size()) == std::string::npos)
      names->push_back(path.substr(prefix.size()));
  };
  for (const auto& [path, bytes] : state_->files) add(path);
  for (const std::string& path : state_->directories) add(path);
  return IOStatus::OK();
}

IOStatus SmallFileSystem::DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) {
  const MutexLock lock(state_->mutex);
  return state_->files.erase(path) == 1 ? IOStatus::OK() : Missing(path);
}

IOStatus SmallFileSystem::CreateDir(const std::string& dir, const IOOptions&, IODebugContext*) {
  const MutexLock lock(state_->mutex);
  return state_->directories.insert(dir).second ? IOStatus::OK() : IOStatus::IOError(dir, "exists");
}

IOStatus SmallFileSystem::CreateDirIfMissing(const std::string& dir, const IOOptions&,
                                             IODebugContext*) {
  const MutexLock lock(state_->mutex);
  state_->directories.insert(dir);
  return IOStatus::OK();
}

IOStatus SmallFileSystem::DeleteDir(const std::string& dir, const IOOptions&, IODebugContext*) {
  const MutexLock lock(state_->mutex);
  return state_->directories.erase(dir) == 1 ? IOStatus::OK() : Missing(dir);
}

IOStatus SmallFileSystem::GetFileSize(const std::string& path, const IOOptions&, uint64_t* bytes,
                                      IODebugContext*) {
  const MutexLock lock(state_->mutex);
  const auto file = state_->files.find(path);
  if (file == state_->files.end()) return Missing(path);
  *bytes = file->second->size();
  return IOStatus::OK();
}

IOStatus SmallFileSystem::RenameFile(const std::string& from, const std::string& to,
                                     const IOOptions&, IODebugContext*) {
  const MutexLock lock(state_->mutex);
  const auto file = state_->files.find(from);
  if (file == state_->files.end()) return Missing(from);
  const std::shared_ptr<std::string> bytes = file->second;
  state_->files.erase(file);
  state_->files[to] = bytes;
  return IOStatus::OK();
}

IOStatus SmallFileSystem::LockFile(const std::string& path, const IOOptions&, FileLock** lock,
                                   IODebugContext*) {
  const MutexLock guard(state_->mutex);
  if (!state_->locks.insert(path).second) return IOStatus::IOError(path, "is locked");
  *lock = new SmallLock(path);
  return IOStatus::OK();
}

IOStatus SmallFileSystem::UnlockFile(FileLock* lock, const IOOptions&, IODebugContext*) {
  const std::unique_ptr<SmallLock> taken(static_cast<SmallLock*>(lock));
  const MutexLock guard(state_->mutex);
  state_->locks.erase(taken->path);
  return IOStatus::OK();
}

IOStatus SmallFileSystem::IsDirectory(const std::string& path, const IOOptions&, bool* is_directory,
                                      IODebugContext*) {
  const MutexLock lock(state_->mutex);
  *is_directory = state_->directories.contains(path);
  return IOStatus::OK();
}

}  // namespace ashlar

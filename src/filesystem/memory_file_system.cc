#include "filesystem/memory_file_system.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "filesystem/write_buffer.h"
#include "platform/clock.h"
#include "platform/mutex.h"

namespace ashlar {
namespace {

// The largest file. It is enough for all tests, but small enough that a wrong length does not use
// up the machine's memory.
constexpr uint64_t kFileBytesMax = uint64_t{1} << 36;

uint64_t NowUnixSeconds() { return UnixMicros() / 1'000'000; }

// The state shared by all files of one file system. Bytes are counted while their node lives.
struct MemoryUsage {
  std::atomic<uint64_t> used_bytes{0};
  std::atomic<uint64_t> capacity_bytes{std::numeric_limits<uint64_t>::max()};
  std::atomic<MutationListener*> listener{nullptr};

  bool Grow(uint64_t bytes) {
    const uint64_t before = used_bytes.fetch_add(bytes, std::memory_order_relaxed);
    const uint64_t capacity = capacity_bytes.load(std::memory_order_relaxed);
    if (before <= capacity && bytes <= capacity - before) return true;
    Shrink(bytes);
    return false;
  }
  void Shrink(uint64_t bytes) { used_bytes.fetch_sub(bytes, std::memory_order_relaxed); }
};

class MemoryFile {
 public:
  MemoryFile(MemoryNodeId id, std::shared_ptr<MemoryUsage> usage)
      : id_(id), usage_(std::move(usage)) {}
  ~MemoryFile() { usage_->Shrink(Bytes()); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  MemoryNodeId id() const { return id_; }

  uint64_t Bytes() const {
    MutexLock lock(mutex_);
    return bytes_->size();
  }
  uint64_t ModifiedUnixSeconds() const {
    MutexLock lock(mutex_);
    return modified_unix_seconds_;
  }

  size_t ReadAt(uint64_t offset, size_t n, char* to) const {
    MutexLock lock(mutex_);
    if (offset >= bytes_->size()) return 0;
    const size_t start = static_cast<size_t>(offset);
    const size_t count = std::min(n, bytes_->size() - start);
    memcpy(to, bytes_->data() + start, count);
    return count;
  }

  Status WriteAt(uint64_t offset, const Slice& data, const std::string& path) {
    if (offset > kFileBytesMax || data.size() > kFileBytesMax - offset)
      return Status::IOError(StrCat("write to ", path), "file too large");
    MutexLock lock(mutex_);
    const size_t start = static_cast<size_t>(offset);
    const size_t end = start + data.size();
    std::string& bytes = MutableBytes();
    if (end > bytes.size()) ASHLAR_RETURN_IF_ERROR(ResizeTo(end, path));
    memcpy(bytes.data() + start, data.data(), data.size());
    modified_unix_seconds_ = NowUnixSeconds();
    if (MutationListener* listener = usage_->listener.load(std::memory_order_acquire))
      listener->OnWrite(id_, offset, data);
    return Status::OK();
  }

  Status Resize(uint64_t size, const std::string& path) {
    if (size > kFileBytesMax) return Status::IOError(StrCat("truncate ", path), "file too large");
    MutexLock lock(mutex_);
    if (size == bytes_->size()) return Status::OK();
    ASHLAR_RETURN_IF_ERROR(ResizeTo(static_cast<size_t>(size), path));
    modified_unix_seconds_ = NowUnixSeconds();
    if (MutationListener* listener = usage_->listener.load(std::memory_order_acquire))
      listener->OnResize(id_, size);
    return Status::OK();
  }

  void Sync() {
    MutexLock lock(mutex_);
    if (MutationListener* listener = usage_->listener.load(std::memory_order_acquire))
      listener->OnSyncFile(id_);
  }

  // Returns the current bytes, which later changes do not affect (I1).
  std::shared_ptr<const std::string> Share() {
    MutexLock lock(mutex_);
    is_shared_ = true;
    return bytes_;
  }
  // Requires: no other reference to the file exists.
  void Adopt(std::shared_ptr<const std::string> bytes) {
    MutexLock lock(mutex_);
    usage_->used_bytes.fetch_add(bytes->size(), std::memory_order_relaxed);
    bytes_ = std::move(bytes);
    is_shared_ = true;
  }

 private:
  std::string& MutableBytes() ASHLAR_REQUIRES(mutex_) {
    if (is_shared_) {
      bytes_ = std::make_shared<std::string>(*bytes_);
      is_shared_ = false;
    }
    ASHLAR_DCHECK(bytes_.use_count() == 1);  // I1
    // An unshared string was created here as a non-const string.
    return const_cast<std::string&>(*bytes_);
  }

  Status ResizeTo(size_t size, const std::string& path) ASHLAR_REQUIRES(mutex_) {
    const size_t before = bytes_->size();
    if (size > before && !usage_->Grow(size - before))
      return Status::NoSpace(StrCat("write to ", path), "No space left on device");
    if (size < before) usage_->Shrink(before - size);
    MutableBytes().resize(size);
    return Status::OK();
  }

  const MemoryNodeId id_;
  const std::shared_ptr<MemoryUsage> usage_;
  mutable Mutex mutex_;
  std::shared_ptr<const std::string> bytes_ ASHLAR_GUARDED_BY(mutex_) =
      std::make_shared<std::string>();
  bool is_shared_ ASHLAR_GUARDED_BY(mutex_) = false;
  uint64_t modified_unix_seconds_ ASHLAR_GUARDED_BY(mutex_) = NowUnixSeconds();
};

// One of the two pointers is set.
struct MemoryNode {
  std::shared_ptr<MemoryFile> file;
  std::shared_ptr<struct MemoryDirectory> directory;
  bool exists() const { return file != nullptr || directory != nullptr; }
};

struct MemoryDirectory {
  explicit MemoryDirectory(MemoryNodeId node_id) : id(node_id) {}
  const MemoryNodeId id;
  const uint64_t modified_unix_seconds = NowUnixSeconds();
  std::map<std::string, MemoryNode, std::less<>> entries;  // guarded by the namespace's mutex
};

using PathComponents = std::vector<std::string>;

Result<PathComponents> SplitPath(const std::string& path) {
  if (path.empty()) return Status::InvalidArgument("empty path");
  if (path.find('\0') != std::string::npos)
    return Status::InvalidArgument(path.c_str(), "the path contains a zero byte");
  PathComponents components;
  size_t start = 0;
  while (start <= path.size()) {
    const size_t end = std::min(path.find('/', start), path.size());
    const std::string component = path.substr(start, end - start);
    if (component == "..") return Status::InvalidArgument(path, "\"..\" is not understood here");
    if (!component.empty() && component != ".") components.push_back(component);
    start = end + 1;
  }
  return components;
}

Status Missing(std::string_view action, const std::string& path) {
  return Status::PathNotFound(StrCat(action, " ", path), "No such file or directory");
}

Status Refused(std::string_view action, const std::string& path, std::string_view reason) {
  return Status::IOError(StrCat(action, " ", path), reason);
}

}  // namespace

// The tree of names. Its mutex guards every directory's entries and the set of locks.
class MemoryNamespace {
 public:
  MemoryNamespace() = default;

  const std::shared_ptr<MemoryUsage>& usage() const { return usage_; }

  void Load(const MemoryImage& image);
  MemoryImage Snapshot();

  Result<MemoryNode> Find(std::string_view action, const std::string& path);
  Result<std::shared_ptr<MemoryFile>> FindFile(std::string_view action, const std::string& path);
  Result<std::shared_ptr<MemoryDirectory>> FindDirectory(std::string_view action,
                                                         const std::string& path);

  enum class WhenThere { kUse, kFail };
  Result<std::shared_ptr<MemoryFile>> CreateFile(const std::string& path, WhenThere when_there);
  Status MakeDirectory(const std::string& path, WhenThere when_there);
  Status RemoveFile(const std::string& path);
  Status RemoveDirectory(const std::string& path);
  Status Rename(const std::string& from, const std::string& to);
  Status Link(const std::string& from, const std::string& to);
  Result<uint64_t> CountLinks(const std::string& path);
  Status List(const std::string& path, std::vector<std::string>* names);
  void SyncDirectory(const MemoryDirectory& directory);

  Status Lock(const std::string& path, std::shared_ptr<MemoryFile>* file);
  void Unlock(const std::shared_ptr<MemoryFile>& file);

 private:
  // An entry, which may be missing, in a directory that exists.
  struct Place {
    std::shared_ptr<MemoryDirectory> parent;
    std::string name;
    MemoryNode node;
  };

  Result<MemoryNode> FindLocked(std::string_view action, const std::string& path,
                                const PathComponents& components) ASHLAR_REQUIRES(mutex_);
  Result<Place> FindPlace(std::string_view action, const std::string& path) ASHLAR_REQUIRES(mutex_);
  Result<std::shared_ptr<MemoryFile>> CreateFileLocked(const std::string& path,
                                                       WhenThere when_there)
      ASHLAR_REQUIRES(mutex_);
  Status CheckRename(const Place& source, const Place& target, const std::string& to)
      ASHLAR_REQUIRES(mutex_);
  static bool Contains(const MemoryNode& tree, const MemoryDirectory* wanted);
  static uint64_t CountLinks(const MemoryDirectory& tree, const MemoryFile* file);
  void CollectEntries(const std::string& prefix, const MemoryDirectory& directory,
                      MemoryImage* image) ASHLAR_REQUIRES(mutex_);
  MutationListener* listener() const { return usage_->listener.load(std::memory_order_acquire); }

  const std::shared_ptr<MemoryUsage> usage_ = std::make_shared<MemoryUsage>();
  Mutex mutex_;
  const std::shared_ptr<MemoryDirectory> root_ = std::make_shared<MemoryDirectory>(kMemoryRootId);
  MemoryNodeId next_id_ ASHLAR_GUARDED_BY(mutex_) = kMemoryRootId + 1;
  std::vector<const MemoryFile*> locked_ ASHLAR_GUARDED_BY(mutex_);
};

Result<MemoryNode> MemoryNamespace::FindLocked(std::string_view action, const std::string& path,
                                               const PathComponents& components) {
  MemoryNode node{.file = nullptr, .directory = root_};
  for (const std::string& component : components) {
    if (node.directory == nullptr) return Refused(action, path, "Not a directory");
    const auto entry = node.directory->entries.find(component);
    if (entry == node.directory->entries.end()) return Missing(action, path);
    node = MemoryNode(entry->second);
  }
  return node;
}

Result<MemoryNamespace::Place> MemoryNamespace::FindPlace(std::string_view action,
                                                          const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(PathComponents components, SplitPath(path));
  if (components.empty()) return Refused(action, path, "not possible for the root");
  Place place;
  place.name = std::move(components.back());
  components.pop_back();
  ASHLAR_ASSIGN_OR_RETURN(const MemoryNode parent, FindLocked(action, path, components));
  if (parent.directory == nullptr) return Refused(action, path, "Not a directory");
  place.parent = parent.directory;
  const auto entry = place.parent->entries.find(place.name);
  if (entry != place.parent->entries.end()) place.node = entry->second;
  return place;
}

Result<MemoryNode> MemoryNamespace::Find(std::string_view action, const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(const PathComponents components, SplitPath(path));
  MutexLock lock(mutex_);
  return FindLocked(action, path, components);
}

Result<std::shared_ptr<MemoryFile>> MemoryNamespace::FindFile(std::string_view action,
                                                              const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(MemoryNode node, Find(action, path));
  if (node.file == nullptr) return Refused(action, path, "is a directory");
  return std::move(node.file);
}

Result<std::shared_ptr<MemoryDirectory>> MemoryNamespace::FindDirectory(std::string_view action,
                                                                        const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(MemoryNode node, Find(action, path));
  if (node.directory == nullptr) return Refused(action, path, "Not a directory");
  return std::move(node.directory);
}

Result<std::shared_ptr<MemoryFile>> MemoryNamespace::CreateFile(const std::string& path,
                                                                WhenThere when_there) {
  MutexLock lock(mutex_);
  return CreateFileLocked(path, when_there);
}

Result<std::shared_ptr<MemoryFile>> MemoryNamespace::CreateFileLocked(const std::string& path,
                                                                      WhenThere when_there) {
  ASHLAR_ASSIGN_OR_RETURN(Place place, FindPlace("open", path));
  if (place.node.directory != nullptr) return Refused("open", path, "is a directory");
  if (place.node.file != nullptr) {
    if (when_there == WhenThere::kFail) return Refused("open", path, "File exists");
    return std::move(place.node.file);
  }
  auto file = std::make_shared<MemoryFile>(next_id_++, usage_);
  place.parent->entries[place.name] = MemoryNode{.file = file, .directory = nullptr};
  if (listener() != nullptr) listener()->OnLink(place.parent->id, place.name, file->id(), false);
  return file;
}

Status MemoryNamespace::MakeDirectory(const std::string& path, WhenThere when_there) {
  constexpr std::string_view kAction = "create directory";
  ASHLAR_ASSIGN_OR_RETURN(const PathComponents components, SplitPath(path));
  if (components.empty())
    return when_there == WhenThere::kUse ? Status::OK() : Refused(kAction, path, "File exists");
  MutexLock lock(mutex_);
  ASHLAR_ASSIGN_OR_RETURN(const Place place, FindPlace(kAction, path));
  if (place.node.exists()) {
    if (when_there == WhenThere::kFail) return Refused(kAction, path, "File exists");
    return place.node.directory != nullptr
               ? Status::OK()
               : Refused(kAction, path, "exists, but is not a directory");
  }
  auto directory = std::make_shared<MemoryDirectory>(next_id_++);
  place.parent->entries[place.name] = MemoryNode{.file = nullptr, .directory = directory};
  if (listener() != nullptr) listener()->OnLink(place.parent->id, place.name, directory->id, true);
  return Status::OK();
}

Status MemoryNamespace::RemoveFile(const std::string& path) {
  MutexLock lock(mutex_);
  ASHLAR_ASSIGN_OR_RETURN(const Place place, FindPlace("remove", path));
  if (place.node.directory != nullptr) return Refused("remove", path, "is a directory");
  if (place.node.file == nullptr) return Missing("remove", path);
  place.parent->entries.erase(place.name);
  if (listener() != nullptr) listener()->OnUnlink(place.parent->id, place.name);
  return Status::OK();
}

Status MemoryNamespace::RemoveDirectory(const std::string& path) {
  constexpr std::string_view kAction = "remove directory";
  MutexLock lock(mutex_);
  ASHLAR_ASSIGN_OR_RETURN(const Place place, FindPlace(kAction, path));
  if (place.node.file != nullptr) return Refused(kAction, path, "Not a directory");
  if (place.node.directory == nullptr) return Missing(kAction, path);
  if (!place.node.directory->entries.empty()) return Refused(kAction, path, "Directory not empty");
  place.parent->entries.erase(place.name);
  if (listener() != nullptr) listener()->OnUnlink(place.parent->id, place.name);
  return Status::OK();
}

bool MemoryNamespace::Contains(const MemoryNode& tree, const MemoryDirectory* wanted) {
  if (tree.directory == nullptr) return false;
  if (tree.directory.get() == wanted) return true;
  const auto& entries = tree.directory->entries;
  return std::any_of(entries.begin(), entries.end(),
                     [wanted](const auto& entry) { return Contains(entry.second, wanted); });
}

Status MemoryNamespace::CheckRename(const Place& source, const Place& target,
                                    const std::string& to) {
  constexpr std::string_view kAction = "rename to";
  if (Contains(source.node, target.parent.get()))
    return Refused(kAction, to, "Invalid argument: into itself");
  if (!target.node.exists()) return Status::OK();
  if (source.node.file != nullptr)
    return target.node.file != nullptr ? Status::OK() : Refused(kAction, to, "is a directory");
  if (target.node.file != nullptr) return Refused(kAction, to, "Not a directory");
  return target.node.directory->entries.empty() ? Status::OK()
                                                : Refused(kAction, to, "Directory not empty");
}

Status MemoryNamespace::Rename(const std::string& from, const std::string& to) {
  MutexLock lock(mutex_);
  ASHLAR_ASSIGN_OR_RETURN(const Place source, FindPlace("rename", from));
  if (!source.node.exists()) return Missing("rename", from);
  ASHLAR_ASSIGN_OR_RETURN(const Place target, FindPlace("rename to", to));
  // If both names refer to one node, nothing changes, as POSIX requires.
  if (target.node.exists() && source.node.file == target.node.file &&
      source.node.directory == target.node.directory)
    return Status::OK();
  ASHLAR_RETURN_IF_ERROR(CheckRename(source, target, to));
  target.parent->entries[target.name] = source.node;  // first: it may throw
  source.parent->entries.erase(source.name);
  if (listener() != nullptr) {
    listener()->OnRename(
        {.from_directory = source.parent->id,
         .from_name = source.name,
         .to_directory = target.parent->id,
         .to_name = target.name,
         .node = source.node.file != nullptr ? source.node.file->id() : source.node.directory->id,
         .node_is_directory = source.node.directory != nullptr});
  }
  return Status::OK();
}

Status MemoryNamespace::Link(const std::string& from, const std::string& to) {
  MutexLock lock(mutex_);
  ASHLAR_ASSIGN_OR_RETURN(const Place source, FindPlace("link", from));
  if (source.node.directory != nullptr)
    return Status::NotSupported(StrCat("link ", from), "is a directory");
  if (source.node.file == nullptr) return Missing("link", from);
  ASHLAR_ASSIGN_OR_RETURN(const Place target, FindPlace("link to", to));
  if (target.node.exists()) return Refused("link to", to, "File exists");
  target.parent->entries[target.name] = source.node;
  if (listener() != nullptr)
    listener()->OnLink(target.parent->id, target.name, source.node.file->id(), false);
  return Status::OK();
}

uint64_t MemoryNamespace::CountLinks(const MemoryDirectory& tree, const MemoryFile* file) {
  uint64_t count = 0;
  for (const auto& [name, node] : tree.entries) {
    if (node.file.get() == file) ++count;
    if (node.directory != nullptr) count += CountLinks(*node.directory, file);
  }
  return count;
}

Result<uint64_t> MemoryNamespace::CountLinks(const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(const std::shared_ptr<MemoryFile> file, FindFile("inspect", path));
  MutexLock lock(mutex_);
  return CountLinks(*root_, file.get());
}

Status MemoryNamespace::List(const std::string& path, std::vector<std::string>* names) {
  ASHLAR_ASSIGN_OR_RETURN(const std::shared_ptr<MemoryDirectory> directory,
                          FindDirectory("list", path));
  MutexLock lock(mutex_);
  names->clear();
  for (const auto& [name, node] : directory->entries) names->push_back(name);
  return Status::OK();
}

void MemoryNamespace::SyncDirectory(const MemoryDirectory& directory) {
  MutexLock lock(mutex_);
  if (listener() != nullptr) listener()->OnSyncDirectory(directory.id);
}

Status MemoryNamespace::Lock(const std::string& path, std::shared_ptr<MemoryFile>* file) {
  MutexLock lock(mutex_);
  ASHLAR_ASSIGN_OR_RETURN(std::shared_ptr<MemoryFile> found,
                          CreateFileLocked(path, WhenThere::kUse));
  if (std::find(locked_.begin(), locked_.end(), found.get()) != locked_.end()) {
    return Status::Error(Status::kIOError, Status::kFileLocked, StrCat("lock ", path),
                         "held by this process");
  }
  locked_.push_back(found.get());
  *file = std::move(found);
  return Status::OK();
}

void MemoryNamespace::Unlock(const std::shared_ptr<MemoryFile>& file) {
  MutexLock lock(mutex_);
  std::erase(locked_, file.get());
}

void MemoryNamespace::CollectEntries(const std::string& prefix, const MemoryDirectory& directory,
                                     MemoryImage* image) {
  for (const auto& [name, node] : directory.entries) {
    const std::string path = StrCat(prefix, name);
    if (node.file != nullptr) {
      image->entries.push_back({.path = path,
                                .is_directory = false,
                                .id = node.file->id(),
                                .bytes = node.file->Share()});
    } else {
      image->entries.push_back(
          {.path = path, .is_directory = true, .id = node.directory->id, .bytes = nullptr});
      CollectEntries(StrCat(path, "/"), *node.directory, image);
    }
  }
}

MemoryImage MemoryNamespace::Snapshot() {
  MutexLock lock(mutex_);
  MemoryImage image;
  CollectEntries("", *root_, &image);
  return image;
}

void MemoryNamespace::Load(const MemoryImage& image) {
  MutexLock lock(mutex_);
  next_id_ = std::max(next_id_, image.new_ids_begin);
  std::map<MemoryNodeId, std::shared_ptr<MemoryFile>> files;
  for (const MemoryImage::Entry& entry : image.entries) {
    const Result<Place> place = FindPlace("load", entry.path);
    ASHLAR_ASSERT(place.ok() && !place->node.exists());  // each path once, directories first
    next_id_ = std::max(next_id_, entry.id + 1);
    MemoryNode& node = place->parent->entries[place->name];
    if (entry.is_directory) {
      node.directory = std::make_shared<MemoryDirectory>(entry.id);
      continue;
    }
    std::shared_ptr<MemoryFile>& file = files[entry.id];
    if (file == nullptr) {
      file = std::make_shared<MemoryFile>(entry.id, usage_);
      file->Adopt(entry.bytes);
    }
    node.file = file;
  }
}

namespace {

class MemorySequentialFile final : public vfs::SequentialFile {
 public:
  explicit MemorySequentialFile(std::shared_ptr<MemoryFile> file) : file_(std::move(file)) {}

  Status Read(size_t n, Slice* result, char* scratch) override {
    const size_t got = file_->ReadAt(position_, n, scratch);
    position_ += got;
    *result = Slice(scratch, got);
    return Status::OK();
  }
  Status Skip(uint64_t n) override {
    position_ =
        n > kFileBytesMax - std::min(position_, kFileBytesMax) ? kFileBytesMax : position_ + n;
    return Status::OK();
  }

 private:
  const std::shared_ptr<MemoryFile> file_;
  uint64_t position_ = 0;
};

class MemoryRandomAccessFile final : public vfs::RandomAccessFile {
 public:
  explicit MemoryRandomAccessFile(std::shared_ptr<MemoryFile> file) : file_(std::move(file)) {}

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    *result = Slice(scratch, file_->ReadAt(offset, n, scratch));
    return Status::OK();
  }
  Status Size(uint64_t* bytes) const override {
    *bytes = file_->Bytes();
    return Status::OK();
  }

 private:
  const std::shared_ptr<MemoryFile> file_;
};

class MemoryMappedFile final : public vfs::RandomAccessFile {
 public:
  explicit MemoryMappedFile(std::shared_ptr<const std::string> bytes) : bytes_(std::move(bytes)) {}

  Status Read(uint64_t offset, size_t n, Slice* result, char*) const override {
    *result = Slice();
    if (offset >= bytes_->size()) return Status::OK();
    const size_t start = static_cast<size_t>(offset);
    *result = Slice(bytes_->data() + start, std::min(n, bytes_->size() - start));
    return Status::OK();
  }
  Status Map(Slice* contents) const override {
    *contents = Slice(*bytes_);
    return Status::OK();
  }
  Status Size(uint64_t* bytes) const override {
    *bytes = bytes_->size();
    return Status::OK();
  }

 private:
  const std::shared_ptr<const std::string> bytes_;
};

enum class WriteFrom { kBeginning, kEnd };

class MemoryWritableFile final : public vfs::WritableFile {
 public:
  MemoryWritableFile(std::string path, std::shared_ptr<MemoryFile> file, WriteFrom from)
      : path_(std::move(path)),
        file_(std::move(file)),
        is_reused_(from == WriteFrom::kBeginning),
        size_(is_reused_ ? 0 : file_->Bytes()),
        written_(size_.load()) {}
  ~MemoryWritableFile() override {
    IgnoreBadAlloc([this] { static_cast<void>(MemoryWritableFile::Close().ok()); });
  }

  Status Append(const Slice& data) override {
    MutexLock lock(mutex_);
    ASHLAR_RETURN_IF_ERROR(error_);
    if (data.size() > kWriteBufferBytes - buffer_.size()) ASHLAR_RETURN_IF_ERROR(FlushLocked());
    if (is_reused_ || data.size() >= kWriteBufferBytes) {
      ASHLAR_RETURN_IF_ERROR(WriteOut(data));
    } else {
      buffer_.append(data.data(), data.size());
    }
    size_.fetch_add(data.size(), std::memory_order_relaxed);
    return Status::OK();
  }
  bool AppendsAtOnce() const override { return is_reused_; }
  Status Flush() override {
    MutexLock lock(mutex_);
    ASHLAR_RETURN_IF_ERROR(error_);
    ASHLAR_RETURN_IF_ERROR(FlushLocked());
    return CutFormerContents();
  }
  Status Sync() override {
    {
      MutexLock lock(mutex_);
      ASHLAR_RETURN_IF_ERROR(error_);
      ASHLAR_RETURN_IF_ERROR(FlushLocked());
    }
    file_->Sync();
    return Status::OK();
  }
  Status Close() override {
    MutexLock lock(mutex_);
    if (is_closed_) return error_;
    is_closed_ = true;
    Status status = error_.ok() ? FlushLocked() : error_;
    if (status.ok()) status = CutFormerContents();
    error_ = status.ok() ? Status::IOError(path_, "the file is closed") : status;
    return status;
  }
  uint64_t Size() const override { return size_.load(std::memory_order_relaxed); }

 private:
  Status FlushLocked() ASHLAR_REQUIRES(mutex_) {
    const std::string pending = std::exchange(buffer_, std::string());
    return pending.empty() ? Status::OK() : WriteOut(pending);
  }
  Status WriteOut(const Slice& data) ASHLAR_REQUIRES(mutex_) {
    // A failed allocation is a failed write, too, because the buffered bytes are lost.
    Status status = CatchBadAlloc([&] {
      mutex_.AssertHeld();
      return file_->WriteAt(written_, data, path_);
    });
    if (status.ok()) {
      written_ += data.size();
    } else {
      error_ = status;
    }
    return status;
  }
  Status CutFormerContents() ASHLAR_REQUIRES(mutex_) {
    if (!is_reused_ || file_->Bytes() <= written_) return Status::OK();
    const Status status = file_->Resize(written_, path_);
    if (!status.ok()) error_ = status;
    return status;
  }

  const std::string path_;
  const std::shared_ptr<MemoryFile> file_;
  const bool is_reused_;
  Mutex mutex_;
  std::atomic<uint64_t> size_;  // written under mutex_, read by the owner
  uint64_t written_ ASHLAR_GUARDED_BY(mutex_);
  std::string buffer_ ASHLAR_GUARDED_BY(mutex_);
  Status error_ ASHLAR_GUARDED_BY(mutex_);
  bool is_closed_ ASHLAR_GUARDED_BY(mutex_) = false;
};

class MemoryRandomRWFile final : public vfs::RandomRWFile {
 public:
  MemoryRandomRWFile(std::string path, std::shared_ptr<MemoryFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  Status Write(uint64_t offset, const Slice& data) override {
    ASHLAR_RETURN_IF_ERROR(CheckOpen());
    return file_->WriteAt(offset, data, path_);
  }
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    *result = Slice();
    ASHLAR_RETURN_IF_ERROR(CheckOpen());
    *result = Slice(scratch, file_->ReadAt(offset, n, scratch));
    return Status::OK();
  }
  Status Sync() override {
    ASHLAR_RETURN_IF_ERROR(CheckOpen());
    file_->Sync();
    return Status::OK();
  }
  Status Close() override {
    is_closed_ = true;
    return Status::OK();
  }

 private:
  Status CheckOpen() const {
    return is_closed_ ? Status::IOError(path_, "the file is closed") : Status::OK();
  }

  const std::string path_;
  const std::shared_ptr<MemoryFile> file_;
  bool is_closed_ = false;
};

class MemoryOpenDirectory final : public vfs::Directory {
 public:
  MemoryOpenDirectory(std::shared_ptr<MemoryNamespace> names,
                      std::shared_ptr<MemoryDirectory> directory)
      : names_(std::move(names)), directory_(std::move(directory)) {}
  Status Sync() override {
    names_->SyncDirectory(*directory_);
    return Status::OK();
  }

 private:
  const std::shared_ptr<MemoryNamespace> names_;
  const std::shared_ptr<MemoryDirectory> directory_;
};

class MemoryFileLock final : public vfs::FileLock {
 public:
  explicit MemoryFileLock(std::shared_ptr<MemoryNamespace> names) : names_(std::move(names)) {}
  ~MemoryFileLock() override {
    if (file_ != nullptr) names_->Unlock(file_);
  }

  Status Take(const std::string& path) { return names_->Lock(path, &file_); }

 private:
  const std::shared_ptr<MemoryNamespace> names_;
  std::shared_ptr<MemoryFile> file_;  // null until the lock is taken
};

}  // namespace

MemoryFileSystem::MemoryFileSystem() : names_(std::make_shared<MemoryNamespace>()) {}

MemoryFileSystem::MemoryFileSystem(const MemoryImage& image) : MemoryFileSystem() {
  names_->Load(image);
}

MemoryFileSystem::~MemoryFileSystem() = default;

MemoryImage MemoryFileSystem::Snapshot() const { return names_->Snapshot(); }

uint64_t MemoryImage::Fingerprint() const {
  std::string digest;
  for (const Entry& entry : entries) {
    StrAppend(&digest, entry.path, '\0');
    if (!entry.is_directory)
      StrAppend(&digest, entry.bytes->size(), ' ', Hash64(Slice(*entry.bytes)), '\0');
  }
  return Hash64(Slice(digest));
}

void MemoryFileSystem::SetCapacityBytes(uint64_t bytes) {
  names_->usage()->capacity_bytes.store(bytes, std::memory_order_relaxed);
}

void MemoryFileSystem::SetListener(MutationListener* listener) {
  names_->usage()->listener.store(listener, std::memory_order_release);
}

Status MemoryFileSystem::NewSequentialFile(const std::string& path, const vfs::FileOptions&,
                                           std::unique_ptr<vfs::SequentialFile>* result) {
  ASHLAR_ASSIGN_OR_RETURN(std::shared_ptr<MemoryFile> file, names_->FindFile("open", path));
  *result = std::make_unique<MemorySequentialFile>(std::move(file));
  return Status::OK();
}

Status MemoryFileSystem::NewRandomAccessFile(const std::string& path,
                                             const vfs::FileOptions& options,
                                             std::unique_ptr<vfs::RandomAccessFile>* result) {
  ASHLAR_ASSIGN_OR_RETURN(std::shared_ptr<MemoryFile> file, names_->FindFile("open", path));
  if (options.use_mmap_reads) {
    *result = std::make_unique<MemoryMappedFile>(file->Share());
  } else {
    *result = std::make_unique<MemoryRandomAccessFile>(std::move(file));
  }
  return Status::OK();
}

Status MemoryFileSystem::NewWritableFile(const std::string& path, const vfs::FileOptions& options,
                                         std::unique_ptr<vfs::WritableFile>* result) {
  const auto when_there = options.exclusive_create ? MemoryNamespace::WhenThere::kFail
                                                   : MemoryNamespace::WhenThere::kUse;
  ASHLAR_ASSIGN_OR_RETURN(std::shared_ptr<MemoryFile> file, names_->CreateFile(path, when_there));
  ASHLAR_RETURN_IF_ERROR(file->Resize(0, path));
  *result = std::make_unique<MemoryWritableFile>(path, std::move(file), WriteFrom::kEnd);
  return Status::OK();
}

Status MemoryFileSystem::ReopenWritableFile(const std::string& path, const vfs::FileOptions&,
                                            std::unique_ptr<vfs::WritableFile>* result) {
  ASHLAR_ASSIGN_OR_RETURN(std::shared_ptr<MemoryFile> file,
                          names_->CreateFile(path, MemoryNamespace::WhenThere::kUse));
  *result = std::make_unique<MemoryWritableFile>(path, std::move(file), WriteFrom::kEnd);
  return Status::OK();
}

Status MemoryFileSystem::ReuseWritableFile(const std::string& from, const std::string& to,
                                           const vfs::FileOptions& options,
                                           std::unique_ptr<vfs::WritableFile>* result) {
  if (options.use_direct_io)
    return Status::InvalidArgument(to, "a file cannot be written over around the page cache");
  ASHLAR_RETURN_IF_ERROR(names_->Rename(from, to));
  ASHLAR_ASSIGN_OR_RETURN(std::shared_ptr<MemoryFile> file, names_->FindFile("open", to));
  *result = std::make_unique<MemoryWritableFile>(to, std::move(file), WriteFrom::kBeginning);
  return Status::OK();
}

Status MemoryFileSystem::NewRandomRWFile(const std::string& path,
                                         std::unique_ptr<vfs::RandomRWFile>* result) {
  ASHLAR_ASSIGN_OR_RETURN(std::shared_ptr<MemoryFile> file, names_->FindFile("open", path));
  *result = std::make_unique<MemoryRandomRWFile>(path, std::move(file));
  return Status::OK();
}

Status MemoryFileSystem::NewDirectory(const std::string& path,
                                      std::unique_ptr<vfs::Directory>* result) {
  ASHLAR_ASSIGN_OR_RETURN(std::shared_ptr<MemoryDirectory> directory,
                          names_->FindDirectory("open directory", path));
  *result = std::make_unique<MemoryOpenDirectory>(names_, std::move(directory));
  return Status::OK();
}

Status MemoryFileSystem::FileExists(const std::string& path) {
  Status status = names_->Find("inspect", path).status();
  return status.IsPathNotFound() ? Status::NotFound(path) : status;
}

Status MemoryFileSystem::GetChildren(const std::string& path, std::vector<std::string>* names) {
  return names_->List(path, names);
}

Status MemoryFileSystem::DeleteFile(const std::string& path) { return names_->RemoveFile(path); }

Status MemoryFileSystem::CreateDir(const std::string& path) {
  return names_->MakeDirectory(path, MemoryNamespace::WhenThere::kFail);
}

Status MemoryFileSystem::CreateDirIfMissing(const std::string& path) {
  return names_->MakeDirectory(path, MemoryNamespace::WhenThere::kUse);
}

Status MemoryFileSystem::DeleteDir(const std::string& path) {
  return names_->RemoveDirectory(path);
}

Status MemoryFileSystem::GetFileSize(const std::string& path, uint64_t* bytes) {
  ASHLAR_ASSIGN_OR_RETURN(const MemoryNode node, names_->Find("inspect", path));
  *bytes = node.file != nullptr ? node.file->Bytes() : 0;
  return Status::OK();
}

Status MemoryFileSystem::GetFileModificationTime(const std::string& path, uint64_t* unix_seconds) {
  ASHLAR_ASSIGN_OR_RETURN(const MemoryNode node, names_->Find("inspect", path));
  *unix_seconds = node.file != nullptr ? node.file->ModifiedUnixSeconds()
                                       : node.directory->modified_unix_seconds;
  return Status::OK();
}

Status MemoryFileSystem::RenameFile(const std::string& from, const std::string& to) {
  return names_->Rename(from, to);
}

Status MemoryFileSystem::LinkFile(const std::string& from, const std::string& to) {
  return names_->Link(from, to);
}

Status MemoryFileSystem::NumFileLinks(const std::string& path, uint64_t* count) {
  ASHLAR_ASSIGN_OR_RETURN(*count, names_->CountLinks(path));
  return Status::OK();
}

Status MemoryFileSystem::Truncate(const std::string& path, uint64_t bytes) {
  ASHLAR_ASSIGN_OR_RETURN(const std::shared_ptr<MemoryFile> file,
                          names_->FindFile("truncate", path));
  return file->Resize(bytes, path);
}

Status MemoryFileSystem::LockFile(const std::string& path, std::unique_ptr<vfs::FileLock>* lock) {
  // Allocated first, so that every acquired lock has an owner.
  auto taken = std::make_unique<MemoryFileLock>(names_);
  ASHLAR_RETURN_IF_ERROR(taken->Take(path));
  *lock = std::move(taken);
  return Status::OK();
}

Status MemoryFileSystem::GetFreeSpace(const std::string& path, uint64_t* bytes) {
  ASHLAR_RETURN_IF_ERROR(names_->Find("ask for free space of", path).status());
  const uint64_t capacity = names_->usage()->capacity_bytes.load(std::memory_order_relaxed);
  const uint64_t used = names_->usage()->used_bytes.load(std::memory_order_relaxed);
  *bytes = capacity > used ? capacity - used : 0;
  return Status::OK();
}

}  // namespace ashlar

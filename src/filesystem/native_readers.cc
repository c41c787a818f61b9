#include "filesystem/native_readers.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/kept_by_thread.h"
#include "base/result.h"
#include "filesystem/aligned_buffer.h"
#include "filesystem/filename.h"
#include "platform/file.h"

namespace ashlar {
namespace {

FileAdvice ToAdvice(vfs::AccessPattern pattern) {
  switch (pattern) {
    case vfs::AccessPattern::kNormal: return FileAdvice::kNormal;
    case vfs::AccessPattern::kRandom: return FileAdvice::kRandom;
    case vfs::AccessPattern::kSequential: return FileAdvice::kSequential;
    case vfs::AccessPattern::kWillNeed: return FileAdvice::kWillNeed;
    case vfs::AccessPattern::kDontNeed: return FileAdvice::kDontNeed;
  }
  return FileAdvice::kNormal;
}

bool IsAligned(uint64_t value) { return value % kDirectIoAlignment == 0; }

// Requests for blocks are seldom aligned, so each thread keeps a buffer for them.
constexpr size_t kKeptBytes = size_t{256} << 10;
struct KeptBuffer {
  const AlignedBuffer buffer{kKeptBytes};
};

// Reads [offset, offset + n) with aligned system calls into scratch.
Result<size_t> ReadDirect(const OsFile& file, uint64_t offset, size_t n, char* scratch) {
  if (IsAligned(offset) && IsAligned(n) && IsAligned(reinterpret_cast<uintptr_t>(scratch)))
    return file.ReadAt(offset, n, scratch);
  const uint64_t first = offset - offset % kDirectIoAlignment;
  const size_t lead = static_cast<size_t>(offset - first);
  if (n > std::numeric_limits<size_t>::max() - lead - kDirectIoAlignment)
    return Status::InvalidArgument(file.path(), "read of too many bytes");
  const size_t wanted =
      (lead + n + kDirectIoAlignment - 1) / kDirectIoAlignment * kDirectIoAlignment;
  std::optional<AlignedBuffer> large;
  std::optional<KeptByThread<KeptBuffer>> kept;
  if (wanted > kKeptBytes) {
    large.emplace(wanted);
  } else {
    kept.emplace();
  }
  char* const buffer = large.has_value() ? large->data() : (*kept)->buffer.data();
  ASHLAR_ASSIGN_OR_RETURN(const size_t got, file.ReadAt(first, wanted, buffer));
  const size_t useful = got <= lead ? 0 : std::min(got - lead, n);
  memcpy(scratch, buffer + lead, useful);
  return useful;
}

// Saturates, so that a read beyond the end finds nothing instead of using a wrapped offset.
uint64_t AddSaturated(uint64_t a, uint64_t b) {
  return b > std::numeric_limits<uint64_t>::max() - a ? std::numeric_limits<uint64_t>::max()
                                                      : a + b;
}

class NativeSequentialFile final : public vfs::SequentialFile {
 public:
  NativeSequentialFile(OsFile file, bool direct_io)
      : file_(std::move(file)), direct_io_(direct_io) {}

  Status Read(size_t n, Slice* result, char* scratch) override {
    *result = Slice();
    ASHLAR_ASSIGN_OR_RETURN(const size_t got, direct_io_ ? ReadDirect(file_, position_, n, scratch)
                                                         : file_.ReadAt(position_, n, scratch));
    position_ = AddSaturated(position_, got);
    *result = Slice(scratch, got);
    return Status::OK();
  }

  Status Skip(uint64_t n) override {
    position_ = AddSaturated(position_, n);
    return Status::OK();
  }

 private:
  const OsFile file_;
  const bool direct_io_;
  uint64_t position_ = 0;
};

class NativeRandomAccessFile : public vfs::RandomAccessFile {
 public:
  explicit NativeRandomAccessFile(OsFile file) : file_(std::move(file)) {}

  Status Size(uint64_t* bytes) const override {
    ASHLAR_ASSIGN_OR_RETURN(const FileInfo info, file_.Info());
    *bytes = info.bytes;
    return Status::OK();
  }
  void Hint(vfs::AccessPattern pattern, uint64_t offset, uint64_t bytes) const override {
    file_.Advise(ToAdvice(pattern), offset, bytes);
  }

 protected:
  const OsFile file_;
};

class BufferedRandomAccessFile final : public NativeRandomAccessFile {
 public:
  using NativeRandomAccessFile::NativeRandomAccessFile;
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    *result = Slice();
    ASHLAR_ASSIGN_OR_RETURN(const size_t got, file_.ReadAt(offset, n, scratch));
    *result = Slice(scratch, got);
    return Status::OK();
  }
};

class DirectRandomAccessFile final : public NativeRandomAccessFile {
 public:
  using NativeRandomAccessFile::NativeRandomAccessFile;
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    *result = Slice();
    ASHLAR_ASSIGN_OR_RETURN(const size_t got, ReadDirect(file_, offset, n, scratch));
    *result = Slice(scratch, got);
    return Status::OK();
  }
  void Hint(vfs::AccessPattern, uint64_t, uint64_t) const override {}
};

// The descriptor is not kept, because the mapping remains valid without it.
class MappedRandomAccessFile final : public vfs::RandomAccessFile {
 public:
  explicit MappedRandomAccessFile(OsMapping mapping) : mapping_(std::move(mapping)) {}

  Status Read(uint64_t offset, size_t n, Slice* result, char*) const override {
    const Slice contents = mapping_.contents();
    if (offset >= contents.size()) {
      *result = Slice();
      return Status::OK();
    }
    const size_t start = static_cast<size_t>(offset);
    *result = Slice(contents.data() + start, std::min(n, contents.size() - start));
    return Status::OK();
  }
  Status Map(Slice* contents) const override {
    *contents = mapping_.contents();
    return Status::OK();
  }
  Status Size(uint64_t* bytes) const override {
    *bytes = mapping_.contents().size();
    return Status::OK();
  }
  void Hint(vfs::AccessPattern pattern, uint64_t offset, uint64_t bytes) const override {
    mapping_.Advise(ToAdvice(pattern), offset, bytes);
  }

 private:
  const OsMapping mapping_;
};

// CURRENT decides which files are read, so a link that is planted there is refused.
OpenMode ReadMode(const std::string& path) {
  return BaseName(path) == "CURRENT" ? OpenMode::kReadNoFollow : OpenMode::kRead;
}

}  // namespace

Status CheckNoLockFile(const std::string& path) {
  if (BaseName(path) != "LOCK") return Status::OK();
  return Status::InvalidArgument(
      path,
      "a lock file is opened by LockFile only: closing it may release the lock of this process");
}

Status OpenNativeSequentialFile(const std::string& path, const vfs::FileOptions& options,
                                std::unique_ptr<vfs::SequentialFile>* result) {
  ASHLAR_RETURN_IF_ERROR(CheckNoLockFile(path));
  ASHLAR_ASSIGN_OR_RETURN(OsFile file, OsFile::Open(path, {.mode = ReadMode(path),
                                                           .direct_io = options.use_direct_io}));
  if (!options.use_direct_io) file.Advise(FileAdvice::kSequential, 0, 0);
  *result = std::make_unique<NativeSequentialFile>(std::move(file), options.use_direct_io);
  return Status::OK();
}

Status OpenNativeRandomAccessFile(const std::string& path, const vfs::FileOptions& options,
                                  std::unique_ptr<vfs::RandomAccessFile>* result) {
  ASHLAR_RETURN_IF_ERROR(CheckNoLockFile(path));
  if (options.use_mmap_reads && options.use_direct_io)
    return Status::InvalidArgument(path, "a mapping cannot bypass the page cache (direct I/O)");
  ASHLAR_ASSIGN_OR_RETURN(OsFile file, OsFile::Open(path, {.mode = ReadMode(path),
                                                           .direct_io = options.use_direct_io}));
  if (options.use_mmap_reads) {
    ASHLAR_ASSIGN_OR_RETURN(const FileInfo info, file.Info());
    ASHLAR_ASSIGN_OR_RETURN(OsMapping mapping, OsMapping::MapForReading(file, info.bytes));
    *result = std::make_unique<MappedRandomAccessFile>(std::move(mapping));
  } else if (options.use_direct_io) {
    *result = std::make_unique<DirectRandomAccessFile>(std::move(file));
  } else {
    *result = std::make_unique<BufferedRandomAccessFile>(std::move(file));
  }
  return Status::OK();
}

}  // namespace ashlar

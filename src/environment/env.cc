// The optional methods of Env and of its file classes, and the Envs that wrap other file systems.
#include "ashlar/env.h"

#include <array>
#include <utility>

#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "ashlar/system_clock.h"
#include "ashlar/thread_status.h"
#include "base/format.h"
#include "base/random_id.h"
#include "base/result.h"
#include "environment/composite_env.h"
#include "environment/env_file_system.h"
#include "execute/clock.h"
#include "execute/executor.h"
#include "filesystem/filename.h"
#include "filesystem/memory_file_system.h"
#include "observe/info_log.h"
#include "platform/clock.h"
#include "platform/path.h"
#include "platform/thread.h"

namespace ashlar {
namespace {

// Adapts the time methods of an Env to SystemClock.
class ClockOfEnv final : public SystemClock {
 public:
  explicit ClockOfEnv(Env* env) : env_(env) {}

  const char* Name() const override { return "ClockOfEnv"; }
  uint64_t NowMicros() override { return env_->NowMicros(); }
  uint64_t NowNanos() override { return env_->NowNanos(); }
  uint64_t CPUMicros() override { return env_->NowCPUNanos() / 1000; }
  uint64_t CPUNanos() override { return env_->NowCPUNanos(); }
  void SleepForMicroseconds(int micros) override { env_->SleepForMicroseconds(micros); }
  Status GetCurrentTime(int64_t* unix_seconds) override {
    return env_->GetCurrentTime(unix_seconds);
  }
  std::string TimeToString(uint64_t unix_seconds) override {
    return env_->TimeToString(unix_seconds);
  }

 private:
  Env* const env_;
};

// Adapts a SystemClock to the engine's Clock. Waits for a condition use the machine's clock,
// because SystemClock has no method for them.
class EngineClock final : public Clock {
 public:
  explicit EngineClock(const std::shared_ptr<SystemClock>& clock)
      : clock_(clock), machine_(MachineClock()) {}

  uint64_t NowNanos() override { return clock_->NowNanos(); }
  uint64_t NowUnixMicros() override { return clock_->NowMicros(); }
  void SleepForMicros(uint64_t micros) override {
    constexpr uint64_t kOnceMax = 1000000000;
    for (uint64_t left = micros; left > 0;) {
      const uint64_t now = left < kOnceMax ? left : kOnceMax;
      clock_->SleepForMicroseconds(static_cast<int>(now));
      left -= now;
    }
  }
  void WaitForMicros(CondVar& condition, Mutex& mutex, uint64_t micros) override
      ASHLAR_REQUIRES(mutex) {
    machine_->WaitForMicros(condition, mutex, micros);
  }

 private:
  const std::shared_ptr<SystemClock> clock_;
  const std::shared_ptr<Clock> machine_;
};

}  // namespace

EnvOptions::EnvOptions(const DBOptions& options)
    : use_mmap_reads(options.allow_mmap_reads),
      use_mmap_writes(options.allow_mmap_writes),
      use_direct_reads(options.use_direct_reads),
      use_direct_writes(options.use_direct_io_for_flush_and_compaction),
      bytes_per_sync(options.bytes_per_sync),
      compaction_readahead_size(options.compaction_readahead_size),
      rate_limiter(options.rate_limiter.get()) {}

// ---- Env

Env::Env() : Env(std::make_shared<EnvFileSystem>(this)) {}

Env::Env(const std::shared_ptr<FileSystem>& file_system)
    : Env(file_system, std::make_shared<ClockOfEnv>(this)) {}

Env::Env(const std::shared_ptr<FileSystem>& file_system, const std::shared_ptr<SystemClock>& clock)
    : file_system_(file_system),
      engine_files_(vfs::ToEngineFiles(file_system)),
      system_clock_(clock),
      clock_(std::make_shared<EngineClock>(clock)) {}

Env::~Env() = default;

Executor* Env::executor() { return Default()->executor(); }
Clock* Env::clock() { return clock_.get(); }

Status Env::RegisterDbPaths(const std::vector<std::string>&) { return Status::OK(); }
Status Env::UnregisterDbPaths(const std::vector<std::string>&) { return Status::OK(); }

Status Env::ReopenWritableFile(const std::string& path, std::unique_ptr<WritableFile>*,
                               const EnvOptions&) {
  return Status::NotSupported("this Env has no ReopenWritableFile", path);
}

Status Env::ReuseWritableFile(const std::string& path, const std::string& old_path,
                              std::unique_ptr<WritableFile>* result, const EnvOptions& options) {
  ASHLAR_RETURN_IF_ERROR(RenameFile(old_path, path));
  return NewWritableFile(path, result, options);
}

Status Env::NewRandomRWFile(const std::string& path, std::unique_ptr<RandomRWFile>*,
                            const EnvOptions&) {
  return Status::NotSupported("this Env has no NewRandomRWFile", path);
}

Status Env::NewMemoryMappedFileBuffer(const std::string& path,
                                      std::unique_ptr<MemoryMappedFileBuffer>*) {
  return Status::NotSupported("this Env has no NewMemoryMappedFileBuffer", path);
}

Status Env::GetChildrenFileAttributes(const std::string& dir,
                                      std::vector<FileAttributes>* attributes) {
  attributes->clear();
  std::vector<std::string> names;
  ASHLAR_RETURN_IF_ERROR(GetChildren(dir, &names));
  for (std::string& name : names) {
    const std::string path = StrCat(dir, "/", name);
    uint64_t bytes = 0;
    Status sized = GetFileSize(path, &bytes);
    if (sized.ok()) {
      attributes->push_back({.name = std::move(name), .size_bytes = bytes});
    } else if (!FileExists(path).IsNotFound()) {
      return sized;
    }
  }
  return Status::OK();
}

Status Env::Truncate(const std::string& path, size_t) {
  return Status::NotSupported("this Env has no Truncate", path);
}

Status Env::LinkFile(const std::string& from, const std::string& to) {
  return Status::NotSupported("this Env has no LinkFile", StrCat(from, " to ", to));
}

Status Env::NumFileLinks(const std::string& path, uint64_t*) {
  return Status::NotSupported("this Env has no NumFileLinks", path);
}

Status Env::AreFilesSame(const std::string& first, const std::string& second, bool*) {
  return Status::NotSupported("this Env has no AreFilesSame", StrCat(first, " and ", second));
}

Status Env::SyncFile(const std::string& path, const EnvOptions& options, bool use_fsync) {
  std::unique_ptr<WritableFile> file;
  ASHLAR_RETURN_IF_ERROR(ReopenWritableFile(path, &file, options));
  Status synced = use_fsync ? file->Fsync() : file->Sync();
  Status closed = file->Close();
  return synced.ok() ? closed : synced;
}

Status Env::GetFreeSpace(const std::string& path, uint64_t*) {
  return Status::NotSupported("this Env has no GetFreeSpace", path);
}

Status Env::IsDirectory(const std::string& path, bool*) {
  return Status::NotSupported("this Env has no IsDirectory", path);
}

Status Env::NewLogger(const std::string& path, std::shared_ptr<Logger>* result) {
  return NewEnvLogger(path, this, result);
}

EnvOptions Env::OptimizeForLogRead(const EnvOptions& options) const {
  EnvOptions result = options;
  result.use_direct_reads = false;
  return result;
}

EnvOptions Env::OptimizeForManifestRead(const EnvOptions& options) const {
  return OptimizeForLogRead(options);
}

EnvOptions Env::OptimizeForLogWrite(const EnvOptions& options, const DBOptions& db_options) const {
  EnvOptions result = options;
  result.bytes_per_sync = db_options.wal_bytes_per_sync;
  return result;
}

EnvOptions Env::OptimizeForManifestWrite(const EnvOptions& options) const { return options; }

EnvOptions Env::OptimizeForCompactionTableWrite(const EnvOptions& options,
                                                const ImmutableDBOptions&) const {
  return options;
}

EnvOptions Env::OptimizeForCompactionTableRead(const EnvOptions& options,
                                               const ImmutableDBOptions&) const {
  return options;
}

EnvOptions Env::OptimizeForBlobFileRead(const EnvOptions& options,
                                        const ImmutableDBOptions&) const {
  return options;
}

void Env::SanitizeEnvOptions(EnvOptions*) const {}

int Env::UnSchedule(void*, Priority) { return 0; }
void Env::WaitForJoin() {}
int Env::ReserveThreads(int, Priority) { return 0; }
int Env::ReleaseThreads(int, Priority) { return 0; }
unsigned int Env::GetThreadPoolQueueLen(Priority) const { return 0; }
Status Env::SetAllowNonOwnerAccess(bool) { return Status::OK(); }
void Env::LowerThreadPoolIOPriority(Priority) {}
Status Env::LowerThreadPoolCPUPriority(Priority, CpuPriority) { return Status::OK(); }
void Env::LowerThreadPoolCPUPriority(Priority) {}

Status Env::GetThreadList(std::vector<ThreadStatus>* thread_list) {
  const Executor* const threads = executor();  // I2 of ashlar/env.h
  threads->operations().List(threads->Threads(), thread_list);
  return Status::OK();
}

uint64_t Env::GetThreadID() const { return CurrentThreadSystemId(); }

std::string Env::PriorityToString(Priority priority) {
  switch (priority) {
    case BOTTOM: return "Bottom";
    case LOW: return "Low";
    case HIGH: return "High";
    case USER: return "User";
    case TOTAL: break;
  }
  return "Invalid";
}

std::string Env::IOActivityToString(IOActivity activity) {
  switch (activity) {
    case IOActivity::kFlush: return "Flush";
    case IOActivity::kCompaction: return "Compaction";
    case IOActivity::kDBOpen: return "DBOpen";
    case IOActivity::kGet: return "Get";
    case IOActivity::kMultiGet: return "MultiGet";
    case IOActivity::kDBIterator: return "DBIterator";
    case IOActivity::kVerifyDBChecksum: return "VerifyDBChecksum";
    case IOActivity::kVerifyFileChecksums: return "VerifyFileChecksums";
    case IOActivity::kGetEntity: return "GetEntity";
    case IOActivity::kMultiGetEntity: return "MultiGetEntity";
    case IOActivity::kGetFileChecksumsFromCurrentManifest:
      return "GetFileChecksumsFromCurrentManifest";
    case IOActivity::kUnknown: break;
  }
  return "Unknown";
}

uint64_t Env::NowNanos() { return NowMicros() * 1000; }
uint64_t Env::NowCPUNanos() { return 0; }

Status Env::GetHostNameString(std::string* name) {
  std::array<char, 256> text = {};
  ASHLAR_RETURN_IF_ERROR(GetHostName(text.data(), text.size()));
  text.back() = '\0';
  *name = text.data();
  return Status::OK();
}

std::string Env::GenerateUniqueId() { return RandomUuid(); }

// ---- Files

SequentialFile::~SequentialFile() = default;

Status SequentialFile::InvalidateCache(size_t, size_t) {
  return Status::NotSupported("this SequentialFile has no InvalidateCache");
}

Status SequentialFile::PositionedRead(uint64_t, size_t, Slice*, char*) {
  return Status::NotSupported("this SequentialFile has no PositionedRead");
}

RandomAccessFile::~RandomAccessFile() = default;

Status RandomAccessFile::Prefetch(uint64_t, size_t) { return Status::OK(); }

Status RandomAccessFile::MultiRead(ReadRequest* requests, size_t count) {
  for (ReadRequest* request = requests; request != requests + count; ++request)
    request->status = Read(request->offset, request->len, &request->result, request->scratch);
  return Status::OK();
}

size_t RandomAccessFile::GetUniqueId(char*, size_t) const { return 0; }
void RandomAccessFile::Hint(AccessPattern) {}

Status RandomAccessFile::InvalidateCache(size_t, size_t) {
  return Status::NotSupported("this RandomAccessFile has no InvalidateCache");
}

Status RandomAccessFile::GetFileSize(uint64_t*) {
  return Status::NotSupported("this RandomAccessFile has no GetFileSize");
}

WritableFile::~WritableFile() = default;

Status WritableFile::Append(const Slice& data, const DataVerificationInfo&) { return Append(data); }

Status WritableFile::PositionedAppend(const Slice&, uint64_t) {
  return Status::NotSupported("this WritableFile has no PositionedAppend");
}

Status WritableFile::PositionedAppend(const Slice& data, uint64_t offset,
                                      const DataVerificationInfo&) {
  return PositionedAppend(data, offset);
}

Status WritableFile::Truncate(uint64_t) { return Status::OK(); }
Status WritableFile::Fsync() { return Sync(); }

void WritableFile::GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) {
  *block_size = preallocation_block_size_;
  *last_allocated_block = last_preallocated_block_;
}

size_t WritableFile::GetUniqueId(char*, size_t) const { return 0; }

Status WritableFile::InvalidateCache(size_t, size_t) {
  return Status::NotSupported("this WritableFile has no InvalidateCache");
}

Status WritableFile::RangeSync(uint64_t, uint64_t) {
  return strict_bytes_per_sync_ ? Sync() : Status::OK();
}

void WritableFile::PrepareWrite(size_t offset, size_t bytes) {
  const size_t block = preallocation_block_size_;
  if (block == 0) return;
  const size_t first = last_preallocated_block_;
  const size_t end = (offset + bytes + block - 1) / block;
  if (end <= first) return;
  // If the space cannot be reserved, the write itself reports that.
  Allocate(uint64_t{block} * first, uint64_t{block} * (end - first)).PermitUncheckedError();
  last_preallocated_block_ = end;
}

Status WritableFile::Allocate(uint64_t, uint64_t) { return Status::OK(); }

RandomRWFile::~RandomRWFile() = default;
MemoryMappedFileBuffer::~MemoryMappedFileBuffer() = default;
Directory::~Directory() = default;
Status Directory::Close() { return Status::NotSupported("this Directory has no Close"); }
size_t Directory::GetUniqueId(char*, size_t) const { return 0; }
FileLock::~FileLock() = default;

// ---- Whole files, and other Envs

Status WriteStringToFile(Env* env, const Slice& data, const std::string& path, bool should_sync,
                         const IOOptions* io_options) {
  return WriteStringToFile(env->GetFileSystem().get(), data, path, should_sync,
                           io_options == nullptr ? IOOptions() : *io_options);
}

Status ReadFileToString(Env* env, const std::string& path, std::string* data) {
  return ReadFileToString(env->GetFileSystem().get(), path, data);
}

Status NewEnvLogger(const std::string& path, Env* env, std::shared_ptr<Logger>* result) {
  ASHLAR_ASSIGN_OR_RETURN(
      *result, FileLogger::Open({.file_system = env->EngineFiles(),
                                 .directory = ParentDirectory(path),
                                 .name = std::string(BaseName(path)),
                                 .now_unix_micros = [env] { return env->NowMicros(); }}));
  return Status::OK();
}

Env* NewMemEnv(Env* base_env) {
  const std::shared_ptr<vfs::FileSystem> files = std::make_shared<MemoryFileSystem>();
  return new CompositeEnv(files, base_env);
}

std::unique_ptr<Env> NewCompositeEnv(const std::shared_ptr<FileSystem>& file_system,
                                     Env* base_env) {
  return std::make_unique<CompositeEnv>(file_system, base_env);
}

std::unique_ptr<Env> NewCompositeEnv(const std::shared_ptr<vfs::FileSystem>& file_system,
                                     Env* base_env) {
  return std::make_unique<CompositeEnv>(file_system, base_env);
}

std::unique_ptr<Env> NewCompositeEnv(const std::shared_ptr<FileSystem>& file_system,
                                     const std::shared_ptr<SystemClock>& clock, Env* base_env) {
  return std::make_unique<CompositeEnv>(file_system, clock, base_env);
}

EnvWrapper::EnvWrapper(Env* target) : target_(target == nullptr ? Env::Default() : target) {}

EnvWrapper::EnvWrapper(std::unique_ptr<Env>&& target)
    : EnvWrapper(std::shared_ptr<Env>(std::move(target))) {}

EnvWrapper::EnvWrapper(const std::shared_ptr<Env>& target)
    : owned_(target), target_(target == nullptr ? Env::Default() : target.get()) {}

EnvWrapper::~EnvWrapper() = default;

Executor* EnvWrapper::executor() { return target_->executor(); }

}  // namespace ashlar

// StallingFileSystem: a file system in which the reads of one thread wait until the test releases
// them. Writes, and reads by other threads, do not stall.
//
//   StallGate gate;                          StallingFileSystem fs(base, &gate);
//   StalledCall call(&gate, [&] { ... });    returns when a read of the call waits
//   ...                                      what happens meanwhile
//   call.Finish();                           releases the call and returns when it has ended
//
// Code of the program that a read calls can wait at the same StallGate with StallGate::Pass.
//
// Thread safety: any thread. Lifetime: the gate must outlive the file system and its files, and the
// file system must outlive its files.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/vfs.h"
#include "base/assert.h"
#include "platform/mutex.h"
#include "platform/thread.h"

namespace ashlar {

class StallGate {
 public:
  // Waits if the calling thread is the one to stall.
  void Pass() {
    if (stalling_ != this) return;
    MutexLock lock(mutex_);
    waiting_ = true;
    changed_.SignalAll();
    while (!open_) changed_.Wait(mutex_);
  }

 private:
  friend class StalledCall;
  void Close() {
    MutexLock lock(mutex_);
    waiting_ = false;
    ended_ = false;
    open_ = false;
  }
  void Open() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.SignalAll();
  }
  void End() {
    MutexLock lock(mutex_);
    ended_ = true;
    changed_.SignalAll();
  }
  // Returns false if the call ended without reaching the gate.
  bool AwaitStall() {
    MutexLock lock(mutex_);
    while (!waiting_ && !ended_) changed_.Wait(mutex_);
    return waiting_;
  }

  static inline thread_local const StallGate* stalling_ = nullptr;

  Mutex mutex_;
  CondVar changed_;
  bool waiting_ ASHLAR_GUARDED_BY(mutex_) = false;
  bool ended_ ASHLAR_GUARDED_BY(mutex_) = false;
  bool open_ ASHLAR_GUARDED_BY(mutex_) = true;
};

// A call on its own thread, which stalls at the gate.
class StalledCall {
 public:
  StalledCall(StallGate* gate, std::function<void()> call) : gate_(gate) {
    gate_->Close();
    Result<Thread> thread = Thread::Start({.name = "stalled"}, [gate, call = std::move(call)] {
      StallGate::stalling_ = gate;
      call();
      gate->End();
    });
    ASHLAR_ASSERT(thread.ok());
    thread_ = std::move(thread).value();
    stalled_ = gate_->AwaitStall();
  }
  ~StalledCall() { Finish(); }
  StalledCall(const StalledCall&) = delete;
  StalledCall& operator=(const StalledCall&) = delete;

  // Returns false if the call ended without reaching the gate.
  bool stalled() const { return stalled_; }
  void Finish() {
    gate_->Open();
    if (running_) thread_.Join();
    running_ = false;
  }

 private:
  StallGate* const gate_;
  Thread thread_;
  bool stalled_ = false;
  bool running_ = true;
};

class StallingFileSystem final : public vfs::FileSystem {
 public:
  StallingFileSystem(std::shared_ptr<vfs::FileSystem> base, StallGate* gate)
      : base_(std::move(base)), gate_(gate) {}

  const char* Name() const override { return "StallingFileSystem"; }
  Status NewSequentialFile(const std::string& path, const vfs::FileOptions& options,
                           std::unique_ptr<vfs::SequentialFile>* result) override {
    return base_->NewSequentialFile(path, options, result);
  }
  Status NewRandomAccessFile(const std::string& path, const vfs::FileOptions& options,
                             std::unique_ptr<vfs::RandomAccessFile>* result) override {
    gate_->Pass();
    std::unique_ptr<vfs::RandomAccessFile> file;
    Status status = base_->NewRandomAccessFile(path, options, &file);
    if (status.ok()) *result = std::make_unique<StallingFile>(std::move(file), gate_);
    return status;
  }
  Status NewWritableFile(const std::string& path, const vfs::FileOptions& options,
                         std::unique_ptr<vfs::WritableFile>* result) override {
    return base_->NewWritableFile(path, options, result);
  }
  Status ReopenWritableFile(const std::string& path, const vfs::FileOptions& options,
                            std::unique_ptr<vfs::WritableFile>* result) override {
    return base_->ReopenWritableFile(path, options, result);
  }
  Status ReuseWritableFile(const std::string& from, const std::string& to,
                           const vfs::FileOptions& options,
                           std::unique_ptr<vfs::WritableFile>* result) override {
    return base_->ReuseWritableFile(from, to, options, result);
  }
  Status NewDirectory(const std::string& path, std::unique_ptr<vfs::Directory>* result) override {
    return base_->NewDirectory(path, result);
  }
  Status FileExists(const std::string& path) override { return base_->FileExists(path); }
  Status GetChildren(const std::string& path, std::vector<std::string>* names) override {
    return base_->GetChildren(path, names);
  }
  Status DeleteFile(const std::string& path) override { return base_->DeleteFile(path); }
  Status CreateDir(const std::string& path) override { return base_->CreateDir(path); }
  Status CreateDirIfMissing(const std::string& path) override {
    return base_->CreateDirIfMissing(path);
  }
  Status DeleteDir(const std::string& path) override { return base_->DeleteDir(path); }
  Status GetFileSize(const std::string& path, uint64_t* bytes) override {
    return base_->GetFileSize(path, bytes);
  }
  Status GetFileModificationTime(const std::string& path, uint64_t* unix_seconds) override {
    return base_->GetFileModificationTime(path, unix_seconds);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    return base_->RenameFile(from, to);
  }
  Status NumFileLinks(const std::string& path, uint64_t* count) override {
    return base_->NumFileLinks(path, count);
  }
  Status LinkFile(const std::string& from, const std::string& to) override {
    return base_->LinkFile(from, to);
  }
  Status Truncate(const std::string& path, uint64_t bytes) override {
    return base_->Truncate(path, bytes);
  }
  Status LockFile(const std::string& path, std::unique_ptr<vfs::FileLock>* lock) override {
    return base_->LockFile(path, lock);
  }
  Status GetFreeSpace(const std::string& path, uint64_t* bytes) override {
    return base_->GetFreeSpace(path, bytes);
  }

 private:
  class StallingFile final : public vfs::RandomAccessFile {
   public:
    StallingFile(std::unique_ptr<vfs::RandomAccessFile> base, StallGate* gate)
        : base_(std::move(base)), gate_(gate) {}

    Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
      gate_->Pass();
      return base_->Read(offset, n, result, scratch);
    }
    Status Map(Slice* contents) const override { return base_->Map(contents); }
    Status Size(uint64_t* bytes) const override { return base_->Size(bytes); }
    void Hint(vfs::AccessPattern pattern, uint64_t offset, uint64_t bytes) const override {
      base_->Hint(pattern, offset, bytes);
    }

   private:
    const std::unique_ptr<vfs::RandomAccessFile> base_;
    StallGate* const gate_;
  };

  const std::shared_ptr<vfs::FileSystem> base_;
  StallGate* const gate_;
};

}  // namespace ashlar

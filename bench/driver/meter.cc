#include "bench/driver/meter.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "bench/driver/fail.h"

namespace ashlar::bench {

namespace {

double SecondsOf(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) Fail("clock_gettime");
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Returns the number after "name:" in a file of the kernel.
uint64_t KernelNumber(const char* path, const std::string& name) {
  std::ifstream in(path);
  std::string word;
  while (in >> word) {
    uint64_t number = 0;
    if (word == name + ":" && in >> number) return number;
  }
  Fail(std::string(path) + " has no " + name);
}

}  // namespace

Usage ReadUsage() {
  constexpr const char* kIo = "/proc/self/io";
  return {.wall_s = SecondsOf(CLOCK_MONOTONIC),
          .cpu_s = SecondsOf(CLOCK_PROCESS_CPUTIME_ID),
          .written_bytes = KernelNumber(kIo, "wchar"),
          .storage_bytes = KernelNumber(kIo, "write_bytes"),
          .read_bytes = KernelNumber(kIo, "rchar")};
}

Usage Difference(const Usage& later, const Usage& earlier) {
  return {.wall_s = later.wall_s - earlier.wall_s,
          .cpu_s = later.cpu_s - earlier.cpu_s,
          .written_bytes = later.written_bytes - earlier.written_bytes,
          .storage_bytes = later.storage_bytes - earlier.storage_bytes,
          .read_bytes = later.read_bytes - earlier.read_bytes};
}

Usage Sum(const Usage& a, const Usage& b) {
  return {.wall_s = a.wall_s + b.wall_s,
          .cpu_s = a.cpu_s + b.cpu_s,
          .written_bytes = a.written_bytes + b.written_bytes,
          .storage_bytes = a.storage_bytes + b.storage_bytes,
          .read_bytes = a.read_bytes + b.read_bytes};
}

void ResetPeakMemory() {
  std::ofstream out("/proc/self/clear_refs");
  out << 5 << std::flush;
  if (!out) Fail("cannot reset the peak of the resident set");
}

uint64_t PeakMemoryBytes() { return KernelNumber("/proc/self/status", "VmHWM") * 1024; }

namespace {

uint64_t BytesOfFiles(const std::string& folder, std::string_view ending) {
  namespace fs = std::filesystem;
  uint64_t bytes = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, error)) {
    // Files may be deleted meanwhile.
    std::error_code gone;
    if (!entry.path().native().ends_with(ending) || !entry.is_regular_file(gone)) continue;
    const uintmax_t file_bytes = entry.file_size(gone);
    if (!gone) bytes += file_bytes;
  }
  return bytes;
}

}  // namespace

uint64_t FolderBytes(const std::string& folder) { return BytesOfFiles(folder, ""); }

uint64_t TableBytes(const std::string& folder) { return BytesOfFiles(folder, ".sst"); }

void ForgetFiles(const std::string& folder) {
  for (const std::filesystem::directory_entry& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const int file = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    // Pages that are not written yet would stay cached, so fsync writes them.
    if (file < 0 || ::fsync(file) != 0 || ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0)
      Fail("cannot drop the cached pages of " + entry.path().string());
    ::close(file);
  }
}

Sampler::Sampler(Engine* engine, const std::vector<Progress>* progress, uint64_t period_ms)
    : engine_(engine), progress_(progress), start_s_(SecondsOf(CLOCK_MONOTONIC)) {
  if (period_ms > 0) thread_ = std::thread([this, period_ms] { Run(period_ms); });
}

std::vector<Sampler::Sample> Sampler::Stop() {
  if (!thread_.joinable()) return {};
  stop_.store(true, std::memory_order_release);
  thread_.join();
  Take();
  return std::exchange(samples_, {});
}

void Sampler::Run(uint64_t period_ms) {
  // Short sleeps, so that stopping does not add to the measured time.
  constexpr std::chrono::milliseconds kNap(2);
  auto next = std::chrono::steady_clock::now();
  while (!stop_.load(std::memory_order_acquire)) {
    if (std::chrono::steady_clock::now() >= next) {
      Take();
      next += std::chrono::milliseconds(period_ms);
    }
    std::this_thread::sleep_for(kNap);
  }
}

void Sampler::Take() {
  Sample sample{.at_s = SecondsOf(CLOCK_MONOTONIC) - start_s_,
                .operations = 0,
                .flushes = 0,
                .compactions = 0};
  for (const Progress& progress : *progress_)
    sample.operations += progress.operations.load(std::memory_order_relaxed);
  if (const auto running = engine_->RunningNow(); running.has_value()) {
    sample.flushes = running->flushes;
    sample.compactions = running->compactions;
  }
  samples_.push_back(sample);
}

}  // namespace ashlar::bench

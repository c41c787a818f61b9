#include "tools/db_bench/machine.h"

#include <fmt/chrono.h>

#include <charconv>
#include <cstdio>
#include <ctime>
#include <sstream>
#include <string_view>
#include <thread>

#include "platform/program.h"

namespace ashlar::bench {
namespace {

// Returns the contents of a file, or empty if there is no such file.
std::string ReadAll(const char* file_name) {
  const UniqueStream file = OpenStream(file_name, StreamMode::kRead);
  std::string text;
  if (file == nullptr) return text;
  char buffer[4096];
  while (const size_t got = fread(buffer, 1, sizeof(buffer), file.get())) text.append(buffer, got);
  return text;
}

// Returns the text after the colon of the first line that begins with `name`, or empty.
std::string FieldOf(const char* file_name, std::string_view name) {
  std::istringstream lines(ReadAll(file_name));
  std::string line;
  while (std::getline(lines, line)) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(name)) continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

}  // namespace

Machine ThisMachine() {
  Machine machine;
  machine.cpu = FieldOf("/proc/cpuinfo", "model name");
  machine.cpu_cache = FieldOf("/proc/cpuinfo", "cache size");
  machine.cpus = std::thread::hardware_concurrency();
  const std::string memory = FieldOf("/proc/meminfo", "MemTotal");
  uint64_t kibibytes = 0;
  (void)std::from_chars(memory.data(), memory.data() + memory.size(), kibibytes);
  machine.memory_bytes = kibibytes * 1024;
  return machine;
}

std::string TimeNow() {
  return fmt::format("{:%Y/%m/%d-%H:%M:%S}", fmt::localtime(std::time(nullptr)));
}

}  // namespace ashlar::bench

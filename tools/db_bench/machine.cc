#include "tools/db_bench/machine.h"

#include <fmt/chrono.h>

#include <charconv>
#include <ctime>
#include <fstream>
#include <string_view>
#include <thread>

namespace ashlar::bench {
namespace {

// The text after the colon of the first line that begins with `name`; empty if there is none.
std::string FieldOf(const char* file_name, std::string_view name) {
  std::ifstream file(file_name);
  std::string line;
  while (std::getline(file, line)) {
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

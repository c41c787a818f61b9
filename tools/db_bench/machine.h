// Machine: the processor and memory with which a result was measured. Values that the system does
// not report stay empty or 0.
#pragma once

#include <cstdint>
#include <string>

namespace ashlar::bench {

struct Machine {
  std::string cpu;        // "Intel(R) Xeon(R) Processor"
  std::string cpu_cache;  // "266240 KB"
  unsigned cpus = 0;
  uint64_t memory_bytes = 0;
};

Machine ThisMachine();

// "2026/11/21-18:12:08", local time.
std::string TimeNow();

}  // namespace ashlar::bench

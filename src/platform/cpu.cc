#include "platform/cpu.h"

#include <algorithm>
#include <thread>

namespace ashlar {

uint32_t HardwareThreads() {
  static const uint32_t threads = std::max(1u, std::thread::hardware_concurrency());
  return threads;
}

}  // namespace ashlar

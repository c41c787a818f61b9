// The program of ./dev fuzz: libFuzzer on one target.
//
//   ashlar_fuzz --target=NAME [libFuzzer's options] CORPUS
//   ashlar_fuzz --list                       names the targets
//   ashlar_fuzz --target=NAME --seeds=DIR    writes the target's seeds into a folder and ends
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/fuzz/target.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t size_max);

namespace {

using ashlar::fuzz::Target;

const Target* target = nullptr;

// Seven of eight inputs are repaired. The others keep the checksums that the mutation left.
constexpr unsigned kUnrepairedOneIn = 8;

std::string_view OptionValue(std::string_view argument, std::string_view option) {
  return argument.starts_with(option) ? argument.substr(option.size()) : std::string_view();
}

void WriteSeeds(const std::string& folder) {
  int i = 0;
  for (const std::string& seed : target->seeds()) {
    std::ofstream file(folder + "/seed" + std::to_string(i++), std::ios::binary);
    file.write(seed.data(), static_cast<std::streamsize>(seed.size()));
  }
}

// Mutates a window, so that the bytes after it keep their positions.
size_t MutateWindow(uint8_t* data, size_t size, unsigned seed) {
  const size_t at = seed % size;
  const size_t window = std::min<size_t>(size - at, 64);
  std::string bytes(reinterpret_cast<const char*>(data) + at, window);
  LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(bytes.data()), window, window);
  memcpy(data + at, bytes.data(), window);
  return size;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::string seeds;
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (argument == "--list") {
      for (const Target& each : ashlar::fuzz::Targets()) puts(each.name);
      exit(0);
    }
    if (const std::string_view name = OptionValue(argument, "--target="); !name.empty()) {
      for (const Target& each : ashlar::fuzz::Targets()) {
        if (name == each.name) target = &each;
      }
    }
    if (const std::string_view folder = OptionValue(argument, "--seeds="); !folder.empty())
      seeds = folder;
  }
  if (target == nullptr) {
    fprintf(stderr, "ashlar_fuzz: --target=NAME is missing, or no such target; see --list\n");
    exit(2);
  }
  if (!seeds.empty()) {
    WriteSeeds(seeds);
    exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > target->input_bytes_max) return -1;
  static_cast<void>(target->run(std::string(reinterpret_cast<const char*>(data), size)));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max,
                                          unsigned seed) {
  size_max = std::min(size_max, target->input_bytes_max);
  if (size == 0 || seed % 4 == 0) {
    size = LLVMFuzzerMutate(data, size, size_max);
  } else if (seed % 4 == 1) {
    std::string input(reinterpret_cast<const char*>(data), size);
    ashlar::fuzz::Mutate(&input, seed, size_max);
    memcpy(data, input.data(), input.size());
    size = input.size();
  } else {
    size = MutateWindow(data, size, seed / 4);
  }
  if (target->repair == nullptr || seed / 16 % kUnrepairedOneIn == 0) return size;
  std::string input(reinterpret_cast<const char*>(data), size);
  target->repair(&input);
  if (input.size() > size_max) return size;
  memcpy(data, input.data(), input.size());
  return input.size();
}

// Target: a decoder under attack. It has a function that takes any bytes, and the inputs to start
// from. libfuzzer/main.cc runs one target under libFuzzer (./dev fuzz). fuzz_test.cc runs each with
// its seeds, some mutations of them, and the files in corpus/ and regressions/.
//
//   seed ──Mutate──> bytes ──repair──> bytes ──run──> false: refused; true: decoded consistently
//                                                     EXPECT_RIGHT: a wrong answer
//
// A repair function recomputes checksums, so that a mutation reaches the code after their check.
// Apart from wrong answers, `run` must not crash, hang, leak, or allocate far more than the input.
//
// Thread safety: one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ashlar::fuzz {

struct Target {
  const char* name;
  // Returns whether the input was accepted: decoded to its end, or opened or taken by the database,
  // reader, tree or engine that receives it. If several of them receive the input, or if it is
  // decoded in several ways, each must accept it.
  bool (*run)(const std::string& input);
  // Returns well-formed inputs from the writers of the format, and then refused_seeds inputs that
  // are refused. Every call returns the same ones.
  std::vector<std::string> (*seeds)();
  // Recomputes the checksums of an input. Null if it has none.
  void (*repair)(std::string* input);
  size_t input_bytes_max;
  size_t refused_seeds = 0;
};

std::span<const Target> Targets();

// Reports a wrong answer, which ends the process under libFuzzer and fails the test in fuzz_test.
using WrongAnswerHandler = void (*)(const char* file, int line, const std::string& what);
void SetWrongAnswerHandler(WrongAnswerHandler handler);
void ReportWrongAnswer(const char* file, int line, const std::string& what);

// Changes a few bytes as a function of the seed. Keeps the size three times out of four, so that
// offsets in the input still lead somewhere.
void Mutate(std::string* input, uint64_t seed, size_t bytes_max);

// Takes values from the front of an input, and returns zeros when it is used up.
class Choices {
 public:
  explicit Choices(const std::string& input) : rest_(input.data()), end_(rest_ + input.size()) {}

  uint8_t Byte() { return rest_ == end_ ? uint8_t{0} : static_cast<uint8_t>(*rest_++); }
  uint32_t Word() {
    uint32_t word = 0;
    for (int i = 0; i < 4; ++i) word = word << 8 | Byte();
    return word;
  }
  std::string Bytes(size_t n) {
    const size_t taken = std::min(n, static_cast<size_t>(end_ - rest_));
    std::string bytes(rest_, taken);
    rest_ += taken;
    return bytes;
  }
  std::string Rest() { return Bytes(static_cast<size_t>(end_ - rest_)); }
  bool empty() const { return rest_ == end_; }

 private:
  const char* rest_;
  const char* const end_;
};

}  // namespace ashlar::fuzz

#define EXPECT_RIGHT(condition, what)                                              \
  do {                                                                             \
    if (!(condition)) ::ashlar::fuzz::ReportWrongAnswer(__FILE__, __LINE__, what); \
  } while (false)

// LineReader: the lines of a file or of standard input, in memory that does not grow with the
// input.
//
// A line ends with '\n' or with the file. A line longer than the limit is reported as such and
// skipped. At most `line_bytes_max` bytes of it are ever held. Lines are counted from 1.
// Lifetime: a line is valid until the next call of Next. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/ashlar/outcome.h"

namespace ashlar::cli {

class LineReader {
 public:
  enum class Result { kLine, kTooLong, kEnd, kError };

  // "-" is standard input.
  static Outcome Open(const std::string& name, size_t line_bytes_max,
                      std::unique_ptr<LineReader>* reader);

  LineReader(FILE* file, std::string name, size_t line_bytes_max);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Sets *line without its '\n'.
  Result Next(std::string_view* line);
  // The next call of Next returns the result of the last one again.
  void Unread() { unread_ = true; }

  // These describe the last result of Next.
  uint64_t line_number() const { return line_number_; }
  uint64_t bytes_read() const { return bytes_read_; }
  const std::string& name() const { return name_; }
  size_t line_bytes_max() const { return line_bytes_max_; }
  // The size of the file, if it is known.
  std::optional<uint64_t> bytes_total() const { return bytes_total_; }
  // The error after Next returned kError.
  Outcome Error() const;

 private:
  // Returns false at the end of the file or on an error.
  bool Fill();
  Result ReadLine();

  FILE* const file_;
  const std::string name_;
  const size_t line_bytes_max_;
  std::optional<uint64_t> bytes_total_;

  std::vector<char> buffer_;
  size_t begin_ = 0;  // of the unread part of the buffer
  size_t end_ = 0;
  std::string long_line_;  // a line that spans several buffers
  std::string_view line_;
  Result result_ = Result::kEnd;
  bool unread_ = false;
  int error_number_ = 0;
  uint64_t line_number_ = 0;
  uint64_t bytes_read_ = 0;
};

}  // namespace ashlar::cli

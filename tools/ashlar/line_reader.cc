#include "tools/ashlar/line_reader.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include "platform/file.h"
#include "platform/program.h"

namespace ashlar::cli {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

std::string ErrorText(int error_number) { return std::generic_category().message(error_number); }

}  // namespace

Outcome LineReader::Open(const std::string& name, size_t line_bytes_max,
                         std::unique_ptr<LineReader>* reader) {
  FILE* file = name == "-" ? stdin : OpenStream(name, StreamMode::kRead).release();
  if (file == nullptr) {
    return {.code = ExitCode::kIo,
            .what = "cannot read " + name + ": " + ErrorText(errno),
            .advice = "check the name and its permissions; - means standard input"};
  }
  *reader =
      std::make_unique<LineReader>(file, name == "-" ? "standard input" : name, line_bytes_max);
  return {};
}

LineReader::LineReader(FILE* file, std::string name, size_t line_bytes_max)
    : file_(file), name_(std::move(name)), line_bytes_max_(line_bytes_max), buffer_(kBufferBytes) {
  if (file_ == stdin) return;
  // 0 means a pipe or a terminal, whose number of bytes is not known in advance.
  const ashlar::Result<FileInfo> info = GetFileInfo(name_);
  if (info.ok() && info->bytes > 0) bytes_total_ = info->bytes;
}

LineReader::~LineReader() {
  if (file_ != stdin) (void)fclose(file_);
}

LineReader::Result LineReader::Next(std::string_view* line) {
  if (unread_) {
    unread_ = false;
  } else {
    result_ = ReadLine();
  }
  *line = line_;
  return result_;
}

LineReader::Result LineReader::ReadLine() {
  line_ = {};
  if (result_ == Result::kError) return result_;
  long_line_.clear();
  bool too_long = false;
  bool empty = true;
  while (begin_ < end_ || Fill()) {
    if (empty) ++line_number_;
    empty = false;
    const char* const start = buffer_.data() + begin_;
    const auto* const newline = static_cast<const char*>(memchr(start, '\n', end_ - begin_));
    const size_t length = newline == nullptr ? end_ - begin_ : static_cast<size_t>(newline - start);
    begin_ += length + (newline == nullptr ? 0 : 1);
    bytes_read_ += length + (newline == nullptr ? 0 : 1);
    too_long = too_long || length > line_bytes_max_ - long_line_.size();
    if (newline != nullptr && long_line_.empty() && !too_long) {
      line_ = {start, length};
      return Result::kLine;
    }
    if (!too_long) long_line_.append(start, length);
    if (newline != nullptr) break;
  }
  if (error_number_ != 0) return Result::kError;
  if (empty) return Result::kEnd;
  if (too_long) return Result::kTooLong;
  line_ = long_line_;
  return Result::kLine;
}

bool LineReader::Fill() {
  begin_ = 0;
  end_ = fread(buffer_.data(), 1, buffer_.size(), file_);
  if (end_ == 0 && ferror(file_) != 0) error_number_ = errno == 0 ? EIO : errno;
  return end_ > 0;
}

Outcome LineReader::Error() const {
  return {.code = ExitCode::kIo,
          .what = name_ + ": reading failed after " + std::to_string(bytes_read_) +
                  " bytes: " + ErrorText(error_number_),
          .advice = {}};
}

}  // namespace ashlar::cli

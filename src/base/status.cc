#include "ashlar/status.h"

#include <cstring>
#include <new>
#include <string_view>

#include "base/assert.h"

namespace ashlar {
namespace {

constexpr std::string_view kSeparator = ": ";

std::string_view CodeName(Status::Code code) {
  switch (code) {
    case Status::kOk: return "OK";
    case Status::kNotFound: return "NotFound";
    case Status::kCorruption: return "Corruption";
    case Status::kNotSupported: return "Not implemented";
    case Status::kInvalidArgument: return "Invalid argument";
    case Status::kIOError: return "IO error";
    case Status::kMergeInProgress: return "Merge in progress";
    case Status::kIncomplete: return "Result incomplete";
    case Status::kShutdownInProgress: return "Shutdown in progress";
    case Status::kTimedOut: return "Operation timed out";
    case Status::kAborted: return "Operation aborted";
    case Status::kBusy: return "Resource busy";
    case Status::kExpired: return "Operation expired";
    case Status::kTryAgain: return "Operation failed. Try again.";
    case Status::kCompactionTooLarge: return "Compaction too large";
    case Status::kColumnFamilyDropped: return "Column family dropped";
  }
  return "Unknown code";
}

std::string_view SubCodeText(Status::SubCode subcode) {
  switch (subcode) {
    case Status::kNone: return "";
    case Status::kMutexTimeout: return "Timeout Acquiring Mutex";
    case Status::kLockTimeout: return "Timeout waiting to lock key";
    case Status::kLockLimit: return "Failed to acquire lock due to max_num_locks limit";
    case Status::kNoSpace: return "No space left on device";
    case Status::kDeadlock: return "Deadlock";
    case Status::kStaleFile: return "Stale file handle";
    case Status::kMemoryLimit: return "Memory limit reached";
    case Status::kSpaceLimit: return "Space limit reached";
    case Status::kPathNotFound: return "No such file or directory";
    case Status::KMergeOperandsInsufficientCapacity:
      return "Insufficient capacity for merge operands";
    case Status::kManualCompactionPaused: return "Manual compaction paused";
    case Status::kTxnNotPrepared: return "Txn not prepared";
    case Status::kIOFenced: return "IO fenced off";
    case Status::kMergeOperatorFailed: return "Merge operator failed";
    case Status::kMergeOperandThresholdExceeded: return "Merge operand threshold exceeded";
    case Status::kCompactionAborted: return "Compaction aborted";
    case Status::kOpenFilesLimit: return "Limit of open files reached";
    case Status::kFileLocked: return "File is locked";
  }
  return "unknown subcode";
}

std::unique_ptr<char[]> Join(std::string_view first, std::string_view second) {
  const std::string_view separator =
      first.empty() || second.empty() ? std::string_view() : kSeparator;
  const size_t bytes = first.size() + separator.size() + second.size();
  if (bytes == 0) return nullptr;
  // If the allocation fails, the error keeps its code and loses its text.
  std::unique_ptr<char[]> text(new (std::nothrow) char[bytes + 1]);
  if (text == nullptr) return nullptr;
  char* p = text.get();
  for (const std::string_view part : {first, separator, second}) p = part.copy(p, part.size()) + p;
  *p = '\0';
  return text;
}

}  // namespace

Status::Status(Code code, SubCode subcode, const Slice& msg, const Slice& msg2)
    : code_(code), subcode_(subcode), text_(Join(msg.ToStringView(), msg2.ToStringView())) {
  ASHLAR_ASSERT(code != kOk);  // Requires
}

Status::Status(const Status& other)
    : code_(other.code_),
      subcode_(other.subcode_),
      io_facts_(other.io_facts_),
      text_(other.text_ ? Join(other.text_.get(), std::string_view()) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) *this = Status(other);
  return *this;
}

std::string Status::ToString() const {
  std::string result(CodeName(code_));
  if (code_ == kOk) return result;
  // A text usually says the same as the subcode, and more.
  const std::string_view text = text_ ? std::string_view(text_.get()) : SubCodeText(subcode_);
  if (!text.empty()) result.append(kSeparator).append(text);
  return result;
}

Status Status::WithContext(const Slice& context) const {
  if (ok()) return Status();
  Status result(code_, subcode_, context, getState());
  result.io_facts_ = io_facts_;
  return result;
}

Status Status::CopyAppendMessage(const Status& status, const Slice& delim, const Slice& msg) {
  if (status.ok()) return Status();
  std::string text = status.getState();
  text.append(delim.ToStringView()).append(msg.ToStringView());
  Status result(status.code_, status.subcode_, text, Slice());
  result.io_facts_ = status.io_facts_;
  return result;
}

}  // namespace ashlar

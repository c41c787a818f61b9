// Status: the outcome of an operation. Ok carries nothing. An error has a code, an optional
// subcode, and a text. The text names the file, the offset or the option and, where it helps, a
// remedy.
//
// Thread safety: a Status is a value; const access from several threads is safe.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "ashlar/export.h"
#include "ashlar/slice.h"

namespace ashlar {

class [[nodiscard]] ASHLAR_API Status {
 public:
  enum Code : unsigned char {
    kOk = 0,
    kNotFound = 1,
    kCorruption = 2,
    kNotSupported = 3,
    kInvalidArgument = 4,
    kIOError = 5,
    kMergeInProgress = 6,
    kIncomplete = 7,
    kShutdownInProgress = 8,
    kTimedOut = 9,
    kAborted = 10,
    kBusy = 11,
    kExpired = 12,
    kTryAgain = 13,
    kCompactionTooLarge = 14,
    kColumnFamilyDropped = 15,
  };

  enum SubCode : unsigned char {
    kNone = 0,
    kMutexTimeout = 1,
    kLockTimeout = 2,
    kLockLimit = 3,
    kNoSpace = 4,
    kDeadlock = 5,
    kStaleFile = 6,
    kMemoryLimit = 7,
    kSpaceLimit = 8,
    kPathNotFound = 9,
    KMergeOperandsInsufficientCapacity = 10,
    kManualCompactionPaused = 11,
    kTxnNotPrepared = 13,
    kIOFenced = 14,  // the writer has lost its right to write
    kMergeOperatorFailed = 15,
    kMergeOperandThresholdExceeded = 16,
    kCompactionAborted = 19,
    // Ashlar's own.
    kOpenFilesLimit = 200,  // the process or the system has no file descriptor left
    kFileLocked = 201,      // another holder has the lock file
  };

  // The effect of a background error on the database, for listeners and refused writes.
  enum Severity : unsigned char {
    kNoError = 0,             // not a background error
    kSoftError = 1,           // never returned by Ashlar, which only logs such errors
    kHardError = 2,           // read-only until DB::Resume
    kFatalError = 3,          // read-only until the database is opened again
    kUnrecoverableError = 4,  // read-only because of damage, which needs an inspection of the files
    kMaxSeverity
  };

  Status() noexcept = default;
  // The same outcome with this severity.
  Status(const Status& other, Severity severity) : Status(other) { io_facts_.severity = severity; }
  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&& other) noexcept = default;
  Status& operator=(Status&& other) noexcept = default;
  ~Status() = default;

  static Status OK() { return Status(); }
  // Success, and more operands than ReadOptions::merge_operand_count_threshold were combined.
  static Status OkMergeOperandThresholdExceeded() {
    Status status;
    status.subcode_ = kMergeOperandThresholdExceeded;
    return status;
  }
  // Each takes a text, or two that are joined by ": ". Most can take a subcode instead.
  static Status NotFound(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kNotFound, kNone, msg, msg2);
  }
  static Status NotFound(SubCode subcode) { return Status(kNotFound, subcode); }
  static Status Corruption(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kCorruption, kNone, msg, msg2);
  }
  static Status Corruption(SubCode subcode) { return Status(kCorruption, subcode); }
  static Status NotSupported(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kNotSupported, kNone, msg, msg2);
  }
  static Status NotSupported(SubCode subcode) { return Status(kNotSupported, subcode); }
  static Status InvalidArgument(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kInvalidArgument, kNone, msg, msg2);
  }
  static Status InvalidArgument(SubCode subcode) { return Status(kInvalidArgument, subcode); }
  static Status IOError(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kIOError, kNone, msg, msg2);
  }
  static Status IOError(SubCode subcode) { return Status(kIOError, subcode); }
  static Status PathNotFound(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kIOError, kPathNotFound, msg, msg2);
  }
  static Status NoSpace(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kIOError, kNoSpace, msg, msg2);
  }
  // See SstFileManager::SetMaxAllowedSpaceUsage.
  static Status SpaceLimit(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kIOError, kSpaceLimit, msg, msg2);
  }
  static Status MergeInProgress(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kMergeInProgress, kNone, msg, msg2);
  }
  static Status MergeInProgress(SubCode subcode) { return Status(kMergeInProgress, subcode); }
  static Status Incomplete(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kIncomplete, kNone, msg, msg2);
  }
  static Status Incomplete(SubCode subcode) { return Status(kIncomplete, subcode); }
  static Status ShutdownInProgress(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kShutdownInProgress, kNone, msg, msg2);
  }
  static Status ShutdownInProgress(SubCode subcode) { return Status(kShutdownInProgress, subcode); }
  static Status TimedOut(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kTimedOut, kNone, msg, msg2);
  }
  static Status TimedOut(SubCode subcode) { return Status(kTimedOut, subcode); }
  static Status Aborted(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kAborted, kNone, msg, msg2);
  }
  static Status Aborted(SubCode subcode) { return Status(kAborted, subcode); }
  static Status Busy(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kBusy, kNone, msg, msg2);
  }
  static Status Busy(SubCode subcode) { return Status(kBusy, subcode); }
  static Status Expired(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kExpired, kNone, msg, msg2);
  }
  static Status Expired(SubCode subcode) { return Status(kExpired, subcode); }
  static Status TryAgain(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kTryAgain, kNone, msg, msg2);
  }
  static Status TryAgain(SubCode subcode) { return Status(kTryAgain, subcode); }
  static Status CompactionTooLarge(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kCompactionTooLarge, kNone, msg, msg2);
  }
  static Status CompactionTooLarge(SubCode subcode) { return Status(kCompactionTooLarge, subcode); }
  static Status ColumnFamilyDropped(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kColumnFamilyDropped, kNone, msg, msg2);
  }
  static Status ColumnFamilyDropped(SubCode subcode) {
    return Status(kColumnFamilyDropped, subcode);
  }
  static Status MemoryLimit(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Status(kAborted, kMemoryLimit, msg, msg2);
  }
  // Any code and subcode; code must not be kOk.
  static Status Error(Code code, SubCode subcode, const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(code, subcode, msg, msg2);
  }

  bool ok() const { return code_ == kOk; }
  bool IsOkMergeOperandThresholdExceeded() const {
    return code_ == kOk && subcode_ == kMergeOperandThresholdExceeded;
  }
  bool IsNotFound() const { return code_ == kNotFound; }
  bool IsCorruption() const { return code_ == kCorruption; }
  bool IsNotSupported() const { return code_ == kNotSupported; }
  bool IsInvalidArgument() const { return code_ == kInvalidArgument; }
  bool IsIOError() const { return code_ == kIOError; }
  bool IsMergeInProgress() const { return code_ == kMergeInProgress; }
  bool IsIncomplete() const { return code_ == kIncomplete; }
  bool IsShutdownInProgress() const { return code_ == kShutdownInProgress; }
  bool IsTimedOut() const { return code_ == kTimedOut; }
  bool IsAborted() const { return code_ == kAborted; }
  bool IsBusy() const { return code_ == kBusy; }
  bool IsExpired() const { return code_ == kExpired; }
  bool IsTryAgain() const { return code_ == kTryAgain; }
  bool IsColumnFamilyDropped() const { return code_ == kColumnFamilyDropped; }
  bool IsNoSpace() const { return code_ == kIOError && subcode_ == kNoSpace; }
  bool IsManualCompactionPaused() const {
    return code_ == kIncomplete && subcode_ == kManualCompactionPaused;
  }
  bool IsCompactionAborted() const {  // by DB::AbortAllCompactions
    return code_ == kIncomplete && subcode_ == kCompactionAborted;
  }
  bool IsSpaceLimit() const { return code_ == kIOError && subcode_ == kSpaceLimit; }
  bool IsIOFenced() const { return code_ == kIOError && subcode_ == kIOFenced; }
  // Never true of errors of Ashlar, which has no transactions. For programs that handle all errors.
  bool IsLockLimit() const { return code_ == kAborted && subcode_ == kLockLimit; }
  bool IsDeadlock() const { return code_ == kBusy && subcode_ == kDeadlock; }
  bool IsTxnNotPrepared() const { return code_ == kInvalidArgument && subcode_ == kTxnNotPrepared; }
  bool IsCompactionTooLarge() const { return code_ == kCompactionTooLarge; }
  bool IsMemoryLimit() const { return code_ == kAborted && subcode_ == kMemoryLimit; }
  bool IsPathNotFound() const {
    return subcode_ == kPathNotFound && (code_ == kIOError || code_ == kNotFound);
  }

  Code code() const { return code_; }
  SubCode subcode() const { return subcode_; }
  Severity severity() const { return io_facts_.severity; }
  // The text, or an empty string. Valid until the Status is changed or destroyed.
  const char* getState() const { return text_ ? text_.get() : ""; }
  // "OK", or "<code>: <text>".
  std::string ToString() const;

  // Accepted, both, for programs that mark a Status as checked or not.
  void PermitUncheckedError() const {}
  void MustCheck() const {}

  // The same error with "context: " before the text; Ok stays Ok.
  Status WithContext(const Slice& context) const;
  // The same error with `delim` and `msg` after the text; Ok stays Ok.
  static Status CopyAppendMessage(const Status& status, const Slice& delim, const Slice& msg);
  // Assigns the other outcome, unless this one is an error.
  Status& UpdateIfOk(Status&& other) {
    if (ok()) *this = std::move(other);
    return *this;
  }
  Status& UpdateIfOk(const Status& other) { return UpdateIfOk(Status(other)); }

  bool operator==(const Status& other) const { return code_ == other.code_; }

 private:
  Status(Code code, SubCode subcode, const Slice& msg = Slice(), const Slice& msg2 = Slice());

  Code code_ = kOk;
  SubCode subcode_ = kNone;

 protected:
  // Facts about an I/O error, read and set through IOStatus, and the severity of a background
  // error. Every copy has them.
  struct IOFacts {
    unsigned char is_retryable : 1 = 0;
    unsigned char is_data_loss : 1 = 0;
    Severity severity : 3 = kNoError;
    unsigned char scope = 0;
  };
  IOFacts io_facts_;

 private:
  std::unique_ptr<char[]> text_;  // NUL-terminated, or null
};

}  // namespace ashlar

#include "wal/log_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/coding.h"
#include "base/compiler.h"
#include "base/crc32c.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "wal/log_format.h"
#include "wal/record_compression.h"

namespace ashlar {

using log_format::kBlockBytes;
using log_format::kHeaderBytes;
using log_format::kRecyclableHeaderBytes;

namespace {

// The buffer is full when less than a block is left, so that a large record is written in pieces of
// at least two blocks.
constexpr size_t kStagingBytes = 3 * kBlockBytes;

template <bool kIsNumbered>
uint8_t FragmentTypeFor(bool first, bool last) {
  constexpr uint8_t kShift = kIsNumbered ? log_format::kRecyclableFull - log_format::kFull : 0;
  const uint8_t plain = first ? (last ? log_format::kFull : log_format::kFirst)
                              : (last ? log_format::kLast : log_format::kMiddle);
  return static_cast<uint8_t>(plain + kShift);
}

size_t TotalBytes(std::span<const Slice> pieces) {
  size_t total = 0;
  for (const Slice& piece : pieces) total += piece.size();
  return total;
}

}  // namespace

// Reads the pieces as one sequence of bytes.
class LogWriter::PieceReader {
 public:
  explicit PieceReader(std::span<const Slice> pieces) : pieces_(pieces) {}

  void CopyTo(char* out, size_t n) {
    while (n > 0) {
      const Slice& piece = pieces_.front();
      if (consumed_ == piece.size()) {
        pieces_ = pieces_.subspan(1);
        consumed_ = 0;
        continue;
      }
      const size_t bytes = std::min(n, piece.size() - consumed_);
      memcpy(out, piece.data() + consumed_, bytes);
      out += bytes;
      n -= bytes;
      consumed_ += bytes;
    }
  }

 private:
  std::span<const Slice> pieces_;
  size_t consumed_ = 0;  // of the first piece
};

LogWriter::LogWriter(std::unique_ptr<vfs::WritableFile> file, std::string file_name,
                     uint64_t log_number)
    : file_name_(std::move(file_name)),
      log_number_(log_number),
      staging_(std::make_unique_for_overwrite<char[]>(kStagingBytes)),
      file_(std::move(file)),
      appends_at_once_(file_->AppendsAtOnce()),
      block_offset_(static_cast<size_t>(file_->Size() % kBlockBytes)),
      bytes_(file_->Size()),
      handed_over_bytes_(bytes_),
      committed_bytes_(bytes_),
      good_bytes_(bytes_) {}

LogWriter::~LogWriter() = default;

void LogWriter::CheckInvariants() const {
  ASHLAR_ASSERT(good_bytes_ <= committed_bytes_ && committed_bytes_ <= bytes_);      // I4
  ASHLAR_ASSERT(good_bytes_ <= handed_over_bytes_ && handed_over_bytes_ <= bytes_);  // I4
  ASHLAR_ASSERT(staged_bytes_ <= kStagingBytes);  // the size of staging_
  // Readers find a fragment at the position in the block for which the writer framed it.
  ASHLAR_ASSERT(block_offset_ % kBlockBytes == bytes_ % kBlockBytes);  // I1
  ASHLAR_ASSERT(file_ != nullptr || staged_bytes_ == 0);               // closed
}

Status LogWriter::AddRecord(std::span<const Slice> pieces) {
  ASHLAR_RETURN_IF_ERROR(StageRecord(pieces));
  return WriteStaged();
}

void LogWriter::NumberFragments() {
  ASHLAR_ASSERT(bytes_ == 0);  // readers treat the entire file as numbered or not
  numbers_fragments_ = true;
  is_usual_ = false;
}

Status LogWriter::CompressRecords(CompressionType type) {
  ASHLAR_ASSERT(bytes_ == 0 && compressor_ == nullptr);  // readers require this fragment first
  ASHLAR_ASSIGN_OR_RETURN(compressor_, RecordCompressor::Create(type));
  char codec[sizeof(uint32_t)];
  EncodeFixed32(codec, type);
  const Slice payload(codec, sizeof(codec));
  PieceReader reader(std::span<const Slice>(&payload, 1));
  StageFragment<false>(&reader, payload.size(), log_format::kSetCompression);
  is_usual_ = false;
  return Status::OK();
}

// Inlined into its callers because it is part of every Put.
template <bool kIsCompressed, bool kIsNumbered>
ASHLAR_ALWAYS_INLINE Status LogWriter::StageFragments(std::span<const Slice> pieces) {
  constexpr size_t kFragmentHeaderBytes = kIsNumbered ? kRecyclableHeaderBytes : kHeaderBytes;
  PieceReader reader(pieces);
  size_t left = TotalBytes(pieces);
  bool first = true;
  do {
    if (kStagingBytes - staged_bytes_ < kBlockBytes + kFragmentHeaderBytes)
      ASHLAR_RETURN_IF_ERROR(WriteStaged());
    if (kBlockBytes - block_offset_ < kFragmentHeaderBytes) StageBlockTrailer();
    size_t room = kBlockBytes - block_offset_ - kFragmentHeaderBytes;
    if (kIsCompressed && block_offset_ == 0) room /= 2;  // a rule of log_format.h
    const size_t payload = std::min(left, room);
    StageFragment<kIsNumbered>(&reader, payload,
                               FragmentTypeFor<kIsNumbered>(first, payload == left));
    left -= payload;
    first = false;
  } while (left > 0);
  return Status::OK();
}

Status LogWriter::StageRecord(std::span<const Slice> pieces) {
  if (!first_error_.ok()) return first_error_;
  ASHLAR_ASSERT(file_ != nullptr);  // not CLOSED
  if (!is_usual_) [[unlikely]]
    return StageUnusual(pieces);
  return StageFragments<false, false>(pieces);
}

ASHLAR_NO_INLINE Status LogWriter::StageUnusual(std::span<const Slice> pieces) {
  if (compressor_ == nullptr) return StageFragments<false, true>(pieces);
  ASHLAR_ASSIGN_OR_RETURN(const Slice frame, compressor_->Compress(pieces));
  const std::span<const Slice> frames(&frame, 1);
  return numbers_fragments_ ? StageFragments<true, true>(frames)
                            : StageFragments<true, false>(frames);
}

void LogWriter::StageBlockTrailer() {
  const size_t bytes = kBlockBytes - block_offset_;
  memset(staging_.get() + staged_bytes_, 0, bytes);
  staged_bytes_ += bytes;
  bytes_ += bytes;
  block_offset_ = 0;
}

template <bool kIsNumbered>
void LogWriter::StageFragment(PieceReader* pieces, size_t payload_bytes, uint8_t type) {
  const size_t bytes = (kIsNumbered ? kRecyclableHeaderBytes : kHeaderBytes) + payload_bytes;
  char* header = staging_.get() + staged_bytes_;
  pieces->CopyTo(header + bytes - payload_bytes, payload_bytes);
  EncodeFixed16(header + 4, static_cast<uint16_t>(payload_bytes));
  header[6] = static_cast<char>(type);
  if constexpr (kIsNumbered)
    EncodeFixed32(header + kHeaderBytes, static_cast<uint32_t>(log_number_));
  EncodeFixed32(header, crc32c::Mask(crc32c::Value(header + 6, bytes - 6)));
  staged_bytes_ += bytes;
  bytes_ += bytes;
  block_offset_ += bytes;
}

// A failed allocation inside a call of the file counts as an error of the file, because the effect
// of the call is unknown.
Status LogWriter::WriteStaged() {
  if (!first_error_.ok()) return first_error_;
  const size_t bytes = std::exchange(staged_bytes_, 0);
  if (bytes == 0) return Status::OK();
  ASHLAR_ASSERT(file_ != nullptr);  // not CLOSED
  ASHLAR_RETURN_IF_ERROR(
      Latch(CatchBadAlloc([&] { return file_->Append(Slice(staging_.get(), bytes)); })));
  if (appends_at_once_) HandedOver();
  return Status::OK();
}

Status LogWriter::HandOver() {
  if (!appends_at_once_) return Flush();
  return WriteStaged();
}

Status LogWriter::Flush() {
  ASHLAR_RETURN_IF_ERROR(WriteStaged());
  ASHLAR_ASSERT(file_ != nullptr);  // not CLOSED
  ASHLAR_RETURN_IF_ERROR(Latch(CatchBadAlloc([this] { return file_->Flush(); })));
  HandedOver();
  return Status::OK();
}

void LogWriter::StartWriteBack(uint64_t offset) {
  ASHLAR_ASSERT(offset <= handed_over_bytes_ && file_ != nullptr);  // the system has them
  // The file remembers an error that matters, and its Sync reports it.
  static_cast<void>(file_->RangeSync(offset, handed_over_bytes_ - offset).ok());
}

Status LogWriter::Sync() {
  ASHLAR_RETURN_IF_ERROR(WriteStaged());
  ASHLAR_ASSERT(file_ != nullptr);  // not CLOSED
  ASHLAR_RETURN_IF_ERROR(Latch(CatchBadAlloc([this] { return file_->Sync(); })));
  HandedOver();
  return Status::OK();
}

Status LogWriter::Close() {
  const Status written = file_ != nullptr ? WriteStaged() : first_error_;
  const std::unique_ptr<vfs::WritableFile> file = std::move(file_);
  if (!written.ok() || file == nullptr) return written;
  ASHLAR_RETURN_IF_ERROR(Latch(CatchBadAlloc([&] { return file->Close(); })));
  HandedOver();
  return Status::OK();
}

void LogWriter::Fail(const Status& error) {
  if (first_error_.ok()) first_error_ = error;
}

Status LogWriter::Latch(Status status) {
  if (status.ok()) [[likely]] {
    return status;
  }
  first_error_ = std::move(status);
  return first_error_;
}

}  // namespace ashlar

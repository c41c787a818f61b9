#include "table/blockbased/block_file.h"

#include <cstring>

#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "observe/perf.h"

namespace ashlar {

namespace {

BlockBuffer NewBuffer(const BlockFile::ReadArgs& args, size_t n) {
  return args.stays ? BlockBuffer::OfPages(n) : BlockBuffer(n);
}

std::string PlaceText(const std::string& file, uint64_t offset) {
  return StrCat(file, ": offset ", offset);
}

}  // namespace

BlockFile::BlockFile(std::unique_ptr<vfs::RandomAccessFile> file, std::string name,
                     uint64_t file_bytes, bool mapped, const Recorder& recorder)
    : file_(std::move(file)), name_(std::move(name)), file_bytes_(file_bytes), recorder_(recorder) {
  Slice contents;
  if (mapped && file_->Map(&contents).ok() && contents.size() >= file_bytes_)
    mapping_ = Slice(contents.data(), static_cast<size_t>(file_bytes_));
}

Status BlockFile::CorruptionAt(uint64_t offset, const Slice& what) const {
  return Status::Corruption(PlaceText(name_, offset), what);
}

Status BlockFile::AddPlace(const Status& status, uint64_t offset) const {
  return status.WithContext(PlaceText(name_, offset));
}

Status BlockFile::CheckHandle(const BlockHandle& handle) const {
  if (handle.size > kBlockBytesMax)
    return CorruptionAt(handle.offset, "block handle with an impossible size");
  const uint64_t n = handle.size + kBlockTrailerBytes;
  if (handle.offset > file_bytes_ || n > file_bytes_ - handle.offset)
    return CorruptionAt(handle.offset, "block handle points outside the file");
  return Status::OK();
}

Result<Slice> BlockFile::ReadBytes(uint64_t offset, size_t n, char* scratch) const {
  if (offset > file_bytes_ || n > file_bytes_ - offset)
    return CorruptionAt(offset, "read beyond the end of the file");
  if (mapped()) return Slice(mapping_.data() + offset, n);
  ASHLAR_DCHECK(scratch != nullptr);  // Requires
  Slice result;
  {
    const StopWatch watch(recorder_, SST_READ_MICROS);
    const PerfTimer timer(&PerfContext::block_read_time);
    ASHLAR_RETURN_IF_ERROR(file_->Read(offset, n, &result, scratch));
  }
  if (result.size() != n)
    return CorruptionAt(offset, StrCat("file ends early: ", result.size(), " of ", n, " bytes"));
  return result;
}

Status BlockFile::CheckTrailer(const BlockHandle& handle, const char* stored) const {
  if (checksum_ == BlockChecksum::kNone) return Status::OK();
  const PerfTimer timer(&PerfContext::block_checksum_time);
  const auto n = static_cast<size_t>(handle.size);
  recorder_.Tick(BLOCK_CHECKSUM_COMPUTE_COUNT);
  if (DecodeFixed32(stored + n + 1) == ChecksumOf(handle, stored) ||
      ChecksumHoldsWithZeros(handle, stored))
    return Status::OK();
  recorder_.Tick(BLOCK_CHECKSUM_MISMATCH_COUNT);
  return CorruptionAt(handle.offset, StrCat("block checksum mismatch in a block of ", n, " bytes"));
}

uint32_t BlockFile::ChecksumOf(const BlockHandle& handle, const char* stored) const {
  return ComputeBlockChecksum(checksum_, stored, static_cast<size_t>(handle.size)) +
         ChecksumContext(base_context_, handle.offset);
}

bool BlockFile::ChecksumHoldsWithZeros(const BlockHandle& handle, const char* stored) const {
  if (stored_later_bytes_ == 0 || stored_later_offset_ < handle.offset ||
      stored_later_offset_ + stored_later_bytes_ > handle.offset + handle.size)
    return false;
  const auto n = static_cast<size_t>(handle.size);
  std::string copy(stored, n + kBlockTrailerBytes);
  memset(copy.data() + (stored_later_offset_ - handle.offset), 0, stored_later_bytes_);
  return DecodeFixed32(copy.data() + n + 1) == ChecksumOf(handle, copy.data());
}

Result<BlockContents> BlockFile::ReadBlock(const ReadArgs& args) const {
  const BlockHandle& handle = args.handle;
  ASHLAR_RETURN_IF_ERROR(CheckHandle(handle));
  const auto n = static_cast<size_t>(handle.size);
  const size_t n_stored = n + kBlockTrailerBytes;
  BlockBuffer buffer;
  const char* stored;
  if (args.at_hand != nullptr && args.at_hand->Covers(handle.offset, n_stored)) {
    stored = args.at_hand->At(handle.offset);
    recorder_.Tick(PREFETCH_HITS);
    recorder_.Tick(PREFETCH_BYTES_USEFUL, n_stored);
  } else {
    if (!mapped()) buffer = NewBuffer(args, n_stored);
    ASHLAR_ASSIGN_OR_RETURN(const Slice read, ReadBytes(handle.offset, n_stored, buffer.get()));
    PerfCount(&PerfContext::block_read_count);
    PerfCount(&PerfContext::block_read_byte, n_stored);
    stored = read.data();
  }
  if (args.verify_checksum) ASHLAR_RETURN_IF_ERROR(CheckTrailer(handle, stored));

  const auto type = static_cast<CompressionType>(static_cast<uint8_t>(stored[n]));
  if (type != kNoCompression) return Decompressed(args, type, Slice(stored, n));
  if (mapped()) return BlockContents{Slice(mapping_.data() + handle.offset, n), BlockBuffer()};
  if (!buffer || stored != buffer.get()) {
    // The bytes are in a readahead buffer or in memory of the file system. Both may be reused.
    if (!buffer) buffer = NewBuffer(args, n_stored);
    memcpy(buffer.get(), stored, n_stored);
  }
  const Slice data(buffer.get(), n);
  return BlockContents{data, std::move(buffer)};
}

Result<BlockContents> BlockFile::Decompressed(const ReadArgs& args, CompressionType type,
                                              const Slice& stored) const {
  const uint64_t offset = args.handle.offset;
  if (format_version_ < 2 && type != kSnappyCompression) {
    return AddPlace(Status::NotSupported(StrCat(CompressionTypeName(type),
                                                " in a table of format_version ", format_version_)),
                    offset);
  }
  const Result<size_t> raw_bytes = DecompressedSize(type, stored, kBlockBytesMax);
  if (!raw_bytes.ok()) return AddPlace(raw_bytes.status(), offset);
  ASHLAR_ASSERT(*raw_bytes <= kBlockBytesMax);  // I1
  BlockBuffer raw = NewBuffer(args, *raw_bytes);
  const DecompressionDictionary* const dictionary =
      args.use_dictionary ? dictionary_.get() : nullptr;
  const Status status = Decompress(type, stored, dictionary, raw.get(), *raw_bytes);
  if (!status.ok()) return AddPlace(status, offset);
  const Slice data(raw.get(), *raw_bytes);
  return BlockContents{data, std::move(raw)};
}

Status BlockFile::Decompress(CompressionType type, const Slice& stored,
                             const DecompressionDictionary* dictionary, char* raw,
                             size_t raw_bytes) const {
  const PerfTimer timer(&PerfContext::block_decompress_time);
  const bool timed = recorder_.WantsDetailedTimes();
  const uint64_t start_nanos = timed ? MonotonicNanos() : 0;
  ASHLAR_RETURN_IF_ERROR(DecompressInto(type, stored, dictionary, raw, raw_bytes));
  if (timed) recorder_.Record(DECOMPRESSION_TIMES_NANOS, MonotonicNanos() - start_nanos);
  recorder_.Tick(NUMBER_BLOCK_DECOMPRESSED);
  recorder_.Tick(BYTES_DECOMPRESSED_FROM, stored.size());
  recorder_.Tick(BYTES_DECOMPRESSED_TO, raw_bytes);
  return Status::OK();
}

}  // namespace ashlar

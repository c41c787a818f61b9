#include "wal/log_reader.h"

#include <algorithm>
#include <utility>

#include "ashlar/compression_type.h"
#include "base/assert.h"
#include "base/coding.h"
#include "base/crc32c.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "wal/record_compression.h"

namespace ashlar {

using log_format::kBlockBytes;
using log_format::kHeaderBytes;

namespace {

// The smallest unit that a device writes atomically. After a power cut a write consists of such
// units.
constexpr size_t kSectorBytes = 512;
static_assert(kBlockBytes % kSectorBytes == 0);

bool IsZero(char c) { return c == 0; }

uint8_t TypeOf(const char* header) { return static_cast<uint8_t>(header[6]); }
size_t PayloadBytes(const char* header) { return DecodeFixed16(header + 4); }
bool ChecksumHolds(const char* header, size_t header_bytes, size_t payload_bytes) {
  return crc32c::Unmask(DecodeFixed32(header)) ==
         crc32c::Value(header + 6, header_bytes - 6 + payload_bytes);
}
bool IsZeroHeader(const char* header) { return std::all_of(header, header + kHeaderBytes, IsZero); }

// The plain type of a recyclable record fragment; other types are unchanged.
uint8_t PlainType(uint8_t type) {
  return type >= log_format::kRecyclableFull && type <= log_format::kRecyclableLast
             ? static_cast<uint8_t>(type - 4)
             : type;
}

}  // namespace

LogReader::LogReader(std::unique_ptr<vfs::SequentialFile> file, std::string file_name,
                     uint64_t log_number, uint64_t file_bytes)
    : file_name_(std::move(file_name)),
      log_number_(log_number),
      file_(std::move(file)),
      block_(std::make_unique_for_overwrite<char[]>(kBlockBytes)),
      file_bytes_(file_bytes) {}

LogReader::~LogReader() = default;

void LogReader::CheckInvariants() const {
  ASHLAR_ASSERT(block_offset_ % kBlockBytes == 0);                          // the place in the file
  ASHLAR_ASSERT(position_ <= block_bytes_ && block_bytes_ <= kBlockBytes);  // the place in the file
  ASHLAR_ASSERT(offset() <= file_bytes_);                // nothing after the file's end
  ASHLAR_ASSERT(last_good_offset_ <= file_bytes_);       // I2
  ASHLAR_ASSERT(record_offset_ <= last_good_offset_);    // I2
  ASHLAR_ASSERT(search_bytes_left_ <= kSearchBytesMax);  // I4
  // status() is Ok while reading, and an error after each stop except kEnd.
  ASHLAR_ASSERT(outcome_ == Outcome::kEnd || status_.ok() == (outcome_ == Outcome::kReading));
}

bool LogReader::ReadRecord(Slice* record, std::string* scratch) {
  bool is_whole = false;
  const Status assembled = CatchBadAlloc([&] {
    Fragment fragment;
    while (!is_whole && outcome_ == Outcome::kReading && NextFragment(&fragment))
      is_whole = Assemble(fragment, record, scratch);
    return Status::OK();
  });
  // I1: the reader is already past the fragment whose allocation failed, so it must not continue.
  if (!assembled.ok()) static_cast<void>(StopOn(assembled));
  if constexpr (kDebugChecks) CheckInvariants();
  if (!is_whole) record->clear();
  return is_whole;
}

void LogReader::SkipDamage() {
  ASHLAR_ASSERT(outcome_ == Outcome::kCorruption);  // Requires
  outcome_ = Outcome::kReading;
  status_ = Status::OK();
  in_record_ = false;
  if (skip_to_.has_value()) position_ = *skip_to_;  // I5
  skip_to_.reset();
}

void LogReader::Extend(uint64_t file_bytes) {
  ASHLAR_ASSERT(outcome_ == Outcome::kEnd);  // Requires
  if (other_log_follows_ || offset() != file_bytes_ || file_bytes <= file_bytes_) return;
  file_bytes_ = file_bytes;
  outcome_ = Outcome::kReading;
}

Status LogReader::ContinueAt(uint64_t offset, std::unique_ptr<vfs::SequentialFile> file,
                             uint64_t file_bytes) {
  ASHLAR_ASSERT(offset <= file_bytes);  // Requires
  file_ = std::move(file);
  file_bytes_ = file_bytes;
  block_offset_ = offset / kBlockBytes * kBlockBytes;
  block_bytes_ = 0;
  position_ = 0;
  in_record_ = false;
  other_log_follows_ = false;
  skip_to_.reset();
  last_good_offset_ = offset;
  record_offset_ = std::min(record_offset_, offset);
  outcome_ = Outcome::kReading;
  status_ = file_->Skip(block_offset_);
  if (!status_.ok()) {
    static_cast<void>(StopOn(status_));
    return status_;
  }
  const auto in_block = static_cast<size_t>(offset - block_offset_);
  if (in_block == 0) return Status::OK();
  if (!LoadBlock()) return status_;
  position_ = std::min(in_block, block_bytes_);
  if (position_ < in_block) {
    last_good_offset_ = block_offset_ + position_;
    static_cast<void>(StopCorrupt(this->offset(), "the log has become shorter"));
  }
  return Status::OK();
}

bool LogReader::NextFragment(Fragment* fragment) {
  while (block_bytes_ - position_ < kHeaderBytes || IsAtTrailer()) {
    if (IsLastBlock()) return FinishAtFileEnd();
    if (!LoadBlock()) return false;
  }
  return ParseFragment(fragment);
}

// A writer of numbered fragments pads a block with up to 10 zeros, enough for a plain header.
bool LogReader::IsAtTrailer() const {
  const char* const block = block_.get();
  return block_bytes_ == kBlockBytes && kBlockBytes - position_ < HeaderBytesMin() &&
         std::all_of(block + position_, block + block_bytes_, IsZero);
}

bool LogReader::FinishAtFileEnd() {
  const bool inside_header =
      position_ < block_bytes_ && kBlockBytes - position_ >= HeaderBytesMin();
  if (inside_header) return StopTorn(offset(), "the file ends inside a record's header");
  if (in_record_) return StopTorn(pending_offset_, "the file ends before the end of the record");
  outcome_ = Outcome::kEnd;
  return false;
}

bool LogReader::LoadBlock() {
  const bool is_whole = block_bytes_ == 0 || block_bytes_ == kBlockBytes;
  if (is_whole) {
    block_offset_ += block_bytes_;
    block_bytes_ = 0;
    position_ = 0;
  }
  const size_t wanted =
      static_cast<size_t>(std::min<uint64_t>(kBlockBytes, file_bytes_ - block_offset_));
  while (block_bytes_ < wanted) {
    Slice piece;
    char* out = block_.get() + block_bytes_;
    const Status status = file_->Read(wanted - block_bytes_, &piece, out);
    if (!status.ok()) return StopOn(status);
    if (piece.empty()) {
      file_bytes_ = block_offset_ + block_bytes_;
      break;
    }
    if (piece.data() != out) std::copy(piece.begin(), piece.end(), out);
    block_bytes_ += piece.size();
  }
  return true;
}

bool LogReader::ParseFragment(Fragment* fragment) {
  const char* header = block_.get() + position_;
  if (IsZeroHeader(header)) return StopAtDamage(position_ + kHeaderBytes, "a hole");
  const uint8_t type = TypeOf(header);
  const size_t header_bytes = log_format::HeaderBytes(type);
  const size_t claimed_end = position_ + header_bytes + PayloadBytes(header);
  if (claimed_end > kBlockBytes)
    return StopAtDamage(claimed_end, "a fragment's length leads out of its block");
  if (claimed_end > block_bytes_) return StopAtDamage(claimed_end, "the file ends inside a record");
  if (!ChecksumHolds(header, header_bytes, PayloadBytes(header)))
    return StopAtDamage(claimed_end, "checksum mismatch");
  recycled_ |= log_format::IsRecyclable(type);
  if (NeedsNumber(type) && !IsOwnAt(position_)) return StopAtOtherLog(claimed_end);
  *fragment = Fragment{.type = type,
                       .payload = Slice(header + header_bytes, PayloadBytes(header)),
                       .offset = offset()};
  position_ = claimed_end;
  return true;
}

bool LogReader::Assemble(const Fragment& fragment, Slice* record, std::string* scratch) {
  switch (PlainType(fragment.type)) {
    case log_format::kFull:
      return BeginRecord(fragment) && CompleteRecord(fragment.payload, record);
    case log_format::kFirst:
      if (BeginRecord(fragment)) scratch->assign(fragment.payload.data(), fragment.payload.size());
      return false;
    case log_format::kMiddle: static_cast<void>(ContinueRecord(fragment, scratch)); return false;
    case log_format::kLast:
      return ContinueRecord(fragment, scratch) && CompleteRecord(*scratch, record);
    case log_format::kSetCompression: SetCompression(fragment); return false;
    case log_format::kUserTimestampSizes:
    case log_format::kRecyclableUserTimestampSizes:
      return Stop(Outcome::kUnsupported, fragment.offset, "user-defined timestamps");
    default:
      if ((fragment.type & log_format::kIgnorableBit) == 0)
        return Stop(Outcome::kUnsupported, fragment.offset,
                    StrCat("records of type ", uint32_t{fragment.type}));
      if (!in_record_) last_good_offset_ = offset();
      return false;
  }
}

bool LogReader::BeginRecord(const Fragment& fragment) {
  // Early writers left an empty first fragment at the end of a block and wrote the complete record
  // to the next block. An empty first fragment is therefore no cut record.
  const bool cut_record = in_record_ && pending_bytes_ > 0;
  if (cut_record) {
    position_ = static_cast<size_t>(fragment.offset - block_offset_);
    return StopCorrupt(pending_offset_, "a record has no end");
  }
  in_record_ = true;
  pending_offset_ = fragment.offset;
  pending_bytes_ = fragment.payload.size();
  return true;
}

bool LogReader::ContinueRecord(const Fragment& fragment, std::string* scratch) {
  if (!in_record_) return StopCorrupt(fragment.offset, "a record has no beginning");
  scratch->append(fragment.payload.data(), fragment.payload.size());
  pending_bytes_ += fragment.payload.size();
  return true;
}

bool LogReader::CompleteRecord(const Slice& bytes, Slice* record) {
  in_record_ = false;
  *record = bytes;
  if (decompressor_ != nullptr) {
    const Status status =
        decompressor_->Decompress(bytes, kCompressedRecordBytesMax, &decompressed_);
    if (status.IsMemoryLimit()) return StopOn(status.WithContext(file_name_));
    if (!status.ok()) return StopCorrupt(pending_offset_, status.getState());
    *record = decompressed_;
  }
  record_offset_ = pending_offset_;
  last_good_offset_ = offset();
  return true;
}

void LogReader::SetCompression(const Fragment& fragment) {
  if (fragment.offset != 0 || fragment.payload.size() != sizeof(uint32_t)) {
    static_cast<void>(
        StopCorrupt(fragment.offset, "a compression record out of place or malformed"));
    return;
  }
  const uint32_t codec = DecodeFixed32(fragment.payload.data());
  if (codec != kNoCompression) {
    Result<std::unique_ptr<RecordDecompressor>> decompressor = RecordDecompressor::Create(codec);
    if (decompressor.status().IsMemoryLimit()) {
      static_cast<void>(StopOn(decompressor.status().WithContext(file_name_)));
      return;
    }
    if (!decompressor.ok()) {
      static_cast<void>(
          Stop(Outcome::kUnsupported, fragment.offset, decompressor.status().getState()));
      return;
    }
    decompressor_ = std::move(decompressor).value();
  }
  last_good_offset_ = offset();  // I2
}

bool LogReader::StopOn(Status error) {
  outcome_ = Outcome::kIoError;
  status_ = std::move(error);
  return false;
}

bool LogReader::Stop(Outcome outcome, uint64_t offset, const std::string& reason) {
  outcome_ = outcome;
  const std::string text = StrCat(file_name_, ": ", reason, " at offset ", offset);
  status_ =
      outcome == Outcome::kUnsupported ? Status::NotSupported(text) : Status::Corruption(text);
  return false;
}

bool LogReader::StopAtDamage(size_t claimed_end, const char* reason) {
  const uint64_t at = offset();
  if (recycled_) {
    const uint64_t torn_end =
        IsOwnAt(position_) ? std::min(block_offset_ + claimed_end, file_bytes_) : at;
    const bool goes_on = SearchRemainder(EndOfDamaged(claimed_end, FittingEnd())).record;
    if (outcome_ == Outcome::kIoError) return false;
    if (goes_on) return StopCorrupt(at, reason);
    static_cast<void>(StopTorn(at, "leftovers of an older log"));
    torn_end_ = torn_end;
    return false;
  }
  const Damage damage = Examine(claimed_end);
  const bool length_is_wrong = damage.fitting_end.has_value();
  if (damage.is_cut && !length_is_wrong) return StopTorn(at, reason);
  const Remainder after = SearchRemainder(EndOfDamaged(claimed_end, damage.fitting_end));
  if (outcome_ == Outcome::kIoError) return false;
  if (after.record) return StopCorrupt(at, reason);
  if (length_is_wrong) return StopCorrupt(at, "a fragment's length does not match its checksum");
  if (damage.has_zero_sector) return StopTorn(at, "zeros that were never written over");
  if (damage.fills_block && (after.continuation || !after.data)) return StopCorrupt(at, reason);
  return StopTorn(at, "bytes that no writer left");
}

bool LogReader::StopAtOtherLog(size_t fragment_end) {
  const uint64_t at = offset();
  const bool goes_on = SearchRemainder(fragment_end).record;
  if (outcome_ == Outcome::kIoError) return false;
  if (goes_on) return StopCorrupt(at, "a record of another log");
  if (in_record_) {
    static_cast<void>(
        StopTorn(pending_offset_, "the record's end is overwritten by nothing but an older log"));
    torn_end_ = at;
    return false;
  }
  other_log_follows_ = true;
  outcome_ = Outcome::kEnd;
  return false;
}

LogReader::Damage LogReader::Examine(size_t claimed_end) {
  const char* const block = block_.get();
  const char* const header = block + position_;
  const uint8_t type = PlainType(TypeOf(header));
  const bool is_data = type >= log_format::kFull && type <= log_format::kLast;
  const bool is_zero = IsZeroHeader(header);
  Damage damage;
  damage.is_cut = is_data && claimed_end > block_bytes_ && claimed_end <= kBlockBytes;
  if (!is_zero) damage.fitting_end = FittingEnd();
  damage.fills_block = !is_zero && claimed_end <= block_bytes_ &&
                       std::all_of(block + claimed_end, block + block_bytes_, IsZero);
  damage.has_zero_sector =
      is_zero || HeaderEndsInZeroSector() ||
      HasZeroSector(position_, damage.fills_block ? claimed_end : block_bytes_);
  return damage;
}

size_t LogReader::EndOfDamaged(size_t claimed_end, std::optional<size_t> fitting_end) {
  if (fitting_end.has_value()) return *fitting_end;
  const bool has_next = claimed_end + kHeaderBytes <= block_bytes_ &&
                        Afford(PayloadBytes(block_.get() + claimed_end)) &&
                        IntactFragmentAt(claimed_end);
  return has_next ? claimed_end : block_bytes_;
}

LogReader::Remainder LogReader::SearchRemainder(size_t fragment_end) {
  Remainder after;
  bool is_next_block = true;
  skip_to_ = fragment_end;
  ++position_;
  while (true) {
    for (; block_bytes_ - position_ >= kHeaderBytes; ++position_) {
      const size_t bytes = PayloadBytes(block_.get() + position_);
      if (MayBeginAt(position_) && (position_ == 0 || Afford(bytes)) &&
          IntactFragmentAt(position_)) {
        after.record = true;
        return after;
      }
    }
    position_ = block_bytes_;
    if (IsLastBlock() || !LoadBlock()) {
      skip_to_.reset();
      return after;
    }
    const char* const block = block_.get();
    after.data |= !std::all_of(block, block + block_bytes_, IsZero);
    after.continuation |= is_next_block && IntactFragmentAt(0);
    is_next_block = false;
    skip_to_ = 0;
  }
}

bool LogReader::MayBeginAt(size_t position) const {
  const char* const header = block_.get() + position;
  const uint8_t type = PlainType(TypeOf(header));
  if (type != log_format::kFull && type != log_format::kFirst) return false;
  return !recycled_ || IsOwnAt(position);
}

bool LogReader::NeedsNumber(uint8_t type) const {
  if (log_format::IsRecyclable(type)) return true;
  const bool begins_log = type == log_format::kSetCompression && offset() == 0;
  return recycled_ && !begins_log && (type & log_format::kIgnorableBit) == 0;
}

bool LogReader::IsOwnAt(size_t position) const {
  const char* const header = block_.get() + position;
  return block_bytes_ - position >= log_format::kRecyclableHeaderBytes &&
         log_format::IsRecyclable(TypeOf(header)) &&
         DecodeFixed32(header + kHeaderBytes) == static_cast<uint32_t>(log_number_);
}

std::optional<size_t> LogReader::FittingEnd() {
  // Extending the checksum one byte at a time is slow.
  constexpr uint64_t kCostPerByte = 16;
  const char* const header = block_.get() + position_;
  const size_t header_bytes = log_format::HeaderBytes(TypeOf(header));
  if (block_bytes_ - position_ < header_bytes || !Afford(kCostPerByte * (block_bytes_ - position_)))
    return std::nullopt;
  const uint32_t stored = crc32c::Unmask(DecodeFixed32(header));
  uint32_t crc = crc32c::Value(header + 6, header_bytes - 6);
  for (size_t end = position_ + header_bytes;; ++end) {
    if (crc == stored && MayEndAt(end)) return end;
    if (end == block_bytes_) return std::nullopt;
    crc = crc32c::Extend(crc, block_.get() + end, 1);
  }
}

bool LogReader::MayEndAt(size_t position) {
  const size_t left = block_bytes_ - position;
  if (left == 0 || kBlockBytes - position < kHeaderBytes) return true;
  if (left < kHeaderBytes) return false;
  const char* const header = block_.get() + position;
  return IsZeroHeader(header) || (Afford(PayloadBytes(header)) && IntactFragmentAt(position));
}

bool LogReader::HasZeroSector(size_t begin, size_t end) const {
  // A few zero bytes of a sector may well be data.
  constexpr size_t kEvidenceBytes = 8;
  const char* const block = block_.get();
  while (begin < end) {
    const size_t sector_end = std::min(end, (begin / kSectorBytes + 1) * kSectorBytes);
    if (sector_end - begin >= kEvidenceBytes &&
        std::all_of(block + begin, block + sector_end, IsZero))
      return true;
    begin = sector_end;
  }
  return false;
}

bool LogReader::HeaderEndsInZeroSector() const {
  const size_t sector = (position_ / kSectorBytes + 1) * kSectorBytes;
  return sector < position_ + kHeaderBytes &&
         HasZeroSector(sector, std::min(sector + kSectorBytes, block_bytes_));
}

bool LogReader::IntactFragmentAt(size_t position) const {
  const size_t left = block_bytes_ - position;
  if (left < kHeaderBytes) return false;
  const char* const header = block_.get() + position;
  const size_t header_bytes = log_format::HeaderBytes(TypeOf(header));
  if (IsZeroHeader(header) || left < header_bytes || left - header_bytes < PayloadBytes(header))
    return false;
  return ChecksumHolds(header, header_bytes, PayloadBytes(header));
}

bool LogReader::Afford(uint64_t bytes) {
  if (search_bytes_left_ < bytes) return false;
  search_bytes_left_ -= bytes;
  return true;
}

}  // namespace ashlar

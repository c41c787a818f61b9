#include "compact/run/compaction_output.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/coding.h"
#include "base/out_of_memory.h"
#include "filesystem/filename.h"
#include "key/internal_key.h"

namespace ashlar {

namespace {
// Loads of 800-byte values take a third less time with 1 or 4 MiB than when the disk begins at the
// end, and little less than that with 16.
constexpr uint64_t kWriteBackBytes = uint64_t{4} << 20;

// An upper bound on the bytes that the fragment takes in a block, with tags, lengths and restarts.
uint64_t BytesInBlock(const FragmentedRanges::Fragment& fragment) {
  constexpr uint64_t kOverhead = kTagBytes + 3 * kVarint32BytesMax + sizeof(uint32_t);
  return fragment.sequences.size() * (fragment.begin.size() + fragment.end.size() + kOverhead);
}
}  // namespace

CompactionOutput::CompactionOutput(const CompactionOutputArgs& args)
    : args_(args),
      target_file_bytes_(args.plain ? std::min(args.target_file_bytes, kPlainOutputBytesMax)
                                    : args.target_file_bytes),
      write_back_bytes_(args.bytes_per_sync != 0 ? args.bytes_per_sync : kWriteBackBytes),
      partitioner_(args.new_partitioner ? args.new_partitioner() : nullptr),
      cutter_({.comparator = args.table.comparator,
               .target_file_bytes = target_file_bytes_,
               .file_bytes_max = args.plain ? kPlainOutputBytesMax : UINT64_MAX,
               .grandparents = &args.grandparents,
               .max_grandparent_overlap_bytes = args.max_grandparent_overlap_bytes}),
      cuts_by_key_(cutter_.ByKey() || partitioner_ != nullptr) {}

CompactionOutput::~CompactionOutput() {
  if (open_ != nullptr) {
    IgnoreBadAlloc([this] {
      NotifyEnd(*open_, nullptr, status_.ok() ? Status::Aborted("the job was stopped") : status_);
    });
  }
  open_.reset();
  for (const std::string& path : made_) {
    // The next open removes files that are left, because no version names them.
    IgnoreBadAlloc([&] { static_cast<void>(args_.file_system->DeleteFile(path).ok()); });
  }
}

void CompactionOutput::WriteRanges(const FragmentedRanges* ranges) {
  ranges_ = ranges;
  if (args_.range_bytes_max == UINT64_MAX) return;
  uint64_t bytes = 0;
  FragmentedRanges::Cursor cursor(ranges);
  for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next())
    bytes += BytesInBlock(cursor.fragment());
  if (bytes <= args_.range_bytes_max) return;
  cursor.SeekToFirst();
  next_range_ = cursor;
  cuts_by_key_ = true;
}

Status CompactionOutput::PrepareFor(const Slice& user_key, bool first_of_user_key) {
  ASHLAR_ASSERT(first_of_user_key || open_ != nullptr);  // I1
  if (first_of_user_key) {
    if (next_range_) ASHLAR_RETURN_IF_ERROR(Latch(CutRanges(&user_key)));
    if (CutBefore(user_key)) ASHLAR_RETURN_IF_ERROR(Latch(Close(&user_key)));
  }
  if (partitioner_ != nullptr) last_user_key_.assign(user_key.data(), user_key.size());
  return open_ == nullptr ? Latch(Open()) : Status::OK();
}

Status CompactionOutput::Finish() {
  if (!status_.ok()) return status_;
  if (next_range_) ASHLAR_RETURN_IF_ERROR(Latch(CutRanges(nullptr)));
  if (open_ == nullptr) {
    if (ranges_ == nullptr || ranges_->IsEmpty()) return status_;
    ASHLAR_RETURN_IF_ERROR(Latch(Open()));
  }
  return Latch(Close(nullptr));
}

std::vector<std::unique_ptr<FileMetaData>> CompactionOutput::TakeFiles() {
  ASHLAR_ASSERT(status_.ok() && open_ == nullptr);  // I2
  ASHLAR_ASSERT(made_.size() == files_.size());     // I2
  made_.clear();
  return std::move(files_);
}

Status CompactionOutput::Open() {
  ASHLAR_ASSERT(status_.ok() && open_ == nullptr);      // I3
  ASHLAR_ASSERT(args_.path.empty() || files_.empty());  // one file has the path
  auto opened = std::make_unique<OpenFile>();
  opened->number = args_.new_file_number();
  opened->path = args_.path.empty() ? TableFileName(args_.directory, opened->number) : args_.path;
  made_.push_back(opened->path);
  if (args_.observer != nullptr) args_.observer->TableBegun(opened->path);
  // From here on the destructor reports the end, unless Close does.
  OpenFile* const file = opened.get();
  open_ = std::move(opened);
  return StartFile(file);
}

Status CompactionOutput::StartFile(OpenFile* opened) {
  ASHLAR_RETURN_IF_ERROR(
      args_.file_system->NewWritableFile(opened->path, args_.file_options, &opened->file));
  if (args_.times_files)
    opened->file = std::make_unique<TimedFile>(std::move(opened->file), &file_times_);
  if (args_.checksums != nullptr) ASHLAR_RETURN_IF_ERROR(AddChecksum(opened));
  opened->write_back_at = write_back_bytes_;

  TableWriteArgs table = args_.table;
  table.file = opened->file.get();
  table.file_name = opened->path;
  table.file_number = opened->number;
  if (target_file_bytes_ != UINT64_MAX) table.target_file_bytes = target_file_bytes_;
  table.file_creation_unix_seconds = args_.creation_unix_seconds;
  table.creation_unix_seconds = args_.oldest_ancestor_unix_seconds != 0
                                    ? args_.oldest_ancestor_unix_seconds
                                    : args_.creation_unix_seconds;
  table.oldest_key_unix_seconds = args_.oldest_key_unix_seconds;
  const bool has_ranges = ranges_ != nullptr && !ranges_->IsEmpty();
  if (args_.plain && !has_ranges) {
    ASHLAR_ASSIGN_OR_RETURN(opened->plain,
                            PlainTableBuilder::Create(std::move(table), *args_.plain));
  } else {
    ASHLAR_ASSIGN_OR_RETURN(opened->block_based, TableBuilder::Create(std::move(table)));
  }
  cutter_.Begin();
  return Status::OK();
}

Status CompactionOutput::AddChecksum(OpenFile* opened) const {
  ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<FileChecksumGenerator> generator,
                          NewChecksumGenerator(args_.checksums, opened->path, ""));
  if (generator == nullptr) return Status::OK();
  auto file = std::make_unique<ChecksummedFile>(std::move(opened->file), std::move(generator));
  opened->checksummed = file.get();
  opened->file = std::move(file);
  return Status::OK();
}

// An error is latched in the file, and its Finish returns it.
void CompactionOutput::AddRanges(OpenFile* file, const Slice* next) {
  if (ranges_ == nullptr) return;
  const Slice from = ranges_from_ ? Slice(*ranges_from_) : Slice();
  const FragmentedRanges own = ranges_->Cut(ranges_from_ ? &from : nullptr, next);
  std::vector<RangeTombstone> tombstones;
  AppendTombstones(own, &tombstones);
  for (const RangeTombstone& tombstone : tombstones) file->AddRangeDeletion(tombstone);
  if (next != nullptr) ranges_from_ = next->ToString();
}

Status CompactionOutput::Close(const Slice* next) {
  ASHLAR_ASSERT(status_.ok() && open_ != nullptr);  // I3
  const std::unique_ptr<OpenFile> closing = std::move(open_);
  range_bytes_ = 0;
  TableWriteResult result;
  const Status completed = CatchBadAlloc([&] {
    AddRanges(closing.get(), next);
    return Complete(closing.get(), &result);
  });
  NotifyEnd(*closing, completed.ok() ? &result : nullptr, completed);
  ASHLAR_RETURN_IF_ERROR(completed);

  const KeyComparator& comparator = args_.table.comparator;
  // Each file has an entry, or a range tombstone, which counts as one.
  ASHLAR_ASSERT(result.properties.num_entries > 0 && result.file_bytes > 0);
  ASHLAR_DCHECK(comparator.CompareInternal(result.smallest, result.largest) <= 0);  // I1
  ASHLAR_DCHECK(files_.empty() ||
                files_.back()->EndsBefore(comparator, ExtractUserKey(result.smallest)));  // I1
  auto meta = std::make_unique<FileMetaData>();
  meta->number = closing->number;
  meta->file_bytes = result.file_bytes;
  meta->smallest = std::move(result.smallest);
  meta->largest = std::move(result.largest);
  meta->smallest_sequence = result.smallest_sequence;
  meta->largest_sequence = result.largest_sequence;
  meta->creation_unix_seconds = args_.creation_unix_seconds;
  meta->oldest_ancestor_unix_seconds = args_.oldest_ancestor_unix_seconds != 0
                                           ? args_.oldest_ancestor_unix_seconds
                                           : args_.creation_unix_seconds;
  meta->entries = result.properties.num_entries;
  meta->deletions = result.properties.num_deletions;
  meta->snapshot_versions = closing->snapshot_versions;
  meta->checksum = std::move(closing->checksum.value);
  meta->checksum_function = std::move(closing->checksum.function);
  meta->has_ranges = result.properties.num_range_deletions > 0 ? HasRanges::kYes : HasRanges::kNo;
  meta->marked_for_compaction = (args_.marks_dense_files && result.IsDense()) ||
                                (args_.collectors_mark_files && result.collectors_need_compaction);
  bytes_written_ += meta->file_bytes;
  files_.push_back(std::move(meta));
  return Status::OK();
}

Status CompactionOutput::Complete(OpenFile* closing, TableWriteResult* result) {
  ASHLAR_RETURN_IF_ERROR(closing->Finish(result));
  {
    const StopWatch watch(args_.table.recorder, args_.sync_histogram);
    ASHLAR_RETURN_IF_ERROR(closing->file->Sync());
  }
  ASHLAR_RETURN_IF_ERROR(closing->file->Close());
  if (closing->checksummed != nullptr) closing->checksum = closing->checksummed->Finish();
  return Status::OK();
}

void CompactionOutput::NotifyEnd(const OpenFile& file, const TableWriteResult* result,
                                 const Status& status) {
  if (args_.observer == nullptr) return;
  args_.observer->TableEnded({.path = file.path,
                              .number = file.number,
                              .file_bytes = result != nullptr ? result->file_bytes : 0,
                              .properties = result != nullptr ? &result->properties : nullptr,
                              .checksum = file.checksum,
                              .status = status});
}

void CompactionOutput::StartWriteBack() {
  const uint64_t from = open_->bytes_in_write_back;
  const uint64_t bytes = open_->file->Size();
  // This is only advice. The file latches an error that matters, and its Sync returns it.
  if (bytes > from) static_cast<void>(open_->file->RangeSync(from, bytes - from));
  open_->bytes_in_write_back = bytes;
  open_->write_back_at = open_->EstimatedFileBytes() + write_back_bytes_;
}

bool CompactionOutput::CutBefore(const Slice& user_key) {
  const uint64_t bytes = open_ != nullptr ? open_->EstimatedFileBytes() : 0;
  const bool cut = cutter_.CutBefore(user_key, bytes);
  if (open_ == nullptr) return false;
  if (cut || partitioner_ == nullptr) return cut;
  const Slice last(last_user_key_);
  return partitioner_->ShouldPartition({last, user_key, bytes}) == kRequired;
}

Status CompactionOutput::CutRanges(const Slice* user_key) {
  const KeyComparator& comparator = args_.table.comparator;
  for (; next_range_->Valid(); next_range_->Next()) {
    const FragmentedRanges::Fragment range = next_range_->fragment();
    if (user_key != nullptr && comparator.Compare(*user_key, range.begin) < 0) break;
    const uint64_t bytes = BytesInBlock(range);
    if (range_bytes_ > 0 && range_bytes_ + bytes > args_.range_bytes_max) {
      if (open_ == nullptr) ASHLAR_RETURN_IF_ERROR(Open());
      ASHLAR_RETURN_IF_ERROR(Close(&range.begin));
    }
    range_bytes_ += bytes;
  }
  return Status::OK();
}

Status CompactionOutput::Latch(Status status) {
  if (status_.ok()) status_ = std::move(status);
  return status_;
}

}  // namespace ashlar

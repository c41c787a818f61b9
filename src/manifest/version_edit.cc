#include "manifest/version_edit.h"

#include <utility>

#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "base/result.h"

namespace ashlar {

namespace {

enum Tag : uint32_t {
  kComparator = 1,
  kLogNumber = 2,
  kNextFileNumber = 3,
  kLastSequence = 4,
  kCompactCursor = 5,
  kDeletedFile = 6,
  kNewFile1 = 7,
  kPreviousLogNumber = 9,
  kMinLogNumberToKeep = 10,
  kNewFile2 = 100,
  kNewFile3 = 102,
  kNewFile4 = 103,
  kColumnFamily = 200,
  kColumnFamilyAdd = 201,
  kColumnFamilyDrop = 202,
  kMaxColumnFamily = 203,
  kInAtomicGroup = 300,
  kBlobFileAddition = 400,
  kBlobFileGarbage = 401,
  kIgnorableBit = 1 << 13,
  kDatabaseId = 8193,
  kOldBlobFileAddition = 8194,
  kOldBlobFileGarbage = 8195,
  kUnprefixedLogAddition = 8196,
  kUnprefixedLogDeletion = 8197,
  kFullHistoryTimestampLow = 8198,
  kLogAddition = 8199,
  kLogDeletion = 8200,
  kPersistUserTimestamps = 8201,
  kSyncedLog = 10833,  // Ashlar's
};

enum FileField : uint32_t {
  kEndOfFields = 1,
  kNeedsCompaction = 2,
  kMinLogInFile = 3,
  kOldestBlobFile = 4,
  kOldestAncestorTime = 5,
  kCreationTime = 6,
  kChecksum = 7,
  kChecksumFunction = 8,
  kTemperature = 9,
  kMinTimestamp = 10,
  kMaxTimestamp = 11,
  kEpochNumber = 13,
  kUserTimestampsPersisted = 16,
  kPath = 65,
  kRefuseUnknownBit = 1 << 6,
};

enum LogAdditionField : uint32_t { kEndOfLogAddition = 1, kSyncedBytes = 2 };

void PutTag64(std::string* out, uint32_t tag, uint64_t value) {
  PutVarint32(out, tag);
  PutVarint64(out, value);
}
void PutTag32(std::string* out, uint32_t tag, uint32_t value) {
  PutVarint32(out, tag);
  PutVarint32(out, value);
}
void PutTagString(std::string* out, uint32_t tag, const Slice& value) {
  PutVarint32(out, tag);
  PutLengthPrefixedSlice(out, value);
}
void PutVarintField(std::string* out, FileField field, uint64_t value) {
  char buffer[kVarint64BytesMax];
  const char* end = EncodeVarint64(buffer, value);
  PutTagString(out, field, Slice(buffer, static_cast<size_t>(end - buffer)));
}
void PutFixed64Field(std::string* out, FileField field, uint64_t value) {
  char buffer[sizeof(value)];
  EncodeFixed64(buffer, value);
  PutTagString(out, field, Slice(buffer, sizeof(buffer)));
}

void PutNewFile(std::string* out, const NewFile& added,
                const std::optional<uint64_t>& min_log_number) {
  const FileMetaData& file = *added.file;
  ASHLAR_ASSERT(file.smallest.size() >= kTagBytes && file.largest.size() >= kTagBytes);  // I3
  PutTag32(out, kNewFile4, added.level);
  PutVarint64(out, file.number);
  PutVarint64(out, file.file_bytes);
  PutLengthPrefixedSlice(out, file.smallest);
  PutLengthPrefixedSlice(out, file.largest);
  PutVarint64(out, file.smallest_sequence);
  PutVarint64(out, file.largest_sequence);
  PutVarintField(out, kOldestAncestorTime, file.oldest_ancestor_unix_seconds);
  PutVarintField(out, kCreationTime, file.creation_unix_seconds);
  PutTagString(out, kChecksum, file.checksum);
  PutTagString(out, kChecksumFunction, file.checksum_function);
  if (file.temperature != Temperature::kUnknown) {
    const auto temperature = static_cast<char>(file.temperature);
    PutTagString(out, kTemperature, Slice(&temperature, 1));
  }
  if (file.marked_for_compaction) PutTagString(out, kNeedsCompaction, Slice("\x01", 1));
  if (min_log_number.has_value()) PutFixed64Field(out, kMinLogInFile, *min_log_number);
  out->append(file.other_fields);
  PutVarint32(out, kEndOfFields);
}

std::string EncodeLogAddition(const LogAddition& addition) {
  std::string out;
  PutVarint64(&out, addition.number);
  if (addition.synced_bytes.has_value()) PutTag64(&out, kSyncedBytes, *addition.synced_bytes);
  PutVarint32(&out, kEndOfLogAddition);
  return out;
}

Status Malformed(const char* what) { return Status::Corruption(StrCat("malformed ", what)); }
Status Unsupported(const std::string& what) { return Status::NotSupported(what); }

}  // namespace

void VersionEdit::AddFile(Level level, std::unique_ptr<FileMetaData> file) {
  ASHLAR_ASSERT(level < kLevelsMax);  // I3
  const FileMetaData* facts = file.get();
  new_files_.push_back(NewFile{.level = level, .owned = std::move(file), .file = facts});
}

void VersionEdit::MoveFile(Level from, Level to, const FileMetaData* file) {
  ASHLAR_ASSERT(to < kLevelsMax);  // I3
  DeleteFile(from, file->number);
  new_files_.push_back(NewFile{.level = to, .owned = nullptr, .file = file});
}

void VersionEdit::EncodeTo(std::string* out) const {
  if (database_id.has_value()) PutTagString(out, kDatabaseId, *database_id);
  if (comparator.has_value()) PutTagString(out, kComparator, *comparator);
  if (log_number.has_value()) PutTag64(out, kLogNumber, *log_number);
  if (previous_log_number.has_value()) PutTag64(out, kPreviousLogNumber, *previous_log_number);
  if (next_file_number.has_value()) PutTag64(out, kNextFileNumber, *next_file_number);
  if (max_column_family.has_value()) PutTag32(out, kMaxColumnFamily, *max_column_family);
  if (min_log_number_to_keep.has_value())
    PutTag64(out, kMinLogNumberToKeep, *min_log_number_to_keep);
  if (last_sequence.has_value()) PutTag64(out, kLastSequence, *last_sequence);
  for (const auto& [level, key] : compact_cursors) {
    PutTag32(out, kCompactCursor, level);
    PutLengthPrefixedSlice(out, key);
  }
  for (const DeletedFile& deleted : deleted_files_) {
    PutTag32(out, kDeletedFile, deleted.level);
    PutVarint64(out, deleted.number);
  }
  // The lowest log to keep is also in the first file, for readers that do not support its own tag.
  std::optional<uint64_t> min_log_in_file = min_log_number_to_keep;
  for (const NewFile& added : new_files_)
    PutNewFile(out, added, std::exchange(min_log_in_file, std::nullopt));
  for (const LogAddition& addition : log_additions) {
    // RocksDB 7.8 refuses to open a database read-only if the MANIFEST has synced logs and it does
    // not track them itself. It skips Ashlar's tag.
    const bool is_ours = addition.synced_bytes.has_value() && !addition.is_tracked;
    PutTagString(out, is_ours ? kSyncedLog : kLogAddition, EncodeLogAddition(addition));
  }
  if (log_deletion.has_value()) {
    std::string encoded;
    PutVarint64(&encoded, *log_deletion);
    PutTagString(out, kLogDeletion, encoded);
  }
  if (column_family != 0) PutTag32(out, kColumnFamily, column_family);
  if (added_column_family.has_value()) PutTagString(out, kColumnFamilyAdd, *added_column_family);
  if (drops_column_family) PutVarint32(out, kColumnFamilyDrop);
  if (atomic_group_remaining.has_value()) PutTag32(out, kInAtomicGroup, *atomic_group_remaining);
}

// Reads one record into an edit. A step that fails returns the reason.
class EditDecoder {
 public:
  EditDecoder(const Slice& record, VersionEdit* edit) : input_(record), edit_(edit) {}

  Status Run() {
    while (!input_.empty()) {
      uint32_t tag = 0;
      if (!GetVarint32(&input_, &tag)) return Malformed("tag");
      ASHLAR_RETURN_IF_ERROR(TakeField(tag));
    }
    return Status::OK();
  }

 private:
  Status TakeField(uint32_t tag) {
    switch (tag) {
      case kComparator: return TakeString("comparator name", &edit_->comparator);
      case kLogNumber: return TakeFileNumber("log number", &edit_->log_number);
      case kPreviousLogNumber:
        return TakeFileNumber("previous log number", &edit_->previous_log_number);
      case kMinLogNumberToKeep:
        return TakeFileNumber("lowest log number to keep", &edit_->min_log_number_to_keep);
      case kNextFileNumber: return TakeFileNumber("next file number", &edit_->next_file_number);
      case kLastSequence: return TakeSequence("last sequence", &edit_->last_sequence.emplace());
      case kCompactCursor: return TakeCompactCursor();
      case kDeletedFile: return TakeDeletedFile();
      case kNewFile1:
      case kNewFile2:
      case kNewFile3:
      case kNewFile4: return TakeNewFile(tag);
      default: return TakeFamilyField(tag);
    }
  }

  Status TakeFamilyField(uint32_t tag) {
    switch (tag) {
      case kColumnFamily: return TakeFamilyId("column family", &edit_->column_family);
      case kColumnFamilyAdd: return TakeString("column family name", &edit_->added_column_family);
      case kColumnFamilyDrop: edit_->drops_column_family = true; return Status::OK();
      case kMaxColumnFamily:
        return TakeFamilyId("highest column family", &edit_->max_column_family.emplace());
      case kInAtomicGroup:
        return GetVarint32(&input_, &edit_->atomic_group_remaining.emplace())
                   ? Status::OK()
                   : Malformed("atomic group");
      case kBlobFileAddition:
      case kBlobFileGarbage:
      case kOldBlobFileAddition:
      case kOldBlobFileGarbage: return Unsupported("blob files");
      case kUnprefixedLogAddition: return TakeLogAddition(&input_, /*is_ours=*/false);
      case kUnprefixedLogDeletion: return TakeLogDeletion(&input_);
      default: return TakeIgnorableField(tag);
    }
  }

  // The fields that carry their own length.
  Status TakeIgnorableField(uint32_t tag) {
    if ((tag & kIgnorableBit) == 0)
      return Unsupported(StrCat("a field with the unknown tag ", tag));
    Slice value;
    if (!GetLengthPrefixedSlice(&input_, &value)) return Malformed("field that may be ignored");
    switch (tag) {
      case kDatabaseId: edit_->database_id = value.ToString(); return Status::OK();
      case kLogAddition: return TakeLogAddition(&value, /*is_ours=*/false);
      case kSyncedLog: return TakeLogAddition(&value, /*is_ours=*/true);
      case kLogDeletion: return TakeLogDeletion(&value);
      case kFullHistoryTimestampLow: return Unsupported("user-defined timestamps");
      case kPersistUserTimestamps: {
        // Later versions write it with every comparator. Only "not persisted" means timestamps.
        const bool persisted = value.size() == 1 && value[0] == 1;
        return persisted ? Status::OK()
                         : Unsupported("user-defined timestamps that are not persisted");
      }
      default: return Status::OK();
    }
  }

  Status TakeString(const char* what, std::optional<std::string>* result) {
    Slice value;
    if (!GetLengthPrefixedSlice(&input_, &value)) return Malformed(what);
    *result = value.ToString();
    return Status::OK();
  }

  static Status CheckAtMost(uint64_t max, const char* what, uint64_t value) {
    return value <= max ? Status::OK()
                        : Status::Corruption(StrCat(
                              what, " ", value, " is above the highest that is allowed, ", max));
  }
  static Status TakeNumber(Slice* input, uint64_t max, const char* what, uint64_t* result) {
    return GetVarint64(input, result) ? CheckAtMost(max, what, *result) : Malformed(what);
  }
  Status TakeFileNumber(const char* what, std::optional<uint64_t>* result) {
    return TakeFileNumber(what, &result->emplace());
  }
  Status TakeFileNumber(const char* what, uint64_t* result) {
    return TakeNumber(&input_, kFileNumberMax, what, result);
  }
  Status TakeSequence(const char* what, SequenceNumber* result) {
    return TakeNumber(&input_, kSequenceNumberMax, what, result);
  }
  Status TakeFamilyId(const char* what, ColumnFamilyId* result) {
    return GetVarint32(&input_, result) ? CheckAtMost(kColumnFamilyIdMax, what, *result)
                                        : Malformed(what);
  }

  Status TakeLevel(Level* level) {
    return GetVarint32(&input_, level) && *level < kLevelsMax ? Status::OK() : Malformed("level");
  }

  Status TakeInternalKey(std::string* key) {
    Slice value;
    if (!GetLengthPrefixedSlice(&input_, &value) || value.size() < kTagBytes)
      return Malformed("internal key");
    *key = value.ToString();
    return Status::OK();
  }

  Status TakeCompactCursor() {
    auto& [level, key] = edit_->compact_cursors.emplace_back();
    ASHLAR_RETURN_IF_ERROR(TakeLevel(&level));
    return TakeInternalKey(&key);
  }

  Status TakeDeletedFile() {
    DeletedFile deleted;
    ASHLAR_RETURN_IF_ERROR(TakeLevel(&deleted.level));
    ASHLAR_RETURN_IF_ERROR(TakeFileNumber("deleted file", &deleted.number));
    edit_->deleted_files_.insert(deleted);
    return Status::OK();
  }

  Status TakeNewFile(uint32_t tag) {
    Level level = 0;
    auto file = std::make_unique<FileMetaData>();
    ASHLAR_RETURN_IF_ERROR(TakeLevel(&level));
    ASHLAR_RETURN_IF_ERROR(TakeFileNumber("file number", &file->number));
    if (tag == kNewFile3) {
      uint32_t path = 0;
      if (!GetVarint32(&input_, &path)) return Malformed("path of a file");
      ASHLAR_RETURN_IF_ERROR(CheckPath(path));
    }
    if (!GetVarint64(&input_, &file->file_bytes)) return Malformed("file size");
    ASHLAR_RETURN_IF_ERROR(TakeInternalKey(&file->smallest));
    ASHLAR_RETURN_IF_ERROR(TakeInternalKey(&file->largest));
    if (tag != kNewFile1) {
      ASHLAR_RETURN_IF_ERROR(TakeSequence("smallest sequence of a file", &file->smallest_sequence));
      ASHLAR_RETURN_IF_ERROR(TakeSequence("largest sequence of a file", &file->largest_sequence));
    }
    if (tag == kNewFile4) ASHLAR_RETURN_IF_ERROR(TakeFileFields(file.get()));
    edit_->AddFile(level, std::move(file));
    return Status::OK();
  }

  Status TakeFileFields(FileMetaData* file) {
    while (true) {
      uint32_t field = 0;
      if (!GetVarint32(&input_, &field)) return Malformed("field of a file");
      if (field == kEndOfFields) return Status::OK();
      Slice value;
      if (!GetLengthPrefixedSlice(&input_, &value)) return Malformed("field of a file");
      ASHLAR_RETURN_IF_ERROR(TakeFileField(field, value, file));
    }
  }

  Status TakeFileField(uint32_t field, Slice value, FileMetaData* file) {
    switch (field) {
      case kNeedsCompaction:
        if (value.size() != 1) return Malformed("mark for compaction of a file");
        file->marked_for_compaction = value[0] == 1;
        return Status::OK();
      case kMinLogInFile:
        if (!GetFixed64(&value, &edit_->min_log_number_to_keep.emplace()))
          return Malformed("lowest log number in a file");
        return CheckAtMost(kFileNumberMax, "lowest log number in a file",
                           *edit_->min_log_number_to_keep);
      case kOldestAncestorTime:
        return GetVarint64(&value, &file->oldest_ancestor_unix_seconds)
                   ? Status::OK()
                   : Malformed("ancestor time of a file");
      case kCreationTime:
        return GetVarint64(&value, &file->creation_unix_seconds)
                   ? Status::OK()
                   : Malformed("creation time of a file");
      case kChecksum: file->checksum = value.ToString(); return Status::OK();
      case kChecksumFunction: file->checksum_function = value.ToString(); return Status::OK();
      case kPath:
        if (value.size() != 1) return Malformed("path of a file");
        return CheckPath(static_cast<uint8_t>(value[0]));
      case kTemperature: return TakeTemperature(value, file);
      case kOldestBlobFile:
        return value == Slice("\0", 1) ? Status::OK() : Unsupported("blob files");
      case kMinTimestamp:
      case kMaxTimestamp:
      case kUserTimestampsPersisted: return Unsupported("user-defined timestamps");
      case kEpochNumber:
        KeepField(field, value, file);
        return GetVarint64(&value, &file->epoch_number) ? Status::OK()
                                                        : Malformed("epoch number of a file");
      default:
        if ((field & kRefuseUnknownBit) != 0)
          return Unsupported(StrCat("a file with the unknown field ", field));
        KeepField(field, value, file);
        return Status::OK();
    }
  }

  // As in RocksDB, an unknown temperature counts as none.
  static Status TakeTemperature(const Slice& value, FileMetaData* file) {
    if (value.size() != 1) return Malformed("temperature of a file");
    const auto temperature = static_cast<Temperature>(value[0]);
    if (temperature == Temperature::kUnknown || temperature > Temperature::kIce)
      return Status::OK();
    file->temperature = temperature;
    return Status::OK();
  }

  static void KeepField(uint32_t field, const Slice& value, FileMetaData* file) {
    PutVarint32(&file->other_fields, field);
    PutLengthPrefixedSlice(&file->other_fields, value);
  }

  static Status CheckPath(uint32_t path) {
    return path == 0 ? Status::OK() : Unsupported("more than one database path");
  }

  Status TakeLogAddition(Slice* input, bool is_ours) {
    LogAddition addition;
    ASHLAR_RETURN_IF_ERROR(TakeNumber(input, kFileNumberMax, "log addition", &addition.number));
    while (true) {
      uint32_t field = 0;
      if (!GetVarint32(input, &field)) return Malformed("log addition");
      if (field == kEndOfLogAddition) break;
      // Fields have no length here, so an unknown one cannot be skipped.
      if (field != kSyncedBytes)
        return Unsupported(StrCat("a log addition with the unknown field ", field));
      if (!GetVarint64(input, &addition.synced_bytes.emplace()))
        return Malformed("synced size of a log");
    }
    addition.is_tracked = addition.synced_bytes.has_value() && !is_ours;
    edit_->log_additions.push_back(addition);
    return Status::OK();
  }

  Status TakeLogDeletion(Slice* input) {
    return TakeNumber(input, kFileNumberMax, "log deletion", &edit_->log_deletion.emplace());
  }

  Slice input_;
  VersionEdit* const edit_;
};

Status VersionEdit::DecodeFrom(const Slice& record) { return EditDecoder(record, this).Run(); }

std::string VersionEdit::DebugString() const {
  std::string out = StrCat("family ", column_family);
  const auto number = [&out](const char* name, const auto& value) {
    if (value.has_value()) StrAppend(&out, ", ", name, " ", *value);
  };
  if (database_id.has_value()) StrAppend(&out, ", database ", EscapeForDisplay(*database_id));
  if (comparator.has_value()) StrAppend(&out, ", comparator ", EscapeForDisplay(*comparator));
  number("log", log_number);
  number("previous log", previous_log_number);
  number("next file", next_file_number);
  number("highest family", max_column_family);
  number("lowest log to keep", min_log_number_to_keep);
  number("last sequence", last_sequence);
  for (const auto& [level, key] : compact_cursors) StrAppend(&out, ", cursor in level ", level);
  for (const DeletedFile& deleted : deleted_files_)
    StrAppend(&out, ", delete ", deleted.number, " from level ", deleted.level);
  for (const NewFile& added : new_files_) {
    StrAppend(&out, ", add ", added.file->number, " to level ", added.level, " (",
              added.file->file_bytes, " bytes, sequences ", added.file->smallest_sequence, " to ",
              added.file->largest_sequence);
    if (added.file->temperature != Temperature::kUnknown)
      StrAppend(&out, ", temperature ", static_cast<int>(added.file->temperature));
    out += ")";
  }
  for (const LogAddition& addition : log_additions) {
    StrAppend(&out, ", log ", addition.number);
    if (addition.synced_bytes.has_value()) StrAppend(&out, " synced to ", *addition.synced_bytes);
  }
  number("logs deleted below", log_deletion);
  if (added_column_family.has_value())
    StrAppend(&out, ", add family ", EscapeForDisplay(*added_column_family));
  if (drops_column_family) out += ", drop family";
  number("atomic group, still to come", atomic_group_remaining);
  return out;
}

}  // namespace ashlar

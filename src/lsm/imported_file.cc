#include "lsm/imported_file.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "filesystem/file_checksum.h"
#include "key/record_kind.h"
#include "lsm/external_file.h"
#include "lsm/resolve_options.h"
#include "platform/path.h"
#include "table/table_properties.h"

namespace ashlar {

namespace {

constexpr TableReadOptions kUncached{.fill_cache = false};

class Inspection {
 public:
  Inspection(const ImportedFileArgs& args, const LiveFileMetaData& given)
      : args_(args), given_(given), comparator_(args.options->comparator) {}

  Result<ImportedFile> Run() {
    ASHLAR_RETURN_IF_ERROR(FindPath());
    ASHLAR_RETURN_IF_ERROR(CheckMetadata());
    ASHLAR_RETURN_IF_ERROR(Open());
    ASHLAR_RETURN_IF_ERROR(TakeBounds());
    ASHLAR_RETURN_IF_ERROR(table_->reader()->Verify());
    ASHLAR_RETURN_IF_ERROR(CheckEntries());
    ASHLAR_RETURN_IF_ERROR(CheckRanges());
    ASHLAR_RETURN_IF_ERROR(TakeChecksum());
    const TableProperties& properties = table_->reader()->properties();
    // Level 0 is ordered by the sequences that the entries have, not by what the metadata allows.
    if (found_smallest_ <= found_largest_) {
      file_.meta->smallest_sequence = found_smallest_;
      file_.meta->largest_sequence = found_largest_;
    }
    file_.meta->LearnCounts(properties);
    file_.meta->has_ranges = table_->reader()->HasRanges() ? HasRanges::kYes : HasRanges::kNo;
    return std::move(file_);
  }

 private:
  Status Bad(const std::string& why) const { return Status::InvalidArgument(file_.path, why); }
  Status Damaged(const std::string& why) const { return Status::Corruption(file_.path, why); }
  bool HasBounds() const { return !given_.smallest.empty(); }

  // The name may come from untrusted input.
  Status FindPath() {
    std::string name = given_.name.empty() ? given_.relative_filename : given_.name;
    if (name.starts_with('/')) name.erase(0, 1);
    if (name.empty() || name.find_first_of(kPathSeparators) != std::string::npos)
      return Status::InvalidArgument(name, "is not the name of a file in its directory");
    file_.path = StrCat(given_.db_path.empty() ? given_.directory : given_.db_path, "/", name);
    return Status::OK();
  }

  Status CheckMetadata() {
    const int levels = args_.options->num_levels;
    if (given_.level < 0 || given_.level >= levels) {
      return Bad(StrCat("is of level ", given_.level, ", and the column family has ", levels,
                        " levels; raise num_levels"));
    }
    if (given_.smallest_seqno > given_.largest_seqno ||
        given_.largest_seqno > kSequenceNumberMaxOfOthers)
      return Bad(StrCat("its metadata has the impossible sequence numbers ", given_.smallest_seqno,
                        " to ", given_.largest_seqno));
    if (given_.smallest.empty() != given_.largest.empty())
      return Bad("its metadata has one bound without the other");
    if (HasBounds() && (given_.smallest.size() < kTagBytes || given_.largest.size() < kTagBytes ||
                        !HoldAKey(comparator_, given_.smallest, given_.largest)))
      return Bad("its metadata has bounds that are no internal keys, or in the wrong order");
    file_.level = static_cast<Level>(given_.level);
    file_.meta = std::make_unique<FileMetaData>();
    file_.meta->smallest_sequence = given_.smallest_seqno;
    file_.meta->largest_sequence = given_.largest_seqno;
    file_.epoch_number = given_.epoch_number;
    return Status::OK();
  }

  Status Open() {
    const DatabaseState& state = *args_.state;
    ASHLAR_RETURN_IF_ERROR(state.file_system->GetFileSize(file_.path, &file_.meta->file_bytes));
    if (given_.size != 0 && given_.size != file_.meta->file_bytes) {
      return Damaged(
          StrCat("has ", file_.meta->file_bytes, " bytes, and its metadata says ", given_.size));
    }
    ASHLAR_ASSIGN_OR_RETURN(table_, OpenExternalTable(state, *args_.options, file_.path,
                                                      {.smallest = given_.smallest,
                                                       .largest = given_.largest,
                                                       .largest_sequence = given_.largest_seqno}));
    return Status::OK();
  }

  Status TakeBounds() {
    const TableReader& reader = *table_->reader();
    const TableProperties& properties = reader.properties();
    if (properties.num_entries == 0 && reader.ranges().IsEmpty())
      return Bad("the table has no entries");
    // RocksDB's range deletions may extend past the file. Only its MANIFEST says where they end.
    const bool made_by_writer =
        properties.user_collected_properties.contains(kPropertyExternalVersion);
    if (!HasBounds() && !made_by_writer && !reader.ranges().IsEmpty()) {
      return Status::NotSupported(file_.path,
                                  "range deletions in a database's table whose metadata lacks the "
                                  "bounds (LiveFileMetaData::smallest and largest)");
    }
    if (!reader.ranges().IsEmpty() && WritesPlainTables(*args_.options))
      return Status::NotSupported(file_.path, "range deletions for a family of PlainTables");
    file_.meta->smallest = table_->file()->smallest;
    file_.meta->largest = table_->file()->largest;
    return Status::OK();
  }

  Status TakeSequence(SequenceNumber sequence) {
    found_smallest_ = std::min(found_smallest_, sequence);
    found_largest_ = std::max(found_largest_, sequence);
    if (sequence >= given_.smallest_seqno && sequence <= given_.largest_seqno) [[likely]]
      return Status::OK();
    return Damaged(StrCat("has an entry with sequence number ", sequence,
                          ", and its metadata says from ", given_.smallest_seqno, " to ",
                          given_.largest_seqno));
  }

  Status CheckEntries() {
    const FileMetaData& meta = *file_.meta;
    const uint32_t user_key_bytes = ResolveUserKeyBytes(*args_.options);
    const std::unique_ptr<InternalCursor> cursor = table_->reader()->NewCursor(kUncached);
    std::string last;
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      const Slice key = cursor->key();
      ASHLAR_RETURN_IF_ERROR(TakeSequence(TagSequence(ExtractTag(key))));
      const RecordRole role = RoleOf(ExtractType(key));
      if (role == RecordRole::kNone || role == RecordRole::kRefused || role == RecordRole::kRange) {
        return Status::NotSupported(
            file_.path,
            StrCat("entries of type ", static_cast<int>(ExtractType(key)), " are not implemented"));
      }
      if (user_key_bytes != 0 && ExtractUserKey(key).size() != user_key_bytes)
        return Bad(StrCat("has a key that is not of ", user_key_bytes,
                          " bytes, the length that PlainTableOptions::user_key_len gives"));
      if (last.empty() && comparator_.CompareInternal(key, meta.smallest) < 0)
        return Damaged("has a key before the smallest that its metadata says");
      last.assign(key.data(), key.size());
    }
    ASHLAR_RETURN_IF_ERROR(cursor->status());
    if (!last.empty() && comparator_.CompareInternal(meta.largest, last) < 0)
      return Damaged("has a key after the largest that its metadata says");
    return Status::OK();
  }

  Status CheckRanges() {
    FragmentedRanges::Cursor at(&table_->reader()->ranges());
    for (at.SeekToFirst(); at.Valid(); at.Next()) {
      ASHLAR_ASSERT(!at.sequences().empty());  // a fragment, no gap
      ASHLAR_RETURN_IF_ERROR(TakeSequence(at.sequences().front()));
      ASHLAR_RETURN_IF_ERROR(TakeSequence(at.sequences().back()));
    }
    return Status::OK();
  }

  // Compares the given checksum only if the factory has its function.
  Status TakeChecksum() {
    FileChecksumGenFactory* const factory = args_.state->options.file_checksum_gen_factory.get();
    if (factory == nullptr) return Status::OK();
    const bool compares =
        !given_.file_checksum.empty() && !given_.file_checksum_func_name.empty() &&
        NewChecksumGenerator(factory, file_.path, given_.file_checksum_func_name).ok();
    ASHLAR_ASSIGN_OR_RETURN(
        FileChecksum found,
        ComputeFileChecksum(args_.state->file_system, file_.path, factory,
                            compares ? given_.file_checksum_func_name : std::string()));
    if (compares && found.value != given_.file_checksum)
      return Damaged("has another checksum than its metadata says");
    file_.meta->checksum = std::move(found.value);
    file_.meta->checksum_function = std::move(found.function);
    return Status::OK();
  }

  const ImportedFileArgs& args_;
  const LiveFileMetaData& given_;
  const KeyComparator comparator_;
  ImportedFile file_;
  SequenceNumber found_smallest_ = kSequenceNumberMax;
  SequenceNumber found_largest_ = 0;
  std::unique_ptr<StandaloneTable> table_;
};

}  // namespace

Result<ImportedFile> InspectImportedFile(const ImportedFileArgs& args,
                                         const LiveFileMetaData& given) {
  return Inspection(args, given).Run();
}

}  // namespace ashlar

#include "lsm/external_file.h"

#include <memory>
#include <utility>

#include "base/coding.h"
#include "base/format.h"
#include "lsm/resolve_options.h"
#include "table/open/standalone_table.h"
#include "table/table_properties.h"

namespace ashlar {

namespace {

constexpr uint64_t kUnknownFamily = 0x7fffffff;
constexpr TableReadOptions kUncached{.fill_cache = false};

class Inspection {
 public:
  Inspection(const ExternalFileArgs& args, const std::string& path) : args_(args) {
    file_.path = path;
  }

  Result<ExternalFile> Run() {
    const DatabaseState& state = *args_.state;
    ASHLAR_ASSIGN_OR_RETURN(
        table_, StandaloneTable::Open({.file_system = state.file_system,
                                       .path = file_.path,
                                       .comparator = args_.family->comparator(),
                                       .config = ResolveTableConfig(args_.options),
                                       .plain_config = ResolvePlainTableConfig(args_.options),
                                       .mmap_reads = state.options.allow_mmap_reads,
                                       .direct_reads = state.options.use_direct_reads,
                                       .recorder = state.recorder}));
    file_.file_bytes = table_->file()->file_bytes;
    file_.properties = table_->reader()->properties();
    ASHLAR_RETURN_IF_ERROR(CheckOrigin());
    ASHLAR_RETURN_IF_ERROR(CheckFamily());
    if (args_.verify_blocks) ASHLAR_RETURN_IF_ERROR(table_->reader()->Verify());
    ASHLAR_RETURN_IF_ERROR(FindBounds());
    if (file_.made_by_database) ASHLAR_RETURN_IF_ERROR(FindSequences());
    return std::move(file_);
  }

 private:
  const std::string* Property(const char* name) const {
    const auto found = file_.properties.user_collected_properties.find(name);
    return found == file_.properties.user_collected_properties.end() ? nullptr : &found->second;
  }
  Status Bad(const std::string& why) const { return Status::InvalidArgument(file_.path, why); }

  // The loader has checked the form of the properties.
  Status CheckOrigin() {
    const std::string* const version = Property(kPropertyExternalVersion);
    if (version == nullptr) {
      file_.made_by_database = true;
      if (args_.may_be_of_database) return Status::OK();
      return Status::Corruption(file_.path,
                                StrCat("no SstFileWriter made this table: it lacks the property ",
                                       kPropertyExternalVersion));
    }
    const std::string* const sequence = Property(kPropertyGlobalSequence);
    file_.takes_global_sequence = sequence != nullptr;
    if (sequence == nullptr || DecodeFixed64(sequence->data()) == 0) return Status::OK();
    return Bad(StrCat("the table has the global sequence number ", DecodeFixed64(sequence->data()),
                      " already: it was ingested before"));
  }

  Status CheckFamily() const {
    const uint64_t id = file_.properties.column_family_id;
    if (args_.any_family || id == kUnknownFamily || id == args_.family->id()) return Status::OK();
    return Bad(StrCat("the table was written for column family ", id, ", not ", args_.family->id(),
                      " (\"", args_.family->name(), "\")"));
  }

  Status FindBounds() {
    const std::unique_ptr<InternalCursor> cursor = table_->reader()->NewCursor(kUncached);
    cursor->SeekToFirst();
    if (cursor->Valid()) file_.smallest = cursor->key().ToString();
    ASHLAR_RETURN_IF_ERROR(cursor->status());
    cursor->SeekToLast();
    if (cursor->Valid()) file_.largest = cursor->key().ToString();
    ASHLAR_RETURN_IF_ERROR(cursor->status());
    const FragmentedRanges& ranges = table_->reader()->ranges();
    if (file_.smallest.empty() && ranges.IsEmpty()) return Bad("the table has no entries");
    if (!ranges.IsEmpty()) ASHLAR_RETURN_IF_ERROR(AddRanges(ranges));
    const KeyComparator& comparator = args_.family->comparator();
    if (comparator.CompareInternal(file_.smallest, file_.largest) > 0)
      return Status::Corruption(file_.path, "its keys are out of order");
    for (const std::string* bound : {&file_.smallest, &file_.largest})
      ASHLAR_RETURN_IF_ERROR(
          args_.family->CheckEntry(ExtractUserKey(*bound), Slice()).WithContext(file_.path));
    return Status::OK();
  }

  Status AddRanges(const FragmentedRanges& ranges) {
    const KeyComparator& comparator = args_.family->comparator();
    FragmentedRanges::Cursor at(&ranges);
    at.SeekToFirst();
    const std::string begin =
        MakeInternalKey(at.begin(), at.sequences().front(), ValueType::kRangeDeletion);
    at.SeekToLast();
    std::string end;
    AppendInternalKey(&end, at.end(), kRangeEndTag);
    ASHLAR_RETURN_IF_ERROR(args_.family->CheckRange(ExtractUserKey(begin), ExtractUserKey(end))
                               .WithContext(file_.path));
    const bool only_ranges = file_.smallest.empty();
    if (only_ranges || comparator.CompareInternal(begin, file_.smallest) < 0)
      file_.smallest = begin;
    if (only_ranges || comparator.CompareInternal(file_.largest, end) < 0)
      file_.largest = std::move(end);
    return Status::OK();
  }

  // Of a database's table, in which they are stored per entry.
  Status FindSequences() {
    // RocksDB writes them longer than the file, and its MANIFEST says where they end.
    if (!table_->reader()->ranges().IsEmpty())
      return Status::NotSupported(file_.path, "range deletions in a database's table");
    file_.smallest_sequence = kSequenceNumberMax;
    const std::unique_ptr<InternalCursor> cursor = table_->reader()->NewCursor(kUncached);
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      const SequenceNumber sequence = TagSequence(ExtractTag(cursor->key()));
      file_.smallest_sequence = std::min(file_.smallest_sequence, sequence);
      file_.largest_sequence = std::max(file_.largest_sequence, sequence);
    }
    ASHLAR_RETURN_IF_ERROR(cursor->status());
    if (file_.largest_sequence <= kSequenceNumberMaxAtOpen) return Status::OK();
    return Status::Corruption(file_.path, "its sequence numbers are too large");
  }

  const ExternalFileArgs& args_;
  ExternalFile file_;
  std::unique_ptr<StandaloneTable> table_;
};

}  // namespace

Result<ExternalFile> InspectExternalFile(const ExternalFileArgs& args, const std::string& path) {
  return Inspection(args, path).Run();
}

}  // namespace ashlar

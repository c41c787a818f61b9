#include "lsm/external_file.h"

#include <utility>

#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "filesystem/filename.h"
#include "lsm/resolve_options.h"
#include "platform/path.h"
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
    ASHLAR_RETURN_IF_ERROR(TakeChecksum());
    ASHLAR_ASSIGN_OR_RETURN(table_, OpenExternalTable(*args_.state, args_.options, file_.path, {}));
    file_.file_bytes = table_->file()->file_bytes;
    file_.properties = table_->reader()->properties();
    ASHLAR_RETURN_IF_ERROR(CheckOrigin());
    ASHLAR_RETURN_IF_ERROR(CheckFamily());
    if (args_.verify_blocks) ASHLAR_RETURN_IF_ERROR(table_->reader()->Verify());
    ASHLAR_RETURN_IF_ERROR(TakeBounds());
    if (file_.made_by_database) ASHLAR_RETURN_IF_ERROR(FindSequences());
    return std::move(file_);
  }

 private:
  const std::string* Property(const char* name) const {
    const auto found = file_.properties.user_collected_properties.find(name);
    return found == file_.properties.user_collected_properties.end() ? nullptr : &found->second;
  }
  Status Bad(const std::string& why) const { return Status::InvalidArgument(file_.path, why); }

  // Records no checksum if there is no factory.
  Status TakeChecksum() {
    FileChecksumGenFactory* const factory = args_.state->options.file_checksum_gen_factory.get();
    const FileChecksum* const given = args_.given_checksum;
    if (factory != nullptr && given != nullptr && !args_.verify_given_checksum) {
      file_.checksum = *given;
      return NewChecksumGenerator(factory, file_.path, given->function).status();
    }
    if (factory != nullptr) {
      ASHLAR_ASSIGN_OR_RETURN(file_.checksum,
                              Compute(factory, given != nullptr ? given->function : std::string()));
      return given == nullptr ? Status::OK() : CheckIsGiven(file_.checksum);
    }
    if (given == nullptr || !args_.verify_given_checksum ||
        given->function != kStandardDbFileChecksumFuncName)
      return Status::OK();
    ASHLAR_ASSIGN_OR_RETURN(const FileChecksum found,
                            Compute(GetFileChecksumGenCrc32cFactory().get(), given->function));
    return CheckIsGiven(found);
  }

  Result<FileChecksum> Compute(FileChecksumGenFactory* factory, const std::string& function) const {
    return ComputeFileChecksum(args_.state->file_system, file_.path, factory, function);
  }

  Status CheckIsGiven(const FileChecksum& found) const {
    if (found == *args_.given_checksum) return Status::OK();
    return Status::Corruption(
        file_.path, "the file has another checksum than files_checksums gives; copy it again");
  }

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
    if (sequence == nullptr && DecodeFixed32(version->data()) >= kExternalVersion) {
      return Status::Corruption(file_.path,
                                StrCat("the table lacks the property ", kPropertyGlobalSequence));
    }
    if (sequence == nullptr || DecodeFixed64(sequence->data()) == 0) return Status::OK();
    return Bad(StrCat("the table has the global sequence number ", DecodeFixed64(sequence->data()),
                      " already: it was ingested before"));
  }

  Status CheckFamily() const {
    const uint64_t id = file_.properties.column_family_id;
    if (args_.any_family || id == kUnknownFamily || id == args_.family->id()) return Status::OK();
    return Bad(StrCat("the table was written for column family ", id, ", not ", args_.family->id(),
                      " (\"", NameForDisplay(args_.family->name()), "\")"));
  }

  Status TakeBounds() {
    file_.smallest = table_->file()->smallest;
    file_.largest = table_->file()->largest;
    ASHLAR_ASSERT(file_.smallest.empty() == file_.largest.empty());  // standalone_table.h
    if (file_.smallest.empty()) return Bad("the table has no entries");
    const Slice begin = ExtractUserKey(file_.smallest);
    const Slice end = ExtractUserKey(file_.largest);
    if (!table_->reader()->ranges().IsEmpty())
      ASHLAR_RETURN_IF_ERROR(args_.family->CheckRange(begin, end).WithContext(file_.path));
    for (const Slice& key : {begin, end})
      ASHLAR_RETURN_IF_ERROR(args_.family->CheckEntry(key, Slice()).WithContext(file_.path));
    return args_.family->FixesKeyLength() ? CheckKeys() : Status::OK();
  }

  Status CheckKeys() const {
    const std::unique_ptr<InternalCursor> cursor = table_->reader()->NewCursor(kUncached);
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      ASHLAR_RETURN_IF_ERROR(
          args_.family->CheckEntry(ExtractUserKey(cursor->key()), Slice()).WithContext(file_.path));
    }
    return cursor->status();
  }

  // For a database's table, which stores the sequence of each entry.
  Status FindSequences() {
    // RocksDB's range deletions may extend past the file. Only its MANIFEST says where they end.
    if (!table_->reader()->ranges().IsEmpty())
      return Status::NotSupported(file_.path,
                                  "a database's table with range deletions cannot be ingested; "
                                  "compact the database that wrote it, or use SstFileWriter");
    file_.smallest_sequence = kSequenceNumberMax;
    const std::unique_ptr<InternalCursor> cursor = table_->reader()->NewCursor(kUncached);
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      const SequenceNumber sequence = TagSequence(ExtractTag(cursor->key()));
      file_.smallest_sequence = std::min(file_.smallest_sequence, sequence);
      file_.largest_sequence = std::max(file_.largest_sequence, sequence);
    }
    ASHLAR_RETURN_IF_ERROR(cursor->status());
    if (file_.largest_sequence <= kSequenceNumberMaxOfOthers) return Status::OK();
    return Status::Corruption(
        file_.path, StrCat("has the sequence number ", file_.largest_sequence,
                           ", above the highest that is allowed, ", kSequenceNumberMaxOfOthers));
  }

  const ExternalFileArgs& args_;
  ExternalFile file_;
  std::unique_ptr<StandaloneTable> table_;
};

}  // namespace

Result<std::unique_ptr<StandaloneTable>> OpenExternalTable(const DatabaseState& state,
                                                           const ColumnFamilyOptions& options,
                                                           const std::string& path,
                                                           StandaloneTable::Record record) {
  return StandaloneTable::Open({.file_system = state.file_system,
                                .path = path,
                                .comparator = KeyComparator(options.comparator),
                                .config = ResolveTableConfig(options),
                                .plain_config = ResolvePlainTableConfig(options),
                                .mmap_reads = state.options.allow_mmap_reads,
                                .direct_reads = state.options.use_direct_reads,
                                .recorder = state.recorder},
                               std::move(record));
}

Result<ExternalFile> InspectExternalFile(const ExternalFileArgs& args, const std::string& path) {
  return Inspection(args, path).Run();
}

}  // namespace ashlar

// LsmDB: the DB that users hold. It checks arguments, finds the family of a handle, and hands
// each job to the part that does it:
//
//   writes -> CommitPipeline                reads -> Reader        properties -> PropertyReader
//   flush, compaction -> BackgroundWork     opening -> RecoverDatabase, LifeCycle
//   options, families -> OptionChanges      closing, resuming, following -> LifeCycle
//
// I1: only the process that opened the database closes it. A forked child that exits runs the
//     destructors of static objects, while its parent continues to write the log and the MANIFEST.
//
// Thread safety and lifetime: as documented for DB.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/vfs.h"
#include "base/compiler.h"
#include "base/function_ref.h"
#include "lsm/life_cycle.h"
#include "lsm/lsm_core.h"
#include "lsm/option_changes.h"
#include "lsm/primary_follower.h"
#include "lsm/recovery.h"

namespace ashlar {

class FamilyHandle final : public ColumnFamilyHandle {
 public:
  FamilyHandle(LsmCore* core, std::shared_ptr<ColumnFamily> family);
  ~FamilyHandle() override;

  const std::string& GetName() const override { return family_->name(); }
  uint32_t GetID() const override { return family_->id(); }
  Status GetDescriptor(ColumnFamilyDescriptor* desc) override;
  const Comparator* GetComparator() const override {
    return family_->comparator().user_comparator();
  }

  ColumnFamily* family() const { return family_.get(); }
  const std::shared_ptr<ColumnFamily>& shared_family() const { return family_; }

 private:
  LsmCore* const core_;
  std::shared_ptr<ColumnFamily> family_;
};

class LsmDB final : public DB {
 public:
  // Options must have been checked (ValidateOptions). handles may be null.
  static Result<std::unique_ptr<LsmDB>> Open(OpenArgs args,
                                             std::vector<ColumnFamilyHandle*>* handles);
  // follower: null unless the database is a secondary.
  LsmDB(std::unique_ptr<LsmCore> core, std::unique_ptr<PrimaryFollower> follower);
  ~LsmDB() override;

  Status Close() override;
  Status Resume() override;
  Status TryCatchUpWithPrimary() override;
  Status PromoteToPrimary() override;
  bool IsSecondary() const override { return state_->is_secondary(); }

  Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle) override;
  using DB::CreateColumnFamilies;
  Status CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& column_families,
                              std::vector<ColumnFamilyHandle*>* handles) override;
  using DB::CreateColumnFamilyWithImport;
  Status CreateColumnFamilyWithImport(
      const ColumnFamilyOptions& options, const std::string& name,
      const ImportColumnFamilyOptions& import_options,
      const std::vector<const ExportImportFilesMetaData*>& metadatas,
      ColumnFamilyHandle** handle) override;
  Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& column_families) override;
  Status DestroyColumnFamilyHandle(ColumnFamilyHandle* column_family) override;
  ColumnFamilyHandle* DefaultColumnFamily() const override { return default_handle_.get(); }

  using DB::Delete;
  using DB::DeleteRange;
  using DB::Get;
  using DB::Merge;
  using DB::Put;
  using DB::SingleDelete;
  Status Write(const WriteOptions& options, WriteBatch* updates) override;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             const Slice& value) override;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                const Slice& key) override;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                      const Slice& key) override;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& begin_key, const Slice& end_key) override;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
               const Slice& value) override;

  Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             PinnableSlice* value) override;
  Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* column_family,
                          const Slice& key, PinnableSlice* merge_operands,
                          GetMergeOperandsOptions* get_merge_operands_options,
                          int* number_of_operands) override;
  using DB::MultiGet;
  void MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** column_families,
                const Slice* keys, PinnableSlice* values, Status* statuses,
                bool sorted_input) override;
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family, size_t num_keys,
                const Slice* keys, PinnableSlice* values, Status* statuses,
                bool sorted_input) override;
  using DB::KeyMayExist;
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                   std::string* value, bool* value_found) override;
  using DB::NewIterator;
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* column_family) override;
  Status NewIterators(const ReadOptions& options,
                      const std::vector<ColumnFamilyHandle*>& column_families,
                      std::vector<Iterator*>* iterators) override;
  const Snapshot* GetSnapshot() override;
  void ReleaseSnapshot(const Snapshot* snapshot) override;

  using DB::GetProperty;
  bool GetProperty(ColumnFamilyHandle* column_family, const Slice& property,
                   std::string* value) override;
  using DB::GetMapProperty;
  bool GetMapProperty(ColumnFamilyHandle* column_family, const Slice& property,
                      std::map<std::string, std::string>* value) override;
  using DB::GetIntProperty;
  bool GetIntProperty(ColumnFamilyHandle* column_family, const Slice& property,
                      uint64_t* value) override;
  bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) override;
  Status ResetStats() override;
  using DB::GetApproximateSizes;
  Status GetApproximateSizes(const SizeApproximationOptions& options,
                             ColumnFamilyHandle* column_family, const Range* ranges, int n,
                             uint64_t* sizes) override;
  using DB::GetApproximateMemTableStats;
  void GetApproximateMemTableStats(ColumnFamilyHandle* column_family, const Range& range,
                                   uint64_t* count, uint64_t* size) override;

  using DB::CompactRange;
  Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* column_family,
                      const Slice* begin, const Slice* end) override;
  using DB::CompactFiles;
  Status CompactFiles(const CompactionOptions& options, ColumnFamilyHandle* column_family,
                      const std::vector<std::string>& input_file_names, int output_level,
                      int output_path_id, std::vector<std::string>* output_file_names,
                      CompactionJobInfo* compaction_job_info) override;
  using DB::SuggestCompactRange;
  Status SuggestCompactRange(ColumnFamilyHandle* column_family, const Slice* begin,
                             const Slice* end) override;
  Status PromoteL0(ColumnFamilyHandle* column_family, int target_level) override;
  void DisableManualCompaction() override;
  void EnableManualCompaction() override;
  void AbortAllCompactions() override;
  void ResumeAllCompactions() override;
  Status DeleteFilesInRanges(ColumnFamilyHandle* column_family, const RangePtr* ranges, size_t n,
                             bool include_end) override;
  using DB::Flush;
  Status Flush(const FlushOptions& options,
               const std::vector<ColumnFamilyHandle*>& column_families) override;
  using DB::FlushWAL;
  Status FlushWAL(bool sync) override;
  Status SyncWAL() override;
  Status LockWAL() override;
  Status UnlockWAL() override;
  Status GetUpdatesSince(SequenceNumber seq_number, std::unique_ptr<TransactionLogIterator>* iter,
                         const TransactionLogIterator::ReadOptions& read_options) override;
  Status GetSortedWalFiles(VectorWalPtr& files) override;
  Status GetCurrentWalFile(std::unique_ptr<WalFile>* current_wal_file) override;
  Status ClipColumnFamily(ColumnFamilyHandle* column_family, const Slice& begin_key,
                          const Slice& end_key) override;
  Status DeleteFile(const std::string& name) override;
  Status WaitForCompact(const WaitForCompactOptions& options) override;
  Status PauseBackgroundWork() override;
  Status ContinueBackgroundWork() override;
  void CancelAllBackgroundWork(bool wait) override;
  Status EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& column_families) override;
  Status DisableFileDeletions() override;
  using DB::EnableFileDeletions;
  Status EnableFileDeletions() override;

  using DB::SetOptions;
  Status SetOptions(ColumnFamilyHandle* column_family,
                    const std::unordered_map<std::string, std::string>& new_options) override;
  Status SetDBOptions(const std::unordered_map<std::string, std::string>& new_options) override;
  using DB::GetOptions;
  Options GetOptions(ColumnFamilyHandle* column_family) const override;
  DBOptions GetDBOptions() const override;

  const std::string& GetName() const override { return state_->directory; }
  Env* GetEnv() const override { return state_->env; }
  FileSystem* GetFileSystem() const override { return state_->env->GetFileSystem().get(); }
  SequenceNumber GetLatestSequenceNumber() const override { return state_->PublishedSequence(); }
  using DB::NumberLevels;
  int NumberLevels(ColumnFamilyHandle* column_family) override;
  void GetLiveFilesMetaData(std::vector<LiveFileMetaData>* metadata) override;
  using DB::GetColumnFamilyMetaData;
  void GetColumnFamilyMetaData(ColumnFamilyHandle* column_family,
                               ColumnFamilyMetaData* metadata) override;
  void GetAllColumnFamilyMetaData(std::vector<ColumnFamilyMetaData>* metadata) override;
  using DB::GetPropertiesOfAllTables;
  Status GetPropertiesOfAllTables(ColumnFamilyHandle* column_family,
                                  TablePropertiesCollection* props) override;
  Status GetPropertiesOfTablesByLevel(
      ColumnFamilyHandle* column_family,
      std::vector<std::unique_ptr<TablePropertiesCollection>>* props_by_level) override;
  Status GetPropertiesOfTablesInRange(ColumnFamilyHandle* column_family, const Range* range,
                                      size_t n, TablePropertiesCollection* props) override;
  Status GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                      bool flush_memtable) override;
  Status GetLiveFilesStorageInfo(const LiveFilesStorageInfoOptions& options,
                                 std::vector<LiveFileStorageInfo>* files) override;
  Status GetLiveFilesChecksumInfo(FileChecksumList* checksum_list) override;
  Status GetDbIdentity(std::string& identity) const override;
  Status GetDbSessionId(std::string& session_id) const override;
  using DB::IngestExternalFile;
  Status IngestExternalFile(ColumnFamilyHandle* column_family,
                            const std::vector<std::string>& external_files,
                            const IngestExternalFileOptions& options) override;
  Status IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) override;
  using DB::VerifyChecksum;
  Status VerifyChecksum(const ReadOptions& options) override;
  Status VerifyFileChecksums(const ReadOptions& options) override;

  void ReportLostError(const Slice& call, const Status& error) override;

  DatabaseState* state() { return state_; }
  LsmCore* core() { return core_.get(); }
  LifeCycle* life_cycle() { return &life_cycle_; }

 private:
  // A null handle stands for the default family, as in RocksDB.
  ColumnFamily* Family(ColumnFamilyHandle* handle) const { return Handle(handle)->family(); }
  const std::shared_ptr<ColumnFamily>& SharedFamily(ColumnFamilyHandle* handle) const {
    return Handle(handle)->shared_family();
  }
  const FamilyHandle* Handle(ColumnFamilyHandle* handle) const {
    return handle != nullptr ? static_cast<const FamilyHandle*>(handle) : default_handle_.get();
  }
  // Returns null if there is no family of this name.
  std::unique_ptr<ColumnFamilyHandle> NewHandle(const std::string& name);
  // Visits the tables of all families. The tables are not deleted meanwhile.
  Status ForEachTable(FunctionRef<Status(ColumnFamily&, FileMetaData*)> visit);
  void Abandon() noexcept;
  Status CheckWritable() const;
  ASHLAR_NO_INLINE Status RefusalOfWrites() const;
  Status CheckWritableEntry(ColumnFamilyHandle* column_family, const Slice& key,
                            const Slice& value) const;
  // Commits the batch of one entry, which was checked for the family, unless `built` is an error.
  Status CommitOne(const WriteOptions& options, ColumnFamilyHandle* column_family,
                   WriteBatch* batch, const Status& built);

  std::unique_ptr<LsmCore> core_;
  DatabaseState* const state_;
  BackgroundWork& background_;
  CommitPipeline& commit_;
  Reader& reader_;
  OptionChanges option_changes_;
  LifeCycle life_cycle_;
  std::unique_ptr<FamilyHandle> default_handle_;
};

}  // namespace ashlar

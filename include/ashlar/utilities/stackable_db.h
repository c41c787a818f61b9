// StackableDB: a DB that forwards each call to another DB. It is the base of classes that change
// some of the calls.
//
// Errors and thread safety: those of the other DB. Lifetime: it owns that DB, alone or shared.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/export.h"

namespace ashlar {

class ASHLAR_API StackableDB : public DB {
 public:
  explicit StackableDB(DB* db) : db_(db), owner_(db) {}
  explicit StackableDB(std::unique_ptr<DB> db) : db_(db.get()), owner_(std::move(db)) {}
  explicit StackableDB(std::shared_ptr<DB> db) : db_(db.get()), owner_(std::move(db)) {}

  virtual DB* GetBaseDB() { return db_; }
  DB* GetRootDB() override { return db_->GetRootDB(); }

  Status Close() override { return db_->Close(); }
  Status Resume() override { return db_->Resume(); }

  Status CreateColumnFamily(const ColumnFamilyOptions& options,
                            const std::string& column_family_name,
                            ColumnFamilyHandle** handle) override {
    return db_->CreateColumnFamily(options, column_family_name, handle);
  }
  using DB::CreateColumnFamilies;
  Status CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& column_families,
                              std::vector<ColumnFamilyHandle*>* handles) override {
    return db_->CreateColumnFamilies(column_families, handles);
  }
  using DB::CreateColumnFamilyWithImport;
  Status CreateColumnFamilyWithImport(
      const ColumnFamilyOptions& options, const std::string& column_family_name,
      const ImportColumnFamilyOptions& import_options,
      const std::vector<const ExportImportFilesMetaData*>& metadatas,
      ColumnFamilyHandle** handle) override {
    return db_->CreateColumnFamilyWithImport(options, column_family_name, import_options, metadatas,
                                             handle);
  }
  Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& column_families) override {
    return db_->DropColumnFamilies(column_families);
  }
  Status DestroyColumnFamilyHandle(ColumnFamilyHandle* column_family) override {
    return db_->DestroyColumnFamilyHandle(column_family);
  }
  ColumnFamilyHandle* DefaultColumnFamily() const override { return db_->DefaultColumnFamily(); }

  Status Write(const WriteOptions& options, WriteBatch* updates) override {
    return db_->Write(options, updates);
  }
  using DB::Put;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             const Slice& value) override {
    return db_->Put(options, column_family, key, value);
  }
  using DB::Delete;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                const Slice& key) override {
    return db_->Delete(options, column_family, key);
  }
  using DB::SingleDelete;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                      const Slice& key) override {
    return db_->SingleDelete(options, column_family, key);
  }
  using DB::DeleteRange;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& begin_key, const Slice& end_key) override {
    return db_->DeleteRange(options, column_family, begin_key, end_key);
  }
  using DB::Merge;
  Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
               const Slice& value) override {
    return db_->Merge(options, column_family, key, value);
  }

  using DB::Get;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             PinnableSlice* value) override {
    return db_->Get(options, column_family, key, value);
  }
  Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* column_family,
                          const Slice& key, PinnableSlice* merge_operands,
                          GetMergeOperandsOptions* get_merge_operands_options,
                          int* number_of_operands) override {
    return db_->GetMergeOperands(options, column_family, key, merge_operands,
                                 get_merge_operands_options, number_of_operands);
  }
  using DB::MultiGet;
  void MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** column_families,
                const Slice* keys, PinnableSlice* values, Status* statuses,
                bool sorted_input = false) override {
    db_->MultiGet(options, num_keys, column_families, keys, values, statuses, sorted_input);
  }
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family, size_t num_keys,
                const Slice* keys, PinnableSlice* values, Status* statuses,
                bool sorted_input = false) override {
    db_->MultiGet(options, column_family, num_keys, keys, values, statuses, sorted_input);
  }
  using DB::KeyMayExist;
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                   std::string* value, bool* value_found = nullptr) override {
    return db_->KeyMayExist(options, column_family, key, value, value_found);
  }
  using DB::NewIterator;
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* column_family) override {
    return db_->NewIterator(options, column_family);
  }
  Status NewIterators(const ReadOptions& options,
                      const std::vector<ColumnFamilyHandle*>& column_families,
                      std::vector<Iterator*>* iterators) override {
    return db_->NewIterators(options, column_families, iterators);
  }
  const Snapshot* GetSnapshot() override { return db_->GetSnapshot(); }
  void ReleaseSnapshot(const Snapshot* snapshot) override { db_->ReleaseSnapshot(snapshot); }

  using DB::GetProperty;
  bool GetProperty(ColumnFamilyHandle* column_family, const Slice& property,
                   std::string* value) override {
    return db_->GetProperty(column_family, property, value);
  }
  using DB::GetMapProperty;
  bool GetMapProperty(ColumnFamilyHandle* column_family, const Slice& property,
                      std::map<std::string, std::string>* value) override {
    return db_->GetMapProperty(column_family, property, value);
  }
  using DB::GetIntProperty;
  bool GetIntProperty(ColumnFamilyHandle* column_family, const Slice& property,
                      uint64_t* value) override {
    return db_->GetIntProperty(column_family, property, value);
  }
  bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) override {
    return db_->GetAggregatedIntProperty(property, value);
  }
  Status ResetStats() override { return db_->ResetStats(); }
  using DB::GetApproximateSizes;
  Status GetApproximateSizes(const SizeApproximationOptions& options,
                             ColumnFamilyHandle* column_family, const Range* ranges, int n,
                             uint64_t* sizes) override {
    return db_->GetApproximateSizes(options, column_family, ranges, n, sizes);
  }
  using DB::GetApproximateMemTableStats;
  void GetApproximateMemTableStats(ColumnFamilyHandle* column_family, const Range& range,
                                   uint64_t* count, uint64_t* size) override {
    db_->GetApproximateMemTableStats(column_family, range, count, size);
  }

  using DB::CompactRange;
  Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* column_family,
                      const Slice* begin, const Slice* end) override {
    return db_->CompactRange(options, column_family, begin, end);
  }
  using DB::CompactFiles;
  Status CompactFiles(const CompactionOptions& compact_options, ColumnFamilyHandle* column_family,
                      const std::vector<std::string>& input_file_names, int output_level,
                      int output_path_id = -1,
                      std::vector<std::string>* output_file_names = nullptr,
                      CompactionJobInfo* compaction_job_info = nullptr) override {
    return db_->CompactFiles(compact_options, column_family, input_file_names, output_level,
                             output_path_id, output_file_names, compaction_job_info);
  }
  using DB::SuggestCompactRange;
  Status SuggestCompactRange(ColumnFamilyHandle* column_family, const Slice* begin,
                             const Slice* end) override {
    return db_->SuggestCompactRange(column_family, begin, end);
  }
  Status PromoteL0(ColumnFamilyHandle* column_family, int target_level) override {
    return db_->PromoteL0(column_family, target_level);
  }
  void DisableManualCompaction() override { db_->DisableManualCompaction(); }
  void EnableManualCompaction() override { db_->EnableManualCompaction(); }
  void AbortAllCompactions() override { db_->AbortAllCompactions(); }
  void ResumeAllCompactions() override { db_->ResumeAllCompactions(); }
  Status DeleteFilesInRanges(ColumnFamilyHandle* column_family, const RangePtr* ranges, size_t n,
                             bool include_end) override {
    return db_->DeleteFilesInRanges(column_family, ranges, n, include_end);
  }
  Status ClipColumnFamily(ColumnFamilyHandle* column_family, const Slice& begin_key,
                          const Slice& end_key) override {
    return db_->ClipColumnFamily(column_family, begin_key, end_key);
  }
  Status DeleteFile(const std::string& name) override { return db_->DeleteFile(name); }
  using DB::Flush;
  Status Flush(const FlushOptions& options,
               const std::vector<ColumnFamilyHandle*>& column_families) override {
    return db_->Flush(options, column_families);
  }
  Status FlushWAL(bool sync) override { return db_->FlushWAL(sync); }
  Status FlushWAL(const FlushWALOptions& options) override { return db_->FlushWAL(options); }
  Status SyncWAL() override { return db_->SyncWAL(); }
  Status TryCatchUpWithPrimary() override { return db_->TryCatchUpWithPrimary(); }
  Status PromoteToPrimary() override { return db_->PromoteToPrimary(); }
  bool IsSecondary() const override { return db_->IsSecondary(); }
  Status LockWAL() override { return db_->LockWAL(); }
  Status UnlockWAL() override { return db_->UnlockWAL(); }
  Status GetUpdatesSince(SequenceNumber seq_number, std::unique_ptr<TransactionLogIterator>* iter,
                         const TransactionLogIterator::ReadOptions& read_options = {}) override {
    return db_->GetUpdatesSince(seq_number, iter, read_options);
  }
  Status GetSortedWalFiles(VectorWalPtr& files) override { return db_->GetSortedWalFiles(files); }
  Status GetCurrentWalFile(std::unique_ptr<WalFile>* current_wal_file) override {
    return db_->GetCurrentWalFile(current_wal_file);
  }
  Status WaitForCompact(const WaitForCompactOptions& options) override {
    return db_->WaitForCompact(options);
  }
  Status PauseBackgroundWork() override { return db_->PauseBackgroundWork(); }
  Status ContinueBackgroundWork() override { return db_->ContinueBackgroundWork(); }
  void CancelAllBackgroundWork(bool wait) override { db_->CancelAllBackgroundWork(wait); }
  Status EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& column_families) override {
    return db_->EnableAutoCompaction(column_families);
  }
  Status DisableFileDeletions() override { return db_->DisableFileDeletions(); }
  using DB::EnableFileDeletions;
  Status EnableFileDeletions() override { return db_->EnableFileDeletions(); }

  using DB::SetOptions;
  Status SetOptions(ColumnFamilyHandle* column_family,
                    const std::unordered_map<std::string, std::string>& new_options) override {
    return db_->SetOptions(column_family, new_options);
  }
  Status SetDBOptions(const std::unordered_map<std::string, std::string>& new_options) override {
    return db_->SetDBOptions(new_options);
  }
  using DB::GetOptions;
  Options GetOptions(ColumnFamilyHandle* column_family) const override {
    return db_->GetOptions(column_family);
  }
  DBOptions GetDBOptions() const override { return db_->GetDBOptions(); }

  const std::string& GetName() const override { return db_->GetName(); }
  Env* GetEnv() const override { return db_->GetEnv(); }
  FileSystem* GetFileSystem() const override { return db_->GetFileSystem(); }
  SequenceNumber GetLatestSequenceNumber() const override { return db_->GetLatestSequenceNumber(); }
  using DB::NumberLevels;
  int NumberLevels(ColumnFamilyHandle* column_family) override {
    return db_->NumberLevels(column_family);
  }
  using DB::Level0StopWriteTrigger;
  int Level0StopWriteTrigger(ColumnFamilyHandle* column_family) override {
    return db_->Level0StopWriteTrigger(column_family);
  }
  using DB::MaxMemCompactionLevel;
  int MaxMemCompactionLevel(ColumnFamilyHandle* column_family) override {
    return db_->MaxMemCompactionLevel(column_family);
  }
  void GetLiveFilesMetaData(std::vector<LiveFileMetaData>* metadata) override {
    db_->GetLiveFilesMetaData(metadata);
  }
  using DB::GetColumnFamilyMetaData;
  void GetColumnFamilyMetaData(ColumnFamilyHandle* column_family,
                               ColumnFamilyMetaData* metadata) override {
    db_->GetColumnFamilyMetaData(column_family, metadata);
  }
  void GetAllColumnFamilyMetaData(std::vector<ColumnFamilyMetaData>* metadata) override {
    db_->GetAllColumnFamilyMetaData(metadata);
  }
  using DB::GetPropertiesOfAllTables;
  Status GetPropertiesOfAllTables(ColumnFamilyHandle* column_family,
                                  TablePropertiesCollection* props) override {
    return db_->GetPropertiesOfAllTables(column_family, props);
  }
  Status GetPropertiesOfTablesByLevel(
      ColumnFamilyHandle* column_family,
      std::vector<std::unique_ptr<TablePropertiesCollection>>* props_by_level) override {
    return db_->GetPropertiesOfTablesByLevel(column_family, props_by_level);
  }
  Status GetCreationTimeOfOldestFile(uint64_t* creation_time) override {
    return db_->GetCreationTimeOfOldestFile(creation_time);
  }
  Status GetPropertiesOfTablesInRange(ColumnFamilyHandle* column_family, const Range* range,
                                      size_t n, TablePropertiesCollection* props) override {
    return db_->GetPropertiesOfTablesInRange(column_family, range, n, props);
  }
  Status GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                      bool flush_memtable = true) override {
    return db_->GetLiveFiles(files, manifest_file_size, flush_memtable);
  }
  Status GetLiveFilesStorageInfo(const LiveFilesStorageInfoOptions& options,
                                 std::vector<LiveFileStorageInfo>* files) override {
    return db_->GetLiveFilesStorageInfo(options, files);
  }
  Status GetLiveFilesChecksumInfo(FileChecksumList* checksum_list) override {
    return db_->GetLiveFilesChecksumInfo(checksum_list);
  }
  Status GetDbIdentity(std::string& identity) const override {
    return db_->GetDbIdentity(identity);
  }
  Status GetDbSessionId(std::string& session_id) const override {
    return db_->GetDbSessionId(session_id);
  }
  using DB::IngestExternalFile;
  Status IngestExternalFile(ColumnFamilyHandle* column_family,
                            const std::vector<std::string>& external_files,
                            const IngestExternalFileOptions& options) override {
    return db_->IngestExternalFile(column_family, external_files, options);
  }
  Status IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) override {
    return db_->IngestExternalFiles(args);
  }
  using DB::VerifyChecksum;
  Status VerifyChecksum(const ReadOptions& options) override {
    return db_->VerifyChecksum(options);
  }
  Status VerifyFileChecksums(const ReadOptions& options) override {
    return db_->VerifyFileChecksums(options);
  }
  void ReportLostError(const Slice& call, const Status& error) override {
    db_->ReportLostError(call, error);
  }

 protected:
  DB* const db_;

 private:
  const std::shared_ptr<DB> owner_;
};

}  // namespace ashlar

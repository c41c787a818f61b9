#include "tests/concurrency/calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ashlar/checkpoint.h"
#include "ashlar/convenience.h"
#include "ashlar/file_checksum.h"
#include "ashlar/inspect.h"
#include "ashlar/options_util.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/table_properties.h"
#include "ashlar/thread_status.h"
#include "ashlar/transaction_log.h"
#include "base/format.h"
#include "base/result.h"
#include "filesystem/file_helpers.h"
#include "tests/concurrency/backup_calls.h"
#include "tests/support/copy_live_file.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

using Target = Scene::Target;

std::string TemporaryKey(const CallArgs& args) {
  return StrCat("t", args.thread, "-", args.number);
}

// Reads a temporary key, or "" if it is absent. Returns false after an allowed error.
bool GetTemporary(const CallArgs& args, const Target& target, const std::string& key,
                  std::string* value) {
  value->clear();
  const Status got = args.db()->Get(ReadOptions(), target.get(), key, value);
  return got.IsNotFound() || args.scene->Succeeded(got, target);
}

void ExpectTemporary(const CallArgs& args, const Target& target, const std::string& key,
                     const std::string& wanted) {
  std::string value;
  if (!GetTemporary(args, target, key, &value)) return;
  if (value.empty() && target.loses_old_tables) return;
  EXPECT_EQ(value, wanted) << key << " of " << target.handle->GetName();
}

std::vector<ColumnFamilyHandle*> Pointers(
    const std::vector<std::unique_ptr<ColumnFamilyHandle>>& handles) {
  std::vector<ColumnFamilyHandle*> pointers;
  for (const auto& handle : handles) pointers.push_back(handle.get());
  return pointers;
}

bool PutTemporary(const CallArgs& args, const Target& target, const std::string& key) {
  if (!args.scene->Succeeded(args.db()->Put(WriteOptions(), target.get(), key, "temporary"),
                             target))
    return false;
  ExpectTemporary(args, target, key, "temporary");
  return true;
}

void DeleteTemporary(const CallArgs& args, const Target& target, const std::string& key) {
  if (args.scene->Succeeded(args.db()->Delete(WriteOptions(), target.get(), key), target))
    ExpectTemporary(args, target, key, "");
}

// ---- Writes.

void Put(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  const std::string key = TemporaryKey(args);
  if (PutTemporary(args, target, key)) DeleteTemporary(args, target, key);
}

void SingleDelete(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  const std::string key = TemporaryKey(args);
  if (!PutTemporary(args, target, key)) return;
  if (args.scene->Succeeded(args.db()->SingleDelete(WriteOptions(), target.get(), key), target))
    ExpectTemporary(args, target, key, "");
}

void DeleteRange(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  const std::string prefix = TemporaryKey(args) + "-";
  for (const char* const end : {"a", "b", "c"}) {
    if (!PutTemporary(args, target, prefix + end)) return;
  }
  const Status deleted = args.db()->DeleteRange(WriteOptions(), target.get(), prefix, prefix + "d");
  if (!args.scene->Succeeded(deleted, target)) return;
  for (const char* const end : {"a", "b", "c"}) ExpectTemporary(args, target, prefix + end, "");
}

void Merge(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  const std::string key = TemporaryKey(args);
  for (const char* const operand : {"1", "2"}) {
    if (!args.scene->Succeeded(args.db()->Merge(WriteOptions(), target.get(), key, operand),
                               target))
      return;
  }
  std::string value;
  if (!GetTemporary(args, target, key, &value)) return;
  EXPECT_TRUE(value == "1,2" || (target.loses_old_tables && (value.empty() || value == "2")))
      << value;
  DeleteTemporary(args, target, key);
}

void GetMergeOperands(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  const std::string key = TemporaryKey(args);
  for (const char* const operand : {"1", "2"}) {
    if (!args.scene->Succeeded(args.db()->Merge(WriteOptions(), target.get(), key, operand),
                               target))
      return;
  }
  GetMergeOperandsOptions wanted;
  wanted.expected_max_number_of_operands = 2;
  std::array<PinnableSlice, 2> operands;
  int count = 0;
  const Status got = args.db()->GetMergeOperands(ReadOptions(), target.get(), key, operands.data(),
                                                 &wanted, &count);
  if (!(got.IsNotFound() && target.loses_old_tables) && !args.scene->Succeeded(got, target)) return;
  // A compaction may have merged the operands.
  std::string joined;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    joined += StrCat(i == 0 ? "" : ",", operands[i].ToString());
  EXPECT_TRUE(joined == "1,2" || target.loses_old_tables) << joined;
  DeleteTemporary(args, target, key);
}

void Write(const CallArgs& args) {
  const std::string key = TemporaryKey(args);
  WriteOptions options;
  options.sync = args.random->OneIn(4);
  const size_t protection_bytes_per_key = args.random->OneIn(2) ? 8 : 0;
  for (const bool deletes : {false, true}) {
    WriteBatch batch(0, 0, protection_bytes_per_key, 0);
    for (const Target& family : args.scene->families()) {
      EXPECT_OK(deletes ? batch.Delete(family.get(), key)
                        : batch.Put(family.get(), key, "in a batch"));
    }
    if (!args.scene->Succeeded(args.db()->Write(options, &batch))) return;
    for (const Target& family : args.scene->families())
      ExpectTemporary(args, family, key, deletes ? "" : "in a batch");
  }
}

void WriteUnlogged(const CallArgs& args) { args.scene->WriteUnlogged(args.thread, args.number); }

// Writes a file with this key and a range deletion before it.
std::string WriteExternalFile(const CallArgs& args, const std::string& key, size_t number) {
  Options options(DBOptions(), args.scene->VictimOptions());
  options.env = args.scene->env();
  SstFileWriter writer(EnvOptions(), options);
  const std::string path = StrCat("/external", args.thread, "-", number, ".sst");
  EXPECT_OK(writer.Open(path));
  EXPECT_OK(writer.Put(key, "ingested"));
  EXPECT_OK(writer.DeleteRange(key + "-", key + "-~"));
  EXPECT_OK(writer.Finish());
  return path;
}

IngestExternalFileOptions RandomIngestion(const CallArgs& args) {
  IngestExternalFileOptions options;
  options.move_files = args.random->OneIn(2);
  options.link_files = !options.move_files && args.random->OneIn(2);
  options.write_global_seqno = args.random->OneIn(4);
  return options;
}

void IngestExternalFile(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  const std::string key = TemporaryKey(args);
  // The entries that the file replaces and deletes.
  if (!PutTemporary(args, target, key) || !PutTemporary(args, target, key + "-a")) return;
  const std::string path = WriteExternalFile(args, key, 0);
  const Status ingested =
      args.db()->IngestExternalFile(target.get(), {path}, RandomIngestion(args));
  static_cast<void>(args.db()->GetEnv()->EngineFiles().get()->DeleteFile(path).ok());
  if (!args.scene->Succeeded(ingested, target)) return;
  ExpectTemporary(args, target, key, "ingested");
  ExpectTemporary(args, target, key + "-a", "");
  DeleteTemporary(args, target, key);
}

void IngestIntoAll(const CallArgs& args) {
  const Scene& scene = *args.scene;
  const std::string key = TemporaryKey(args);
  std::vector<IngestExternalFileArg> files;
  for (const Target& family : scene.families()) {
    IngestExternalFileArg& arg = files.emplace_back();
    arg.column_family = family.get();
    arg.external_files = {WriteExternalFile(args, key, files.size())};
    arg.options = RandomIngestion(args);
  }
  const Status ingested = args.db()->IngestExternalFiles(files);
  for (const IngestExternalFileArg& arg : files)
    static_cast<void>(
        args.db()->GetEnv()->EngineFiles().get()->DeleteFile(arg.external_files[0]).ok());
  if (!scene.Succeeded(ingested)) return;
  WriteBatch batch;
  for (const Target& family : scene.families()) {
    ExpectTemporary(args, family, key, "ingested");
    EXPECT_OK(batch.Delete(family.get(), key));
  }
  if (!scene.Succeeded(args.db()->Write(WriteOptions(), &batch))) return;
  for (const Target& family : scene.families()) ExpectTemporary(args, family, key, "");
}

// ---- Reads.

void Get(const CallArgs& args) { args.scene->ReadOne(args.random); }

void MultiGet(const CallArgs& args) {
  const Scene& scene = *args.scene;
  // kPersistedTier has the same result if every write has a log.
  ReadOptions options;
  if (!scene.kind().writes_without_log && args.random->OneIn(2)) options.read_tier = kPersistedTier;
  std::vector<ColumnFamilyHandle*> handles;
  for (const Target& family : scene.families()) handles.push_back(family.get());
  // Calls both methods with a key of the model, and then with absent keys.
  std::vector<Slice> keys(handles.size(), "m0-0001");
  std::vector<PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size());
  args.db()->MultiGet(options, keys.size(), handles.data(), keys.data(), values.data(),
                      statuses.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].IsNotFound()) continue;
    if (!scene.Succeeded(statuses[i]) || !statuses[0].ok()) continue;
    EXPECT_EQ(Slice(values[i].data(), 12), Slice(values[0].data(), 12)) << "half of a batch";
  }
  const std::string absent[] = {TemporaryKey(args), TemporaryKey(args) + "-"};
  keys = {absent[0], absent[1]};
  args.db()->MultiGet(ReadOptions(), handles[0], keys.size(), keys.data(), values.data(),
                      statuses.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_TRUE(statuses[i].IsNotFound() || !scene.Succeeded(statuses[i])) << "never written";
  }
}

void KeyMayExist(const CallArgs& args) {
  const Scene::Versions floor = args.scene->Floor();
  std::string value;
  bool found = false;
  const bool may_exist = args.db()->KeyMayExist(ReadOptions(), args.scene->families()[0].get(),
                                                "m0-0001", &value, &found);
  EXPECT_TRUE(may_exist || floor[0][1] == 0 || args.scene->is_closing());
}

// Expects ascending keys, and as many backwards. Returns false after an allowed error.
bool CheckOrder(const CallArgs& args, const Target& target, Iterator* it) {
  std::string last;
  size_t forward = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++forward) {
    EXPECT_LT(last, it->key().ToString());
    last = it->key().ToString();
  }
  if (!args.scene->Succeeded(it->status(), target)) return false;
  size_t backward = 0;
  for (it->SeekToLast(); it->Valid(); it->Prev()) ++backward;
  if (!args.scene->Succeeded(it->status(), target)) return false;
  EXPECT_EQ(forward, backward);
  return true;
}

void Iterate(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  ReadOptions options;
  if (args.random->OneIn(4)) options.read_tier = kMemtableTier;
  const std::unique_ptr<Iterator> it(args.db()->NewIterator(options, target.get()));
  if (CheckOrder(args, target, it.get())) args.scene->Succeeded(it->Refresh(), target);
}

// Reads all tables, with a filter that checks a property, and then either half of them.
void FilterTables(const CallArgs& args) {
  const Scene::Versions floor = args.scene->Floor();
  ReadOptions options;
  options.table_filter = [](const TableProperties& properties) {
    return !properties.comparator_name.empty();
  };
  std::vector<ColumnFamilyHandle*> handles;
  for (const Target& family : args.scene->families()) handles.push_back(family.get());
  std::vector<Iterator*> made;
  if (!args.scene->Succeeded(args.db()->NewIterators(options, handles, &made))) return;
  const std::vector<std::unique_ptr<Iterator>> iterators(made.begin(), made.end());
  args.scene->CheckIterators(iterators, floor);
  const uint64_t half = args.random->Uniform(2);
  options.table_filter = [half](const TableProperties& properties) {
    return properties.num_entries % 2 == half;
  };
  const Target target = args.scene->Pick(args.random);
  const std::unique_ptr<Iterator> it(args.db()->NewIterator(options, target.get()));
  CheckOrder(args, target, it.get());
}

void NewIterators(const CallArgs& args) {
  const Scene::Versions floor = args.scene->Floor();
  std::vector<ColumnFamilyHandle*> handles;
  for (const Target& family : args.scene->families()) handles.push_back(family.get());
  std::vector<Iterator*> made;
  if (!args.scene->Succeeded(args.db()->NewIterators(ReadOptions(), handles, &made))) return;
  const std::vector<std::unique_ptr<Iterator>> iterators(made.begin(), made.end());
  args.scene->CheckIterators(iterators, floor);
}

// The families at one snapshot, twice: the first reads the filter's, which may change once.
void ReadAtSnapshot(const CallArgs& args) {
  const Snapshot* const snapshot = args.db()->GetSnapshot();
  const Scene::Versions floor = {};
  ReadOptions options;
  options.snapshot = snapshot;
  const auto read = [&] {
    std::vector<std::unique_ptr<Iterator>> iterators;
    for (const Target& family : args.scene->families())
      iterators.emplace_back(args.db()->NewIterator(options, family.get()));
    const bool usable = std::all_of(iterators.begin(), iterators.end(), [&](const auto& it) {
      return args.scene->Succeeded(it->status());
    });
    if (usable) args.scene->CheckIterators(iterators, floor);
  };
  read();
  read();
  args.db()->ReleaseSnapshot(snapshot);
}

// ---- Properties and metadata.

void GetProperties(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  DB* const db = args.db();
  std::string text;
  for (const char* const name : {"rocksdb.stats", "rocksdb.levelstats", "rocksdb.sstables"})
    EXPECT_TRUE(db->GetProperty(target.get(), name, &text) || args.scene->is_closing()) << name;
  std::map<std::string, std::string> map;
  EXPECT_TRUE(db->GetMapProperty(target.get(), "rocksdb.cfstats", &map) ||
              args.scene->is_closing());
  uint64_t number = 0;
  for (const char* const name :
       {"rocksdb.estimate-num-keys", "rocksdb.cur-size-all-mem-tables",
        "rocksdb.estimate-pending-compaction-bytes", "rocksdb.num-snapshots"}) {
    EXPECT_TRUE(db->GetIntProperty(target.get(), name, &number) || args.scene->is_closing())
        << name;
  }
  EXPECT_TRUE(db->GetAggregatedIntProperty("rocksdb.estimate-num-keys", &number) ||
              args.scene->is_closing());
  if (args.random->OneIn(4)) args.scene->Succeeded(db->ResetStats());
}

void GetApproximateSizes(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  const Range all("a", "z");
  SizeApproximationOptions options;
  options.include_memtables = true;
  uint64_t bytes = 0;
  args.scene->Succeeded(args.db()->GetApproximateSizes(options, target.get(), &all, 1, &bytes),
                        target);
  uint64_t count = 0;
  args.db()->GetApproximateMemTableStats(target.get(), all, &count, &bytes);
}

void GetMetadata(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  DB* const db = args.db();
  std::vector<LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(target.get(), &metadata);
  std::vector<ColumnFamilyMetaData> of_all_families;
  db->GetAllColumnFamilyMetaData(&of_all_families);
  TablePropertiesCollection properties;
  args.scene->Succeeded(db->GetPropertiesOfAllTables(target.get(), &properties), target);
  const Range all("", "~");
  args.scene->Succeeded(db->GetPropertiesOfTablesInRange(target.get(), &all, 1, &properties),
                        target);
  std::vector<std::unique_ptr<TablePropertiesCollection>> by_level;
  args.scene->Succeeded(db->GetPropertiesOfTablesByLevel(target.get(), &by_level), target);
  uint64_t created = 0;
  args.scene->Succeeded(db->GetCreationTimeOfOldestFile(&created));
}

void GetLiveFiles(const CallArgs& args) {
  std::vector<std::string> files;
  uint64_t manifest_bytes = 0;
  const Status got = args.db()->GetLiveFiles(files, &manifest_bytes, args.random->OneIn(2));
  EXPECT_TRUE(!args.scene->Succeeded(got) || files.size() > 2);
}

void GetLiveFilesChecksumInfo(const CallArgs& args) {
  const std::unique_ptr<FileChecksumList> list(NewFileChecksumList());
  args.scene->Succeeded(args.db()->GetLiveFilesChecksumInfo(list.get()));
}

void GetNames(const CallArgs& args) {
  DB* const db = args.db();
  EXPECT_EQ(db->GetName(), "/db");
  EXPECT_EQ(db->GetEnv(), args.scene->env());
  EXPECT_EQ(db->GetFileSystem(), args.scene->env()->GetFileSystem().get());
  EXPECT_EQ(db->GetRootDB(), db);
  EXPECT_EQ(db->DefaultColumnFamily()->GetName(), "default");
  const Target target = args.scene->Pick(args.random);
  EXPECT_GT(db->NumberLevels(target.get()), 0);
  EXPECT_GT(db->Level0StopWriteTrigger(target.get()), 0);
  EXPECT_EQ(db->MaxMemCompactionLevel(target.get()), 0);
  const SequenceNumber sequence = db->GetLatestSequenceNumber();
  EXPECT_LE(sequence, db->GetLatestSequenceNumber());
  std::string first;
  std::string second;
  EXPECT_OK(db->GetDbIdentity(first));
  EXPECT_OK(db->GetDbIdentity(second));
  EXPECT_EQ(first, second);
  EXPECT_OK(db->GetDbSessionId(first));
}

// The database is the only one of this Env that flushes and compacts.
void GetThreadList(const CallArgs& args) {
  std::vector<ThreadStatus> threads;
  EXPECT_OK(args.scene->env()->GetThreadList(&threads));
  EXPECT_FALSE(threads.empty());
  for (const ThreadStatus& thread : threads) {
    const bool works = thread.operation_type != ThreadStatus::OP_UNKNOWN;
    EXPECT_TRUE(!works || thread.operation_type == ThreadStatus::OP_FLUSH ||
                thread.operation_type == ThreadStatus::OP_COMPACTION)
        << thread.operation_type;
    EXPECT_EQ(thread.db_name, works ? "/db" : "");
    EXPECT_EQ(thread.cf_name.empty(), !works) << thread.cf_name;
  }
}

// ---- Logs.

void GetUpdatesSince(const CallArgs& args) {
  std::unique_ptr<TransactionLogIterator> it;
  const SequenceNumber from = args.db()->GetLatestSequenceNumber();
  if (!args.scene->Succeeded(args.db()->GetUpdatesSince(from, &it), {Status::kNotFound})) return;
  std::optional<SequenceNumber> next;
  for (int steps = 0; steps < 100 && it->Valid(); ++steps, it->Next()) {
    const BatchResult batch = it->GetBatch();
    EXPECT_TRUE(!next || batch.sequence == *next) << batch.sequence;
    next = batch.sequence + batch.writeBatchPtr->Count();
  }
  // Without an archive a log may be deleted before the iterator reaches it.
  args.scene->Succeeded(it->status(), {Status::kNotFound});
}

void GetSortedWalFiles(const CallArgs& args) {
  VectorWalPtr files;
  if (!args.scene->Succeeded(args.db()->GetSortedWalFiles(files))) return;
  for (size_t i = 1; i < files.size(); ++i)
    EXPECT_LT(files[i - 1]->LogNumber(), files[i]->LogNumber());
  std::unique_ptr<WalFile> current;
  args.scene->Succeeded(args.db()->GetCurrentWalFile(&current), {Status::kNotFound});
}

void LockWAL(const CallArgs& args) {
  if (!args.scene->Succeeded(args.db()->LockWAL())) return;
  const SequenceNumber locked = args.db()->GetLatestSequenceNumber();
  VectorWalPtr files;
  args.scene->Succeeded(args.db()->GetSortedWalFiles(files));
  EXPECT_EQ(args.db()->GetLatestSequenceNumber(), locked);
  args.scene->Succeeded(args.db()->UnlockWAL());
}

void VerifyChecksum(const CallArgs& args) {
  args.scene->Succeeded(args.db()->VerifyChecksum(ReadOptions()));
}

void VerifyFileChecksums(const CallArgs& args) {
  args.scene->Succeeded(args.db()->VerifyFileChecksums(ReadOptions()));
}

void ReportLostError(const CallArgs& args) {
  args.db()->ReportLostError("pairs_test", Status::Busy("a test"));
}

// ---- Background work.

void Flush(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  FlushOptions options;
  options.wait = !args.random->OneIn(3);
  options.allow_write_stall = args.random->OneIn(2);
  args.scene->Succeeded(args.db()->Flush(options, target.get()), target);
}

void CompactSome(const CallArgs& args, CompactRangeOptions options,
                 std::initializer_list<Status::Code> expected) {
  const Target target = args.scene->Pick(args.random);
  options.allow_write_stall = true;
  const std::string begin = StrCat("m", args.random->Uniform(2), "-00", args.random->Uniform(6));
  const Slice begin_slice(begin);
  const Slice end_slice("m1-004");
  const Status compacted =
      args.db()->CompactRange(options, target.get(), args.random->OneIn(3) ? nullptr : &begin_slice,
                              args.random->OneIn(3) ? nullptr : &end_slice);
  args.scene->Succeeded(compacted, target, expected);
}

void CompactRange(const CallArgs& args) {
  CompactSome(args, CompactRangeOptions(), {Status::kIncomplete});
}

void CompactRangeAlone(const CallArgs& args) {
  CompactRangeOptions options;
  options.exclusive_manual_compaction = true;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  options.max_subcompactions = 3;
  CompactSome(args, options, {Status::kIncomplete});
}

void ChangeLevel(const CallArgs& args) {
  CompactRangeOptions options;
  options.change_level = true;
  options.target_level = static_cast<int>(args.random->Uniform(8)) - 1;
  // Whether a level has room depends on the other calls.
  CompactSome(
      args, options,
      {Status::kIncomplete, Status::kNotSupported, Status::kAborted, Status::kInvalidArgument});
}

void CompactFiles(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  ColumnFamilyMetaData metadata;
  args.db()->GetColumnFamilyMetaData(target.get(), &metadata);
  std::vector<std::pair<int, std::string>> files;
  for (const LevelMetaData& level : metadata.levels)
    for (const SstFileMetaData& file : level.files) files.emplace_back(level.level, file.name);
  if (files.empty()) return;
  const auto& [level, name] = files[args.random->Uniform(files.size())];
  CompactionOptions options;
  options.allow_trivial_move = args.random->OneIn(2);
  const int to = std::min(level + static_cast<int>(args.random->Uniform(3)), 6);
  // The file may have been deleted by now, or be in another compaction.
  args.scene->Succeeded(
      args.db()->CompactFiles(options, target.get(), {name}, to), target,
      {Status::kIncomplete, Status::kAborted, Status::kInvalidArgument, Status::kNotSupported});
}

void SuggestCompactRange(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  args.scene->Succeeded(args.db()->SuggestCompactRange(target.get(), nullptr, nullptr), target);
}

void PromoteL0(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  // Level 0 may overlap, or lower levels may have tables. Incomplete: see DisableManualCompaction.
  args.scene->Succeeded(args.db()->PromoteL0(target.get(), 1), target,
                        {Status::kIncomplete, Status::kInvalidArgument, Status::kNotSupported});
}

void DisableManualCompaction(const CallArgs& args) {
  args.db()->DisableManualCompaction();
  args.db()->EnableManualCompaction();
}

void AbortAllCompactions(const CallArgs& args) {
  args.db()->AbortAllCompactions();
  args.db()->ResumeAllCompactions();
}

// Deletes a table of the family that loses its oldest ones. Another one may be the oldest by now.
void DeleteFile(const CallArgs& args) {
  const auto& families = args.scene->families();
  const auto target = std::find_if(families.begin(), families.end(),
                                   [](const Target& family) { return family.loses_old_tables; });
  ASSERT_NE(target, families.end());
  ColumnFamilyMetaData metadata;
  args.db()->GetColumnFamilyMetaData(target->get(), &metadata);
  const std::vector<SstFileMetaData>& tables = metadata.levels[0].files;
  if (tables.empty()) return;
  args.scene->Succeeded(args.db()->DeleteFile(tables.back().relative_filename),
                        {Status::kInvalidArgument});
}

// Uses keys that no other call reads, because deleted ones may reappear.
void DeleteFilesInRange(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  const std::string prefix = StrCat("g", args.thread, "-", args.random->Uniform(4));
  for (int i = 0; i < 8; ++i) {
    const Status put = args.db()->Put(WriteOptions(), target.get(), StrCat(prefix, "-", i),
                                      std::string(1000, 'g'));
    if (!args.scene->Succeeded(put, target)) return;
  }
  const Slice begin(prefix);
  const std::string after = prefix + "~";
  const Slice end(after);
  args.scene->Succeeded(args.random->OneIn(2)
                            ? ashlar::DeleteFilesInRange(args.db(), target.get(), &begin, &end)
                            : args.db()->DeleteRange(WriteOptions(), target.get(), begin, end),
                        target);
}

void WaitForCompact(const CallArgs& args) {
  WaitForCompactOptions options;
  options.flush = args.random->OneIn(3);
  options.abort_on_pause = args.random->OneIn(2);
  if (args.random->OneIn(2)) options.timeout = std::chrono::microseconds(2000);
  args.scene->Succeeded(args.db()->WaitForCompact(options), {Status::kTimedOut, Status::kAborted});
}

void PauseBackgroundWork(const CallArgs& args) {
  if (!args.scene->Succeeded(args.db()->PauseBackgroundWork())) return;
  args.scene->Succeeded(args.db()->ContinueBackgroundWork());
}

void EnableAutoCompaction(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  const Status changed =
      args.db()->SetOptions(target.get(), {{"disable_auto_compactions", "true"}});
  args.scene->Succeeded(changed, target);
  args.scene->Succeeded(args.db()->EnableAutoCompaction({target.get()}), target);
}

void FlushWAL(const CallArgs& args) {
  args.scene->Succeeded(args.db()->FlushWAL(args.random->OneIn(4)));
}

void SyncWAL(const CallArgs& args) { args.scene->Succeeded(args.db()->SyncWAL()); }

void DisableFileDeletions(const CallArgs& args) {
  if (!args.scene->Succeeded(args.db()->DisableFileDeletions())) return;
  args.scene->Succeeded(args.db()->EnableFileDeletions());
}

void Resume(const CallArgs& args) {
  if (args.scene->kind().has_faults) {
    args.scene->FailAWriteThenResume();
  } else {
    args.scene->Succeeded(args.db()->Resume());
  }
}

// ---- Options.

void SetOptions(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  args.scene->Succeeded(
      args.db()->SetOptions(
          target.get(),
          {{"write_buffer_size", StrCat((32 + args.random->Uniform(64)) << 10)},
           {"level0_file_num_compaction_trigger", StrCat(2 + args.random->Uniform(3))},
           {"block_based_table_factory",
            StrCat("{block_size=", (1 + args.random->Uniform(8)) << 10, ";}")}}),
      target);
}

void SetDBOptions(const CallArgs& args) {
  args.scene->Succeeded(
      args.db()->SetDBOptions({{"max_background_jobs", StrCat(2 + args.random->Uniform(3))}}));
}

// Sets no limit, or one below the size of the families' memtables, with and without a stall.
void SetBufferSize(const CallArgs& args) {
  WriteBufferManager* const manager = args.scene->write_buffer_manager();
  manager->SetAllowStall(args.random->OneIn(2));
  manager->SetBufferSize(args.random->OneIn(3) ? 0 : (64 + args.random->Uniform(192)) << 10);
}

// Changes the capacity. At times it is 0 for a moment, and then blocks are read around the cache.
void SetCapacity(const CallArgs& args) {
  Cache* const cache = args.scene->cache();
  if (args.random->OneIn(4)) {
    cache->SetCapacity(0);
    args.scene->ReadOne(args.random);
  }
  cache->SetCapacity((8 + args.random->Uniform(128)) << 10);
  EXPECT_LE(cache->GetCapacity(), 136U << 10);
  args.scene->ReadOne(args.random);
}

void EraseUnRefEntries(const CallArgs& args) {
  Cache* const cache = args.scene->cache();
  args.scene->ReadOne(args.random);
  cache->EraseUnRefEntries();
  static_cast<void>(cache->GetUsage() + cache->GetPinnedUsage() + cache->GetOccupancyCount());
  args.scene->ReadOne(args.random);
}

// Sets rates at which flushes and compactions wait for a refill or two.
void SetBytesPerSecond(const CallArgs& args) {
  RateLimiter* const limiter = args.scene->rate_limiter();
  const int64_t through = limiter->GetTotalBytesThrough();
  limiter->SetBytesPerSecond(static_cast<int64_t>(32 + args.random->Uniform(512)) << 20);
  EXPECT_OK(limiter->SetSingleBurstBytes(args.random->OneIn(2) ? 0 : 16 << 10));
  EXPECT_GE(limiter->GetBytesPerSecond(), 32 << 20);
  int64_t pending = -1;
  EXPECT_OK(limiter->GetTotalPendingRequests(&pending));
  EXPECT_GE(pending, 0);
  EXPECT_GE(limiter->GetTotalBytesThrough(), through);
}

void GetOptions(const CallArgs& args) {
  const Target target = args.scene->Pick(args.random);
  EXPECT_GE(args.db()->GetOptions(target.get()).write_buffer_size, 32U << 10);
  EXPECT_GE(args.db()->GetDBOptions().max_background_jobs, 2);
}

// The functions that read the files of a database without its lock.
void ReadFiles(const CallArgs& args) {
  const Scene& scene = *args.scene;
  ConfigOptions config;
  config.env = scene.env();
  config.ignore_unsupported_options = true;
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  std::string name;
  if (scene.Succeeded(LoadLatestOptions(config, "/db", &options, &families))) {
    EXPECT_GE(families.size(), scene.families().size());
  }
  scene.Succeeded(GetLatestOptionsFileName("/db", scene.env(), &name));
  options.env = scene.env();
  DatabaseInventory inventory;
  if (scene.Succeeded(ReadInventory(options, "/db", &inventory))) {
    EXPECT_GE(inventory.column_families.size(), scene.families().size());
  }
  if (!scene.Succeeded(args.db()->DisableFileDeletions())) return;
  std::vector<LiveFileMetaData> tables;
  args.db()->GetLiveFilesMetaData(&tables);
  Options of_table;
  of_table.env = scene.env();
  for (const LiveFileMetaData& table : tables) {
    if (!args.random->OneIn(4)) continue;
    const std::string order = of_table.comparator->Name();
    TableProperties properties;
    scene.Succeeded(ReadTableProperties(options, table, order, &properties));
    scene.Succeeded(VerifyTable(options, table, order));
    scene.Succeeded(VerifySstFileChecksum(of_table, EnvOptions(), table.directory + table.name));
  }
  scene.Succeeded(args.db()->EnableFileDeletions());
}

// ---- Families.

void CreateAndDropFamily(const CallArgs& args) {
  const Scene& scene = *args.scene;
  const std::string name = StrCat("f", args.thread, "-", args.number);
  ColumnFamilyHandle* family = nullptr;
  if (args.random->OneIn(2)) {
    if (!scene.Succeeded(args.db()->CreateColumnFamily(scene.VictimOptions(), name, &family)))
      return;
  } else {
    std::vector<ColumnFamilyHandle*> made;
    if (!scene.Succeeded(args.db()->CreateColumnFamilies({{name, scene.VictimOptions()}}, &made)))
      return;
    family = made[0];
  }
  const bool written = scene.Succeeded(args.db()->Put(WriteOptions(), family, "key", "value"));
  if (args.random->OneIn(2)) scene.Succeeded(args.db()->Flush(FlushOptions(), family));
  std::string value;
  const Status got = args.db()->Get(ReadOptions(), family, "key", &value);
  EXPECT_TRUE(!written || !scene.Succeeded(got) || value == "value") << value;
  scene.Succeeded(args.db()->DropColumnFamily(family));
  EXPECT_OK(args.db()->DestroyColumnFamilyHandle(family));
}

// Clips any target to a range that has every key, and then a family of its own.
void ClipColumnFamily(const CallArgs& args) {
  const Scene& scene = *args.scene;
  const Target target = scene.Pick(args.random);
  scene.Succeeded(args.db()->ClipColumnFamily(target.get(), "", "~"), target,
                  {Status::kIncomplete});
  ColumnFamilyHandle* family = nullptr;
  if (!scene.Succeeded(args.db()->CreateColumnFamily(
          scene.VictimOptions(), StrCat("c", args.thread, "-", args.number), &family)))
    return;
  bool written = true;
  for (const char* const key : {"a", "b", "c", "d"}) {
    written = written && scene.Succeeded(args.db()->Put(WriteOptions(), family, key, "value"));
    if (args.random->OneIn(4)) scene.Succeeded(args.db()->Flush(FlushOptions(), family));
  }
  // Incomplete: manual compactions were disabled, before or after the keys were deleted.
  const Status clipped = args.db()->ClipColumnFamily(family, "b", "d");
  if (written && scene.Succeeded(clipped, {Status::kIncomplete})) {
    const std::unique_ptr<Iterator> it(args.db()->NewIterator(ReadOptions(), family));
    std::string keys;
    for (it->SeekToFirst(); it->Valid(); it->Next()) keys += it->key().ToString();
    if (scene.Succeeded(it->status())) {
      EXPECT_EQ(keys, "bc");
    }
  }
  scene.Succeeded(args.db()->DropColumnFamily(family));
  EXPECT_OK(args.db()->DestroyColumnFamilyHandle(family));
}

void DropFamilyInUse(const CallArgs& args) { args.scene->DropVictim(); }

// ---- Copies.

// Sometimes uses a directory that another thread creates, too.
void MakeCheckpoint(const CallArgs& args) {
  const Scene::Versions floor = args.scene->Floor();
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(args.db(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  const std::string own = StrCat("/checkpoint", args.thread);
  const bool shares = args.random->OneIn(2);
  const std::string path = shares ? "/checkpoint" : own;
  const uint64_t flush_from = args.random->OneIn(2) ? 0 : UINT64_MAX;
  const Status created = checkpoint->CreateCheckpoint(path, flush_from);
  if (shares && (created.IsBusy() || created.IsInvalidArgument())) return;
  if (!args.scene->Succeeded(created)) return;
  if (shares) {
    ASSERT_OK(args.db()->GetEnv()->EngineFiles().get()->RenameFile(path, own));
  }
  args.scene->CheckAndRemoveCopy(own, floor);
}

// Copies the files by their descriptions.
void CopyByDescription(const CallArgs& args) {
  const Scene& scene = *args.scene;
  vfs::FileSystem* const system = args.db()->GetEnv()->EngineFiles().get();
  const Scene::Versions floor = scene.Floor();
  const std::string path = StrCat("/described", args.thread);
  LiveFilesStorageInfoOptions options;
  options.include_checksum_info = true;
  options.wal_size_for_flush = args.random->OneIn(2) ? 0 : UINT64_MAX;
  std::vector<LiveFileStorageInfo> files;
  if (!scene.Succeeded(args.db()->DisableFileDeletions())) return;
  const bool listed = scene.Succeeded(args.db()->GetLiveFilesStorageInfo(options, &files));
  if (listed) {
    ASSERT_OK(system->CreateDir(path));
    for (const LiveFileStorageInfo& file : files) CopyLiveFile(system, file, path);
  }
  scene.Succeeded(args.db()->EnableFileDeletions());
  if (!listed) return;
  scene.CheckAndRemoveCopy(path, floor);
}

void RemoveFolder(vfs::FileSystem* system, const std::string& path) {
  std::vector<std::string> names;
  EXPECT_OK(system->GetChildren(path, &names));
  for (const std::string& name : names) EXPECT_OK(system->DeleteFile(StrCat(path, "/", name)));
  EXPECT_OK(system->DeleteDir(path));
}

// Imports the first family of the model as another family of the database.
void ExportAndImport(const CallArgs& args) {
  const Scene& scene = *args.scene;
  const Scene::Versions floor = scene.Floor();
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(args.db(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  const std::string path = StrCat("/exported", args.thread);
  ExportImportFilesMetaData* exported = nullptr;
  const Status status = checkpoint->ExportColumnFamily(scene.families()[0].get(), path, &exported);
  const std::unique_ptr<ExportImportFilesMetaData> metadata(exported);
  if (!scene.Succeeded(status)) return;
  ImportColumnFamilyOptions options;
  options.move_files = args.random->OneIn(2);
  ColumnFamilyHandle* family = nullptr;
  const Status imported = args.db()->CreateColumnFamilyWithImport(
      scene.VictimOptions(), StrCat("i", args.thread, "-", args.number), options, *metadata,
      &family);
  RemoveFolder(args.db()->GetEnv()->EngineFiles().get(), path);
  if (metadata->files.empty()) {
    EXPECT_FALSE(scene.Succeeded(imported, {Status::kInvalidArgument}));
    return;
  }
  if (!scene.Succeeded(imported)) return;
  {
    std::vector<std::unique_ptr<Iterator>> iterators;
    iterators.emplace_back(args.db()->NewIterator(ReadOptions(), family));
    if (scene.Succeeded(iterators[0]->status())) scene.CheckIterators(iterators, floor);
  }
  scene.Succeeded(args.db()->DropColumnFamily(family));
  EXPECT_OK(args.db()->DestroyColumnFamilyHandle(family));
}

// Sets the floor of a secondary, which shows at least the contents of the log's file.
bool WrittenFloor(const CallArgs& args, Scene::Versions* floor) {
  *floor = args.scene->Floor();
  return !args.scene->kind().flushes_log_by_hand ||
         args.scene->Succeeded(args.db()->FlushWAL(/*sync=*/false));
}

// Opens a secondary of the database, which catches up while the other call runs.
void CatchUp(const CallArgs& args) {
  const Scene& scene = *args.scene;
  EXPECT_TRUE(args.db()->TryCatchUpWithPrimary().IsNotSupported());
  EXPECT_TRUE(args.db()->PromoteToPrimary().IsNotSupported());
  EXPECT_FALSE(args.db()->IsSecondary());
  std::unique_ptr<DB> secondary;
  std::vector<std::unique_ptr<ColumnFamilyHandle>> handles;
  Scene::Versions floor;
  if (!WrittenFloor(args, &floor)) return;
  if (!scene.Succeeded(scene.OpenSecondary(&secondary, &handles))) return;
  const std::vector<ColumnFamilyHandle*> families = Pointers(handles);
  for (int i = 0; i < 4; ++i) {
    std::vector<Iterator*> made;
    ASSERT_OK(secondary->NewIterators(ReadOptions(), families, &made));
    const std::vector<std::unique_ptr<Iterator>> iterators(made.begin(), made.end());
    scene.CheckIterators(iterators, floor);
    if (!WrittenFloor(args, &floor)) return;
    if (!scene.Succeeded(secondary->TryCatchUpWithPrimary())) return;
  }
}

// ---- The end.

void Close(const CallArgs& args) {
  if (args.random->OneIn(2)) CancelAllBackgroundWork(args.db(), args.random->OneIn(2));
  Status closed = args.db()->Close();
  // Waits for iterators, snapshots and pins of the other call.
  while (closed.IsAborted()) closed = args.db()->Close();
  // With faults, the error of the failed write is allowed.
  EXPECT_TRUE(closed.ok() || (args.scene->kind().has_faults && closed.IsIOError()))
      << closed.ToString();
}

}  // namespace

const std::vector<Call>& Calls() {
  static const std::vector<Call> kCalls = {
      {"Put", {"Put", "Delete"}, Put},
      {"SingleDelete", {"SingleDelete"}, SingleDelete},
      {"DeleteRange", {"DeleteRange"}, DeleteRange},
      {"Merge", {"Merge"}, Merge},
      {"GetMergeOperands", {"GetMergeOperands"}, GetMergeOperands},
      {"Write", {"Write"}, Write},
      {"WriteUnlogged", {"Put"}, WriteUnlogged},
      {"IngestExternalFile", {"IngestExternalFile"}, IngestExternalFile},
      {"IngestExternalFiles", {"IngestExternalFiles"}, IngestIntoAll},
      {"Get", {"Get"}, Get},
      {"MultiGet", {"MultiGet"}, MultiGet},
      {"KeyMayExist", {"KeyMayExist"}, KeyMayExist},
      {"NewIterator", {"NewIterator"}, Iterate},
      {"FilterTables", {"NewIterator", "NewIterators"}, FilterTables},
      {"NewIterators", {"NewIterators"}, NewIterators},
      {"GetSnapshot", {"GetSnapshot", "ReleaseSnapshot"}, ReadAtSnapshot},
      {"GetProperty",
       {"GetProperty", "GetMapProperty", "GetIntProperty", "GetAggregatedIntProperty",
        "ResetStats"},
       GetProperties},
      {"GetApproximateSizes",
       {"GetApproximateSizes", "GetApproximateMemTableStats"},
       GetApproximateSizes},
      {"GetMetadata",
       {"GetLiveFilesMetaData", "GetColumnFamilyMetaData", "GetAllColumnFamilyMetaData",
        "GetPropertiesOfAllTables", "GetPropertiesOfTablesInRange", "GetPropertiesOfTablesByLevel",
        "GetCreationTimeOfOldestFile"},
       GetMetadata},
      {"GetLiveFiles", {"GetLiveFiles"}, GetLiveFiles},
      {"GetLiveFilesChecksumInfo", {"GetLiveFilesChecksumInfo"}, GetLiveFilesChecksumInfo},
      {"GetName",
       {"GetName", "GetEnv", "GetFileSystem", "GetRootDB", "DefaultColumnFamily", "NumberLevels",
        "Level0StopWriteTrigger", "MaxMemCompactionLevel", "GetLatestSequenceNumber",
        "GetDbIdentity", "GetDbSessionId"},
       GetNames},
      {"GetThreadList", {}, GetThreadList},
      {"GetUpdatesSince", {"GetUpdatesSince"}, GetUpdatesSince},
      {"GetSortedWalFiles", {"GetSortedWalFiles", "GetCurrentWalFile"}, GetSortedWalFiles},
      {"LockWAL", {"LockWAL", "UnlockWAL"}, LockWAL},
      {"VerifyChecksum", {"VerifyChecksum"}, VerifyChecksum},
      {"VerifyFileChecksums", {"VerifyFileChecksums"}, VerifyFileChecksums},
      {"ReportLostError", {"ReportLostError"}, ReportLostError},
      {"Flush", {"Flush"}, Flush},
      {"CompactRange", {"CompactRange"}, CompactRange},
      {"CompactRangeExclusively", {"CompactRange"}, CompactRangeAlone},
      {"ChangeLevel", {"CompactRange"}, ChangeLevel},
      {"CompactFiles", {"CompactFiles"}, CompactFiles},
      {"SuggestCompactRange", {"SuggestCompactRange"}, SuggestCompactRange},
      {"PromoteL0", {"PromoteL0"}, PromoteL0},
      {"DisableManualCompaction",
       {"DisableManualCompaction", "EnableManualCompaction"},
       DisableManualCompaction},
      {"AbortAllCompactions", {"AbortAllCompactions", "ResumeAllCompactions"}, AbortAllCompactions},
      {"DeleteFilesInRanges", {"DeleteFilesInRanges"}, DeleteFilesInRange},
      {"DeleteFile", {"DeleteFile"}, DeleteFile},
      {"WaitForCompact", {"WaitForCompact"}, WaitForCompact},
      {"PauseBackgroundWork",
       {"PauseBackgroundWork", "ContinueBackgroundWork"},
       PauseBackgroundWork},
      {"EnableAutoCompaction", {"EnableAutoCompaction"}, EnableAutoCompaction},
      {"FlushWAL", {"FlushWAL"}, FlushWAL},
      {"SyncWAL", {"SyncWAL"}, SyncWAL},
      {"DisableFileDeletions",
       {"DisableFileDeletions", "EnableFileDeletions"},
       DisableFileDeletions},
      {"Resume", {"Resume"}, Resume},
      {"SetBufferSize", {}, SetBufferSize},
      {"SetCapacity", {}, SetCapacity},
      {"EraseUnRefEntries", {}, EraseUnRefEntries},
      {"SetBytesPerSecond", {}, SetBytesPerSecond},
      {"SetOptions", {"SetOptions"}, SetOptions},
      {"SetDBOptions", {"SetDBOptions"}, SetDBOptions},
      {"GetOptions", {"GetOptions", "GetDBOptions"}, GetOptions},
      {"ReadFiles", {}, ReadFiles},
      {"CreateColumnFamily",
       {"CreateColumnFamily", "CreateColumnFamilies", "DropColumnFamilies",
        "DestroyColumnFamilyHandle"},
       CreateAndDropFamily},
      {"ClipColumnFamily", {"ClipColumnFamily"}, ClipColumnFamily},
      {"DropFamilyInUse", {"DropColumnFamilies"}, DropFamilyInUse},
      {"CreateCheckpoint", {}, MakeCheckpoint},
      {"GetLiveFilesStorageInfo", {"GetLiveFilesStorageInfo"}, CopyByDescription},
      {"ExportAndImport", {"CreateColumnFamilyWithImport"}, ExportAndImport},
      {"CreateNewBackup", {}, MakeBackup},
      {"RestoreBackup", {}, RestoreBackup},
      {"StopBackup", {}, StopBackup},
      {"VerifyBackup", {}, VerifyBackup},
      {"DeleteBackup", {}, DeleteBackup},
      {"TryCatchUpWithPrimary",
       {"TryCatchUpWithPrimary", "PromoteToPrimary", "IsSecondary"},
       CatchUp},
      {"Close", {"Close", "CancelAllBackgroundWork"}, Close},
  };
  return kCalls;
}

size_t ClosingCall() { return Calls().size() - 1; }

}  // namespace ashlar

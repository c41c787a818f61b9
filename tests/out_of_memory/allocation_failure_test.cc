// Allocation failure in every public call. A short workload runs repeatedly, and each time
// another allocation fails. The call in which it fails returns a Status, and no exception escapes
// it. No later call waits forever. Acknowledged writes are found, both at once and after a
// reopen.
//
// Jobs run in the thread of the test (ManualEnv), so allocations of flushes and compactions fail,
// too, and one number is one history.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ashlar/checkpoint.h"
#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/file_checksum.h"
#include "ashlar/merge_operator.h"
#include "ashlar/slice_transform.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "ashlar/write_batch.h"
#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "key/prefix_extractors.h"
#include "lsm/candidate_queue.h"
#include "platform/thread.h"
#include "tests/out_of_memory/failing_new.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/manual_env.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

// Every allocation fails in turn, except with AddressSanitizer: see tests/CMakeLists.txt.
#ifdef ASHLAR_SWEEP_STRIDE
constexpr uint64_t kStride = ASHLAR_SWEEP_STRIDE;
#else
constexpr uint64_t kStride = 1;
#endif

constexpr size_t kFamilies = 2;

// The possible values of each key: one, or several after a write that failed.
using Possible = std::vector<std::optional<std::string>>;
using Model = std::map<std::pair<size_t, std::string>, Possible>;

class Workload {
 public:
  struct Args {
    uint64_t fails_at = 0;
    FailingNew::Kind kind = FailingNew::Kind::kOnce;
    std::shared_ptr<vfs::FileSystem> file_system = std::make_shared<MemoryFileSystem>();
    std::string path = "/db";
  };

  explicit Workload(const Args& args) : path_(args.path), env_(args.file_system, /*seed=*/7) {
    options_ = SmallDatabaseOptions();
    options_.env = &env_;
    options_.write_buffer_size = 64 << 10;
    options_.level0_file_num_compaction_trigger = 2;
    options_.create_missing_column_families = true;
    options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
    FailingNew::Arm(args.fails_at, args.kind);
  }
  ~Workload() { DeleteExport(); }
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  void Run() {
    Open();
    if (db_ == nullptr) return;
    OpenSecondary();
    WriteSome();
    CatchUp();
    ReadSome();
    Maintain();
    CatchUp();
    ReadSome();
    Verify("before the close");
    CloseSecondary();
    Close();
  }

  // From here on no allocation fails.
  void Recover() {
    if (db_ == nullptr) {
      const Status opened = OpenOnce();
      ASSERT_TRUE(opened.ok()) << opened.ToString();
    } else {
      Verify("with memory");
      Close();
      const Status opened = OpenOnce();
      ASSERT_TRUE(opened.ok()) << opened.ToString();
    }
    Verify("after the database was opened again");
    Write("Put", 0, "last", "write", false);
    ASSERT_TRUE(Call("Flush", [&] { return db_->Flush(FlushOptions(), handles_); }).ok());
    Verify("after a last write");
    Close();
  }

 private:
  Status OpenOnce() {
    std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, options_},
                                                    {"second", options_}};
    // A creation that failed may have been recorded, and a drop may not.
    std::vector<std::string> names;
    static_cast<void>(DB::ListColumnFamilies(options_, path_, &names).ok());
    for (const std::string& name : names) {
      if (name == "third" || name == "fourth") families.emplace_back(name, options_);
    }
    DB* opened = nullptr;
    const Status status =
        Call("Open", [&] { return DB::Open(options_, path_, families, &handles_, &opened); });
    db_.reset(opened);
    return status;
  }

  void Open() {
    const Status status = OpenOnce();
    EXPECT_EQ(status.ok(), db_ != nullptr);
    EXPECT_TRUE(status.ok() || status.IsMemoryLimit()) << status.ToString();
  }

  void Close() {
    static_cast<void>(Call("deletion of handles", [&] {
                        for (ColumnFamilyHandle* const handle : handles_) delete handle;
                        return Status::OK();
                      }).ok());
    handles_.clear();
    static_cast<void>(Call("Close", [&] { return db_->Close(); }).ok());
    db_.reset();
  }

  void Note(const Status& status, size_t family, const std::string& key,
            std::optional<std::string> value) {
    Possible& possible = model_[{family, key}];
    if (possible.empty()) possible.emplace_back(std::nullopt);
    if (status.ok()) possible.clear();
    possible.push_back(std::move(value));
  }

  void Write(const char* name, size_t family, const std::string& key,
             const std::optional<std::string>& value, bool sync) {
    WriteOptions options;
    options.sync = sync;
    const Status status = Call(name, [&] {
      return value.has_value() ? db_->Put(options, handles_[family], key, *value)
                               : db_->Delete(options, handles_[family], key);
    });
    CheckError(status);
    Note(status, family, key, value);
  }

  void WriteSome() {
    for (int round = 0; round < 2; ++round) {
      for (size_t family = 0; family < kFamilies; ++family) {
        for (int i = 0; i < 4; ++i) {
          Write("Put", family, StrCat("key", i),
                StrCat(round, ":", i, std::string(8000 + 10 * static_cast<size_t>(i), 'v')),
                i % 3 == 0);
        }
        Write("Delete", family, "key1", std::nullopt, false);
      }
      WriteBoth(StrCat("both", round));
    }
  }

  // Writes one batch to both families.
  void WriteBoth(const std::string& value) {
    WriteBatch batch;
    ASSERT_TRUE(batch.Put(handles_[0], "pair", value).ok());
    ASSERT_TRUE(batch.Put(handles_[1], "pair", value).ok());
    const Status status = Call("Write", [&] { return db_->Write(WriteOptions(), &batch); });
    CheckError(status);
    Note(status, 0, "pair", value);
    Note(status, 1, "pair", value);
  }

  // Accepts the failure itself, or the answer of the database after it.
  void CheckError(const Status& status) const {
    if (status.ok()) return;
    EXPECT_TRUE(FailingNew::HasFailed()) << status.ToString();
    EXPECT_TRUE(status.IsMemoryLimit()) << status.ToString();
  }

  void OpenSecondary() {
    DB* opened = nullptr;
    const std::string own_path = path_ + "_secondary";
    const DBOptions db_options(options_);
    const std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, options_},
                                                          {"second", options_}};
    CheckError(Call("OpenAsSecondary", [&] {
      return DB::OpenAsSecondary(db_options, path_, own_path, families, &secondary_handles_,
                                 &opened);
    }));
    secondary_.reset(opened);
  }
  // A failure leaves the secondary unchanged. The next call shows everything.
  void CatchUp() {
    if (secondary_ == nullptr) return;
    std::array<std::map<std::string, std::string>, kFamilies> before;
    for (size_t family = 0; family < kFamilies; ++family) before[family] = ShownBySecondary(family);
    const Status caught_up =
        Call("TryCatchUpWithPrimary", [&] { return secondary_->TryCatchUpWithPrimary(); });
    CheckError(caught_up);
    if (!caught_up.ok()) {
      for (size_t family = 0; family < kFamilies; ++family)
        EXPECT_EQ(ShownBySecondary(family), before[family]);
      ASSERT_TRUE(secondary_->TryCatchUpWithPrimary().ok());
    }
    for (size_t family = 0; family < kFamilies; ++family)
      CheckContents(family, ShownBySecondary(family), "secondary");
  }
  std::map<std::string, std::string> ShownBySecondary(size_t family) {
    const std::unique_ptr<Iterator> it(
        secondary_->NewIterator(ReadOptions(), secondary_handles_[family]));
    std::map<std::string, std::string> seen;
    for (it->SeekToFirst(); it->Valid(); it->Next())
      seen[it->key().ToString()] = it->value().ToString();
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return seen;
  }
  void CloseSecondary() {
    for (ColumnFamilyHandle* const handle : secondary_handles_) delete handle;
    secondary_handles_.clear();
    secondary_.reset();
  }

  void ReadSome() {
    for (const auto& [where, possible] : model_) {
      PinnableSlice value;
      const Status got = Call("Get", [&] {
        return db_->Get(ReadOptions(), handles_[where.first], where.second, &value);
      });
      if (got.ok() || got.IsNotFound()) {
        CheckValue(where, possible,
                   got.ok() ? std::optional<std::string>(value.ToString()) : std::nullopt, "Get");
      } else {
        CheckError(got);
      }
    }
    MultiGetAll();
    IterateAll();
    std::string text;
    const Status property = Call("GetProperty", [&] {
      return db_->GetProperty("rocksdb.stats", &text) ? Status::OK() : Status::MemoryLimit();
    });
    CheckError(property);
    CheckError(Call("ResetStats", [&] { return db_->ResetStats(); }));
    const Range all("", "~");
    TablePropertiesCollection properties;
    CheckError(Call("GetPropertiesOfTablesInRange", [&] {
      return db_->GetPropertiesOfTablesInRange(handles_[0], &all, 1, &properties);
    }));
    const Snapshot* snapshot = nullptr;
    CheckError(Call("GetSnapshot", [&] {
      snapshot = db_->GetSnapshot();
      return Status::OK();
    }));
    if (snapshot != nullptr) db_->ReleaseSnapshot(snapshot);
  }

  void MultiGetAll() {
    std::vector<std::pair<size_t, std::string>> wheres;
    std::vector<Slice> keys;
    std::vector<ColumnFamilyHandle*> families;
    for (const auto& [where, possible] : model_) wheres.push_back(where);
    for (const auto& where : wheres) {
      keys.emplace_back(where.second);
      families.push_back(handles_[where.first]);
    }
    std::vector<PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size(), Status::Busy());
    const Status called = Call("MultiGet", [&] {
      db_->MultiGet(ReadOptions(), keys.size(), families.data(), keys.data(), values.data(),
                    statuses.data());
      return Status::OK();
    });
    CheckError(called);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (statuses[i].ok() || statuses[i].IsNotFound()) {
        CheckValue(
            wheres[i], model_[wheres[i]],
            statuses[i].ok() ? std::optional<std::string>(values[i].ToString()) : std::nullopt,
            "MultiGet");
      } else {
        CheckError(statuses[i]);
      }
    }
  }

  void IterateAll() {
    for (size_t family = 0; family < kFamilies; ++family) {
      std::unique_ptr<Iterator> it;
      CheckError(Call("NewIterator", [&] {
        it.reset(db_->NewIterator(ReadOptions(), handles_[family]));
        return it == nullptr ? Status::MemoryLimit() : it->status();
      }));
      if (it == nullptr || !it->status().ok()) continue;
      std::map<std::string, std::string> seen;
      CheckError(Call("iteration", [&] {
        for (it->SeekToFirst(); it->Valid(); it->Next()) {
          if (it->key().size() == 0) break;
        }
        return it->status();
      }));
      CheckError(Call("iteration backwards", [&] {
        for (it->SeekToLast(); it->Valid(); it->Prev()) {
          if (it->key().size() == 0) break;
        }
        return it->status();
      }));
      CheckError(Call("Refresh", [&] { return it->Refresh(); }));
      // A failure leaves the iterator usable, so it starts again.
      for (it->SeekToFirst(); it->Valid(); it->Next())
        seen[it->key().ToString()] = it->value().ToString();
      if (!it->status().ok()) {
        CheckError(it->status());
        continue;
      }
      CheckContents(family, seen, "iterator");
      CheckError(Call("deletion of an iterator", [&] {
        it.reset();
        return Status::OK();
      }));
    }
  }

  void Maintain() {
    CheckError(Call("Flush", [&] { return db_->Flush(FlushOptions(), handles_); }));
    Write("Put", 0, "key2", "after the flush", false);
    Ingest();
    CheckError(Call("SyncWAL", [&] { return db_->SyncWAL(); }));
    for (ColumnFamilyHandle* const handle : handles_) {
      CheckError(Call("CompactRange", [&] {
        return db_->CompactRange(CompactRangeOptions(), handle, nullptr, nullptr);
      }));
    }
    ColumnFamilyHandle* third = nullptr;
    const Status created = Call("CreateColumnFamily",
                                [&] { return db_->CreateColumnFamily(options_, "third", &third); });
    CheckError(created);
    // A failed call leaves no family of the name.
    if (third == nullptr) {
      CheckError(Call("CreateColumnFamily again",
                      [&] { return db_->CreateColumnFamily(options_, "third", &third); }));
    }
    if (third != nullptr) {
      CheckError(Call("Put", [&] { return db_->Put(WriteOptions(), third, "a", "b"); }));
      CheckError(Call("DropColumnFamily", [&] { return db_->DropColumnFamily(third); }));
      delete third;
    }
    ExportAndImport();
    ListFiles();
    const std::unordered_map<std::string, std::string> changed = {
        {"level0_file_num_compaction_trigger", "3"}};
    CheckError(Call("SetOptions", [&] { return db_->SetOptions(handles_[0], changed); }));
    CheckError(
        Call("WaitForCompact", [&] { return db_->WaitForCompact(WaitForCompactOptions()); }));
  }

  void ListFiles() {
    CheckError(
        Call("VerifyFileChecksums", [&] { return db_->VerifyFileChecksums(ReadOptions()); }));
    std::vector<LiveFileStorageInfo> files;
    const Status listed = Call("GetLiveFilesStorageInfo", [&] {
      return db_->GetLiveFilesStorageInfo(LiveFilesStorageInfoOptions(), &files);
    });
    CheckError(listed);
    EXPECT_EQ(listed.ok(), !files.empty());
    const std::unique_ptr<FileChecksumList> list(NewFileChecksumList());
    CheckError(Call("GetLiveFilesChecksumInfo",
                    [&] { return db_->GetLiveFilesChecksumInfo(list.get()); }));
    const Status deleted = Call("DeleteFile", [&] { return db_->DeleteFile("999999.sst"); });
    if (!deleted.IsInvalidArgument()) CheckError(deleted);
  }

  // Ingests into both families, all or nothing, and flushes the memtable that has a file's key.
  void Ingest() {
    const std::string path = path_ + "_external.sst";
    // Not in a Call, because the constructor can only throw, and has no file yet.
    SstFileWriter writer(EnvOptions(), options_);
    const Status written = Call("SstFileWriter", [&] {
      ASHLAR_RETURN_IF_ERROR(writer.Open(path));
      ASHLAR_RETURN_IF_ERROR(writer.Put("key2", "ingested"));
      ASHLAR_RETURN_IF_ERROR(writer.DeleteRange("key3", "key4"));
      return writer.Finish();
    });
    CheckError(written);
    if (written.ok()) {
      std::vector<IngestExternalFileArg> args(kFamilies);
      for (size_t family = 0; family < kFamilies; ++family) {
        args[family].column_family = handles_[family];
        args[family].external_files = {path};
      }
      const Status ingested =
          Call("IngestExternalFiles", [&] { return db_->IngestExternalFiles(args); });
      CheckError(ingested);
      for (size_t family = 0; family < kFamilies; ++family) {
        Note(ingested, family, "key2", "ingested");
        Note(ingested, family, "key3", std::nullopt);
      }
    }
    static_cast<void>(options_.env->EngineFiles()->DeleteFile(path).ok());
  }

  // Exports the second family and imports it as another one, which is clipped and dropped.
  void ExportAndImport() {
    ExportImportFilesMetaData* exported = nullptr;
    const Status status = Call("ExportColumnFamily", [&]() -> Status {
      Checkpoint* made = nullptr;
      ASHLAR_RETURN_IF_ERROR(Checkpoint::Create(db_.get(), &made));
      const std::unique_ptr<Checkpoint> checkpoint(made);
      return checkpoint->ExportColumnFamily(handles_[1], export_path_, &exported);
    });
    CheckError(status);
    const std::unique_ptr<ExportImportFilesMetaData> metadata(exported);
    ColumnFamilyHandle* copy = nullptr;
    if (status.ok()) {
      CheckError(Call("CreateColumnFamilyWithImport", [&] {
        return db_->CreateColumnFamilyWithImport(options_, "fourth", ImportColumnFamilyOptions(),
                                                 *metadata, &copy);
      }));
    }
    if (copy != nullptr) {
      CheckError(
          Call("ClipColumnFamily", [&] { return db_->ClipColumnFamily(copy, "key1", "key3"); }));
      CheckError(Call("DropColumnFamily", [&] { return db_->DropColumnFamily(copy); }));
      delete copy;
    }
  }

  // Called after Close, because some systems cannot delete a directory with open files.
  void DeleteExport() {
    vfs::FileSystem* const system = options_.env->EngineFiles().get();
    std::vector<std::string> names;
    if (!system->GetChildren(export_path_, &names).ok()) return;  // none was made
    for (const std::string& name : names) EXPECT_OK(system->DeleteFile(export_path_ + "/" + name));
    EXPECT_OK(system->DeleteDir(export_path_));
  }

  void CheckValue(const std::pair<size_t, std::string>& where, const Possible& possible,
                  const std::optional<std::string>& found, const std::string& how) {
    for (const std::optional<std::string>& value : possible) {
      if (value == found) return;
    }
    ADD_FAILURE() << how << ": family " << where.first << ", " << where.second << " is "
                  << (found.has_value() ? found->substr(0, 20) : "absent");
  }

  void CheckContents(size_t family, const std::map<std::string, std::string>& seen,
                     const std::string& how) {
    for (const auto& [where, possible] : model_) {
      if (where.first != family) continue;
      const auto found = seen.find(where.second);
      CheckValue(where, possible,
                 found != seen.end() ? std::optional<std::string>(found->second) : std::nullopt,
                 how);
    }
    for (const auto& [key, value] : seen)
      EXPECT_TRUE(model_.contains({family, key})) << how << ": " << key;
  }

  void Verify(const std::string& when) {
    for (size_t family = 0; family < kFamilies; ++family) {
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), handles_[family]));
      std::map<std::string, std::string> seen;
      for (it->SeekToFirst(); it->Valid(); it->Next())
        seen[it->key().ToString()] = it->value().ToString();
      ASSERT_TRUE(it->status().ok()) << when << ": " << it->status().ToString();
      CheckContents(family, seen, when);
    }
  }

  const std::string path_;
  const std::string export_path_ = path_ + "_exported";
  ManualEnv env_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
  std::unique_ptr<DB> secondary_;
  std::vector<ColumnFamilyHandle*> secondary_handles_;
  Model model_;
};

class AllocationFailure : public ::testing::TestWithParam<FailingNew::Kind> {
 protected:
  // Returns the allocations of the workload. The first run makes those that a process makes once.
  uint64_t CountAllocations(const std::function<Workload::Args()>& make_args) {
    uint64_t allocations = 0;
    for (int i = 0; i < 2; ++i) {
      Workload workload(make_args());
      workload.Run();
      allocations = FailingNew::Count();
      workload.Recover();
    }
    EXPECT_GT(allocations, 5000U);
    return allocations;
  }
  // Fails the allocations 1, 1 + stride, ... in turn.
  void Sweep(const std::function<Workload::Args()>& make_args, uint64_t stride) {
    const uint64_t allocations = CountAllocations(make_args);
    for (uint64_t number = 1; number <= allocations && !HasFailure(); number += stride) {
      SCOPED_TRACE(StrCat("allocation ", number));
      Workload::Args args = make_args();
      args.fails_at = number;
      args.kind = GetParam();
      Workload workload(args);
      workload.Run();
      EXPECT_TRUE(FailingNew::HasFailed());
      FailingNew::Arm(0, GetParam());
      workload.Recover();
    }
  }
};

TEST_P(AllocationFailure, OfAnyAllocationIsAStatusAndLosesNothing) {
  Sweep([] { return Workload::Args(); }, kStride);
}

// The files of the operating system have buffers and names of their own.
TEST_P(AllocationFailure, OnFilesOfTheSystemIsAStatusAndLosesNothing) {
  constexpr uint64_t kOneInAHundred = 97;
  const std::string path =
      StrCat(::testing::TempDir(), "ashlar_out_of_memory_", CurrentProcessId());
  Sweep(
      [&path] {
        EXPECT_TRUE(DestroyDB(path, Options()).ok());
        return Workload::Args{.file_system = Env::Default()->EngineFiles(), .path = path};
      },
      kOneInAHundred);
  EXPECT_TRUE(DestroyDB(path, Options()).ok());
}

// If no memtable has a part of the batch, Resume makes the database writable without a new open.
TEST_P(AllocationFailure, OfAWriteThatIsNotAppliedCanBeResumedFrom) {
  const std::string value(100'000, 'v');
  uint64_t resumes = 0;
  for (uint64_t number = 1;; ++number) {
    SCOPED_TRACE(StrCat("allocation ", number));
    ManualEnv env(std::make_shared<MemoryFileSystem>(), /*seed=*/7);
    Options options = SmallDatabaseOptions();
    options.write_buffer_size = 64 << 20;
    options.env = &env;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, "/db", &db).ok());
    ASSERT_TRUE(db->Put(WriteOptions(), "before", "1").ok());
    FailingNew::Arm(number, GetParam());
    Status put;
    {
      const FailingNew::Scope scope;
      put = db->Put(WriteOptions(), "large", value);
    }
    const bool failed = FailingNew::HasFailed();
    FailingNew::Arm(0, GetParam());
    if (!failed) break;
    ASSERT_TRUE(put.ok() || put.IsMemoryLimit()) << put.ToString();
    if (!db->Put(WriteOptions(), "next", "2").ok()) {
      ++resumes;
      ASSERT_TRUE(db->Resume().ok());
      ASSERT_TRUE(db->Put(WriteOptions(), "next", "2").ok());
    }
    for (int opened = 0; opened < 2; ++opened) {
      std::string found;
      EXPECT_TRUE(db->Get(ReadOptions(), "before", &found).ok());
      EXPECT_TRUE(db->Get(ReadOptions(), "next", &found).ok());
      EXPECT_EQ(db->Get(ReadOptions(), "large", &found).ok(), put.ok());
      ASSERT_TRUE(db->Close().ok());
      ASSERT_TRUE(DB::Open(options, "/db", &db).ok());
    }
  }
  EXPECT_GT(resumes, 0U);
}

constexpr std::string_view kReadKeys = "abcdefghijkl";
Slice ReadKey(size_t i) { return {kReadKeys.data() + i, 1}; }

Status GetAll(DB* db) {
  for (size_t i = 0; i < kReadKeys.size(); ++i) {
    PinnableSlice value;
    const Status status = db->Get(ReadOptions(), db->DefaultColumnFamily(), ReadKey(i), &value);
    if (!status.ok()) return status;
  }
  return Status::OK();
}

Status GetCopies(DB* db) {
  for (size_t i = 0; i < kReadKeys.size(); ++i) {
    std::string value;
    const Status status = db->Get(ReadOptions(), ReadKey(i), &value);
    if (!status.ok()) return status;
  }
  return Status::OK();
}

Status MultiGetAll(DB* db) {
  std::array<Slice, kReadKeys.size()> keys;
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = ReadKey(i);
  std::array<PinnableSlice, kReadKeys.size()> values;
  std::array<Status, kReadKeys.size()> statuses;
  db->MultiGet(ReadOptions(), db->DefaultColumnFamily(), keys.size(), keys.data(), values.data(),
               statuses.data());
  for (const Status& status : statuses) {
    if (!status.ok()) return status;
  }
  return Status::OK();
}

Status WalkBothWays(DB* db) {
  const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  if (it == nullptr) return Status::MemoryLimit();
  for (it->SeekToFirst(); it->Valid();) it->Next();
  if (!it->status().ok()) return it->status();
  for (it->SeekToLast(); it->Valid();) it->Prev();
  return it->status();
}

// Close returns Aborted while a read holds a pin. The reads load the blocks of the table into the
// cache.
TEST_P(AllocationFailure, OfAReadKeepsNothing) {
  for (const auto read : {&GetAll, &GetCopies, &MultiGetAll, &WalkBothWays}) {
    uint64_t number = 1;
    for (bool failed = true; failed && !HasFailure(); ++number) {
      SCOPED_TRACE(StrCat("allocation ", number));
      ManualEnv env(std::make_shared<MemoryFileSystem>(), /*seed=*/7);
      Options options = SmallDatabaseOptions();
      options.env = &env;
      options.table_factory.reset(NewBlockBasedTableFactory());
      std::unique_ptr<DB> db;
      ASSERT_TRUE(DB::Open(options, "/db", &db).ok());
      for (size_t i = 0; i < kReadKeys.size(); ++i) {
        ASSERT_TRUE(db->Put(WriteOptions(), ReadKey(i), std::string(2000, 'v')).ok());
      }
      ASSERT_TRUE(db->Flush(FlushOptions()).ok());
      FailingNew::Arm(number, GetParam());
      const Status status = Call("a read", [&] { return read(db.get()); });
      failed = FailingNew::HasFailed();
      FailingNew::Arm(0, GetParam());
      EXPECT_TRUE(status.ok() || (failed && status.IsMemoryLimit())) << status.ToString();
      EXPECT_TRUE(read(db.get()).ok());
      const Status closed = db->Close();
      EXPECT_TRUE(closed.ok()) << closed.ToString();
    }
    EXPECT_GT(number, 5U);
  }
}

// Moves an iterator with a failing allocation, and then without one. After a failure it is usable.
// Returns the number of the first allocation that does not fail, because the move makes fewer.
uint64_t FailEachAllocationOf(FailingNew::Kind kind, const std::function<Status(DB* db)>& fill,
                              const std::function<void(Iterator* it)>& move,
                              const std::string& key_at_end) {
  uint64_t number = 1;
  for (bool failed = true; failed && !::testing::Test::HasFailure(); ++number) {
    SCOPED_TRACE(StrCat("allocation ", number));
    ManualEnv env(std::make_shared<MemoryFileSystem>(), /*seed=*/7);
    Options options = SmallDatabaseOptions();
    options.env = &env;
    std::unique_ptr<DB> db;
    EXPECT_TRUE(DB::Open(options, "/db", &db).ok());
    EXPECT_TRUE(fill(db.get()).ok());
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    FailingNew::Arm(number, kind);
    const Status status = Call("a move", [&] {
      move(it.get());
      return it->status();
    });
    failed = FailingNew::HasFailed();
    FailingNew::Arm(0, kind);
    EXPECT_TRUE(status.ok() || (failed && status.IsMemoryLimit())) << status.ToString();
    move(it.get());
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    EXPECT_EQ(it->Valid() ? it->key().ToString() : "end", key_at_end);
  }
  return number - 1;
}

// Copies of long keys are in memory that grows with the keys (saved_key.h).
TEST_P(AllocationFailure, OfAMoveWithLongKeysLeavesTheIteratorUsable) {
  const std::string prefix(300, 'k');
  const auto fill = [&](DB* db) {
    WriteBatch batch;
    for (const char* end : {"1", "2", "3"}) {
      const Status status = batch.Put(prefix + end, "value");
      if (!status.ok()) return status;
    }
    return db->Write(WriteOptions(), &batch);
  };
  const auto move = [&](Iterator* it) {
    it->Seek(prefix);
    if (it->Valid()) it->Next();
    if (it->Valid()) it->Prev();
  };
  EXPECT_GT(FailEachAllocationOf(GetParam(), fill, move, prefix + "1"), 1U);
}

// The iterator has one source, and gets a merge above it when it reaches the table.
TEST_P(AllocationFailure, OfASeekToATableWithRangeTombstonesLeavesTheIteratorUsable) {
  const auto fill = [](DB* db) {
    Status status = db->Put(WriteOptions(), "a", "value");
    if (status.ok()) status = db->Put(WriteOptions(), "c", "value");
    if (status.ok()) status = db->DeleteRange(WriteOptions(), "a", "b");
    return status.ok() ? db->Flush(FlushOptions()) : status;
  };
  const auto move = [](Iterator* it) { it->Seek("a"); };
  EXPECT_GT(FailEachAllocationOf(GetParam(), fill, move, "c"), 3U);
}

// A call that holds background jobs back and fails releases them, so a later flush ends.
TEST_P(AllocationFailure, OfAResumeOrARefusedCloseHoldsNoJobsBack) {
  for (const bool resumes : {true, false}) {
    uint64_t number = 1;
    for (bool failed = true; failed && !HasFailure(); ++number) {
      SCOPED_TRACE(StrCat(resumes ? "Resume" : "Close", ", allocation ", number));
      const auto faults = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
      ManualEnv env(faults, /*seed=*/7);
      Options options = SmallDatabaseOptions();
      options.env = &env;
      std::unique_ptr<DB> db;
      ASSERT_TRUE(DB::Open(options, "/db", &db).ok());
      ASSERT_TRUE(db->Put(WriteOptions(), "before", "1").ok());
      const Snapshot* const snapshot = db->GetSnapshot();
      if (resumes) {
        faults->AddRule({.operations = FaultOperation::kSync, .name_contains = ".log"});
        WriteOptions sync;
        sync.sync = true;
        ASSERT_FALSE(db->Put(sync, "failed", "2").ok());
        faults->ClearRules();
      }
      FailingNew::Arm(number, GetParam());
      {
        const FailingNew::Scope scope;
        const Status status = resumes ? db->Resume() : db->Close();
        EXPECT_TRUE(FailingNew::HasFailed() || status.ok() == resumes) << status.ToString();
      }
      failed = FailingNew::HasFailed();
      FailingNew::Arm(0, GetParam());
      ASSERT_TRUE(db->Resume().ok());
      ASSERT_TRUE(db->Put(WriteOptions(), "after", "3").ok());
      ASSERT_TRUE(db->Flush(FlushOptions()).ok());
      EXPECT_TRUE(db->ContinueBackgroundWork().IsInvalidArgument()) << "a job is held back";
      std::string found;
      EXPECT_TRUE(db->Get(ReadOptions(), "before", &found).ok());
      EXPECT_TRUE(db->Get(ReadOptions(), "after", &found).ok());
      db->ReleaseSnapshot(snapshot);
      ASSERT_TRUE(db->Close().ok());
    }
    EXPECT_GT(number, resumes ? 50U : 2U);
  }
}

// The current transform lives as long as the family, because a table may name it.
TEST_P(AllocationFailure, OfAChangeOfThePrefixExtractorKeepsTheOldOne) {
  const std::shared_ptr<const SliceTransform> old_one(NewFixedPrefixTransform(3));
  const std::shared_ptr<const SliceTransform> new_one(NewFixedPrefixTransform(5));
  uint64_t number = 1;
  for (bool failed = true; failed; ++number) {
    PrefixExtractors extractors(old_one);
    FailingNew::Arm(number, GetParam());
    try {
      const FailingNew::Scope scope;
      extractors.SetCurrent(new_one);
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(extractors.Current(), old_one) << "allocation " << number;
    }
    failed = FailingNew::HasFailed();
    if (!failed) {
      EXPECT_EQ(extractors.Current(), new_one);
    }
  }
  EXPECT_GT(number, 2U);
  FailingNew::Arm(0, GetParam());
}

// The queue's set must not have a family that its list lacks, or the family is never flushed or
// compacted again. The list allocates memory once in many calls.
TEST_P(AllocationFailure, OfACandidateLeavesTheQueueWithoutIt) {
  const auto any = std::make_shared<int>();
  const std::shared_ptr<ColumnFamily> family(any, reinterpret_cast<ColumnFamily*>(any.get()));
  CandidateQueue queue;
  uint64_t failures = 0;
  for (int call = 0; call < 1000; ++call) {
    uint64_t number = 1;
    for (bool failed = true; failed; ++number) {
      FailingNew::Arm(number, GetParam());
      try {
        const FailingNew::Scope scope;
        queue.Push(family);
      } catch (const std::bad_alloc&) {
        ++failures;
        EXPECT_TRUE(queue.empty());
        queue.CheckInvariants();
      }
      failed = FailingNew::HasFailed();
      FailingNew::Arm(0, GetParam());
    }
    ASSERT_EQ(queue.size(), 1U);
    ASSERT_EQ(queue.Pop(), family);
  }
  EXPECT_GT(failures, 1000U) << "the list takes memory, too";
}

// The flags, save points and checksum of a batch belong to its bytes.
TEST_P(AllocationFailure, OfACopyOfABatchLeavesTheOldOne) {
  WriteBatch source(std::string("\0\0\0\0\0\0\0\0\1\0\0\0damaged bytes that no record has", 44));
  source.SetSavePoint();
  uint64_t number = 1;
  for (bool failed = true; failed && !HasFailure(); ++number) {
    WriteBatch target(0, 0, /*protection_bytes_per_key=*/8, 0);
    ASSERT_TRUE(target.Put("a", "1").ok());
    target.SetSavePoint();
    ASSERT_TRUE(target.Put("b", "2").ok());
    const std::string before = target.Data();
    FailingNew::Arm(number, GetParam());
    try {
      const FailingNew::Scope scope;
      target = source;
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(target.Data(), before) << "allocation " << number;
      EXPECT_TRUE(target.VerifyChecksum().ok()) << "allocation " << number;
      EXPECT_TRUE(target.RollbackToSavePoint().ok());
      EXPECT_EQ(target.Count(), 1U);
    }
    failed = FailingNew::HasFailed();
    FailingNew::Arm(0, GetParam());
    if (!failed) {
      EXPECT_EQ(target.Data(), source.Data());
    }
  }
  EXPECT_GT(number, 3U);
}

std::string TextOfOptions(DB* db) {
  std::string text;
  std::string text_of_db;
  EXPECT_TRUE(GetStringFromColumnFamilyOptions(&text, db->GetOptions()).ok());
  EXPECT_TRUE(GetStringFromDBOptions(&text_of_db, db->GetDBOptions()).ok());
  return text + text_of_db;
}

// If the OPTIONS file finds no memory, the change is made, as after other errors of that file.
TEST_P(AllocationFailure, OfAChangeOfOptionsChangesAllOrNone) {
  const std::unordered_map<std::string, std::string> of_family = {
      {"write_buffer_size", "100000"},
      {"max_bytes_for_level_multiplier_additional", "2:3:4:5:6:7"},
      {"compression_per_level", "kNoCompression:kNoCompression"},
      {"prefix_extractor", "fixed:5"}};
  const std::unordered_map<std::string, std::string> of_database = {
      {"max_subcompactions", "3"}, {"delayed_write_rate", "123456"}, {"max_open_files", "99"}};
  for (const bool sets_family : {true, false}) {
    uint64_t number = 1;
    uint64_t refused = 0;
    for (bool failed = true; failed && !HasFailure(); ++number) {
      SCOPED_TRACE(StrCat(sets_family ? "SetOptions" : "SetDBOptions", ", allocation ", number));
      ManualEnv env(std::make_shared<MemoryFileSystem>(), /*seed=*/7);
      Options options = SmallDatabaseOptions();
      options.env = &env;
      options.prefix_extractor.reset(NewFixedPrefixTransform(3));
      std::unique_ptr<DB> db;
      ASSERT_TRUE(DB::Open(options, "/db", &db).ok());
      const auto set = [&] {
        return sets_family ? db->SetOptions(of_family) : db->SetDBOptions(of_database);
      };
      const std::string before = TextOfOptions(db.get());
      FailingNew::Arm(number, GetParam());
      const Status status = Call("a change of options", set);
      failed = FailingNew::HasFailed();
      FailingNew::Arm(0, GetParam());
      ASSERT_TRUE(status.ok() || (failed && status.IsMemoryLimit())) << status.ToString();
      const std::string after = TextOfOptions(db.get());
      ASSERT_TRUE(set().ok());
      EXPECT_EQ(after, status.ok() ? TextOfOptions(db.get()) : before);
      if (!status.ok()) ++refused;
      ASSERT_TRUE(db->Close().ok());
    }
    EXPECT_GT(refused, 5U);
    EXPECT_GT(number, refused + 10) << "the OPTIONS file takes memory, too";
  }
}

// The notification of the end of a stall must not allocate before the writers are released.
// Otherwise the next decision finds no change, and they wait forever, even after a resume.
TEST_P(AllocationFailure, OfTheEndOfAStallLetsWritersGoOn) {
  const std::unordered_map<std::string, std::string> on = {{"disable_auto_compactions", "false"}};
  const std::unordered_map<std::string, std::string> off = {{"disable_auto_compactions", "true"}};
  WriteOptions no_slowdown;
  no_slowdown.no_slowdown = true;
  uint64_t number = 1;
  for (bool failed = true; failed && !HasFailure(); ++number) {
    SCOPED_TRACE(StrCat("allocation ", number));
    ManualEnv env(std::make_shared<MemoryFileSystem>(), /*seed=*/7);
    Options options = SmallDatabaseOptions();
    options.env = &env;
    options.disable_auto_compactions = true;
    options.level0_file_num_compaction_trigger = 1;
    options.level0_slowdown_writes_trigger = 1;
    options.level0_stop_writes_trigger = 2;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, "/db", &db).ok());
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(db->Put(WriteOptions(), "key", "value").ok());
      ASSERT_TRUE(db->Flush(FlushOptions()).ok());
    }
    ASSERT_TRUE(db->PauseBackgroundWork().ok());
    ASSERT_TRUE(db->SetOptions(on).ok());
    ASSERT_TRUE(db->Put(no_slowdown, "key", "other").IsIncomplete());
    FailingNew::Arm(number, GetParam());
    static_cast<void>(Call("SetOptions", [&] { return db->SetOptions(off); }).ok());
    failed = FailingNew::HasFailed();
    FailingNew::Arm(0, GetParam());
    ASSERT_TRUE(db->Resume().ok());
    ASSERT_TRUE(db->SetOptions(off).ok());
    const Status put = db->Put(no_slowdown, "key", "other");
    EXPECT_TRUE(put.ok()) << put.ToString();
    ASSERT_TRUE(db->ContinueBackgroundWork().ok());
    ASSERT_TRUE(db->Close().ok());
  }
  EXPECT_GT(number, 5U);
}

// Destructors record times, and numbers are recorded when a write is visible. If an allocation
// fails, they are left out.
TEST_P(AllocationFailure, OfACountFailsNoWrite) {
  uint64_t number = 1;
  for (bool failed = true; failed && !HasFailure(); ++number) {
    SCOPED_TRACE(StrCat("allocation ", number));
    ManualEnv env(std::make_shared<MemoryFileSystem>(), /*seed=*/7);
    Options options = SmallDatabaseOptions();
    options.env = &env;
    options.create_if_missing = true;
    options.statistics = CreateDBStatistics();
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, "/db", &db).ok());
    FailingNew::Arm(number, GetParam());
    const Status written = Call("Put", [&] { return db->Put(WriteOptions(), "key", "value"); });
    failed = FailingNew::HasFailed();
    FailingNew::Arm(0, GetParam());
    EXPECT_TRUE(written.ok() || (failed && written.IsMemoryLimit())) << written.ToString();
    std::string found;
    EXPECT_EQ(db->Get(ReadOptions(), "key", &found).ok(), written.ok());
    ASSERT_TRUE(db->Put(WriteOptions(), "after", "value").ok() || !written.ok());
  }
  EXPECT_GT(number, 3U);
}

size_t TablesIn(vfs::FileSystem* files, const std::string& directory) {
  std::vector<std::string> names;
  EXPECT_TRUE(files->GetChildren(directory, &names).ok());
  return static_cast<size_t>(std::count_if(
      names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".sst"); }));
}

// Allocations fail from the end of the table's writing up to the sync of its directory.
TEST(AllocationFailureInAJob, OfAFlushLeavesNoTable) {
  uint64_t failed = 0;
  for (uint64_t number = 1; !::testing::Test::HasFailure(); ++number) {
    SCOPED_TRACE(StrCat("allocation ", number));
    const auto faults = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
    ManualEnv env(faults, /*seed=*/7);
    Options options = SmallDatabaseOptions();
    options.env = &env;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, "/db", &db).ok());
    ASSERT_TRUE(db->Put(WriteOptions(), "key", "value").ok());
    FailingNew::Arm(0, FailingNew::Kind::kOnce);
    faults->AddRule({.operations = FaultOperation::kOpenForReading,
                     .name_contains = ".sst",
                     .effect = FaultEffect::kRunAction,
                     .action = [&] {
                       faults->ResetCounts();
                       FailingNew::Arm(number, FailingNew::Kind::kOnce);
                     }});
    const Status flushed = Call("Flush", [&] { return db->Flush(FlushOptions()); });
    const bool has_failed = FailingNew::HasFailed();
    FailingNew::Arm(0, FailingNew::Kind::kOnce);
    const bool synced = faults->CallCount(FaultOperation::kSyncDirectory) > 0;
    if (!has_failed || (synced && !flushed.ok())) break;
    if (synced) continue;  // a count that was left out
    ++failed;
    EXPECT_TRUE(flushed.IsMemoryLimit()) << flushed.ToString();
    EXPECT_EQ(TablesIn(faults.get(), "/db"), 0u);
  }
  EXPECT_GT(failed, 5U);
}

// The first allocation after the sync of the directory fails.
TEST(AllocationFailureInAJob, OfACompactionLeavesNoTable) {
  const auto faults = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  ManualEnv env(faults, /*seed=*/7);
  Options options = SmallDatabaseOptions();
  options.env = &env;
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, "/db", &db).ok());
  for (const char* const value : {"1", "2"}) {
    ASSERT_TRUE(db->Put(WriteOptions(), "key", value).ok());
    ASSERT_TRUE(db->Flush(FlushOptions()).ok());
  }
  const size_t tables = TablesIn(faults.get(), "/db");
  FailingNew::Arm(0, FailingNew::Kind::kOnce);
  faults->AddRule({.operations = FaultOperation::kSyncDirectory,
                   .name_contains = "",
                   .effect = FaultEffect::kRunAction,
                   .action = [] { FailingNew::Arm(1, FailingNew::Kind::kOnce); }});
  CompactRangeOptions rewrite;
  rewrite.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  const Status compacted =
      Call("CompactRange", [&] { return db->CompactRange(rewrite, nullptr, nullptr); });
  EXPECT_TRUE(FailingNew::HasFailed());
  FailingNew::Arm(0, FailingNew::Kind::kOnce);
  EXPECT_TRUE(compacted.IsMemoryLimit()) << compacted.ToString();
  EXPECT_EQ(TablesIn(faults.get(), "/db"), tables);
  ASSERT_TRUE(db->Resume().ok());
  std::string found;
  ASSERT_TRUE(db->Get(ReadOptions(), "key", &found).ok());
  EXPECT_EQ(found, "2");
}

INSTANTIATE_TEST_SUITE_P(Once, AllocationFailure, ::testing::Values(FailingNew::Kind::kOnce));
INSTANTIATE_TEST_SUITE_P(UntilTheCallEnds, AllocationFailure,
                         ::testing::Values(FailingNew::Kind::kUntilEnds));

}  // namespace
}  // namespace ashlar

#include "bench/driver/rocks_file_calls.h"

#include <string>
#include <string_view>
#include <vector>

#include "bench/driver/c_session.h"
#include "bench/driver/fail.h"

namespace ashlar::bench {

namespace {

// Returns a function of the interface, or ends the process.
#define ASHLAR_BENCH_NEED(api, name) Need((api).name, "rocksdb_" #name)

class RocksTableWriter final : public FileCalls::TableWriter {
 public:
  RocksTableWriter(const RocksApi& api, const RocksOptions* options, const std::string& path)
      : api_(api),
        env_options_(ASHLAR_BENCH_NEED(api, envoptions_create)()),
        writer_(ASHLAR_BENCH_NEED(api, sstfilewriter_create)(env_options_, options)) {
    char* error = nullptr;
    ASHLAR_BENCH_NEED(api, sstfilewriter_open)(writer_, path.c_str(), &error);
    CheckError(api_, error, "sstfilewriter_open");
  }
  ~RocksTableWriter() override {
    ASHLAR_BENCH_NEED(api_, sstfilewriter_destroy)(writer_);
    ASHLAR_BENCH_NEED(api_, envoptions_destroy)(env_options_);
  }

  void Add(std::string_view key, std::string_view value) override {
    char* error = nullptr;
    ASHLAR_BENCH_NEED(api_, sstfilewriter_put)
    (writer_, key.data(), key.size(), value.data(), value.size(), &error);
    CheckError(api_, error, "sstfilewriter_put");
  }

  void Finish() override {
    char* error = nullptr;
    ASHLAR_BENCH_NEED(api_, sstfilewriter_finish)(writer_, &error);
    CheckError(api_, error, "sstfilewriter_finish");
  }

 private:
  const RocksApi& api_;
  RocksEnvOptions* const env_options_;
  RocksSstFileWriter* const writer_;
};

class RocksSecondary final : public FileCalls::Secondary {
 public:
  RocksSecondary(const RocksApi& api, const RocksOptions* options, const std::string& primary,
                 const std::string& folder)
      : api_(api), read_(api.readoptions_create()) {
    char* error = nullptr;
    db_ =
        ASHLAR_BENCH_NEED(api, open_as_secondary)(options, primary.c_str(), folder.c_str(), &error);
    CheckError(api_, error, "open_as_secondary");
  }
  ~RocksSecondary() override {
    api_.readoptions_destroy(read_);
    api_.close(db_);
  }

  void CatchUp() override {
    char* error = nullptr;
    ASHLAR_BENCH_NEED(api_, try_catch_up_with_primary)(db_, &error);
    CheckError(api_, error, "try_catch_up_with_primary");
  }

  void Get(std::string_view key, Tally* tally) override {
    char* error = nullptr;
    RocksPinnableSlice* const value = api_.get_pinned(db_, read_, key.data(), key.size(), &error);
    CheckError(api_, error, "get_pinned");
    AddPinned(api_, value, tally);
  }

 private:
  const RocksApi& api_;
  RocksReadOptions* const read_;
  RocksDb* db_ = nullptr;
};

std::vector<std::string> FamilyNames(uint64_t families) {
  std::vector<std::string> names;
  for (uint64_t i = 0; i < families; ++i) names.push_back("family" + std::to_string(i));
  return names;
}

// The result is valid as long as the strings.
std::vector<const char*> Texts(const std::vector<std::string>& strings) {
  std::vector<const char*> texts;
  for (const std::string& string : strings) texts.push_back(string.c_str());
  return texts;
}

class RocksFileCalls final : public FileCalls {
 public:
  RocksFileCalls(const RocksApi& api, RocksDb* db, const RocksOptions* options,
                 const std::string& folder)
      : api_(api), db_(db), options_(options), folder_(folder) {}

  std::unique_ptr<TableWriter> NewTable(const std::string& path) override {
    return std::make_unique<RocksTableWriter>(api_, options_, path);
  }

  void Ingest(const std::string& path) override {
    RocksIngestOptions* const options = ASHLAR_BENCH_NEED(api_, ingestexternalfileoptions_create)();
    ASHLAR_BENCH_NEED(api_, ingestexternalfileoptions_set_move_files)(options, 1);
    const char* const paths[] = {path.c_str()};
    char* error = nullptr;
    ASHLAR_BENCH_NEED(api_, ingest_external_file)(db_, paths, 1, options, &error);
    CheckError(api_, error, "ingest_external_file");
    ASHLAR_BENCH_NEED(api_, ingestexternalfileoptions_destroy)(options);
  }

  void Checkpoint(const std::string& folder) override {
    char* error = nullptr;
    RocksCheckpoint* const checkpoint =
        ASHLAR_BENCH_NEED(api_, checkpoint_object_create)(db_, &error);
    CheckError(api_, error, "checkpoint_object_create");
    ASHLAR_BENCH_NEED(api_, checkpoint_create)(checkpoint, folder.c_str(), 0, &error);
    CheckError(api_, error, "checkpoint_create");
    ASHLAR_BENCH_NEED(api_, checkpoint_object_destroy)(checkpoint);
  }

  uint64_t ReadLogs(Tally* tally) override {
    char* error = nullptr;
    RocksWalIterator* const logs =
        ASHLAR_BENCH_NEED(api_, get_updates_since)(db_, 1, nullptr, &error);
    CheckError(api_, error, "get_updates_since");
    uint64_t batches = 0;
    for (; ASHLAR_BENCH_NEED(api_, wal_iter_valid)(logs) != 0; api_.wal_iter_next(logs)) {
      uint64_t sequence = 0;
      RocksWriteBatch* const batch = ASHLAR_BENCH_NEED(api_, wal_iter_get_batch)(logs, &sequence);
      size_t bytes = 0;
      const char* const data = ASHLAR_BENCH_NEED(api_, writebatch_data)(batch, &bytes);
      tally->Add(data, bytes);
      ASHLAR_BENCH_NEED(api_, writebatch_destroy)(batch);
      ++batches;
    }
    ASHLAR_BENCH_NEED(api_, wal_iter_status)(logs, &error);
    CheckError(api_, error, "wal_iter_status");
    ASHLAR_BENCH_NEED(api_, wal_iter_destroy)(logs);
    return batches;
  }

  std::unique_ptr<Secondary> OpenSecondary(const std::string& folder) override {
    return std::make_unique<RocksSecondary>(api_, options_, folder_, folder);
  }

  void CreateFamilies(const std::string& folder, uint64_t families, bool at_once) override {
    char* error = nullptr;
    RocksDb* const db = api_.open(options_, folder.c_str(), &error);
    CheckError(api_, error, "open");
    const std::vector<std::string> names = FamilyNames(families);
    CloseWith(db, at_once ? CreateAtOnce(db, names) : CreateOneByOne(db, names));
  }

  void OpenFamilies(const std::string& folder, uint64_t families) override {
    std::vector<std::string> names = FamilyNames(families);
    names.insert(names.begin(), "default");
    const std::vector<const char*> texts = Texts(names);
    const std::vector<const RocksOptions*> options(names.size(), options_);
    std::vector<RocksFamily*> handles(names.size());
    char* error = nullptr;
    RocksDb* const db = ASHLAR_BENCH_NEED(api_, open_column_families)(
        options_, folder.c_str(), static_cast<int>(names.size()), texts.data(), options.data(),
        handles.data(), &error);
    CheckError(api_, error, "open_column_families");
    CloseWith(db, handles);
  }

 private:
  std::vector<RocksFamily*> CreateOneByOne(RocksDb* db, const std::vector<std::string>& names) {
    std::vector<RocksFamily*> handles;
    char* error = nullptr;
    for (const std::string& name : names) {
      handles.push_back(
          ASHLAR_BENCH_NEED(api_, create_column_family)(db, options_, name.c_str(), &error));
      CheckError(api_, error, "create_column_family");
    }
    return handles;
  }

  std::vector<RocksFamily*> CreateAtOnce(RocksDb* db, const std::vector<std::string>& names) {
    const std::vector<const char*> texts = Texts(names);
    size_t created = 0;
    char* error = nullptr;
    RocksFamily** const list = ASHLAR_BENCH_NEED(api_, create_column_families)(
        db, options_, static_cast<int>(texts.size()), texts.data(), &created, &error);
    CheckError(api_, error, "create_column_families");
    if (created != names.size()) Fail("create_column_families made fewer than it was asked for");
    std::vector<RocksFamily*> handles(list, list + created);
    ASHLAR_BENCH_NEED(api_, create_column_families_destroy)(list);
    return handles;
  }

  void CloseWith(RocksDb* db, const std::vector<RocksFamily*>& handles) {
    for (RocksFamily* const handle : handles)
      ASHLAR_BENCH_NEED(api_, column_family_handle_destroy)(handle);
    api_.close(db);
  }

  const RocksApi& api_;
  RocksDb* const db_;
  const RocksOptions* const options_;
  const std::string folder_;
};

#undef ASHLAR_BENCH_NEED

}  // namespace

std::unique_ptr<FileCalls> NewRocksFileCalls(const RocksApi& api, RocksDb* db,
                                             const RocksOptions* options,
                                             const std::string& folder) {
  return std::make_unique<RocksFileCalls>(api, db, options, folder);
}

}  // namespace ashlar::bench

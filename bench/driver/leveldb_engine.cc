// LevelDB through its C interface, with the driver's own declarations.
#include <chrono>
#include <string>
#include <thread>

#include "bench/driver/c_session.h"
#include "bench/driver/engines.h"
#include "bench/driver/fail.h"
#include "bench/driver/library.h"

namespace ashlar::bench {

namespace {

struct LevelDb;
struct LevelOptions;
struct LevelReadOptions;
struct LevelWriteOptions;
struct LevelIterator;
struct LevelCache;
struct LevelFilterPolicy;

using LevelBool = unsigned char;

// F(member, result, parameters)
#define ASHLAR_BENCH_LEVELDB(F)                                                             \
  F(open, LevelDb*, (const LevelOptions*, const char*, char**))                             \
  F(close, void, (LevelDb*))                                                                \
  F(free, void, (void*))                                                                    \
  F(put, void,                                                                              \
    (LevelDb*, const LevelWriteOptions*, const char*, size_t, const char*, size_t, char**)) \
  F(get, char*, (LevelDb*, const LevelReadOptions*, const char*, size_t, size_t*, char**))  \
  F(create_iterator, LevelIterator*, (LevelDb*, const LevelReadOptions*))                   \
  F(iter_destroy, void, (LevelIterator*))                                                   \
  F(iter_valid, LevelBool, (const LevelIterator*))                                          \
  F(iter_seek_to_first, void, (LevelIterator*))                                             \
  F(iter_seek_to_last, void, (LevelIterator*))                                              \
  F(iter_seek, void, (LevelIterator*, const char*, size_t))                                 \
  F(iter_next, void, (LevelIterator*))                                                      \
  F(iter_prev, void, (LevelIterator*))                                                      \
  F(iter_key, const char*, (const LevelIterator*, size_t*))                                 \
  F(iter_value, const char*, (const LevelIterator*, size_t*))                               \
  F(iter_get_error, void, (const LevelIterator*, char**))                                   \
  F(compact_range, void, (LevelDb*, const char*, size_t, const char*, size_t))              \
  F(property_value, char*, (LevelDb*, const char*))                                         \
  F(options_create, LevelOptions*, ())                                                      \
  F(options_destroy, void, (LevelOptions*))                                                 \
  F(options_set_create_if_missing, void, (LevelOptions*, LevelBool))                        \
  F(options_set_compression, void, (LevelOptions*, int))                                    \
  F(options_set_write_buffer_size, void, (LevelOptions*, size_t))                           \
  F(options_set_max_open_files, void, (LevelOptions*, int))                                 \
  F(options_set_cache, void, (LevelOptions*, LevelCache*))                                  \
  F(options_set_filter_policy, void, (LevelOptions*, LevelFilterPolicy*))                   \
  F(cache_create_lru, LevelCache*, (size_t))                                                \
  F(cache_destroy, void, (LevelCache*))                                                     \
  F(filterpolicy_create_bloom, LevelFilterPolicy*, (int))                                   \
  F(filterpolicy_destroy, void, (LevelFilterPolicy*))                                       \
  F(readoptions_create, LevelReadOptions*, ())                                              \
  F(readoptions_destroy, void, (LevelReadOptions*))                                         \
  F(readoptions_set_fill_cache, void, (LevelReadOptions*, LevelBool))                       \
  F(writeoptions_create, LevelWriteOptions*, ())                                            \
  F(writeoptions_destroy, void, (LevelWriteOptions*))                                       \
  F(writeoptions_set_sync, void, (LevelWriteOptions*, LevelBool))

struct LevelApi {
  using Db = LevelDb;
  using ReadOptions = LevelReadOptions;
  using WriteOptions = LevelWriteOptions;
  using Iterator = LevelIterator;

  explicit LevelApi(const Library& library){
#define ASHLAR_BENCH_REQUIRE(name, result, parameters) library.Load("leveldb_" #name, &name);
      ASHLAR_BENCH_LEVELDB(ASHLAR_BENCH_REQUIRE)
#undef ASHLAR_BENCH_REQUIRE
  }

#define ASHLAR_BENCH_DECLARE(name, result, parameters) result(*name) parameters = nullptr;
  ASHLAR_BENCH_LEVELDB(ASHLAR_BENCH_DECLARE)
#undef ASHLAR_BENCH_DECLARE
};

class LevelSession : public CSession<LevelApi> {
 public:
  LevelSession(const LevelApi& api, LevelDb* db, const SessionOptions& options)
      : CSession(api, db, options.sync) {}

  void Merge(std::string_view /*key*/, std::string_view /*operand*/) override {
    NotAvailable("LevelDB does not merge");
  }
  void Get(std::string_view key, Tally* tally) override { GetCopied(key, tally); }
  void MultiGet(std::span<const std::string_view> keys, Tally* tally) override {
    for (const std::string_view key : keys) Get(key, tally);
  }
};

class LevelEngine : public Engine {
 public:
  LevelEngine(const std::string& library, const EngineOptions& options)
      : library_(library), api_(library_) {
    if (options.reads != Reads::kBlockCache || options.table != TableKind::kBlock ||
        options.memtable != MemtableKind::kDefault) {
      NotAvailable("LevelDB has no such option");
    }
    LevelOptions* const db_options = api_.options_create();
    cache_ = api_.cache_create_lru(options.cache_bytes);
    filter_ = api_.filterpolicy_create_bloom(10);
    api_.options_set_create_if_missing(db_options, 1);
    api_.options_set_compression(db_options, options.compression == 1 ? 1 : 0);
    api_.options_set_write_buffer_size(db_options, options.write_buffer_bytes);
    api_.options_set_max_open_files(db_options, 20000);
    api_.options_set_cache(db_options, cache_);
    api_.options_set_filter_policy(db_options, filter_);
    char* error = nullptr;
    db_ = api_.open(db_options, options.dir.c_str(), &error);
    CheckError(api_, error, "open");
    api_.options_destroy(db_options);
  }
  ~LevelEngine() override {
    api_.close(db_);
    api_.filterpolicy_destroy(filter_);
    api_.cache_destroy(cache_);
  }

  std::unique_ptr<Session> NewSession(const SessionOptions& options) override {
    return std::make_unique<LevelSession>(api_, db_, options);
  }

  // LevelDB flushes only when it compacts.
  void Flush() override {}
  void CompactAll() override { api_.compact_range(db_, nullptr, 0, nullptr, 0); }

  // LevelDB does not report compactions. Its set of tables stops changing after the last one.
  void WaitForBackgroundWork() override {
    constexpr int kQuietChecks = 5;
    std::string before;
    for (int quiet = 0; quiet < kQuietChecks; quiet++) {
      std::string now;
      char* const text = api_.property_value(db_, "leveldb.sstables");
      if (text != nullptr) {
        now = text;
        api_.free(text);
      }
      if (now != before) quiet = -1;
      before = std::move(now);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  std::optional<Background> RunningNow() override { return std::nullopt; }

 private:
  const Library library_;
  const LevelApi api_;
  LevelCache* cache_ = nullptr;
  LevelFilterPolicy* filter_ = nullptr;
  LevelDb* db_ = nullptr;
};

}  // namespace

std::unique_ptr<Engine> OpenLevelDb(const std::string& library, const EngineOptions& options) {
  return std::make_unique<LevelEngine>(library, options);
}

}  // namespace ashlar::bench

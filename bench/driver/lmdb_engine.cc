// LMDB, for reading. One writer thread loads it in one transaction. Readers renew a transaction of
// their own for every call.
#include <sys/stat.h>

#include <memory>
#include <string>

#include "bench/driver/engines.h"
#include "bench/driver/fail.h"
#include "bench/driver/library.h"

namespace ashlar::bench {

namespace {

struct MdbEnv;
struct MdbTxn;
struct MdbCursor;
struct MdbVal {
  size_t bytes;
  void* data;
};

// Numbers of LMDB's interface.
constexpr unsigned kNoSync = 0x10000;
constexpr unsigned kReadOnly = 0x20000;
constexpr unsigned kNoReadAhead = 0x800000;
constexpr int kNotFound = -30798;
enum CursorOp { kFirst = 0, kLast = 6, kNext = 8, kPrevious = 12, kSetRange = 17 };

// F(member, result, parameters)
#define ASHLAR_BENCH_LMDB(F)                                    \
  F(strerror, char*, (int))                                     \
  F(env_create, int, (MdbEnv**))                                \
  F(env_open, int, (MdbEnv*, const char*, unsigned, unsigned))  \
  F(env_close, void, (MdbEnv*))                                 \
  F(env_set_mapsize, int, (MdbEnv*, size_t))                    \
  F(env_sync, int, (MdbEnv*, int))                              \
  F(txn_begin, int, (MdbEnv*, MdbTxn*, unsigned, MdbTxn**))     \
  F(txn_commit, int, (MdbTxn*))                                 \
  F(txn_abort, void, (MdbTxn*))                                 \
  F(txn_reset, void, (MdbTxn*))                                 \
  F(txn_renew, int, (MdbTxn*))                                  \
  F(dbi_open, int, (MdbTxn*, const char*, unsigned, unsigned*)) \
  F(put, int, (MdbTxn*, unsigned, MdbVal*, MdbVal*, unsigned))  \
  F(get, int, (MdbTxn*, unsigned, MdbVal*, MdbVal*))            \
  F(cursor_open, int, (MdbTxn*, unsigned, MdbCursor**))         \
  F(cursor_close, void, (MdbCursor*))                           \
  F(cursor_renew, int, (MdbTxn*, MdbCursor*))                   \
  F(cursor_get, int, (MdbCursor*, MdbVal*, MdbVal*, int))

struct LmdbApi {
  explicit LmdbApi(const Library& library) {
#define ASHLAR_BENCH_REQUIRE(name, result, parameters) library.Load("mdb_" #name, &name);
    ASHLAR_BENCH_LMDB(ASHLAR_BENCH_REQUIRE)
#undef ASHLAR_BENCH_REQUIRE
  }

  void Check(int code, const char* during) const {
    if (code != 0) Fail(std::string(during) + ": " + strerror(code));
  }

#define ASHLAR_BENCH_DECLARE(name, result, parameters) result(*name) parameters = nullptr;
  ASHLAR_BENCH_LMDB(ASHLAR_BENCH_DECLARE)
#undef ASHLAR_BENCH_DECLARE
};

MdbVal ToVal(std::string_view bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }

class LmdbSession : public Session {
 public:
  LmdbSession(const LmdbApi& api, MdbEnv* env, unsigned dbi) : api_(api), env_(env), dbi_(dbi) {}
  ~LmdbSession() override {
    if (writing_ != nullptr) api_.Check(api_.txn_commit(writing_), "commit");
    if (cursor_ != nullptr) api_.cursor_close(cursor_);
    if (reading_ != nullptr) api_.txn_abort(reading_);
  }

  void Put(std::string_view key, std::string_view value) override {
    if (writing_ == nullptr) api_.Check(api_.txn_begin(env_, nullptr, 0, &writing_), "begin");
    MdbVal key_val = ToVal(key);
    MdbVal value_val = ToVal(value);
    api_.Check(api_.put(writing_, dbi_, &key_val, &value_val, 0), "put");
  }
  void Merge(std::string_view /*key*/, std::string_view /*operand*/) override {
    NotAvailable("LMDB does not merge");
  }

  void Get(std::string_view key, Tally* tally) override {
    BeginReading();
    GetInTransaction(key, tally);
    api_.txn_reset(reading_);
  }
  void GetCopied(std::string_view key, Tally* tally) override {
    BeginReading();
    MdbVal key_val = ToVal(key);
    MdbVal value;
    if (Found(api_.get(reading_, dbi_, &key_val, &value))) {
      copy_.assign(static_cast<const char*>(value.data), value.bytes);
      tally->Add(copy_.data(), copy_.size());
    }
    api_.txn_reset(reading_);
  }
  void MultiGet(std::span<const std::string_view> keys, Tally* tally) override {
    BeginReading();
    for (const std::string_view key : keys) GetInTransaction(key, tally);
    api_.txn_reset(reading_);
  }

  void Seek(std::string_view key, uint64_t next, Tally* tally) override {
    BeginCursor();
    MdbVal found = ToVal(key);
    MdbVal value;
    int code = api_.cursor_get(cursor_, &found, &value, kSetRange);
    for (uint64_t i = 0; Found(code); i++) {
      tally->Add(static_cast<const char*>(value.data), value.bytes);
      if (i == next) break;
      code = api_.cursor_get(cursor_, &found, &value, kNext);
    }
    api_.txn_reset(reading_);
  }
  void SeekKept(std::string_view key, uint64_t next, Tally* tally) override {
    Seek(key, next, tally);
  }
  void SeekPrefix(std::string_view key, size_t prefix_bytes, Tally* tally) override {
    BeginCursor();
    MdbVal found = ToVal(key);
    MdbVal value;
    int code = api_.cursor_get(cursor_, &found, &value, kSetRange);
    while (Found(code) && std::string_view(static_cast<const char*>(found.data), found.bytes)
                              .starts_with(key.substr(0, prefix_bytes))) {
      tally->Add(static_cast<const char*>(value.data), value.bytes);
      code = api_.cursor_get(cursor_, &found, &value, kNext);
    }
    api_.txn_reset(reading_);
  }

  uint64_t ScanForward(uint64_t limit, Tally* tally) override {
    return Scan(kFirst, kNext, limit, tally);
  }
  uint64_t ScanBackward(uint64_t limit, Tally* tally) override {
    return Scan(kLast, kPrevious, limit, tally);
  }

  uint64_t HashContents() override {
    ContentsHash hash;
    BeginCursor();
    MdbVal key;
    MdbVal value;
    for (int code = api_.cursor_get(cursor_, &key, &value, kFirst); Found(code);
         code = api_.cursor_get(cursor_, &key, &value, kNext)) {
      hash.Add(static_cast<const char*>(key.data), key.bytes);
      hash.Add(static_cast<const char*>(value.data), value.bytes);
    }
    api_.txn_reset(reading_);
    return hash.value();
  }

 private:
  void BeginReading() {
    if (reading_ == nullptr) {
      api_.Check(api_.txn_begin(env_, nullptr, kReadOnly, &reading_), "begin");
    } else {
      api_.Check(api_.txn_renew(reading_), "renew");
    }
  }
  void BeginCursor() {
    BeginReading();
    if (cursor_ == nullptr) {
      api_.Check(api_.cursor_open(reading_, dbi_, &cursor_), "cursor");
    } else {
      api_.Check(api_.cursor_renew(reading_, cursor_), "renew cursor");
    }
  }
  bool Found(int code) const {
    if (code == kNotFound) return false;
    if (code != 0) [[unlikely]]
      api_.Check(code, "read");
    return true;
  }
  void GetInTransaction(std::string_view key, Tally* tally) {
    MdbVal key_val = ToVal(key);
    MdbVal value;
    if (Found(api_.get(reading_, dbi_, &key_val, &value)))
      tally->Add(static_cast<const char*>(value.data), value.bytes);
  }
  uint64_t Scan(CursorOp first, CursorOp step, uint64_t limit, Tally* tally) {
    BeginCursor();
    MdbVal key;
    MdbVal value;
    uint64_t entries = 0;
    for (int code = api_.cursor_get(cursor_, &key, &value, first); entries < limit && Found(code);
         entries++) {
      tally->Add(static_cast<const char*>(value.data), value.bytes);
      code = api_.cursor_get(cursor_, &key, &value, step);
    }
    api_.txn_reset(reading_);
    return entries;
  }

  const LmdbApi& api_;
  MdbEnv* const env_;
  const unsigned dbi_;
  MdbTxn* writing_ = nullptr;
  MdbTxn* reading_ = nullptr;
  MdbCursor* cursor_ = nullptr;
  std::string copy_;
};

class LmdbEngine : public Engine {
 public:
  LmdbEngine(const std::string& library, const EngineOptions& options)
      : library_(library), api_(library_) {
    if (options.table != TableKind::kBlock || options.memtable != MemtableKind::kDefault)
      NotAvailable("LMDB has no such option");
    ::mkdir(options.dir.c_str(), 0777);
    api_.Check(api_.env_create(&env_), "create");
    constexpr size_t kMapBytes = size_t{64} << 30;  // address space only
    api_.Check(api_.env_set_mapsize(env_, kMapBytes), "set_mapsize");
    api_.Check(api_.env_open(env_, options.dir.c_str(), kNoSync | kNoReadAhead, 0666), "open");
    MdbTxn* txn = nullptr;
    api_.Check(api_.txn_begin(env_, nullptr, 0, &txn), "begin");
    api_.Check(api_.dbi_open(txn, nullptr, 0, &dbi_), "dbi_open");
    api_.Check(api_.txn_commit(txn), "commit");
  }
  ~LmdbEngine() override { api_.env_close(env_); }

  std::unique_ptr<Session> NewSession(const SessionOptions& /*options*/) override {
    return std::make_unique<LmdbSession>(api_, env_, dbi_);
  }
  void Flush() override { api_.Check(api_.env_sync(env_, 1), "sync"); }
  void CompactAll() override { Flush(); }
  void WaitForBackgroundWork() override {}
  std::optional<Background> RunningNow() override { return std::nullopt; }

 private:
  const Library library_;
  const LmdbApi api_;
  MdbEnv* env_ = nullptr;
  unsigned dbi_ = 0;
};

}  // namespace

std::unique_ptr<Engine> OpenLmdb(const std::string& library, const EngineOptions& options) {
  return std::make_unique<LmdbEngine>(library, options);
}

}  // namespace ashlar::bench

// Engine and Session: the calls that workloads make, the same for every library.
//
//   Engine    one open database                    prepare, settle, query
//   Session   one thread's handle on it            read and write; the measured calls
//
// The measured loops of scans are inside the session, so that an entry costs the library's calls
// and nothing else. Elsewhere an operation costs one virtual call. Every failure ends the process
// (fail.h), because a benchmark has nothing to recover.
//
// Thread safety: an Engine may be used by several threads, a Session by one. Sessions end before
// their engine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bench/driver/file_calls.h"
#include "bench/driver/tally.h"

namespace ashlar::bench {

enum class Reads {
  kBlockCache,
  kPageCache,  // read() of the file for every block; no block cache
  kMmap,       // tables mapped; no block cache
  kDirect,     // past the page cache, into the block cache
};

enum class TableKind { kBlock, kPlain };

// RocksDB's authors prefer kHyperClock. Ashlar has one cache for both.
enum class CacheKind { kHyperClock, kLru };

enum class MemtableKind { kDefault, kVector, kPrefixHash };

enum class Order {
  kBytewise,
  kReverse,  // the library's own reverse comparator
  kCustom,   // a comparator of the driver, through the C interface; it orders as bytewise does
};

struct EngineOptions {
  std::string dir;
  Reads reads = Reads::kBlockCache;
  uint64_t cache_bytes = 1ull << 30;
  CacheKind cache_kind = CacheKind::kHyperClock;
  uint64_t write_buffer_bytes = 64ull << 20;
  int compression = 0;  // RocksDB's numbers: 0 none, 1 Snappy, 4 LZ4, 7 zstd
  bool auto_compactions = true;
  bool bulk_load = false;     // RocksDB's PrepareForBulkLoad
  bool put_operator = false;  // merging replaces the value
  TableKind table = TableKind::kBlock;
  MemtableKind memtable = MemtableKind::kDefault;
  size_t key_bytes = 16;
  size_t prefix_bytes = 0;  // 0: no prefix extractor
  Order order = Order::kBytewise;
  bool keep_filter = false;  // a compaction filter of the driver, which keeps every entry
  std::string text;          // further options, in RocksDB's words: "name=value;..."
  // Column families that share the keys. With several, only puts and gets work.
  uint64_t families = 1;
};

struct SessionOptions {
  bool log = true;    // write-ahead log
  bool sync = false;  // every write is durable before it returns
};

class Session {
 public:
  virtual ~Session() = default;

  virtual void Put(std::string_view key, std::string_view value) = 0;
  virtual void Merge(std::string_view key, std::string_view operand) = 0;

  // If the library lacks one of these calls, it ends the process as not available.
  virtual void Delete(std::string_view key);
  virtual void DeleteRange(std::string_view begin, std::string_view end);
  // Reads the first entry, if there is one, with a new iterator.
  virtual void SeekToFirst(Tally* tally);
  // The same, and then deletes the entry's key.
  virtual void PopFirst(Tally* tally);

  // Reads a value in the way that copies least, and adds it to the tally if there is one.
  virtual void Get(std::string_view key, Tally* tally) = 0;
  // The same, but into the caller's own memory.
  virtual void GetCopied(std::string_view key, Tally* tally) = 0;
  virtual void MultiGet(std::span<const std::string_view> keys, Tally* tally) = 0;

  // Seeks the first key that is not below `key` with a new iterator. Reads that entry, if there is
  // one, and `next` further ones.
  virtual void Seek(std::string_view key, uint64_t next, Tally* tally) = 0;
  // The same with an iterator that is kept between calls.
  virtual void SeekKept(std::string_view key, uint64_t next, Tally* tally) = 0;
  // A Put, then a seek of its key with a kept tailing iterator.
  virtual void PutAndTail(std::string_view key, std::string_view value, Tally* tally);
  // Reads the entries from `key` on that share its first `prefix_bytes` bytes, with a new
  // iterator.
  virtual void SeekPrefix(std::string_view key, size_t prefix_bytes, Tally* tally) = 0;

  // These read every entry, at most `limit`.
  virtual uint64_t ScanForward(uint64_t limit, Tally* tally) = 0;
  virtual uint64_t ScanBackward(uint64_t limit, Tally* tally) = 0;
  // Hashes every key and value, in order.
  virtual uint64_t HashContents() = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::unique_ptr<Session> NewSession(const SessionOptions& options) = 0;

  // Writes memtables to tables, and waits for the end.
  virtual void Flush() = 0;
  // Merges everything into one sorted run, and waits for the end.
  virtual void CompactAll() = 0;
  // Waits until no flush and no compaction runs or is due.
  virtual void WaitForBackgroundWork() = 0;

  struct Background {
    uint64_t flushes = 0;
    uint64_t compactions = 0;
  };
  // Returns null if the library has no such calls. The object lives as long as the engine.
  virtual FileCalls* files() { return nullptr; }

  // The sorted runs that a seek reads now, including memtables, and the table blocks that reads of
  // the calling thread have used. Requires that the calling thread is always the same. If the
  // library lacks such calls, they end the process as not available.
  virtual uint64_t SortedRuns();
  virtual uint64_t BlocksRead();
  // The background work at this moment; empty if the library does not report it.
  virtual std::optional<Background> RunningNow() = 0;
};

// `library` is the path or soname to dlopen. `name` is rocksdb (any library that exports its C
// interface), leveldb, lmdb, or none, which is the driver alone.
std::unique_ptr<Engine> OpenEngine(const std::string& name, const std::string& library,
                                   const EngineOptions& options);

}  // namespace ashlar::bench

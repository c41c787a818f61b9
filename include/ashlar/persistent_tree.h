// PersistentTree: an ordered map from keys to values in one pool file. It is for byte-addressable
// persistent memory (DAX) and for memory that outlives the process (tmpfs, memfd). It also works,
// more slowly, on an ordinary file.
//
//   PersistentTreeOptions options;
//   options.create_if_missing = true;
//   options.pool_bytes = uint64_t{1} << 30;
//   std::unique_ptr<PersistentTree> tree;
//   Status s = PersistentTree::Open(options, "/mnt/dax/users.pool", &tree);
//
// Every change is atomic and is durable when the call returns; durability_class() gives the degree.
// It has no snapshots, column families or merge operators; DB has them. docs/persistent-memory.md
// compares the two engines.
//
// Thread safety: every method may be called by several threads at once, except Close and the
// destructor, which must come last. Readers take no lock; several writers may write concurrently.
// Lifetime: Close returns Aborted unless iterators and pinned slices were released before.
// Errors: NotFound: the key is missing. NoSpace: the pool is full; nothing is changed, and all
// records stay readable and deletable. Corruption names file and offset of damage in the pool. If
// the damage could make a change overwrite data, every change returns it. After an IOError of the
// log (class kLogged), also for a full disk, the tree is read-only until it is opened again.
// Memory: a call that runs out of memory returns MemoryLimit, an iterator with that status, or
// null, and changes nothing. If the log cannot allocate its copy of a change, the tree is read-only
// until it is opened again. Calls that cannot report it (Exists, MultiGet, Count) throw
// std::bad_alloc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/export.h"
#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/write_batch.h"

namespace ashlar {

// The failures that a returned change survives.
enum class DurabilityClass : uint8_t {
  // power failure: cache lines are flushed to persistent memory (a DAX file mapped with
  // MAP_SYNC)
  kCpuFlush,
  kProcessCrashOnly,  // the death of the process, not of the machine: shared memory (tmpfs, memfd)
  // power failure: a redo log next to the pool, synced before a change returns (any file system)
  kLogged,
};

// "cpu-flush", "process-crash-only", "logged".
ASHLAR_API const char* DurabilityClassName(DurabilityClass durability);

struct PersistentTreeOptions {
  bool create_if_missing = false;
  bool error_if_exists = false;
  // Size of a new pool, rounded up to a multiple of 4 KiB; at least 1 MiB. The space is reserved at
  // once. An existing pool keeps its size.
  uint64_t pool_bytes = uint64_t{256} << 20;
  // On Linux, a new pool in memory (tmpfs) gets pages of 2 MiB. This bounds the time to make them,
  // as a multiple of the time for pages of 4 KiB. The rest of the pool then gets small pages. If
  // free memory is fragmented, huge pages cost a hundred times as much. 0: none. Infinity: as many
  // as the system has.
  double huge_pages_effort_max = 1;
  // The pool stores the comparator's name and does not open with another. Must outlive the tree.
  // Null: Open returns InvalidArgument.
  const Comparator* comparator = BytewiseComparator();

  // Empty: the best that file and processor support. kCpuFlush is refused if the file is neither on
  // DAX nor in shared memory, and on DAX if the library knows no instruction that flushes the
  // processor's caches. In shared memory it flushes, too, for tests and measurements.
  // kProcessCrashOnly on an ordinary file leaves the write-back to the system. kLogged works
  // everywhere.
  std::optional<DurabilityClass> durability;
  // kCpuFlush in shared memory: lines are not flushed, as if the processor's caches were in the
  // persistence domain (eADR). No effect on DAX, where lines are flushed unless the system reports
  // that the caches are persistent.
  bool caches_are_durable = false;
  // kLogged: if false, a change is only written to the operating system. It survives a crash of the
  // process, but not of the machine.
  bool sync_log = true;
  // kLogged: a checkpoint writes changed pages to the pool, in steps between the changes of
  // writers. It keeps the log below log_bytes_max and the changed pages of 4 KiB, which are private
  // memory until then, below private_bytes_max. Changes in progress may exceed both. A writer may
  // wait for a step of at most 1 MiB, and longer at a bound. A smaller private_bytes_max takes less
  // memory, but rewrites frequently changed pages more often. Two logs may exist on disk at a time.
  uint64_t log_bytes_max = uint64_t{64} << 20;
  uint64_t private_bytes_max = uint64_t{1} << 30;

  // If false, Open returns Corruption and changes nothing if the log that the pool needs is
  // damaged, cut, missing, or of another pool or time. If true, Open loses the changes that cannot
  // be read and keeps the log as <pool>.log.lost-N. Call Verify afterwards: a crash during a
  // checkpoint may have left pages that need the lost changes.
  bool accept_log_damage = false;

  // Threads that read the leaves during Open, and end with it. 0: one for each processor, at most
  // 8. A tree of fewer than about 100,000 entries uses one.
  int recovery_threads = 0;
};

// The keys between two ends. Each end may be absent, inclusive or exclusive. The bytes are
// borrowed.
struct KeyRange {
  std::optional<Slice> begin;
  std::optional<Slice> end;
  bool begin_inclusive = true;
  bool end_inclusive = false;

  static KeyRange All() { return {}; }
  static KeyRange Above(const Slice& key) {
    return {.begin = key, .end = {}, .begin_inclusive = false, .end_inclusive = false};
  }
  static KeyRange AtOrAbove(const Slice& key) {
    return {.begin = key, .end = {}, .begin_inclusive = true, .end_inclusive = false};
  }
  static KeyRange Below(const Slice& key) {
    return {.begin = {}, .end = key, .begin_inclusive = true, .end_inclusive = false};
  }
  static KeyRange AtOrBelow(const Slice& key) {
    return {.begin = {}, .end = key, .begin_inclusive = true, .end_inclusive = true};
  }
  // [begin, end).
  static KeyRange Between(const Slice& begin, const Slice& end) {
    return {.begin = begin, .end = end, .begin_inclusive = true, .end_inclusive = false};
  }
};

struct PersistentTreeStats {
  uint64_t pool_bytes = 0;
  // used + free = pool_bytes. Free: bytes available to records. Pinned records and records not yet
  // reclaimed count as used. So does everything from before the open, until the free space in it is
  // known.
  uint64_t used_bytes = 0;
  uint64_t free_bytes = 0;
  uint64_t entries = 0;
  uint64_t leaves = 0;
  // Memory outside the pool: inner nodes, locks of the leaves, state of the allocator.
  uint64_t volatile_bytes = 0;
  // Since open.
  uint64_t leaf_splits = 0;
  uint64_t leaf_merges = 0;
  uint64_t open_micros = 0;
  // True once the background search for free space below the high-water mark, which follows an
  // open, is done.
  bool free_space_known = false;
};

class ASHLAR_API PersistentTree {
 public:
  // Opens the pool, or creates one. InvalidArgument: it is missing (without create_if_missing),
  // exists (with error_if_exists), has another comparator, or is not a pool; a new one would have
  // more than 16 TiB, or a comparator whose name has more than 1,024 bytes. NotSupported: its
  // version, byte order or durability class does not work here. Corruption: its header, its log
  // or a leaf is damaged. IOError: an error of the system, or another process or handle has it
  // open. TryAgain: the system cannot start the thread that looks for free space; raise its limit.
  // *tree is empty after a failure. In every class a log that a crash left is replayed first.
  static Status Open(const PersistentTreeOptions& options, const std::string& path,
                     std::unique_ptr<PersistentTree>* tree);

  virtual ~PersistentTree() = default;
  PersistentTree(const PersistentTree&) = delete;
  PersistentTree& operator=(const PersistentTree&) = delete;

  // Waits for background work and closes the file. Returns Aborted, and closes nothing, while
  // pinned values or iterators exist. Idempotent. Afterwards other calls return Aborted or nothing.
  virtual Status Close() = 0;

  // Inserts or replaces. Replacing with a value of equal size works even in a full pool, if key and
  // value together have at most 16,372 bytes. InvalidArgument: the key or the value has 4 GiB or
  // more.
  virtual Status Put(const Slice& key, const Slice& value) = 0;
  // Returns Ok even if the key is missing.
  virtual Status Delete(const Slice& key) = 0;
  // Applies all updates or none, even after a crash: Put, Delete, SingleDelete and DeleteRange of
  // the default column family. Otherwise nothing is changed. InvalidArgument: another column
  // family; NotSupported: another operation; Corruption: the batch is damaged.
  virtual Status Write(const WriteBatch& updates) = 0;
  // Deletes all keys of the range, or none.
  virtual Status DeleteRange(const KeyRange& range) = 0;

  // *value refers to the bytes in the pool without a copy. They do not change until the slice is
  // reset, even if the key is changed or deleted. Of ReadOptions only verify_checksums has an
  // effect; it reads the complete record.
  virtual Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) = 0;
  // The same, copied. *value stays as it is unless the Status is Ok.
  virtual Status Get(const ReadOptions& options, const Slice& key, std::string* value) = 0;
  // Also returns false if damage hides the key, for which Get returns Corruption.
  virtual bool Exists(const Slice& key) = 0;
  // (*values)[i] and the i-th status belong to keys[i]. It is not a snapshot: one key may be from
  // before a batch, and another from after it.
  virtual std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                       std::vector<PinnableSlice>* values) = 0;

  // Iterates over `range`, narrowed by the bounds in ReadOptions. The ends and bounds must outlive
  // the iterator. It is not a snapshot: it shows each entry as it is when reached, and always moves
  // in order. key() and value() stay valid until the next move; PinValue keeps a value longer.
  // Refresh only makes the iterator invalid.
  virtual std::unique_ptr<Iterator> NewIterator(const ReadOptions& options,
                                                const KeyRange& range) = 0;
  std::unique_ptr<Iterator> NewIterator(const ReadOptions& options) {
    return NewIterator(options, KeyRange::All());
  }
  // The number of keys in the range. Exact if there are no concurrent writes and no damage. A key
  // that exists throughout the call counts once, whatever is written meanwhile. Either all entries
  // of a leaf with a damaged record count, or none.
  virtual uint64_t Count(const KeyRange& range) = 0;

  virtual PersistentTreeStats Stats() = 0;
  // Moves records together and merges leaves, so that entire spans become free for records of other
  // sizes. Moves large records towards the pool's beginning, but none of 256 MiB or more. May run
  // concurrently with readers and writers.
  virtual Status Defragment() = 0;
  // Reads and checks the entire pool: order, links, fingerprints, checksums, double references.
  // Corruption names the first wrong offset. Writers wait during the check.
  virtual Status Verify() = 0;

  virtual DurabilityClass durability_class() const = 0;
  virtual const Comparator* comparator() const = 0;
  virtual const std::string& path() const = 0;

 protected:
  PersistentTree() = default;
};

}  // namespace ashlar

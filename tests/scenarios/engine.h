// Engine: the common operations of both engines, so that one suite can test each of them.
//
//   scenarios_test.cc, history_test.cc ──> Engine ──┬── lsm_engine.cc    DB
//                                                   └── tree_engine.cc   PersistentTree, by path or
//                                                                        on a write-protected pool
//
// Features of only one engine (column families, merges, defragmentation) have tests of their own.
//
// Thread safety: one thread. Lifetime: iterators, pinned values and snapshots are released before
// the engine is closed or reopened.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/snapshot.h"
#include "ashlar/status.h"
#include "ashlar/write_batch.h"

namespace ashlar::scenarios {

struct OpenRequest {
  const Comparator* comparator = BytewiseComparator();
  bool create_if_missing = true;
  bool error_if_exists = false;
};

class Engine {
 public:
  virtual ~Engine() = default;

  // Closes an open engine, then opens it at its own path.
  virtual Status Open(const OpenRequest& request) = 0;
  virtual Status Close() = 0;
  // Opens a second handle to the open store.
  virtual Status OpenAgain() = 0;

  virtual Status Put(const Slice& key, const Slice& value) = 0;
  virtual Status Delete(const Slice& key) = 0;
  virtual Status Write(WriteBatch* batch) = 0;
  virtual Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) = 0;
  virtual std::vector<Status> MultiGet(const std::vector<Slice>& keys,
                                       std::vector<PinnableSlice>* values) = 0;
  virtual std::unique_ptr<Iterator> NewIterator(const ReadOptions& options) = 0;

  // Requires: EngineKind::has_snapshots.
  virtual const Snapshot* GetSnapshot() = 0;
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;

  // Reorganises the engine's files or spans without changing any entry. `choice` is any
  // number.
  virtual Status Rearrange(uint64_t choice) = 0;
  // Reads and checks all data.
  virtual Status Verify() = 0;
};

struct EngineKind {
  const char* name;
  std::unique_ptr<Engine> (*make)(const std::string& folder);
  bool has_snapshots = false;
  bool has_paths = true;  // opens by path, and so can refuse a store that is missing or in use

  friend std::ostream& operator<<(std::ostream& out, const EngineKind& kind) {
    return out << kind.name;
  }
};

// A DB with small memtables and tables, so that a short history has several levels.
std::unique_ptr<Engine> MakeLsm(const std::string& folder);
// A PersistentTree on a file: shared with the system, or with a log and frequent checkpoints.
std::unique_ptr<Engine> MakeSharedTree(const std::string& folder);
std::unique_ptr<Engine> MakeLoggedTree(const std::string& folder);
// A PersistentTree on memory that the engine sees as read-only, so that any store other than one of
// the medium's verbs faults.
std::unique_ptr<Engine> MakeProtectedTree(const std::string& folder);

inline const std::vector<EngineKind>& EngineKinds() {
  static const std::vector<EngineKind> kinds = {
      {.name = "Lsm", .make = MakeLsm, .has_snapshots = true},
      {.name = "SharedTree", .make = MakeSharedTree},
      {.name = "LoggedTree", .make = MakeLoggedTree},
      {.name = "ProtectedTree", .make = MakeProtectedTree, .has_paths = false},
  };
  return kinds;
}

inline std::vector<EngineKind> EngineKindsWith(bool EngineKind::* property) {
  std::vector<EngineKind> kinds;
  for (const EngineKind& kind : EngineKinds()) {
    if (kind.*property) kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace ashlar::scenarios

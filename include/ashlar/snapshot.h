// Snapshot: a state of the database that stays readable while writes go on.
//
// Thread safety: a Snapshot is immutable. Lifetime: from DB::GetSnapshot to DB::ReleaseSnapshot; it
// must not outlive its DB. A snapshot keeps old versions of keys on disk, so release it as soon as
// it is no longer needed.
#pragma once

#include <cstdint>

#include "ashlar/export.h"
#include "ashlar/types.h"

namespace ashlar {

class DB;

class ASHLAR_API Snapshot {
 public:
  // Writes up to this one are visible, and later writes are not.
  virtual SequenceNumber GetSequenceNumber() const = 0;
  // Seconds since 1970 at which the snapshot was taken.
  virtual int64_t GetUnixTime() const = 0;

 protected:
  virtual ~Snapshot() = default;
};

// Takes a snapshot at construction, or adopts one, and releases it at destruction. The DB must
// outlive it.
class ASHLAR_API ManagedSnapshot {
 public:
  explicit ManagedSnapshot(DB* db);
  ManagedSnapshot(DB* db, const Snapshot* snapshot) : db_(db), snapshot_(snapshot) {}
  ~ManagedSnapshot();
  ManagedSnapshot(const ManagedSnapshot&) = delete;
  ManagedSnapshot& operator=(const ManagedSnapshot&) = delete;

  const Snapshot* snapshot() { return snapshot_; }

 private:
  DB* db_;
  const Snapshot* snapshot_;
};

}  // namespace ashlar

// PublishedState: the column families of a database and their Versions, with the numbers that the
// MANIFEST records for all of them, as of the last install or of the recovery.
//
// A plain value. VersionSet defines which lock gives access to the current one.
// Lifetime: it has one count on the Version of each family, which the destructor releases.
//
// FamilyMap: families by id and by name, so that thousands are created and opened in linear time.
// I1: both indexes have the same families, and no two have the same id or name.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"
#include "manifest/column_family_state.h"

namespace ashlar {

class FamilyMap {
 public:
  using ById = std::map<ColumnFamilyId, std::unique_ptr<ColumnFamilyState>>;

  // Ascending by id.
  ById::const_iterator begin() const { return by_id_.begin(); }
  ById::const_iterator end() const { return by_id_.end(); }
  size_t size() const { return by_id_.size(); }
  bool empty() const { return by_id_.empty(); }

  // Returns null if there is none.
  ColumnFamilyState* Find(ColumnFamilyId id) const;
  ColumnFamilyState* Find(std::string_view name) const;
  // Requires: no family has its id or its name.
  ColumnFamilyState* Add(std::unique_ptr<ColumnFamilyState> family);
  // Takes the families of `other`. Allocates nothing. Requires: as Add.
  void Merge(FamilyMap* other) noexcept;
  // Returns false if there is none.
  bool Erase(ColumnFamilyId id) noexcept;
  void CheckInvariants() const;

 private:
  ById by_id_;
  std::map<std::string_view, ColumnFamilyState*> by_name_;  // the names are those of the families
};

// Number of a log -> the bytes that were synced, if known.
using RecordedLogs = std::map<uint64_t, std::optional<uint64_t>>;

struct PublishedState {
  PublishedState() = default;
  PublishedState(PublishedState&&) = default;
  // Requires: this one has no families.
  PublishedState& operator=(PublishedState&& other) noexcept;
  ~PublishedState();

  // Returns null if there is none, or if it was dropped.
  ColumnFamilyState* FindFamily(ColumnFamilyId id) const;
  ColumnFamilyState* FindFamily(const Slice& name) const;
  // InvalidArgument: a family has the name.
  Status CheckNameIsFree(const std::string& name) const;
  // The lowest log that a recovery reads: a family still needs it, and the MANIFEST has not
  // released it.
  uint64_t MinLogNumberToRecover() const;

  FamilyMap families;
  ColumnFamilyId max_column_family = 0;
  SequenceNumber last_sequence = 0;
  uint64_t min_log_number_to_keep = 0;
  RecordedLogs recorded_logs;
};

}  // namespace ashlar

// RangeCover: the keys that the range tombstones of an iterator's sources delete.
//
//   source 0   memtable        [----- @90 -----)                   newest
//   source 1   table of L0              [------- @70 -------)
//   source 2   files of L1     (none)                              oldest
//
//   interval                   |  @90   |  @90 |    @70    |       has one answer
//
// A search remembers the interval of each source and their intersection. While the keys stay in the
// intersection, no source is searched. A file is opened when a key inside its bounds is searched
// for, unless it is known to have no range tombstones.
//
// I1: if a tombstone of one source covers keys, their entries in every older source are older than
//     it. So an iterator may skip all entries of older sources between CoveredBegin and CoveredEnd.
//
// Lifetime: the sources and the comparator outlive it. It counts the tables whose tombstones it
// remembers. Thread safety: one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ashlar/status.h"
#include "base/function_ref.h"
#include "base/result.h"
#include "key/key_comparator.h"
#include "memtable/memtable.h"
#include "ranges/cover_interval.h"
#include "table/open/table_cache.h"

namespace ashlar {

class RangeCover {
 public:
  struct Args {
    KeyComparator comparator;
    TableCache* tables = nullptr;
    TableReadOptions read_options;
    SequenceNumber visible = 0;
  };

  explicit RangeCover(const Args& args) : args_(args) {}
  RangeCover(RangeCover&&) = default;

  // Adds a source. Requires: newest first, and the files of a run are sorted and disjoint.
  void AddMemTable(const MemTable* memtable) { sources_.push_back(Source{.memtable = memtable}); }
  void AddFiles(std::span<FileMetaData* const> files) {
    sources_.push_back(Source{.files = files});
  }

  // Whether the result of the last search also holds for the key.
  bool Contains(const Slice& user_key) const { return found_ && IsIn(common_, user_key); }
  // Searches for the newest visible tombstone that covers the key. Fails if a table could not be
  // opened.
  Status Find(const Slice& user_key);
  SequenceNumber visible() const { return args_.visible; }
  // The result of the last search; 0: no tombstone covers the key.
  SequenceNumber sequence() const { return common_.sequence; }
  // The source of that tombstone. Requires: sequence() > 0.
  size_t source() const { return source_; }

  // The bounds of the keys around the last sought key that visible tombstones of source() cover.
  // The end is exclusive. It is where they first leave a gap, or the end of an earlier fragment for
  // which `stops` returned true. The slices are valid until the next search, which must come before
  // Contains. An end equal to the sought key says nothing about other keys.
  Slice CoveredBegin();
  Result<Slice> CoveredEnd(FunctionRef<bool(const Slice& end)> stops);

 private:
  struct Source {
    const MemTable* memtable = nullptr;  // null: files
    std::span<FileMetaData* const> files = {};
    // The result of the last search; contains no key if it holds for the sought key only.
    std::optional<CoverInterval> interval = {};
    std::vector<TableRef> tables = {};  // that own bytes of the interval
    std::string key = {};               // the last sought key, if a bound is that key
  };

  bool IsIn(const CoverInterval& interval, const Slice& user_key) const {
    return (!interval.begin || args_.comparator.Compare(*interval.begin, user_key) <= 0) &&
           (!interval.end || args_.comparator.Compare(user_key, *interval.end) < 0);
  }
  Status FindIn(Source* source, const Slice& user_key) const;
  Status FindInFiles(Source* source, const Slice& user_key) const;
  Status FindInFile(Source* source, size_t file, const Slice& user_key) const;
  Status FindInTable(Source* source, FileMetaData* file, const Slice& user_key,
                     CoverInterval* interval) const;
  size_t FindFile(const Source& source, const Slice& user_key) const;
  void Narrow(CoverInterval* interval, const CoverInterval& other) const;

  Args args_;
  std::vector<Source> sources_;
  CoverInterval common_;
  size_t source_ = 0;  // the source of common_.sequence
  bool found_ = false;
  std::string covered_bound_;
};

}  // namespace ashlar

// SstFileReader: reads one table file outside of a database. The file comes from SstFileWriter or
// from a database, of Ashlar or RocksDB.
//
// Errors name the file. InvalidArgument: another comparator, or a call before Open. NotSupported: a
// feature that is not implemented. Corruption also names the offset. The statistics of the options
// count the reads. Lifetime: the comparator must outlive the reader, and the reader its iterators
// and pinned values. Thread safety: after Open any thread may call every method.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/table_properties.h"
#include "ashlar/types.h"

namespace ashlar {

// One stored version of a key. The key refers to the bytes that were parsed.
struct ParsedEntryInfo {
  Slice user_key;
  Slice timestamp;  // empty
  SequenceNumber sequence = 0;
  EntryType type = EntryType::kEntryOther;
};

class ASHLAR_API SstFileReader {
 public:
  explicit SstFileReader(const Options& options);
  ~SstFileReader();
  SstFileReader(const SstFileReader&) = delete;
  SstFileReader& operator=(const SstFileReader&) = delete;

  // Call once.
  Status Open(const std::string& file_path);

  // The keys that a reader of the file alone sees, under the snapshot of the options if there is
  // one. Range deletions of the file apply, unless the options ignore them. The caller owns it.
  // Null, here and below, only if not even an iterator with an error can be allocated.
  Iterator* NewIterator(const ReadOptions& options);
  // Every stored entry, deletions included, without range deletions. Its keys are for
  // ParseTableIteratorKey.
  std::unique_ptr<Iterator> NewTableIterator();
  // InvalidArgument: not a key of a table iterator.
  Status ParseTableIteratorKey(const Slice& raw_table_key, ParsedEntryInfo* parsed_key) const;

  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value);
  Status Get(const ReadOptions& options, const Slice& key, std::string* value);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<PinnableSlice>* values);

  // Null before Open.
  std::shared_ptr<const TableProperties> GetTableProperties() const;
  // Reads every block; verifies checksums, the order of keys, and the number of entries.
  Status VerifyChecksum(const ReadOptions& options);
  Status VerifyChecksum() { return VerifyChecksum(ReadOptions()); }
  Status VerifyNumEntries(const ReadOptions& options) { return VerifyChecksum(options); }

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace ashlar

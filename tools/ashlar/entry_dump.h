// EntryDump: entries as text that load reads back.
//
//   ndjson, the default:
//   {"ashlar_dump":1,"key_format":"escape","value_format":"escape","column_families":["default"]}
//   {"column_family":"default","key":"…","value":"…"}        one line for each entry
//   {"ashlar_dump_end":true,"entries":1}                     last line; a dump without it is cut
//
// The other formats hold the entries only. Thread safety: one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/iterator.h"
#include "tools/ashlar/command.h"
#include "tools/ashlar/progress.h"

namespace ashlar::cli {

class EntryDump {
 public:
  // Writes the header to standard output. `families` are all families whose entries follow.
  EntryDump(const GlobalOptions& global, const std::vector<std::string>& families);

  // Adds all entries of the iterator. Callers add nothing after a failure.
  Outcome Add(const std::string& family, Iterator* iterator);
  // Adds the iterator's entry. Requires: Valid().
  void AddEntry(const std::string& family, const Iterator& iterator);
  // The number of entries added so far.
  uint64_t entries() const { return entries_; }
  // Call once, after the last family. `complete` means that nothing failed.
  void Finish(bool complete);

 private:
  const OutputFormat format_;
  const ByteFormat key_format_;
  const ByteFormat value_format_;
  const std::unique_ptr<RecordWriter> writer_;
  uint64_t entries_ = 0;
  uint64_t bytes_ = 0;
  Progress progress_{"dump", std::nullopt};
};

}  // namespace ashlar::cli

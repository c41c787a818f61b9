// EntryDump: entries as text that load reads back.
//
//   ndjson, the default:
//   {"ashlar_dump":1,"key_format":"escape","value_format":"escape","column_families":["default"]}
//   {"column_family":"default","key":"…","value":"…"}        one line for each entry
//   {"ashlar_dump_end":true,"entries":1}                     last line; without it the dump is cut
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

  // All that the iterator shows. After a failure nothing is added.
  Outcome Add(const std::string& family, Iterator* iterator);
  // The iterator's entry. REQUIRES: Valid().
  void AddEntry(const std::string& family, const Iterator& iterator);
  // Added so far.
  uint64_t entries() const { return entries_; }
  // Once, after the last family. `complete`: nothing failed.
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

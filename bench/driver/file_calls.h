// FileCalls: a library's calls about the files of a database other than reading and writing:
// external tables, checkpoints, the contents of logs, secondaries, many families. Failures end the
// process (fail.h).
//
// Thread safety: one thread at a time, concurrent with sessions. Lifetime: ends before its engine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "bench/driver/tally.h"

namespace ashlar::bench {

class FileCalls {
 public:
  virtual ~FileCalls() = default;

  // A table file, made by the library's own writer. Keys ascend.
  class TableWriter {
   public:
    virtual ~TableWriter() = default;
    virtual void Add(std::string_view key, std::string_view value) = 0;
    virtual void Finish() = 0;
  };
  virtual std::unique_ptr<TableWriter> NewTable(const std::string& path) = 0;
  // Moves the file into the database.
  virtual void Ingest(const std::string& path) = 0;

  // Requires that `folder` does not exist yet.
  virtual void Checkpoint(const std::string& folder) = 0;

  // Reads every batch in the logs, from the first write on. Returns their number.
  virtual uint64_t ReadLogs(Tally* tally) = 0;

  class Secondary {
   public:
    virtual ~Secondary() = default;
    virtual void CatchUp() = 0;
    virtual void Get(std::string_view key, Tally* tally) = 0;
  };
  // `folder` is for its LOG.
  virtual std::unique_ptr<Secondary> OpenSecondary(const std::string& folder) = 0;

  // Creates a second database in `folder`, with this many families in addition to the default one.
  // at_once: with one call.
  virtual void CreateFamilies(const std::string& folder, uint64_t families, bool at_once) = 0;
  // Opens that database with all its families, and closes it.
  virtual void OpenFamilies(const std::string& folder, uint64_t families) = 0;
};

}  // namespace ashlar::bench

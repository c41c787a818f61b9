// Database: one open database of a peer, driven by lines of text.
//
// Every line has an answer in every state, so that a history remains valid when some of its lines
// are removed. An answer depends only on the contents, never on the timing of a background job.
//
// Lines. Keys and values are words of text.h, F is a family's name, and "-" means none:
//   open DIR MODE OPTIONS FAMILY...  MODE: rw, ro, secondary; FAMILY: NAME|COMPARATOR|MERGE|OPTIONS
//   close    families DIR             the names, sorted
//   put F HOW K V    merge F HOW K V    delete F HOW K    single F HOW K    range F HOW K K
//   batch HOW OP...                   OP as above without HOW; also save, rollback, pop, log TEXT
//                                     HOW: README.md
//   get F SNAPSHOT K    pinned F SNAPSHOT K    multi SNAPSHOT F K F K...    many F SNAPSHOT K...
//   mayexist F K                      "ok" unless an existing key is denied
//   snapshot N    release N
//   iterator N F SNAPSHOT FLAGS LOWER UPPER             FLAGS: README.md
//   move N MOVE [K]                   MOVE: seek, seekprev, first, last, next, prev, refresh, drop,
//                                     forward (10 steps), backward
//   flush F    compact F K K    force F      force also compacts the last level, and reports keys
//   property F NAME    number F NAME    sequence    flushwal HOW
//   sizes F K K
//   create FAMILY    drop F    set F NAME VALUE
//   dump F SNAPSHOT                   number of keys, hash, and the keys if they are few
//   ingest, checkpoint, backup, secondary, updates      copies.cc
//
// Thread safety: none.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/differential/functions.h"

namespace ashlar::differential {

class Database {
 public:
  // Requires: `functions` outlives this.
  explicit Database(const Functions& functions) : functions_(functions) {}
  ~Database() { Close(); }

  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Returns the answer to one line, which is also one line.
  std::string Execute(const std::string& line);

 private:
  using Words = std::vector<std::string>;

  struct Family {
    FamilyHandle* handle;
    std::string description;  // as a word of open, without options
    std::string comparator;
    bool merges;
    size_t prefix_bytes;  // 0: no prefix extractor
  };
  struct Cursor {
    DbIterator* iterator;
    ReadOptions* options;
    std::string lower, upper;  // the options refer to them
    bool has_lower, has_snapshot;
    FamilyHandle* handle;  // never dereferenced, as the family may be dropped
    std::string comparator;
    // If not 0, only keys with the prefix of the last seek are defined, and only forwards.
    size_t prefix_bytes;
    std::string prefix{};
  };

  std::string Open(const Words& words);
  std::string Close();
  std::string ListFamilies(const Words& words);
  std::string Write(const Words& words);
  std::string WriteOne(const Words& words, const WriteOptions* options);
  std::string WriteBatchOf(const Words& words, const WriteOptions* options);
  std::string AddToBatch(const Words& words, size_t* at, WriteBatch* batch);
  std::string Read(const Words& words);
  std::string MultiGet(const Words& words, const ReadOptions* options);
  std::string BatchedMultiGet(const Words& words, const ReadOptions* options);
  std::string MayExist(const Words& words);
  std::string TakeSnapshot(const std::string& slot);
  std::string ReleaseSnapshot(const std::string& slot);
  std::string NewCursor(const Words& words);
  std::string Move(const Words& words);
  std::string MoveCursor(const Words& words, Cursor* cursor);
  std::string Refresh(Cursor* cursor);
  std::string Seek(const std::string& key, Cursor* cursor);
  std::string Walk(int steps, bool forward, Cursor* cursor);
  std::string Position(const Cursor& cursor) const;
  void DropCursor(const std::string& slot);
  std::string FlushLog(const std::string& how);
  std::string Maintain(const Words& words);
  std::string Compact(const Words& words, Family* family);
  std::string Sizes(const Words& words, Family* family);
  std::string SetOption(const Words& words, Family* family);
  std::string Property(const Words& words, Family* family);
  std::string Create(const Words& words);
  std::string Drop(const std::string& name);
  std::string Dump(const Words& words);

  // copies.cc
  std::string Copy(const Words& words);
  std::string Ingest(const Words& words);
  std::string MakeFile(const Words& words, const Family& family, const std::string& path) const;
  std::string AddToFile(const Words& operation, const Family& family, SstFileWriter* writer) const;
  std::string MakeCheckpoint(const std::string& how, const std::string& path);
  std::string MakeBackup(const std::string& how, const std::string& path);
  std::string FollowBySecondary();
  std::string CatchUp();
  std::string Updates(uint64_t since_mark) const;
  // Opens the existing database at `path`. `mode` is a word of open.
  std::string OpenCopy(const std::string& path, const std::string& mode, Database* copy) const;
  // Dumps all families. Requires: this is open.
  std::string DumpAll();
  void SetMark();

  // Returns null, with an error in `*answer`, if the text is invalid.
  Options* ParseOptions(const std::string& text, std::string* answer) const;
  Options* ParseFamily(const std::string& text, std::string* name, Family* family,
                       std::string* answer) const;
  Family* FindFamily(const std::string& name);
  // Returns false if `slot` is not "-" and holds no snapshot.
  bool SetSnapshot(const std::string& slot, ReadOptions* options) const;
  // Returns "ok" or the error, and frees the error.
  std::string Outcome(char* error) const;
  // Returns "value V", "none" or the error, and frees both.
  std::string Value(char* value, size_t bytes, char* error) const;

  const Functions& functions_;
  Db* db_ = nullptr;
  std::map<std::string, Family> families_;
  std::map<std::string, const DbSnapshot*> snapshots_;
  std::map<std::string, std::unique_ptr<Cursor>> cursors_;
  std::string directory_;
  bool is_writable_ = false;
  bool has_dropped_ = false;             // a family was dropped since the open
  bool keeps_logs_ = false;              // even logs whose entries are all in tables
  uint64_t mark_ = 0;                    // a sequence number
  std::unique_ptr<Database> secondary_;  // null: not opened
};

}  // namespace ashlar::differential

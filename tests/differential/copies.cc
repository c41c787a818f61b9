// Copies of Database (checkpoints, backups, secondaries), ingested files, and the log's updates.
//
// Lines, as in database.h (HOW: README.md):
//   ingest F HOW OPTIONS OP...        a file with put K V, merge K V, delete K and range K K, which
//                                     is made with OPTIONS
//   checkpoint HOW                    makes one, opens it read-only, and dumps it
//   backup HOW                        the same for a restored backup; also lists all backups
//   secondary                         opens one if there is none, catches up, and dumps it. The
//                                     database closes it at a create.
//   updates N                         batches from the N-th sequence number after the mark on. The
//                                     last open, ingestion or write without log sets the mark.
//
// They are next to the database's directory, and their paths begin with its path. Only backups are
// kept, so that the next library adds its own to those of the previous one.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>

#include "tests/differential/callbacks.h"
#include "tests/differential/database.h"
#include "tests/differential/text.h"

namespace ashlar::differential {

namespace {

const char* const kNotUnderstood = "not understood";
const char* const kNotKnown = "not known";
const char* const kNoFamily = "no family";

constexpr uint32_t kBackupsKept = 2;
constexpr size_t kBatchesDescribedMax = 4;
constexpr size_t kBatchHeaderBytes = 8;  // the sequence number

bool Has(const std::string& flags, char flag) { return flags.find(flag) != std::string::npos; }

// A path that does not exist before and after the lifetime of this object.
class Scratch {
 public:
  explicit Scratch(std::string path) : path_(std::move(path)) { Remove(); }
  ~Scratch() { Remove(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }

 private:
  void Remove() const {
    std::error_code ignored;  // it may be absent
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string path_;
};

}  // namespace

std::string Database::Copy(const Words& words) {
  // Releases differ in the calls that they allow on a database that is not writable.
  if (!is_writable_) return "not writable";
  const std::string& verb = words[0];
  if (verb == "secondary") return FollowBySecondary();
  if (words.size() < 2) return kNotUnderstood;
  if (verb == "updates") return Updates(std::strtoull(words[1].c_str(), nullptr, 10));
  if (verb == "checkpoint") return MakeCheckpoint(words[1], directory_ + "-checkpoint");
  if (verb == "backup") return MakeBackup(words[1], directory_ + "-backups");
  return Ingest(words);
}

std::string Database::Ingest(const Words& words) {
  if (words.size() < 4) return kNotUnderstood;
  if (functions_.ingest_external_file_cf == nullptr) return kNotKnown;
  Family* const family = FindFamily(words[1]);
  if (family == nullptr) return kNoFamily;
  const Scratch file(directory_ + "-ingested.sst");
  std::string answer = MakeFile(words, *family, file.path());
  if (!answer.ends_with("ok")) return answer;
  IngestOptions* const options = functions_.ingestexternalfileoptions_create();
  functions_.ingestexternalfileoptions_set_move_files(options, Has(words[2], 'm'));
  const char* const path = file.path().c_str();
  char* error = nullptr;
  functions_.ingest_external_file_cf(db_, family->handle, &path, 1, options, &error);
  functions_.ingestexternalfileoptions_destroy(options);
  answer += " " + Outcome(error);
  SetMark();
  return answer;
}

// The answer ends in "ok" if the file was written.
std::string Database::MakeFile(const Words& words, const Family& family,
                               const std::string& path) const {
  std::string answer;
  Options* const options = ParseOptions(words[3], &answer);
  if (options == nullptr) return answer;
  SetComparator(functions_, family.comparator, options);
  std::vector<Words> operations;
  for (size_t at = 4; at < words.size();) {
    const size_t end = std::min(at + (words[at] == "delete" ? 2 : 3), words.size());
    operations.emplace_back(words.begin() + static_cast<ptrdiff_t>(at),
                            words.begin() + static_cast<ptrdiff_t>(end));
    at = end;
  }
  if (!Has(words[2], 'u')) {
    const auto key_of = [](const Words& operation) {
      return Unescape(operation[1 % operation.size()]);
    };
    std::stable_sort(operations.begin(), operations.end(), [&](const Words& a, const Words& b) {
      return CompareKeys(family.comparator, key_of(a), key_of(b)) < 0;
    });
  }
  EnvOptions* const environment = functions_.envoptions_create();
  SstFileWriter* const writer = functions_.sstfilewriter_create(environment, options);
  char* error = nullptr;
  functions_.sstfilewriter_open(writer, path.c_str(), &error);
  answer = "file (" + Outcome(error) + ")";
  for (const Words& operation : operations) {
    const std::string outcome = AddToFile(operation, family, writer);
    if (outcome != "ok") answer += " (" + outcome + ")";
  }
  error = nullptr;
  functions_.sstfilewriter_finish(writer, &error);
  answer += " " + Outcome(error);
  functions_.sstfilewriter_destroy(writer);
  functions_.envoptions_destroy(environment);
  functions_.options_destroy(options);
  return answer;
}

std::string Database::AddToFile(const Words& operation, const Family& family,
                                SstFileWriter* writer) const {
  const std::string& verb = operation[0];
  if (operation.size() != (verb == "delete" ? 2u : 3u)) return kNotUnderstood;
  const std::string key = Unescape(operation[1]);
  const std::string other = verb == "delete" ? std::string() : Unescape(operation[2]);
  char* error = nullptr;
  if (verb == "put") {
    functions_.sstfilewriter_put(writer, key.data(), key.size(), other.data(), other.size(),
                                 &error);
  } else if (verb == "merge") {
    functions_.sstfilewriter_merge(writer, key.data(), key.size(), other.data(), other.size(),
                                   &error);
  } else if (verb == "delete") {
    functions_.sstfilewriter_delete(writer, key.data(), key.size(), &error);
  } else if (verb == "range") {
    // RocksDB 7.8.3 writes empty ranges and inverted ones into the file.
    if (CompareKeys(family.comparator, key, other) >= 0) return "inverted or empty";
    functions_.sstfilewriter_delete_range(writer, key.data(), key.size(), other.data(),
                                          other.size(), &error);
  } else {
    return kNotUnderstood;
  }
  return Outcome(error);
}

std::string Database::OpenCopy(const std::string& path, const std::string& mode,
                               Database* copy) const {
  std::string line = "open " + path + " " + mode + " info_log_level=FATAL_LEVEL";
  for (const auto& [name, family] : families_) line += " " + family.description;
  return copy->Execute(line);
}

std::string Database::DumpAll() {
  std::string answer = "ok";
  for (const auto& [name, family] : families_)
    answer += ", " + name + " " + Dump({"dump", name, "-"});
  return answer;
}

std::string Database::MakeCheckpoint(const std::string& how, const std::string& path) {
  if (functions_.checkpoint_create == nullptr) return kNotKnown;
  const Scratch directory(path);
  const uint64_t log_size_for_flush = Has(how, 'l') ? std::numeric_limits<uint64_t>::max() : 0;
  char* error = nullptr;
  Checkpoint* const checkpoint = functions_.checkpoint_object_create(db_, &error);
  if (error != nullptr) return Outcome(error);
  functions_.checkpoint_create(checkpoint, path.c_str(), log_size_for_flush, &error);
  functions_.checkpoint_object_destroy(checkpoint);
  if (error != nullptr) return Outcome(error);
  Database copy(functions_);
  const std::string opened = OpenCopy(path, "ro", &copy);
  return opened == "ok" ? copy.DumpAll() : opened;
}

std::string Database::MakeBackup(const std::string& how, const std::string& path) {
  if (functions_.backup_engine_create_new_backup_flush == nullptr) return kNotKnown;
  const Scratch restored(directory_ + "-restored");
  Options* const options = functions_.options_create();
  char* error = nullptr;
  BackupEngine* const engine = functions_.backup_engine_open(options, path.c_str(), &error);
  functions_.options_destroy(options);
  if (error != nullptr) return "engine " + Outcome(error);
  functions_.backup_engine_create_new_backup_flush(engine, db_, Has(how, 'f'), &error);
  std::string answer = "backup " + Outcome(error);
  const auto follow = [&](const char* name, const std::function<void(char**)>& call) {
    char* failure = nullptr;
    call(&failure);
    if (failure != nullptr) answer += std::string(" (") + name + " " + Outcome(failure) + ")";
  };
  if (Has(how, 'p')) {
    follow("purge", [&](char** failure) {
      functions_.backup_engine_purge_old_backups(engine, kBackupsKept, failure);
    });
  }
  const BackupInfo* const info = functions_.backup_engine_get_backup_info(engine);
  for (int i = 0; i < functions_.backup_engine_info_count(info); i++) {
    const uint32_t id = functions_.backup_engine_info_backup_id(info, i);
    answer += " " + std::to_string(id);
    follow("verify",
           [&](char** failure) { functions_.backup_engine_verify_backup(engine, id, failure); });
  }
  functions_.backup_engine_info_destroy(info);
  follow("restore", [&](char** failure) {
    RestoreOptions* const restore_options = functions_.restore_options_create();
    functions_.backup_engine_restore_db_from_latest_backup(
        engine, restored.path().c_str(), restored.path().c_str(), restore_options, failure);
    functions_.restore_options_destroy(restore_options);
  });
  functions_.backup_engine_close(engine);
  Database copy(functions_);
  const std::string opened = OpenCopy(restored.path(), "ro", &copy);
  return answer + " " + (opened == "ok" ? copy.DumpAll() : opened);
}

std::string Database::FollowBySecondary() {
  if (functions_.try_catch_up_with_primary == nullptr) return kNotKnown;
  // If its MANIFEST drops a family, RocksDB's secondary reads the family's version after it has
  // freed it. An open starts a new MANIFEST.
  if (has_dropped_) return kNotKnown;
  if (secondary_ == nullptr) {
    auto opened = std::make_unique<Database>(functions_);
    const std::string answer = OpenCopy(directory_, "secondary", opened.get());
    if (answer != "ok") return answer;
    secondary_ = std::move(opened);
  }
  return secondary_->CatchUp();
}

std::string Database::CatchUp() {
  // Called twice, because RocksDB's ends early without an error if the primary deletes its log.
  for (int i = 0; i < 2; i++) {
    char* error = nullptr;
    functions_.try_catch_up_with_primary(db_, &error);
    if (error != nullptr) return Outcome(error);
  }
  // RocksDB's secondary keeps operands in its memtables that are by now in a table, too.
  std::string answer = "ok";
  for (const auto& [name, family] : families_) {
    if (!family.merges) answer += ", " + name + " " + Dump({"dump", name, "-"});
  }
  return answer;
}

void Database::SetMark() {
  if (functions_.get_latest_sequence_number == nullptr) return;
  mark_ = functions_.get_latest_sequence_number(db_);
}

std::string Database::Updates(uint64_t since_mark) const {
  if (functions_.get_updates_since == nullptr || functions_.get_latest_sequence_number == nullptr)
    return kNotKnown;
  if (since_mark == 0) return kNotUnderstood;
  if (!keeps_logs_) return "logs may be deleted";
  char* error = nullptr;
  WalIterator* const iterator =
      functions_.get_updates_since(db_, mark_ + since_mark, nullptr, &error);
  if (error != nullptr) return Outcome(error);
  std::string described;
  ContentsHash hash;
  size_t batches = 0;
  for (; functions_.wal_iter_valid(iterator) != 0; functions_.wal_iter_next(iterator)) {
    uint64_t sequence = 0;
    WriteBatch* const batch = functions_.wal_iter_get_batch(iterator, &sequence);
    size_t bytes = 0;
    const char* const data = functions_.writebatch_data(batch, &bytes);
    // RocksDB returns an empty batch, which has no sequence number, only if another one follows.
    if (functions_.writebatch_count(batch) > 0) {
      const std::string_view contents(data + kBatchHeaderBytes, bytes - kBatchHeaderBytes);
      const std::string place = "+" + std::to_string(sequence - mark_);
      hash.Add(place);
      hash.Add(contents);
      if (batches < kBatchesDescribedMax) described += " " + place + " " + Describe(contents);
      batches++;
    }
    functions_.writebatch_destroy(batch);
  }
  functions_.wal_iter_status(iterator, &error);
  functions_.wal_iter_destroy(iterator);
  return "batches " + std::to_string(batches) + " " + HexNumber(hash.value()) + described + " " +
         Outcome(error);
}

}  // namespace ashlar::differential

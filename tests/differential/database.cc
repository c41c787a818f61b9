#include "tests/differential/database.h"

#include <algorithm>
#include <optional>

#include "tests/differential/callbacks.h"
#include "tests/differential/text.h"

namespace ashlar::differential {

namespace {

const char* const kNotUnderstood = "not understood";
const char* const kNoFamily = "no family";
const char* const kClosed = "closed";
const char* const kNotKnown = "not known";
// RocksDB refuses a batch with such a range, and every later write until the database is reopened.
const char* const kInverted = "inverted";

constexpr size_t kDumpedKeysMax = 12;

// Returns 3 for "prefix_extractor=fixed:3" among other options, and 0 if that option is absent.
size_t PrefixBytesOf(const std::string& options) {
  static const std::string kOption = "prefix_extractor=fixed:";
  const size_t at = options.find(kOption);
  return at == std::string::npos ? 0 : std::stoul(options.substr(at + kOption.size()));
}

bool MayFlush(const std::string& verb) {
  return verb == "flush" || verb == "compact" || verb == "force" || verb == "ingest" ||
         verb == "checkpoint" || verb == "backup";
}

// Keys as the arrays of pointers and sizes that the interface takes.
struct KeyArrays {
  std::vector<std::string> keys;
  std::vector<const char*> data;
  std::vector<size_t> bytes;

  void Add(const std::string& word) { keys.push_back(Unescape(word)); }
  // Call once, after the last Add.
  void Point() {
    for (const std::string& key : keys) {
      data.push_back(key.data());
      bytes.push_back(key.size());
    }
  }
};

}  // namespace

std::string Database::Execute(const std::string& line) {
  const Words words = SplitWords(line);
  const std::string& verb = words[0];
  if (verb == "open" && words.size() >= 5) return Open(words);
  if (verb == "families" && words.size() == 2) return ListFamilies(words);
  if (verb == "close") return Close();
  if (db_ == nullptr) return kClosed;
  // RocksDB's secondary keeps its memtables after a flush. They hide newer tables unless they have
  // every flushed entry.
  if (secondary_ != nullptr && MayFlush(verb)) secondary_->CatchUp();
  if (verb == "put" || verb == "merge" || verb == "delete" || verb == "single" || verb == "range" ||
      verb == "batch")
    return Write(words);
  if (verb == "get" || verb == "pinned" || verb == "multi" || verb == "many") return Read(words);
  if (verb == "mayexist" && words.size() == 3) return MayExist(words);
  if (verb == "snapshot" && words.size() == 2) return TakeSnapshot(words[1]);
  if (verb == "release" && words.size() == 2) return ReleaseSnapshot(words[1]);
  if (verb == "iterator" && words.size() == 7) return NewCursor(words);
  if (verb == "move" && words.size() >= 3) return Move(words);
  if (verb == "create" && words.size() == 2) return Create(words);
  if (verb == "drop" && words.size() == 2) return Drop(words[1]);
  if (verb == "dump" && words.size() == 3) return Dump(words);
  if (verb == "ingest" || verb == "checkpoint" || verb == "backup" || verb == "secondary" ||
      verb == "updates")
    return Copy(words);
  if (verb == "flushwal" && words.size() == 2) return FlushLog(words[1]);
  if (verb == "sequence" && functions_.get_latest_sequence_number != nullptr)
    return "number " + std::to_string(functions_.get_latest_sequence_number(db_));
  return Maintain(words);
}

Options* Database::ParseOptions(const std::string& text, std::string* answer) const {
  Options* const base = functions_.options_create();
  Options* const parsed = functions_.options_create();
  char* error = nullptr;
  functions_.get_options_from_string(base, text == "-" ? "" : text.c_str(), parsed, &error);
  functions_.options_destroy(base);
  if (error == nullptr) return parsed;
  *answer = Outcome(error);
  functions_.options_destroy(parsed);
  return nullptr;
}

Options* Database::ParseFamily(const std::string& text, std::string* name, Family* family,
                               std::string* answer) const {
  const Words parts = SplitWords(text, '|');
  *answer = kNotUnderstood;
  if (parts.size() != 4) return nullptr;
  Options* const options = ParseOptions(parts[3], answer);
  if (options == nullptr) return nullptr;
  if (!SetComparator(functions_, parts[1], options) ||
      !SetMergeOperator(functions_, parts[2], options)) {
    functions_.options_destroy(options);
    return nullptr;
  }
  *name = parts[0];
  *family = {.handle = nullptr,
             .description = parts[0] + "|" + parts[1] + "|" + parts[2] + "|-",
             .comparator = parts[1],
             .merges = parts[2] != "-",
             .prefix_bytes = PrefixBytesOf(parts[3])};
  return options;
}

std::string Database::Open(const Words& words) {
  if (db_ != nullptr) return "open already";
  std::string answer;
  Options* const options = ParseOptions(words[3], &answer);
  if (options == nullptr) return answer;
  std::vector<Options*> family_options;
  std::vector<Family> families;
  std::vector<std::string> names;
  for (size_t i = 4; i < words.size(); i++) {
    std::string name;
    Family family{};
    Options* const parsed = ParseFamily(words[i], &name, &family, &answer);
    if (parsed == nullptr) break;
    family_options.push_back(parsed);
    families.push_back(family);
    names.push_back(name);
  }
  if (names.size() == words.size() - 4) {
    std::vector<const char*> name_pointers;
    for (const std::string& name : names) name_pointers.push_back(name.c_str());
    std::vector<FamilyHandle*> handles(names.size());
    char* error = nullptr;
    const int count = static_cast<int>(names.size());
    if (words[2] == "secondary") {
      if (functions_.open_as_secondary_column_families != nullptr) {
        db_ = functions_.open_as_secondary_column_families(
            options, words[1].c_str(), (words[1] + "-secondary").c_str(), count,
            name_pointers.data(), family_options.data(), handles.data(), &error);
      }
    } else if (words[2] == "ro") {
      db_ = functions_.open_for_read_only_column_families(
          options, words[1].c_str(), count, name_pointers.data(), family_options.data(),
          handles.data(), 0, &error);
    } else {
      db_ = functions_.open_column_families(options, words[1].c_str(), count, name_pointers.data(),
                                            family_options.data(), handles.data(), &error);
    }
    answer = error == nullptr && db_ == nullptr ? kNotKnown : Outcome(error);
    for (size_t i = 0; db_ != nullptr && i < names.size(); i++) {
      families[i].handle = handles[i];
      families_[names[i]] = families[i];
    }
  }
  for (Options* const parsed : family_options) functions_.options_destroy(parsed);
  functions_.options_destroy(options);
  directory_ = words[1];
  is_writable_ = words[2] == "rw";
  has_dropped_ = false;
  keeps_logs_ = words[3].find("WAL_ttl_seconds=") != std::string::npos;
  if (db_ != nullptr) SetMark();
  return answer;
}

std::string Database::Close() {
  if (db_ == nullptr) return kClosed;
  secondary_.reset();
  while (!cursors_.empty()) DropCursor(cursors_.begin()->first);
  while (!snapshots_.empty()) ReleaseSnapshot(snapshots_.begin()->first);
  for (const auto& [name, family] : families_)
    functions_.column_family_handle_destroy(family.handle);
  families_.clear();
  functions_.close(db_);
  db_ = nullptr;
  return "ok";
}

std::string Database::ListFamilies(const Words& words) {
  Options* const options = functions_.options_create();
  char* error = nullptr;
  size_t count = 0;
  char** const names = functions_.list_column_families(options, words[1].c_str(), &count, &error);
  functions_.options_destroy(options);
  if (error != nullptr) return Outcome(error);
  Words sorted(names, names + count);
  functions_.list_column_families_destroy(names, count);
  std::sort(sorted.begin(), sorted.end());
  std::string answer = "families";
  for (const std::string& name : sorted) answer += " " + name;
  return answer;
}

std::string Database::Write(const Words& words) {
  WriteOptions* const options = functions_.writeoptions_create();
  const std::string& how = words[words[0] == "batch" ? 1 : 2 % words.size()];
  functions_.writeoptions_set_sync(options, how.find('s') != std::string::npos);
  functions_.writeoptions_disable_WAL(options, how.find('n') != std::string::npos);
  const std::string answer =
      words[0] == "batch" ? WriteBatchOf(words, options) : WriteOne(words, options);
  functions_.writeoptions_destroy(options);
  if (how.find('n') != std::string::npos) SetMark();
  return answer;
}

std::string Database::WriteOne(const Words& words, const WriteOptions* options) {
  const std::string& verb = words[0];
  const bool two = verb == "put" || verb == "merge" || verb == "range";
  if (words.size() != (two ? 5u : 4u)) return kNotUnderstood;
  Family* const family = FindFamily(words[1]);
  if (family == nullptr) return kNoFamily;
  const std::string key = Unescape(words[3]);
  const std::string other = two ? Unescape(words[4]) : std::string();
  if (verb == "range" && CompareKeys(family->comparator, key, other) > 0) return kInverted;
  char* error = nullptr;
  if (verb == "put") {
    functions_.put_cf(db_, options, family->handle, key.data(), key.size(), other.data(),
                      other.size(), &error);
  } else if (verb == "merge") {
    functions_.merge_cf(db_, options, family->handle, key.data(), key.size(), other.data(),
                        other.size(), &error);
  } else if (verb == "range") {
    functions_.delete_range_cf(db_, options, family->handle, key.data(), key.size(), other.data(),
                               other.size(), &error);
  } else if (verb == "delete") {
    functions_.delete_cf(db_, options, family->handle, key.data(), key.size(), &error);
  } else {
    functions_.singledelete_cf(db_, options, family->handle, key.data(), key.size(), &error);
  }
  return Outcome(error);
}

std::string Database::WriteBatchOf(const Words& words, const WriteOptions* options) {
  const std::string& how = words[1];
  WriteBatch* batch = functions_.writebatch_create();
  std::string answer = "batch";
  for (size_t at = 2; at < words.size();) {
    const std::string outcome = AddToBatch(words, &at, batch);
    if (outcome != "ok") answer += " (" + outcome + ")";
  }
  size_t bytes = 0;
  const char* const data = functions_.writebatch_data(batch, &bytes);
  if (how.find('r') != std::string::npos) {
    WriteBatch* const copy = functions_.writebatch_create_from(data, bytes);
    functions_.writebatch_destroy(batch);
    batch = copy;
  }
  answer += " " + std::to_string(functions_.writebatch_count(batch));
  if (how.find('d') != std::string::npos) {
    answer += " " + Describe({data, bytes});
  } else {
    char* error = nullptr;
    functions_.write(db_, options, batch, &error);
    answer += " " + Outcome(error);
    // A write puts its sequence number into the first 8 bytes.
    const char* const written = functions_.writebatch_data(batch, &bytes);
    answer += " " + Describe({written + 8, bytes - 8});
  }
  functions_.writebatch_destroy(batch);
  return answer;
}

// Adds the operation at words[*at], and moves *at to the next one.
std::string Database::AddToBatch(const Words& words, size_t* at, WriteBatch* batch) {
  const std::string& verb = words[(*at)++];
  const auto next = [&] { return *at < words.size() ? words[(*at)++] : std::string("%"); };
  char* error = nullptr;
  if (verb == "save") {
    functions_.writebatch_set_save_point(batch);
    return "ok";
  }
  if (verb == "rollback") {
    functions_.writebatch_rollback_to_save_point(batch, &error);
    return Outcome(error);
  }
  if (verb == "pop") {
    functions_.writebatch_pop_save_point(batch, &error);
    return Outcome(error);
  }
  if (verb == "log") {
    const std::string blob = Unescape(next());
    functions_.writebatch_put_log_data(batch, blob.data(), blob.size());
    return "ok";
  }
  Family* const family = FindFamily(next());
  const bool two = verb == "put" || verb == "merge" || verb == "range";
  const std::string key = Unescape(next());
  const std::string other = two ? Unescape(next()) : std::string();
  if (family == nullptr) return kNoFamily;
  if (verb == "range" && CompareKeys(family->comparator, key, other) > 0) return kInverted;
  if (verb == "put") {
    functions_.writebatch_put_cf(batch, family->handle, key.data(), key.size(), other.data(),
                                 other.size());
  } else if (verb == "merge") {
    functions_.writebatch_merge_cf(batch, family->handle, key.data(), key.size(), other.data(),
                                   other.size());
  } else if (verb == "range") {
    functions_.writebatch_delete_range_cf(batch, family->handle, key.data(), key.size(),
                                          other.data(), other.size());
  } else if (verb == "delete") {
    functions_.writebatch_delete_cf(batch, family->handle, key.data(), key.size());
  } else if (verb == "single") {
    functions_.writebatch_singledelete_cf(batch, family->handle, key.data(), key.size());
  } else {
    return kNotUnderstood;
  }
  return "ok";
}

std::string Database::Read(const Words& words) {
  const std::string& verb = words[0];
  const bool one = verb == "get" || verb == "pinned";
  if (one && words.size() != 4) return kNotUnderstood;
  const std::string& slot = verb == "multi" ? words[1 % words.size()] : words[2 % words.size()];
  ReadOptions* const options = functions_.readoptions_create();
  std::string answer = "no snapshot";
  if (SetSnapshot(slot, options)) {
    Family* const family = one ? FindFamily(words[1]) : nullptr;
    const std::string key = one ? Unescape(words[3]) : std::string();
    char* error = nullptr;
    size_t bytes = 0;
    if (verb == "multi") {
      answer = MultiGet(words, options);
    } else if (verb == "many") {
      answer = BatchedMultiGet(words, options);
    } else if (family == nullptr) {
      answer = kNoFamily;
    } else if (verb == "get") {
      char* const value =
          functions_.get_cf(db_, options, family->handle, key.data(), key.size(), &bytes, &error);
      answer = Value(value, bytes, error);
    } else {
      PinnableSlice* const pinned =
          functions_.get_pinned_cf(db_, options, family->handle, key.data(), key.size(), &error);
      answer = error != nullptr ? Outcome(error) : "none";
      if (pinned != nullptr) {
        const char* const value = functions_.pinnableslice_value(pinned, &bytes);
        answer = "value " + Describe({value, bytes});
        functions_.pinnableslice_destroy(pinned);
      }
    }
  }
  functions_.readoptions_destroy(options);
  return answer;
}

std::string Database::MultiGet(const Words& words, const ReadOptions* options) {
  KeyArrays keys;
  std::vector<const FamilyHandle*> handles;
  for (size_t i = 2; i + 1 < words.size(); i += 2) {
    Family* const family = FindFamily(words[i]);
    if (family == nullptr) continue;
    handles.push_back(family->handle);
    keys.Add(words[i + 1]);
  }
  keys.Point();
  const size_t count = handles.size();
  std::vector<char*> values(count), errors(count);
  std::vector<size_t> sizes(count);
  functions_.multi_get_cf(db_, options, handles.data(), count, keys.data.data(), keys.bytes.data(),
                          values.data(), sizes.data(), errors.data());
  std::string answer = "multi";
  for (size_t i = 0; i < count; i++) answer += " " + Value(values[i], sizes[i], errors[i]);
  return answer;
}

std::string Database::BatchedMultiGet(const Words& words, const ReadOptions* options) {
  Family* const family = FindFamily(words[1]);
  if (family == nullptr) return kNoFamily;
  KeyArrays keys;
  for (size_t i = 3; i < words.size(); i++) keys.Add(words[i]);
  keys.Point();
  const size_t count = keys.keys.size();
  std::vector<PinnableSlice*> values(count);
  std::vector<char*> errors(count);
  functions_.batched_multi_get_cf(db_, options, family->handle, count, keys.data.data(),
                                  keys.bytes.data(), values.data(), errors.data(), false);
  std::string answer = "many";
  for (size_t i = 0; i < count; i++) {
    if (values[i] == nullptr) {
      answer += " " + Value(nullptr, 0, errors[i]);
      continue;
    }
    size_t bytes = 0;
    const char* const value = functions_.pinnableslice_value(values[i], &bytes);
    answer += " value " + Describe({value, bytes});
    functions_.pinnableslice_destroy(values[i]);
  }
  return answer;
}

std::string Database::MayExist(const Words& words) {
  Family* const family = FindFamily(words[1]);
  if (family == nullptr) return kNoFamily;
  const std::string key = Unescape(words[2]);
  ReadOptions* const options = functions_.readoptions_create();
  char* guess = nullptr;
  size_t guess_bytes = 0;
  Bool found = 0;
  const bool may_exist =
      functions_.key_may_exist_cf(db_, options, family->handle, key.data(), key.size(), &guess,
                                  &guess_bytes, nullptr, 0, &found) != 0;
  char* error = nullptr;
  size_t bytes = 0;
  char* const value =
      functions_.get_cf(db_, options, family->handle, key.data(), key.size(), &bytes, &error);
  functions_.readoptions_destroy(options);
  std::string answer = "ok";
  if (value != nullptr && !may_exist) answer = "denied " + Describe({value, bytes});
  if (found != 0 && value != nullptr && guess != nullptr &&
      std::string_view(guess, guess_bytes) != std::string_view(value, bytes))
    answer = "guessed " + Describe({guess, guess_bytes});
  if (guess != nullptr && found != 0) functions_.free(guess);
  if (error != nullptr) return Outcome(error);
  functions_.free(value);
  return answer;
}

std::string Database::TakeSnapshot(const std::string& slot) {
  ReleaseSnapshot(slot);
  snapshots_[slot] = functions_.create_snapshot(db_);
  return "ok";
}

std::string Database::ReleaseSnapshot(const std::string& slot) {
  const auto found = snapshots_.find(slot);
  if (found == snapshots_.end()) return "no snapshot";
  functions_.release_snapshot(db_, found->second);
  snapshots_.erase(found);
  return "ok";
}

std::string Database::Create(const Words& words) {
  std::string name, answer;
  Family family{};
  Options* const options = ParseFamily(words[1], &name, &family, &answer);
  if (options == nullptr) return answer;
  char* error = nullptr;
  FamilyHandle* const handle = functions_.create_column_family(db_, options, name.c_str(), &error);
  functions_.options_destroy(options);
  if (error != nullptr) return Outcome(error);
  family.handle = handle;
  families_[name] = family;
  // RocksDB's secondary cannot follow a family that was created after the secondary was opened.
  secondary_.reset();
  return "ok";
}

std::string Database::Drop(const std::string& name) {
  Family* const family = FindFamily(name);
  if (family == nullptr) return kNoFamily;
  secondary_.reset();
  has_dropped_ = true;
  char* error = nullptr;
  functions_.drop_column_family(db_, family->handle, &error);
  if (error == nullptr) {
    // A later family may get the same address.
    for (const auto& [slot, cursor] : cursors_) {
      if (cursor->handle == family->handle) cursor->handle = nullptr;
    }
    functions_.column_family_handle_destroy(family->handle);
    families_.erase(name);
  }
  return Outcome(error);
}

std::string Database::FlushLog(const std::string& how) {
  if (functions_.flush_wal == nullptr) return "ok";
  char* error = nullptr;
  functions_.flush_wal(db_, how == "s" ? 1 : 0, &error);
  return Outcome(error);
}

std::string Database::Maintain(const Words& words) {
  if (words.size() < 2) return kNotUnderstood;
  Family* const family = FindFamily(words[1]);
  if (family == nullptr) return kNoFamily;
  const std::string& verb = words[0];
  if (verb == "compact" && words.size() == 4) return Compact(words, family);
  if (verb == "sizes" && words.size() == 4) return Sizes(words, family);
  if (verb == "set" && words.size() == 4) return SetOption(words, family);
  if ((verb == "property" || verb == "number") && words.size() == 3) return Property(words, family);
  if (verb == "flush") {
    FlushOptions* const options = functions_.flushoptions_create();
    char* error = nullptr;
    if (functions_.flush_cf != nullptr) {
      functions_.flush_cf(db_, options, family->handle, &error);
    } else {
      functions_.flush(db_, options, &error);
    }
    functions_.flushoptions_destroy(options);
    return Outcome(error);
  }
  if (verb == "force") {
    CompactOptions* const options = functions_.compactoptions_create();
    constexpr Bool kForce = 2;
    functions_.compactoptions_set_bottommost_level_compaction(options, kForce);
    functions_.compact_range_cf_opt(db_, family->handle, options, nullptr, 0, nullptr, 0);
    functions_.compactoptions_destroy(options);
    // With snapshots, more than the newest entry of a key may be left.
    if (!snapshots_.empty()) return "ok";
    return Property({"number", words[1], "rocksdb.estimate-num-keys"}, family);
  }
  return kNotUnderstood;
}

std::string Database::Compact(const Words& words, Family* family) {
  std::optional<std::string> start, limit;
  if (words[2] != "-") start = Unescape(words[2]);
  if (words[3] != "-") limit = Unescape(words[3]);
  functions_.compact_range_cf(db_, family->handle, start ? start->data() : nullptr,
                              start ? start->size() : 0, limit ? limit->data() : nullptr,
                              limit ? limit->size() : 0);
  return "ok";
}

std::string Database::Sizes(const Words& words, Family* family) {
  const std::string start = Unescape(words[2]), limit = Unescape(words[3]);
  if (CompareKeys(family->comparator, start, limit) > 0) return kInverted;
  const char* const start_data = start.data();
  const char* const limit_data = limit.data();
  const size_t start_bytes = start.size(), limit_bytes = limit.size();
  uint64_t size = 0;
  char* error = nullptr;
  functions_.approximate_sizes_cf(db_, family->handle, 1, &start_data, &start_bytes, &limit_data,
                                  &limit_bytes, &size, &error);
  if (error != nullptr) return Outcome(error);
  return "about " + std::to_string(size);
}

std::string Database::SetOption(const Words& words, Family* family) {
  const char* const name = words[2].c_str();
  const char* const value = words[3].c_str();
  char* error = nullptr;
  functions_.set_options_cf(db_, family->handle, 1, &name, &value, &error);
  return Outcome(error);
}

std::string Database::Property(const Words& words, Family* family) {
  char* const value = functions_.property_value_cf(db_, family->handle, words[2].c_str());
  if (value == nullptr) return "unknown";
  // A text may have any length and many lines, so the answer only says that it exists.
  const std::string answer = words[0] == "number" ? std::string("number ") + value : "known";
  functions_.free(value);
  return answer;
}

std::string Database::Dump(const Words& words) {
  Family* const family = FindFamily(words[1]);
  if (family == nullptr) return kNoFamily;
  ReadOptions* const options = functions_.readoptions_create();
  functions_.readoptions_set_total_order_seek(options, 1);
  std::string answer = "no snapshot";
  if (SetSnapshot(words[2], options)) {
    DbIterator* const iterator = functions_.create_iterator_cf(db_, options, family->handle);
    ContentsHash hash;
    size_t count = 0;
    std::string keys;
    for (functions_.iter_seek_to_first(iterator); functions_.iter_valid(iterator);
         functions_.iter_next(iterator), count++) {
      size_t bytes = 0;
      const char* data = functions_.iter_key(iterator, &bytes);
      hash.Add({data, bytes});
      if (count < kDumpedKeysMax) keys += " " + Escape({data, bytes});
      data = functions_.iter_value(iterator, &bytes);
      hash.Add({data, bytes});
    }
    char* error = nullptr;
    functions_.iter_get_error(iterator, &error);
    functions_.iter_destroy(iterator);
    answer = error != nullptr
                 ? Outcome(error)
                 : "keys " + std::to_string(count) + " " + HexNumber(hash.value()) + keys;
  }
  functions_.readoptions_destroy(options);
  return answer;
}

Database::Family* Database::FindFamily(const std::string& name) {
  const auto found = families_.find(name);
  return found == families_.end() ? nullptr : &found->second;
}

bool Database::SetSnapshot(const std::string& slot, ReadOptions* options) const {
  if (slot == "-") return true;
  const auto found = snapshots_.find(slot);
  if (found == snapshots_.end()) return false;
  functions_.readoptions_set_snapshot(options, found->second);
  return true;
}

std::string Database::Outcome(char* error) const {
  if (error == nullptr) return "ok";
  std::string text = error;
  functions_.free(error);
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), kEndOfError, ' ');
  return "error " + text + kEndOfError;
}

std::string Database::Value(char* value, size_t bytes, char* error) const {
  std::string answer = error != nullptr ? Outcome(error) : "none";
  if (value != nullptr) {
    answer = "value " + Describe({value, bytes});
    functions_.free(value);
  }
  return answer;
}

}  // namespace ashlar::differential

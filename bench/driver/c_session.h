// CSession: the part of a Session that is the same for LevelDB's and RocksDB's C interfaces. Both
// have functions with the same names, on different handles.
//
// `Api` holds the functions (put, get, create_iterator, iter_*, readoptions_*, writeoptions_*,
// free) and names the handles: Api::Db, Api::ReadOptions, Api::WriteOptions, Api::Iterator. The
// measured loops are here. A call costs the library's time plus one call through a pointer.
//
// Thread safety: as Session. It does not own the database.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/driver/engine.h"
#include "bench/driver/fail.h"

namespace ashlar::bench {

// Ends the process if the call left an error, and as not available if the error is that a feature
// is missing.
template <typename Api>
void CheckError(const Api& api, char* error, const char* during) {
  if (error == nullptr) [[likely]]
    return;
  const std::string message = std::string(during) + ": " + error;
  api.free(error);
  if (message.find("Not implemented") != std::string::npos ||
      message.find("NotSupported") != std::string::npos)
    NotAvailable(message);
  Fail(message);
}

template <typename Api>
class CSession : public Session {
 public:
  CSession(const Api& api, typename Api::Db* db, bool sync)
      : api_(api), db_(db), read_(api.readoptions_create()), write_(api.writeoptions_create()) {
    api.writeoptions_set_sync(write_, sync);
  }
  ~CSession() override {
    if (kept_ != nullptr) api_.iter_destroy(kept_);
    api_.writeoptions_destroy(write_);
    api_.readoptions_destroy(read_);
  }

  void Put(std::string_view key, std::string_view value) override {
    char* error = nullptr;
    api_.put(db_, write_, key.data(), key.size(), value.data(), value.size(), &error);
    CheckError(api_, error, "put");
  }

  void GetCopied(std::string_view key, Tally* tally) override {
    char* error = nullptr;
    size_t value_bytes = 0;
    char* const value = api_.get(db_, read_, key.data(), key.size(), &value_bytes, &error);
    CheckError(api_, error, "get");
    if (value == nullptr) return;
    tally->Add(value, value_bytes);
    api_.free(value);
  }

  void Seek(std::string_view key, uint64_t next, Tally* tally) override {
    Iterator* const iterator = api_.create_iterator(db_, read_);
    SeekAndNext(iterator, key, next, tally);
    api_.iter_destroy(iterator);
  }

  void SeekKept(std::string_view key, uint64_t next, Tally* tally) override {
    if (kept_ == nullptr) kept_ = api_.create_iterator(db_, read_);
    SeekAndNext(kept_, key, next, tally);
  }

  void SeekPrefix(std::string_view key, size_t prefix_bytes, Tally* tally) override {
    const std::string_view prefix = key.substr(0, prefix_bytes);
    Iterator* const iterator = api_.create_iterator(db_, prefix_read());
    for (api_.iter_seek(iterator, key.data(), key.size()); api_.iter_valid(iterator);
         api_.iter_next(iterator)) {
      size_t found_bytes = 0;
      const char* const found = api_.iter_key(iterator, &found_bytes);
      if (!std::string_view(found, found_bytes).starts_with(prefix)) break;
      AddValue(iterator, tally);
    }
    CheckAndDestroy(iterator);
  }

  void SeekToFirst(Tally* tally) override {
    Iterator* const iterator = api_.create_iterator(db_, read_);
    api_.iter_seek_to_first(iterator);
    if (api_.iter_valid(iterator)) AddValue(iterator, tally);
    CheckAndDestroy(iterator);
  }

  void PopFirst(Tally* tally) override {
    Iterator* const iterator = api_.create_iterator(db_, read_);
    api_.iter_seek_to_first(iterator);
    if (api_.iter_valid(iterator)) {
      AddValue(iterator, tally);
      size_t key_bytes = 0;
      const char* const key = api_.iter_key(iterator, &key_bytes);
      Delete({key, key_bytes});
    }
    CheckAndDestroy(iterator);
  }

  uint64_t ScanForward(uint64_t limit, Tally* tally) override {
    Iterator* const iterator = api_.create_iterator(db_, read_);
    uint64_t entries = 0;
    for (api_.iter_seek_to_first(iterator); entries < limit && api_.iter_valid(iterator);
         api_.iter_next(iterator), entries++)
      AddValue(iterator, tally);
    CheckAndDestroy(iterator);
    return entries;
  }

  uint64_t ScanBackward(uint64_t limit, Tally* tally) override {
    Iterator* const iterator = api_.create_iterator(db_, read_);
    uint64_t entries = 0;
    for (api_.iter_seek_to_last(iterator); entries < limit && api_.iter_valid(iterator);
         api_.iter_prev(iterator), entries++)
      AddValue(iterator, tally);
    CheckAndDestroy(iterator);
    return entries;
  }

  uint64_t HashContents() override {
    ContentsHash hash;
    // Bypasses the cache, because the check between two workloads must not fill the cache of the
    // second one.
    typename Api::ReadOptions* const past_cache = api_.readoptions_create();
    api_.readoptions_set_fill_cache(past_cache, 0);
    Iterator* const iterator = api_.create_iterator(db_, past_cache);
    for (api_.iter_seek_to_first(iterator); api_.iter_valid(iterator); api_.iter_next(iterator)) {
      size_t bytes = 0;
      const char* data = api_.iter_key(iterator, &bytes);
      hash.Add(data, bytes);
      data = api_.iter_value(iterator, &bytes);
      hash.Add(data, bytes);
    }
    CheckAndDestroy(iterator);
    api_.readoptions_destroy(past_cache);
    return hash.value();
  }

 protected:
  using Iterator = typename Api::Iterator;

  void SeekAndNext(Iterator* iterator, std::string_view key, uint64_t next, Tally* tally) {
    api_.iter_seek(iterator, key.data(), key.size());
    for (uint64_t i = 0; api_.iter_valid(iterator); i++) {
      AddValue(iterator, tally);
      if (i == next) return;
      api_.iter_next(iterator);
    }
    CheckIterator(iterator);
  }

  // The read options of SeekPrefix, for a library with an option to stay within a prefix.
  virtual const typename Api::ReadOptions* prefix_read() const { return read_; }

  const Api& api_;
  typename Api::Db* const db_;
  typename Api::ReadOptions* const read_;
  typename Api::WriteOptions* const write_;

 private:
  void AddValue(const Iterator* iterator, Tally* tally) {
    size_t value_bytes = 0;
    const char* const value = api_.iter_value(iterator, &value_bytes);
    tally->Add(value, value_bytes);
  }

  void CheckIterator(const Iterator* iterator) {
    char* error = nullptr;
    api_.iter_get_error(iterator, &error);
    CheckError(api_, error, "iterator");
  }

  void CheckAndDestroy(Iterator* iterator) {
    CheckIterator(iterator);
    api_.iter_destroy(iterator);
  }

  Iterator* kept_ = nullptr;
};

}  // namespace ashlar::bench

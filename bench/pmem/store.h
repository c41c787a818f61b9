// Store: the operations that the benchmark runs on each tree on persistent memory, and the counts
// of durable bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace ashlar::bench {

struct Durables {
  uint64_t fences = 0;
  uint64_t lines = 0;  // of 64 bytes, flushed

  Durables operator-(const Durables& before) const {
    return {.fences = fences - before.fences, .lines = lines - before.lines};
  }
};

// Thread safety: one thread, except for Has and for changes of this library's trees. Failures end
// the process with a message.
class Store {
 public:
  virtual ~Store() = default;
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Inserts or replaces.
  virtual void Put(std::string_view key, std::string_view value) = 0;
  virtual void Remove(std::string_view key) = 0;
  // Returns the size of the value, or 0 if there is none. Reads every byte of it.
  virtual uint64_t Get(std::string_view key) = 0;

  virtual bool Has(std::string_view key) = 0;

  virtual uint64_t Splits() const = 0;
  // Bytes of the pool in use by entries and by their index.
  virtual uint64_t UsedBytes() const = 0;
  // The counts since the process began. Only a store that was opened to count has them.
  virtual Durables Counted() const = 0;
};

struct StoreRequest {
  std::string kind;  // see README.md
  std::string path;
  uint64_t pool_bytes = 0;
  bool create = true;
  bool flush = true;    // false: caches are durable, so lines need no flush
  bool logged = false;  // on a file: durable by a log or msync
  bool sync = true;     // if logged: false does not sync the log
  bool count = false;
};

// ashlar, ashlar-copy-or-swap, ashlar-naive-copy.
std::unique_ptr<Store> OpenAshlar(const StoreRequest& request);
// pmdk-zero-copy, pmdk-copy-or-swap, pmdk-naive-copy.
std::unique_ptr<Store> OpenPmdk(const StoreRequest& request);

[[noreturn]] void Fail(const std::string& what);

// Reads the value as a program that uses it would.
inline uint64_t LookAt(std::string_view value) {
  uint64_t sum = 0;
  size_t at = 0;
  for (uint64_t word; at + sizeof(word) <= value.size(); at += sizeof(word)) {
    memcpy(&word, value.data() + at, sizeof(word));
    sum ^= word;
  }
  for (; at < value.size(); ++at) sum ^= static_cast<unsigned char>(value[at]);
  return sum == 0x5bd1e9955bd1e995u ? 0 : value.size();
}

}  // namespace ashlar::bench

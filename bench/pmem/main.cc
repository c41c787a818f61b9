// Measures one store with one size of entries, and prints the figures as one line of JSON. run.py
// starts it.
//
//   bench_pmem STORE PATH ENTRIES KEY_BYTES VALUE_BYTES flush|noflush|logged|unsynced WHAT
//
//   WHAT        time          every operation, one thread
//               count         fences and lines
//               threads       1 and 4 threads; trees of this library only
//               checkpoint    random updates of a pool with a log: the longest, the bytes written
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "base/random.h"
#include "bench/pmem/store.h"

namespace ashlar::bench {

void Fail(const std::string& what) {
  fprintf(stderr, "bench_pmem: %s\n", what.c_str());
  std::exit(1);
}

namespace {

uint64_t ProcessorNanos() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}
uint64_t WallNanos() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t OrdinaryBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Keys in the order in which they are used, made before the clock runs.
class Keys {
 public:
  explicit Keys(size_t key_bytes) : key_bytes_(key_bytes) {}
  void Add(uint64_t number) {
    bytes_.resize(bytes_.size() + key_bytes_);
    for (size_t at = bytes_.size(), left = key_bytes_; left > 0; --left, number /= 10)
      bytes_[--at] = static_cast<char>('0' + number % 10);
  }
  std::string_view operator[](uint64_t i) const {
    return {bytes_.data() + i * key_bytes_, key_bytes_};
  }

 private:
  const size_t key_bytes_;
  std::string bytes_;
};

struct Run {
  StoreRequest request;
  uint64_t entries;
  size_t key_bytes;
  std::string value;

  Keys Ascending() const {
    Keys keys(key_bytes);
    for (uint64_t i = 0; i < entries; ++i) keys.Add(i);
    return keys;
  }
  std::vector<uint64_t> ShuffledNumbers(uint64_t seed) const {
    std::vector<uint64_t> numbers(entries);
    for (uint64_t i = 0; i < entries; ++i) numbers[i] = i;
    Random random(seed);
    for (uint64_t i = entries; i > 1; --i) std::swap(numbers[i - 1], numbers[random.Uniform(i)]);
    return numbers;
  }
  // Returns the same keys in random order.
  Keys Shuffled(uint64_t seed) const {
    Keys keys(key_bytes);
    for (const uint64_t number : ShuffledNumbers(seed)) keys.Add(number);
    return keys;
  }
  std::unique_ptr<Store> Open(bool create) const {
    StoreRequest now = request;
    now.create = create;
    if (create) {
      std::remove(request.path.c_str());
      std::remove((request.path + ".log").c_str());
    }
    return request.kind.starts_with("ashlar") ? OpenAshlar(now) : OpenPmdk(now);
  }
};

template <typename Body>
void Time(nlohmann::json* row, const char* name, uint64_t operations, const Body& body) {
  const uint64_t wall = WallNanos();
  const uint64_t processor = ProcessorNanos();
  body();
  const auto per = [&](uint64_t nanos) {
    return static_cast<double>(nanos) / static_cast<double>(operations);
  };
  (*row)[std::string(name) + "_ns"] = per(ProcessorNanos() - processor);
  (*row)[std::string(name) + "_wall_ns"] = per(WallNanos() - wall);
}

void TimeAll(const Run& run, nlohmann::json* row) {
  {
    const std::unique_ptr<Store> store = run.Open(true);
    const Keys ascending = run.Ascending();
    Time(row, "sequential_put", run.entries, [&] {
      for (uint64_t i = 0; i < run.entries; ++i) store->Put(ascending[i], run.value);
    });
    (*row)["sequential_bytes"] =
        static_cast<double>(store->UsedBytes()) / static_cast<double>(run.entries);
  }
  const Keys order = run.Shuffled(1);
  const Keys other = run.Shuffled(2);
  const uint64_t memory = OrdinaryBytes();
  {
    const std::unique_ptr<Store> store = run.Open(true);
    Time(row, "random_put", run.entries, [&] {
      for (uint64_t i = 0; i < run.entries; ++i) store->Put(order[i], run.value);
    });
    (*row)["random_bytes"] =
        static_cast<double>(store->UsedBytes()) / static_cast<double>(run.entries);
    (*row)["memory_bytes"] =
        static_cast<double>(OrdinaryBytes() - memory) / static_cast<double>(run.entries);
  }
  std::unique_ptr<Store> store;
  // The best of several opens, because a single one is short and other processes affect it.
  constexpr int kOpens = 5;
  nlohmann::json opens;
  for (int i = 0; i < kOpens; ++i) {
    store.reset();
    Time(&opens, "open", run.entries, [&] { store = run.Open(false); });
    for (const auto& [name, figure] : opens.items())
      (*row)[name] = i == 0 ? figure : std::min((*row)[name], figure);
  }
  for (const char* name : {"warming_get", "random_get"}) {
    Time(row, name, run.entries, [&] {
      for (uint64_t i = 0; i < run.entries; ++i) {
        if (store->Get(other[i]) != run.value.size()) Fail("a value is missing");
      }
    });
  }
  {
    // Each key is in memory that no other operation has touched lately.
    const Keys ascending = run.Ascending();
    const std::vector<uint64_t> numbers = run.ShuffledNumbers(3);
    Time(row, "scattered_get", run.entries, [&] {
      for (const uint64_t number : numbers) {
        if (store->Get(ascending[number]) != run.value.size()) Fail("a value is missing");
      }
    });
  }
  const std::string another(run.value.size(), 'w');
  Time(row, "update", run.entries, [&] {
    for (uint64_t i = 0; i < run.entries; ++i) store->Put(order[i], another);
  });
  Time(row, "remove", run.entries, [&] {
    for (uint64_t i = 0; i < run.entries; ++i) store->Remove(other[i]);
  });
}

// Reports medians, because now and then an operation takes space for many.
void CountAll(const Run& run, nlohmann::json* row) {
  const std::unique_ptr<Store> store = run.Open(true);
  std::map<std::string, std::vector<Durables>> costs;
  const auto count = [&](const char* name, const auto& body) {
    const uint64_t splits = store->Splits();
    const Durables before = store->Counted();
    body();
    costs[store->Splits() == splits ? name : "split"].push_back(store->Counted() - before);
  };
  const Keys order = run.Shuffled(1);
  for (uint64_t n = 0; n < run.entries; ++n)
    count("insert", [&] { store->Put(order[n], run.value); });
  const std::string another(run.value.size(), 'w');
  for (uint64_t n = 0; n < run.entries / 4; ++n)
    count("update", [&] { store->Put(order[n], another); });
  for (uint64_t n = 0; n < run.entries / 4; ++n) count("remove", [&] { store->Remove(order[n]); });
  for (auto& [name, list] : costs) {
    const auto median = [&](uint64_t Durables::* figure) {
      std::nth_element(list.begin(), list.begin() + static_cast<ptrdiff_t>(list.size() / 2),
                       list.end(),
                       [&](const Durables& a, const Durables& b) { return a.*figure < b.*figure; });
      return list[list.size() / 2].*figure;
    };
    (*row)[name + "_fences"] = median(&Durables::fences);
    (*row)[name + "_lines"] = median(&Durables::lines);
  }
}

// Times threads that put, get, update and remove keys of their own.
void TimeThreads(const Run& run, nlohmann::json* row) {
  if (!run.request.kind.starts_with("ashlar")) Fail("the peers have no locks");
  const Keys order = run.Shuffled(1);
  const std::string another(run.value.size(), 'w');
  for (const uint64_t threads : {uint64_t{1}, uint64_t{4}}) {
    const std::unique_ptr<Store> store = run.Open(true);
    const std::string suffix = "_" + std::to_string(threads);
    const auto time = [&](const std::string& name, const auto& operation) {
      Time(row, (name + suffix).c_str(), run.entries, [&] {
        std::vector<std::thread> running;
        for (uint64_t thread = 0; thread < threads; ++thread) {
          running.emplace_back([&, thread] {
            for (uint64_t i = thread; i < run.entries; i += threads) operation(order[i]);
          });
        }
        for (std::thread& thread : running) thread.join();
      });
    };
    time("put", [&](std::string_view key) { store->Put(key, run.value); });
    time("get", [&](std::string_view key) {
      if (!store->Has(key)) Fail("a value is missing");
    });
    time("update", [&](std::string_view key) { store->Put(key, another); });
    time("remove", [&](std::string_view key) { store->Remove(key); });
  }
}

// Returns the number after a name in a file of /proc.
uint64_t ProcNumber(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    if (word != name) continue;
    uint64_t number = 0;
    file >> number;
    return number;
  }
  Fail("no " + name + " in " + path);
}

// Times random updates of a pool with a log, during which checkpoints are made.
void TimeCheckpoints(const Run& run, nlohmann::json* row) {
  constexpr uint64_t kOperationsPerLook = 4096;
  const auto written = [] { return ProcNumber("/proc/self/io", "wchar:"); };
  const auto memory = [] { return ProcNumber("/proc/self/status", "RssAnon:") * 1024; };
  const Keys ascending = run.Ascending();
  {
    const std::unique_ptr<Store> store = run.Open(true);
    for (uint64_t i = 0; i < run.entries; ++i) store->Put(ascending[i], run.value);
  }
  const uint64_t updates = std::min<uint64_t>(run.entries, 1'500'000);
  const std::unique_ptr<Store> store = run.Open(false);
  const std::string another(run.value.size(), 'w');
  Random random(4);
  const uint64_t written_before = written();
  const uint64_t memory_before = memory();
  uint64_t memory_max = memory_before;
  std::vector<uint64_t> nanos;
  nanos.reserve(updates);
  Time(row, "update", updates, [&] {
    for (uint64_t i = 0; i < updates; ++i) {
      const std::string_view key = ascending[random.Uniform(run.entries)];
      const uint64_t begin = WallNanos();
      store->Put(key, another);
      nanos.push_back(WallNanos() - begin);
      if (i % kOperationsPerLook == 0) memory_max = std::max(memory_max, memory());
    }
  });
  (*row)["bytes_per_update"] =
      static_cast<double>(written() - written_before) / static_cast<double>(updates);
  (*row)["private_bytes_max"] = memory_max - memory_before;
  std::sort(nanos.begin(), nanos.end());
  (*row)["longest_update_us"] = nanos.back() / 1000;
  (*row)["update_p9999_us"] = nanos[nanos.size() - 1 - nanos.size() / 10'000] / 1000;
}

int Main(int argc, char** argv) {
  if (argc != 8) {
    Fail(
        "bench_pmem STORE PATH ENTRIES KEY_BYTES VALUE_BYTES flush|noflush|logged|unsynced "
        "time|count|threads|checkpoint");
  }
  const std::string mode = argv[6];
  const std::string what = argv[7];
  const bool count = what == "count";
  Run run = {.request = {.kind = argv[1],
                         .path = argv[2],
                         .flush = mode != "noflush",
                         .logged = mode == "logged" || mode == "unsynced",
                         .sync = mode != "unsynced",
                         .count = count},
             .entries = strtoull(argv[3], nullptr, 10),
             .key_bytes = strtoull(argv[4], nullptr, 10),
             .value = std::string(strtoull(argv[5], nullptr, 10), 'v')};
  // The peers need the most: half-full leaves, and 16 bytes more for each object.
  constexpr uint64_t kPageBytes = 4096;
  run.request.pool_bytes =
      ((uint64_t{64} << 20) + run.entries * (run.key_bytes + run.value.size() + 400)) / kPageBytes *
      kPageBytes;
  nlohmann::json row = {{"store", run.request.kind},
                        {"entries", run.entries},
                        {"key_bytes", run.key_bytes},
                        {"value_bytes", run.value.size()},
                        {"mode", mode}};
  if (count) {
    CountAll(run, &row);
  } else if (what == "threads") {
    TimeThreads(run, &row);
  } else if (what == "checkpoint") {
    TimeCheckpoints(run, &row);
  } else {
    TimeAll(run, &row);
  }
  printf("%s\n", row.dump().c_str());
  std::remove(run.request.path.c_str());
  return 0;
}

}  // namespace
}  // namespace ashlar::bench

int main(int argc, char** argv) { return ashlar::bench::Main(argc, argv); }

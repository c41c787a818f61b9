#include "bench/driver/workloads.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <optional>
#include <thread>

#include "bench/driver/copies.h"
#include "bench/driver/fail.h"
#include "bench/driver/instruction_counter.h"

namespace ashlar::bench {

namespace {

constexpr uint64_t kKeysPerMultiGet = 32;
constexpr uint64_t kNextPerSeek = 10;
constexpr uint64_t kKeyBytesMax = 1024;

// Seeds of the access patterns: different from one another, the same in every process.
enum Pattern : uint64_t {
  kLoadOrder = 101,
  kOverwriteOrder,
  kReadOrder,
  kWarmOrder,
  kSideOrder,
  kDeleteOrder
};

// Returns the part of a sequence for one of several threads.
std::span<const uint32_t> PartOf(std::span<const uint32_t> whole, uint64_t part, uint64_t parts) {
  const size_t begin = whole.size() * part / parts;
  const size_t end = whole.size() * (part + 1) / parts;
  return whole.subspan(begin, end - begin);
}

// Needed because two libraries that lack the same keys have the same tally.
void FailUnlessAllFound(const Result& result) {
  if (result.tally.found == result.operations) return;
  Fail(result.workload + ": " + std::to_string(result.tally.found) + " of " +
       std::to_string(result.operations) + " keys found");
}

void Note(uint64_t done, Progress* progress) {
  if (done % 64 == 0) progress->operations.store(done, std::memory_order_relaxed);
}

}  // namespace

struct Runner::Workload {
  std::string_view name;
  void (Runner::*run)(Result* result);
  bool reads;  // Warm or ForgetFiles runs first
};

std::span<const Runner::Workload> Runner::Workloads() {
  static constexpr Workload kTable[] = {
      {"fillseq", &Runner::FillSequential, false},
      {"fillrandom", &Runner::FillRandom, false},
      {"overwrite", &Runner::Overwrite, false},
      {"overwritesteady", &Runner::OverwriteUntilSteady, false},
      {"mixsteady", &Runner::MixUntilSteady, false},
      {"compact", &Runner::Compact, false},
      {"flush", &Runner::Flush, false},
      {"putbuffered", &Runner::PutBuffered, false},
      {"deleteranges", &Runner::DeleteRanges, false},
      {"deletewide", &Runner::DeleteWide, false},
      {"deletefront", &Runner::DeleteFront, false},
      {"deleteadjacent", &Runner::DeleteAdjacent, false},
      {"deletebeginning", &Runner::DeleteBeginning, false},
      {"deleterandom", &Runner::DeleteRandom, false},
      {"firstseek", &Runner::FirstSeek, false},
      {"firstseekflushed", &Runner::FirstSeekFlushed, false},
      {"popqueue", &Runner::PopQueue, false},
      {"putandtail", &Runner::PutAndTail, false},
      {"writetables", &Runner::WriteTablesOnly, false},
      {"ingest", &Runner::Ingest, false},
      {"writewhileingesting", &Runner::WriteBesideIngestion, false},
      {"checkpoint", &Runner::Checkpoint, false},
      {"readlogs", &Runner::ReadLogs, false},
      {"opensecondary", &Runner::OpenSecondary, false},
      {"catchup", &Runner::CatchUp, false},
      {"createfamilies", &Runner::CreateFamilies, false},
      {"createfamiliesatonce", &Runner::CreateFamiliesAtOnce, false},
      {"openfamilies", &Runner::OpenFamilies, false},
      {"readrandom", &Runner::ReadRandom, true},
      {"readcopied", &Runner::ReadCopied, true},
      {"readmissing", &Runner::ReadMissing, true},
      {"readskewed", &Runner::ReadSkewed, true},
      {"multiget", &Runner::MultiGet, true},
      {"seek", &Runner::SeekOnly, true},
      {"seeknew", &Runner::SeekNew, true},
      {"seekfirst", &Runner::SeekFirst, true},
      {"seek10", &Runner::SeekTen, true},
      {"seek10kept", &Runner::SeekTenKept, true},
      {"readseq", &Runner::ReadForward, true},
      {"readreverse", &Runner::ReadBackward, true},
      {"readwhilewriting", &Runner::ReadWhileWriting, true},
      {"prefixwhilewriting", &Runner::PrefixWhileWriting, true},
  };
  return kTable;
}

std::vector<std::string> Runner::WorkloadNames() {
  std::vector<std::string> names;
  for (const Workload& workload : Workloads()) names.emplace_back(workload.name);
  return names;
}

Runner::Runner(const RunOptions& options, Engine* engine)
    : options_(options), dataset_(options.dataset), engine_(engine) {
  if (options.dataset.key_bytes > kKeyBytesMax) Fail("--key-bytes is too large");
}

void Runner::Load(std::span<const uint32_t> order, bool merge) {
  const std::unique_ptr<Session> session = engine_->NewSession({.log = false, .sync = false});
  char key[kKeyBytesMax];
  const size_t key_bytes = dataset_.options().key_bytes;
  for (const uint32_t number : order) {
    dataset_.MakeKey(number, key);
    if (merge) {
      session->Merge({key, key_bytes}, dataset_.Value(number, 0));
    } else {
      session->Put({key, key_bytes}, dataset_.Value(number, 0));
    }
  }
}

void Runner::Prepare() {
  if (options_.shape == Shape::kEmpty) return;
  const std::vector<uint32_t> order = Shuffled(dataset_.num(), kLoadOrder);
  switch (options_.shape) {
    case Shape::kEmpty: break;
    case Shape::kCompacted:
      Load(order, false);
      engine_->CompactAll();
      break;
    case Shape::kRuns:
      for (uint64_t run = 0; run < options_.runs; run++) {
        Load(PartOf(order, run, options_.runs), false);
        engine_->Flush();
      }
      break;
    case Shape::kMemtable: Load(order, false); break;
    case Shape::kMerged:
      Load(order, false);
      engine_->Flush();
      Load(order, true);
      engine_->Flush();
      break;
  }
  engine_->WaitForBackgroundWork();
}

void Runner::Warm() {
  if (warm_ || !options_.warm) return;
  warm_ = true;
  const std::unique_ptr<Session> session = engine_->NewSession({});
  Tally tally;
  // Tables and memtables that are hashed by prefix have no total order.
  if (options_.engine.table != TableKind::kPlain) session->ScanForward(dataset_.num(), &tally);
  char key[kKeyBytesMax];
  for (const uint32_t number :
       Uniform(dataset_.num(), std::min<uint64_t>(dataset_.num(), 50000), kWarmOrder)) {
    dataset_.MakeKey(number, key);
    session->Get({key, dataset_.options().key_bytes}, &tally);
  }
}

Result Runner::Run(const Task& task) {
  const auto workloads = Workloads();
  const auto found =
      std::find_if(workloads.begin(), workloads.end(),
                   [&](const Workload& workload) { return workload.name == task.workload; });
  if (found == workloads.end()) Fail("no workload is called " + task.workload);
  task_ = task;
  if (found->reads && options_.cold) {
    ForgetFiles(options_.engine.dir);
  } else if (found->reads) {
    Warm();
  } else {
    warm_ = false;
  }
  Result result;
  result.workload = task.workload;
  (this->*found->run)(&result);
  result.folder_bytes = FolderBytes(options_.engine.dir);
  return result;
}

void Runner::Measure(const Body& body, const Rest& rest, Result* result) {
  const uint64_t threads = task_.threads;
  std::vector<Progress> progress(threads);
  std::vector<Tally> tallies(threads);
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<std::unique_ptr<LapClock>> laps;
  for (uint64_t i = 0; i < threads; i++) {
    sessions.push_back(engine_->NewSession({.log = options_.log, .sync = options_.sync}));
    laps.push_back(std::make_unique<LapClock>(options_.latencies));
  }

  const CopyCounter* const copies = FindCopyCounter();
  ResetPeakMemory();
  Usage before;
  if (copies != nullptr) copies->start(dataset_.options().value_bytes);
  std::optional<Sampler> sampler;
  if (threads == 1) {
    // On the calling thread, so that callgrind counts this loop and no starting of threads.
    sampler.emplace(engine_, &progress, options_.sample_ms);
    before = ReadUsage();
    if (options_.count_instructions) StartCountingInstructions();
    laps[0]->Start();
    body(0, sessions[0].get(), laps[0].get(), &progress[0], &tallies[0]);
    if (options_.count_instructions) StopCountingInstructions();
  } else {
    std::barrier start(static_cast<std::ptrdiff_t>(threads) + 1);
    std::vector<std::thread> running;
    for (uint64_t i = 0; i < threads; i++) {
      running.emplace_back([&, i] {
        start.arrive_and_wait();
        laps[i]->Start();
        body(i, sessions[i].get(), laps[i].get(), &progress[i], &tallies[i]);
      });
    }
    sampler.emplace(engine_, &progress, options_.sample_ms);
    before = ReadUsage();
    start.arrive_and_wait();
    for (std::thread& thread : running) thread.join();
  }
  if (copies != nullptr) {
    copies->stop(&result->copied_bytes, &result->copied_values);
    result->copies_counted = true;
  }
  result->foreground_s = Difference(ReadUsage(), before).wall_s;
  if (rest && !options_.count_instructions) rest();
  result->usage = Difference(ReadUsage(), before);
  result->samples = sampler->Stop();
  result->peak_memory_bytes = PeakMemoryBytes();
  for (uint64_t i = 0; i < threads; i++) {
    result->tally.Add(tallies[i]);
    result->latencies.Add(laps[i]->histogram());
  }
}

void Runner::Write(std::span<const uint32_t> order, uint64_t generation, Result* result) {
  const size_t key_bytes = dataset_.options().key_bytes;
  const auto body = [&](uint64_t thread, Session* session, LapClock* laps, Progress* progress,
                        Tally* /*tally*/) {
    char key[kKeyBytesMax];
    uint64_t done = 0;
    for (const uint32_t number : PartOf(order, thread, task_.threads)) {
      dataset_.MakeKey(number, key);
      session->Put({key, key_bytes}, dataset_.Value(number, generation));
      laps->Lap();
      Note(++done, progress);
      if (options_.wait_every != 0 && done % options_.wait_every == 0)
        engine_->WaitForBackgroundWork();
    }
    progress->operations.store(done, std::memory_order_relaxed);
  };
  const auto rest = [this] {
    if (options_.engine.bulk_load) {
      engine_->CompactAll();
    } else {
      engine_->Flush();
      engine_->WaitForBackgroundWork();
    }
  };
  result->operations = order.size();
  Measure(body, rest, result);
  if (!options_.count_instructions) result->contents_hash = engine_->NewSession({})->HashContents();
}

void Runner::FillSequential(Result* result) { Write(InOrder(dataset_.num()), 0, result); }

void Runner::FillRandom(Result* result) { Write(Shuffled(dataset_.num(), kLoadOrder), 0, result); }

void Runner::Overwrite(Result* result) {
  std::vector<uint32_t> order = Uniform(dataset_.num(), task_.operations, kOverwriteOrder);
  // If threads wrote the same key, chance would decide which value remains.
  if (task_.threads > 1) {
    order = Shuffled(dataset_.num(), kOverwriteOrder);
    order.resize(std::min(order.size(), task_.operations));
  }
  Write(order, 1, result);
}

void Runner::Compact(Result* result) {
  result->operations = dataset_.num();
  Measure([](uint64_t, Session*, LapClock*, Progress*, Tally*) {},
          [this] { engine_->CompactAll(); }, result);
  result->contents_hash = engine_->NewSession({})->HashContents();
}

void Runner::Flush(Result* result) {
  result->operations = 1;
  Measure([](uint64_t, Session*, LapClock*, Progress*, Tally*) {},
          [this] {
            engine_->Flush();
            engine_->WaitForBackgroundWork();
          },
          result);
  result->contents_hash = engine_->NewSession({})->HashContents();
}

void Runner::Change(std::span<const uint32_t> order, Operation operation, Result* result) {
  Read(order, operation, result);
  if (!options_.count_instructions) result->contents_hash = engine_->NewSession({})->HashContents();
}

void Runner::Read(std::span<const uint32_t> order, Operation operation, Result* result) {
  const auto body = [&](uint64_t thread, Session* session, LapClock* laps, Progress* progress,
                        Tally* tally) {
    char key[kKeyBytesMax];
    uint64_t done = 0;
    for (const uint32_t number : PartOf(order, thread, task_.threads)) {
      operation(dataset_, session, number, key, tally);
      laps->Lap();
      Note(++done, progress);
    }
    progress->operations.store(done, std::memory_order_relaxed);
  };
  result->operations = order.size();
  Measure(body, nullptr, result);
}

void Runner::ReadExisting(std::span<const uint32_t> order, Operation operation, Result* result) {
  Read(order, operation, result);
  FailUnlessAllFound(*result);
}

namespace {

void GetOne(const Dataset& dataset, Session* session, uint32_t number, char* key, Tally* tally) {
  dataset.MakeKey(number, key);
  session->Get({key, dataset.options().key_bytes}, tally);
}

void GetOneCopied(const Dataset& dataset, Session* session, uint32_t number, char* key,
                  Tally* tally) {
  dataset.MakeKey(number, key);
  session->GetCopied({key, dataset.options().key_bytes}, tally);
}

void GetOneMissing(const Dataset& dataset, Session* session, uint32_t number, char* key,
                   Tally* tally) {
  dataset.MakeMissingKey(number, key);
  session->Get({key, dataset.options().key_bytes}, tally);
}

void SeekOne(const Dataset& dataset, Session* session, uint32_t number, char* key, Tally* tally) {
  dataset.MakeKey(number, key);
  session->SeekKept({key, dataset.options().key_bytes}, 0, tally);
}

void SeekOneNew(const Dataset& dataset, Session* session, uint32_t number, char* key,
                Tally* tally) {
  dataset.MakeKey(number, key);
  session->Seek({key, dataset.options().key_bytes}, 0, tally);
}

void SeekToTheFirst(const Dataset& /*dataset*/, Session* session, uint32_t /*number*/,
                    char* /*key*/, Tally* tally) {
  session->SeekToFirst(tally);
}

void PopTheFirst(const Dataset& /*dataset*/, Session* session, uint32_t /*number*/, char* /*key*/,
                 Tally* tally) {
  session->PopFirst(tally);
}

void PutOne(const Dataset& dataset, Session* session, uint32_t number, char* key,
            Tally* /*tally*/) {
  dataset.MakeKey(number, key);
  session->Put({key, dataset.options().key_bytes}, dataset.Value(number, 1));
}

void PutAndTailOne(const Dataset& dataset, Session* session, uint32_t number, char* key,
                   Tally* tally) {
  dataset.MakeKey(number, key);
  session->PutAndTail({key, dataset.options().key_bytes}, dataset.Value(number, 1), tally);
}

void DeleteOne(const Dataset& dataset, Session* session, uint32_t number, char* key,
               Tally* /*tally*/) {
  dataset.MakeKey(number, key);
  session->Delete({key, dataset.options().key_bytes});
}

// Deletes the range from one key to before another.
void DeleteNumbers(const Dataset& dataset, Session* session, uint64_t begin, uint64_t end,
                   char* key) {
  char end_key[kKeyBytesMax];
  dataset.MakeKey(begin, key);
  dataset.MakeKey(end, end_key);
  session->DeleteRange({key, dataset.options().key_bytes}, {end_key, dataset.options().key_bytes});
}

// Deletes the range between a key and the next one, so no visible entry changes.
void DeleteBetween(const Dataset& dataset, Session* session, uint32_t number, char* key,
                   Tally* /*tally*/) {
  char end[kKeyBytesMax];
  dataset.MakeMissingKey(number, key);
  dataset.MakeKey(number + 1, end);
  session->DeleteRange({key, dataset.options().key_bytes}, {end, dataset.options().key_bytes});
}

// Deletes all keys except for the first and the last.
void DeleteInside(const Dataset& dataset, Session* session, uint32_t /*number*/, char* key,
                  Tally* /*tally*/) {
  DeleteNumbers(dataset, session, 1, dataset.num() - 1, key);
}

void DeleteRangeOfOne(const Dataset& dataset, Session* session, uint32_t number, char* key,
                      Tally* /*tally*/) {
  DeleteNumbers(dataset, session, number, number + 1, key);
}

void DeleteRangeBefore(const Dataset& dataset, Session* session, uint32_t number, char* key,
                       Tally* /*tally*/) {
  DeleteNumbers(dataset, session, 0, number, key);
}

void SeekAndTen(const Dataset& dataset, Session* session, uint32_t number, char* key,
                Tally* tally) {
  dataset.MakeKey(number, key);
  session->Seek({key, dataset.options().key_bytes}, kNextPerSeek, tally);
}

void SeekKeptAndTen(const Dataset& dataset, Session* session, uint32_t number, char* key,
                    Tally* tally) {
  dataset.MakeKey(number, key);
  session->SeekKept({key, dataset.options().key_bytes}, kNextPerSeek, tally);
}

void SeekOnePrefix(const Dataset& dataset, Session* session, uint32_t number, char* key,
                   Tally* tally) {
  dataset.MakeKey(number - static_cast<uint32_t>(number % dataset.options().group), key);
  session->SeekPrefix({key, dataset.options().key_bytes}, dataset.options().prefix_bytes, tally);
}

}  // namespace

void Runner::ReadRandom(Result* result) {
  ReadExisting(Uniform(dataset_.num(), task_.operations, kReadOrder), GetOne, result);
}

void Runner::ReadCopied(Result* result) {
  ReadExisting(Uniform(dataset_.num(), task_.operations, kReadOrder), GetOneCopied, result);
}

void Runner::ReadMissing(Result* result) {
  Read(Uniform(dataset_.num(), task_.operations, kReadOrder), GetOneMissing, result);
}

void Runner::ReadSkewed(Result* result) {
  ReadExisting(Skewed(dataset_.num(), task_.operations, kReadOrder), GetOne, result);
}

void Runner::SeekOnly(Result* result) {
  Read(Uniform(dataset_.num(), task_.operations, kReadOrder), SeekOne, result);
}

void Runner::SeekNew(Result* result) {
  Read(Uniform(dataset_.num(), task_.operations, kReadOrder), SeekOneNew, result);
}

void Runner::SeekFirst(Result* result) { Read(InOrder(task_.operations), SeekToTheFirst, result); }

void Runner::PopQueue(Result* result) { Change(InOrder(task_.operations), PopTheFirst, result); }

void Runner::PutBuffered(Result* result) { Change(SomeShuffled(), PutOne, result); }

void Runner::PutAndTail(Result* result) { Change(SomeShuffled(), PutAndTailOne, result); }

void Runner::DeleteRanges(Result* result) { Change(SomeShuffled(), DeleteBetween, result); }

void Runner::DeleteWide(Result* result) { Change(InOrder(1), DeleteInside, result); }

void Runner::DeleteFront(Result* result) {
  Change(InOrder(std::min(task_.operations, dataset_.num())), DeleteOne, result);
}

void Runner::DeleteAdjacent(Result* result) {
  Change(InOrder(std::min(task_.operations, dataset_.num() - 1)), DeleteRangeOfOne, result);
}

void Runner::DeleteBeginning(Result* result) {
  const auto number = static_cast<uint32_t>(std::min(task_.operations, dataset_.num() - 1));
  Change({&number, 1}, DeleteRangeBefore, result);
}

void Runner::DeleteRandom(Result* result) { Change(SomeShuffled(), DeleteOne, result); }

void Runner::FirstSeek(Result* result) { DeleteAndSeek(false, result); }

void Runner::FirstSeekFlushed(Result* result) { DeleteAndSeek(true, result); }

// One seek over as many deletions as the task has operations, before anything else has read over
// them, because Ashlar's iterators remember them. So the deletions are not a workload of their own,
// which would end with a check of the contents.
void Runner::DeleteAndSeek(bool flush, Result* result) {
  Warm();
  {
    const std::unique_ptr<Session> session =
        engine_->NewSession({.log = options_.log, .sync = false});
    char key[kKeyBytesMax];
    for (const uint32_t number : InOrder(std::min(task_.operations, dataset_.num() - 1)))
      DeleteOne(dataset_, session.get(), number, key, nullptr);
  }
  if (flush) engine_->Flush();
  engine_->WaitForBackgroundWork();
  warm_ = false;
  Read(InOrder(1), SeekToTheFirst, result);
}

std::vector<uint32_t> Runner::SomeShuffled() const {
  std::vector<uint32_t> order = Shuffled(dataset_.num(), kDeleteOrder);
  order.resize(std::min<size_t>(order.size(), task_.operations));
  return order;
}

void Runner::SeekTen(Result* result) {
  Read(Uniform(dataset_.num(), task_.operations, kReadOrder), SeekAndTen, result);
}

void Runner::SeekTenKept(Result* result) {
  Read(Uniform(dataset_.num(), task_.operations, kReadOrder), SeekKeptAndTen, result);
}

void Runner::MultiGet(Result* result) {
  const std::vector<uint32_t> order =
      Uniform(dataset_.num(), task_.operations / kKeysPerMultiGet * kKeysPerMultiGet, kReadOrder);
  const size_t key_bytes = dataset_.options().key_bytes;
  const auto body = [&](uint64_t thread, Session* session, LapClock* laps, Progress* progress,
                        Tally* tally) {
    std::string memory(kKeysPerMultiGet * key_bytes, '\0');
    std::vector<std::string_view> keys;
    for (uint64_t i = 0; i < kKeysPerMultiGet; i++)
      keys.emplace_back(memory.data() + i * key_bytes, key_bytes);
    uint64_t done = 0;
    const std::span<const uint32_t> part = PartOf(order, thread, task_.threads);
    for (size_t at = 0; at + kKeysPerMultiGet <= part.size(); at += kKeysPerMultiGet) {
      for (uint64_t i = 0; i < kKeysPerMultiGet; i++)
        dataset_.MakeKey(part[at + i], memory.data() + i * key_bytes);
      session->MultiGet(keys, tally);
      laps->Lap();
      Note(done += kKeysPerMultiGet, progress);
    }
    progress->operations.store(done, std::memory_order_relaxed);
  };
  if (task_.threads != 1) Fail("multiget has one thread");
  result->operations = order.size();
  Measure(body, nullptr, result);
  FailUnlessAllFound(*result);
}

void Runner::ReadForward(Result* result) { Scan(&Session::ScanForward, result); }

void Runner::ReadBackward(Result* result) { Scan(&Session::ScanBackward, result); }

void Runner::Scan(uint64_t (Session::*scan)(uint64_t, Tally*), Result* result) {
  const uint64_t rounds = std::max<uint64_t>(1, task_.operations / dataset_.num());
  const auto body = [&](uint64_t, Session* session, LapClock*, Progress* progress, Tally* tally) {
    uint64_t done = 0;
    for (uint64_t round = 0; round < rounds; round++)
      progress->operations.store(done += (session->*scan)(dataset_.num(), tally),
                                 std::memory_order_relaxed);
  };
  Measure(body, nullptr, result);
  if (result->tally.found == 0) Fail(result->workload + ": no keys");
  result->operations = result->tally.found;
}

void Runner::ReadWhileWriting(Result* result) {
  BesideWriter(GetOne, result);
  FailUnlessAllFound(*result);
}

void Runner::PrefixWhileWriting(Result* result) { BesideWriter(SeekOnePrefix, result); }

void Runner::BesideWriter(Operation operation, Result* result) {
  const std::vector<uint32_t> order = Uniform(dataset_.num(), task_.operations, kReadOrder);
  const std::vector<uint32_t> side_order = Uniform(dataset_.num(), 1 << 20, kSideOrder);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> written{0};
  // The values do not change, so every reader computes the same checksum.
  std::thread writer([&] {
    using Clock = std::chrono::steady_clock;
    const std::unique_ptr<Session> session =
        engine_->NewSession({.log = options_.log, .sync = false});
    char key[kKeyBytesMax];
    const Clock::time_point start = Clock::now();
    uint64_t done = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      const double elapsed_s = std::chrono::duration<double>(Clock::now() - start).count();
      const uint64_t due =
          static_cast<uint64_t>(elapsed_s * static_cast<double>(options_.write_rate));
      for (; done < due && !stop.load(std::memory_order_relaxed); done++) {
        const uint32_t number = side_order[done % side_order.size()];
        dataset_.MakeKey(number, key);
        session->Put({key, dataset_.options().key_bytes}, dataset_.Value(number, 0));
        written.store(done, std::memory_order_relaxed);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    written.store(done, std::memory_order_relaxed);
  });
  const uint64_t written_before = written.load(std::memory_order_relaxed);
  Read(order, operation, result);
  result->side_writes = written.load(std::memory_order_relaxed) - written_before;
  result->side_writes_asked_per_s = options_.write_rate;
  stop.store(true, std::memory_order_relaxed);
  writer.join();
  engine_->WaitForBackgroundWork();
}

}  // namespace ashlar::bench

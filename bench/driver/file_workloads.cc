// The workloads of Runner that move files into a database, or out of it.
#include <atomic>
#include <filesystem>
#include <thread>

#include "bench/driver/fail.h"
#include "bench/driver/workloads.h"

namespace ashlar::bench {

namespace {

// Generations of values. A load writes generation 0.
constexpr uint64_t kIngested = 2;
constexpr uint64_t kWrittenBeside = 3;

constexpr const char* kFamiliesFolder = "families";

}  // namespace

FileCalls* Runner::Files() const {
  FileCalls* const files = engine_->files();
  if (files == nullptr) NotAvailable("the library does nothing of the kind with files");
  return files;
}

// Returns a folder next to the database, on the same file system.
std::string Runner::SideFolder(const std::string& name) const {
  return options_.engine.dir + "." + name;
}

std::vector<std::string> Runner::WriteTables(uint64_t keys) const {
  const std::string folder = SideFolder("tables");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::string key(dataset_.options().key_bytes, '\0');
  std::vector<std::string> paths;
  const uint64_t tables = std::min(task_.operations, keys);
  for (uint64_t table = 0; table < tables; ++table) {
    paths.push_back(folder + "/" + std::to_string(table) + ".sst");
    const std::unique_ptr<FileCalls::TableWriter> writer = Files()->NewTable(paths.back());
    const uint64_t end = keys * (table + 1) / tables;
    for (uint64_t number = keys * table / tables; number < end; ++number) {
      dataset_.MakeKey(static_cast<uint32_t>(number), key.data());
      writer->Add(key, dataset_.Value(static_cast<uint32_t>(number), kIngested));
    }
    writer->Finish();
  }
  return paths;
}

void Runner::Repeat(const std::function<void(uint64_t number, Tally* tally)>& one, Result* result) {
  result->operations = task_.operations;
  Measure(
      [&](uint64_t, Session*, LapClock* laps, Progress* progress, Tally* tally) {
        for (uint64_t i = 0; i < task_.operations; ++i) {
          one(i, tally);
          laps->Lap();
          progress->operations.store(i + 1, std::memory_order_relaxed);
        }
      },
      nullptr, result);
}

// The figure includes the driver's cost of making keys and values.
void Runner::WriteTablesOnly(Result* result) {
  Measure([&](uint64_t, Session*, LapClock*, Progress*,
              Tally*) { result->operations = WriteTables(dataset_.num()).size(); },
          nullptr, result);
  std::filesystem::remove_all(SideFolder("tables"));
}

void Runner::Ingest(Result* result) {
  const std::vector<std::string> tables = WriteTables(dataset_.num());
  task_.operations = tables.size();
  Repeat([&](uint64_t i, Tally*) { Files()->Ingest(tables[i]); }, result);
  std::filesystem::remove_all(SideFolder("tables"));
  result->contents_hash = engine_->NewSession({})->HashContents();
}

// Puts while a second thread ingests. Only the Puts are measured. They write the second half of the
// keys, and the tables have the first half, so no library has to flush the Puts, however fast it
// is.
void Runner::WriteBesideIngestion(Result* result) {
  const uint64_t half = dataset_.num() / 2;
  const std::vector<std::string> tables = WriteTables(half);
  std::atomic<bool> is_over{false};
  std::thread ingestion([&] {
    for (const std::string& table : tables) Files()->Ingest(table);
    is_over.store(true, std::memory_order_relaxed);
  });
  std::string key(dataset_.options().key_bytes, '\0');
  Measure(
      [&](uint64_t, Session* session, LapClock* laps, Progress* progress, Tally*) {
        while (!is_over.load(std::memory_order_relaxed)) {
          const auto number = static_cast<uint32_t>(half + result->operations % half);
          dataset_.MakeKey(number, key.data());
          session->Put(key, dataset_.Value(number, kWrittenBeside));
          laps->Lap();
          progress->operations.store(++result->operations, std::memory_order_relaxed);
        }
      },
      nullptr, result);
  ingestion.join();
  engine_->WaitForBackgroundWork();
  std::filesystem::remove_all(SideFolder("tables"));
}

void Runner::Checkpoint(Result* result) {
  const std::string folder = SideFolder("checkpoints");
  std::filesystem::create_directories(folder);
  Repeat([&](uint64_t i, Tally*) { Files()->Checkpoint(folder + "/" + std::to_string(i)); },
         result);
  std::filesystem::remove_all(folder);
}

void Runner::ReadLogs(Result* result) {
  uint64_t batches = 0;
  Measure([&](uint64_t, Session*, LapClock*, Progress*,
              Tally* tally) { batches = Files()->ReadLogs(tally); },
          nullptr, result);
  if (batches == 0) Fail("no log has a batch");
  result->operations = batches;
}

void Runner::OpenSecondary(Result* result) {
  const std::string folder = SideFolder("secondary");
  Repeat([&](uint64_t, Tally*) { Files()->OpenSecondary(folder); }, result);
  std::filesystem::remove_all(folder);
}

// Each operation is a write, and the catch-up after which a secondary has it.
void Runner::CatchUp(Result* result) {
  const std::string folder = SideFolder("secondary");
  const std::unique_ptr<FileCalls::Secondary> secondary = Files()->OpenSecondary(folder);
  const std::unique_ptr<Session> session = engine_->NewSession({.log = true, .sync = false});
  std::string key(dataset_.options().key_bytes, '\0');
  Repeat(
      [&](uint64_t i, Tally* tally) {
        const auto number = static_cast<uint32_t>(i % dataset_.num());
        dataset_.MakeKey(number, key.data());
        session->Put(key, dataset_.Value(number, 1 + i));
        secondary->CatchUp();
        secondary->Get(key, tally);
      },
      result);
  if (result->tally.found != result->operations) Fail("a secondary lacks a write");
  std::filesystem::remove_all(folder);
}

void Runner::CreateFamilies(Result* result) { MakeFamilies(false, result); }

void Runner::CreateFamiliesAtOnce(Result* result) { MakeFamilies(true, result); }

void Runner::MakeFamilies(bool at_once, Result* result) {
  const std::string folder = SideFolder(kFamiliesFolder);
  std::filesystem::remove_all(folder);
  result->operations = task_.operations;
  Measure([&](uint64_t, Session*, LapClock*, Progress*,
              Tally*) { Files()->CreateFamilies(folder, task_.operations, at_once); },
          nullptr, result);
}

// Opens the database that MakeFamilies left. Requires the same number of operations.
void Runner::OpenFamilies(Result* result) {
  const std::string folder = SideFolder(kFamiliesFolder);
  result->operations = task_.operations;
  Measure([&](uint64_t, Session*, LapClock*, Progress*,
              Tally*) { Files()->OpenFamilies(folder, task_.operations); },
          nullptr, result);
  std::filesystem::remove_all(folder);
}

}  // namespace ashlar::bench

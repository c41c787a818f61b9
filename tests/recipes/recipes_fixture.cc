#include "tests/recipes/recipes_fixture.h"

#include <filesystem>
#include <regex>

#include "base/format.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

const ScratchDirectory* running = nullptr;

// Moves DIR, paths that begin with DIR, /data and /var/log into the directory of the test.
std::string WithPlaces(const std::string& lines) {
  const std::string moved =
      std::regex_replace(lines, std::regex(R"((^|[ =\n])(/data|/var/log))"), "$1" + At("") + "$2");
  return std::regex_replace(moved, std::regex(R"(\bDIR\b)"), At("DIR"));
}

}  // namespace

std::string At(const std::string& path) {
  if (path.empty()) return running->path();
  return running->File(path.starts_with("/") ? path.substr(1) : path);
}

RecipesTest::RecipesTest() {
  running = &scratch_;
  for (const char* const folder : {"data", "var/log", "dev/shm"})
    std::filesystem::create_directories(scratch_.File(folder));
}

RecipesTest::~RecipesTest() { running = nullptr; }

std::unique_ptr<DB> RecipesTest::OpenAt(const std::string& path) {
  Options options;
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  EXPECT_OK(DB::Open(options, At(path), &db));
  return db;
}

std::string RecipesTest::ScanAt(const std::string& path) {
  std::unique_ptr<DB> db;
  const Status opened = DB::Open(Options(), At(path), &db);
  return opened.ok() ? Scan(db.get()) : opened.ToString();
}

std::string RecipesTest::Scan(DB* db, const ReadOptions& options) {
  std::string entries;
  const std::unique_ptr<Iterator> it(db->NewIterator(options));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    entries +=
        StrCat(entries.empty() ? "" : " ", it->key().ToString(), "=", it->value().ToString());
  }
  EXPECT_OK(it->status());
  return entries;
}

std::string RecipesTest::Value(DB* db, const std::string& key) {
  std::string value;
  const Status s = db->Get(ReadOptions(), key, &value);
  return s.ok() ? value : s.ToString();
}

void RecipesTest::Shell(const std::string& lines) {
  const ToolRun run = RunTool(StrCat("{ set -e\nashlar() { ", ProgramCommand("ashlar"),
                                     " \"$@\"; }\n", WithPlaces(lines), "\n}"));
  EXPECT_EQ(run.exit_code, 0) << lines << "\nsaid\n" << run.output;
  shell_output_ = run.output;
}

}  // namespace ashlar

// Measures the file indexer: the search for a key's files in a tree of several levels with and
// without it, and the cost of a new version with it.
//
//   file_indexer_bench [--files=4,40,400,4000] [--lookups=N] [--only=WAY] [--installs=N]
//
// WAY is plain or index, so that one way alone can be counted (valgrind --tool=callgrind). Every
// lookup is of a random key and searches all levels, like the lookup of a key in the last level.
// Prints a checksum of the files found, which is the same for both ways.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "base/random.h"
#include "manifest/file_indexer.h"
#include "manifest/manifest_test_kit.h"
#include "manifest/version_builder.h"

namespace ashlar {
namespace {

constexpr uint64_t kSeed = 42;

struct Arguments {
  std::vector<uint64_t> files = {4, 40, 400, 4000};
  uint64_t lookups = 2'000'000;
  uint64_t installs = 5;
  std::string_view only;
};

uint64_t ParseNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  ASHLAR_ASSERT(error == std::errc() && end == text.data() + text.size());  // the usage above
  return number;
}

Arguments Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const size_t equals = argument.find('=');
    ASHLAR_ASSERT(equals != std::string_view::npos);  // the usage above
    const std::string_view name = argument.substr(0, equals);
    std::string_view value = argument.substr(equals + 1);
    if (name == "--lookups") {
      arguments.lookups = ParseNumber(value);
    } else if (name == "--installs") {
      arguments.installs = ParseNumber(value);
    } else if (name == "--only") {
      arguments.only = value;
    } else {
      ASHLAR_ASSERT(name == "--files");  // the usage above
      arguments.files.clear();
      for (size_t comma = 0; comma != std::string_view::npos;
           value.remove_prefix(comma == std::string_view::npos ? 0 : comma + 1)) {
        comma = value.find(',');
        arguments.files.push_back(ParseNumber(value.substr(0, comma)));
      }
    }
  }
  return arguments;
}

// 16 bytes: a number in big-endian order, and zeros as in db_bench.
std::string KeyOf(uint64_t position) {
  std::string key;
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(position >> shift));
  return key.append(8, '0');
}

// Every level covers the whole range of keys evenly. Metadata is made in random order, as it is in
// a tree that grew.
class Tree {
 public:
  explicit Tree(const std::vector<uint64_t>& files) : comparator_(BytewiseComparator()) {
    struct Place {
      Level level;
      uint64_t smallest;
      uint64_t largest;
    };
    std::vector<Place> places;
    for (size_t level = 0; level < files.size(); ++level) {
      const uint64_t width = ~uint64_t{0} / files[level];
      for (uint64_t i = 0; i < files[level]; ++i) {
        const uint64_t begin = i * width + random_.Uniform(width / 8);
        places.push_back({.level = static_cast<Level>(level + 1),
                          .smallest = begin,
                          .largest = begin + width / 8 * 7 - 1});
      }
    }
    for (size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random_.Uniform(i)]);
    VersionEdit edit;
    for (const Place& place : places)
      edit.AddFile(place.level, MakeFile(NewNumber(), KeyOf(place.smallest), KeyOf(place.largest)));
    version_ = Install(nullptr, &edit);
  }
  ~Tree() { version_->Unref(); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  const Version& version() const { return *version_; }
  const KeyComparator& comparator() const { return comparator_; }
  std::vector<std::shared_ptr<const LevelFiles>> Levels() const {
    std::vector<std::shared_ptr<const LevelFiles>> levels;
    for (Level level = 0; level < version_->levels(); ++level)
      levels.push_back(version_->level(level));
    return levels;
  }

  // A flush: one more file in level 0.
  VersionEdit MakeFlush() {
    VersionEdit edit;
    edit.AddFile(0, MakeFile(NewNumber(), KeyOf(0), KeyOf(~uint64_t{0})));
    return edit;
  }
  // A compaction of one file with the files that it overlaps in the next level.
  VersionEdit MakeCompaction(Level level) {
    VersionEdit edit;
    const FileMetaData* const input = version_->files(level)[version_->NumFiles(level) / 2];
    edit.DeleteFile(level, input->number);
    const Slice smallest = input->smallest_user_key();
    const Slice largest = input->largest_user_key();
    for (const FileMetaData* file : version_->OverlappingFiles(
             level + 1, UserKeyRange{.smallest = &smallest, .largest = &largest})) {
      edit.DeleteFile(level + 1, file->number);
      edit.AddFile(level + 1, MakeFile(NewNumber(), file->smallest_user_key().ToString(),
                                       file->largest_user_key().ToString()));
    }
    return edit;
  }
  Version* Install(const Version* base, VersionEdit* edit) {
    VersionBuilder builder(VersionBuilder::Args{.comparator = comparator_,
                                                .levels = 7,
                                                .base = const_cast<Version*>(base),
                                                .live = &live_});
    ASHLAR_ASSERT(builder.Apply(edit).ok());  // the edit fits the tree
    Result<Version*> version = builder.Build();
    ASHLAR_ASSERT(version.ok());  // the edit fits the tree
    return *version;
  }

 private:
  uint64_t NewNumber() { return next_number_++; }

  const KeyComparator comparator_;
  Random random_{kSeed};
  LiveFiles live_{[](FileMetaData*) {}, {}};
  uint64_t next_number_ = 1;
  Version* version_ = nullptr;
};

using Clock = std::chrono::steady_clock;
double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

uint64_t SearchPlainly(const Version& version, const KeyComparator& comparator, const Slice& key,
                       uint64_t tag) {
  uint64_t sum = 0;
  for (Level level = 1; level < version.levels(); ++level) {
    if (version.NumFiles(level) == 0) continue;
    const LevelFiles& files = *version.level(level);
    for (size_t i = files.Find(key, tag);
         i < files.size() && comparator.Compare(key, files.files()[i]->smallest_user_key()) >= 0;
         ++i) {
      sum += files.files()[i]->number;
    }
  }
  return sum;
}

uint64_t SearchByIndex(const FileIndexer& index, const Slice& key, uint64_t tag) {
  uint64_t sum = 0;
  FileDescent descent(index, key, tag);
  for (const FileMetaData* file = descent.Next(); file != nullptr; file = descent.Next())
    sum += file->number;
  return sum;
}

template <typename Search>
void Measure(const Arguments& arguments, std::string_view way, const Search& search) {
  if (!arguments.only.empty() && arguments.only != way) return;
  constexpr int kPasses = 5;
  double best_ms = 0;
  uint64_t sum = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    Random random(kSeed);
    char key[16];
    memset(key, '0', sizeof(key));
    sum = 0;
    const Clock::time_point start = Clock::now();
    for (uint64_t i = 0; i < arguments.lookups; ++i) {
      const uint64_t position = random.Next();
      memcpy(key, &position, sizeof(position));
      sum += search(Slice(key, sizeof(key)), ~uint64_t{0});
    }
    const double ms = MillisecondsSince(start);
    if (pass == 0 || ms < best_ms) best_ms = ms;
    if (!arguments.only.empty()) break;
  }
  printf("%-14.*s %8.1f ns a lookup   checksum %llu\n", static_cast<int>(way.size()), way.data(),
         best_ms * 1e6 / static_cast<double>(arguments.lookups),
         static_cast<unsigned long long>(sum));
}

void MeasureLookups(const Arguments& arguments, const Tree& tree) {
  const auto levels = tree.Levels();
  const FileIndexer indexer(FileIndexer::Args{.comparator = tree.comparator(), .levels = levels});
  Measure(arguments, "plain", [&](const Slice& key, uint64_t tag) {
    return SearchPlainly(tree.version(), tree.comparator(), key, tag);
  });
  Measure(arguments, "index",
          [&](const Slice& key, uint64_t tag) { return SearchByIndex(indexer, key, tag); });
}

template <typename Work>
double BestOf(uint64_t times, const Work& work) {
  double best_ms = 0;
  for (uint64_t i = 0; i < times; ++i) {
    const double ms = work();
    if (i == 0 || ms < best_ms) best_ms = ms;
  }
  return best_ms;
}

void MeasureInstalls(const Arguments& arguments, Tree* tree) {
  const auto levels = tree->Levels();
  const FileIndexer base(FileIndexer::Args{.comparator = tree->comparator(), .levels = levels});
  const double fresh_ms = BestOf(arguments.installs, [&] {
    const Clock::time_point start = Clock::now();
    const FileIndexer index(FileIndexer::Args{.comparator = tree->comparator(), .levels = levels});
    return MillisecondsSince(start);
  });
  printf("index from nothing: %.3f ms, %zu bytes\n", fresh_ms, base.MemoryBytes());
  const auto install = [&](const char* name, const auto& make_edit) {
    double index_ms = 0;
    const double version_ms = BestOf(arguments.installs, [&] {
      VersionEdit edit = make_edit();
      const Clock::time_point start = Clock::now();
      Version* const version = tree->Install(&tree->version(), &edit);
      const double ms = MillisecondsSince(start);
      std::vector<std::shared_ptr<const LevelFiles>> after;
      for (Level level = 0; level < version->levels(); ++level)
        after.push_back(version->level(level));
      const Clock::time_point index_start = Clock::now();
      if (!base.IsOf(after)) {
        const FileIndexer index(
            FileIndexer::Args{.comparator = tree->comparator(), .levels = after, .base = &base});
      }
      index_ms = MillisecondsSince(index_start);
      version->Unref();
      return ms;
    });
    printf("%s: a version takes %.3f ms, of which the index %.3f ms\n", name, version_ms, index_ms);
  };
  install("flush", [&] { return tree->MakeFlush(); });
  for (Level level = 1; level < static_cast<Level>(arguments.files.size()); ++level) {
    install(StrCat("compaction of level ", level).c_str(),
            [&] { return tree->MakeCompaction(level); });
  }
}

int Run(int argc, char** argv) {
  const Arguments arguments = Parse(argc, argv);
  Tree tree(arguments.files);
  MeasureLookups(arguments, tree);
  if (arguments.only.empty()) MeasureInstalls(arguments, &tree);
  return 0;
}

}  // namespace
}  // namespace ashlar

int main(int argc, char** argv) { return ashlar::Run(argc, argv); }

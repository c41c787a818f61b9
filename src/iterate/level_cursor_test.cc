#include "iterate/level_cursor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "key/seek_prefix.h"
#include "tests/support/comparators.h"
#include "tests/support/vector_cursor.h"

namespace ashlar {
namespace {

// A level whose files are vectors. Records which files are opened.
class Level : public TableOpener {
 public:
  explicit Level(const KeyComparator& comparator) : comparator_(comparator) {}

  // Adds a file. The entries must ascend and follow those of the earlier files.
  void AddFile(std::vector<TestEntry> entries) {
    auto file = std::make_unique<FileMetaData>();
    file->number = owned_.size();
    file->smallest =
        MakeInternalKey(entries.front().user_key, entries.front().sequence, entries.front().type);
    file->largest =
        MakeInternalKey(entries.back().user_key, entries.back().sequence, entries.back().type);
    files_.push_back(file.get());
    owned_.push_back(std::move(file));
    contents_.push_back(std::move(entries));
  }

  // The filter of a file matches exactly the prefixes of the file's keys.
  bool MayMatch(FileMetaData* file, const TableReadOptions& options, const Slice&) override {
    const HashedPrefix* const prefix = options.seek_prefix->Find(transform_.get());
    const std::vector<TestEntry>& entries = contents_[file->number];
    return prefix == nullptr ||
           std::any_of(entries.begin(), entries.end(), [&](const TestEntry& entry) {
             return Slice(entry.user_key).starts_with(prefix->bytes);
           });
  }
  Result<std::unique_ptr<InternalCursor>> NewCursor(FileMetaData* file,
                                                    const TableReadOptions&) override {
    opened_ += std::to_string(file->number) + " ";
    if (file->number == fail_open_) return Status::IOError("cannot open");
    if (file->number == unwanted_) return std::unique_ptr<InternalCursor>();
    auto cursor = std::make_unique<VectorCursor>(comparator_, contents_[file->number]);
    cursor->SetBatch(batch_);
    if (!fail_key_.empty()) cursor->FailAt(fail_key_, Status::Corruption("broken"));
    return std::unique_ptr<InternalCursor>(std::move(cursor));
  }

  LevelCursorArgs Args() {
    return {.comparator = comparator_, .files = files_, .opener = this, .read_options = {}};
  }
  std::string TakeOpened() { return std::exchange(opened_, ""); }

  uint64_t fail_open_ = ~uint64_t{0};
  uint64_t unwanted_ = ~uint64_t{0};
  std::string fail_key_;
  size_t batch_ = 1;
  const std::unique_ptr<const SliceTransform> transform_{NewFixedPrefixTransform(1)};

 private:
  const KeyComparator comparator_;
  std::vector<std::unique_ptr<FileMetaData>> owned_;
  std::vector<FileMetaData*> files_;
  std::vector<std::vector<TestEntry>> contents_;
  std::string opened_;
};

const KeyComparator kBytewise{BytewiseComparator()};

TestEntry Put(const std::string& key) { return {key, 1, ValueType::kValue, "v"}; }
std::string Target(const std::string& key) {
  return MakeInternalKey(key, kSequenceNumberMax, ValueType::kMax);
}
std::string KeyOf(const InternalCursor& cursor) {
  return cursor.Valid() ? ExtractUserKey(cursor.key()).ToString() : "-";
}

class LevelCursorTest : public testing::Test {
 protected:
  void SetUp() override {
    level_.AddFile({Put("b"), Put("d")});
    level_.AddFile({Put("f"), Put("h")});
    level_.AddFile({Put("j"), Put("l")});
    level_.AddFile({Put("n"), Put("p")});
  }
  Level level_{kBytewise};
};

TEST_F(LevelCursorTest, EmptyLevel) {
  Level empty(kBytewise);
  LevelCursor cursor(empty.Args());
  cursor.SeekToFirst();
  EXPECT_FALSE(cursor.Valid());
  cursor.SeekToLast();
  EXPECT_FALSE(cursor.Valid());
  cursor.Seek(Target("a"));
  EXPECT_FALSE(cursor.Valid());
  cursor.SeekForPrev(Target("a"));
  EXPECT_FALSE(cursor.Valid());
  EXPECT_TRUE(cursor.status().ok());
}

TEST_F(LevelCursorTest, OpensOnlyWhatItReaches) {
  LevelCursor cursor(level_.Args());
  EXPECT_EQ(level_.TakeOpened(), "");
  cursor.Seek(Target("g"));
  EXPECT_EQ(KeyOf(cursor), "h");
  EXPECT_EQ(level_.TakeOpened(), "1 ");
  cursor.Seek(Target("f"));
  EXPECT_EQ(KeyOf(cursor), "f");
  EXPECT_EQ(level_.TakeOpened(), "") << "the file is still open";
  cursor.Next();
  cursor.Next();
  EXPECT_EQ(KeyOf(cursor), "j");
  EXPECT_EQ(level_.TakeOpened(), "2 ");
  cursor.Prev();
  EXPECT_EQ(KeyOf(cursor), "h");
  EXPECT_EQ(level_.TakeOpened(), "1 ");
  cursor.Seek(Target("i"));
  EXPECT_EQ(KeyOf(cursor), "j") << "between two files";
  cursor.SeekForPrev(Target("i"));
  EXPECT_EQ(KeyOf(cursor), "h");
  cursor.Seek(Target("q"));
  EXPECT_FALSE(cursor.Valid());
  cursor.SeekForPrev(Target("a"));
  EXPECT_FALSE(cursor.Valid());
}

TEST_F(LevelCursorTest, FilesOutsideTheBoundsAreNotOpened) {
  const Slice lower("e");
  const Slice upper("j");
  LevelCursorArgs args = level_.Args();
  args.lower_bound = &lower;
  args.upper_bound = &upper;
  LevelCursor cursor(args);
  std::string keys;
  for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) keys += KeyOf(cursor);
  EXPECT_EQ(keys, "fh");
  EXPECT_EQ(level_.TakeOpened(), "1 ");
  for (cursor.SeekToLast(); cursor.Valid(); cursor.Prev()) keys += KeyOf(cursor);
  EXPECT_EQ(keys, "fhhf");
  EXPECT_EQ(level_.TakeOpened(), "1 ");
  cursor.Seek(Target("i"));
  EXPECT_FALSE(cursor.Valid());
  cursor.SeekForPrev(Target("e"));
  EXPECT_FALSE(cursor.Valid());
  EXPECT_EQ(level_.TakeOpened(), "");
}

TEST_F(LevelCursorTest, FilesThatABoundCutsAreRead) {
  const Slice lower("c");
  const Slice upper("k");
  LevelCursorArgs args = level_.Args();
  args.lower_bound = &lower;
  args.upper_bound = &upper;
  LevelCursor cursor(args);
  std::string keys;
  for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) keys += KeyOf(cursor);
  EXPECT_EQ(keys, "bdfhjl");
  keys.clear();
  for (cursor.SeekToLast(); cursor.Valid(); cursor.Prev()) keys += KeyOf(cursor);
  EXPECT_EQ(keys, "ljhfdb");
}

TEST_F(LevelCursorTest, TheEdgesOfAFileAreFoundInIt) {
  LevelCursor cursor(level_.Args());
  for (const std::string key : {"b", "d", "f", "h", "n", "p"}) {
    const std::string target = MakeInternalKey(key, 1, ValueType::kValue);
    cursor.SeekForPrev(target);
    EXPECT_EQ(KeyOf(cursor), key);
    cursor.Seek(target);
    EXPECT_EQ(KeyOf(cursor), key);
  }
}

// The files are b d | f h | j l | n p, and prefixes have one byte.
TEST_F(LevelCursorTest, ASeekForAnAbsentPrefixOpensNothing) {
  SeekPrefix seek({.comparator = kBytewise, .transform = level_.transform_.get()});
  LevelCursorArgs args = level_.Args();
  args.read_options.seek_prefix = &seek;
  LevelCursor cursor(args);
  const auto sought = [&](const std::string& key, bool forward) {
    seek.Begin(key, forward);
    forward ? cursor.Seek(Target(key))
            : cursor.SeekForPrev(MakeInternalKey(key, 0, ValueType::kDeletion));
    EXPECT_TRUE(cursor.status().ok());
    return KeyOf(cursor);
  };
  seek.SetScope(SeekScope::kPrefix);
  for (const char* const absent : {"a", "c", "g", "i", "o", "q"}) {
    EXPECT_EQ(sought(absent, true), "-");
    EXPECT_EQ(sought(absent, false), "-");
  }
  EXPECT_EQ(level_.TakeOpened(), "");
  EXPECT_EQ(sought("f", true), "f");
  EXPECT_EQ(sought("g", true), "-");
  EXPECT_EQ(sought("h", false), "h");
  EXPECT_EQ(level_.TakeOpened(), "1 ");
  // Iteration may continue from either end or from the position of a successful seek.
  EXPECT_EQ(sought("g", true), "-");
  cursor.SeekToFirst();
  EXPECT_EQ(KeyOf(cursor), "b");
  EXPECT_EQ(sought("g", false), "-");
  cursor.SeekToLast();
  EXPECT_EQ(KeyOf(cursor), "p");
  EXPECT_EQ(sought("l", true), "l");
  cursor.Next();
  EXPECT_EQ(KeyOf(cursor), "n");

  seek.SetScope(SeekScope::kTotalOrder);
  EXPECT_EQ(sought("g", true), "h");
  EXPECT_EQ(sought("i", true), "j");
  EXPECT_EQ(sought("i", false), "h");
}

TEST_F(LevelCursorTest, FilesPastABoundAreNotAskedForAPrefix) {
  const Slice lower("j");
  const Slice upper("f");
  SeekPrefix seek({.comparator = kBytewise, .transform = level_.transform_.get()});
  seek.SetScope(SeekScope::kPrefix);
  LevelCursorArgs args = level_.Args();
  args.read_options.seek_prefix = &seek;
  args.upper_bound = &upper;
  LevelCursor below(args);
  seek.Begin("f", true);
  below.Seek(Target("f"));
  EXPECT_EQ(KeyOf(below), "-");
  args.upper_bound = nullptr;
  args.lower_bound = &lower;
  LevelCursor above(args);
  seek.Begin("h", false);
  above.SeekForPrev(Target("h"));
  EXPECT_EQ(KeyOf(above), "-");
  EXPECT_EQ(level_.TakeOpened(), "");
}

// All keys have one prefix, but the filter of the file at the sought position does not contain it.
// The files next to it are searched nevertheless.
TEST_F(LevelCursorTest, ASeekGoesOnWhereTheFileBesideHasThePrefix) {
  class AllAlike final : public SliceTransform {
   public:
    const char* Name() const override { return "alike"; }
    Slice Transform(const Slice&) const override { return "?"; }
    bool InDomain(const Slice&) const override { return true; }
  };
  const AllAlike alike;
  SeekPrefix seek({.comparator = kBytewise, .transform = &alike});
  seek.SetScope(SeekScope::kPrefix);
  class RulesOutTheSecond final : public TableOpener {
   public:
    explicit RulesOutTheSecond(Level* level) : level_(level) {}
    bool MayMatch(FileMetaData* file, const TableReadOptions&, const Slice&) override {
      return file->number != 1;
    }
    Result<std::unique_ptr<InternalCursor>> NewCursor(FileMetaData* file,
                                                      const TableReadOptions& options) override {
      return level_->NewCursor(file, options);
    }

   private:
    Level* const level_;
  } opener(&level_);
  LevelCursorArgs args = level_.Args();
  args.opener = &opener;
  args.read_options.seek_prefix = &seek;
  LevelCursor cursor(args);
  seek.Begin("g", true);
  cursor.Seek(Target("g"));
  EXPECT_EQ(KeyOf(cursor), "j");
  seek.Begin("g", false);
  cursor.SeekForPrev(Target("g"));
  EXPECT_EQ(KeyOf(cursor), "d");
}

TEST_F(LevelCursorTest, AFileThatTheTableFilterDoesNotWantIsPassed) {
  level_.unwanted_ = 1;
  LevelCursor cursor(level_.Args());
  cursor.Seek(Target("d"));
  EXPECT_EQ(KeyOf(cursor), "d");
  cursor.Next();
  EXPECT_EQ(KeyOf(cursor), "j");
  cursor.Prev();
  EXPECT_EQ(KeyOf(cursor), "d");
  cursor.Seek(Target("f"));
  EXPECT_EQ(KeyOf(cursor), "j");
  cursor.SeekForPrev(Target("h"));
  EXPECT_EQ(KeyOf(cursor), "d");
  level_.unwanted_ = 0;
  LevelCursor first(level_.Args());
  first.SeekToFirst();
  EXPECT_EQ(KeyOf(first), "f");
  first.Prev();
  EXPECT_EQ(KeyOf(first), "-");
  level_.unwanted_ = 3;
  LevelCursor last(level_.Args());
  last.SeekToLast();
  EXPECT_EQ(KeyOf(last), "l");
  last.Seek(Target("n"));
  EXPECT_EQ(KeyOf(last), "-");
  EXPECT_TRUE(last.status().ok());
}

TEST_F(LevelCursorTest, FileThatCannotBeOpenedIsAnErrorUntilTheNextSeek) {
  level_.fail_open_ = 1;
  LevelCursor cursor(level_.Args());
  cursor.Seek(Target("d"));
  EXPECT_EQ(KeyOf(cursor), "d");
  cursor.Next();
  EXPECT_FALSE(cursor.Valid());
  EXPECT_TRUE(cursor.status().IsIOError());
  cursor.Seek(Target("j"));
  EXPECT_EQ(KeyOf(cursor), "j");
  EXPECT_TRUE(cursor.status().ok());
  cursor.Prev();
  EXPECT_FALSE(cursor.Valid());
  EXPECT_TRUE(cursor.status().IsIOError());
}

TEST_F(LevelCursorTest, ErrorInsideAFileIsNotSkipped) {
  level_.fail_key_ = "h";
  LevelCursor cursor(level_.Args());
  cursor.Seek(Target("f"));
  EXPECT_EQ(KeyOf(cursor), "f");
  cursor.Next();
  EXPECT_FALSE(cursor.Valid());
  EXPECT_TRUE(cursor.status().IsCorruption());
  cursor.SeekToFirst();
  EXPECT_EQ(KeyOf(cursor), "b");
  EXPECT_TRUE(cursor.status().ok());
}

TEST(LevelCursorModelTest, AgreesWithOneVector) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    const NamedComparator& order = TestComparators()[seed % 3];
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << order.name);
    const KeyComparator comparator(order.comparator);
    std::vector<TestEntry> all;
    const uint64_t entries = 5 + random.Uniform(100);
    for (uint64_t i = 0; i < entries; ++i)
      all.push_back(
          {std::to_string(random.Uniform(60)), 1 + i, ValueType::kValue, std::to_string(i)});
    const auto internal_key = [](const TestEntry& entry) {
      return MakeInternalKey(entry.user_key, entry.sequence, entry.type);
    };
    std::sort(all.begin(), all.end(), [&](const TestEntry& a, const TestEntry& b) {
      return comparator.CompareInternal(internal_key(a), internal_key(b)) < 0;
    });
    Level level(comparator);
    level.batch_ = 1 + random.Uniform(6);
    for (size_t from = 0; from < all.size();) {
      const size_t to = std::min(all.size(), from + 1 + random.Uniform(12));
      level.AddFile(std::vector<TestEntry>(all.begin() + static_cast<ptrdiff_t>(from),
                                           all.begin() + static_cast<ptrdiff_t>(to)));
      from = to;
    }
    VectorCursor expected(comparator, all);
    LevelCursor cursor(level.Args());
    for (int i = 0; i < 300; ++i) {
      const std::string target = MakeInternalKey(std::to_string(random.Uniform(60)),
                                                 random.Uniform(100), ValueType::kValue);
      switch (cursor.Valid() ? random.Uniform(12) : random.Uniform(4)) {
        case 0: cursor.SeekToFirst(), expected.SeekToFirst(); break;
        case 1: cursor.SeekToLast(), expected.SeekToLast(); break;
        case 2: cursor.Seek(target), expected.Seek(target); break;
        case 3: cursor.SeekForPrev(target), expected.SeekForPrev(target); break;
        case 4:
        case 5:
        case 6:
        case 7: cursor.Next(), expected.Next(); break;
        default: cursor.Prev(), expected.Prev();
      }
      ASSERT_EQ(cursor.Valid(), expected.Valid());
      ASSERT_TRUE(!cursor.Valid() ||
                  (cursor.key() == expected.key() && cursor.value() == expected.value()));
    }
  }
}

}  // namespace
}  // namespace ashlar

// Tests UserIterator with scripts (text in, text out) for named cases, and with random moves that
// are compared with a model.
//
// Entries:  "a9=x" a value; "a9-" a deletion; "a9!" a single deletion; "a9+x" an operand; "a9?" an
//           entry of a type that is not implemented
// Commands: first, last, next, prev, seek K, seek-prev K. Each shows "key=value", "end", or the
// error's code.
#include "iterate/user_iterator.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "ashlar/snapshot.h"
#include "base/random.h"
#include "iterate/merging_cursor.h"
#include "tests/support/comparators.h"
#include "tests/support/lost_cursor.h"
#include "tests/support/vector_cursor.h"

namespace ashlar {
namespace {

std::vector<TestEntry> ParseEntries(const std::string& text) {
  std::vector<TestEntry> entries;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    const size_t digits = word.find_first_of("0123456789");
    const size_t op = word.find_first_not_of("0123456789", digits);
    TestEntry entry;
    entry.user_key = word.substr(0, digits);
    entry.sequence = std::stoull(word.substr(digits, op - digits));
    switch (word[op]) {
      case '=': entry.type = ValueType::kValue; break;
      case '-': entry.type = ValueType::kDeletion; break;
      case '!': entry.type = ValueType::kSingleDeletion; break;
      case '+': entry.type = ValueType::kMerge; break;
      default: entry.type = ValueType::kWideColumnEntity;
    }
    entry.value = word.substr(op + 1);
    entries.push_back(std::move(entry));
  }
  return entries;
}

struct Given {
  std::string entries{};
  SequenceNumber snapshot = 100;
  const char* lower = nullptr;
  const char* upper = nullptr;
  uint64_t max_skippable = 0;
  uint64_t max_sequential_skip = 8;
  std::shared_ptr<MergeOperator> merge_operator = MergeOperators::CreateStringAppendOperator(',');
  size_t prefix_bytes = 0;  // of prefix_same_as_start; 0: off
  // The transform whose prefixes the sources receive, or null for none.
  const SliceTransform* told_of = nullptr;
  SeekScope told_scope_max = SeekScope::kPrefix;
  size_t batch = 3;  // entries that a step of the cursor shows
};

class Script {
 public:
  explicit Script(const Given& given) : merge_operator_(given.merge_operator) {
    const KeyComparator comparator{BytewiseComparator()};
    auto cursor = std::make_unique<VectorCursor>(comparator, ParseEntries(given.entries));
    cursor_ = cursor.get();
    cursor_->SetBatch(given.batch);
    UserIteratorArgs args{.comparator = comparator};
    args.merge_operator = merge_operator_.get();
    if (given.lower != nullptr) args.lower_bound = &(lower_ = Slice(given.lower));
    if (given.upper != nullptr) args.upper_bound = &(upper_ = Slice(given.upper));
    args.max_skippable_entries = given.max_skippable;
    args.max_sequential_skip = given.max_sequential_skip;
    if (given.prefix_bytes > 0) {
      transform_.reset(NewFixedPrefixTransform(given.prefix_bytes));
      args.prefix_same_as_start = true;
      args.source.prefix_extractor = transform_.get();
    }
    if (given.told_of != nullptr) {
      args.source.prefix_extractor = given.told_of;
      args.source.seek_prefix =
          std::make_unique<SeekPrefix>(SeekPrefix::Args{.comparator = comparator,
                                                        .transform = given.told_of,
                                                        .upper_bound = args.upper_bound,
                                                        .scope_max = given.told_scope_max});
      seek_prefix_ = args.source.seek_prefix.get();
    }
    args.source.cursor = std::move(cursor);
    args.source.sequence = given.snapshot;
    args.source.view_number = 3;
    iterator_ = std::make_unique<UserIterator>(std::move(args));
  }

  std::string Run(const std::string& commands) {
    std::string out;
    std::istringstream in(commands);
    for (std::string command; std::getline(in, command, ';');) {
      std::istringstream words(command);
      std::string verb;
      std::string key;
      words >> verb >> key;
      Do(verb, key);
      out += Shown() + " ";
    }
    if (!out.empty()) out.pop_back();
    return out;
  }

  UserIterator& iterator() { return *iterator_; }
  VectorCursor& cursor() { return *cursor_; }
  SeekPrefix* seek_prefix() { return seek_prefix_; }

 private:
  void Do(const std::string& verb, const std::string& key) {
    if (verb == "first") {
      iterator_->SeekToFirst();
    } else if (verb == "last") {
      iterator_->SeekToLast();
    } else if (verb == "next") {
      iterator_->Next();
    } else if (verb == "prev") {
      iterator_->Prev();
    } else if (verb == "seek") {
      iterator_->Seek(key);
    } else if (verb == "seek-prev") {
      iterator_->SeekForPrev(key);
    } else {
      FAIL() << "unknown command " << verb;
    }
  }
  std::string Shown() const {
    if (iterator_->Valid())
      return iterator_->key().ToString() + "=" + iterator_->value().ToString();
    const Status status = iterator_->status();
    return status.ok() ? "end" : status.ToString().substr(0, status.ToString().find(':'));
  }

  const std::shared_ptr<MergeOperator> merge_operator_;
  std::unique_ptr<const SliceTransform> transform_;
  Slice lower_;
  Slice upper_;
  VectorCursor* cursor_;
  SeekPrefix* seek_prefix_ = nullptr;
  std::unique_ptr<UserIterator> iterator_;
};

std::string Show(const Given& given, const std::string& commands) {
  return Script(given).Run(commands);
}

TEST(UserIteratorTest, NothingThere) {
  EXPECT_EQ(Show({.entries = ""}, "first;last;seek a;seek-prev a"), "end end end end");
}

// For prefixes of two bytes. "a" and "b" have none.
constexpr char kPrefixEntries[] = "a1=s aa2=1 aab3=2 aac4=3 aba5=4 abb6- ac7=5 b8=t baa9=6";

TEST(UserIteratorTest, PrefixSameAsStartEndsWithThePrefix) {
  const Given given{.entries = kPrefixEntries, .prefix_bytes = 2};
  EXPECT_EQ(Show(given, "seek aa;next;next;next"), "aa=1 aab=2 aac=3 end");
  EXPECT_EQ(Show(given, "seek aab;prev;prev"), "aab=2 aa=1 end");
  EXPECT_EQ(Show(given, "seek ab;next"), "aba=4 end");
  EXPECT_EQ(Show(given, "seek abb;seek ad;seek ab"), "end end aba=4");
  EXPECT_EQ(Show(given, "seek-prev aac;prev;prev;prev"), "aac=3 aab=2 aa=1 end");
  EXPECT_EQ(Show(given, "seek-prev abz;prev"), "aba=4 end");
  EXPECT_EQ(Show(given, "seek-prev aaz;next"), "aac=3 end");
  EXPECT_EQ(Show(given, "seek-prev adz"), "end");
}

TEST(UserIteratorTest, PrefixSameAsStartTakesThePrefixOfTheFirstKeyFound) {
  EXPECT_EQ(Show({.entries = kPrefixEntries, .lower = "aab", .prefix_bytes = 2}, "first;next;next"),
            "aab=2 aac=3 end");
  EXPECT_EQ(Show({.entries = kPrefixEntries, .upper = "abb", .prefix_bytes = 2}, "last;prev"),
            "aba=4 end");
  EXPECT_EQ(Show({.entries = kPrefixEntries, .prefix_bytes = 2}, "last;prev"), "baa=6 end");
}

TEST(UserIteratorTest, KeysWithoutAPrefixStartNoRange) {
  EXPECT_EQ(Show({.entries = kPrefixEntries, .prefix_bytes = 2}, "first;next;next"),
            "a=s aa=1 aab=2");
  EXPECT_EQ(Show({.entries = kPrefixEntries, .prefix_bytes = 2}, "seek;next;next"),
            "a=s aa=1 aab=2");
  EXPECT_EQ(Show({.entries = kPrefixEntries, .prefix_bytes = 2}, "seek-prev b;prev;prev"),
            "b=t ac=5 aba=4");
}

TEST(UserIteratorTest, PrefixSameAsStartKeepsTheTargetsPrefixAtABound) {
  EXPECT_EQ(
      Show({.entries = kPrefixEntries, .lower = "aab", .prefix_bytes = 2}, "seek aa;next;next"),
      "aab=2 aac=3 end");
  EXPECT_EQ(Show({.entries = kPrefixEntries, .lower = "ab", .prefix_bytes = 2}, "seek aa"), "end");
  EXPECT_EQ(Show({.entries = kPrefixEntries, .upper = "aac", .prefix_bytes = 2},
                 "seek-prev aaz;prev;prev"),
            "aab=2 aa=1 end");
  EXPECT_EQ(Show({.entries = kPrefixEntries, .upper = "aba", .prefix_bytes = 2}, "seek-prev abz"),
            "end");
}

// Checks the prefix that the sources receive with the last seek and may limit their search to.
TEST(UserIteratorTest, SourcesAreToldWhichPrefixASeekIsAbout) {
  const std::unique_ptr<const SliceTransform> transform(NewFixedPrefixTransform(2));
  const auto told = [&](Given given, const std::string& commands,
                        SeekScope scope_max = SeekScope::kPrefix) {
    given.entries = "a1=s aa9=x aa8=x aa7=x aa6=x aab3=2 aac4=3 aba5=4 ba7=5";
    given.max_sequential_skip = 1;
    given.told_of = transform.get();
    given.told_scope_max = scope_max;
    Script script(given);
    script.Run(commands);
    const HashedPrefix* const prefix = script.seek_prefix()->Find(transform.get());
    return prefix == nullptr ? std::string("all") : prefix->bytes.ToString();
  };
  EXPECT_EQ(told({}, "seek aab"), "aa");
  EXPECT_EQ(told({}, "seek-prev aab"), "aa");
  EXPECT_EQ(told({}, "seek a"), "all");
  EXPECT_EQ(told({}, "seek-prev a"), "all");
  // A seek skips the older versions of "aa".
  EXPECT_EQ(told({}, "seek aa;next"), "aa");
  EXPECT_EQ(told({}, "seek a;next;next"), "all");
  EXPECT_EQ(told({}, "seek aab;first;next;next"), "all");
  EXPECT_EQ(told({}, "seek aab;last;prev;next"), "all");
  EXPECT_EQ(told({.lower = "ab"}, "first"), "all");
  EXPECT_EQ(told({.lower = "ab"}, "seek aab"), "all");
  EXPECT_EQ(told({.lower = "aa"}, "seek aab"), "aa");
  EXPECT_EQ(told({.upper = "ab"}, "last"), "all");
  EXPECT_EQ(told({.upper = "ab"}, "seek-prev ba"), "all");
  EXPECT_EQ(told({}, "seek aab", SeekScope::kTotalOrder), "all");
  EXPECT_EQ(told({.upper = "ab"}, "seek aab", SeekScope::kTotalOrder), "aa");
  EXPECT_EQ(told({.upper = "ab"}, "seek aab;prev", SeekScope::kTotalOrder), "all");
}

TEST(UserIteratorTest, NewestVisibleVersionDecides) {
  const std::string entries = "a9=new a5=mid a2=old b7=b c3=c";
  EXPECT_EQ(Show({.entries = entries}, "first;next;next;next"), "a=new b=b c=c end");
  EXPECT_EQ(Show({.entries = entries}, "last;prev;prev;prev"), "c=c b=b a=new end");
  EXPECT_EQ(Show({.entries = entries, .snapshot = 6}, "first;next;next"), "a=mid c=c end");
  EXPECT_EQ(Show({.entries = entries, .snapshot = 6}, "last;prev;prev"), "c=c a=mid end");
  EXPECT_EQ(Show({.entries = entries, .snapshot = 1}, "first;last"), "end end");
}

TEST(UserIteratorTest, DeletionsHideWhatIsOlder) {
  const std::string entries = "a9- a5=x b8! b4=y c7=z c6- d2-";
  EXPECT_EQ(Show({.entries = entries}, "first;next"), "c=z end");
  EXPECT_EQ(Show({.entries = entries}, "last;prev"), "c=z end");
  EXPECT_EQ(Show({.entries = entries, .snapshot = 5}, "first;next;next"), "a=x b=y end");
  EXPECT_EQ(Show({.entries = entries, .snapshot = 5}, "last;prev;prev"), "b=y a=x end");
}

TEST(UserIteratorTest, SeeksLandOnTheirSide) {
  const std::string entries = "b1=1 d2- d1=x f1=2 h1=3";
  EXPECT_EQ(Show({.entries = entries}, "seek a;seek b;seek c;seek d;seek g;seek h;seek i"),
            "b=1 b=1 f=2 f=2 h=3 h=3 end");
  EXPECT_EQ(
      Show({.entries = entries},
           "seek-prev a;seek-prev b;seek-prev c;seek-prev d;seek-prev e;seek-prev f;seek-prev z"),
      "end b=1 b=1 b=1 b=1 f=2 h=3");
}

TEST(UserIteratorTest, DirectionChanges) {
  const std::string entries = "a5=a2 a1=a1 b9=b2 b2=b1 c3- c1=c d6+x d4=d";
  EXPECT_EQ(Show({.entries = entries}, "first;next;prev;next;next;prev;next;next"),
            "a=a2 b=b2 a=a2 b=b2 d=d,x b=b2 d=d,x end");
  EXPECT_EQ(Show({.entries = entries}, "last;prev;next;prev;prev;next;prev;prev"),
            "d=d,x b=b2 d=d,x b=b2 a=a2 b=b2 a=a2 end");
  EXPECT_EQ(Show({.entries = entries, .snapshot = 5}, "seek b;prev;next;next;prev"),
            "b=b1 a=a2 b=b1 d=d b=b1");
}

TEST(UserIteratorTest, BoundsAreInclusiveBelowAndExclusiveAbove) {
  const Given given{.entries = "a1=1 b1=2 c1=3 d1=4 e1=5", .lower = "b", .upper = "d"};
  EXPECT_EQ(Show(given, "first;next;next"), "b=2 c=3 end");
  EXPECT_EQ(Show(given, "last;prev;prev"), "c=3 b=2 end");
  EXPECT_EQ(Show(given, "seek a;seek d;seek e;seek-prev a;seek-prev b;seek-prev d;seek-prev z"),
            "b=2 end end end b=2 c=3 c=3");
  EXPECT_EQ(Show(given, "seek c;prev;prev"), "c=3 b=2 end");
}

TEST(UserIteratorTest, OperandsMergeWithWhatLiesBelow) {
  const std::string entries = "a5+2 a4+1 b6+y b5- b4=gone c7+q c3=base c2=old d9+only";
  EXPECT_EQ(Show({.entries = entries}, "first;next;next;next;next"),
            "a=1,2 b=y c=base,q d=only end");
  EXPECT_EQ(Show({.entries = entries}, "last;prev;prev;prev;prev"),
            "d=only c=base,q b=y a=1,2 end");
  EXPECT_EQ(Show({.entries = entries, .snapshot = 4}, "first;next;next;next"),
            "a=1 b=gone c=base end");
  EXPECT_EQ(Show({.entries = entries, .snapshot = 4}, "last;prev;prev;prev"),
            "c=base b=gone a=1 end");
}

TEST(UserIteratorTest, OperandsWithoutAnOperatorAreAnError) {
  const std::string entries = "a1=1 b2+x c1=2";
  const Given given{.entries = entries, .merge_operator = nullptr};
  EXPECT_EQ(Show(given, "first;next"), "a=1 Invalid argument");
  EXPECT_EQ(Show(given, "last;prev"), "c=2 Invalid argument");
  EXPECT_EQ(Show(given, "first;next;seek c"), "a=1 Invalid argument c=2")
      << "a seek clears the error";
}

TEST(UserIteratorTest, TypesThatAreNotImplementedAreErrors) {
  const std::string entries = "a1=1 b5? b4=x c1=2";
  const std::string refused = Status::NotSupported().ToString();
  EXPECT_EQ(Show({.entries = entries}, "first;next"), "a=1 " + refused);
  EXPECT_EQ(Show({.entries = entries}, "last;prev"), "c=2 " + refused);
  EXPECT_EQ(Show({.entries = entries, .snapshot = 4}, "first;next;next"), "a=1 b=x c=2")
      << "the snapshot does not see it";
  EXPECT_EQ(Show({.entries = entries, .snapshot = 4}, "last;prev;prev"), "c=2 b=x a=1");
  EXPECT_EQ(Show({.entries = "b6+y b5?"}, "first;last"), refused + " " + refused)
      << "below operands";
  EXPECT_EQ(Show({.entries = "b6=y b5?"}, "first;last"), "b=y b=y") << "hidden by a newer value";
}

TEST(UserIteratorTest, CursorErrorsStopTheIterator) {
  Script script({.entries = "a1=1 b1=2 c1=3"});
  script.cursor().FailAt("b", Status::Corruption("broken"));
  EXPECT_EQ(script.Run("first;next;seek b;seek c;seek-prev b;seek-prev a"),
            "a=1 Corruption Corruption c=3 Corruption a=1");
  EXPECT_EQ(script.Run("last;seek c;prev"), "Corruption c=3 Corruption")
      << "what lies before the oldest version of c may be a newer one";
}

std::string ManyVersions(const std::string& key, int count, int first_sequence) {
  std::string entries;
  for (int i = 0; i < count; ++i)
    entries +=
        key + std::to_string(first_sequence + i) + "=" + std::to_string(first_sequence + i) + " ";
  return entries;
}

TEST(UserIteratorTest, RunsOfVersionsAreLeftBySeeking) {
  const std::string entries = "a1=a " + ManyVersions("b", 1000, 1) + "c1=c";
  for (const SequenceNumber snapshot : {SequenceNumber{1000}, SequenceNumber{500}}) {
    Script script({.entries = entries, .snapshot = snapshot});
    const std::string b = "b=" + std::to_string(snapshot);
    EXPECT_EQ(script.Run("first;next;next;next"), "a=a " + b + " c=c end");
    EXPECT_LT(script.cursor().steps(), 50u);
    EXPECT_EQ(script.Run("last;prev;prev;prev"), "c=c " + b + " a=a end");
    EXPECT_LT(script.cursor().steps(), 100u);
  }
}

TEST(UserIteratorTest, RunsUnderADeletionAreLeftBySeeking) {
  Script script(
      {.entries = "a1=a b2000- " + ManyVersions("b", 1000, 1) + "c1=c", .snapshot = 3000});
  EXPECT_EQ(script.Run("first;next;next;last;prev;prev"), "a=a c=c end c=c a=a end");
  EXPECT_LT(script.cursor().steps(), 60u);
}

// A table with correct checksums may be out of order. If its index has the separators of other
// blocks, each seek past the versions of a key leads back to them.
TEST(UserIteratorTest, ATableOutOfOrderEndsTheWalk) {
  std::vector<std::string> keys = {MakeInternalKey("a", 30, ValueType::kValue)};
  for (SequenceNumber sequence = 20; sequence > 0; --sequence)
    keys.push_back(
        MakeInternalKey("b", sequence, sequence == 20 ? ValueType::kDeletion : ValueType::kValue));
  keys.push_back(MakeInternalKey("c", 30, ValueType::kValue));
  auto lost = std::make_unique<LostCursor>(keys, 1, keys.size() - 2);
  const LostCursor& cursor = *lost;
  UserIteratorArgs args{.comparator = KeyComparator(BytewiseComparator())};
  args.source.cursor = std::move(lost);
  args.source.sequence = 100;
  UserIterator iterator(std::move(args));
  iterator.SeekToFirst();
  ASSERT_TRUE(iterator.Valid());
  iterator.Next();
  EXPECT_TRUE(iterator.status().IsCorruption()) << iterator.status().ToString();
  iterator.SeekToLast();
  ASSERT_TRUE(iterator.Valid());
  EXPECT_EQ(iterator.key().ToString(), "c");
  iterator.Prev();
  EXPECT_TRUE(iterator.status().IsCorruption()) << iterator.status().ToString();
  EXPECT_FALSE(cursor.IsTired());
}

TEST(UserIteratorTest, ManyNewKeysAreSteppedOverNotSought) {
  std::string entries;
  for (int i = 0; i < 100; ++i)
    entries += "k" + std::string(1, static_cast<char>('a' + i % 26)) +
               std::string(static_cast<size_t>(i / 26), 'x') + "900=new ";
  Script script({.entries = entries + "z1=z"});
  EXPECT_EQ(script.Run("first"), "z=z");
  EXPECT_EQ(script.cursor().seeks(), 1u);
}

TEST(UserIteratorTest, LongOperandChainsMergeBackwardToo) {
  std::string entries = "a1=a b1=0 ";
  std::string expected = "b=0";
  for (int i = 2; i <= 60; ++i) {
    entries += "b" + std::to_string(i) + "+" + std::to_string(i) + " ";
    expected += "," + std::to_string(i);
  }
  EXPECT_EQ(Show({.entries = entries + "c1=c"}, "last;prev;prev"), "c=c " + expected + " a=a");
  EXPECT_EQ(Show({.entries = entries + "c1=c"}, "first;next;prev;next"),
            "a=a " + expected + " a=a " + expected);
}

TEST(UserIteratorTest, LimitOfSkippedEntries) {
  const Given given{.entries = "a1=a b5- b1=x c5- c1=x d1=d", .max_skippable = 3};
  EXPECT_EQ(Show(given, "first;next"), "a=a Result incomplete");
  EXPECT_EQ(Show({.entries = given.entries, .max_skippable = 6}, "first;next;prev"), "a=a d=d a=a");
}

// The version that is shown does not count as skipped, in either direction.
TEST(UserIteratorTest, SkippingIsBoundedAlikeInBothDirections) {
  const Given versions{.entries = "a3=a a2=x a1=x b1=b", .max_skippable = 2};
  EXPECT_EQ(Show(versions, "first;next"), "a=a b=b");
  EXPECT_EQ(Show(versions, "last;prev"), "b=b a=a");
  EXPECT_EQ(Show({.entries = versions.entries, .max_skippable = 1}, "last;prev"),
            "b=b Result incomplete");
  const Given deleted{.entries = "a1=a b5- b1=x c1=c", .max_skippable = 2};
  EXPECT_EQ(Show(deleted, "first;next"), "a=a c=c");
  EXPECT_EQ(Show(deleted, "last;prev"), "c=c a=a");
  EXPECT_EQ(Show({.entries = deleted.entries, .max_skippable = 1}, "last;prev"),
            "c=c Result incomplete");
}

std::string PropertyOf(UserIterator& iterator, const std::string& name) {
  std::string value = "before";
  const Status status = iterator.GetProperty("rocksdb.iterator." + name, &value);
  return status.ok() ? value : status.ToString();
}

// A stopped iteration can continue from there.
TEST(UserIteratorTest, AStoppedMoveTellsWhereItStopped) {
  Script script({.entries = "a1=a b5- c5- d5- e1=e", .max_skippable = 2});
  EXPECT_EQ(script.Run("first"), "a=a");
  EXPECT_EQ(PropertyOf(script.iterator(), "internal-key"), "a");
  EXPECT_EQ(script.Run("next"), "Result incomplete");
  EXPECT_EQ(PropertyOf(script.iterator(), "internal-key"), "d");
  EXPECT_EQ(script.Run("seek d;prev"), "e=e Result incomplete");
  EXPECT_EQ(PropertyOf(script.iterator(), "internal-key"), "b");
  EXPECT_EQ(script.Run("seek-prev b"), "a=a");
  EXPECT_EQ(script.Run("next;seek x"), "Result incomplete end");
  EXPECT_EQ(PropertyOf(script.iterator(), "internal-key"), "x") << "not d, where it was before";
  Script of_empty_key({.entries = "1- a2- b3- c4=c", .max_skippable = 2});
  EXPECT_EQ(of_empty_key.Run("seek-prev b"), "Result incomplete");
  EXPECT_EQ(PropertyOf(of_empty_key.iterator(), "internal-key"), "");
}

TEST(UserIteratorTest, AMoveThatFailsAtItsFirstEntryStoppedAtTheKeyBefore) {
  for (const size_t batch : {size_t{1}, size_t{3}}) {
    SCOPED_TRACE(batch);
    // Below sequence 0 there is no older version.
    Script script({.entries = "a0=1 b0=2 c0=3 d0=4 e0=5", .batch = batch});
    script.cursor().FailAt("d", Status::Incomplete("not cached"));
    EXPECT_EQ(script.Run("first;next;next;next"), "a=1 b=2 c=3 Result incomplete");
    EXPECT_EQ(PropertyOf(script.iterator(), "internal-key"), "c");
    EXPECT_EQ(script.Run("last"), "Result incomplete");
    EXPECT_EQ(PropertyOf(script.iterator(), "internal-key"), "e");
    EXPECT_EQ(script.Run("seek d"), "Result incomplete");
    EXPECT_EQ(PropertyOf(script.iterator(), "internal-key"), "d");
  }
}

TEST(UserIteratorTest, PropertiesOfPinsAndTimes) {
  Script script({.entries = "a1=1"});
  EXPECT_EQ(script.Run("first"), "a=1");
  EXPECT_EQ(PropertyOf(script.iterator(), "is-key-pinned"), "0");
  EXPECT_EQ(PropertyOf(script.iterator(), "is-value-pinned"), "0");
  EXPECT_EQ(PropertyOf(script.iterator(), "write-time"), std::string(8, '\xff'));
  EXPECT_EQ(script.Run("next"), "end");
  EXPECT_EQ(PropertyOf(script.iterator(), "is-key-pinned"), "Iterator is not valid.");
}

TEST(UserIteratorTest, ValuesCanBePinned) {
  Script script({.entries = "a1=first b3+2 b2+1 c1=last"});
  std::vector<PinnableSlice> pinned(6);
  script.Run("first");
  script.iterator().PinValue(&pinned[0]);
  script.Run("next");
  script.iterator().PinValue(&pinned[1]);
  script.Run("next");
  script.iterator().PinValue(&pinned[2]);
  script.Run("last");
  script.iterator().PinValue(&pinned[3]);
  script.Run("prev");
  script.iterator().PinValue(&pinned[4]);
  script.Run("prev");
  script.iterator().PinValue(&pinned[5]);
  script.Run("seek b");
  const char* const expected[] = {"first", "1,2", "last", "last", "1,2", "first"};
  for (size_t i = 0; i < pinned.size(); ++i) {
    EXPECT_EQ(pinned[i].ToString(), expected[i]);
    EXPECT_EQ(pinned[i].IsPinned(), i % 3 != 1) << "only computed values are copied";
  }
  EXPECT_GE(script.cursor().pins(), 4u);
  for (PinnableSlice& value : pinned) value.Reset();
  script.Run("first");
  EXPECT_EQ(script.cursor().pins(), 0u);
}

// A pinned value ends with its pin. Backward it belongs to a version that the cursor has left, and
// forward to an operand.
TEST(UserIteratorTest, ATargetMayBeTheValueThatIsShown) {
  Script script(
      {.entries = "a5+c a3+b b1=a c1=b", .merge_operator = MergeOperators::CreateMaxOperator()});
  UserIterator& it = script.iterator();
  const auto shown = [&] { return it.Valid() ? it.key().ToString() : "end"; };
  EXPECT_EQ(script.Run("last"), "c=b");
  it.Seek(it.value());
  EXPECT_EQ(shown(), "b");
  EXPECT_EQ(script.Run("last"), "c=b");
  it.SeekForPrev(it.value());
  EXPECT_EQ(shown(), "b");
  EXPECT_EQ(script.Run("first"), "a=c");
  it.Seek(it.value());
  EXPECT_EQ(shown(), "c");
  EXPECT_EQ(script.cursor().pins(), 0u) << "the pin ends with the seek";
}

TEST(UserIteratorTest, MergeThatEndsInAnExistingValueIsShownInPlace) {
  const std::pair<std::shared_ptr<MergeOperator>, std::string> cases[] = {
      {MergeOperators::CreatePutOperator(), "a=mmm"},
      {MergeOperators::CreateMaxOperator(), "a=zzz"}};
  for (const auto& [merge_operator, expected] : cases) {
    Script script({.entries = "a5+mmm a3=zzz b1=b", .merge_operator = merge_operator});
    for (const char* move : {"first", "seek-prev a"}) {
      EXPECT_EQ(script.Run(move), expected);
      PinnableSlice value;
      script.iterator().PinValue(&value);
      EXPECT_TRUE(value.IsPinned());
      script.Run("last");
      EXPECT_EQ("a=" + value.ToString(), expected);
    }
    EXPECT_EQ(script.Run("first;next;prev;next"), expected + " b=b " + expected + " b=b");
  }
}

// The result of a merge is the value below the operands, without its first byte.
class DropFirstByte final : public MergeOperator {
 public:
  const char* Name() const override { return "test.DropFirstByte"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    out->existing_operand = *in.existing_value;
    out->existing_operand.remove_prefix(1);
    return true;
  }
};

TEST(UserIteratorTest, MergeThatEndsInAPartOfAValueIsShownInPlace) {
  Script script(
      {.entries = "a5+x a3=mno b1=b", .merge_operator = std::make_shared<DropFirstByte>()});
  for (const char* move : {"first", "seek-prev a"}) {
    EXPECT_EQ(script.Run(move), "a=no");
    script.iterator().CheckInvariants();
    PinnableSlice value;
    script.iterator().PinValue(&value);
    EXPECT_TRUE(value.IsPinned());
    script.Run("last");
    EXPECT_EQ(value.ToString(), "no");
  }
  EXPECT_EQ(script.Run("first;next;prev;next"), "a=no b=b a=no b=b");
}

// Renews the source with a function of the test.
class ScriptedRenewal final : public SourceRenewal {
 public:
  using Function = std::function<Result<bool>(const Request& request, IteratorSource* source)>;
  explicit ScriptedRenewal(Function renew) : renew_(std::move(renew)) {}

  bool IsDue() const override { return is_due; }
  Result<bool> Renew(const Request& request, IteratorSource* source) override {
    is_due = false;
    return renew_(request, source);
  }

  bool is_due = false;

 private:
  const Function renew_;
};

TEST(UserIteratorTest, RefreshReplacesTheSource) {
  const KeyComparator comparator{BytewiseComparator()};
  UserIteratorArgs args{.comparator = comparator};
  args.source.cursor = std::make_unique<VectorCursor>(comparator, ParseEntries("a1=old"));
  args.source.sequence = 1;
  int refreshes = 0;
  args.renewal = std::make_unique<ScriptedRenewal>(
      [&](const SourceRenewal::Request& request, IteratorSource* source) -> Result<bool> {
        EXPECT_NE(source->cursor, nullptr);
        EXPECT_FALSE(request.in_walk);
        if (++refreshes == 2) return Status::Aborted("closing");
        if (refreshes == 3) throw std::bad_alloc();
        source->cursor = std::make_unique<VectorCursor>(comparator, ParseEntries("a1=old a2=new"));
        source->sequence = 2;
        source->view_number = 9;
        return true;
      });
  UserIterator iterator(std::move(args));
  iterator.SeekToFirst();
  EXPECT_EQ(iterator.value(), Slice("old"));
  ASSERT_TRUE(iterator.Refresh().ok());
  EXPECT_FALSE(iterator.Valid());
  iterator.SeekToFirst();
  EXPECT_EQ(iterator.value(), Slice("new"));
  std::string number;
  ASSERT_TRUE(iterator.GetProperty("rocksdb.iterator.super-version-number", &number).ok());
  EXPECT_EQ(number, "9");
  // A failed refresh does not change the state that the iterator reads.
  EXPECT_TRUE(iterator.Refresh().IsAborted());
  EXPECT_FALSE(iterator.Valid());
  EXPECT_TRUE(iterator.status().IsAborted());
  EXPECT_TRUE(iterator.Refresh().IsMemoryLimit());
  iterator.SeekToFirst();
  EXPECT_EQ(iterator.value(), Slice("new"));
}

class SnapshotAt100 final : public Snapshot {
 public:
  SequenceNumber GetSequenceNumber() const override { return 100; }
  int64_t GetUnixTime() const override { return 0; }
};

// An iterator whose source is renewed from the entries in `now`.
struct Renewed {
  explicit Renewed(RenewedBy by, const std::string& entries) : now(entries) {
    UserIteratorArgs args{.comparator = comparator};
    args.source.cursor = std::make_unique<VectorCursor>(comparator, ParseEntries(entries));
    args.source.sequence = 100;
    args.renewed_by = by;
    if (by == RenewedBy::kNewerView) args.snapshot = &snapshot;
    auto scripted = std::make_unique<ScriptedRenewal>(
        [this](const SourceRenewal::Request& request, IteratorSource* source) -> Result<bool> {
          EXPECT_EQ(request.snapshot, wanted);
          ++renewals;
          if (!error.ok()) return error;
          source->cursor = std::make_unique<VectorCursor>(comparator, ParseEntries(now));
          return true;
        });
    renewal = scripted.get();
    wanted = args.snapshot;
    args.renewal = std::move(scripted);
    iterator = std::make_unique<UserIterator>(std::move(args));
  }
  std::string Shown() const {
    if (iterator->Valid()) return iterator->key().ToString() + "=" + iterator->value().ToString();
    return iterator->status().ok() ? "end" : iterator->status().ToString();
  }

  const KeyComparator comparator{BytewiseComparator()};
  const SnapshotAt100 snapshot;
  const Snapshot* wanted = nullptr;
  std::string now;
  Status error;
  int renewals = 0;
  ScriptedRenewal* renewal = nullptr;
  std::unique_ptr<UserIterator> iterator;
};

TEST(UserIteratorTest, ATailLooksAgainAtASeekAtTheEndAndWhereAViewIsNewer) {
  Renewed tail(RenewedBy::kTailing, "a1=1 c1=3");
  tail.iterator->SeekToFirst();
  EXPECT_EQ(tail.renewals, 1);
  tail.now = "a1=1 b1=2 c1=3 d1=4 f1=-";
  tail.iterator->Next();
  EXPECT_EQ(tail.Shown(), "c=3");
  EXPECT_EQ(tail.renewals, 1);
  tail.iterator->Next();  // the end of the old state
  EXPECT_EQ(tail.Shown(), "d=4");
  EXPECT_EQ(tail.renewals, 2);
  tail.now = "a1=1 d1=4 e1=5 g1=7";
  tail.renewal->is_due = true;
  tail.iterator->Next();
  EXPECT_EQ(tail.Shown(), "e=5");
  EXPECT_EQ(tail.renewals, 3);
  tail.now = "e5=5";
  tail.iterator->Next();
  EXPECT_EQ(tail.Shown(), "g=7");
  tail.iterator->Next();
  EXPECT_EQ(tail.Shown(), "end");
  tail.now = "e5=5 g8=8";
  tail.iterator->Seek("e0");
  EXPECT_EQ(tail.Shown(), "g=8");
}

// The end may follow deleted keys. Entries written between the last shown key and it are found.
TEST(UserIteratorTest, ATailGoesOnAfterTheKeyThatItHasShown) {
  Renewed tail(RenewedBy::kTailing, "a1=1 m1- x1-");
  tail.iterator->SeekToFirst();
  tail.now = "a1=1 b2=2 m1- x1-";
  tail.iterator->Next();
  EXPECT_EQ(tail.Shown(), "b=2");
}

TEST(UserIteratorTest, ATailMovesForwardOnly) {
  Renewed tail(RenewedBy::kTailing, "a1=1 b1=2");
  const auto refused = [&] {
    return !tail.iterator->Valid() && tail.iterator->status().IsNotSupported();
  };
  tail.iterator->SeekToLast();
  EXPECT_TRUE(refused());
  tail.iterator->SeekForPrev("b");
  EXPECT_TRUE(refused());
  tail.iterator->Seek("b");
  EXPECT_EQ(tail.Shown(), "b=2");
  tail.iterator->Prev();
  EXPECT_TRUE(refused());
  tail.iterator->SeekToFirst();
  EXPECT_EQ(tail.Shown(), "a=1");
}

TEST(UserIteratorTest, AFailedRenewalEndsTheMove) {
  Renewed tail(RenewedBy::kTailing, "a1=1");
  tail.iterator->SeekToFirst();
  tail.error = Status::Aborted("closing");
  tail.iterator->Next();
  EXPECT_TRUE(tail.iterator->status().IsAborted()) << tail.Shown();
  tail.iterator->Seek("a");
  EXPECT_TRUE(tail.iterator->status().IsAborted()) << tail.Shown();
  tail.error = Status::OK();
  tail.iterator->Seek("a");
  EXPECT_EQ(tail.Shown(), "a=1");
}

TEST(UserIteratorTest, AnIteratorOfASnapshotGoesOnInANewerViewInBothDirections) {
  const std::string entries = "a1=1 b1=2 c1+x c0=y d1=4 e1=5";
  Renewed renewed(RenewedBy::kNewerView, entries);
  UserIterator& it = *renewed.iterator;
  it.Seek("b");
  EXPECT_EQ(renewed.renewals, 0);
  renewed.now = "a1=1 b1=2 c200=new c1=3 d1=4 e1=5";
  renewed.renewal->is_due = true;
  it.Next();
  EXPECT_EQ(renewed.Shown(), "c=3");
  renewed.renewal->is_due = true;
  it.Prev();
  EXPECT_EQ(renewed.Shown(), "b=2");
  renewed.renewal->is_due = true;
  it.Prev();
  EXPECT_EQ(renewed.Shown(), "a=1");
  renewed.renewal->is_due = true;
  it.Next();
  EXPECT_EQ(renewed.Shown(), "b=2");
  renewed.renewal->is_due = true;
  it.SeekForPrev("d5");
  EXPECT_EQ(renewed.Shown(), "d=4");
  renewed.renewal->is_due = true;
  it.SeekToLast();
  EXPECT_EQ(renewed.Shown(), "e=5");
  EXPECT_EQ(renewed.renewals, 6);
  it.Next();
  EXPECT_EQ(renewed.Shown(), "end");
  EXPECT_EQ(renewed.renewals, 6);
  // Without a snapshot the iterator stays in its view.
  renewed.wanted = nullptr;
  ASSERT_TRUE(it.Refresh().ok());
  EXPECT_EQ(renewed.renewals, 7);
  renewed.renewal->is_due = true;
  it.SeekToFirst();
  EXPECT_EQ(renewed.renewals, 7);
}

TEST(UserIteratorTest, UnknownPropertyIsRefused) {
  Script script({.entries = "a1=1"});
  std::string value;
  EXPECT_TRUE(
      script.iterator().GetProperty("rocksdb.iterator.nonsense", &value).IsInvalidArgument());
  EXPECT_TRUE(script.iterator().Refresh().IsNotSupported());
}

// --- a model ---

struct UserLess {
  const Comparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator->Compare(a, b) < 0;
  }
};
using UserView = std::map<std::string, std::string, UserLess>;

// The user's view of the data, computed by applying the writes in the order of their sequences.
UserView ViewAt(const Comparator* comparator, const std::vector<TestEntry>& by_sequence,
                SequenceNumber snapshot) {
  UserView view(UserLess{comparator});
  for (const TestEntry& entry : by_sequence) {
    if (entry.sequence > snapshot) break;
    if (entry.type == ValueType::kValue) {
      view[entry.user_key] = entry.value;
    } else if (entry.type == ValueType::kMerge) {
      const auto it = view.find(entry.user_key);
      if (it == view.end()) {
        view[entry.user_key] = entry.value;
      } else {
        it->second += "," + entry.value;
      }
    } else {
      view.erase(entry.user_key);
    }
  }
  return view;
}

TEST(UserIteratorModelTest, RandomWalksAgreeWithTheModel) {
  const std::shared_ptr<MergeOperator> merge_operator =
      MergeOperators::CreateStringAppendOperator(',');
  for (uint64_t seed = 1; seed <= 90; ++seed) {
    Random random(seed);
    const NamedComparator& order = TestComparators()[seed % 3];
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << order.name);
    const KeyComparator comparator(order.comparator);

    const uint64_t keys = 1 + random.Uniform(random.OneIn(2) ? 40 : 400);
    // Keys of one or of several lengths, which differ in front, in the middle or at the end.
    const std::string before(random.OneIn(2) ? random.Uniform(20) : 0, 'k');
    const std::string behind(random.OneIn(2) ? random.Uniform(20) : 0, 'k');
    const uint64_t first_key = random.OneIn(2) ? 1000 : 0;
    const auto random_key = [&] {
      return before + std::to_string(first_key + random.Uniform(keys)) + behind;
    };
    const bool mostly_values = random.OneIn(2);
    std::vector<TestEntry> entries;
    const uint64_t writes = random.Uniform(400);
    for (SequenceNumber sequence = 1; sequence <= writes; ++sequence) {
      static constexpr ValueType kTypes[] = {ValueType::kValue,    ValueType::kValue,
                                             ValueType::kMerge,    ValueType::kMerge,
                                             ValueType::kDeletion, ValueType::kSingleDeletion};
      const ValueType type =
          mostly_values && !random.OneIn(10) ? ValueType::kValue : kTypes[random.Uniform(6)];
      entries.push_back({random_key(), sequence, type, std::to_string(sequence)});
    }
    const SequenceNumber snapshot =
        random.OneIn(2) ? kSequenceNumberMax : random.Uniform(writes + 1);
    UserView view = ViewAt(order.comparator, entries, snapshot);

    std::vector<std::vector<TestEntry>> parts(1 + random.Uniform(5));
    for (const TestEntry& entry : entries) parts[random.Uniform(parts.size())].push_back(entry);
    std::vector<std::unique_ptr<InternalCursor>> children;
    for (auto& part : parts) {
      auto child = std::make_unique<VectorCursor>(comparator, std::move(part));
      child->SetBatch(1 + random.Uniform(9));
      children.push_back(std::move(child));
    }

    UserIteratorArgs args{.comparator = comparator};
    args.merge_operator = merge_operator.get();
    args.max_sequential_skip = random.Uniform(10);
    args.source.cursor = NewMergingCursor(comparator, std::move(children));
    args.source.sequence = snapshot;
    std::string lower = random_key();
    std::string upper = random_key();
    const Slice lower_slice(lower);
    const Slice upper_slice(upper);
    if (random.OneIn(3)) {
      args.lower_bound = &lower_slice;
      view.erase(view.begin(), view.lower_bound(lower));
    }
    if (random.OneIn(3)) {
      args.upper_bound = &upper_slice;
      view.erase(view.lower_bound(upper), view.end());
    }
    UserIterator iterator(std::move(args));

    auto expected = view.end();
    const auto step_back = [&](UserView::iterator it) {
      return it == view.begin() ? view.end() : std::prev(it);
    };
    uint64_t move = 0;
    uint64_t repeat = 0;
    PinnableSlice pinned;
    std::string pinned_value;
    for (int i = 0; i < 500; ++i) {
      const std::string target = random_key();
      // Runs of steps that may span several batches.
      move = repeat > 0 && iterator.Valid() ? move : random.Uniform(iterator.Valid() ? 20 : 4);
      repeat = repeat > 0 ? repeat - 1 : (move < 4 ? 0 : random.Skewed(6));
      switch (move) {
        case 0:
          iterator.SeekToFirst();
          expected = view.begin();
          break;
        case 1:
          iterator.SeekToLast();
          expected = step_back(view.end());
          break;
        case 2:
          iterator.Seek(target);
          expected = view.lower_bound(target);
          break;
        case 3:
          iterator.SeekForPrev(target);
          expected = step_back(view.upper_bound(target));
          break;
        case 4:
        case 5:
        case 6:
        case 7:
        case 8:
        case 9:
        case 10:
        case 11:
          iterator.Next();
          ++expected;
          break;
        default: iterator.Prev(); expected = step_back(expected);
      }
      ASSERT_TRUE(iterator.status().ok());
      ASSERT_EQ(iterator.Valid(), expected != view.end());
      if (!iterator.Valid()) continue;
      ASSERT_EQ(iterator.key().ToString(), expected->first);
      ASSERT_EQ(iterator.value().ToString(), expected->second);
      ASSERT_EQ(pinned.ToString(), pinned_value);
      if (random.OneIn(4)) {
        pinned.Reset();
        iterator.PinValue(&pinned);
        pinned_value = expected->second;
      }
    }
    pinned.Reset();
  }
}

}  // namespace
}  // namespace ashlar

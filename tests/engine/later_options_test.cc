// Options of RocksDB releases after 7.8 that change a database's behaviour.
#include "ashlar/slice_transform.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

class LaterOptionsTest : public DatabaseFixture {
 protected:
  // The keys from `key` on that an iterator with these options returns.
  std::string KeysFrom(const Slice& key, const ReadOptions& options) const {
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    std::string keys;
    for (it->Seek(key); it->Valid(); it->Next()) keys += it->key().ToString() + " ";
    EXPECT_OK(it->status());
    return keys;
  }
};

TEST_F(LaterOptionsTest, PrefixSeekOptInOnlyMakesIteratorsOfTotalOrder) {
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
  // One table for each prefix: a seek in prefix mode does not read the other prefix's table.
  for (const bool opt_in_only : {false, true}) {
    options_.prefix_seek_opt_in_only = opt_in_only;
    Open();
    for (const char* const key : {"a1", "c1"}) {
      Put(key, "v");
      Flush();
    }
    EXPECT_EQ(KeysFrom("b", ReadOptions()), opt_in_only ? "c1 " : "");
    ReadOptions prefix;
    prefix.prefix_same_as_start = true;
    EXPECT_EQ(KeysFrom("c", prefix), "c1 ") << "the mode that was asked for";
    EXPECT_EQ(KeysFrom("b", prefix), "");
  }
}

TEST_F(LaterOptionsTest, ValuesArePreparedAlways) {
  Open();
  Put("a", "1");
  ReadOptions unprepared;
  unprepared.allow_unprepared_value = true;
  const std::unique_ptr<Iterator> it(db_->NewIterator(unprepared));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_TRUE(it->PrepareValue());
  EXPECT_EQ(it->value(), Slice("1"));
}

TEST_F(LaterOptionsTest, AtomicFlushOfOneCallIsRefused) {
  Open();
  FlushOptions flush;
  flush.force_atomic_flush = true;
  EXPECT_TRUE(db_->Flush(flush).IsNotSupported());
  Put("a", "1");
  Close();
  options_.disallow_memtable_writes = true;
  EXPECT_TRUE(TryOpen().IsNotSupported());
}

}  // namespace
}  // namespace ashlar

#include "ashlar/customizable.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/comparator.h"
#include "ashlar/convenience.h"
#include "ashlar/merge_operator.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"

namespace ashlar {
namespace {

struct ScaleOptions {
  static const char* kName() { return "ScaleOptions"; }
  int factor = 3;
};

// A program's object, such as a clock, with options and a second name.
class Scale : public Customizable {
 public:
  static const char* kClassName() { return "Scale"; }
  const char* Name() const override { return kClassName(); }
  Status PrepareOptions(const ConfigOptions&) override {
    ++prepared;
    return Status::OK();
  }
  int prepared = 0;

 protected:
  const char* NickName() const override { return "scale"; }
  const void* GetOptionsPtr(const std::string& name) const override {
    return name == ScaleOptions::kName() ? &options_ : nullptr;
  }

 private:
  ScaleOptions options_;
};

class Wrapper final : public Customizable {
 public:
  explicit Wrapper(Customizable* inner) : inner_(inner) {}
  static const char* kClassName() { return "Wrapper"; }
  const char* Name() const override { return kClassName(); }
  const Customizable* Inner() const override { return inner_; }

 private:
  Customizable* const inner_;
};

class Absent final : public Scale {
 public:
  static const char* kClassName() { return "Absent"; }
};

TEST(Customizable, AnObjectIsFoundInsideItsWrappers) {
  Scale scale;
  Wrapper inner(&scale);
  Wrapper outer(&inner);
  EXPECT_EQ(outer.CheckedCast<Wrapper>(), &outer);
  EXPECT_EQ(outer.CheckedCast<Scale>(), &scale);
  EXPECT_EQ(outer.CheckedCast<Absent>(), nullptr);
  EXPECT_TRUE(scale.IsInstanceOf("Scale"));
  EXPECT_TRUE(scale.IsInstanceOf("scale"));
  EXPECT_FALSE(scale.IsInstanceOf(""));
  EXPECT_FALSE(outer.IsInstanceOf("Scale"));
  const auto* const options = static_cast<const Customizable&>(outer).GetOptions<ScaleOptions>();
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->factor, 3);
  outer.GetOptions<ScaleOptions>()->factor = 4;
  EXPECT_EQ(options->factor, 4);
  ASSERT_TRUE(outer.PrepareOptions(ConfigOptions()).ok());
  EXPECT_EQ(scale.prepared, 1);
}

TEST(Customizable, AnObjectIsItsText) {
  const ConfigOptions config_options;
  std::string text;
  ASSERT_TRUE(BytewiseComparator()->GetOptionString(config_options, &text).ok());
  EXPECT_EQ(text, "leveldb.BytewiseComparator");
  EXPECT_EQ(BytewiseComparator()->ToString(config_options), text);
  const auto append = MergeOperators::CreateStringAppendOperator(':');
  ASSERT_TRUE(append->GetOptionString(config_options, &text).ok());
  EXPECT_EQ(text, "id=StringAppendOperator;delimiter=:;");
  EXPECT_EQ(append->ToString(config_options), "{id=StringAppendOperator;delimiter=:;}");
  const std::unique_ptr<const SliceTransform> prefix(NewFixedPrefixTransform(8));
  EXPECT_EQ(prefix->ToString(config_options), "rocksdb.FixedPrefix.8");
}

TEST(Customizable, ATableFactoryIsMadeAgainFromItsText) {
  BlockBasedTableOptions table;
  table.block_size = 8192;
  const std::unique_ptr<TableFactory> factory(NewBlockBasedTableFactory(table));
  const std::string text = factory->ToString(ConfigOptions());
  EXPECT_TRUE(text.starts_with("{id=BlockBasedTable;")) << text;
  ColumnFamilyOptions made;
  const Status parsed =
      GetColumnFamilyOptionsFromString(ConfigOptions(), {}, "table_factory=" + text, &made);
  ASSERT_TRUE(parsed.ok()) << parsed.ToString();
  EXPECT_EQ(made.table_factory->GetOptions<BlockBasedTableOptions>()->block_size, 8192u);
  EXPECT_EQ(made.table_factory->GetOptions<PlainTableOptions>(), nullptr);
  EXPECT_NE(factory->GetPrintableOptions().find("block_size=8192\n"), std::string::npos);
}

}  // namespace
}  // namespace ashlar

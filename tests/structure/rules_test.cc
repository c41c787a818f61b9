// Tests the rules, first on small trees that break them and then on this source tree.
#include "tests/structure/rules.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/places.h"

namespace ashlar::structure {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

SourceTree Tree(std::vector<SourceFile> files) { return {.files = std::move(files), .texts = {}}; }

TEST(ParseIncludesTest, TakesBothFormsAndNothingElse) {
  const SourceFile file = MakeSourceFile("src/base/a.h",
                                         "// #include \"no.h\"\n#include <vector>\n  #  include "
                                         "\"base/b.h\"  // why\n#include MACRO\n");
  const std::vector<Include> includes = ParseIncludes(file);
  ASSERT_EQ(includes.size(), 2U);
  EXPECT_EQ(includes[0].target, "vector");
  EXPECT_TRUE(includes[0].angled);
  EXPECT_EQ(includes[1].target, "base/b.h");
  EXPECT_EQ(includes[1].line_number, 3U);
}

TEST(LayersTest, ALowerLayerMayNotIncludeAHigherOne) {
  const SourceTree tree = Tree({MakeSourceFile("src/base/a.h", "#include \"wal/writer.h\"\n")});
  EXPECT_THAT(CheckLayers(tree), ElementsAre("src/base/a.h:1: base (1) may not include wal (5)"));
}

TEST(LayersTest, SiblingsMayNotIncludeEachOther) {
  const SourceTree tree = Tree({MakeSourceFile("src/wal/a.cc", "#include \"cache/cache.h\"\n")});
  EXPECT_THAT(CheckLayers(tree), ElementsAre(HasSubstr("wal (5) may not include cache (5)")));
}

TEST(LayersTest, OwnFolderLowerLayersAndPublicHeadersAreAllowed) {
  const SourceTree tree = Tree({MakeSourceFile(
      "src/table/block/a.cc",
      "#include \"table/filter/b.h\"\n#include \"base/b.h\"\n#include \"ashlar/db.h\"\n")});
  EXPECT_THAT(CheckLayers(tree), IsEmpty());
}

TEST(LayersTest, OnlyTestsIncludeTestHelpers) {
  const std::string_view text = "#include \"tests/support/temp.h\"\n#include \"gtest/gtest.h\"\n";
  EXPECT_THAT(CheckLayers(Tree({MakeSourceFile("src/wal/a_test.cc", text),
                                MakeSourceFile("src/wal/a_test_kit.h", text)})),
              IsEmpty());
  EXPECT_THAT(CheckLayers(Tree({MakeSourceFile("src/wal/a.cc", text)})),
              ElementsAre(HasSubstr(":1:"), HasSubstr(":2:")));
}

TEST(LayersTest, ANewFolderNeedsANumber) {
  EXPECT_THAT(CheckLayers(Tree({MakeSourceFile("src/misc/a.cc", "")})),
              ElementsAre(HasSubstr("src/misc has no layer number")));
}

TEST(LayersTest, PublicHeadersAndExamplesStayPublic) {
  const SourceTree tree =
      Tree({MakeSourceFile("include/ashlar/a.h",
                           "#include <string>\n#include \"ashlar/b.h\"\n#include "
                           "\"base/b.h\"\n#include <zstd.h>\n"),
            MakeSourceFile("examples/a.cc", "#include \"ashlar/db.h\"\n#include \"base/b.h\"\n")});
  EXPECT_THAT(CheckLayers(tree),
              ElementsAre(HasSubstr("a.h:3:"), HasSubstr("a.h:4:"), HasSubstr("a.cc:2:")));
}

TEST(LayersTest, TheCInterfaceIsWrittenOnPublicHeaders) {
  const SourceTree tree = Tree(
      {MakeSourceFile("src/capi/a.cc",
                      "#include \"ashlar/db.h\"\n#include \"capi/b.h\"\n#include \"base/b.h\"\n")});
  EXPECT_THAT(CheckLayers(tree), ElementsAre(HasSubstr("src/capi/a.cc:3:")));
}

TEST(LayersTest, OnlyTheHeadersInRocksDbsNameIncludeOneAnother) {
  const std::string_view text =
      "#include <stdint.h>\n#include \"ashlar/db.h\"\n#include \"rocksdb/db.h\"\n";
  EXPECT_THAT(CheckLayers(Tree({MakeSourceFile("include/rocksdb/a.h", text)})), IsEmpty());
  EXPECT_THAT(CheckLayers(Tree({MakeSourceFile("include/ashlar/a.h", text)})),
              ElementsAre(HasSubstr("a.h:3:")));
}

TEST(IncludesExistTest, ANameThatIsNoFileIsReported) {
  const SourceTree tree =
      Tree({MakeSourceFile("src/base/a.h", ""),
            MakeSourceFile("src/wal/b.cc", "#include \"base/a.h\"\n#include \"base/gone.h\"\n")});
  EXPECT_THAT(CheckIncludesExist(tree), ElementsAre(HasSubstr("src/wal/b.cc:2:")));
}

TEST(CyclesTest, HeadersThatIncludeEachOtherAreReportedOnce) {
  const SourceTree tree = Tree({MakeSourceFile("src/base/a.h", "#include \"base/b.h\"\n"),
                                MakeSourceFile("src/base/b.h", "#include \"base/c.h\"\n"),
                                MakeSourceFile("src/base/c.h", "#include \"base/a.h\"\n")});
  EXPECT_THAT(CheckNoHeaderCycles(tree),
              ElementsAre("cycle: src/base/a.h -> src/base/b.h -> src/base/c.h -> src/base/a.h"));
}

TEST(CyclesTest, PairsThatIncludeEachOtherAreReported) {
  const SourceTree tree = Tree({MakeSourceFile("src/lsm/a.h", ""),
                                MakeSourceFile("src/lsm/a.cc", "#include \"lsm/b.h\"\n"),
                                MakeSourceFile("src/lsm/b.h", "#include \"lsm/a.h\"\n"),
                                MakeSourceFile("src/lsm/b_test.cc", "#include \"lsm/b.h\"\n")});
  EXPECT_THAT(CheckNoHeaderCycles(tree), IsEmpty());
  EXPECT_THAT(CheckNoPairCycles(tree), ElementsAre("cycle: src/lsm/a -> src/lsm/b -> src/lsm/a"));
}

TEST(CyclesTest, SubfoldersThatIncludeEachOtherAreReported) {
  const SourceTree tree =
      Tree({MakeSourceFile("src/table/block/a.h", ""),
            MakeSourceFile("src/table/block/a.cc", "#include \"table/filter/b.h\"\n"),
            MakeSourceFile("src/table/filter/b.h", ""),
            MakeSourceFile("src/table/filter/b.cc", "#include \"table/block/a.h\"\n")});
  EXPECT_THAT(CheckNoHeaderCycles(tree), IsEmpty());
  EXPECT_THAT(CheckNoFolderCycles(tree),
              ElementsAre("cycle: src/table/block -> src/table/filter -> src/table/block"));
}

TEST(OperatingSystemTest, ItsHeadersAndMacrosBelongToThePlatformFolder) {
  const std::string_view text =
      "#include <unistd.h>\n#include <sys/mman.h>\n#ifdef _WIN32\n#endif\n";
  EXPECT_THAT(CheckOperatingSystem(Tree({MakeSourceFile("src/platform/posix/a.cc", text)})),
              IsEmpty());
  EXPECT_THAT(CheckOperatingSystem(Tree({MakeSourceFile("src/wal/a.cc", text)})),
              ElementsAre(HasSubstr(":1:"), HasSubstr(":2:"), HasSubstr(":3:")));
  EXPECT_THAT(
      CheckOperatingSystem(Tree({MakeSourceFile("tests/kill/a.cc", "#include <unistd.h>\n")})),
      IsEmpty());
  for (const char* const path : {"tests/kill/a.cc", "tests/support/a.h", "tools/ashlar/a.cc",
                                 "include/ashlar/a.h", "bench/driver/a.cc"}) {
    EXPECT_THAT(CheckOperatingSystem(Tree({MakeSourceFile(path, "#if defined(_WIN32)\n#endif\n")})),
                ElementsAre(HasSubstr(":1: _WIN32")))
        << path;
  }
}

TEST(LinesTest, TabsBlanksReturnsAndLongLinesAreReported) {
  const std::string longest = "int x" + std::string(kLineColumnsMax - 6, 'x');
  const SourceTree tree = Tree({MakeSourceFile(
      "src/base/a.cc", "\tint a;\nint b; \nint c;\r\n" + longest + "é\n" + longest + "xx\n")});
  EXPECT_THAT(CheckLines(tree), ElementsAre(HasSubstr(":1: a tab"), HasSubstr(":2: blanks"),
                                            HasSubstr(":3: a carriage"), HasSubstr(":5: longer")));
}

TEST(LinesTest, OneWordMayBeLong) {
  const std::string word(kLineColumnsMax + 1, 'x');
  const SourceTree tree = Tree({MakeSourceFile(
      "src/base/a.cc", "    " + word + "\n// " + word + "\n// a link: " + word + "\n")});
  EXPECT_THAT(CheckLines(tree), ElementsAre(HasSubstr(":3: longer")));
}

TEST(LinesTest, OtherLanguagesAreChecked) {
  const std::string words = std::string(60, 'x') + " " + std::string(60, 'y');
  const SourceTree tree = {.files = {}, .texts = {MakeSourceFile("dev", "# " + words + "\n\tx\n")}};
  EXPECT_THAT(CheckLines(tree), ElementsAre("dev:1: longer than 100 columns", "dev:2: a tab"));
}

TEST(DocumentsTest, LongLinesOfTextAreReported) {
  const std::string words = std::string(60, 'x') + " " + std::string(60, 'y');
  const SourceTree tree = Tree({MakeSourceFile(
      "docs/a.md", words + "\n| " + words + " |\n    " + words + "\n- item\n    " + words +
                       "\n\n```\n" + words + "\n```\n[link](" + std::string(110, 'z') + ")\n")});
  EXPECT_THAT(CheckDocuments(tree),
              ElementsAre(HasSubstr("docs/a.md:1: longer"), HasSubstr("docs/a.md:5: longer")));
}

TEST(OptionListsTest, AnOptionThatItsListLacksIsReported) {
  const SourceFile table =
      MakeSourceFile("src/config/option_table.cc",
                     "ASHLAR_OPTION(a, kHonoured, kFixed),\nASHLAR_OPTION(\n    b, kAccepted),\n"
                     "ASHLAR_OPTION(c, kRefusedWriting, kFixed),\n");
  const auto document = [](const std::string& accepted) {
    return MakeSourceFile("docs/compatibility.md",
                          "`b`\n**Honoured**, by subject: `a`\n**Refused** unless: `c`\n"
                          "**Accepted**, without effect: " +
                              accepted + "\n**Counters and events.** `b`\n");
  };
  EXPECT_THAT(CheckOptionLists(Tree({table, document("`b`")})), IsEmpty());
  EXPECT_THAT(CheckOptionLists(Tree({table, document("b, `bb`")})),
              ElementsAre("src/config/option_table.cc:2: b is not in the list \"Accepted\" of "
                          "docs/compatibility.md"));
  EXPECT_THAT(CheckOptionLists(Tree({table, MakeSourceFile("docs/compatibility.md", "`a`")})),
              SizeIs(3));
}

TEST(CounterListsTest, ACounterThatTheListLacksOrThatNothingCountsIsReported) {
  const SourceFile header =
      MakeSourceFile("include/ashlar/statistics.h",
                     "enum Tickers {\n  A_A = 0,\n  B_B,\n  TICKER_ENUM_MAX,\n};\n");
  const SourceFile source =
      MakeSourceFile("src/lsm/a.cc", "Tick(A_A);  // not B_B\nif (t == TICKER_ENUM_MAX) return;\n");
  const SourceFile test = MakeSourceFile("src/lsm/a_test.cc", "EXPECT_EQ(Count(B_B), 0);\n");
  const auto check = [&](const char* document) {
    return CheckCounterLists(
        Tree({header, source, test, MakeSourceFile("docs/observability.md", document)}));
  };
  EXPECT_THAT(check("`A_A`"), IsEmpty());
  EXPECT_THAT(check("`A_A_A`"), ElementsAre("include/ashlar/statistics.h:2: A_A is counted, and "
                                            "not in docs/observability.md"));
  EXPECT_THAT(check("`A_A`, `B_B`"), ElementsAre("include/ashlar/statistics.h:3: B_B is in "
                                                 "docs/observability.md, and not counted"));
}

TEST(BannersTest, ALongerOneIsReportedOnceAtItsFirstLineTooMany) {
  const auto banner = [](size_t lines) {
    std::string text;
    for (size_t i = 0; i < lines; ++i) text += "// text\n";
    return text + "#pragma once\n";
  };
  EXPECT_THAT(CheckBanners(Tree({MakeSourceFile("src/base/a.h", banner(kBannerLinesMax))})),
              IsEmpty());
  EXPECT_THAT(CheckBanners(Tree({MakeSourceFile("src/base/a.h", banner(kBannerLinesMax + 9))})),
              ElementsAre(HasSubstr("src/base/a.h:26: a banner")));
  EXPECT_THAT(CheckBanners(Tree({MakeSourceFile("src/base/README.md", banner(30))})), IsEmpty());
}

TEST(AssertionsTest, AConditionThatChangesSomethingIsReported) {
  const SourceTree tree = Tree({MakeSourceFile(
      "src/base/a.cc",
      "ASHLAR_ASSERT(keys.insert(key).second);\nASHLAR_DCHECK(name == \"--x\" && a == b);\n"
      "if (a) ASHLAR_ASSERT(\n    f(1) && (b) &&\n    --n > 0);\nASHLAR_ASSERT(a <= b);\n")});
  EXPECT_THAT(CheckAssertions(tree),
              ElementsAre(HasSubstr("src/base/a.cc:1: an assertion with \"insert(\""),
                          HasSubstr("src/base/a.cc:3: an assertion with \"--\"")));
}

TEST(GuardedMembersTest, TheListedFilesAloneUseThem) {
  const std::string uses =
      "bool f() { return table->being_compacted; }\nfiles[0].coverage.covered_bytes = 1;\n"
      "auto& c = of(a).coverage;\nc.counted_at_level = 1;\nParts p{.coverage = &coverage_};\n";
  EXPECT_THAT(
      CheckGuardedMembers(Tree(
          {MakeSourceFile("src/lsm/a.cc", uses), MakeSourceFile("src/compact/plan/a.cc", uses)})),
      ElementsAre(HasSubstr("src/lsm/a.cc:1: being_compacted"),
                  HasSubstr("src/lsm/a.cc:2: coverage"), HasSubstr("src/lsm/a.cc:3: coverage"),
                  HasSubstr("src/lsm/a.cc:4: counted_at_level")));
}

TEST(GuardedMembersTest, AMemberOfThatNameOfAPublicStructIsAnother) {
  EXPECT_THAT(
      CheckGuardedMembers(Tree({MakeSourceFile(
          "src/lsm/properties.cc", "out->being_compacted = f();\nin->being_compacted;\n")})),
      ElementsAre(HasSubstr("src/lsm/properties.cc:2: being_compacted")));
}

TEST(GuardedMembersTest, AScanWithoutTheLockReadsTheAtomicOne) {
  EXPECT_THAT(
      CheckGuardedMembers(Tree({MakeSourceFile(
          "src/compact/plan/range_coverage.cc",
          "return file->coverage.hidden_since != 0 || f();\nn += a->coverage.covered_bytes;\n"
          "file->coverage.hidden_since = 0;\n")})),
      ElementsAre(HasSubstr("range_coverage.cc:2: coverage"),
                  HasSubstr("range_coverage.cc:3: coverage")));
}

TEST(LeftoversTest, WholeWordsOnly) {
  const SourceTree tree = Tree({MakeSourceFile("src/base/a.cc", "int TODOS;\n// TODO: later\n"),
                                MakeSourceFile("src/base/README.md", "FIXME\n")});
  EXPECT_THAT(CheckNoLeftovers(tree), ElementsAre(HasSubstr("a.cc:2:"), HasSubstr("README.md:1:")));
}

TEST(LocksTest, StandardLocksBelongToThePlatformFolder) {
  for (const std::string_view text :
       {"std::mutex m;\n", "std::latch l(1);\n", "word.notify_one();\n"}) {
    EXPECT_THAT(CheckLocks(Tree({MakeSourceFile("src/platform/mutex.h", text)})), IsEmpty());
    EXPECT_THAT(CheckLocks(Tree({MakeSourceFile("src/lsm/a.h", text)})),
                ElementsAre(HasSubstr("src/lsm/a.h:1:")));
  }
}

TEST(LocksTest, TestsWaitAtGates) {
  for (const std::string_view text : {"std::latch l(1);\n", "closed.notify_all();\n"}) {
    EXPECT_THAT(CheckLocks(Tree({MakeSourceFile("tests/support/gate.h", text),
                                 MakeSourceFile("tests/schedule/a.cc", text)})),
                IsEmpty());
    EXPECT_THAT(CheckLocks(Tree({MakeSourceFile("tests/engine/a_test.cc", text)})),
                ElementsAre(HasSubstr("tests/engine/a_test.cc:1:")));
  }
}

TEST(PathsTest, FilesAreOpenedByThePlatformFolder) {
  for (const std::string_view text :
       {"#include <filesystem>\n", "namespace fs = std::filesystem;\n", "std::ofstream f(name);\n",
        "FILE* f = fopen(name, mode);\n", "std::ifstream f(name);\n"}) {
    for (const char* const path : {"tools/ashlar/a.cc", "tools/db_bench/a.h", "src/lsm/a.cc"}) {
      EXPECT_THAT(CheckPaths(Tree({MakeSourceFile(path, text)})), ElementsAre(HasSubstr(":1: ")))
          << path << text;
    }
    for (const char* const path :
         {"src/platform/posix/a.cc", "tools/ashlar/a_test.cc", "tests/cli/a.cc", "examples/a.cc"})
      EXPECT_THAT(CheckPaths(Tree({MakeSourceFile(path, text)})), IsEmpty()) << path << text;
  }
  EXPECT_THAT(CheckPaths(Tree({MakeSourceFile("tools/ashlar/a.cc", "#include <map>\n")})),
              IsEmpty());
}

TEST(HeaderShapeTest, CommentThenPragma) {
  EXPECT_THAT(
      CheckHeaderShape(Tree({MakeSourceFile("src/a/a.h", "// What for.\n\n#pragma once\n")})),
      IsEmpty());
  EXPECT_THAT(CheckHeaderShape(Tree({MakeSourceFile("src/a/a.h", "#pragma once\n")})),
              ElementsAre(HasSubstr("opens with")));
  EXPECT_THAT(CheckHeaderShape(Tree({MakeSourceFile(
                  "src/a/a.h", "// What for.\n#include <string>\n#pragma once\n")})),
              ElementsAre(HasSubstr("#pragma once")));
}

TEST(FolderReadmeTest, FoldersWithCodeNeedOne) {
  const SourceTree tree = Tree({MakeSourceFile("src/a/a.h", ""), MakeSourceFile("src/b/b.h", ""),
                                MakeSourceFile("src/b/README.md", "")});
  EXPECT_THAT(CheckFolderReadme(tree), ElementsAre(HasSubstr("src/a:")));
}

// Checks this source tree.
class ThisTree : public ::testing::Test {
 protected:
  static const SourceTree& Get() {
    static const SourceTree kTree = ReadSourceTree(kSourceDir);
    return kTree;
  }
  // One line per violation, so that a failure can be worked off from top to bottom.
  static void ExpectNone(const Violations& violations) {
    std::string text;
    for (const std::string& violation : violations) text += "\n  " + violation;
    EXPECT_TRUE(violations.empty()) << violations.size() << " violations" << text;
  }
};

TEST_F(ThisTree, EveryLanguageIsRead) {
  std::vector<std::string> texts;
  for (const SourceFile& file : Get().texts) texts.push_back(file.path);
  EXPECT_THAT(texts, IsSupersetOf({".ci/run", "CMakeLists.txt", "bench/run.py",
                                   "bindings/java/src/native.h", "bindings/java/src/native.cc",
                                   "bindings/java/src/option_members.inc",
                                   "bindings/java/test/BindingTest.java", "cmake/AshlarTest.cmake",
                                   "cmake/windows/wine.sh", "dev", "src/CMakeLists.txt",
                                   "tests/install/run.cmake"}));
  EXPECT_THAT(texts, Not(Contains(HasSubstr("README"))));
}
TEST_F(ThisTree, IncludesGoDownTheLayers) { ExpectNone(CheckLayers(Get())); }
TEST_F(ThisTree, QuotedIncludesAreItsOwnFiles) { ExpectNone(CheckIncludesExist(Get())); }
TEST_F(ThisTree, HeadersHaveNoCycles) { ExpectNone(CheckNoHeaderCycles(Get())); }
TEST_F(ThisTree, PairsHaveNoCycles) { ExpectNone(CheckNoPairCycles(Get())); }
TEST_F(ThisTree, FoldersHaveNoCycles) { ExpectNone(CheckNoFolderCycles(Get())); }
TEST_F(ThisTree, KnowsTheOperatingSystemInOneFolder) { ExpectNone(CheckOperatingSystem(Get())); }
TEST_F(ThisTree, LinesAreClean) { ExpectNone(CheckLines(Get())); }
TEST_F(ThisTree, DocumentsAreWrapped) { ExpectNone(CheckDocuments(Get())); }
TEST_F(ThisTree, BannersAreShort) { ExpectNone(CheckBanners(Get())); }
TEST_F(ThisTree, NothingIsLeftForLater) { ExpectNone(CheckNoLeftovers(Get())); }
TEST_F(ThisTree, LocksAreAnalysed) { ExpectNone(CheckLocks(Get())); }
TEST_F(ThisTree, AssertionsChangeNothing) { ExpectNone(CheckAssertions(Get())); }
TEST_F(ThisTree, OpensFilesThroughThePlatformFolder) { ExpectNone(CheckPaths(Get())); }
TEST_F(ThisTree, GuardedMembersHaveFewUsers) { ExpectNone(CheckGuardedMembers(Get())); }
TEST_F(ThisTree, HeadersHaveOneShape) { ExpectNone(CheckHeaderShape(Get())); }
TEST_F(ThisTree, FoldersAreExplained) { ExpectNone(CheckFolderReadme(Get())); }
TEST_F(ThisTree, EveryOptionIsListed) { ExpectNone(CheckOptionLists(Get())); }
TEST_F(ThisTree, EveryCounterIsListed) { ExpectNone(CheckCounterLists(Get())); }

}  // namespace
}  // namespace ashlar::structure

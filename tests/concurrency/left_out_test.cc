// Reads the public headers and the sources of this suite. A method or a function of the library
// that no entry calls must be listed here, with its reason.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "base/format.h"
#include "tests/concurrency/calls.h"
#include "tests/support/places.h"

namespace ashlar {
namespace {

using Names = std::set<std::string, std::less<>>;

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The sources of the entries.
const std::string& Sources() {
  static const std::string sources = [] {
    std::string text;
    for (const char* const name :
         {"calls.cc", "backup_calls.cc", "tree_calls.cc", "scene.cc", "tree_scene.cc"})
      text += Read(StrCat(kSourceDir, "/tests/concurrency/", name));
    return text;
  }();
  return sources;
}

// Returns whether the sources call a method or a function of this name, which may be an entry's.
bool IsCalled(const std::string& name) {
  const std::string& sources = Sources();
  const std::string call = name + "(";
  for (size_t at = sources.find(call); at != std::string::npos; at = sources.find(call, at + 1)) {
    const char before = sources[at - 1];
    const std::string_view arguments = std::string_view(sources).substr(at + call.size());
    const bool is_whole = std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_';
    const bool is_entry =
        arguments.starts_with("const CallArgs&") || arguments.starts_with("const TreeCallArgs&");
    if (is_whole && !is_entry) return true;
  }
  return false;
}

Names VirtualMethods(const std::string& header, const std::string& class_name) {
  const std::string text = Read(StrCat(kSourceDir, "/include/ashlar/", header));
  const size_t begin = text.find(StrCat("class ASHLAR_API ", class_name, " "));
  EXPECT_NE(begin, std::string::npos) << class_name;
  if (begin == std::string::npos) return {};
  const std::string body = text.substr(begin, text.find("\n};", begin) - begin);
  const std::regex method(R"(virtual [^;(]*?(\w+)\()");
  Names names;
  for (std::sregex_iterator found(body.begin(), body.end(), method), end; found != end; ++found)
    names.insert((*found)[1]);
  names.erase(class_name);  // the destructor
  return names;
}

// The functions that public headers declare. Inline ones forward to these and to methods.
Names PublicFunctions() {
  Names names;
  const std::filesystem::path folder = std::filesystem::path(kSourceDir) / "include" / "ashlar";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    // The C interface calls the same methods.
    if (entry.path().extension() != ".h" || entry.path().filename() == "c.h") continue;
    const std::string text = "\n" + Read(entry.path().string());
    const std::string_view mark = "\nASHLAR_API ";
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
      const size_t end = text.find_first_of("(;{", at);
      if (end == std::string::npos || text[end] != '(') continue;
      const size_t begin = text.find_last_of(" *&\n", end - 1) + 1;
      names.insert(text.substr(begin, end - begin));
    }
  }
  return names;
}

struct LeftOut {
  const char* reason;
  const char* names;  // words
};

constexpr LeftOut kFunctionsLeftOut[] = {
    {"makes an object for options, or names a value: it shares nothing",
     "BytewiseComparator CreateDBStatistics DurabilityClassName GetAshlarVersionAsString "
     "GetCacheEntryRoleName GetCompactionReasonString GetFlushReasonString "
     "GetRocksBuildInfoAsString GetRocksBuildProperties GetRocksVersionAsString "
     "NewBloomFilterPolicy NewCappedPrefixTransform NewClockCache "
     "NewCompactOnDeletionCollectorFactory NewCuckooTableFactory NewEmptyIterator "
     "NewErrorIterator NewFixedPrefixTransform NewHashLinkListRepFactory "
     "NewHashSkipListRepFactory NewMemEnv NewNoopTransform NewPlainTableFactory "
     "NewRibbonFilterPolicy NewSstFileManager NewSstPartitionerFixedPrefixFactory "
     "NewTimedEnv ReverseBytewiseComparator ToEngineFiles ToRocksFiles"},
    {"options as text, and back: a function of its arguments",
     "GetBlockBasedTableOptionsFromMap GetBlockBasedTableOptionsFromString "
     "GetColumnFamilyOptionsFromMap GetColumnFamilyOptionsFromString GetDBOptionsFromMap "
     "GetDBOptionsFromString GetOptionsFromString GetPlainTableOptionsFromMap "
     "GetPlainTableOptionsFromString GetStringFromColumnFamilyOptions "
     "GetStringFromCompressionType GetStringFromDBOptions GetSupportedCompressions "
     "StringToMap"},
    {"of a file or a logger of the program",
     "CreateLoggerFromOptions Debug Error Fatal Header Info Log LogFlush NewEnvLogger "
     "ReadFileToString Warn WriteStringToFile"},
    {"of the calling thread", "GetPerfLevel SetPerfLevel get_perf_context"},
    {"forwards to a method that DeleteFilesInRange calls, too", "DeleteFilesInRanges"},
    {"is refused while the database is open (tests/faults/orphan_test.cc)", "RepairDB"},
    {"LoadLatestOptions calls it", "LoadOptionsFromFile"},
};

TEST(LeftOutTest, EachMethodOfAnEntryIsCalled) {
  for (const struct Call& call : Calls()) {
    for (const std::string_view method : call.methods) {
      // The function that the entry calls forwards to it.
      const std::string_view name = method == "DeleteFilesInRanges" ? "DeleteFilesInRange" : method;
      EXPECT_TRUE(IsCalled(std::string(name))) << call.name << " does not call DB::" << method;
    }
  }
}

TEST(LeftOutTest, NoMethodOfTheOtherObjectsIsLeftOut) {
  struct Object {
    const char* header;
    const char* class_name;
    Names left_out;
  };
  const Object objects[] = {
      {"backup_engine.h", "BackupEngineReadOnly", {}},
      // CreateNewBackup calls it.
      {"backup_engine.h", "BackupEngine", {"CreateNewBackupWithMetadata"}},
      {"checkpoint.h", "Checkpoint", {}},
      // Constant once the tree is open.
      {"persistent_tree.h", "PersistentTree", {"comparator", "durability_class", "path"}},
  };
  for (const Object& object : objects) {
    const Names methods = VirtualMethods(object.header, object.class_name);
    EXPECT_FALSE(methods.empty()) << object.class_name;
    for (const std::string& name : methods) {
      EXPECT_TRUE(object.left_out.contains(name) || IsCalled(name))
          << object.class_name << "::" << name << " runs against no other call";
    }
  }
}

TEST(LeftOutTest, NoFunctionIsLeftOutWithoutAReason) {
  Names functions = PublicFunctions();
  EXPECT_GT(functions.size(), 60U);
  for (const LeftOut& group : kFunctionsLeftOut) {
    std::istringstream words(group.names);
    for (std::string name; words >> name;) {
      EXPECT_FALSE(IsCalled(name)) << name << " is called, and listed as one that is not";
      EXPECT_EQ(functions.erase(name), 1U) << name << " is in no header, or listed twice";
    }
  }
  for (const std::string& name : functions) {
    EXPECT_TRUE(IsCalled(name)) << name << " runs against no other call: add it to calls.cc";
  }
}

}  // namespace
}  // namespace ashlar

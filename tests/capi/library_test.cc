// The shared library as a language binding uses it. It is loaded at run time, and every function of
// ashlar/c.h is found by its name and called through that.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "ashlar/c.h"
#include "tests/support/places.h"
#include "tests/support/shared_library.h"

namespace ashlar {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Returns the names of the functions that the header declares: RocksDB's, or Ashlar's own.
std::set<std::string> DeclaredFunctions(const std::string& prefix = "rocksdb") {
  std::set<std::string> names;
  const std::string text = ReadFile(std::string(kSourceDir) + "/include/ashlar/c.h");
  const std::regex declaration("ASHLAR_API [^(;]*?(" + prefix + "_\\w+)\\(");
  for (std::sregex_iterator it(text.begin(), text.end(), declaration), end; it != end; ++it)
    names.insert((*it)[1]);
  return names;
}

class LibraryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    library_.emplace(SharedLibrary::AshlarPath());
    ASSERT_TRUE(library_->loaded()) << library_->error();
  }

  // The library's function of that name, which has the type of the declaration.
  template <typename Function>
  Function* Find(const char* name, Function* /*declaration*/) {
    return reinterpret_cast<Function*>(library_->Find(name));
  }

  std::optional<SharedLibrary> library_;
};

TEST_F(LibraryTest, ExportsEveryFunctionOfTheHeader) {
  const std::set<std::string> names = DeclaredFunctions();
  EXPECT_GT(names.size(), 700U);
  for (const std::string& name : names) EXPECT_NE(library_->Find(name), nullptr) << name;
  EXPECT_FALSE(DeclaredFunctions("ashlar").empty());
  for (const std::string& name : DeclaredFunctions("ashlar"))
    EXPECT_NE(library_->Find(name), nullptr) << name;
  EXPECT_EQ(library_->Find("rocksdb_transaction_begin"), nullptr) << "what is not there is absent";
}

TEST_F(LibraryTest, HasAsManyFunctionsAsTheDocumentsSay) {
  const std::string number = std::to_string(DeclaredFunctions().size()) + " functions";
  for (const char* const document : {"/README.md", "/CHANGELOG.md"}) {
    std::string text = ReadFile(std::string(kSourceDir) + document);
    std::ranges::replace(text, '\n', ' ');
    EXPECT_NE(text.find(number), std::string::npos) << document << " does not say " << number;
  }
}

#define ASHLAR_TEST_FIND(name) const auto name = Find("rocksdb_" #name, &rocksdb_##name)

TEST_F(LibraryTest, WorksThroughItsSymbols) {
  ASHLAR_TEST_FIND(options_create);
  ASHLAR_TEST_FIND(options_destroy);
  ASHLAR_TEST_FIND(options_set_create_if_missing);
  ASHLAR_TEST_FIND(open);
  ASHLAR_TEST_FIND(close);
  ASHLAR_TEST_FIND(destroy_db);
  ASHLAR_TEST_FIND(writeoptions_create);
  ASHLAR_TEST_FIND(writeoptions_destroy);
  ASHLAR_TEST_FIND(readoptions_create);
  ASHLAR_TEST_FIND(readoptions_destroy);
  ASHLAR_TEST_FIND(put);
  ASHLAR_TEST_FIND(get);
  ASHLAR_TEST_FIND(free);

  const std::string directory = ::testing::TempDir() + "ashlar_capi_library";
  char* error = nullptr;
  rocksdb_options_t* const options = options_create();
  options_set_create_if_missing(options, 1);
  destroy_db(options, directory.c_str(), &error);
  ASSERT_EQ(error, nullptr) << error;
  rocksdb_t* const db = open(options, directory.c_str(), &error);
  ASSERT_EQ(error, nullptr) << error;
  rocksdb_writeoptions_t* const write = writeoptions_create();
  put(db, write, "key", 3, "value", 5, &error);
  ASSERT_EQ(error, nullptr) << error;
  rocksdb_readoptions_t* const read = readoptions_create();
  size_t size = 0;
  char* const value = get(db, read, "key", 3, &size, &error);
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(std::string(value, size), "value");
  free(value);
  readoptions_destroy(read);
  writeoptions_destroy(write);
  close(db);
  destroy_db(options, directory.c_str(), &error);
  EXPECT_EQ(error, nullptr) << error;
  options_destroy(options);
}

#undef ASHLAR_TEST_FIND

}  // namespace
}  // namespace ashlar

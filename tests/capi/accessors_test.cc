// Every setter of ashlar/c.h that has a getter: the getter returns the value that was set, and no
// setter changes another option.
//
// The pairs are found in the text of the header, and called in the library loaded at run time, so
// that a new pair is tested without an edit here.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/places.h"
#include "tests/support/shared_library.h"

namespace ashlar {
namespace {

struct Pair {
  std::string object;  // "options" in rocksdb_options_set_max_open_files
  std::string option;
  std::string type;  // of the value
};

std::string HeaderText() {
  std::ifstream in(std::string(kSourceDir) + "/include/ashlar/c.h");
  std::ostringstream text;
  text << in.rdbuf();
  return std::regex_replace(text.str(), std::regex("\\s+"), " ");
}

std::vector<Pair> PairsOf(const std::string& header) {
  std::map<std::string, std::string> getters;  // "object.option" to the type
  const std::regex getter(
      "ASHLAR_API ([a-z0-9_ ]+?) rocksdb_(\\w+?)_get_(\\w+)\\( ?rocksdb_\\w+\\* options\\)");
  for (std::sregex_iterator it(header.begin(), header.end(), getter), end; it != end; ++it)
    getters[(*it)[2].str() + "." + (*it)[3].str()] = (*it)[1];
  std::vector<Pair> pairs;
  const std::regex setter(
      "void rocksdb_(\\w+?)_set_(\\w+)\\( ?rocksdb_\\w+\\* options, ([a-z0-9_ ]+?) value\\)");
  for (std::sregex_iterator it(header.begin(), header.end(), setter), end; it != end; ++it) {
    const auto found = getters.find((*it)[1].str() + "." + (*it)[2].str());
    if (found != getters.end() && found->second == (*it)[3].str())
      pairs.push_back({(*it)[1], (*it)[2], (*it)[3]});
  }
  return pairs;
}

// The functions of one pair, for one object.
class Accessors {
 public:
  Accessors(const SharedLibrary& library, const Pair& pair, void* object)
      : object_(object),
        type_(pair.type),
        setter_(library.Find("rocksdb_" + pair.object + "_set_" + pair.option)),
        getter_(library.Find("rocksdb_" + pair.object + "_get_" + pair.option)) {}

  void Set(int value) const {
    WithType([&](auto zero) {
      using T = decltype(zero);
      reinterpret_cast<void (*)(void*, T)>(setter_)(object_, static_cast<T>(value));
    });
  }
  double Get() const {
    double value = 0;
    WithType([&](auto zero) {
      value = static_cast<double>(reinterpret_cast<decltype(zero) (*)(void*)>(getter_)(object_));
    });
    return value;
  }

 private:
  template <typename Use>
  void WithType(const Use& use) const {
    if (type_ == "unsigned char" || type_ == "uint8_t") {
      use(uint8_t{0});
    } else if (type_ == "int") {
      use(0);
    } else if (type_ == "unsigned int" || type_ == "uint32_t") {
      use(uint32_t{0});
    } else if (type_ == "int64_t") {
      use(int64_t{0});
    } else if (type_ == "uint64_t" || type_ == "size_t") {
      use(uint64_t{0});
    } else if (type_ == "double") {
      use(0.0);
    } else {
      ADD_FAILURE() << "a type unknown to this test: " << type_;
    }
  }

  void* const object_;
  const std::string type_;
  void* const setter_;
  void* const getter_;
};

class AccessorsTest : public ::testing::Test {
 protected:
  AccessorsTest() : library_(SharedLibrary::AshlarPath()) {}
  void SetUp() override { ASSERT_TRUE(library_.loaded()) << library_.error(); }

  // Some objects are created with a path or with sizes, arguments that the others ignore.
  void* Create(const std::string& object) const {
    void* const create = library_.Find("rocksdb_" + object + "_create");
    if (object == "hyper_clock_cache_options")
      return reinterpret_cast<void* (*)(size_t, size_t)>(create)(1 << 20, 0);
    return reinterpret_cast<void* (*)(const char*)>(create)("backups");
  }
  void Destroy(const std::string& object, void* options) const {
    reinterpret_cast<void (*)(void*)>(library_.Find("rocksdb_" + object + "_destroy"))(options);
  }

  SharedLibrary library_;
};

TEST_F(AccessorsTest, ReturnTheValueThatWasSet) {
  const std::vector<Pair> pairs = PairsOf(HeaderText());
  EXPECT_GT(pairs.size(), 280U);
  for (const Pair& pair : pairs) {
    SCOPED_TRACE("rocksdb_" + pair.object + "_set_" + pair.option);
    void* const object = Create(pair.object);
    const Accessors accessors(library_, pair, object);
    std::vector<int> values = {1, 0};
    // Flags are 0 and 1.
    if (pair.type != "unsigned char" && pair.option != "use_fsync") values.push_back(4);
    for (const int value : values) {
      accessors.Set(value);
      EXPECT_EQ(accessors.Get(), value);
    }
    Destroy(pair.object, object);
  }
}

TEST_F(AccessorsTest, LeaveAllOtherOptionsAlone) {
  std::map<std::string, std::vector<Pair>> by_object;
  for (const Pair& pair : PairsOf(HeaderText())) by_object[pair.object].push_back(pair);
  for (const auto& [name, pairs] : by_object) {
    void* const object = Create(name);
    std::vector<Accessors> options;
    for (const Pair& pair : pairs) options.emplace_back(library_, pair, object);
    for (const Accessors& option : options) option.Set(0);
    for (size_t i = 0; i < options.size(); ++i) {
      options[i].Set(1);
      double sum = 0;
      for (const Accessors& other : options) sum += other.Get();
      EXPECT_EQ(sum, 1.0) << name << "_set_" << pairs[i].option << " changes another option, too";
      options[i].Set(0);
    }
    Destroy(name, object);
  }
}

}  // namespace
}  // namespace ashlar

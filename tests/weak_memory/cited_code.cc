#include "tests/weak_memory/cited_code.h"

#include <fstream>
#include <sstream>

#include "tests/support/places.h"

namespace ashlar {

namespace {

// Returns the words of a text with one blank between them.
std::string InOneLine(std::istream& in) {
  std::string line;
  for (std::string word; in >> word;) line += word + " ";
  return line;
}

std::string InOneLine(const std::string& text) {
  std::istringstream in(text);
  std::string line = InOneLine(in);
  if (!line.empty()) line.pop_back();
  return line;
}

// Returns the text from `from` to the brace that ends its body, or an empty text if there is none.
std::string DefinitionIn(const std::string& code, const std::string& from) {
  const size_t begin = code.find(from);
  if (begin == std::string::npos) return {};
  int depth = 0;
  for (size_t at = code.find('{', begin); at < code.size(); ++at) {
    if (code[at] == '{') ++depth;
    if (code[at] == '}' && --depth == 0) return code.substr(begin, at + 1 - begin);
  }
  return {};
}

}  // namespace

testing::AssertionResult CitedCode(const std::string& path, const std::string& from,
                                   const std::vector<std::string>& texts) {
  std::ifstream file(std::string(kSourceDir) + "/" + path);
  const std::string code = DefinitionIn(InOneLine(file), InOneLine(from));
  if (code.empty()) return testing::AssertionFailure() << path << ": no definition of " << from;
  std::string left_out;
  size_t at = 0;
  for (const std::string& text : texts) {
    const std::string cited = InOneLine(text);
    const size_t found = code.find(cited, at);
    if (found == std::string::npos) {
      return testing::AssertionFailure()
             << path << ", in " << from
             << ": the model's step is not there, or elsewhere: " << text;
    }
    left_out += code.substr(at, found - at);
    at = found + cited.size();
  }
  left_out += code.substr(at);
  if (const size_t order = left_out.find("memory_order_"); order != std::string::npos) {
    return testing::AssertionFailure()
           << path << ", in " << from << ": an atomic operation that is not cited, before \""
           << left_out.substr(order, 60) << '"';
  }
  return testing::AssertionSuccess();
}

}  // namespace ashlar

#include "tests/weak_memory/cited_code.h"

#include <fstream>
#include <sstream>

#include "tests/support/places.h"

namespace ashlar {

namespace {

// The words of a text with one blank between them.
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

}  // namespace

testing::AssertionResult CitedCode(const std::string& path, const std::string& from,
                                   const std::vector<std::string>& texts) {
  std::ifstream file(std::string(kSourceDir) + "/" + path);
  const std::string code = InOneLine(file);
  size_t at = code.find(InOneLine(from));
  if (at == std::string::npos) return testing::AssertionFailure() << path << ": no " << from;
  for (const std::string& text : texts) {
    const std::string cited = InOneLine(text);
    at = code.find(cited, at);
    if (at == std::string::npos) {
      return testing::AssertionFailure()
             << path << ", after " << from
             << ": the model's step is not there, or elsewhere: " << text;
    }
    at += cited.size();
  }
  return testing::AssertionSuccess();
}

}  // namespace ashlar

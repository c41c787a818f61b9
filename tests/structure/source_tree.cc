#include "tests/structure/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "gtest/gtest.h"

namespace ashlar::structure {

std::string_view SourceFile::Folder() const {
  const std::string_view all = path;
  const size_t slash = all.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : all.substr(0, slash);
}

std::string_view SourceFile::Name() const {
  const std::string_view all = path;
  const size_t slash = all.rfind('/');
  return slash == std::string_view::npos ? all : all.substr(slash + 1);
}

bool SourceFile::IsHeader() const { return path.ends_with(".h"); }

bool SourceFile::IsCode() const {
  return IsHeader() || path.ends_with(".cc") || path.ends_with(".c");
}

bool SourceFile::IsDocument() const { return path.ends_with(".md"); }

bool SourceFile::IsOtherLanguage() const {
  for (const std::string_view ending : {".py", ".java", ".cmake", ".sh", ".inc"}) {
    if (path.ends_with(ending)) return true;
  }
  return Name() == "CMakeLists.txt" || path == "dev" || path == ".ci/run";
}

bool SourceFile::IsTest() const {
  return path.ends_with("_test.cc") || path.ends_with("_test_kit.h") || IsIn("tests");
}

bool SourceFile::IsIn(std::string_view folder) const {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

SourceFile MakeSourceFile(std::string path, std::string_view text) {
  SourceFile file{.path = std::move(path), .lines = {}};
  while (!text.empty()) {
    const size_t end = text.find('\n');
    file.lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return file;
}

SourceTree ReadSourceTree(const std::string& root) {
  namespace fs = std::filesystem;
  SourceTree tree;
  const auto read = [&](const fs::directory_entry& entry, bool with_code) {
    const SourceFile named = {.path = entry.path().lexically_relative(root).generic_string(),
                              .lines = {}};
    const bool is_file = named.IsDocument() || (named.IsCode() && with_code);
    if (!is_file && !named.IsCode() && !named.IsOtherLanguage()) return;
    if (!entry.is_regular_file()) return;
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    EXPECT_FALSE(in.bad()) << named.path;
    (is_file ? tree.files : tree.texts).push_back(MakeSourceFile(named.path, text.str()));
  };
  const auto read_below = [&](std::string_view folder, bool with_code) {
    const fs::path top = fs::path(root) / folder;
    if (!fs::is_directory(top)) return;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top))
      read(entry, with_code);
  };
  for (const std::string_view folder : kFolders) read_below(folder, true);
  for (const std::string_view folder : kOtherFolders) read_below(folder, false);
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) read(entry, false);
  for (std::vector<SourceFile>* const files : {&tree.files, &tree.texts}) {
    std::sort(files->begin(), files->end(),
              [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  }
  EXPECT_FALSE(tree.files.empty()) << "no sources below " << root;
  return tree;
}

std::vector<Include> ParseIncludes(const SourceFile& file) {
  std::vector<Include> includes;
  for (size_t i = 0; i < file.lines.size(); i++) {
    std::string_view rest = file.lines[i];
    const auto skip_blanks = [&rest] {
      rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    };
    const auto skip = [&rest](std::string_view word) {
      if (!rest.starts_with(word)) return false;
      rest.remove_prefix(word.size());
      return true;
    };
    skip_blanks();
    if (!skip("#")) continue;
    skip_blanks();
    if (!skip("include")) continue;
    skip_blanks();
    if (rest.empty() || (rest[0] != '"' && rest[0] != '<')) continue;
    const bool angled = rest[0] == '<';
    const size_t end = rest.find(angled ? '>' : '"', 1);
    if (end == std::string_view::npos) continue;
    includes.push_back(
        {.line_number = i + 1, .target = std::string(rest.substr(1, end - 1)), .angled = angled});
  }
  return includes;
}

}  // namespace ashlar::structure

// SourceTree: the project's files as text, for the tests that check the shape of the code.
//
// Paths are relative to the root of the tree, with '/' between components, in ascending order. Only
// the folders named below are read, so ignored files are not. Templates (.in, .j2) and data (.txt,
// .toml, .json) are not read either, because the files made from them determine their lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ashlar::structure {

// The folders with code, below the root.
inline constexpr std::string_view kFolders[] = {"bench", "examples", "include",
                                                "src",   "tests",    "tools"};
// Folders in which, as in kFolders and in the root itself, documents and texts are read.
inline constexpr std::string_view kOtherFolders[] = {".ci", "bindings", "cmake", "docs"};

struct SourceFile {
  std::string path;
  std::vector<std::string> lines;  // without the line ends

  std::string_view Folder() const;  // "src/base" for "src/base/coding.h"
  std::string_view Name() const;    // "arena.h"
  bool IsHeader() const;            // .h
  bool IsCode() const;              // .h, .cc or .c
  bool IsDocument() const;          // .md
  bool IsOtherLanguage() const;     // Python, Java, CMake, shell, and lists of C++ (.inc)
  bool IsTest() const;  // *_test.cc, the code that they share in *_test_kit.h, everything in tests/
  bool IsIn(std::string_view folder) const;  // the folder itself or one below it
};

struct SourceTree {
  std::vector<SourceFile> files;  // code below kFolders, and all documents
  std::vector<SourceFile> texts;  // code elsewhere and other languages; only CheckLines reads them
};

// Fails the current test if the root cannot be read.
SourceTree ReadSourceTree(const std::string& root);

// Makes a file from the given text, for tests of the rules themselves.
SourceFile MakeSourceFile(std::string path, std::string_view text);

// One #include line.
struct Include {
  size_t line_number;  // from 1
  std::string target;  // between the quotes or the brackets
  bool angled;         // <target>
};
std::vector<Include> ParseIncludes(const SourceFile& file);

}  // namespace ashlar::structure

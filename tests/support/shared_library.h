// SharedLibrary: a library loaded at run time, as a language binding loads it. It is never
// unloaded, because its threads outlive every test.
//
// Thread safety: any thread.
#pragma once

#include <string>

namespace ashlar {

class SharedLibrary {
 public:
  // If the system refuses, loaded() returns false and error() says why.
  explicit SharedLibrary(const std::string& path);

  // The file in the build tree. Builds without the shared library omit the tests that use it.
  static std::string AshlarPath();

  bool loaded() const { return handle_ != nullptr; }
  const std::string& error() const { return error_; }
  // Returns null if the library exports no such name.
  void* Find(const std::string& name) const;

 private:
  void* handle_ = nullptr;
  std::string error_;
};

}  // namespace ashlar

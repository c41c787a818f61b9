// SharedLibrary: a library loaded at run time, as a language binding does it. It stays loaded: its
// threads outlive every test.
//
// Thread safety: any thread.
#pragma once

#include <string>

namespace ashlar {

class SharedLibrary {
 public:
  // Null inside when the system refuses; Error says why.
  explicit SharedLibrary(const std::string& path);

  // The file of the build tree. Builds without the shared library leave out the tests that use it.
  static std::string AshlarPath();

  bool loaded() const { return handle_ != nullptr; }
  const std::string& error() const { return error_; }
  // Null when the library exports nothing of that name.
  void* Find(const std::string& name) const;

 private:
  void* handle_ = nullptr;
  std::string error_;
};

}  // namespace ashlar

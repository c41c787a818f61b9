// Library: a shared library opened with RTLD_LOCAL, so that only its C functions reach the
// driver.
#pragma once

#include <string>

namespace ashlar::bench {

class Library {
 public:
  // Stays open until the process ends, because threads of the library may still run.
  explicit Library(const std::string& path);

  // Returns null if the library does not export it.
  void* Find(const char* function) const;

  // Sets a function pointer. Ends the process as not available if the library does not export it.
  template <typename Function>
  void Load(const char* name, Function** function) const {
    *function = reinterpret_cast<Function*>(Require(name));
  }

 private:
  void* Require(const char* function) const;

  const std::string path_;
  void* const handle_;
};

}  // namespace ashlar::bench

// Library: a shared library opened for itself (RTLD_LOCAL), so that nothing but its C functions
// reaches the driver.
#pragma once

#include <string>

namespace ashlar::bench {

class Library {
 public:
  // Stays open until the process ends: threads of the library may still run.
  explicit Library(const std::string& path);

  // Null if the library does not export it.
  void* Find(const char* function) const;

  // Fills a function pointer; the process ends as not available if the library does not export it.
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

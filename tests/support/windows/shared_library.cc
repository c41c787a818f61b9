#include "tests/support/shared_library.h"

#include "platform/windows/windows_headers.h"

#include "tests/support/places.h"

namespace ashlar {

SharedLibrary::SharedLibrary(const std::string& path) : handle_(LoadLibraryA(path.c_str())) {
  if (handle_ == nullptr) error_ = "error " + std::to_string(GetLastError());
}

std::string SharedLibrary::AshlarPath() { return kSharedLibrary; }

void* SharedLibrary::Find(const std::string& name) const {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), name.c_str()));
}

}  // namespace ashlar

#include "capi/transfer.h"

#include "ashlar/c.h"

namespace ashlar::capi {

char* CopyText(const Slice& text) {
  char* const copy = static_cast<char*>(Allocate(text.size() + 1));
  if (!text.empty()) memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

char* CopyValue(const Slice& value, size_t* size, char** errptr) {
  char* const copy = TryCopyBytes(value);
  *size = copy == nullptr ? 0 : value.size();
  if (copy == nullptr) SetError(errptr, Status::MemoryLimit());
  return copy;
}

void SetError(char** errptr, const Status& status) {
  if (errptr == nullptr) return;
  std::free(*errptr);
  *errptr = CopyError(status);
}

}  // namespace ashlar::capi

void rocksdb_free(void* ptr) noexcept { std::free(ptr); }

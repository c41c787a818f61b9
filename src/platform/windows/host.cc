#include "platform/host.h"

#include "platform/windows/file_io.h"
#include "platform/windows/windows_headers.h"
#include "platform/windows/windows_path.h"

namespace ashlar {

std::string HostName() {
  DWORD length = 0;
  GetComputerNameExW(ComputerNameDnsHostname, nullptr, &length);
  std::wstring name(length, L'\0');
  if (length == 0 || !GetComputerNameExW(ComputerNameDnsHostname, name.data(), &length)) return "";
  return ToUtf8(name.data(), length);
}

Result<std::string> AbsolutePath(const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(const std::wstring absolute, ToSystemPath(path));
  return ToUtf8(absolute);
}

Result<bool> AreSameFile(const std::string& first, const std::string& second) {
  ASHLAR_ASSIGN_OR_RETURN(const UniqueHandle one, OpenName("inspect", first, FILE_READ_ATTRIBUTES));
  ASHLAR_ASSIGN_OR_RETURN(const UniqueHandle two,
                          OpenName("inspect", second, FILE_READ_ATTRIBUTES));
  ASHLAR_ASSIGN_OR_RETURN(const FileIdentity left, IdentifyHandle(one.get(), first));
  ASHLAR_ASSIGN_OR_RETURN(const FileIdentity right, IdentifyHandle(two.get(), second));
  return left == right;
}

}  // namespace ashlar

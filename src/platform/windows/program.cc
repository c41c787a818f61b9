#include "platform/program.h"

#include <fcntl.h>
#include <io.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "platform/windows/windows_headers.h"
#include "platform/windows/windows_path.h"

// Must follow the header that it needs.
#include <shellapi.h>

namespace ashlar {
namespace {

struct LocalDeleter {
  void operator()(wchar_t** memory) const { LocalFree(memory); }
};

// Later programs use the console too, so its code page is restored.
UINT code_page_before = 0;  // 0: no console, or not changed

void RestoreCodePage() {
  if (code_page_before != 0) SetConsoleOutputCP(code_page_before);
}

// A program that ends by such a signal runs no atexit functions.
BOOL WINAPI RestoreCodePageAtSignal(DWORD /*signal*/) {
  RestoreCodePage();
  return FALSE;  // the system's own handler ends the program
}

void PrintUtf8() {
  const UINT before = GetConsoleOutputCP();
  if (before == 0 || before == CP_UTF8 || !SetConsoleOutputCP(CP_UTF8)) return;
  code_page_before = before;
  std::atexit(&RestoreCodePage);
  SetConsoleCtrlHandler(&RestoreCodePageAtSignal, TRUE);
}

HANDLE ConsoleOf(FILE* file) { return reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(file))); }

}  // namespace

// The arguments of main were converted to the system's code page, which loses other characters.
std::vector<std::string> ProgramArguments(int argc, char** argv) {
  for (FILE* const stream : {stdin, stdout, stderr}) _setmode(_fileno(stream), _O_BINARY);
  // Names that the program prints are UTF-8.
  PrintUtf8();
  int count = 0;
  const std::unique_ptr<wchar_t*, LocalDeleter> wide(CommandLineToArgvW(GetCommandLineW(), &count));
  if (wide == nullptr) return std::vector<std::string>(argv + 1, argv + argc);
  std::vector<std::string> arguments;
  for (int i = 1; i < count; i++) arguments.push_back(ToUtf8(wide.get()[i]));
  return arguments;
}

UniqueStream OpenStream(const std::string& path, StreamMode mode) {
  const Result<std::wstring> name = ToSystemPath(path);
  const wchar_t* text = L"rb";
  if (mode == StreamMode::kWrite) text = L"wb";
  if (mode == StreamMode::kAppend) text = L"ab";
  if (name.ok()) return UniqueStream(_wfopen(name->c_str(), text));
  errno = EINVAL;
  return nullptr;
}

std::string TemporaryDirectory() {
  std::wstring name(MAX_PATH + 1, L'\0');
  name.resize(GetTempPathW(static_cast<DWORD>(name.size()), name.data()));
  while (name.size() > 3 && name.back() == L'\\') name.pop_back();
  return name.empty() ? "." : ToUtf8(name);
}

// Each user has a separate temporary directory.
uint64_t CurrentUserId() { return 0; }

bool IsTerminal(FILE* file) {
  DWORD mode = 0;
  return GetConsoleMode(ConsoleOf(file), &mode) != 0;
}

size_t TerminalColumns(FILE* file) {
  CONSOLE_SCREEN_BUFFER_INFO info;
  if (!GetConsoleScreenBufferInfo(ConsoleOf(file), &info)) return 0;
  return static_cast<size_t>(info.srWindow.Right - info.srWindow.Left + 1);
}

}  // namespace ashlar

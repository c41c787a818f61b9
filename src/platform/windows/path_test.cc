// Tests of path conversion, names that are refused, and patience with files that others hold.
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "base/format.h"
#include "platform/file.h"
#include "platform/thread.h"
#include "platform/windows/file_io.h"
#include "platform/windows/windows_error.h"
#include "platform/windows/windows_path.h"

namespace ashlar {
namespace {

std::string SystemPath(const std::string& path) {
  const Result<std::wstring> wide = ToSystemPath(path);
  return wide.ok() ? ToUtf8(*wide) : wide.status().ToString();
}

TEST(WindowsPath, BothSeparatorsMeanTheSame) {
  EXPECT_EQ(SystemPath("C:/a/b\\c"), "C:\\a\\b\\c");
  EXPECT_EQ(SystemPath("C:\\a//b/./c/../d"), "C:\\a\\b\\d");
  EXPECT_EQ(SystemPath("//server/share/f"), "\\\\server\\share\\f");
}

TEST(WindowsPath, TextIsUtf8OnOneSideAndUtf16OnTheOther) {
  const std::string name = "C:\\d\xc3\xa9j\xc3\xa0\\\xe6\x9d\xb1\xe4\xba\xac\\\xf0\x9f\x97\x84";
  const Result<std::wstring> wide = ToSystemPath(name);
  ASSERT_TRUE(wide.ok());
  EXPECT_NE(wide->find(L"\x6771\x4eac"), std::wstring::npos);
  EXPECT_EQ(ToUtf8(*wide), name);
  EXPECT_TRUE(ToSystemPath("C:/\xff\xfe").status().IsInvalidArgument());
  EXPECT_TRUE(ToSystemPath("C:/cut\xe6\x9d").status().IsInvalidArgument());
}

TEST(WindowsPath, OnlyLongPathsGetThePrefixAndNeverWithSlashes) {
  const std::string name(100, 'n');
  EXPECT_EQ(SystemPath("C:/" + name), "C:\\" + name);
  const std::string path = StrCat("C:/", name, "/", name, "/", name);
  EXPECT_EQ(SystemPath(path), StrCat("\\\\?\\C:\\", name, "\\", name, "\\", name));
  const std::string share = StrCat("//server/share/", name, "/", name, "/", name);
  EXPECT_EQ(SystemPath(share), StrCat("\\\\?\\UNC\\server\\share\\", name, "\\", name, "\\", name));
  // A short path that becomes long with the current folder gets the prefix, too.
  EXPECT_EQ(SystemPath(StrCat(name, "/", name, "/", name)).substr(0, 4), "\\\\?\\");
}

TEST(WindowsPath, APrefixOfTheCallersIsTakenForWhatFollowsIt) {
  EXPECT_EQ(SystemPath("\\\\?\\C:\\db/CURRENT"), "C:\\db\\CURRENT");
  EXPECT_EQ(SystemPath("\\\\?\\UNC\\server\\share/f"), "\\\\server\\share\\f");
  EXPECT_EQ(SystemPath("\\\\?\\Volume{0}/f"), "\\\\?\\Volume{0}\\f");
  EXPECT_TRUE(ToSystemPath("\\\\.\\PhysicalDrive0").status().IsInvalidArgument());
  EXPECT_TRUE(ToSystemPath("//./pipe/x").status().IsInvalidArgument());
  EXPECT_EQ(SystemPath("//?/unc/server/share/f"), "\\\\server\\share\\f");
}

TEST(WindowsPath, APrefixOpensNoWayToADevice) {
  for (const char* const path : {"\\\\?\\pipe\\x",
                                 "//?/pipe/x",
                                 "\\\\?\\GLOBALROOT\\Device\\Null",
                                 "\\\\?\\PhysicalDrive0",
                                 "\\\\?\\mailslot\\x",
                                 "\\\\?\\UNC",
                                 "\\\\?\\UNC\\.\\pipe\\x",
                                 "\\\\?\\unc\\.\\pipe\\x",
                                 "\\\\?\\UNC\\\\.\\pipe\\x",
                                 "\\\\?\\",
                                 "\\\\?\\Volume{0\\f",
                                 "\\\\?\\HarddiskVolume1\\f",
                                 "\\\\.",
                                 "\\\\server\\pipe\\x",
                                 "//server/PIPE/x",
                                 "\\\\server\\mailslot\\x",
                                 "\\\\server\\IPC$\\x",
                                 "\\\\server\\.\\pipe\\x",
                                 "\\\\?\\UNC\\server\\pipe\\x",
                                 "\\\\server"}) {
    EXPECT_TRUE(ToSystemPath(path).status().IsInvalidArgument()) << path;
  }
  EXPECT_EQ(SystemPath("C:/pipe/x"), "C:\\pipe\\x");
  EXPECT_EQ(SystemPath("//server/share/pipe/x"), "\\\\server\\share\\pipe\\x");
}

TEST(WindowsPath, TheRefusalNamesTheDevice) {
  const std::string text = ToSystemPath("C:/db/CON/f").status().ToString();
  EXPECT_NE(text.find("C:/db/CON/f"), std::string::npos) << text;
  EXPECT_NE(text.find("CON is the name of a device"), std::string::npos) << text;
}

TEST(WindowsPath, DevicesAreRefusedInEveryDisguise) {
  for (const char* const name : {"NUL", "nul", "con", "PRN.txt", "aux.tar.gz", "COM1", "com9.log",
                                 "LPT3", "NUL .txt", "CONIN$", "COM\xc2\xb9"}) {
    EXPECT_TRUE(ToSystemPath(StrCat("C:/db/", name)).status().IsInvalidArgument()) << name;
    EXPECT_TRUE(ToSystemPath(StrCat(name, "/f")).status().IsInvalidArgument()) << name;
  }
  for (const char* const name : {"NULL", "COM0", "COM10", "LPT", "console", "a.NUL", "xCON"})
    EXPECT_TRUE(ToSystemPath(StrCat("C:/", name)).ok()) << name;
}

TEST(WindowsPath, StreamsWildcardsAndNamesThatWouldBeCutAreRefused) {
  for (const char* const path :
       {"C:/db/f:stream", "C:/db/f::$DATA", "C:/db:x/f", "f:", "ab:c", "C:/a*", "C:/a?b", "C:/a|b",
        "C:/a\"b", "C:/a<b", "C:/a\x01", "C:/db/f.", "C:/db/f ", "C:/db /f", "C:/.../f"}) {
    EXPECT_TRUE(ToSystemPath(path).status().IsInvalidArgument() || std::string(path) == "f:")
        << path;
  }
  const Status status = OsFile::Open("C:/db/f:stream", {.mode = OpenMode::kOpenOrCreate}).status();
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("C:/db/f:stream"), std::string::npos) << status.ToString();
}

TEST(WindowsError, CodesAreThoseOfTheSpecification) {
  EXPECT_TRUE(SystemError("open", "f", ERROR_FILE_NOT_FOUND).IsPathNotFound());
  EXPECT_TRUE(SystemError("open", "f", ERROR_PATH_NOT_FOUND).IsPathNotFound());
  EXPECT_TRUE(SystemError("write", "f", ERROR_DISK_FULL).IsNoSpace());
  EXPECT_TRUE(SystemError("write", "f", ERROR_HANDLE_DISK_FULL).IsNoSpace());
  EXPECT_TRUE(SystemError("open", "f", ERROR_ACCESS_DENIED).IsIOError());
  EXPECT_NE(SystemError("open", "some/f", ERROR_ACCESS_DENIED).ToString().find("open some/f: "),
            std::string::npos);
  EXPECT_NE(SystemError("open", "f", ERROR_ACCESS_DENIED).ToString().find("(error 5)"),
            std::string::npos);
}

TEST(WindowsSharing, ARefusalIsAskedAboutAgainUntilItEnds) {
  int calls = 0;
  EXPECT_TRUE(RetryWhileShared([&] {
    SetLastError(calls % 2 == 0 ? ERROR_SHARING_VIOLATION : ERROR_LOCK_VIOLATION);
    return ++calls == 4;
  }));
  EXPECT_EQ(calls, 4);
}

TEST(WindowsSharing, ADeletionThatIsDeniedWaitsForTheViews) {
  // The right to delete has been granted, so only a view or the attribute can deny it.
  EXPECT_TRUE(IsHeldByOthers(DeletionError(ERROR_ACCESS_DENIED, false)));
  EXPECT_EQ(DeletionError(ERROR_ACCESS_DENIED, true), DWORD{ERROR_ACCESS_DENIED});
  EXPECT_EQ(DeletionError(ERROR_SHARING_VIOLATION, false), DWORD{ERROR_SHARING_VIOLATION});
  EXPECT_EQ(DeletionError(ERROR_IO_DEVICE, false), DWORD{ERROR_IO_DEVICE});
}

TEST(WindowsSharing, PatienceEnds) {
  int calls = 0;
  EXPECT_FALSE(RetryWhileShared([&] {
    calls++;
    SetLastError(ERROR_SHARING_VIOLATION);
    return false;
  }));
  EXPECT_EQ(calls, kSharingPauses + 1);
  EXPECT_EQ(GetLastError(), DWORD{ERROR_SHARING_VIOLATION});
}

TEST(WindowsSharing, OtherErrorsAreBelievedAtOnce) {
  int calls = 0;
  EXPECT_FALSE(RetryWhileShared([&] {
    calls++;
    SetLastError(ERROR_ACCESS_DENIED);
    return false;
  }));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace ashlar

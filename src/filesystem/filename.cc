#include "filesystem/filename.h"
#include "platform/path.h"

#include "base/format.h"

namespace ashlar {
namespace {

constexpr std::string_view kDescriptorPrefix = "MANIFEST-";
constexpr std::string_view kOptionsPrefix = "OPTIONS-";
constexpr std::string_view kOldInfoLogPrefix = "LOG.old.";
constexpr std::string_view kTempSuffix = ".dbtmp";
constexpr std::string_view kTrashSuffix = ".trash";
constexpr size_t kDigitsMin = 6;

std::string SixDigits(uint64_t number) {
  std::string digits = StrCat(number);
  if (digits.size() < kDigitsMin) digits.insert(0, kDigitsMin - digits.size(), '0');
  return digits;
}

std::string Join(const std::string& directory, std::string_view name) {
  return StrCat(directory, "/", name);
}

std::string Numbered(const std::string& directory, uint64_t number, std::string_view suffix) {
  return StrCat(directory, "/", SixDigits(number), suffix);
}

// Numbers start at 1, end at kFileNumberMax, and have only one spelling.
bool ParseSixDigits(std::string_view digits, uint64_t* number) {
  uint64_t value = 0;
  if (!ParseUint64(digits, &value) || value == 0 || value > kFileNumberMax ||
      SixDigits(value) != digits)
    return false;
  *number = value;
  return true;
}

bool ParseFixedName(std::string_view name, FileType* type) {
  struct FixedName {
    std::string_view name;
    FileType type;
  };
  constexpr FixedName kNames[] = {{"CURRENT", FileType::kCurrentFile},
                                  {"LOCK", FileType::kDBLockFile},
                                  {"IDENTITY", FileType::kIdentityFile},
                                  {"LOG", FileType::kInfoLogFile}};
  for (const FixedName& fixed : kNames) {
    if (name != fixed.name) continue;
    *type = fixed.type;
    return true;
  }
  return false;
}

bool ParsePrefixedName(std::string_view name, uint64_t* number, FileType* type) {
  if (name.starts_with(kDescriptorPrefix)) {
    *type = FileType::kDescriptorFile;
    return ParseSixDigits(name.substr(kDescriptorPrefix.size()), number);
  }
  if (name.starts_with(kOptionsPrefix)) {
    name.remove_prefix(kOptionsPrefix.size());
    const bool is_temporary = name.ends_with(kTempSuffix);
    if (is_temporary) name.remove_suffix(kTempSuffix.size());
    *type = is_temporary ? FileType::kTempFile : FileType::kOptionsFile;
    return ParseSixDigits(name, number);
  }
  if (name.starts_with(kOldInfoLogPrefix)) {
    name.remove_prefix(kOldInfoLogPrefix.size());
    *type = FileType::kInfoLogFile;
    uint64_t micros = 0;
    if (!ParseUint64(name, &micros) || StrCat(micros) != name) return false;
    *number = micros;
    return true;
  }
  return false;
}

bool ParseSuffixedName(std::string_view name, uint64_t* number, FileType* type) {
  struct Suffix {
    std::string_view suffix;
    FileType type;
  };
  constexpr Suffix kSuffixes[] = {{".log", FileType::kWalFile},
                                  {".sst", FileType::kTableFile},
                                  {".ldb", FileType::kTableFile},
                                  {".blob", FileType::kBlobFile},
                                  {kTempSuffix, FileType::kTempFile}};
  for (const Suffix& candidate : kSuffixes) {
    if (!name.ends_with(candidate.suffix)) continue;
    name.remove_suffix(candidate.suffix.size());
    *type = candidate.type;
    return ParseSixDigits(name, number);
  }
  return false;
}

// Parses a name that TrashFileName makes. RocksDB makes the same names.
bool ParseTrashName(std::string_view name, uint64_t* number, FileType* type) {
  if (!name.ends_with(kTrashSuffix)) return false;
  name.remove_suffix(kTrashSuffix.size());
  const size_t last_letter = name.find_last_not_of("0123456789");
  if (last_letter == std::string_view::npos) return false;
  const std::string_view digits = name.substr(last_letter + 1);
  uint64_t taken = 0;
  if (!digits.empty() && (!ParseUint64(digits, &taken) || StrCat(taken) != digits)) return false;
  if (!ParseSuffixedName(name.substr(0, last_letter + 1), number, type)) return false;
  const bool is_data = *type != FileType::kTempFile;
  *type = FileType::kTempFile;
  return is_data;
}

bool ParseCopyName(std::string_view name, uint64_t* number, FileType* type) {
  if (!name.ends_with(kTempSuffix)) return false;
  name.remove_suffix(kTempSuffix.size());
  if (!ParseSuffixedName(name, number, type)) return false;
  const bool is_data = *type != FileType::kTempFile;
  *type = FileType::kTempFile;
  return is_data;
}

}  // namespace

std::string WalFileName(const std::string& directory, uint64_t number) {
  return Numbered(directory, number, ".log");
}
std::string TableFileName(const std::string& directory, uint64_t number) {
  return Numbered(directory, number, ".sst");
}
std::string LegacyTableFileName(const std::string& directory, uint64_t number) {
  return Numbered(directory, number, ".ldb");
}
std::string TempFileName(const std::string& directory, uint64_t number) {
  return Numbered(directory, number, kTempSuffix);
}
std::string TrashFileName(std::string_view path, uint64_t taken) {
  return taken == 0 ? StrCat(path, kTrashSuffix) : StrCat(path, taken - 1, kTrashSuffix);
}
std::string DescriptorFileName(const std::string& directory, uint64_t number) {
  return StrCat(directory, "/", kDescriptorPrefix, SixDigits(number));
}
std::string OptionsFileName(const std::string& directory, uint64_t number) {
  return StrCat(directory, "/", kOptionsPrefix, SixDigits(number));
}
std::string TempOptionsFileName(const std::string& directory, uint64_t number) {
  return StrCat(OptionsFileName(directory, number), kTempSuffix);
}
std::string CurrentFileName(const std::string& directory) { return Join(directory, "CURRENT"); }
std::string LockFileName(const std::string& directory) { return Join(directory, "LOCK"); }
std::string IdentityFileName(const std::string& directory) { return Join(directory, "IDENTITY"); }
std::string ArchiveDirectory(const std::string& directory) { return Join(directory, "archive"); }

std::string LostDirectory(const std::string& directory) { return Join(directory, "lost"); }
std::string LostFileName(const std::string& directory, std::string_view name, uint64_t copies) {
  const std::string path = Join(LostDirectory(directory), name);
  return copies == 0 ? path : StrCat(path, ".", copies);
}

bool IsLostFileName(std::string_view name) {
  uint64_t number = 0;
  FileType type;
  if (!ParseFileName(name, &number, &type)) {
    const size_t dot = name.rfind('.');
    uint64_t copies = 0;
    if (dot == std::string_view::npos || !ParseUint64(name.substr(dot + 1), &copies) ||
        copies == 0 || StrCat(copies) != name.substr(dot + 1) ||
        !ParseFileName(name.substr(0, dot), &number, &type))
      return false;
  }
  return type == FileType::kWalFile || type == FileType::kTableFile ||
         type == FileType::kDescriptorFile;
}

bool IsTrashFileName(std::string_view name) {
  uint64_t number = 0;
  FileType type;
  return ParseTrashName(name, &number, &type);
}

bool ParseFileName(std::string_view name, uint64_t* number, FileType* type) {
  uint64_t parsed_number = 0;
  FileType parsed_type = FileType::kTempFile;
  if (!ParseFixedName(name, &parsed_type) &&
      !ParsePrefixedName(name, &parsed_number, &parsed_type) &&
      !ParseSuffixedName(name, &parsed_number, &parsed_type) &&
      !ParseTrashName(name, &parsed_number, &parsed_type) &&
      !ParseCopyName(name, &parsed_number, &parsed_type)) {
    return false;
  }
  *number = parsed_number;
  *type = parsed_type;
  return true;
}

bool HasType(std::string_view name, FileType wanted) {
  uint64_t number = 0;
  FileType type;
  return ParseFileName(name, &number, &type) && type == wanted;
}

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.find_last_of(kPathSeparators);
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace ashlar

#include "backup/backup_meta.h"

#include <algorithm>

#include "base/format.h"
#include "filesystem/filename.h"

namespace ashlar {
namespace {

constexpr std::string_view kSchemaVersion = "schema_version ";
constexpr std::string_view kMetadata = "metadata";
constexpr std::string_view kCrc = "crc32";
constexpr std::string_view kMustBeKnown = "ni::";
constexpr std::string_view kFooter = "// FOOTER";

// Lines, each ended by '\n'.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  std::optional<std::string_view> Next() {
    const size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    ++number_;
    return line;
  }
  uint64_t number() const { return number_; }

 private:
  std::string_view rest_;
  uint64_t number_ = 0;
};

// Cuts the first word and the blank after it off *text.
std::string_view TakeWord(std::string_view* text) {
  const size_t end = text->find(' ');
  const std::string_view word = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return word;
}

template <typename T>
bool ParseWhole(std::string_view text, T* value) {
  const std::from_chars_result parsed =
      std::from_chars(text.data(), text.data() + text.size(), *value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

bool IsTable(std::string_view name) {
  uint64_t number = 0;
  FileType type;
  return ParseFileName(name, &number, &type) && type == FileType::kTableFile;
}

bool IsDatabaseFile(std::string_view name) {
  uint64_t number = 0;
  FileType type;
  return ParseFileName(name, &number, &type);
}

// Accepts characters that every file system reads as part of a name. RocksDB puts numbers and an id
// between the underscores.
bool IsPlain(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '-' || c == '.';
  });
}

// Returns the database's name of the file at `path`, or nothing if no backup has such a path (I1).
std::optional<std::string> NameOf(std::string_view path, uint32_t id) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view folder = path.substr(0, slash);
  const std::string_view name = path.substr(slash + 1);
  if (folder == StrCat(kPrivateFolder, "/", id))
    return IsDatabaseFile(name) ? std::optional(std::string(name)) : std::nullopt;
  if (folder == kSharedFolder)
    return IsTable(name) ? std::optional(std::string(name)) : std::nullopt;
  const size_t underscore = name.find('_');
  const size_t dot = name.rfind('.');
  if (folder != kSharedChecksumFolder || !IsPlain(name) || underscore == std::string_view::npos ||
      dot == std::string_view::npos || dot < underscore)
    return std::nullopt;
  std::string table = StrCat(name.substr(0, underscore), name.substr(dot));
  return IsTable(table) ? std::optional(std::move(table)) : std::nullopt;
}

class Parser {
 public:
  Parser(std::string_view text, uint32_t id) : lines_(text), id_(id) {}

  Result<BackupMeta> Parse() {
    BackupMeta meta;
    std::optional<std::string_view> line = lines_.Next();
    if (line.has_value() && line->starts_with(kSchemaVersion)) {
      const std::string_view version = line->substr(kSchemaVersion.size());
      if (version != "2" && !version.starts_with("2."))
        return Status::NotSupported(
            StrCat("backup schema ", version, " is not implemented; 1 and 2 can be read"));
      has_fields_ = true;
      line = lines_.Next();
    }
    if (!line.has_value() || !ParseWhole(*line, &meta.timestamp)) return Bad("a time");
    line = lines_.Next();
    if (!line.has_value() || !ParseWhole(*line, &meta.sequence)) return Bad("a sequence number");
    uint32_t files = 0;
    ASHLAR_RETURN_IF_ERROR(ParseFields(&meta, &files));
    for (uint32_t i = 0; i < files; ++i) {
      BackupFile file;
      ASHLAR_RETURN_IF_ERROR(ParseFile(&file));
      meta.files.push_back(std::move(file));
    }
    line = lines_.Next();
    if (line.has_value() && !(has_fields_ && *line == kFooter)) return Bad("the end");
    return meta;
  }

 private:
  Status Bad(std::string_view wanted) const {
    return Status::Corruption(StrCat("line ", lines_.number(), ": no ", wanted));
  }

  // Parses up to the line with the number of files.
  Status ParseFields(BackupMeta* meta, uint32_t* files) {
    for (;;) {
      const std::optional<std::string_view> line = lines_.Next();
      if (!line.has_value() || line->empty()) return Bad("number of files");
      if (ParseWhole(*line, files)) return Status::OK();
      std::string_view rest = *line;
      const std::string_view field = TakeWord(&rest);
      if (field == kMetadata) {
        if (!Slice(rest).DecodeHex(&meta->app_metadata)) return Bad("hexadecimal metadata");
      } else if (!has_fields_) {
        return Bad("number of files");
      } else if (field.starts_with(kMustBeKnown)) {
        return Status::NotSupported(StrCat("backup field ", field, " is not implemented"));
      }
    }
  }

  Status ParseFile(BackupFile* file) {
    const std::optional<std::string_view> line = lines_.Next();
    if (!line.has_value()) return Bad("file");
    std::string_view rest = *line;
    file->path = TakeWord(&rest);
    const std::optional<std::string> name = NameOf(file->path, id_);
    if (!name.has_value()) return Bad("path of a file");
    file->name = *name;
    bool has_crc = false;
    while (!rest.empty()) {
      const std::string_view field = TakeWord(&rest);
      const std::string_view value = TakeWord(&rest);
      if (field == kCrc && !has_crc) {
        if (!ParseWhole(value, &file->crc)) return Bad("checksum");
        has_crc = true;
      } else if (!has_fields_) {
        return Bad("checksum");
      } else if (field.starts_with(kMustBeKnown)) {
        return Status::NotSupported(StrCat("backup field ", field, " is not implemented"));
      }
    }
    return has_crc ? Status::OK() : Bad("checksum");
  }

  Lines lines_;
  const uint32_t id_;
  bool has_fields_ = false;
};

}  // namespace

std::string SharedPath(std::string_view table_name, uint32_t crc, uint64_t bytes) {
  const size_t dot = table_name.rfind('.');
  return StrCat(kSharedChecksumFolder, "/", table_name.substr(0, dot), "_", crc, "_", bytes,
                table_name.substr(dot));
}

std::optional<uint64_t> BytesInPath(std::string_view path) {
  if (!path.starts_with(StrCat(kSharedChecksumFolder, "/"))) return std::nullopt;
  const std::string_view stem = path.substr(0, path.rfind('.'));
  const size_t last = stem.rfind('_');
  uint64_t bytes = 0;
  // The stem has one underscore in the folder's name, one before the checksum or id, and a last.
  if (std::count(stem.begin(), stem.end(), '_') < 3 || !ParseWhole(stem.substr(last + 1), &bytes))
    return std::nullopt;
  return bytes;
}

std::string PrintBackupMeta(const BackupMeta& meta) {
  std::string text = StrCat(meta.timestamp, "\n", meta.sequence, "\n");
  if (!meta.app_metadata.empty())
    StrAppend(&text, kMetadata, " ", Slice(meta.app_metadata).ToString(true), "\n");
  StrAppend(&text, meta.files.size(), "\n");
  for (const BackupFile& file : meta.files)
    StrAppend(&text, file.path, " ", kCrc, " ", file.crc, "\n");
  return text;
}

Result<BackupMeta> ParseBackupMeta(std::string_view text, uint32_t id) {
  return Parser(text, id).Parse();
}

}  // namespace ashlar

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/checkpoint.h"
#include "base/assert.h"
#include "base/format.h"
#include "filesystem/filename.h"
#include "filesystem/memory_file_system.h"
#include "tests/fuzz/all.h"
#include "tests/fuzz/small_database.h"
#include "tests/support/open_database.h"

namespace ashlar::fuzz {
namespace {

constexpr const char* kExports = "/exports";

// The small database and the exported metadata of both families.
struct Exported {
  MemoryImage image;
  Contents contents;
  ExportImportFilesMetaData families[2];
};

const Exported& Export() {
  static const Exported* const exported = [] {
    auto* const made = new Exported;
    const auto file_system = std::make_shared<MemoryFileSystem>(SmallDatabase::Get().image());
    OpenDatabase database(file_system, SmallDatabaseOptions(), 1);
    ASHLAR_ASSERT(database.Open().ok() && database.Read(&made->contents).ok());
    ASHLAR_ASSERT(file_system->CreateDir(kExports).ok());
    Checkpoint* opened = nullptr;
    ASHLAR_ASSERT(Checkpoint::Create(database.db(), &opened).ok());
    const std::unique_ptr<Checkpoint> checkpoint(opened);
    const char* const names[] = {"default", "two"};
    for (size_t i = 0; i < 2; ++i) {
      ExportImportFilesMetaData* metadata = nullptr;
      ASHLAR_ASSERT(checkpoint
                        ->ExportColumnFamily(database.family(names[i]),
                                             StrCat(kExports, "/", names[i]), &metadata)
                        .ok());
      made->families[i] = *metadata;
      delete metadata;
    }
    ASHLAR_ASSERT(database.Close().ok());
    made->image = file_system->Snapshot();
    return made;
  }();
  return *exported;
}

// ---- The metadata that an input describes. Once the input is used up, nothing more changes.

enum Part : uint8_t {
  kLeftOut = 1,
  kLevel = 2,
  kSequences = 4,
  kBounds = 8,
  kPlace = 16,
  kNumbers = 32,
  kChecksum = 64,
  kTwice = 128,
};

constexpr uint8_t kSecondFamily = 1;
constexpr uint8_t kMove = 2;
constexpr uint8_t kTwoParts = 4;
constexpr uint8_t kOtherComparator = 8;
constexpr uint8_t kNullPart = 16;

struct Request {
  uint8_t choice = 0;
  bool whole = true;  // all files of one family, as they were exported
  std::vector<ExportImportFilesMetaData> parts;
};

std::string Text(Choices* choices) {
  const uint8_t length = choices->Byte();
  return choices->Bytes(length);
}

int64_t Signed(Choices* choices) { return static_cast<int8_t>(choices->Byte()); }

uint64_t Near(uint64_t number, Choices* choices) {
  const int64_t by = Signed(choices);
  return by == -128 ? ~uint64_t{0} : number + static_cast<uint64_t>(by);
}

void ChangeBounds(LiveFileMetaData* file, Choices* choices) {
  switch (choices->Byte() % 5) {
    case 0: file->smallest = file->largest = ""; break;
    case 1: file->smallest = ""; break;
    case 2: file->smallest = Text(choices); break;
    case 3: file->largest = Text(choices); break;
    default: std::swap(file->smallest, file->largest);
  }
}

void ChangePlace(LiveFileMetaData* file, Choices* choices) {
  switch (choices->Byte() % 5) {
    case 0: file->name = Text(choices); break;
    case 1: file->name = "", file->relative_filename = Text(choices); break;
    case 2: file->db_path = Text(choices); break;
    case 3: file->db_path = "", file->directory = Text(choices); break;
    default:  // a file of the database
      file->db_path = OpenDatabase::kPath;
      file->name = TableFileName("", choices->Byte());
  }
}

void Change(uint8_t parts, LiveFileMetaData* file, Choices* choices) {
  if ((parts & kLevel) != 0) file->level = static_cast<int>(Signed(choices));
  if ((parts & kSequences) != 0) {
    file->smallest_seqno = Near(file->smallest_seqno, choices);
    file->largest_seqno = Near(file->largest_seqno, choices);
  }
  if ((parts & kBounds) != 0) ChangeBounds(file, choices);
  if ((parts & kPlace) != 0) ChangePlace(file, choices);
  if ((parts & kNumbers) != 0) {
    file->size = Near(file->size, choices);
    file->file_number = Near(file->file_number, choices);
    file->epoch_number = Near(file->epoch_number, choices);
    file->num_entries = Near(file->num_entries, choices);
  }
  if ((parts & kChecksum) != 0) {
    file->file_checksum_func_name = Text(choices);
    file->file_checksum = Text(choices);
  }
}

Request ParseRequest(const std::string& input) {
  Choices choices(input);
  Request request;
  request.choice = choices.Byte();
  const ExportImportFilesMetaData& exported =
      Export().families[(request.choice & kSecondFamily) != 0 ? 1 : 0];
  request.parts.resize((request.choice & kTwoParts) != 0 ? 2 : 1);
  for (ExportImportFilesMetaData& part : request.parts)
    part.db_comparator_name = exported.db_comparator_name;
  if ((request.choice & kOtherComparator) != 0)
    request.parts[0].db_comparator_name = Text(&choices);
  for (const LiveFileMetaData& file : exported.files) {
    const uint8_t parts = choices.Byte();
    request.whole &= parts == 0;
    if ((parts & kLeftOut) != 0) continue;
    LiveFileMetaData changed = file;
    Change(parts, &changed, &choices);
    const size_t at = request.parts.size() > 1 ? choices.Byte() % 2 : 0;
    for (int n = (parts & kTwice) != 0 ? 2 : 1; n > 0; --n)
      request.parts[at].files.push_back(changed);
  }
  return request;
}

Status Import(OpenDatabase* database, const Request& request, ColumnFamilyHandle** handle) {
  Options options = SmallDatabaseOptions();
  options.env = database->env();
  std::vector<const ExportImportFilesMetaData*> parts;
  for (const ExportImportFilesMetaData& part : request.parts) parts.push_back(&part);
  if ((request.choice & kNullPart) != 0) parts.push_back(nullptr);
  ImportColumnFamilyOptions how;
  how.move_files = (request.choice & kMove) != 0;
  return database->db()->CreateColumnFamilyWithImport(options, "imported", how, parts, handle);
}

// Reads the family in all ways. `keys` are further keys that it may have.
FamilyContents ReadAllWays(DB* db, ColumnFamilyHandle* family, const FamilyContents& keys) {
  FamilyContents forward;
  FamilyContents backward;
  const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions(), family));
  for (it->SeekToFirst(); it->Valid(); it->Next())
    forward[it->key().ToString()] = it->value().ToString();
  EXPECT_RIGHT(it->status().ok(), "imported, but not readable: " + it->status().ToString());
  for (it->SeekToLast(); it->Valid(); it->Prev())
    backward[it->key().ToString()] = it->value().ToString();
  EXPECT_RIGHT(it->status().ok() && backward == forward, "other entries backwards");
  FamilyContents asked = keys;
  asked.insert(forward.begin(), forward.end());
  for (const auto& [key, unused] : asked) {
    std::string value;
    const Status got = db->Get(ReadOptions(), family, key, &value);
    const auto walked = forward.find(key);
    EXPECT_RIGHT(walked == forward.end() ? got.IsNotFound() : got.ok() && value == walked->second,
                 "Get finds another value than an iterator: " + got.ToString());
  }
  return forward;
}

// Returns the names of the database's tables.
std::set<std::string> Tables(const MemoryFileSystem& file_system) {
  std::set<std::string> tables;
  for (const MemoryImage::Entry& entry : file_system.Snapshot().entries) {
    const std::string_view name = BaseName(entry.path);
    if (entry.path.starts_with("db/") && HasType(name, FileType::kTableFile)) tables.emplace(name);
  }
  return tables;
}

uint64_t FingerprintOutsideOfDatabase(const MemoryFileSystem& file_system) {
  MemoryImage rest = file_system.Snapshot();
  std::erase_if(rest.entries,
                [](const MemoryImage::Entry& entry) { return entry.path.starts_with("db/"); });
  return rest.Fingerprint();
}

}  // namespace

Seeds SeedImports() {
  Seeds seeds;
  const auto add_choice = [&](int choice) { seeds.emplace_back(1, static_cast<char>(choice)); };
  const auto add = [&](int choice, int parts, const std::string& rest) {
    seeds.push_back(std::string{static_cast<char>(choice), static_cast<char>(parts)} + rest);
  };
  const int families[] = {0, kSecondFamily};
  for (const int choice : {0, kSecondFamily + 0, kMove + 0}) add_choice(choice);
  for (const int family : families) {
    add(family, kLeftOut, "");
    add(family, kSequences, "\xff\1");
    add(family, kSequences, std::string("\0\x64", 2));
    add(family, kBounds, std::string("\2\xckey0\1\0\0\0\0\0\0\0", 14));
    add(family, kChecksum, std::string("\1f\1c", 4));
  }
  // Refused: a second part without files, or null; the newest file below the others, in another
  // place, of another size, or twice; another comparator.
  for (const int choice : {kTwoParts + 0, kNullPart + 0}) add_choice(choice);
  for (const int family : families) {
    add(family, kLevel, "\6");
    add(family, kLevel, "\3");
    add(family, kPlace, "\4\x8");
    add(family, kPlace, std::string("\0\x7", 2) + "../db/x");
    add(family, kNumbers, "\1\1\1\1");
    add(family, kTwice, "");
  }
  seeds.push_back(std::string(1, kOtherComparator) + "\5other");
  return seeds;
}

// An import is refused and changes nothing, or the family is readable and stays. Unchanged metadata
// is imported with its contents.
bool RunImport(const std::string& input) {
  const Request request = ParseRequest(input);
  const auto file_system = std::make_shared<MemoryFileSystem>(Export().image);
  const uint64_t others = FingerprintOutsideOfDatabase(*file_system);
  Contents contents;
  bool accepted = false;
  {
    OpenDatabase database(file_system, SmallDatabaseOptions(), 1);
    EXPECT_RIGHT(database.Open().ok(), "not opened");
    const std::set<std::string> tables = Tables(*file_system);
    ColumnFamilyHandle* handle = nullptr;
    const Status taken = Import(&database, request, &handle);
    accepted = taken.ok();
    EXPECT_RIGHT(taken.ok() == (handle != nullptr), "a handle: " + taken.ToString());
    const Status read = database.Read(&contents);
    EXPECT_RIGHT(read.ok() && contents == Export().contents,
                 "other families have changed: " + read.ToString());
    EXPECT_RIGHT((taken.ok() && (request.choice & kMove) != 0) ||
                     FingerprintOutsideOfDatabase(*file_system) == others,
                 "the originals were changed: " + taken.ToString());
    if (taken.ok()) {
      const char* const name = (request.choice & kSecondFamily) != 0 ? "two" : "default";
      contents["imported"] = ReadAllWays(database.db(), handle, contents[name]);
      EXPECT_RIGHT(!request.whole || contents["imported"] == contents[name],
                   "imported with other contents");
      const Status compacted =
          database.db()->CompactRange(CompactRangeOptions(), handle, nullptr, nullptr);
      EXPECT_RIGHT(compacted.ok(), "not compacted: " + compacted.ToString());
      EXPECT_RIGHT(ReadAllWays(database.db(), handle, contents[name]) == contents["imported"],
                   "other contents after a compaction");
    } else {
      const std::set<std::string> after = Tables(*file_system);
      for (const std::string& table : after)
        EXPECT_RIGHT(tables.contains(table), "refused, and left behind: " + table);
    }
    EXPECT_RIGHT(taken.ok() || !request.whole || request.choice > kMove + kSecondFamily,
                 "what was exported is refused: " + taken.ToString());
    delete handle;
    const Status written =
        database.Write({{Change::Kind::kPut, "default", "key0", "value"}}, WriteOptions());
    EXPECT_RIGHT(written.ok(), "not writable: " + written.ToString());
    contents["default"]["key0"] = "value";
    const Status closed = database.Close();
    EXPECT_RIGHT(closed.ok(), "not closed: " + closed.ToString());
  }
  OpenDatabase database(file_system, SmallDatabaseOptions(), 2);
  const Status opened = database.Open();
  EXPECT_RIGHT(opened.ok(), "not opened again: " + opened.ToString());
  if (!opened.ok()) return accepted;
  Contents again;
  EXPECT_RIGHT(database.Read(&again).ok() && again == contents, "other contents after a reopen");
  return accepted;
}

}  // namespace ashlar::fuzz

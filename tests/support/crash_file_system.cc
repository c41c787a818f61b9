#include "tests/support/crash_file_system.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "base/random.h"
#include "filesystem/filename.h"
#include "platform/mutex.h"

namespace ashlar {
namespace {

enum class OperationKind { kWrite, kResize, kSyncFile, kLink, kUnlink, kRename, kSyncDirectory };

struct Operation {
  OperationKind kind;
  // The file, the directory of kSyncDirectory, or the node that a link or rename names.
  MemoryNodeId node = 0;
  bool node_is_directory = false;
  MemoryNodeId directory = 0;  // of the (old) name
  std::string name = {};
  MemoryNodeId to_directory = 0;  // kRename
  std::string to_name = {};
  uint64_t offset = 0;    // kWrite
  uint64_t bytes = 0;     // kResize: the size; kWrite: the length
  std::string data = {};  // kWrite
};

bool ChangesDirectory(const Operation& operation) {
  return operation.kind == OperationKind::kLink || operation.kind == OperationKind::kUnlink ||
         operation.kind == OperationKind::kRename;
}

bool IsForPeopleOnly(std::string_view name) {
  uint64_t number;
  FileType type;
  return ParseFileName(name, &number, &type) && type == FileType::kInfoLogFile;
}

struct NodeReference {
  MemoryNodeId id;
  bool is_directory;
};
using EntryMap = std::map<std::string, NodeReference>;
using DirectoryMap = std::map<MemoryNodeId, EntryMap>;

void ApplyToDirectories(const Operation& operation, DirectoryMap* directories) {
  const NodeReference node{operation.node, operation.node_is_directory};
  switch (operation.kind) {
    case OperationKind::kLink:
      (*directories)[operation.directory].insert_or_assign(operation.name, node);
      break;
    case OperationKind::kUnlink: (*directories)[operation.directory].erase(operation.name); break;
    case OperationKind::kRename:
      (*directories)[operation.directory].erase(operation.name);
      (*directories)[operation.to_directory].insert_or_assign(operation.to_name, node);
      break;
    default: ASHLAR_ASSERT(false);
  }
}

void ApplyToFile(const Operation& operation, std::string* bytes) {
  if (operation.kind == OperationKind::kResize) {
    bytes->resize(static_cast<size_t>(operation.bytes));
    return;
  }
  const size_t end = static_cast<size_t>(operation.offset) + operation.data.size();
  if (end > bytes->size()) bytes->resize(end);
  memcpy(bytes->data() + operation.offset, operation.data.data(), operation.data.size());
}

constexpr std::array<std::string_view, kCrashKinds> kKindNames = {
    "durable only",         "everything",    "prefix",
    "one dropped",          "one kept",      "torn at 512",
    "torn at 4096",         "page lost",     "grown with zeros",
    "grown with garbage",   "entry lost",    "data without entries",
    "entries without data", "unlinks first", "unlinks late",
    "mixed sectors",        "random subset", "random damage"};

}  // namespace

std::string_view CrashKindName(CrashKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

// Every operation in the order in which it took effect. References to operations stay valid while
// others are added.
class CrashFileSystem::Journal final : public MutationListener {
 public:
  void OnWrite(MemoryNodeId file, uint64_t offset, const Slice& data) override {
    Add({.kind = OperationKind::kWrite,
         .node = file,
         .offset = offset,
         .bytes = data.size(),
         .data = data.ToString()});
  }
  void OnResize(MemoryNodeId file, uint64_t bytes) override {
    Add({.kind = OperationKind::kResize, .node = file, .bytes = bytes});
  }
  void OnSyncFile(MemoryNodeId file) override {
    Add({.kind = OperationKind::kSyncFile, .node = file});
  }
  void OnLink(MemoryNodeId directory, std::string_view name, MemoryNodeId node,
              bool node_is_directory) override {
    Add({.kind = OperationKind::kLink,
         .node = node,
         .node_is_directory = node_is_directory,
         .directory = directory,
         .name = std::string(name)});
  }
  void OnUnlink(MemoryNodeId directory, std::string_view name) override {
    Add({.kind = OperationKind::kUnlink, .directory = directory, .name = std::string(name)});
  }
  void OnRename(const MemoryRename& rename) override {
    Add({.kind = OperationKind::kRename,
         .node = rename.node,
         .node_is_directory = rename.node_is_directory,
         .directory = rename.from_directory,
         .name = std::string(rename.from_name),
         .to_directory = rename.to_directory,
         .to_name = std::string(rename.to_name)});
  }
  void OnSyncDirectory(MemoryNodeId directory) override {
    Add({.kind = OperationKind::kSyncDirectory, .node = directory, .node_is_directory = true});
  }

  uint64_t Count() const {
    MutexLock lock(mutex_);
    return operations_.size();
  }
  const Operation& Get(uint64_t k) const {
    MutexLock lock(mutex_);
    ASHLAR_ASSERT(k < operations_.size());
    return operations_[static_cast<size_t>(k)];
  }
  // Takes the first k operations of another journal.
  void Take(const Journal& other, uint64_t k) {
    for (uint64_t i = 0; i < k; ++i) Add(other.Get(i));
  }
  // One more than the largest node id, or 0 if the journal is empty.
  MemoryNodeId IdsEnd() const {
    MutexLock lock(mutex_);
    MemoryNodeId end = 0;
    for (const Operation& operation : operations_) end = std::max(end, operation.node + 1);
    return end;
  }
  // The last name that a node got before operation k.
  std::string NameOf(MemoryNodeId node, uint64_t k) const {
    MutexLock lock(mutex_);
    std::string name;
    for (size_t i = 0; i < std::min<uint64_t>(k, operations_.size()); i++) {
      const Operation& operation = operations_[i];
      if (operation.node != node) continue;
      if (operation.kind == OperationKind::kLink) name = operation.name;
      if (operation.kind == OperationKind::kRename) name = operation.to_name;
    }
    return name;
  }

 private:
  void Add(Operation operation) {
    MutexLock lock(mutex_);
    operations_.push_back(std::move(operation));
  }

  mutable Mutex mutex_;
  std::deque<Operation> operations_ ASHLAR_GUARDED_BY(mutex_);
};

namespace {

// The pending operations that survive, and further damage to the bytes.
struct Survival {
  std::vector<uint64_t> kept;  // indexes into the journal, ascending
  struct Damage {
    MemoryNodeId file = 0;
    uint64_t operation = 0;
    uint64_t begin = 0;  // offsets in the file
    uint64_t end = 0;
    bool cuts = false;  // the write ends at `begin`; otherwise [begin, end) has zeros

    auto operator<=>(const Damage&) const = default;
  };
  Damage damage;
  enum class Growth { kNone, kZeros, kGarbage } growth = Growth::kNone;
  bool mixes_sectors = false;
  uint64_t seed = 0;  // for the garbage and for the sectors

  auto operator<=>(const Survival&) const = default;
};

}  // namespace

// The durable state and the pending operations after the first `position` operations.
class CrashFileSystem::State {
 public:
  State(const Journal& journal, const MemoryImage& start) : journal_(journal) {
    std::map<std::string, MemoryNodeId> ids{{"", kMemoryRootId}};
    directories_[kMemoryRootId];
    for (const MemoryImage::Entry& entry : start.entries) {
      const size_t slash = entry.path.rfind('/');
      const std::string parent = slash == std::string::npos ? "" : entry.path.substr(0, slash);
      directories_[ids.at(parent)].insert_or_assign(std::string(BaseName(entry.path)),
                                                    NodeReference{entry.id, entry.is_directory});
      if (entry.is_directory) {
        ids[entry.path] = entry.id;
        directories_[entry.id];
      } else {
        files_[entry.id].durable = entry.bytes;
        if (IsForPeopleOnly(BaseName(entry.path))) for_people_.insert(entry.id);
      }
    }
  }

  uint64_t position() const { return position_; }

  void AdvanceTo(uint64_t position) {
    for (; position_ < position; position_++) Apply(journal_.Get(position_));
  }

  // The pending operations that can make a difference, ascending.
  std::vector<uint64_t> Pending() const {
    std::vector<uint64_t> pending = pending_entries_;
    for (const MemoryNodeId id : ReachableFiles()) {
      const auto file = files_.find(id);
      if (file != files_.end())
        pending.insert(pending.end(), file->second.pending.begin(), file->second.pending.end());
    }
    std::sort(pending.begin(), pending.end());
    return pending;
  }

  // The last pending write of each file.
  std::vector<uint64_t> LastWrites() const {
    std::vector<uint64_t> writes;
    for (const MemoryNodeId id : ReachableFiles()) {
      const auto file = files_.find(id);
      if (file == files_.end()) continue;
      const std::vector<uint64_t>& pending = file->second.pending;
      const auto last = std::find_if(pending.rbegin(), pending.rend(), [this](uint64_t k) {
        return journal_.Get(k).kind == OperationKind::kWrite;
      });
      if (last != pending.rend()) writes.push_back(*last);
    }
    return writes;
  }

  MemoryImage Build(const Survival& survival) const {
    DirectoryMap directories = directories_;
    for (const uint64_t k : survival.kept) {
      if (ChangesDirectory(journal_.Get(k))) ApplyToDirectories(journal_.Get(k), &directories);
    }
    MemoryImage image;
    std::set<MemoryNodeId> visited;
    std::map<MemoryNodeId, std::shared_ptr<const std::string>> contents;
    AddDirectory({.survival = survival,
                  .directories = directories,
                  .visited = visited,
                  .contents = contents,
                  .image = image},
                 "", kMemoryRootId);
    return image;
  }

 private:
  struct FileState {
    std::shared_ptr<const std::string> durable = std::make_shared<const std::string>();
    std::vector<uint64_t> pending;
  };
  struct Walk {
    const Survival& survival;
    DirectoryMap& directories;
    std::set<MemoryNodeId>& visited;
    std::map<MemoryNodeId, std::shared_ptr<const std::string>>& contents;
    MemoryImage& image;
  };

  void Apply(const Operation& operation) {
    switch (operation.kind) {
      case OperationKind::kWrite:
      case OperationKind::kResize:
        files_[operation.node].pending.push_back(position_);
        if (for_people_.contains(operation.node)) MakeFileDurable(operation.node);
        break;
      case OperationKind::kSyncFile: MakeFileDurable(operation.node); break;
      case OperationKind::kSyncDirectory: MakeEntriesDurable(operation.node); break;
      case OperationKind::kLink:
      case OperationKind::kUnlink:
      case OperationKind::kRename: AddEntryChange(operation); break;
    }
  }

  void AddEntryChange(const Operation& operation) {
    if (operation.node_is_directory) {
      directories_[operation.node];
    } else if (operation.kind == OperationKind::kLink) {
      files_[operation.node];
    }
    if (!IsForPeopleOnly(operation.name)) {
      pending_entries_.push_back(position_);
      return;
    }
    if (operation.kind == OperationKind::kLink) for_people_.insert(operation.node);
    ApplyToDirectories(operation, &directories_);
  }

  void MakeFileDurable(MemoryNodeId id) {
    FileState& file = files_[id];
    if (file.pending.empty()) return;
    auto bytes = std::make_shared<std::string>(*file.durable);
    for (const uint64_t k : file.pending) ApplyToFile(journal_.Get(k), bytes.get());
    file.durable = std::move(bytes);
    file.pending.clear();
  }

  void MakeEntriesDurable(MemoryNodeId directory) {
    std::vector<uint64_t> still_pending;
    for (const uint64_t k : pending_entries_) {
      const Operation& operation = journal_.Get(k);
      if (operation.directory == directory || operation.to_directory == directory) {
        ApplyToDirectories(operation, &directories_);
      } else {
        still_pending.push_back(k);
      }
    }
    pending_entries_ = std::move(still_pending);
  }

  // The files that keep a name under some combination of pending operations.
  std::set<MemoryNodeId> ReachableFiles() const {
    std::set<MemoryNodeId> files;
    for (const auto& [id, entries] : directories_) {
      for (const auto& [name, node] : entries) {
        if (!node.is_directory) files.insert(node.id);
      }
    }
    for (const uint64_t k : pending_entries_) {
      const Operation& operation = journal_.Get(k);
      if (operation.kind != OperationKind::kUnlink && !operation.node_is_directory)
        files.insert(operation.node);
    }
    return files;
  }

  void AddDirectory(const Walk& walk, const std::string& prefix, MemoryNodeId id) const {
    // If one of two renames is lost, a directory can have two names. The first one counts.
    if (!walk.visited.insert(id).second) return;
    for (const auto& [name, node] : walk.directories[id]) {
      const std::string path = StrCat(prefix, name);
      if (node.is_directory) {
        if (walk.visited.contains(node.id)) continue;
        walk.image.entries.push_back(
            {.path = path, .is_directory = true, .id = node.id, .bytes = nullptr});
        AddDirectory(walk, StrCat(path, "/"), node.id);
        continue;
      }
      std::shared_ptr<const std::string>& bytes = walk.contents[node.id];
      if (bytes == nullptr) bytes = BuildFile(node.id, walk.survival);
      walk.image.entries.push_back(
          {.path = path, .is_directory = false, .id = node.id, .bytes = bytes});
    }
  }

  std::shared_ptr<const std::string> BuildFile(MemoryNodeId id, const Survival& survival) const {
    const FileState& file = files_.at(id);
    if (file.pending.empty()) return file.durable;
    if (survival.mixes_sectors) return MixSectors(id, survival);
    auto bytes = std::make_shared<std::string>(*file.durable);
    for (const uint64_t k : file.pending) {
      if (std::binary_search(survival.kept.begin(), survival.kept.end(), k))
        ApplyDamaged(k, survival, bytes.get());
    }
    if (survival.growth != Survival::Growth::kNone) HideWhatIsNotDurable(id, survival, bytes.get());
    return bytes;
  }

  // A sector of old bytes that was overwritten several times may have any of its states.
  std::shared_ptr<const std::string> MixSectors(MemoryNodeId id, const Survival& survival) const {
    constexpr size_t kSector = 512;
    const FileState& file = files_.at(id);
    std::string state = *file.durable;
    for (const uint64_t k : file.pending) ApplyToFile(journal_.Get(k), &state);
    auto bytes = std::make_shared<std::string>(state.size(), '\0');
    std::vector<uint64_t> applied(bytes->size() / kSector + 1, file.pending.size());  // by sector
    Random random(survival.seed ^ id);
    for (size_t i = 0; i < std::min(file.durable->size(), bytes->size()) / kSector; ++i)
      applied[i] = random.Uniform(file.pending.size() + 1);
    const auto take = [&](uint64_t count) {
      const size_t size = std::min(state.size(), bytes->size());
      for (size_t begin = 0; begin < size; begin += kSector) {
        if (applied[begin / kSector] != count) continue;
        memcpy(bytes->data() + begin, state.data() + begin, std::min(kSector, size - begin));
      }
    };
    state = *file.durable;
    take(0);
    for (size_t i = 0; i < file.pending.size(); ++i) {
      ApplyToFile(journal_.Get(file.pending[i]), &state);
      take(i + 1);
    }
    return bytes;
  }

  void ApplyDamaged(uint64_t k, const Survival& survival, std::string* bytes) const {
    const Survival::Damage& damage = survival.damage;
    if (damage.file == 0 || damage.operation != k) {
      ApplyToFile(journal_.Get(k), bytes);
      return;
    }
    Operation damaged = journal_.Get(k);
    const size_t begin = static_cast<size_t>(damage.begin - damaged.offset);
    if (damage.cuts) {
      damaged.data.resize(begin);
      if (begin > 0) ApplyToFile(damaged, bytes);
      return;
    }
    damaged.data.replace(begin, static_cast<size_t>(damage.end - damage.begin),
                         static_cast<size_t>(damage.end - damage.begin), '\0');
    ApplyToFile(damaged, bytes);
  }

  // Keeps the size but replaces the bytes: the size of the file reached the disk, and its data did
  // not.
  void HideWhatIsNotDurable(MemoryNodeId id, const Survival& survival, std::string* bytes) const {
    const std::string& durable = *files_.at(id).durable;
    Random random(survival.seed ^ id);
    for (size_t i = 0; i < bytes->size(); i++) {
      const char hidden = survival.growth == Survival::Growth::kZeros
                              ? '\0'
                              : static_cast<char>(random.Next() >> 56);
      (*bytes)[i] = i < durable.size() ? durable[i] : hidden;
    }
  }

  const Journal& journal_;
  uint64_t position_ = 0;
  DirectoryMap directories_;  // durable entries
  std::map<MemoryNodeId, FileState> files_;
  std::set<MemoryNodeId> for_people_;
  std::vector<uint64_t> pending_entries_;
};

namespace {

// The kinds share a few small functions that choose among the pending operations.
using Operations = std::function<const Operation&(uint64_t)>;
struct Choice {
  const std::vector<uint64_t>& pending;
  const std::vector<uint64_t>& last_writes;
  const Operations& operation;
  uint64_t seed;
};

template <typename Predicate>
std::vector<uint64_t> Select(const std::vector<uint64_t>& from, Predicate keep) {
  std::vector<uint64_t> kept;
  std::copy_if(from.begin(), from.end(), std::back_inserter(kept), keep);
  return kept;
}

std::vector<uint64_t> AllBut(const std::vector<uint64_t>& pending,
                             const std::vector<uint64_t>& candidates, uint64_t seed) {
  if (candidates.empty()) return pending;
  const uint64_t dropped = candidates[static_cast<size_t>(seed % candidates.size())];
  return Select(pending, [dropped](uint64_t k) { return k != dropped; });
}

std::vector<uint64_t> RandomSubset(const std::vector<uint64_t>& pending, uint64_t seed) {
  Random random(seed);
  const uint64_t quarters = 1 + random.Uniform(3);
  return Select(pending, [&](uint64_t) { return random.Uniform(4) < quarters; });
}

Survival::Damage TearLastWrite(const Choice& choice, uint64_t unit) {
  if (choice.last_writes.empty()) return {};
  Random random(choice.seed);
  const uint64_t k =
      choice.last_writes[static_cast<size_t>(random.Uniform(choice.last_writes.size()))];
  const Operation& write = choice.operation(k);
  // Cuts at a multiple of the unit inside the write, or before all of the write.
  const uint64_t first = write.offset / unit + 1;
  const uint64_t last = (write.offset + write.bytes - 1) / unit;
  const uint64_t cuts = last >= first ? last - first + 1 : 0;
  const uint64_t chosen = random.Uniform(cuts + 1);
  const uint64_t begin = chosen == cuts ? write.offset : (first + chosen) * unit;
  return {.file = write.node,
          .operation = k,
          .begin = begin,
          .end = write.offset + write.bytes,
          .cuts = true};
}

Survival::Damage LosePage(const Choice& choice) {
  constexpr uint64_t kPage = 4096;
  if (choice.last_writes.empty()) return {};
  Random random(choice.seed);
  const uint64_t k =
      choice.last_writes[static_cast<size_t>(random.Uniform(choice.last_writes.size()))];
  const Operation& write = choice.operation(k);
  const uint64_t end = write.offset + write.bytes;
  const uint64_t page = random.Between(write.offset / kPage, (end - 1) / kPage);
  return {.file = write.node,
          .operation = k,
          .begin = std::max(write.offset, page * kPage),
          .end = std::min(end, (page + 1) * kPage),
          .cuts = false};
}

// Adds one kind of damage to the operations that survive.
void AddRandomDamage(const Choice& choice, Survival* survival) {
  Random random(choice.seed + 1);  // differs from the draws of the subset
  switch (random.Uniform(5)) {
    case 0: survival->damage = TearLastWrite(choice, 512); break;
    case 1: survival->damage = TearLastWrite(choice, 4096); break;
    case 2: survival->damage = LosePage(choice); break;
    case 3: survival->growth = Survival::Growth::kZeros; break;
    default:
      survival->growth = Survival::Growth::kGarbage;
      survival->seed = choice.seed;
      break;
  }
}

Survival Choose(CrashKind kind, const Choice& choice) {
  const std::vector<uint64_t>& pending = choice.pending;
  const auto is_entry = [&](uint64_t k) { return ChangesDirectory(choice.operation(k)); };
  const auto is_unlink = [&](uint64_t k) {
    return choice.operation(k).kind == OperationKind::kUnlink;
  };
  Survival survival;
  survival.kept = pending;
  switch (kind) {
    case CrashKind::kDurableOnly: survival.kept.clear(); break;
    case CrashKind::kEverything: break;
    case CrashKind::kPrefix:
      survival.kept.resize(static_cast<size_t>(choice.seed % (pending.size() + 1)));
      break;
    case CrashKind::kOneDropped: survival.kept = AllBut(pending, pending, choice.seed); break;
    case CrashKind::kOneKept:
      survival.kept.clear();
      if (!pending.empty())
        survival.kept.push_back(pending[static_cast<size_t>(choice.seed % pending.size())]);
      break;
    case CrashKind::kTornWrite512: survival.damage = TearLastWrite(choice, 512); break;
    case CrashKind::kTornWrite4096: survival.damage = TearLastWrite(choice, 4096); break;
    case CrashKind::kPageLost: survival.damage = LosePage(choice); break;
    case CrashKind::kGrownWithZeros: survival.growth = Survival::Growth::kZeros; break;
    case CrashKind::kGrownWithGarbage:
      survival.growth = Survival::Growth::kGarbage;
      survival.seed = choice.seed;
      break;
    case CrashKind::kEntryLost:
      survival.kept = AllBut(pending, Select(pending, is_entry), choice.seed);
      break;
    case CrashKind::kDataWithoutEntries:
      survival.kept = Select(pending, [&](uint64_t k) { return !is_entry(k); });
      break;
    case CrashKind::kEntriesWithoutData: survival.kept = Select(pending, is_entry); break;
    case CrashKind::kUnlinksFirst:
      survival.kept = Select(pending, [&](uint64_t k) { return !is_entry(k) || is_unlink(k); });
      break;
    case CrashKind::kUnlinksLate:
      survival.kept = Select(pending, [&](uint64_t k) { return !is_unlink(k); });
      break;
    case CrashKind::kMixedSectors:
      survival.mixes_sectors = true;
      survival.seed = choice.seed;
      break;
    case CrashKind::kRandomSubset: survival.kept = RandomSubset(pending, choice.seed); break;
    case CrashKind::kRandomDamage:
      survival.kept = RandomSubset(pending, choice.seed);
      AddRandomDamage(choice, &survival);
      break;
  }
  return survival;
}

// How many seeds of a kind are worth trying. If the seed of a kind is an index, the seeds below
// `seeds` cover all of its choices.
struct SeedPlan {
  uint64_t seeds;
  bool seed_is_index;
};

SeedPlan PlanSeeds(CrashKind kind, uint64_t pending) {
  constexpr uint64_t kDraws = 3;
  switch (kind) {
    case CrashKind::kPrefix:
      return {std::min(pending + 1, CrashFileSystem::kExhaustiveMax + 1),
              pending <= CrashFileSystem::kExhaustiveMax};
    case CrashKind::kOneDropped:
    case CrashKind::kOneKept:
    case CrashKind::kEntryLost:
      return {std::min(pending, CrashFileSystem::kExhaustiveMax),
              pending <= CrashFileSystem::kExhaustiveMax};
    case CrashKind::kTornWrite512:
    case CrashKind::kTornWrite4096:
    case CrashKind::kPageLost:
    case CrashKind::kMixedSectors:
    case CrashKind::kRandomSubset:
    case CrashKind::kRandomDamage: return {kDraws, false};
    default: return {1, false};
  }
}

CrashImage MakeImage(CrashKind kind, uint64_t seed, const MemoryImage& image) {
  return {.kind = kind,
          .seed = seed,
          .fingerprint = image.Fingerprint(),
          .file_system = std::make_shared<MemoryFileSystem>(image)};
}

}  // namespace

CrashFileSystem::CrashFileSystem() : CrashFileSystem(MemoryImage()) {}

CrashFileSystem::CrashFileSystem(const MemoryImage& image)
    : CrashFileSystem(image, image, std::make_unique<Journal>()) {}

CrashFileSystem::CrashFileSystem(const MemoryImage& seen, const MemoryImage& start,
                                 std::unique_ptr<Journal> journal)
    : MemoryFileSystem(seen), start_(start), journal_(std::move(journal)) {
  SetListener(journal_.get());
}

CrashFileSystem::~CrashFileSystem() { SetListener(nullptr); }

uint64_t CrashFileSystem::OperationCount() const { return journal_->Count(); }

bool CrashFileSystem::IsWrite(uint64_t k) const {
  return journal_->Get(k).kind == OperationKind::kWrite;
}

std::string CrashFileSystem::DescribeOperation(uint64_t k) const {
  const Operation& operation = journal_->Get(k);
  const std::string file =
      StrCat(journal_->NameOf(operation.node, k), " (node ", operation.node, ")");
  switch (operation.kind) {
    case OperationKind::kWrite:
      return StrCat("write ", operation.bytes, " bytes at ", operation.offset, " of ", file);
    case OperationKind::kResize: return StrCat("resize ", file, " to ", operation.bytes);
    case OperationKind::kSyncFile: return StrCat("sync ", file);
    case OperationKind::kLink:
      return StrCat("create ", operation.name, " (node ", operation.node, ")");
    case OperationKind::kUnlink: return StrCat("remove ", operation.name);
    case OperationKind::kRename:
      return StrCat("rename ", operation.name, " to ", operation.to_name, " (node ", operation.node,
                    ")");
    case OperationKind::kSyncDirectory: return StrCat("sync directory ", file);
  }
  return "";
}

CrashFileSystem::State& CrashFileSystem::StateAfter(uint64_t k) {
  ASHLAR_ASSERT(k <= OperationCount());
  if (state_ == nullptr || state_->position() > k)
    state_ = std::make_unique<State>(*journal_, start_);
  state_->AdvanceTo(k);
  return *state_;
}

std::shared_ptr<CrashFileSystem> CrashFileSystem::AfterProcessDeath(uint64_t k) {
  const State& state = StateAfter(k);
  Survival all;
  all.kept = state.Pending();
  MemoryImage seen = state.Build(all);
  auto journal = std::make_unique<Journal>();
  journal->Take(*journal_, k);
  // Otherwise a new node could get the id of a removed one, which the journal still contains.
  seen.new_ids_begin = std::max(start_.new_ids_begin, journal->IdsEnd());
  for (const MemoryImage::Entry& entry : start_.entries)
    seen.new_ids_begin = std::max(seen.new_ids_begin, entry.id + 1);
  return std::shared_ptr<CrashFileSystem>(new CrashFileSystem(seen, start_, std::move(journal)));
}

CrashImage CrashFileSystem::MakeCrashImage(uint64_t k, CrashKind kind, uint64_t seed) {
  const State& state = StateAfter(k);
  const std::vector<uint64_t> pending = state.Pending();
  const std::vector<uint64_t> last_writes = state.LastWrites();
  const Operations operations = [this](uint64_t i) -> const Operation& { return journal_->Get(i); };
  return MakeImage(kind, seed,
                   state.Build(Choose(kind, {.pending = pending,
                                             .last_writes = last_writes,
                                             .operation = operations,
                                             .seed = seed})));
}

void CrashFileSystem::EnumerateCrashImages(uint64_t k, uint64_t seed,
                                           const std::function<void(const CrashImage&)>& visitor) {
  EnumerateCrashImages(k, seed, [] { return true; }, visitor);
}

void CrashFileSystem::EnumerateCrashImages(uint64_t k, uint64_t seed,
                                           const std::function<bool()>& is_wanted,
                                           const std::function<void(const CrashImage&)>& visitor) {
  const State& state = StateAfter(k);
  const std::vector<uint64_t> pending = state.Pending();
  const std::vector<uint64_t> last_writes = state.LastWrites();
  const Operations operations = [this](uint64_t i) -> const Operation& { return journal_->Get(i); };
  Random random(seed ^ k);
  std::set<Survival> chosen;
  std::set<uint64_t> seen;
  for (int i = 0; i < kCrashKinds; i++) {
    const CrashKind kind = static_cast<CrashKind>(i);
    const SeedPlan plan = PlanSeeds(kind, pending.size());
    for (uint64_t s = 0; s < plan.seeds; s++) {
      const uint64_t image_seed = plan.seed_is_index ? s : random.Next();
      const auto [survival, is_new] = chosen.insert(Choose(kind, {.pending = pending,
                                                                  .last_writes = last_writes,
                                                                  .operation = operations,
                                                                  .seed = image_seed}));
      if (!is_new || !is_wanted()) continue;
      const CrashImage image = MakeImage(kind, image_seed, state.Build(*survival));
      if (seen.insert(image.fingerprint).second) visitor(image);
    }
  }
}

}  // namespace ashlar

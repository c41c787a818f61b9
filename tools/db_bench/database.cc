#include "tools/db_bench/database.h"

#include <fmt/format.h>

#include "platform/file.h"
#include "platform/path.h"
#include "platform/program.h"
#include "tools/db_bench/options_from_flags.h"

namespace ashlar::bench {
namespace {

std::string PathOf(const Flags& flags) {
  if (!flags.db.empty()) return flags.db;
  return TemporaryDirectory() +
         (flags.engine == "pmem" ? "/ashlar_db_bench.pool" : "/ashlar_db_bench");
}

// Creates a directory and its missing parents.
Status MakeDirectories(const std::string& path) {
  if (GetFileInfo(path).ok()) return Status::OK();
  const std::string parent = ParentDirectory(path);
  Status made = parent == path ? Status::OK() : MakeDirectories(parent);
  return made.ok() ? MakeDirectoryIfMissing(path) : made;
}

std::vector<ColumnFamilyDescriptor> FamiliesOf(const Flags& flags, const Options& options) {
  const ColumnFamilyOptions family_options(options);
  std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, family_options}};
  for (int i = 1; i < flags.num_column_families; ++i)
    families.emplace_back(fmt::format("column_family_name_{:06}", i), family_options);
  return families;
}

}  // namespace

Database::Database(const Flags& flags) : flags_(flags), path_(PathOf(flags)) {}

Database::~Database() { (void)Close(); }

Status Database::Prepare() { return OptionsFromFlags(flags_, &options_); }

PersistentTreeOptions Database::TreeOptions() const {
  // Half-full leaves, rounded-up records, and room for deleted records that are not yet free.
  constexpr uint64_t kSpareBytes = uint64_t{64} << 20;
  constexpr double kBytesPerGiB = 1 << 30;
  const auto value_bytes = static_cast<uint64_t>(
      flags_.value_size_distribution_type == "fixed" ? flags_.value_size : flags_.value_size_max);
  const uint64_t entry_bytes = static_cast<uint64_t>(flags_.key_size) + value_bytes + 64;
  PersistentTreeOptions options;
  options.create_if_missing = !flags_.use_existing_db;
  options.pool_bytes = flags_.db_size_in_gb > 0
                           ? static_cast<uint64_t>(flags_.db_size_in_gb * kBytesPerGiB)
                           : static_cast<uint64_t>(flags_.num) * entry_bytes * 5 / 4 + kSpareBytes;
  for (const DurabilityClass durability :
       {DurabilityClass::kCpuFlush, DurabilityClass::kProcessCrashOnly, DurabilityClass::kLogged}) {
    if (flags_.durability == DurabilityClassName(durability)) options.durability = durability;
  }
  options.caches_are_durable = flags_.caches_are_durable;
  options.sync_log = flags_.sync;
  return options;
}

Status Database::Open(bool for_bulk_load) {
  if (flags_.engine == "pmem") return PersistentTree::Open(TreeOptions(), path_, &tree_);
  Options options = options_;
  if (for_bulk_load) options.PrepareForBulkLoad();
  const std::vector<ColumnFamilyDescriptor> families = FamiliesOf(flags_, options);
  if (flags_.readonly)
    return DB::OpenForReadOnly(DBOptions(options), path_, families, &families_, &db_);
  // DB::Open creates only the last directory of a path.
  if (options.create_if_missing) {
    Status made = MakeDirectories(path_);
    if (!made.ok()) return made;
  }
  return DB::Open(DBOptions(options), path_, families, &families_, &db_);
}

Status Database::Close() {
  if (tree_ != nullptr) {
    Status s = tree_->Close();
    if (s.ok()) tree_.reset();
    return s;
  }
  if (db_ == nullptr) return Status::OK();
  for (ColumnFamilyHandle* const family : families_) {
    if (family == db_->DefaultColumnFamily()) continue;
    Status s = db_->DestroyColumnFamilyHandle(family);
    if (!s.ok()) return s;
  }
  families_.clear();
  Status s = db_->Close();
  db_.reset();
  return s;
}

Status Database::Destroy() {
  if (GetFileInfo(path_).status().IsPathNotFound()) return Status::OK();
  return flags_.engine == "pmem" ? DestroyPool() : DestroyDB(path_, options_);
}

// Deletes only a file that opens as a pool: --db may name any file.
Status Database::DestroyPool() {
  PersistentTreeOptions options;
  options.durability = DurabilityClass::kProcessCrashOnly;
  std::unique_ptr<PersistentTree> tree;
  Status s = PersistentTree::Open(options, path_, &tree);
  if (s.ok()) s = tree->Close();
  if (!s.ok()) return Status(s).WithContext("not destroyed");
  return RemoveFile(path_);
}

}  // namespace ashlar::bench

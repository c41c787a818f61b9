#include "tools/db_bench/database.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "tools/db_bench/options_from_flags.h"

namespace ashlar::bench {
namespace {

std::string PathOf(const Flags& flags) {
  if (!flags.db.empty()) return flags.db;
  std::error_code ignored;
  return (std::filesystem::temp_directory_path(ignored) / "ashlar_db_bench").string();
}

std::vector<ColumnFamilyDescriptor> FamiliesOf(const Flags& flags, const Options& options) {
  const ColumnFamilyOptions family_options(options);
  std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, family_options}};
  for (int i = 1; i < flags.num_column_families; ++i) families.emplace_back(fmt::format("column_family_name_{:06}", i), family_options);
  return families;
}

}  // namespace

Database::Database(const Flags& flags) : flags_(flags), path_(PathOf(flags)) {}

Database::~Database() { (void)Close(); }

Status Database::Prepare() { return OptionsFromFlags(flags_, &options_); }

Status Database::Open(bool for_bulk_load) {
  Options options = options_;
  if (for_bulk_load) options.PrepareForBulkLoad();
  const std::vector<ColumnFamilyDescriptor> families = FamiliesOf(flags_, options);
  if (flags_.readonly) return DB::OpenForReadOnly(DBOptions(options), path_, families, &families_, &db_);
  // DB::Open makes the last directory of a path only.
  std::error_code ignored;
  if (options.create_if_missing) std::filesystem::create_directories(path_, ignored);
  return DB::Open(DBOptions(options), path_, families, &families_, &db_);
}

Status Database::Close() {
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
  std::error_code error;
  if (!std::filesystem::exists(path_, error)) return Status::OK();
  return DestroyDB(path_, options_);
}

}  // namespace ashlar::bench

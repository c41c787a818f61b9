#include "tools/db_bench/workloads/showing.h"

#include <fmt/format.h>

namespace ashlar::bench {

Status ShowProperty(const Database& database, const std::string& property) {
  for (ColumnFamilyHandle* const family : database.families()) {
    std::string text;
    if (!database.db().GetProperty(family, property, &text))
      return Status::NotFound("no property " + property);
    fmt::print("\n{}\n", text);
  }
  return Status::OK();
}

}  // namespace ashlar::bench

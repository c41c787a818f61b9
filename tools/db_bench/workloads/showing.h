// Printing properties of the database.
#pragma once

#include <string>

#include "ashlar/status.h"
#include "tools/db_bench/database.h"

namespace ashlar::bench {

// Prints it for every column family, to standard output. NotFound if there is no such property.
Status ShowProperty(const Database& database, const std::string& property);

}  // namespace ashlar::bench

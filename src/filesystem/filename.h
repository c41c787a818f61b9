// Names of the files in a database directory. Accesses no file.
//
//   000012.log        write-ahead log           MANIFEST-000012     version edits
//   000012.sst        table (000012.ldb too)    CURRENT             names the live MANIFEST
//   000012.blob       blob file                 LOCK                held while the database is open
//   000012.dbtmp      temporary                 IDENTITY            the database's id
//   OPTIONS-000012    options                   LOG, LOG.old.1234   messages for people
//   OPTIONS-000012.dbtmp  temporary
//   000012.log.dbtmp  temporary: the copy that will replace a log or a table, if a program's
//                     file system cannot cut or reopen files (I6 of environment/program_files.h)
//   000012.sst.trash  temporary: a table, log or blob file that waits for its paced deletion;
//                     000012.sst0.trash if that name was taken
//   lost/000012.log   copy of a damaged log; lost/000012.log.1 another one; tables and MANIFESTs
//                     that a repair has replaced likewise
//
// I1: names are made from numbers only, and ParseFileName accepts exactly the names above that are
//     not in lost/. Each of them has one spelling per number, so no name found on disk is ever used
//     as a path.
// I2: numbers are between 1 and kFileNumberMax. A file with a higher number in its name does not
//     belong to the database: it is neither used nor deleted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ashlar/types.h"

namespace ashlar {

// The highest number of a file. A database numbers its files from 1 and never comes near it. Sums
// of a few numbers do not wrap.
inline constexpr uint64_t kFileNumberMax = (uint64_t{1} << 62) - 1;

std::string WalFileName(const std::string& directory, uint64_t number);
std::string TableFileName(const std::string& directory, uint64_t number);
std::string LegacyTableFileName(const std::string& directory, uint64_t number);
std::string DescriptorFileName(const std::string& directory, uint64_t number);
std::string CurrentFileName(const std::string& directory);
std::string LockFileName(const std::string& directory);
std::string IdentityFileName(const std::string& directory);
std::string OptionsFileName(const std::string& directory, uint64_t number);
std::string TempOptionsFileName(const std::string& directory, uint64_t number);
std::string TempFileName(const std::string& directory, uint64_t number);
// `path` is that of a table, a log or a blob file. `taken` is how many of these names are taken.
std::string TrashFileName(std::string_view path, uint64_t taken);
std::string ArchiveDirectory(const std::string& directory);
std::string LostDirectory(const std::string& directory);
// `name` is that of a log, a table or a MANIFEST. `copies` is the number of other files with this
// name that have been copied before.
std::string LostFileName(const std::string& directory, std::string_view name, uint64_t copies);
// Returns true if LostFileName makes this name (without directory).
[[nodiscard]] bool IsLostFileName(std::string_view name);

// Returns true if TrashFileName makes this name (without directory).
[[nodiscard]] bool IsTrashFileName(std::string_view name);

// Parses a name (without directory). Returns false if it is no name of a database file. *number is
// 0 for names without a number, and for LOG.old the time in its name.
[[nodiscard]] bool ParseFileName(std::string_view name, uint64_t* number, FileType* type);
// True if ParseFileName accepts the name and the file has this type.
[[nodiscard]] bool HasType(std::string_view name, FileType wanted);

// The last component of a path.
std::string_view BaseName(std::string_view path);

}  // namespace ashlar

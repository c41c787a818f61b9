// The targets' functions, one group per file. targets.cc has the table.
#pragma once

#include <string>
#include <vector>

#include "tests/fuzz/target.h"

namespace ashlar::fuzz {

using Seeds = std::vector<std::string>;

// batch_targets.cc: the bytes of a WriteBatch; the same through the C interface; the same written
// to both engines.
bool RunBatch(const std::string& input);
bool RunCBatch(const std::string& input);
bool RunWrittenBatch(const std::string& input);
Seeds SeedBatches();
Seeds SeedWrittenBatches();

// log_targets.cc: a log file; the log of a database that is opened, after a byte that chooses how;
// the same for readers of the database and of its updates.
bool RunLog(const std::string& input);
bool RunReplay(const std::string& input);
bool RunLogReaders(const std::string& input);
Seeds SeedLogs();
Seeds SeedReplays();
Seeds SeedLogReaders();
void RepairLog(std::string* input);
void RepairReplay(std::string* input);

// manifest_targets.cc: one edit; the MANIFEST of a database that is opened.
bool RunEdit(const std::string& input);
bool RunManifest(const std::string& input);
Seeds SeedEdits();
Seeds SeedManifests();

// block_targets.cc: the parts of a block-based table, each without its trailer. The first byte
// chooses the comparator or the coding.
bool RunDataBlock(const std::string& input);
bool RunIndexBlock(const std::string& input);
bool RunRangeBlock(const std::string& input);
bool RunProperties(const std::string& input);
bool RunCompression(const std::string& input);
bool RunFilter(const std::string& input);
Seeds SeedDataBlocks();
Seeds SeedIndexBlocks();
Seeds SeedRangeBlocks();
Seeds SeedProperties();
Seeds SeedCompression();
Seeds SeedFilters();

// table_targets.cc: complete table files.
bool RunTable(const std::string& input);
bool RunPlainTable(const std::string& input);
Seeds SeedTables();
Seeds SeedPlainTables();
void RepairTable(std::string* input);

// text_targets.cc: the text formats.
bool RunOptionsFile(const std::string& input);
bool RunOptionString(const std::string& input);
bool RunBackupMeta(const std::string& input);
bool RunHex(const std::string& input);
Seeds SeedOptionsFiles();
Seeds SeedOptionStrings();
Seeds SeedBackupMetas();
Seeds SeedHexes();

// tool_targets.cc: how the tool prints bytes and reads them back; files that it loads.
bool RunByteText(const std::string& input);
bool RunLoad(const std::string& input);
Seeds SeedByteTexts();
Seeds SeedLoads();

// directory_targets.cc: names of files and CURRENT; the small files of a database; a log, MANIFEST
// or table of a database that is repaired; a table that is ingested; a backup's description.
bool RunFileName(const std::string& input);
bool RunSmallFile(const std::string& input);
bool RunRepairedFile(const std::string& input);
bool RunExternalTable(const std::string& input);
bool RunBackup(const std::string& input);
Seeds SeedFileNames();
Seeds SeedSmallFiles();
Seeds SeedRepairedFiles();
Seeds SeedExternalTables();
Seeds SeedBackups();
void RepairRepairedFile(std::string* input);
void RepairExternalTable(std::string* input);

// import_targets.cc: the metadata with which a family is imported.
bool RunImport(const std::string& input);
Seeds SeedImports();

// value_targets.cc: stored values, as merge operators and a DBWithTTL receive them.
bool RunOperands(const std::string& input);
Seeds SeedOperands();

// pool_targets.cc: words that replace others in a pool; the records of a pool's log.
bool RunPool(const std::string& input);
bool RunPoolLog(const std::string& input);
Seeds SeedPools();
Seeds SeedPoolLogs();

}  // namespace ashlar::fuzz

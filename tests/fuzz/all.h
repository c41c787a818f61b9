// The targets' functions, one group per file. targets.cc has the table.
#pragma once

#include <string>
#include <vector>

#include "tests/fuzz/target.h"

namespace ashlar::fuzz {

using Seeds = std::vector<std::string>;

// batch_targets.cc: the bytes of a WriteBatch; the same through the C interface; the same written
// to both engines.
void RunBatch(const std::string& input);
void RunCBatch(const std::string& input);
void RunWrittenBatch(const std::string& input);
Seeds SeedBatches();
Seeds SeedWrittenBatches();

// log_targets.cc: a log file; the log of a database that is opened, after a byte that chooses how;
// the same for readers of the database and of its updates.
void RunLog(const std::string& input);
void RunReplay(const std::string& input);
void RunLogReaders(const std::string& input);
Seeds SeedLogs();
Seeds SeedReplays();
Seeds SeedLogReaders();
void RepairLog(std::string* input);
void RepairReplay(std::string* input);

// manifest_targets.cc: one edit; the MANIFEST of a database that is opened.
void RunEdit(const std::string& input);
void RunManifest(const std::string& input);
Seeds SeedEdits();
Seeds SeedManifests();

// block_targets.cc: the parts of a block-based table, each without its trailer. The first byte
// chooses the comparator or the coding.
void RunDataBlock(const std::string& input);
void RunIndexBlock(const std::string& input);
void RunRangeBlock(const std::string& input);
void RunProperties(const std::string& input);
void RunCompression(const std::string& input);
void RunFilter(const std::string& input);
Seeds SeedDataBlocks();
Seeds SeedIndexBlocks();
Seeds SeedRangeBlocks();
Seeds SeedProperties();
Seeds SeedCompression();
Seeds SeedFilters();

// table_targets.cc: whole table files.
void RunTable(const std::string& input);
void RunPlainTable(const std::string& input);
Seeds SeedTables();
Seeds SeedPlainTables();
void RepairTable(std::string* input);

// text_targets.cc: the formats that are text.
void RunOptionsFile(const std::string& input);
void RunOptionString(const std::string& input);
void RunBackupMeta(const std::string& input);
void RunHex(const std::string& input);
Seeds SeedOptionsFiles();
Seeds SeedOptionStrings();
Seeds SeedBackupMetas();
Seeds SeedHexes();

// tool_targets.cc: how the tool shows bytes and reads them back; files that it loads.
void RunByteText(const std::string& input);
void RunLoad(const std::string& input);
Seeds SeedByteTexts();
Seeds SeedLoads();

// directory_targets.cc: names of files and CURRENT; the small files of a database; a log, MANIFEST
// or table of a database that is repaired; a table that a database takes; a backup's description.
void RunFileName(const std::string& input);
void RunSmallFile(const std::string& input);
void RunRepairedFile(const std::string& input);
void RunExternalTable(const std::string& input);
void RunBackup(const std::string& input);
Seeds SeedFileNames();
Seeds SeedSmallFiles();
Seeds SeedRepairedFiles();
Seeds SeedExternalTables();
Seeds SeedBackups();
void RepairRepairedFile(std::string* input);
void RepairExternalTable(std::string* input);

// import_targets.cc: the metadata with which a family is imported.
void RunImport(const std::string& input);
Seeds SeedImports();

// value_targets.cc: stored values, as merge operators and a DBWithTTL find them.
void RunOperands(const std::string& input);
Seeds SeedOperands();

// pool_targets.cc: words that replace others of a pool; the records of a pool's log.
void RunPool(const std::string& input);
void RunPoolLog(const std::string& input);
Seeds SeedPools();
Seeds SeedPoolLogs();

}  // namespace ashlar::fuzz

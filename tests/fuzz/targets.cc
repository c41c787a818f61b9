#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/random.h"
#include "tests/fuzz/all.h"

namespace ashlar::fuzz {
namespace {

constexpr Target kTargets[] = {
    {"batch", RunBatch, SeedBatches, nullptr, 4 << 10},
    {"c_batch", RunCBatch, SeedBatches, nullptr, 4 << 10},
    {"written_batch", RunWrittenBatch, SeedWrittenBatches, nullptr, 4 << 10, 6},
    {"log", RunLog, SeedLogs, RepairLog, 128 << 10, 2},
    {"replay", RunReplay, SeedReplays, RepairReplay, 64 << 10},
    {"log_readers", RunLogReaders, SeedLogReaders, RepairReplay, 64 << 10},
    {"edit", RunEdit, SeedEdits, nullptr, 4 << 10},
    {"manifest", RunManifest, SeedManifests, RepairLog, 16 << 10, 1},
    {"data_block", RunDataBlock, SeedDataBlocks, nullptr, 8 << 10},
    {"index_block", RunIndexBlock, SeedIndexBlocks, nullptr, 8 << 10},
    {"range_block", RunRangeBlock, SeedRangeBlocks, nullptr, 8 << 10},
    {"properties", RunProperties, SeedProperties, nullptr, 8 << 10},
    {"compression", RunCompression, SeedCompression, nullptr, 16 << 10, 1},
    {"filter", RunFilter, SeedFilters, nullptr, 8 << 10},
    {"table", RunTable, SeedTables, RepairTable, 64 << 10},
    {"plain_table", RunPlainTable, SeedPlainTables, nullptr, 16 << 10},
    {"options_file", RunOptionsFile, SeedOptionsFiles, nullptr, 32 << 10, 1},
    {"option_string", RunOptionString, SeedOptionStrings, nullptr, 2 << 10},
    {"backup_meta", RunBackupMeta, SeedBackupMetas, nullptr, 4 << 10, 1},
    {"hex", RunHex, SeedHexes, nullptr, 256, 4},
    {"byte_text", RunByteText, SeedByteTexts, nullptr, 256, 6},
    {"load", RunLoad, SeedLoads, nullptr, 4 << 10},
    {"file_name", RunFileName, SeedFileNames, nullptr, 256, 1},
    {"small_file", RunSmallFile, SeedSmallFiles, nullptr, 32 << 10},
    {"repaired_file", RunRepairedFile, SeedRepairedFiles, RepairRepairedFile, 64 << 10},
    {"external_table", RunExternalTable, SeedExternalTables, RepairExternalTable, 64 << 10, 1},
    {"import", RunImport, SeedImports, nullptr, 1 << 10, 15},
    {"backup", RunBackup, SeedBackups, nullptr, 4 << 10, 2},
    {"operands", RunOperands, SeedOperands, nullptr, 1 << 10},
    {"pool", RunPool, SeedPools, nullptr, 1 << 10},
    {"pool_log", RunPoolLog, SeedPoolLogs, nullptr, 16 << 10, 1},
};

[[noreturn]] void Abort(const char* file, int line, const std::string& what) {
  fprintf(stderr, "%s:%d: wrong answer: %s\n", file, line, what.c_str());
  abort();
}

WrongAnswerHandler wrong_answer_handler = Abort;

// Numbers at which the handling of lengths and counts tends to fail.
constexpr uint64_t kEdges[] = {0,          1,        0x7f,         0x80,         0xff,
                               0x7fff,     0x8000,   0xffff,       0x7fffffff,   0x80000000,
                               0xffffffff, 1u << 28, ~uint64_t{0}, ~uint64_t{4}, uint64_t{1} << 63};

void Overwrite(std::string* input, size_t at, const void* bytes, size_t n) {
  memcpy(input->data() + at, bytes, std::min(n, input->size() - at));
}

void ChangeSomewhere(std::string* input, Random* random) {
  const size_t at = random->Uniform(input->size());
  switch (random->Uniform(6)) {
    case 0: (*input)[at] = static_cast<char>((*input)[at] ^ 1 << random->Uniform(8)); break;
    case 1: (*input)[at] = static_cast<char>(random->Uniform(256)); break;
    case 2: (*input)[at] = static_cast<char>((*input)[at] + (random->OneIn(2) ? 1 : -1)); break;
    case 3: {
      const uint64_t edge = kEdges[random->Uniform(std::size(kEdges))];
      Overwrite(input, at, &edge, size_t{1} << random->Uniform(4));
      break;
    }
    case 4: {
      const std::string piece = input->substr(random->Uniform(input->size()), random->Skewed(6));
      Overwrite(input, at, piece.data(), piece.size());
      break;
    }
    default: {
      const std::string varint(1 + random->Uniform(9), static_cast<char>(0xff));
      Overwrite(input, at, varint.data(), varint.size());
      break;
    }
  }
}

void ChangeSize(std::string* input, Random* random) {
  const size_t at = random->Uniform(input->size());
  switch (random->Uniform(3)) {
    case 0: input->erase(at, 1 + random->Skewed(8)); break;
    case 1: input->resize(at + 1); break;
    default: input->insert(at, input->substr(random->Uniform(input->size()), random->Skewed(8)));
  }
}

}  // namespace

std::span<const Target> Targets() { return kTargets; }

void SetWrongAnswerHandler(WrongAnswerHandler handler) { wrong_answer_handler = handler; }

void ReportWrongAnswer(const char* file, int line, const std::string& what) {
  wrong_answer_handler(file, line, what);
}

void Mutate(std::string* input, uint64_t seed, size_t bytes_max) {
  Random random(seed);
  if (input->empty()) input->push_back(static_cast<char>(random.Uniform(256)));
  for (uint64_t n = 1 + random.Skewed(3); n > 0; --n) ChangeSomewhere(input, &random);
  if (random.OneIn(4)) ChangeSize(input, &random);
  if (input->size() > bytes_max) input->resize(bytes_max);
}

}  // namespace ashlar::fuzz

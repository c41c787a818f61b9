// Helpers for the tests of PlainTables: write entries to a table in memory. Entries, models and
// lookups are those of table_test_kit.h.
#pragma once

#include <memory>
#include <string>

#include "ashlar/vfs.h"
#include "table/blockbased/table_test_kit.h"
#include "table/plain/plain_table.h"
#include "table/plain/plain_table_builder.h"
#include "tests/support/test_epochs.h"

namespace ashlar::test {

struct PlainSpec {
  KeyComparator comparator{BytewiseComparator()};
  PlainTableConfig config{};
  std::shared_ptr<const SliceTransform> prefix_extractor{};
};

inline Status WritePlainTable(vfs::FileSystem* fs, const std::string& path, const PlainSpec& spec,
                              const Entries& entries, TableWriteResult* result) {
  std::unique_ptr<vfs::WritableFile> file;
  ASHLAR_RETURN_IF_ERROR(fs->NewWritableFile(path, {}, &file));
  ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<PlainTableBuilder> writer,
                          PlainTableBuilder::Create({.file = file.get(),
                                                     .file_name = path,
                                                     .comparator = spec.comparator,
                                                     .prefix_extractor = spec.prefix_extractor,
                                                     .column_family_name = "default",
                                                     .file_number = 7},
                                                    spec.config));
  for (const auto& [key, value] : entries) writer->Add(key, value);
  ASHLAR_RETURN_IF_ERROR(writer->Finish(result));
  return file->Close();
}

inline Result<TableReaderPtr> OpenPlainTable(vfs::FileSystem* fs, const std::string& path,
                                             const PlainSpec& spec) {
  std::unique_ptr<vfs::RandomAccessFile> file;
  uint64_t bytes = 0;
  ASHLAR_RETURN_IF_ERROR(fs->NewRandomAccessFile(path, {.use_mmap_reads = true}, &file));
  ASHLAR_RETURN_IF_ERROR(file->Size(&bytes));
  return PlainTable::Open({.file = std::move(file),
                           .file_name = path,
                           .file_bytes = bytes,
                           .epochs = &TestEpochs(),
                           .comparator = spec.comparator,
                           .config = spec.config,
                           .prefix_extractor = spec.prefix_extractor});
}

}  // namespace ashlar::test

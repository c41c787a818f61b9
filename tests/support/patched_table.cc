#include "tests/support/patched_table.h"

#include "base/assert.h"
#include "base/coding.h"
#include "table/block/block_builder.h"
#include "table/block/block_entries.h"
#include "table/block/block_format.h"
#include "table/blockbased/meta_block_names.h"

namespace ashlar {

namespace {

std::map<std::string, std::string> EntriesOf(const std::string& table, const BlockHandle& handle) {
  std::map<std::string, std::string> found;
  BlockEntries entries(Slice(table.data() + handle.offset, static_cast<size_t>(handle.size)));
  while (entries.Next()) found[entries.key().ToString()] = entries.value().ToString();
  ASHLAR_ASSERT(entries.status().ok());
  return found;
}

BlockHandle AppendBlock(BlockChecksum checksum, const std::map<std::string, std::string>& entries,
                        std::string* table) {
  BlockBuilder builder({.restart_interval = 1});
  for (const auto& [name, value] : entries) builder.Add(name, value, 0);
  const Slice block = builder.Finish();
  const BlockHandle handle{table->size(), block.size()};
  table->append(block.data(), block.size());
  table->push_back('\0');  // not compressed
  PutFixed32(table, ComputeBlockChecksum(checksum, table->data() + handle.offset, block.size()));
  return handle;
}

// The old properties and metaindex stay in the file, but nothing refers to them.
std::string Patched(std::string table,
                    const std::function<void(StoredProperties* properties)>& change) {
  Footer footer = *DecodeFooter(table, table.size());
  std::map<std::string, std::string> metaindex = EntriesOf(table, footer.metaindex);
  Slice encoded = metaindex.at(kMetaProperties);
  BlockHandle handle;
  ASHLAR_ASSERT(GetBlockHandle(&encoded, &handle));
  StoredProperties properties = EntriesOf(table, handle);
  table.resize(table.size() - kFooterBytes);
  metaindex.erase(kMetaProperties);
  if (change != nullptr) {
    change(&properties);
    PutBlockHandle(&metaindex[kMetaProperties], AppendBlock(footer.checksum, properties, &table));
  }
  footer.metaindex = AppendBlock(footer.checksum, metaindex, &table);
  PutFooter(&table, footer);
  return table;
}

}  // namespace

std::string WithProperties(const std::string& table,
                           const std::function<void(StoredProperties* properties)>& change) {
  return Patched(table, change);
}

std::string WithoutProperties(const std::string& table) { return Patched(table, nullptr); }

}  // namespace ashlar

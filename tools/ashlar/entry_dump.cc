#include "tools/ashlar/entry_dump.h"

#include "platform/program.h"

namespace ashlar::cli {
namespace {

void WriteText(const std::string& text) { (void)fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace

EntryDump::EntryDump(const GlobalOptions& global, const std::vector<std::string>& families)
    : format_(global.format_given ? global.format : OutputFormat::kNdjson),
      key_format_(global.KeyFormatOr(ByteFormat::kEscape)),
      value_format_(global.ValueFormatOr(ByteFormat::kEscape)),
      writer_(MakeRecordWriter(format_, global.Layout({"column_family", "key", "value"}, false),
                               stdout)) {
  if (format_ != OutputFormat::kNdjson) return;
  std::string names;
  for (const std::string& family : families) {
    if (!names.empty()) names += ",";
    names += JsonString(EncodeBytes(ByteFormat::kEscape, family));
  }
  WriteText("{\"ashlar_dump\":1,\"key_format\":\"" + std::string(NameOf(key_format_)) +
            "\",\"value_format\":\"" + std::string(NameOf(value_format_)) +
            "\",\"column_families\":[" + names + "]}\n");
}

Outcome EntryDump::Add(const std::string& family, Iterator* iterator) {
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) AddEntry(family, *iterator);
  return FromStatus(iterator->status(), "dump of column family " + family + " stopped after " +
                                            std::to_string(entries_) + " entries in all");
}

void EntryDump::AddEntry(const std::string& family, const Iterator& iterator) {
  const std::string_view key = iterator.key().ToStringView();
  const std::string_view value = iterator.value().ToStringView();
  writer_->Add({EncodeBytes(ByteFormat::kEscape, family), EncodeBytes(key_format_, key),
                EncodeBytes(value_format_, value)});
  ++entries_;
  bytes_ += key.size() + value.size();
  if (!IsTerminal(stdout)) progress_.Update(bytes_, entries_);
}

void EntryDump::Finish(bool complete) {
  writer_->Finish();
  if (complete && format_ == OutputFormat::kNdjson)
    WriteText("{\"ashlar_dump_end\":true,\"entries\":" + std::to_string(entries_) + "}\n");
}

}  // namespace ashlar::cli

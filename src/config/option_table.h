// OptionTable: every option of one struct, in one table. A new option needs one line here and the
// code that uses it.
//
// An entry has the option's name in text, its member, whether it may change while the database is
// open, and its treatment (honours, accepts without effect, refuses unless it is the default).
// Parsing, printing, the OPTIONS file, validation, SetOptions and the report of options without
// effect are loops over the tables.
//
// I1: names are those of the format's reference release. An option that it does not have is never
//     written to a file (Place::kTextOnly).
// Thread safety: tables are constants.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/table.h"
#include "base/format.h"
#include "base/result.h"
#include "config/option_text.h"

namespace ashlar {

// kRefusedWriting: files written with such an option can be read, so a read-only database accepts
// it.
enum class Support : uint8_t { kHonoured, kAccepted, kRefused, kRefusedWriting };
// kTextOnly: in the text of options, not in OPTIONS files.
enum class Place : uint8_t { kFile, kTextOnly };

struct ParseRules;

template <typename Struct>
struct OptionEntry {
  const char* name;
  Support support;
  bool is_mutable;
  Place place;
  Status (*parse)(std::string_view text, Struct* options);
  std::string (*print)(const Struct& options);
  // Prints for a list: with the kTextOnly fields of a struct, and with the braces that a text needs
  // to be read back. Null: print.
  std::string (*print_text)(const Struct& options) = nullptr;
  // Calls AppendIdle for the fields of a value that is a struct. Null: the value is no struct.
  void (*append_idle_fields)(const Struct& options, const Struct& defaults,
                             std::vector<std::string>* out) = nullptr;
  // Returns false for an unknown enumerator and a number that is not finite, also in a field. Its
  // text could not be read back. Null: every value has a text.
  bool (*has_text)(const Struct& options) = nullptr;
  // Used for a table factory instead of parse, to apply the caller's rules to its options, or null.
  Status (*parse_by_rules)(const ParseRules& rules, std::string_view text,
                           Struct* options) = nullptr;
  // True if the value is a list of the options of one kind of table.
  bool has_table_options = false;
};

std::span<const OptionEntry<DBOptions>> DbOptionTable();
std::span<const OptionEntry<ColumnFamilyOptions>> ColumnFamilyOptionTable();
std::span<const OptionEntry<BlockBasedTableOptions>> BlockBasedTableOptionTable();
std::span<const OptionEntry<PlainTableOptions>> PlainTableOptionTable();

template <typename Struct>
std::span<const OptionEntry<Struct>> OptionTableOf();

// Appends "name=value" for each option that has no effect and is not the default. Such a field of a
// struct is appended as "name.field=value".
template <typename Struct>
void AppendIdle(std::span<const OptionEntry<Struct>> table, const Struct& options,
                const Struct& defaults, std::vector<std::string>* out) {
  for (const OptionEntry<Struct>& entry : table) {
    if (entry.support == Support::kAccepted) {
      const std::string value = entry.print(options);
      if (value != entry.print(defaults)) out->push_back(StrCat(entry.name, "=", value));
    } else if (entry.append_idle_fields != nullptr) {
      const size_t first = out->size();
      entry.append_idle_fields(options, defaults, out);
      for (size_t i = first; i < out->size(); ++i) (*out)[i].insert(0, StrCat(entry.name, "."));
    }
  }
}

// How strict SetOption is. Skipped options are appended to *ignored, if given.
struct ParseRules {
  bool ignore_unknown = false;     // unknown names
  bool ignore_bad_values = false;  // values that the option cannot have
  bool ignore_unsupported = true;  // objects that only the program can make
  bool values_are_escaped = false;
  bool only_mutable = false;  // refuse options that are fixed at open
  std::vector<std::string>* ignored = nullptr;
  // Receives the name and unescaped value of each option that only the program can make.
  OptionPairs* unsupported = nullptr;
};

// Sets one option. "option.field" sets one field of a struct or of the table factory. Skips names
// of RocksDB that have no member in Ashlar. Returns InvalidArgument or NotSupported that names the
// option.
template <typename Struct>
Status SetOption(const ParseRules& rules, std::string_view name, std::string_view value,
                 Struct* options);

// Replaces the factory with the one in the text: "PlainTable", or "{id=PlainTable;user_key_len=8}".
Status SetTableFactory(const ParseRules& rules, std::string_view text,
                       std::shared_ptr<TableFactory>* factory);

// Replaces the factory with one of this kind and these fields: "{block_size=8k;...}". Other options
// are copied from an old factory of this kind, or are the defaults.
Status SetTableFields(const ParseRules& rules, std::string_view kind, std::string_view text,
                      std::shared_ptr<TableFactory>* factory);

// Returns every option in the order of the table, except for values without a text, and for empty
// lists and texts that are the default. kTextOnly adds the options that OPTIONS files do not have,
// except for objects such as caches.
template <typename Struct>
OptionPairs PrintOptions(const Struct& options, Place place = Place::kFile);

// Returns whether some release of RocksDB has this name and this release has no member for it.
bool IsNameWithoutMember(std::string_view name);

// Returns whether an option of this name exists and has its default.
template <typename Struct>
bool IsDefault(const Struct& options, std::string_view name);

extern template Status SetOption(const ParseRules&, std::string_view, std::string_view, DBOptions*);
extern template Status SetOption(const ParseRules&, std::string_view, std::string_view,
                                 ColumnFamilyOptions*);
extern template Status SetOption(const ParseRules&, std::string_view, std::string_view,
                                 BlockBasedTableOptions*);
extern template Status SetOption(const ParseRules&, std::string_view, std::string_view,
                                 PlainTableOptions*);
extern template bool IsDefault(const DBOptions&, std::string_view);
extern template bool IsDefault(const ColumnFamilyOptions&, std::string_view);
extern template bool IsDefault(const BlockBasedTableOptions&, std::string_view);
extern template bool IsDefault(const PlainTableOptions&, std::string_view);
extern template OptionPairs PrintOptions(const DBOptions&, Place);
extern template OptionPairs PrintOptions(const ColumnFamilyOptions&, Place);
extern template OptionPairs PrintOptions(const BlockBasedTableOptions&, Place);
extern template OptionPairs PrintOptions(const PlainTableOptions&, Place);

}  // namespace ashlar

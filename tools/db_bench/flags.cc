#include "tools/db_bench/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numeric>
#include <optional>
#include <system_error>
#include <variant>

#include "tools/db_bench/foreign_flags.h"

namespace ashlar::bench {
namespace {

using Member = std::variant<bool Flags::*, int Flags::*, int64_t Flags::*, uint64_t Flags::*,
                            double Flags::*, std::string Flags::*>;

struct FlagRow {
  std::string_view group;
  std::string_view name;
  Member member;
  std::string_view meaning;
};

constexpr FlagRow kFlagTable[] = {
#define FLAG(group, type, name, initial, meaning) FlagRow{group, #name, &Flags::name, meaning},
    ASHLAR_BENCH_FLAGS(FLAG)
#undef FLAG
};

const FlagRow* FindFlag(std::string_view name) {
  const FlagRow* const found = std::find_if(std::begin(kFlagTable), std::end(kFlagTable),
                                            [&](const FlagRow& row) { return row.name == name; });
  return found == std::end(kFlagTable) ? nullptr : found;
}

std::optional<bool> ParseBool(std::string_view text) {
  if (text == "1" || text == "true" || text == "yes" || text == "t" || text == "y") return true;
  if (text == "0" || text == "false" || text == "no" || text == "f" || text == "n") return false;
  return std::nullopt;
}

template <typename Number>
bool ParseNumber(std::string_view text, Number* number) {
  Number parsed{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (code != std::errc() || end != text.data() + text.size()) return false;
  *number = parsed;
  return true;
}

// The values of a flag of this type, for messages.
const char* WordFor(const bool& /*type*/) { return "0, 1, true or false"; }
const char* WordFor(const int& /*type*/) { return "a 32-bit number"; }
const char* WordFor(const int64_t& /*type*/) { return "a 64-bit number"; }
const char* WordFor(const uint64_t& /*type*/) { return "an unsigned 64-bit number"; }
const char* WordFor(const double& /*type*/) { return "a number"; }
const char* WordFor(const std::string& /*type*/) { return "a text"; }

bool Assign(std::string_view text, bool* value) {
  const std::optional<bool> parsed = ParseBool(text);
  if (parsed) *value = *parsed;
  return parsed.has_value();
}
bool Assign(std::string_view text, std::string* value) {
  *value = text;
  return true;
}
template <typename Number>
bool Assign(std::string_view text, Number* value) {
  return ParseNumber(text, value);
}

std::string ValueText(bool value) { return value ? "1" : "0"; }
std::string ValueText(const std::string& value) { return value; }
template <typename Number>
std::string ValueText(Number value) {
  return fmt::format("{}", value);
}

Status SetFlag(const FlagRow& row, std::string_view text, Flags* flags) {
  return std::visit(
      [&](auto member) {
        if (Assign(text, &(flags->*member))) return Status::OK();
        return Status::InvalidArgument(
            fmt::format("--{} takes {}, not '{}'", row.name, WordFor(flags->*member), text));
      },
      row.member);
}

bool IsBool(const FlagRow& row) { return std::holds_alternative<bool Flags::*>(row.member); }

// "false" and "0" are the same value, as are "10" and "10.0".
bool SameValue(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const std::optional<bool> bool_a = ParseBool(a);
  const std::optional<bool> bool_b = ParseBool(b);
  if (bool_a && bool_b) return *bool_a == *bool_b;
  double number_a = 0;
  double number_b = 0;
  return ParseNumber(a, &number_a) && ParseNumber(b, &number_b) && !(number_a < number_b) &&
         !(number_b < number_a);
}

std::vector<std::string_view> AllNames() {
  std::vector<std::string_view> names = {"help", "version"};
  for (const FlagRow& row : kFlagTable) names.push_back(row.name);
  for (const ForeignFlag& flag : ForeignFlags()) names.push_back(flag.name);
  return names;
}

// Takes the arguments one flag at a time.
class Parser {
 public:
  Parser(const std::vector<std::string>& arguments, CommandLine* out)
      : arguments_(arguments), out_(out) {}

  Status Run() {
    while (next_ < arguments_.size()) {
      Status s = TakeFlag();
      if (!s.ok()) return s;
    }
    AddNotice("retired by RocksDB, no effect", retired_);
    AddNotice("no effect in Ashlar", without_effect_);
    return Status::OK();
  }

 private:
  Status TakeFlag() {
    std::string_view argument = arguments_[next_++];
    if (argument.size() < 2 || argument[0] != '-')
      return Status::InvalidArgument(fmt::format("'{}' is no flag; flags begin with --", argument));
    argument.remove_prefix(argument.starts_with("--") ? 2 : 1);
    const size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    std::optional<std::string_view> value;
    if (equals != std::string_view::npos) value = argument.substr(equals + 1);

    if (name == "help" || name == "h" || name == "version") {
      (name == "version" ? out_->version : out_->help) = true;
      return Status::OK();
    }
    if (const FlagRow* const row = FindFlag(name)) return TakeHonoured(*row, value);
    if (const ForeignFlag* const foreign = FindForeignFlag(name))
      return TakeForeign(*foreign, value);
    if (name.starts_with("no") && !value) {
      const FlagRow* const row = FindFlag(name.substr(2));
      if (row != nullptr && IsBool(*row)) return SetFlag(*row, "0", &out_->flags);
    }
    const std::string nearest = NearestName(name, AllNames());
    return Status::InvalidArgument(fmt::format(
        "unknown flag --{}{}", name, nearest.empty() ? "" : "; did you mean --" + nearest + "?"));
  }

  Status TakeHonoured(const FlagRow& row, std::optional<std::string_view> value) {
    if (!value && IsBool(row)) {
      const bool word_follows =
          next_ < arguments_.size() && ParseBool(arguments_[next_]).has_value();
      value = word_follows ? std::string_view(arguments_[next_++]) : "1";
    }
    if (!value) {
      if (next_ == arguments_.size())
        return Status::InvalidArgument(fmt::format("--{} needs a value", row.name));
      value = arguments_[next_++];
    }
    return SetFlag(row, *value, &out_->flags);
  }

  Status TakeForeign(const ForeignFlag& flag, std::optional<std::string_view> value) {
    if (!value)
      value = next_ < arguments_.size() && !arguments_[next_].starts_with("-")
                  ? std::string_view(arguments_[next_++])
                  : "1";
    switch (flag.kind) {
      case ForeignFlag::Kind::kRetired: retired_.push_back(flag.name); break;
      case ForeignFlag::Kind::kWithoutEffect: without_effect_.push_back(flag.name); break;
      case ForeignFlag::Kind::kAbsent:
        if (!SameValue(*value, flag.initial)) {
          return Status::InvalidArgument(fmt::format(
              "--{}={} asks for something that Ashlar does not have; only {} is accepted",
              flag.name, *value, flag.initial.empty() ? "the empty text" : flag.initial));
        }
    }
    return Status::OK();
  }

  void AddNotice(std::string_view what, const std::vector<std::string_view>& names) {
    if (names.empty()) return;
    std::string list;
    for (const std::string_view name : names)
      list += fmt::format("{}--{}", list.empty() ? "" : " ", name);
    out_->notices.push_back(fmt::format("{}: {}", what, list));
  }

  const std::vector<std::string>& arguments_;
  CommandLine* const out_;
  size_t next_ = 0;
  std::vector<std::string_view> retired_;
  std::vector<std::string_view> without_effect_;
};

struct Demand {
  bool (*holds)(const Flags& flags);
  std::string_view text;
};

// The conditions on flags that hold for every workload and database.
constexpr Demand kDemands[] = {
    {[](const Flags& f) { return f.num > 0; }, "--num must be above 0"},
    {[](const Flags& f) { return f.threads > 0 && f.threads <= 65536; },
     "--threads goes from 1 to 65536"},
    {[](const Flags& f) { return f.duration >= 0; }, "--duration must not be negative"},
    {[](const Flags& f) { return f.ops_between_duration_checks > 0; },
     "--ops_between_duration_checks must be above 0"},
    {[](const Flags& f) { return f.batch_size > 0; }, "--batch_size must be above 0"},
    {[](const Flags& f) {
       return f.writes_per_range_tombstone >= 0 && f.writes_before_delete_range >= 0 &&
              f.range_tombstone_width >= 0 && f.max_num_range_tombstones >= 0;
     },
     "--writes_per_range_tombstone and the flags with it must not be negative"},
    {[](const Flags& f) { return f.writes_per_range_tombstone == 0 || !f.use_existing_keys; },
     "--writes_per_range_tombstone excludes --use_existing_keys"},
    {[](const Flags& f) { return f.key_size > 0 && f.key_size <= (1 << 20); },
     "--key_size goes from 1 to 1048576"},
    {[](const Flags& f) { return f.value_size >= 0; }, "--value_size must not be negative"},
    {[](const Flags& f) { return f.value_size_min >= 0 && f.value_size_min <= f.value_size_max; },
     "--value_size_min must not exceed --value_size_max"},
    {[](const Flags& f) { return f.compression_ratio > 0; }, "--compression_ratio must be above 0"},
    {[](const Flags& f) { return f.prefix_size >= 0 && f.prefix_size <= f.key_size; },
     "--prefix_size must not exceed --key_size"},
    {[](const Flags& f) { return f.keys_per_prefix == 0 || f.prefix_size > 0; },
     "--keys_per_prefix needs --prefix_size"},
    {[](const Flags& f) {
       return !f.seek_missing_prefix ||
              (f.prefix_size > 8 && f.keys_per_prefix > 0 && !f.use_existing_keys);
     },
     "--seek_missing_prefix needs a --prefix_size above 8 and --keys_per_prefix"},
    {[](const Flags& f) { return f.key_distribution == "uniform" || f.key_distribution == "zipf"; },
     "--key_distribution: uniform or zipf"},
    {[](const Flags& f) { return f.zipf_exponent > 0; }, "--zipf_exponent must be above 0"},
    {[](const Flags& f) { return f.read_random_exp_range >= 0; },
     "--read_random_exp_range must not be negative"},
    {[](const Flags& f) {
       return f.value_size_distribution_type == "fixed" ||
              f.value_size_distribution_type == "uniform" ||
              f.value_size_distribution_type == "normal";
     },
     "--value_size_distribution_type: fixed, uniform or normal"},
    {[](const Flags& f) { return f.merge_keys != 0; }, "--merge_keys must not be 0"},
    {[](const Flags& f) { return f.num_column_families > 0; },
     "--num_column_families must be above 0"},
    {[](const Flags& f) { return f.multiread_stride >= 0; },
     "--multiread_stride must not be negative"},
    {[](const Flags& f) { return f.max_scan_distance >= 0; },
     "--max_scan_distance must not be negative"},
    {[](const Flags& f) { return f.readwritepercent >= 0 && f.readwritepercent <= 100; },
     "--readwritepercent goes from 0 to 100"},
    {[](const Flags& f) { return f.overwrite_percent >= 0 && f.overwrite_percent <= 100; },
     "--overwrite_percent goes from 0 to 100"},
    {[](const Flags& f) { return f.block_size > 0; }, "--block_size must be above 0"},
    {[](const Flags& f) { return !f.readonly || f.use_existing_db; },
     "--readonly needs --use_existing_db"},
    {[](const Flags& f) { return !f.use_existing_keys || f.use_existing_db; },
     "--use_existing_keys needs --use_existing_db"},
    {[](const Flags& f) { return !f.use_existing_keys || f.num_column_families == 1; },
     "--use_existing_keys works with one column family"},
    {[](const Flags& f) { return f.engine == "lsm" || f.engine == "pmem"; },
     "--engine: lsm or pmem"},
    {[](const Flags& f) {
       return f.engine == "lsm" || (f.num_column_families == 1 && !f.readonly &&
                                    !f.use_existing_keys && f.stats_per_interval == 0);
     },
     "--engine=pmem goes without --num_column_families, --readonly, --use_existing_keys and "
     "--stats_per_interval"},
    {[](const Flags& f) {
       return f.durability.empty() || f.durability == "cpu-flush" ||
              f.durability == "process-crash-only" || f.durability == "logged";
     },
     "--durability: cpu-flush, process-crash-only or logged"},
    {[](const Flags& f) { return f.db_size_in_gb >= 0 && f.db_size_in_gb <= 16384; },
     "--db_size_in_gb goes from 0 to 16384"},
    {[](const Flags& f) { return f.tx_size > 0; }, "--tx_size must be above 0"},
};

// The Levenshtein distance, computed row by row.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substitution = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substitution, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string NearestName(std::string_view name, const std::vector<std::string_view>& names) {
  std::string_view nearest;
  size_t distance_min = std::max<size_t>(2, name.size() / 2) + 1;
  for (const std::string_view candidate : names) {
    const size_t distance = EditDistance(name, candidate);
    if (distance < distance_min) {
      distance_min = distance;
      nearest = candidate;
    }
  }
  return std::string(nearest);
}

Status ParseCommandLine(const std::vector<std::string>& arguments, CommandLine* command_line) {
  Status s = Parser(arguments, command_line).Run();
  if (!s.ok() || command_line->help || command_line->version) return s;
  for (const Demand& demand : kDemands) {
    if (!demand.holds(command_line->flags))
      return Status::InvalidArgument(std::string(demand.text));
  }
  return s;
}

std::vector<std::pair<std::string, std::string>> FlagValues(const Flags& flags) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const FlagRow& row : kFlagTable) {
    values.emplace_back(
        row.name, std::visit([&](auto member) { return ValueText(flags.*member); }, row.member));
  }
  return values;
}

std::string FlagsHelp() {
  std::string text;
  std::string_view group;
  const Flags defaults;
  for (const FlagRow& row : kFlagTable) {
    if (row.group != group) text += fmt::format("\n{}:\n", row.group);
    group = row.group;
    const std::string initial =
        std::visit([&](auto member) { return ValueText(defaults.*member); }, row.member);
    text += fmt::format("  --{}={}\n      {}\n", row.name, initial, row.meaning);
  }
  return text;
}

}  // namespace ashlar::bench

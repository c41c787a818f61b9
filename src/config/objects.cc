// Converts objects in options from and to text: comparators, merge operators, prefixes, memtables,
// filters, table factories, caches.
//
// An id is a name ("StringAppendOperator"), a name with its one parameter ("bloomfilter:10:false"),
// or a list ("{id=StringAppendOperator;delimiter=,}"). An object of the program has only a name,
// which may be any text. A name with a '=' could look like a list, so it is written as
// "{id={NAME}}". If its own braces break that, another form is written that is parsed as the name.
#include <algorithm>

#include "ashlar/cache.h"
#include "ashlar/compaction_filter.h"
#include "ashlar/comparator.h"
#include "ashlar/file_checksum.h"
#include "ashlar/merge_operator.h"
#include "ashlar/sst_partitioner.h"
#include "config/memtable_factory.h"
#include "config/option_codec.h"
#include "config/option_table.h"

namespace ashlar {
namespace {

struct ObjectText {
  std::string id;
  OptionPairs fields;
};

Result<ObjectText> ParseObjectText(std::string_view text,
                                   ValueSpaces spaces = ValueSpaces::kDropped) {
  ObjectText object;
  if (text.find('=') == std::string_view::npos) {
    object.id = text;
    return object;
  }
  ASHLAR_ASSIGN_OR_RETURN(object.fields, ParseOptionPairs(text, spaces));
  const auto id = std::find_if(object.fields.begin(), object.fields.end(),
                               [](const auto& field) { return field.first == "id"; });
  if (id == object.fields.end()) return Status::InvalidArgument("it has no id");
  object.id = id->second;
  object.fields.erase(id);
  return object;
}

// For kinds of objects that a program may define. A text that is no list with an id is the name of
// such an object. RocksDB writes braces around a name with a '='.
ObjectText ParseNamedObject(std::string_view text, ValueSpaces spaces = ValueSpaces::kDropped) {
  Result<ObjectText> object = ParseObjectText(text, spaces);
  if (object.ok()) return std::move(object).value();
  const bool in_braces = text.starts_with('{') && text.ends_with('}');
  return {.id = std::string(in_braces ? text.substr(1, text.size() - 2) : text), .fields = {}};
}

std::string PrintName(const std::string& name) {
  if (name.find('=') == std::string::npos) return name;
  const std::string listed = StrCat("{id={", name, "}}");
  for (const std::string& form : {listed, name, StrCat("{", name, "}")}) {
    if (ObjectNameIn(form) == name) return form;
  }
  return listed;
}

// Prints the id of an object, or its name if the id is nothing more.
template <typename Object>
std::string PrintObject(const Object& value) {
  if (value == nullptr) return std::string(kNullText);
  std::string id = value->GetId();
  return id == value->Name() ? PrintName(id) : id;
}

// Prints the name of an object that has no id.
template <typename Object>
std::string PrintNamed(const Object& value) {
  return value == nullptr ? std::string(kNullText) : PrintName(value->Name());
}

// Sets *value from the field and removes the field, if it exists.
template <typename T>
Status TakeField(std::string_view name, ObjectText* object, T* value) {
  const auto field = std::find_if(object->fields.begin(), object->fields.end(),
                                  [name](const auto& f) { return f.first == name; });
  if (field == object->fields.end()) return Status::OK();
  const Status parsed = OptionCodec<T>::Parse(field->second, value);
  object->fields.erase(field);
  return parsed.ok() ? parsed : parsed.WithContext(std::string(name));
}

// Returns an error if a field is left, because the object would lack its value.
Status CheckAllFieldsTaken(std::string_view name, const ObjectText& object) {
  if (object.fields.empty()) return Status::OK();
  return Status::InvalidArgument(
      StrCat("a ", name, " has no field called ", object.fields.front().first));
}

Status UnknownObject(std::string_view kind, std::string_view id) {
  return Status::NotSupported(
      StrCat("no built-in ", kind, " is called ", id, "; set it in the program"));
}

// Sets *rest to the text after the prefix that matches: "8" for "fixed:8".
bool TakeAfter(std::string_view text, std::initializer_list<std::string_view> prefixes,
               std::string_view* rest) {
  for (const std::string_view prefix : prefixes) {
    if (text.starts_with(prefix)) {
      *rest = text.substr(prefix.size());
      return true;
    }
  }
  return false;
}

}  // namespace

std::string ObjectNameIn(std::string_view text) {
  return ParseNamedObject(text, ValueSpaces::kText).id;
}

// ---- Comparators

Status OptionCodec<const Comparator*>::Parse(std::string_view text, const Comparator** value) {
  for (const Comparator* known : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    if (text == known->Name()) {
      *value = known;
      return Status::OK();
    }
  }
  return UnknownObject("comparator", text);
}
std::string OptionCodec<const Comparator*>::Print(const Comparator* value) {
  return PrintNamed(value);
}

// ---- Merge operators

Status MergeOperators::CreateFromStringId(const std::string& id,
                                          std::shared_ptr<MergeOperator>* result) {
  ObjectText object = ParseNamedObject(id, ValueSpaces::kText);
  std::shared_ptr<MergeOperator> made;
  if (object.id == "UInt64AddOperator" || object.id == "uint64add") {
    made = CreateUInt64AddOperator();
  } else if (object.id == "StringAppendOperator" || object.id == "stringappend") {
    std::string delimiter = ",";
    ASHLAR_RETURN_IF_ERROR(TakeField("delimiter", &object, &delimiter));
    made = CreateStringAppendOperator(delimiter);
  } else if (object.id == "PutOperator" || object.id == "put" || object.id == "put_v1") {
    made = CreatePutOperator();
  } else if (object.id == "MaxOperator" || object.id == "max") {
    made = CreateMaxOperator();
  } else {
    return UnknownObject("merge operator", object.id);
  }
  ASHLAR_RETURN_IF_ERROR(CheckAllFieldsTaken(object.id, object));
  *result = std::move(made);
  return Status::OK();
}

Status OptionCodec<std::shared_ptr<MergeOperator>>::Parse(std::string_view text,
                                                          std::shared_ptr<MergeOperator>* value) {
  if (!IsNullText(text)) return MergeOperators::CreateFromStringId(std::string(text), value);
  value->reset();
  return Status::OK();
}
std::string OptionCodec<std::shared_ptr<MergeOperator>>::Print(
    const std::shared_ptr<MergeOperator>& value) {
  return PrintObject(value);
}

// ---- Prefixes

Status SliceTransform::CreateFromString(const ConfigOptions& /*config_options*/,
                                        const std::string& id,
                                        std::shared_ptr<const SliceTransform>* result) {
  return OptionCodec<std::shared_ptr<const SliceTransform>>::Parse(id, result);
}

Status OptionCodec<std::shared_ptr<const SliceTransform>>::Parse(
    std::string_view text, std::shared_ptr<const SliceTransform>* value) {
  if (IsNullText(text)) {
    value->reset();
    return Status::OK();
  }
  const ObjectText object = ParseNamedObject(text);
  std::string_view length_text;
  const bool fixed = TakeAfter(object.id, {"fixed:", "rocksdb.FixedPrefix."}, &length_text);
  const bool capped =
      !fixed && TakeAfter(object.id, {"capped:", "rocksdb.CappedPrefix."}, &length_text);
  if (object.id == "noop" || object.id == "rocksdb.Noop") {
    value->reset(NewNoopTransform());
    return Status::OK();
  }
  // Text that is not a number is part of a name.
  uint64_t length;
  if ((!fixed && !capped) || !ParseUint64(length_text, &length) || length > SIZE_MAX)
    return UnknownObject("prefix", object.id);
  value->reset(fixed ? NewFixedPrefixTransform(static_cast<size_t>(length))
                     : NewCappedPrefixTransform(static_cast<size_t>(length)));
  return Status::OK();
}
std::string OptionCodec<std::shared_ptr<const SliceTransform>>::Print(
    const std::shared_ptr<const SliceTransform>& value) {
  return PrintObject(value);
}

// ---- Memtables

namespace {

using MemTableFactoryRef = std::shared_ptr<MemTableRepFactory>;

Status MakeSkipListFactory(ObjectText* object, MemTableFactoryRef* value) {
  size_t lookahead = 0;
  ASHLAR_RETURN_IF_ERROR(TakeField("lookahead", object, &lookahead));
  *value = std::make_shared<SkipListFactory>(lookahead);
  return Status::OK();
}

Status MakeVectorFactory(ObjectText* object, MemTableFactoryRef* value) {
  size_t count = 0;
  ASHLAR_RETURN_IF_ERROR(TakeField("count", object, &count));
  *value = std::make_shared<VectorRepFactory>(count);
  return Status::OK();
}

Status MakeHashSkipListFactory(ObjectText* object, MemTableFactoryRef* value) {
  HashSkipListRepFactory::Parameters parameters;
  ASHLAR_RETURN_IF_ERROR(TakeField("bucket_count", object, &parameters.bucket_count));
  ASHLAR_RETURN_IF_ERROR(TakeField("skiplist_height", object, &parameters.skiplist_height));
  ASHLAR_RETURN_IF_ERROR(TakeField("branching_factor", object, &parameters.branching_factor));
  *value = std::make_shared<HashSkipListRepFactory>(parameters);
  return Status::OK();
}

Status MakeHashLinkListFactory(ObjectText* object, MemTableFactoryRef* value) {
  HashLinkListRepFactory::Parameters parameters;
  ASHLAR_RETURN_IF_ERROR(TakeField("bucket_count", object, &parameters.bucket_count));
  ASHLAR_RETURN_IF_ERROR(TakeField("threshold", object, &parameters.threshold));
  ASHLAR_RETURN_IF_ERROR(TakeField("huge_page_size", object, &parameters.huge_page_size));
  ASHLAR_RETURN_IF_ERROR(TakeField("logging_threshold", object, &parameters.logging_threshold));
  ASHLAR_RETURN_IF_ERROR(TakeField("log_when_flash", object, &parameters.log_when_flash));
  *value = std::make_shared<HashLinkListRepFactory>(parameters);
  return Status::OK();
}

struct MemTableText {
  const char* name;
  const char* short_name;
  const char* field;  // the field of a value that follows the name and a colon
  Status (*make)(ObjectText* object, MemTableFactoryRef* value);
};
constexpr MemTableText kMemTableTexts[] = {
    {"SkipListFactory", "skip_list", "lookahead", &MakeSkipListFactory},
    {HashSkipListRepFactory::kName, "prefix_hash", "bucket_count", &MakeHashSkipListFactory},
    {HashLinkListRepFactory::kName, "hash_linkedlist", "bucket_count", &MakeHashLinkListFactory},
    {"VectorRepFactory", "vector", "count", &MakeVectorFactory},
};

}  // namespace

Status OptionCodec<MemTableFactoryRef>::Parse(std::string_view text, MemTableFactoryRef* value) {
  ASHLAR_ASSIGN_OR_RETURN(ObjectText object, ParseObjectText(text));
  const std::string id = object.id;
  const std::string_view name = std::string_view(id).substr(0, id.find(':'));
  const auto* const known = std::find_if(
      std::begin(kMemTableTexts), std::end(kMemTableTexts), [name](const MemTableText& candidate) {
        return name == candidate.name || name == candidate.short_name;
      });
  if (known == std::end(kMemTableTexts)) return UnknownObject("memtable", id);
  if (name.size() < id.size())
    object.fields.insert(object.fields.begin(), {known->field, id.substr(name.size() + 1)});
  MemTableFactoryRef made;
  ASHLAR_RETURN_IF_ERROR(known->make(&object, &made));
  ASHLAR_RETURN_IF_ERROR(CheckAllFieldsTaken(name, object));
  *value = std::move(made);
  return Status::OK();
}
std::string OptionCodec<MemTableFactoryRef>::Print(const MemTableFactoryRef& value) {
  return value == nullptr ? SkipListFactory().GetId() : value->GetId();
}

// ---- Filters

Status OptionCodec<std::shared_ptr<const FilterPolicy>>::Parse(
    std::string_view text, std::shared_ptr<const FilterPolicy>* value) {
  if (IsNullText(text)) {
    value->reset();
    return Status::OK();
  }
  ObjectText object = ParseNamedObject(text);
  std::string_view fields;
  const bool bloom = TakeAfter(object.id, {"bloomfilter:", "rocksdb.BloomFilter:"}, &fields);
  if (!bloom && !TakeAfter(object.id, {"ribbonfilter:", "rocksdb.RibbonFilter:"}, &fields))
    return UnknownObject("filter", object.id);
  const size_t colon = fields.find(':');
  double bits;
  if (!ParseDouble(fields.substr(0, colon), &bits)) return UnknownObject("filter", object.id);
  if (bloom) {
    // The next field selects a form of filter block. There is one form, so it is ignored.
    value->reset(NewBloomFilterPolicy(bits));
    return Status::OK();
  }
  int bloom_before_level = 0;
  if (colon != std::string_view::npos)
    ASHLAR_RETURN_IF_ERROR(OptionCodec<int>::Parse(fields.substr(colon + 1), &bloom_before_level));
  // RocksDB 8.7 and later also accepts it as a field, and prints both.
  ASHLAR_RETURN_IF_ERROR(TakeField("bloom_before_level", &object, &bloom_before_level));
  value->reset(NewRibbonFilterPolicy(bits, bloom_before_level));
  return Status::OK();
}
std::string OptionCodec<std::shared_ptr<const FilterPolicy>>::Print(
    const std::shared_ptr<const FilterPolicy>& value) {
  return PrintObject(value);
}

// ---- Compaction filters

Status OptionCodec<const CompactionFilter*>::Parse(std::string_view text,
                                                   const CompactionFilter** value) {
  return AbsentObjectCodec<const CompactionFilter*>::Parse(text, value);
}
std::string OptionCodec<const CompactionFilter*>::Print(const CompactionFilter* value) {
  return PrintNamed(value);
}

Status OptionCodec<std::shared_ptr<CompactionFilterFactory>>::Parse(
    std::string_view text, std::shared_ptr<CompactionFilterFactory>* value) {
  return AbsentObjectCodec<std::shared_ptr<CompactionFilterFactory>>::Parse(text, value);
}
std::string OptionCodec<std::shared_ptr<CompactionFilterFactory>>::Print(
    const std::shared_ptr<CompactionFilterFactory>& value) {
  return PrintNamed(value);
}

// ---- Partitioners

Status OptionCodec<std::shared_ptr<SstPartitionerFactory>>::Parse(
    std::string_view text, std::shared_ptr<SstPartitionerFactory>* value) {
  if (IsNullText(text)) {
    value->reset();
    return Status::OK();
  }
  ObjectText object = ParseNamedObject(text);
  if (object.id != SstPartitionerFixedPrefixFactory::kClassName())
    return UnknownObject("partitioner", object.id);
  size_t length = 0;
  ASHLAR_RETURN_IF_ERROR(TakeField("length", &object, &length));
  ASHLAR_RETURN_IF_ERROR(CheckAllFieldsTaken(object.id, object));
  *value = NewSstPartitionerFixedPrefixFactory(length);
  return Status::OK();
}
std::string OptionCodec<std::shared_ptr<SstPartitionerFactory>>::Print(
    const std::shared_ptr<SstPartitionerFactory>& value) {
  return PrintObject(value);
}

// ---- File checksums

Status OptionCodec<std::shared_ptr<FileChecksumGenFactory>>::Parse(
    std::string_view text, std::shared_ptr<FileChecksumGenFactory>* value) {
  if (IsNullText(text)) {
    value->reset();
    return Status::OK();
  }
  const ObjectText object = ParseNamedObject(text);
  std::shared_ptr<FileChecksumGenFactory> own = GetFileChecksumGenCrc32cFactory();
  if (object.id != own->Name()) return UnknownObject("factory of file checksums", object.id);
  *value = std::move(own);
  return Status::OK();
}
std::string OptionCodec<std::shared_ptr<FileChecksumGenFactory>>::Print(
    const std::shared_ptr<FileChecksumGenFactory>& value) {
  return PrintNamed(value);
}

// ---- Table factories

namespace {

template <typename TableOptions>
Status ReplaceFactory(const ParseRules& rules, const OptionPairs& fields,
                      TableFactory* (*make)(const TableOptions&),
                      std::shared_ptr<TableFactory>* factory) {
  const TableOptions* current =
      *factory == nullptr ? nullptr : (*factory)->GetOptions<TableOptions>();
  TableOptions options = current == nullptr ? TableOptions() : *current;
  for (const auto& [name, field_text] : fields)
    ASHLAR_RETURN_IF_ERROR(SetOption(rules, name, field_text, &options));
  factory->reset(make(options));
  return Status::OK();
}

Status SetTableFields(const ParseRules& rules, std::string_view kind, const OptionPairs& fields,
                      std::shared_ptr<TableFactory>* factory) {
  if (kind == TableFactory::kBlockBasedTableName())
    return ReplaceFactory(rules, fields, &NewBlockBasedTableFactory, factory);
  if (kind == TableFactory::kPlainTableName())
    return ReplaceFactory(rules, fields, &NewPlainTableFactory, factory);
  return UnknownObject("table factory", kind);
}

}  // namespace

Status SetTableFields(const ParseRules& rules, std::string_view kind, std::string_view text,
                      std::shared_ptr<TableFactory>* factory) {
  ASHLAR_ASSIGN_OR_RETURN(const OptionPairs fields, ParseOptionPairs(text));
  return SetTableFields(rules, kind, fields, factory);
}

Status SetTableFactory(const ParseRules& rules, std::string_view text,
                       std::shared_ptr<TableFactory>* factory) {
  ASHLAR_ASSIGN_OR_RETURN(const ObjectText object, ParseObjectText(text));
  return SetTableFields(rules, object.id, object.fields, factory);
}

Status OptionCodec<std::shared_ptr<TableFactory>>::Parse(std::string_view text,
                                                         std::shared_ptr<TableFactory>* value) {
  return SetTableFactory(ParseRules{}, text, value);
}
std::string OptionCodec<std::shared_ptr<TableFactory>>::Print(
    const std::shared_ptr<TableFactory>& value) {
  return value == nullptr ? TableFactory::kBlockBasedTableName() : value->Name();
}

// ---- Caches

Status OptionCodec<std::shared_ptr<Cache>>::Parse(std::string_view text,
                                                  std::shared_ptr<Cache>* value) {
  if (IsNullText(text)) {
    value->reset();
    return Status::OK();
  }
  LRUCacheOptions options;
  if (text.find('=') == std::string_view::npos) {
    ASHLAR_RETURN_IF_ERROR(OptionCodec<size_t>::Parse(text, &options.capacity));
  } else {
    ObjectText cache;
    ASHLAR_ASSIGN_OR_RETURN(cache.fields, ParseOptionPairs(text));
    ASHLAR_RETURN_IF_ERROR(TakeField("capacity", &cache, &options.capacity));
    ASHLAR_RETURN_IF_ERROR(
        TakeField("strict_capacity_limit", &cache, &options.strict_capacity_limit));
    ASHLAR_RETURN_IF_ERROR(TakeField("num_shard_bits", &cache, &options.num_shard_bits));
    ASHLAR_RETURN_IF_ERROR(TakeField("high_pri_pool_ratio", &cache, &options.high_pri_pool_ratio));
    ASHLAR_RETURN_IF_ERROR(TakeField("low_pri_pool_ratio", &cache, &options.low_pri_pool_ratio));
    ASHLAR_RETURN_IF_ERROR(CheckAllFieldsTaken("cache", cache));
  }
  *value = NewLRUCache(options);
  return Status::OK();
}
std::string OptionCodec<std::shared_ptr<Cache>>::Print(const std::shared_ptr<Cache>& value) {
  return value == nullptr ? std::string(kNullText) : StrCat(value->GetCapacity());
}

}  // namespace ashlar

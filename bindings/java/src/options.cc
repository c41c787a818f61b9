// Options, DBOptions and ColumnFamilyOptions. The table option_members.inc defines most members;
// the rest are below. A function that several of the classes have is one template here.
#include <map>
#include <type_traits>

#include "ashlar/options_util.h"
#include "convert.h"
#include "native.h"
#include "objects.h"

namespace ashlar::java {
namespace {

// Defines the native method of this name for an options class with a function template (Call&,
// holder&, arguments).
#define OPTIONS_NATIVE_0(result, holder, java_class, name, function)                          \
  ASHLAR_NATIVE(result, java_class##_##name, jlong handle) {                                  \
    return Native(env, [&](Call& call) { return function(call, call.Use<holder>(handle)); }); \
  }
#define OPTIONS_NATIVE_1(result, holder, java_class, name, function, type)                       \
  ASHLAR_NATIVE(result, java_class##_##name, jlong handle, type a) {                             \
    return Native(env, [&](Call& call) { return function(call, call.Use<holder>(handle), a); }); \
  }
#define OPTIONS_NATIVE_2(result, holder, java_class, name, function, type, type2)              \
  ASHLAR_NATIVE(result, java_class##_##name, jlong handle, type a, type2 b) {                  \
    return Native(env,                                                                         \
                  [&](Call& call) { return function(call, call.Use<holder>(handle), a, b); }); \
  }
#define CF_NATIVE_0(result, name, function)                                                \
  OPTIONS_NATIVE_0(result, ColumnFamilyOptionsObject, ColumnFamilyOptions, name, function) \
  OPTIONS_NATIVE_0(result, OptionsObject, Options, name, function)
#define CF_NATIVE_1(result, name, function, type)                                                \
  OPTIONS_NATIVE_1(result, ColumnFamilyOptionsObject, ColumnFamilyOptions, name, function, type) \
  OPTIONS_NATIVE_1(result, OptionsObject, Options, name, function, type)
#define CF_NATIVE_2(result, name, function, type, type2)                                         \
  OPTIONS_NATIVE_2(result, ColumnFamilyOptionsObject, ColumnFamilyOptions, name, function, type, \
                   type2)                                                                        \
  OPTIONS_NATIVE_2(result, OptionsObject, Options, name, function, type, type2)
#define DB_NATIVE_0(result, name, function)                            \
  OPTIONS_NATIVE_0(result, DBOptionsObject, DBOptions, name, function) \
  OPTIONS_NATIVE_0(result, OptionsObject, Options, name, function)
#define DB_NATIVE_1(result, name, function, type)                            \
  OPTIONS_NATIVE_1(result, DBOptionsObject, DBOptions, name, function, type) \
  OPTIONS_NATIVE_1(result, OptionsObject, Options, name, function, type)
#define DB_NATIVE_2(result, name, function, type, type2)                            \
  OPTIONS_NATIVE_2(result, DBOptionsObject, DBOptions, name, function, type, type2) \
  OPTIONS_NATIVE_2(result, OptionsObject, Options, name, function, type, type2)

// ---- Objects of options.

template <typename O>
void SetMergeOperator(Call& call, O& options, jlong merge_operator) {
  options.value.merge_operator = call.Use<MergeOperatorObject>(merge_operator).value;
}
template <typename O>
void SetSstPartitionerFactory(Call& call, O& options, jlong factory) {
  options.value.sst_partitioner_factory = call.Use<SstPartitionerFactoryObject>(factory).value;
}
template <typename O>
void SetMergeOperatorName(Call& call, O& options, jstring name) {
  const std::string id = call.Text(name);
  if (id.empty()) {
    options.value.merge_operator = nullptr;
  } else {
    call.Check(MergeOperators::CreateFromStringId(id, &options.value.merge_operator));
  }
}

// Java hands over the factory, so its handle names nothing afterwards.
template <typename O>
void SetTableFactory(Call& call, O& options, jlong factory) {
  options.value.table_factory =
      call.With<TableFactoryObject>(factory, [](auto& object) { return object.value; });
  Dispose(factory);
}
template <typename O>
void SetMemTableFactory(Call& call, O& options, jlong factory) {
  options.value.memtable_factory =
      call.With<MemTableFactoryObject>(factory, [](auto& object) { return object.value; });
  Dispose(factory);
}
template <typename O>
jstring TableFactoryName(Call& call, O& options) {
  return call.NewText(options.value.table_factory == nullptr ? TableFactory::kBlockBasedTableName()
                                                             : options.value.table_factory->Name());
}
template <typename O>
jstring MemTableFactoryName(Call& call, O& options) {
  if (options.value.memtable_factory == nullptr) return call.NewText("null");
  const std::string_view name = options.value.memtable_factory->Name();
  // The name that Java's classes expect.
  return call.NewText(name == "HashLinkListRepFactory" ? "HashLinkedListRepFactory"
                                                       : std::string(name));
}

template <typename O>
void SetBuiltinComparator(Call&, O& options, jint which) {
  options.value.comparator = which == 1 ? ReverseBytewiseComparator() : BytewiseComparator();
  options.kept.comparator = nullptr;
}
template <typename O>
void SetComparator(Call& call, O& options, jlong comparator, jbyte type) {
  if (type != 0) call.Unsupported("comparators of another native library");
  options.kept.comparator = call.Use<ComparatorObject>(comparator).value;
  options.value.comparator = options.kept.comparator.get();
}
template <typename O>
void SetCompactionFilter(Call& call, O& options, jlong filter) {
  options.kept.compaction_filter = call.Use<CompactionFilterObject>(filter).value;
  options.value.compaction_filter = options.kept.compaction_filter.get();
}
template <typename O>
void SetCompactionFilterFactory(Call& call, O& options, jlong factory) {
  options.value.compaction_filter_factory = call.Use<CompactionFilterFactoryObject>(factory).value;
}
template <typename O>
void SetEnv(Call& call, O& options, jlong environment) {
  options.kept.env = call.Use<EnvObject>(environment).value;
  options.value.env = options.kept.env.get();
}
template <typename O>
void SetLogger(Call& call, O& options, jlong logger) {
  options.value.info_log = call.Use<LoggerObject>(logger).value;
}
template <typename O>
void SetRateLimiter(Call& call, O& options, jlong limiter) {
  options.value.rate_limiter = call.Use<RateLimiterObject>(limiter).value;
}
template <typename O>
void SetSstFileManager(Call& call, O& options, jlong manager) {
  options.value.sst_file_manager = call.Use<SstFileManagerObject>(manager).value;
}
template <typename O>
void SetWriteBufferManager(Call& call, O& options, jlong manager) {
  options.value.write_buffer_manager = call.Use<WriteBufferManagerObject>(manager).value;
}
template <typename O>
void SetWalFilter(Call& call, O& options, jlong filter) {
  options.kept.wal_filter = call.Use<WalFilterObject>(filter).value;
  options.value.wal_filter = options.kept.wal_filter.get();
}
template <typename O>
void SetRowCache(Call& call, O& options, jlong cache) {
  options.value.row_cache = call.Use<CacheObject>(cache).value;
}
template <typename O>
void SetStatistics(Call& call, O& options, jlong statistics) {
  options.value.statistics = call.Use<StatisticsObject>(statistics).value;
}
template <typename O>
jlong GetStatistics(Call&, O& options) {
  if (options.value.statistics == nullptr) return 0;
  return Register(new StatisticsObject(options.value.statistics));
}

// ---- Structures and lists.

template <typename O>
void SetCompressionOptions(Call& call, O& options, jlong compression) {
  options.value.compression_opts = call.Use<CompressionOptionsObject>(compression).value;
}
template <typename O>
void SetBottommostCompressionOptions(Call& call, O& options, jlong compression) {
  options.value.bottommost_compression_opts = call.Use<CompressionOptionsObject>(compression).value;
}
template <typename O>
void SetCompactionOptionsUniversal(Call& call, O& options, jlong universal) {
  options.value.compaction_options_universal =
      call.Use<CompactionOptionsUniversalObject>(universal).value;
}
template <typename O>
void SetCompactionOptionsFifo(Call& call, O& options, jlong fifo) {
  options.value.compaction_options_fifo = call.Use<CompactionOptionsFifoObject>(fifo).value;
}
template <typename O>
void SetCompressionPerLevel(Call& call, O& options, jbyteArray levels) {
  std::vector<CompressionType> types;
  for (const char level : call.CopyString(levels)) {
    types.push_back(FromJava<CompressionType>(static_cast<jbyte>(level)));
  }
  options.value.compression_per_level = std::move(types);
}
template <typename O>
jbyteArray CompressionPerLevel(Call& call, O& options) {
  std::string levels;
  for (const CompressionType type : options.value.compression_per_level) {
    levels.push_back(static_cast<char>(ToJava<jbyte>(type)));
  }
  return call.NewBytes(levels);
}
template <typename O>
void SetMultiplierAdditional(Call& call, O& options, jintArray multipliers) {
  const std::vector<jint> values = call.Ints(multipliers);
  options.value.max_bytes_for_level_multiplier_additional.assign(values.begin(), values.end());
}
template <typename O>
jintArray MultiplierAdditional(Call& call, O& options) {
  const auto& values = options.value.max_bytes_for_level_multiplier_additional;
  const std::vector<jint> copied(values.begin(), values.end());
  const auto size = static_cast<jsize>(copied.size());
  const jintArray array = call.Made(call.env()->NewIntArray(size));
  call.env()->SetIntArrayRegion(array, 0, size, copied.data());
  return array;
}

std::vector<DbPath> Paths(Call& call, jobjectArray paths, jlongArray sizes) {
  const std::vector<std::string> names = call.Texts(paths);
  const std::vector<jlong> targets = call.Longs(sizes);
  std::vector<DbPath> result;
  for (size_t i = 0; i < names.size() && i < targets.size(); ++i) {
    result.emplace_back(names[i], static_cast<uint64_t>(targets[i]));
  }
  return result;
}
void FillPaths(Call& call, const std::vector<DbPath>& list, jobjectArray paths, jlongArray sizes) {
  const size_t size = std::min(list.size(), static_cast<size_t>(call.Length(paths)));
  for (size_t i = 0; i < size; ++i) {
    const LocalRef<jstring> path(call.env(), call.NewText(list[i].path));
    call.env()->SetObjectArrayElement(paths, static_cast<jsize>(i), path.get());
    const auto target = static_cast<jlong>(list[i].target_size);
    call.env()->SetLongArrayRegion(sizes, static_cast<jsize>(i), 1, &target);
  }
  call.CheckJava();
}
template <typename O>
void SetDBPaths(Call& call, O& options, jobjectArray paths, jlongArray sizes) {
  options.value.db_paths = Paths(call, paths, sizes);
}
template <typename O>
void GetDBPaths(Call& call, O& options, jobjectArray paths, jlongArray sizes) {
  FillPaths(call, options.value.db_paths, paths, sizes);
}
template <typename O>
jlong DBPathsLength(Call&, O& options) {
  return static_cast<jlong>(options.value.db_paths.size());
}
template <typename O>
void SetCFPaths(Call& call, O& options, jobjectArray paths, jlongArray sizes) {
  options.value.cf_paths = Paths(call, paths, sizes);
}
template <typename O>
void GetCFPaths(Call& call, O& options, jobjectArray paths, jlongArray sizes) {
  FillPaths(call, options.value.cf_paths, paths, sizes);
}
template <typename O>
jlong CFPathsLength(Call&, O& options) {
  return static_cast<jlong>(options.value.cf_paths.size());
}

template <typename O>
void SetWalDir(Call& call, O& options, jstring dir) {
  options.value.wal_dir = call.Text(dir);
}
template <typename O>
jstring WalDir(Call& call, O& options) {
  return call.NewText(options.value.wal_dir);
}
template <typename O>
void SetDBLogDir(Call& call, O& options, jstring dir) {
  options.value.db_log_dir = call.Text(dir);
}
template <typename O>
jstring DBLogDir(Call& call, O& options) {
  return call.NewText(options.value.db_log_dir);
}

// ---- Presets.

template <typename O>
void UseFixedPrefix(Call&, O& options, jint length) {
  options.value.prefix_extractor.reset(NewFixedPrefixTransform(static_cast<size_t>(length)));
}
template <typename O>
void UseCappedPrefix(Call&, O& options, jint length) {
  options.value.prefix_extractor.reset(NewCappedPrefixTransform(static_cast<size_t>(length)));
}
template <typename O>
void OptimizeForPointLookup(Call&, O& options, jlong cache_mb) {
  options.value.OptimizeForPointLookup(static_cast<uint64_t>(cache_mb));
}
template <typename O>
void OptimizeLevelStyle(Call&, O& options, jlong budget) {
  options.value.OptimizeLevelStyleCompaction(static_cast<uint64_t>(budget));
}
template <typename O>
void OptimizeUniversalStyle(Call&, O& options, jlong budget) {
  options.value.OptimizeUniversalStyleCompaction(static_cast<uint64_t>(budget));
}
template <typename O>
void OldDefaults(Call&, O& options, jint major_version, jint minor_version) {
  options.value.OldDefaults(major_version, minor_version);
}
template <typename O>
void OptimizeForSmallDb(Call&, O& options) {
  options.value.OptimizeForSmallDb();
}
void OptimizeForSmallDbCached(Call& call, ColumnFamilyOptionsObject& options, jlong cache) {
  options.value.OptimizeForSmallDb(&call.Use<CacheObject>(cache).value);
}
void OptimizeForSmallDbCached(Call& call, OptionsObject& options, jlong cache) {
  std::shared_ptr<Cache>* shared = &call.Use<CacheObject>(cache).value;
  static_cast<DBOptions&>(options.value).OptimizeForSmallDb(shared);
  static_cast<ColumnFamilyOptions&>(options.value).OptimizeForSmallDb(shared);
}
template <typename O>
void SetIncreaseParallelism(Call&, O& options, jint threads) {
  options.value.IncreaseParallelism(threads);
}

// Options from Java's Properties, which Java joins as "name=value;name=value".
template <typename Holder, typename Parse>
jlong FromProperties(Call& call, const ConfigOptions& config, jstring text, Parse parse) {
  auto holder = std::make_unique<Holder>();
  const Status status = parse(config, holder->value, call.Text(text), &holder->value);
  return status.ok() ? Register(holder.release()) : 0;  // in Java 0 means "not parsed"
}

// ---- Options from files.

// Stores the loaded options in Java's DBOptions, and adds the descriptors to Java's list.
template <typename Load>
void LoadOptions(Call& call, const ConfigOptions& config, const std::shared_ptr<Env>& environment,
                 jlong db_options, jobject families, Load load) {
  if (families == nullptr) call.Fail("java/lang/NullPointerException", "the list is null");
  auto& options = call.Use<DBOptionsObject>(db_options);
  DBOptions loaded;
  std::vector<ColumnFamilyDescriptor> descriptors;
  call.Check(load(config, &loaded, &descriptors));
  loaded.env = config.env;
  options.value = loaded;
  options.kept.env = environment;
  for (const ColumnFamilyDescriptor& descriptor : descriptors) {
    const LocalRef<jbyteArray> name(call.env(), call.NewBytes(descriptor.name));
    const LocalRef<> family(
        call.env(), call.New("org/rocksdb/ColumnFamilyOptions", "(J)V",
                             Register(new ColumnFamilyOptionsObject(descriptor.options, Kept()))));
    const LocalRef<> java(
        call.env(), call.New("org/rocksdb/ColumnFamilyDescriptor",
                             "([BLorg/rocksdb/ColumnFamilyOptions;)V", name.get(), family.get()));
    call.AddToList(families, java.get());
  }
}

// Loads with a Java ConfigOptions, or with an environment and one other member of it.
template <typename Load>
void LoadWithConfig(Call& call, jlong config, jlong db_options, jobject families, Load load) {
  const auto& given = call.Use<ConfigOptionsObject>(config);
  LoadOptions(call, given.value, given.env, db_options, families, load);
}
template <typename Load>
void LoadWithEnv(Call& call, jlong environment, bool ignore_unknown, jlong db_options,
                 jobject families, Load load) {
  const std::shared_ptr<Env>& given = call.Use<EnvObject>(environment).value;
  ConfigOptions config;
  config.env = given.get();
  config.ignore_unknown_options = ignore_unknown;
  LoadOptions(call, config, given, db_options, families, load);
}

auto LatestOf(const std::string& path) {
  return [path](const ConfigOptions& config, DBOptions* db, auto* families) {
    return LoadLatestOptions(config, path, db, families);
  };
}
auto FromFile(const std::string& file) {
  return [file](const ConfigOptions& config, DBOptions* db, auto* families) {
    return LoadOptionsFromFile(config, file, db, families);
  };
}

}  // namespace

// ---- Numbers, from the table.

#define DB_OPTION(type, getter, setter, member)      \
  OPTION_OF(DBOptions, type, getter, setter, member) \
  OPTION_OF(Options, type, getter, setter, member)
#define CF_OPTION(type, getter, setter, member)                \
  OPTION_OF(ColumnFamilyOptions, type, getter, setter, member) \
  OPTION_OF(Options, type, getter, setter, member)
#define OPTION_OF(java_class, type, getter, setter, member)                            \
  ASHLAR_NATIVE(void, java_class##_##setter, jlong handle, type value) {               \
    Native(env, [&](Call& call) {                                                      \
      auto& options = call.Use<java_class##Object>(handle).value;                      \
      options.member = FromJava<std::remove_cvref_t<decltype(options.member)>>(value); \
    });                                                                                \
  }                                                                                    \
  ASHLAR_NATIVE(type, java_class##_##getter, jlong handle) {                           \
    return Native(env, [&](Call& call) {                                               \
      return ToJava<type>(call.Use<java_class##Object>(handle).value.member);          \
    });                                                                                \
  }
#include "option_members.inc"
#undef OPTION_OF
#undef CF_OPTION
#undef DB_OPTION

CF_NATIVE_1(void, setMergeOperator, SetMergeOperator, jlong)
CF_NATIVE_1(void, setSstPartitionerFactory, SetSstPartitionerFactory, jlong)
CF_NATIVE_1(void, setMergeOperatorName, SetMergeOperatorName, jstring)
CF_NATIVE_1(void, setTableFactory, SetTableFactory, jlong)
CF_NATIVE_1(void, setMemTableFactory, SetMemTableFactory, jlong)
CF_NATIVE_0(jstring, tableFactoryName, TableFactoryName)
CF_NATIVE_0(jstring, memTableFactoryName, MemTableFactoryName)
CF_NATIVE_1(void, setComparatorHandle__JI, SetBuiltinComparator, jint)
CF_NATIVE_2(void, setComparatorHandle__JJB, SetComparator, jlong, jbyte)
CF_NATIVE_1(void, setCompactionFilterHandle, SetCompactionFilter, jlong)
CF_NATIVE_1(void, setCompactionFilterFactoryHandle, SetCompactionFilterFactory, jlong)
CF_NATIVE_1(void, setCompressionOptions, SetCompressionOptions, jlong)
CF_NATIVE_1(void, setBottommostCompressionOptions, SetBottommostCompressionOptions, jlong)
CF_NATIVE_1(void, setCompactionOptionsUniversal, SetCompactionOptionsUniversal, jlong)
CF_NATIVE_1(void, setCompactionOptionsFIFO, SetCompactionOptionsFifo, jlong)
CF_NATIVE_1(void, setCompressionPerLevel, SetCompressionPerLevel, jbyteArray)
CF_NATIVE_0(jbyteArray, compressionPerLevel, CompressionPerLevel)
CF_NATIVE_1(void, setMaxBytesForLevelMultiplierAdditional, SetMultiplierAdditional, jintArray)
CF_NATIVE_0(jintArray, maxBytesForLevelMultiplierAdditional, MultiplierAdditional)
CF_NATIVE_2(void, setCfPaths, SetCFPaths, jobjectArray, jlongArray)
CF_NATIVE_2(void, cfPaths, GetCFPaths, jobjectArray, jlongArray)
CF_NATIVE_0(jlong, cfPathsLen, CFPathsLength)
CF_NATIVE_1(void, useFixedLengthPrefixExtractor, UseFixedPrefix, jint)
CF_NATIVE_1(void, useCappedPrefixExtractor, UseCappedPrefix, jint)
CF_NATIVE_1(void, optimizeForPointLookup, OptimizeForPointLookup, jlong)
CF_NATIVE_1(void, optimizeLevelStyleCompaction, OptimizeLevelStyle, jlong)
CF_NATIVE_1(void, optimizeUniversalStyleCompaction, OptimizeUniversalStyle, jlong)
CF_NATIVE_2(void, oldDefaults, OldDefaults, jint, jint)

DB_NATIVE_1(void, setEnv, SetEnv, jlong)
DB_NATIVE_1(void, setLogger, SetLogger, jlong)
DB_NATIVE_1(void, setRateLimiter, SetRateLimiter, jlong)
DB_NATIVE_1(void, setSstFileManager, SetSstFileManager, jlong)
DB_NATIVE_1(void, setWriteBufferManager, SetWriteBufferManager, jlong)
DB_NATIVE_1(void, setWalFilter, SetWalFilter, jlong)
DB_NATIVE_1(void, setRowCache, SetRowCache, jlong)
DB_NATIVE_1(void, setStatistics, SetStatistics, jlong)
DB_NATIVE_0(jlong, statistics, GetStatistics)
DB_NATIVE_2(void, setDbPaths, SetDBPaths, jobjectArray, jlongArray)
DB_NATIVE_2(void, dbPaths, GetDBPaths, jobjectArray, jlongArray)
DB_NATIVE_0(jlong, dbPathsLen, DBPathsLength)
DB_NATIVE_1(void, setWalDir, SetWalDir, jstring)
DB_NATIVE_0(jstring, walDir, WalDir)
DB_NATIVE_1(void, setDbLogDir, SetDBLogDir, jstring)
DB_NATIVE_0(jstring, dbLogDir, DBLogDir)
DB_NATIVE_1(void, setIncreaseParallelism, SetIncreaseParallelism, jint)

OPTIONS_NATIVE_0(void, DBOptionsObject, DBOptions, optimizeForSmallDb, OptimizeForSmallDb)
OPTIONS_NATIVE_0(void, ColumnFamilyOptionsObject, ColumnFamilyOptions, optimizeForSmallDb__J,
                 OptimizeForSmallDb)
OPTIONS_NATIVE_0(void, OptionsObject, Options, optimizeForSmallDb__J, OptimizeForSmallDb)
OPTIONS_NATIVE_1(void, ColumnFamilyOptionsObject, ColumnFamilyOptions, optimizeForSmallDb__JJ,
                 OptimizeForSmallDbCached, jlong)
OPTIONS_NATIVE_1(void, OptionsObject, Options, optimizeForSmallDb__JJ, OptimizeForSmallDbCached,
                 jlong)

ASHLAR_NATIVE(void, Options_prepareForBulkLoad, jlong handle) {
  Native(env, [&](Call& call) { call.Use<OptionsObject>(handle).value.PrepareForBulkLoad(); });
}

// ---- Creation.

ASHLAR_NATIVE(jlong, Options_newOptions__) {
  return Native(env, [&](Call&) { return Register(new OptionsObject); });
}
ASHLAR_NATIVE(jlong, Options_newOptions__JJ, jlong db_options, jlong family_options) {
  return Native(env, [&](Call& call) {
    const auto& db = call.Use<DBOptionsObject>(db_options);
    const auto& family = call.Use<ColumnFamilyOptionsObject>(family_options);
    Kept kept = family.kept;
    kept.env = db.kept.env;
    kept.wal_filter = db.kept.wal_filter;
    return Register(new OptionsObject(Options(db.value, family.value), kept));
  });
}
ASHLAR_NATIVE(jlong, Options_copyOptions, jlong handle) {
  return Native(env, [&](Call& call) {
    const auto& options = call.Use<OptionsObject>(handle);
    return Register(new OptionsObject(options.value, options.kept));
  });
}
ASHLAR_NATIVE(jlong, DBOptions_newDBOptions) {
  return Native(env, [&](Call&) { return Register(new DBOptionsObject); });
}
ASHLAR_NATIVE(jlong, DBOptions_copyDBOptions, jlong handle) {
  return Native(env, [&](Call& call) {
    const auto& options = call.Use<DBOptionsObject>(handle);
    return Register(new DBOptionsObject(options.value, options.kept));
  });
}
ASHLAR_NATIVE(jlong, DBOptions_newDBOptionsFromOptions, jlong handle) {
  return Native(env, [&](Call& call) {
    const auto& options = call.Use<OptionsObject>(handle);
    return Register(new DBOptionsObject(DBOptions(options.value), options.kept));
  });
}
ASHLAR_NATIVE(jlong, DBOptions_getDBOptionsFromProps__Ljava_lang_String_2, jstring text) {
  return Native(env, [&](Call& call) {
    return FromProperties<DBOptionsObject>(
        call, ConfigOptions(), text,
        [](const auto& config, const auto& base, const auto& from, auto* to) {
          return GetDBOptionsFromString(config, base, from, to);
        });
  });
}
ASHLAR_NATIVE(jlong, DBOptions_getDBOptionsFromProps__JLjava_lang_String_2, jlong config,
              jstring text) {
  return Native(env, [&](Call& call) {
    return FromProperties<DBOptionsObject>(
        call, call.Use<ConfigOptionsObject>(config).value, text,
        [](const auto& c, const auto& base, const auto& from, auto* to) {
          return GetDBOptionsFromString(c, base, from, to);
        });
  });
}
ASHLAR_NATIVE(jlong, ColumnFamilyOptions_newColumnFamilyOptions) {
  return Native(env, [&](Call&) { return Register(new ColumnFamilyOptionsObject); });
}
ASHLAR_NATIVE(jlong, ColumnFamilyOptions_copyColumnFamilyOptions, jlong handle) {
  return Native(env, [&](Call& call) {
    const auto& options = call.Use<ColumnFamilyOptionsObject>(handle);
    return Register(new ColumnFamilyOptionsObject(options.value, options.kept));
  });
}
ASHLAR_NATIVE(jlong, ColumnFamilyOptions_newColumnFamilyOptionsFromOptions, jlong handle) {
  return Native(env, [&](Call& call) {
    const auto& options = call.Use<OptionsObject>(handle);
    return Register(
        new ColumnFamilyOptionsObject(ColumnFamilyOptions(options.value), options.kept));
  });
}
ASHLAR_NATIVE(jlong, ColumnFamilyOptions_getColumnFamilyOptionsFromProps__Ljava_lang_String_2,
              jstring text) {
  return Native(env, [&](Call& call) {
    return FromProperties<ColumnFamilyOptionsObject>(
        call, ConfigOptions(), text,
        [](const auto& config, const auto& base, const auto& from, auto* to) {
          return GetColumnFamilyOptionsFromString(config, base, from, to);
        });
  });
}
ASHLAR_NATIVE(jlong, ColumnFamilyOptions_getColumnFamilyOptionsFromProps__JLjava_lang_String_2,
              jlong config, jstring text) {
  return Native(env, [&](Call& call) {
    return FromProperties<ColumnFamilyOptionsObject>(
        call, call.Use<ConfigOptionsObject>(config).value, text,
        [](const auto& c, const auto& base, const auto& from, auto* to) {
          return GetColumnFamilyOptionsFromString(c, base, from, to);
        });
  });
}

// ---- OptionsUtil

ASHLAR_NATIVE(void, OptionsUtil_loadLatestOptions__Ljava_lang_String_2JJLjava_util_List_2Z,
              jstring path, jlong environment, jlong db_options, jobject families,
              jboolean ignore_unknown) {
  Native(env, [&](Call& call) {
    LoadWithEnv(call, environment, ignore_unknown != 0, db_options, families,
                LatestOf(call.Text(path)));
  });
}
ASHLAR_NATIVE(void, OptionsUtil_loadLatestOptions__JLjava_lang_String_2JLjava_util_List_2,
              jlong config, jstring path, jlong db_options, jobject families) {
  Native(env, [&](Call& call) {
    LoadWithConfig(call, config, db_options, families, LatestOf(call.Text(path)));
  });
}
ASHLAR_NATIVE(void, OptionsUtil_loadOptionsFromFile__Ljava_lang_String_2JJLjava_util_List_2Z,
              jstring file, jlong environment, jlong db_options, jobject families,
              jboolean ignore_unknown) {
  Native(env, [&](Call& call) {
    LoadWithEnv(call, environment, ignore_unknown != 0, db_options, families,
                FromFile(call.Text(file)));
  });
}
ASHLAR_NATIVE(void, OptionsUtil_loadOptionsFromFile__JLjava_lang_String_2JLjava_util_List_2,
              jlong config, jstring file, jlong db_options, jobject families) {
  Native(env, [&](Call& call) {
    LoadWithConfig(call, config, db_options, families, FromFile(call.Text(file)));
  });
}
ASHLAR_NATIVE(jstring, OptionsUtil_getLatestOptionsFileName, jstring path, jlong environment) {
  return Native(env, [&](Call& call) {
    std::string name;
    call.Check(GetLatestOptionsFileName(call.Text(path),
                                        call.Use<EnvObject>(environment).value.get(), &name));
    return call.NewText(name);
  });
}

}  // namespace ashlar::java

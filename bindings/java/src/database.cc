// RocksDB: opening and closing, column families, snapshots, properties, background work, metadata.
// Reads and writes are in reads.cc and writes.cc.
#include <cctype>
#include <map>
#include <unordered_map>

#include "ashlar/utilities/db_ttl.h"
#include "native.h"
#include "objects.h"
#include "transfer.h"

namespace ashlar::java {

// ---- DBObject.

DBObject::DBObject(std::unique_ptr<DB> db, std::vector<Kept> kept)
    : kept_(std::move(kept)), owned_(std::move(db)), db_(owned_.get()) {}

DBObject::DBObject(DB* borrowed) : db_(borrowed) {}

DBObject::~DBObject() { CloseChildren(); }

const char* DBObject::ReasonNotToClose(const ThreadRecord& own) const {
  if (owned_ == nullptr) return nullptr;
  if (InThreadOfEngine()) return "a thread of the engine cannot close a database: use another one";
  std::lock_guard<std::mutex> lock(mutex_);
  const bool has_part =
      own.AnyOf(own.count, [&](jlong handle) { return children_.count(handle) != 0; });
  return has_part ? "an iterator or another part of the database is in use by a call of this "
                    "thread that has not returned"
                  : nullptr;
}

Status DBObject::Close() {
  CloseChildren();
  return db_->Close();
}

void DBObject::Keep(const Kept& kept) {
  std::lock_guard<std::mutex> lock(mutex_);
  kept_.push_back(kept);
}

Kept DBObject::KeptFor(const ColumnFamilyOptions& options) const {
  Kept found;
  std::lock_guard<std::mutex> lock(mutex_);
  for (const Kept& kept : kept_) {
    if (kept.comparator.get() == options.comparator) found.comparator = kept.comparator;
    if (kept.compaction_filter.get() == options.compaction_filter) {
      found.compaction_filter = kept.compaction_filter;
    }
  }
  // The wrappers of a database with TTL point to its families' filters and its environment.
  if (dynamic_cast<const DBWithTTL*>(db_) != nullptr) {
    found.compaction_filter = std::shared_ptr<const CompactionFilter>(
        std::make_shared<std::vector<Kept>>(kept_), options.compaction_filter);
  }
  return found;
}

Status DBObject::DisableFileDeletions() {
  Status status = db_->DisableFileDeletions();
  if (!status.ok()) return status;
  std::lock_guard<std::mutex> lock(mutex_);
  ++file_deletion_disables_;
  return status;
}

bool DBObject::TakeFileDeletionDisable() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (file_deletion_disables_ == 0) return false;
  --file_deletion_disables_;
  return true;
}

// Not under the mutex, because the engine deletes files and calls listeners.
Status DBObject::EnableFileDeletions(bool force) {
  while (TakeFileDeletionDisable()) {
    const Status status = db_->EnableFileDeletions();
    if (!status.ok() || !force) return status;
  }
  return Status::OK();
}

void DBObject::AddChild(Child* child, jlong handle) {
  child->handle_ = handle;
  std::lock_guard<std::mutex> lock(mutex_);
  children_.insert(handle);
}

void DBObject::RemoveChild(jlong handle) {
  std::lock_guard<std::mutex> lock(mutex_);
  children_.erase(handle);
  child_removed_.notify_all();
}

void DBObject::CloseChildren() {
  std::vector<jlong> children;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    children.assign(children_.begin(), children_.end());
  }
  for (const jlong child : children) Dispose(child);
  // Another thread may be closing a child.
  std::unique_lock<std::mutex> lock(mutex_);
  child_removed_.wait(lock, [&] { return children_.empty(); });  // I1
  const jlong environment = std::exchange(environment_, 0);
  lock.unlock();
  if (environment != 0) Dispose(environment);
}

jlong DBObject::DefaultColumnFamily() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (default_family_ != 0) return default_family_;
  }
  const jlong handle =
      RegisterChild(new ColumnFamilyObject(*this, db_->DefaultColumnFamily(), false));
  jlong kept;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (default_family_ == 0) default_family_ = handle;
    kept = default_family_;
  }
  if (kept != handle) Dispose(handle);
  return kept;
}

jlong DBObject::Environment() {
  Env* const environment = db_->GetEnv();
  if (environment == Env::Default()) return DefaultEnvHandle();
  std::lock_guard<std::mutex> lock(mutex_);
  if (environment_ == 0) {
    // A borrowed database keeps nothing alive, because its callback ends before the environment.
    std::shared_ptr<Env> shared(std::shared_ptr<Env>(), environment);
    for (const Kept& kept : kept_) {
      if (kept.env.get() == environment) shared = kept.env;
    }
    environment_ = Register(new EnvObject(std::move(shared)));
  }
  return environment_;
}

Child::~Child() {
  if (handle_ != 0) parent_->RemoveChild(handle_);
}

namespace {

ColumnFamilyHandle* Family(Call& call, DBObject& db, jlong handle) {
  return FamilyOf(call, db, handle);
}

// ---- Opening.

struct Families {
  std::vector<ColumnFamilyDescriptor> descriptors;
  std::vector<Kept> kept;
};
Families TakeFamilies(Call& call, jobjectArray names, jlongArray options) {
  const std::vector<std::string> texts = call.ByteStrings(names);
  const std::vector<jlong> handles = call.Longs(options);
  if (texts.size() != handles.size()) {
    call.Fail("java/lang/IllegalArgumentException", "as many names as options are needed");
  }
  Families families;
  for (size_t i = 0; i < texts.size(); ++i) {
    families.kept.push_back(call.With<ColumnFamilyOptionsObject>(handles[i], [&](auto& given) {
      families.descriptors.emplace_back(texts[i], given.value);
      return given.kept;
    }));
  }
  return families;
}

// The handles of a database and its families in the form that RocksDB.open expects.
jlongArray RegisterDatabase(Call& call, std::unique_ptr<DBObject> db, const OwnHandle& own,
                            const std::vector<ColumnFamilyHandle*>& families) {
  DBObject& object = *db;
  std::vector<jlong> handles = {Register(db.release())};
  own->store(handles[0]);
  for (ColumnFamilyHandle* family : families) {
    handles.push_back(object.RegisterChild(new ColumnFamilyObject(object, family, true)));
  }
  return call.NewLongs(handles);
}

template <typename Open>
jlong OpenOne(Call& call, jlong options, Open open) {
  const auto& given = call.Use<OptionsObject>(options);
  Options opened = given.value;
  const OwnHandle own = BindListeners(&opened.listeners);
  std::unique_ptr<DB> db;
  call.Check(open(opened, &db));
  if (call.CallbackHasThrown()) throw ExceptionRaised();
  const jlong handle = Register(new DBObject(std::move(db), {given.kept}));
  own->store(handle);
  return handle;
}
template <typename Open>
jlongArray OpenFamilies(Call& call, jlong options, jobjectArray names, jlongArray family_options,
                        Open open) {
  const auto& given = call.Use<DBOptionsObject>(options);
  DBOptions opened = given.value;
  const OwnHandle own = BindListeners(&opened.listeners);
  Families families = TakeFamilies(call, names, family_options);
  families.kept.push_back(given.kept);
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;
  call.Check(open(opened, families.descriptors, &handles, &db));
  if (call.CallbackHasThrown()) {
    for (ColumnFamilyHandle* family : handles) delete family;
    throw ExceptionRaised();
  }
  return RegisterDatabase(call, std::make_unique<DBObject>(std::move(db), std::move(families.kept)),
                          own, handles);
}

}  // namespace

ASHLAR_NATIVE(jint, RocksDB_version) {
  return 7 << 16 | 9 << 8 | 2;  // the version of the classes that this library serves
}

ASHLAR_NATIVE(jlong, RocksDB_open__JLjava_lang_String_2, jlong options, jstring path) {
  return Native(env, [&](Call& call) {
    const std::string name = call.Text(path);
    return OpenOne(call, options,
                   [&](const Options& o, auto* db) { return DB::Open(o, name, db); });
  });
}
ASHLAR_NATIVE(jlongArray, RocksDB_open__JLjava_lang_String_2_3_3B_3J, jlong options, jstring path,
              jobjectArray names, jlongArray family_options) {
  return Native(env, [&](Call& call) {
    const std::string name = call.Text(path);
    return OpenFamilies(call, options, names, family_options,
                        [&](const DBOptions& o, const auto& families, auto* handles, auto* db) {
                          return DB::Open(o, name, families, handles, db);
                        });
  });
}
ASHLAR_NATIVE(jlong, RocksDB_openROnly__JLjava_lang_String_2Z, jlong options, jstring path,
              jboolean error_if_wal) {
  return Native(env, [&](Call& call) {
    const std::string name = call.Text(path);
    return OpenOne(call, options, [&](const Options& o, auto* db) {
      return DB::OpenForReadOnly(o, name, db, error_if_wal != 0);
    });
  });
}
ASHLAR_NATIVE(jlongArray, RocksDB_openROnly__JLjava_lang_String_2_3_3B_3JZ, jlong options,
              jstring path, jobjectArray names, jlongArray family_options, jboolean error_if_wal) {
  return Native(env, [&](Call& call) {
    const std::string name = call.Text(path);
    return OpenFamilies(call, options, names, family_options,
                        [&](const DBOptions& o, const auto& families, auto* handles, auto* db) {
                          return DB::OpenForReadOnly(o, name, families, handles, db,
                                                     error_if_wal != 0);
                        });
  });
}

ASHLAR_NATIVE(jlong, RocksDB_openAsSecondary__JLjava_lang_String_2Ljava_lang_String_2,
              jlong options, jstring path, jstring own_path) {
  return Native(env, [&](Call& call) {
    const std::string name = call.Text(path), own_name = call.Text(own_path);
    return OpenOne(call, options, [&](const Options& o, auto* db) {
      return DB::OpenAsSecondary(o, name, own_name, db);
    });
  });
}
ASHLAR_NATIVE(jlongArray, RocksDB_openAsSecondary__JLjava_lang_String_2Ljava_lang_String_2_3_3B_3J,
              jlong options, jstring path, jstring own_path, jobjectArray names,
              jlongArray family_options) {
  return Native(env, [&](Call& call) {
    const std::string name = call.Text(path), own_name = call.Text(own_path);
    return OpenFamilies(call, options, names, family_options,
                        [&](const DBOptions& o, const auto& families, auto* handles, auto* db) {
                          return DB::OpenAsSecondary(o, name, own_name, families, handles, db);
                        });
  });
}

// The natives of TtlDB, whose database is a DBWithTTL.
ASHLAR_NATIVE(jlong, TtlDB_open, jlong options, jstring path, jint ttl, jboolean read_only) {
  return Native(env, [&](Call& call) {
    const std::string name = call.Text(path);
    return OpenOne(call, options, [&](const Options& o, std::unique_ptr<DB>* db) {
      DBWithTTL* opened = nullptr;
      const Status status = DBWithTTL::Open(o, name, &opened, ttl, read_only != 0);
      db->reset(opened);
      return status;
    });
  });
}
ASHLAR_NATIVE(jlongArray, TtlDB_openCF, jlong options, jstring path, jobjectArray names,
              jlongArray family_options, jintArray ttls, jboolean read_only) {
  return Native(env, [&](Call& call) {
    const std::string name = call.Text(path);
    const std::vector<jint> seconds = call.Ints(ttls);
    return OpenFamilies(
        call, options, names, family_options,
        [&](const DBOptions& o, const auto& families, auto* handles, std::unique_ptr<DB>* db) {
          DBWithTTL* opened = nullptr;
          const Status status =
              DBWithTTL::Open(o, name, families, handles, &opened,
                              std::vector<int32_t>(seconds.begin(), seconds.end()), read_only != 0);
          db->reset(opened);
          return status;
        });
  });
}

ASHLAR_NATIVE(jlong, TtlDB_createColumnFamilyWithTtl, jlong handle, jbyteArray name, jlong options,
              jint ttl) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    const auto& family_options = call.Use<ColumnFamilyOptionsObject>(options);
    auto* with_ttl = dynamic_cast<DBWithTTL*>(&db.db());
    if (with_ttl == nullptr) {
      call.Fail("java/lang/IllegalArgumentException", "the database was not opened by TtlDB.open");
    }
    db.Keep(family_options.kept);
    ColumnFamilyHandle* family = nullptr;
    call.Check(with_ttl->CreateColumnFamilyWithTtl(family_options.value, call.CopyString(name),
                                                   &family, ttl));
    return db.RegisterChild(new ColumnFamilyObject(db, family, true));
  });
}

// Removes the database whether Close succeeds or not, so that no call can reach it while it closes.
// Java closes a database once.
static void CloseDatabase(JNIEnv* env, jlong handle) {
  Native(env, [&](Call& call) {
    const std::unique_ptr<DBObject> db(static_cast<DBObject*>(Take(Kind::kDB, handle)));
    if (db != nullptr) call.Check(db->Close());
  });
}
ASHLAR_NATIVE(void, RocksDB_closeDatabase, jlong handle) { CloseDatabase(env, handle); }
ASHLAR_NATIVE(void, TtlDB_closeDatabase, jlong handle) { CloseDatabase(env, handle); }

ASHLAR_NATIVE(void, RocksDB_destroyDB, jstring path, jlong options) {
  Native(env, [&](Call& call) {
    call.Check(DestroyDB(call.Text(path), call.Use<OptionsObject>(options).value));
  });
}
ASHLAR_NATIVE(jobjectArray, RocksDB_listColumnFamilies, jlong options, jstring path) {
  return Native(env, [&](Call& call) {
    std::vector<std::string> names;
    const Status status =
        DB::ListColumnFamilies(call.Use<OptionsObject>(options).value, call.Text(path), &names);
    // As in RocksDB, a database that does not exist has no families.
    if (!status.ok()) names.clear();
    return call.NewByteArrays(names);
  });
}

// ---- Column families.

ASHLAR_NATIVE(jlong, RocksDB_createColumnFamily, jlong handle, jbyteArray name, jint length,
              jlong options) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    const auto& family_options = call.Use<ColumnFamilyOptionsObject>(options);
    ByteCopy text;
    call.Copy(name, 0, length, &text);
    db.Keep(family_options.kept);
    ColumnFamilyHandle* family = nullptr;
    call.Check(db.db().CreateColumnFamily(family_options.value, text.slice().ToString(), &family));
    return db.RegisterChild(new ColumnFamilyObject(db, family, true));
  });
}
static jlongArray CreateFamilies(Call& call, DBObject& db, const Families& families) {
  for (const Kept& kept : families.kept) db.Keep(kept);
  std::vector<ColumnFamilyHandle*> created;
  const Status status = db.db().CreateColumnFamilies(families.descriptors, &created);
  std::vector<jlong> handles;
  for (ColumnFamilyHandle* family : created) {
    handles.push_back(db.RegisterChild(new ColumnFamilyObject(db, family, true)));
  }
  call.Check(status);
  return call.NewLongs(handles);
}
ASHLAR_NATIVE(jlongArray, RocksDB_createColumnFamilies__JJ_3_3B, jlong handle, jlong options,
              jobjectArray names) {
  return Native(env, [&](Call& call) {
    const auto& family_options = call.Use<ColumnFamilyOptionsObject>(options);
    Families families;
    for (const std::string& name : call.ByteStrings(names)) {
      families.descriptors.emplace_back(name, family_options.value);
    }
    families.kept.push_back(family_options.kept);
    return CreateFamilies(call, call.Use<DBObject>(handle), families);
  });
}
ASHLAR_NATIVE(jlongArray, RocksDB_createColumnFamilies__J_3J_3_3B, jlong handle, jlongArray options,
              jobjectArray names) {
  return Native(env, [&](Call& call) {
    return CreateFamilies(call, call.Use<DBObject>(handle), TakeFamilies(call, names, options));
  });
}
ASHLAR_NATIVE(void, RocksDB_dropColumnFamily, jlong handle, jlong family) {
  Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    call.Check(db.db().DropColumnFamily(Family(call, db, family)));
  });
}
ASHLAR_NATIVE(void, RocksDB_dropColumnFamilies, jlong handle, jlongArray families) {
  Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    call.Check(db.db().DropColumnFamilies(FamiliesOf(call, db, families)));
  });
}
ASHLAR_NATIVE(jlong, RocksDB_getDefaultColumnFamily, jlong handle) {
  return Native(env, [&](Call& call) { return call.Use<DBObject>(handle).DefaultColumnFamily(); });
}
ASHLAR_NATIVE(jbyteArray, ColumnFamilyHandle_getName, jlong handle) {
  return Native(env, [&](Call& call) {
    return call.NewBytes(call.Use<ColumnFamilyObject>(handle).family->GetName());
  });
}
ASHLAR_NATIVE(jint, ColumnFamilyHandle_getID, jlong handle) {
  return Native(env, [&](Call& call) {
    return static_cast<jint>(call.Use<ColumnFamilyObject>(handle).family->GetID());
  });
}
// True if everything to which the options point lives as long as they do. This may be false in
// callbacks of a database that is being opened or closed, which has no object.
static bool Keeps(const Kept& kept, const ColumnFamilyOptions& options) {
  const Comparator* const comparator = options.comparator;
  return options.compaction_filter == kept.compaction_filter.get() &&
         (comparator == kept.comparator.get() || comparator == BytewiseComparator() ||
          comparator == ReverseBytewiseComparator());
}
ASHLAR_NATIVE(jobject, ColumnFamilyHandle_getDescriptor, jlong handle) {
  return Native(env, [&](Call& call) {
    ColumnFamilyDescriptor descriptor;
    const auto& family = call.Use<ColumnFamilyObject>(handle);
    call.Check(family.family->GetDescriptor(&descriptor));
    Kept kept;
    if (family.parent() != nullptr) kept = family.parent()->KeptFor(descriptor.options);
    if (!Keeps(kept, descriptor.options)) {
      call.Fail("java/lang/IllegalStateException",
                "the comparator or compaction filter of the family may end before its descriptor");
    }
    const LocalRef<jbyteArray> name(env, call.NewBytes(descriptor.name));
    const LocalRef<> options(
        env,
        call.New("org/rocksdb/ColumnFamilyOptions", "(J)V",
                 Register(new ColumnFamilyOptionsObject(descriptor.options, std::move(kept)))));
    return call.New("org/rocksdb/ColumnFamilyDescriptor", "([BLorg/rocksdb/ColumnFamilyOptions;)V",
                    name.get(), options.get());
  });
}

// ---- Snapshots.

ASHLAR_NATIVE(jlong, RocksDB_getSnapshot, jlong handle) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    const Snapshot* snapshot = db.db().GetSnapshot();
    if (snapshot != nullptr) return db.RegisterChild(new SnapshotObject(db, snapshot));
    if (!db.db().IsSecondary()) throw std::bad_alloc();
    return jlong{0};  // a secondary has no snapshots; null in Java
  });
}
ASHLAR_NATIVE(void, RocksDB_releaseSnapshot, jlong handle, jlong snapshot) {
  Native(env, [&](Call& call) {
    call.Use<DBObject>(handle);
    if (KindOf(snapshot) == Kind::kSnapshot) Dispose(snapshot);
  });
}
ASHLAR_NATIVE(jlong, Snapshot_getSequenceNumber, jlong handle) {
  return Native(env, [&](Call& call) {
    return static_cast<jlong>(call.Use<SnapshotObject>(handle).snapshot->GetSequenceNumber());
  });
}

// ---- Properties and options.

ASHLAR_NATIVE(jstring, RocksDB_getProperty, jlong handle, jlong family, jstring property,
              jint /*length*/) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    std::string value;
    if (!db.db().GetProperty(Family(call, db, family), call.Text(property), &value)) {
      call.Check(Status::NotFound());
    }
    return call.NewText(value);
  });
}
ASHLAR_NATIVE(jobject, RocksDB_getMapProperty, jlong handle, jlong family, jstring property,
              jint /*length*/) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    std::map<std::string, std::string> values;
    if (!db.db().GetMapProperty(Family(call, db, family), call.Text(property), &values)) {
      call.Check(Status::NotFound());
    }
    return NewTextMap(call, values);
  });
}
ASHLAR_NATIVE(jlong, RocksDB_getLongProperty, jlong handle, jlong family, jstring property,
              jint /*length*/) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    uint64_t value = 0;
    if (!db.db().GetIntProperty(Family(call, db, family), call.Text(property), &value)) {
      call.Check(Status::NotFound());
    }
    return static_cast<jlong>(value);
  });
}
ASHLAR_NATIVE(jlong, RocksDB_getAggregatedLongProperty, jlong handle, jstring property,
              jint /*length*/) {
  return Native(env, [&](Call& call) {
    uint64_t value = 0;
    if (!call.Use<DBObject>(handle).db().GetAggregatedIntProperty(call.Text(property), &value)) {
      call.Check(Status::NotFound());
    }
    return static_cast<jlong>(value);
  });
}

static std::unordered_map<std::string, std::string> TakeOptions(Call& call, jobjectArray keys,
                                                                jobjectArray values) {
  const std::vector<std::string> names = call.Texts(keys);
  const std::vector<std::string> texts = call.Texts(values);
  std::unordered_map<std::string, std::string> options;
  for (size_t i = 0; i < names.size() && i < texts.size(); ++i) options[names[i]] = texts[i];
  return options;
}
ASHLAR_NATIVE(void, RocksDB_setOptions, jlong handle, jlong family, jobjectArray keys,
              jobjectArray values) {
  Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    call.Check(db.db().SetOptions(Family(call, db, family), TakeOptions(call, keys, values)));
  });
}
ASHLAR_NATIVE(void, RocksDB_setDBOptions, jlong handle, jobjectArray keys, jobjectArray values) {
  Native(env, [&](Call& call) {
    call.Check(call.Use<DBObject>(handle).db().SetDBOptions(TakeOptions(call, keys, values)));
  });
}
// Java parses numbers as signed. The default of two ages is a mark that exceeds this range, so they
// get the number that the mark stands for (ashlar/options.h).
static void ReplaceDefaultAges(Options* options) {
  constexpr uint64_t kDefault = 0xfffffffffffffffe, kThirtyDays = 30 * 24 * 60 * 60;
  const bool filtered =
      options->compaction_filter != nullptr || options->compaction_filter_factory != nullptr;
  if (options->ttl == kDefault) options->ttl = kThirtyDays;
  if (options->periodic_compaction_seconds == kDefault) {
    options->periodic_compaction_seconds = filtered ? kThirtyDays : 0;
  }
}
// The Java classes' parser rejects an option without a value, such as an empty list of ages.
static void RemoveEmptyOptions(std::string* text) {
  for (size_t at = text->find("=;"); at != std::string::npos; at = text->find("=;", at)) {
    size_t begin = at;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>((*text)[begin - 1])) != 0 ||
                         (*text)[begin - 1] == '_'))
      --begin;
    if (begin == at) {
      ++at;  // within a value
      continue;
    }
    text->erase(begin, at + 2 - begin);
    at = begin;
  }
}
ASHLAR_NATIVE(jstring, RocksDB_getOptions, jlong handle, jlong family) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    Options options = db.db().GetOptions(Family(call, db, family));
    ReplaceDefaultAges(&options);
    std::string text;
    call.Check(GetStringFromColumnFamilyOptions(&text, options, ";"));
    RemoveEmptyOptions(&text);
    return call.NewText(text);
  });
}
ASHLAR_NATIVE(jstring, RocksDB_getDBOptions, jlong handle) {
  return Native(env, [&](Call& call) {
    std::string text;
    call.Check(GetStringFromDBOptions(&text, call.Use<DBObject>(handle).db().GetDBOptions(), ";"));
    return call.NewText(text);
  });
}

ASHLAR_NATIVE(jstring, RocksDB_getName, jlong handle) {
  return Native(
      env, [&](Call& call) { return call.NewText(call.Use<DBObject>(handle).db().GetName()); });
}
ASHLAR_NATIVE(jlong, RocksDB_getLatestSequenceNumber, jlong handle) {
  return Native(env, [&](Call& call) {
    return static_cast<jlong>(call.Use<DBObject>(handle).db().GetLatestSequenceNumber());
  });
}
ASHLAR_NATIVE(jint, RocksDB_numberLevels, jlong handle, jlong family) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    return static_cast<jint>(db.db().NumberLevels(Family(call, db, family)));
  });
}
ASHLAR_NATIVE(jint, RocksDB_maxMemCompactionLevel, jlong handle, jlong family) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    Family(call, db, family);
    return jint{0};  // memtables are always flushed to level 0
  });
}
ASHLAR_NATIVE(jint, RocksDB_level0StopWriteTrigger, jlong handle, jlong family) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    return static_cast<jint>(
        db.db().GetOptions(Family(call, db, family)).level0_stop_writes_trigger);
  });
}

// ---- Flushes, compactions, sizes.

ASHLAR_NATIVE(void, RocksDB_flush, jlong handle, jlong options, jlongArray families) {
  Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    const auto& flush_options = call.Use<FlushOptionsObject>(options).value;
    if (families == nullptr) {
      call.Check(db.db().Flush(flush_options));
    } else {
      call.Check(db.db().Flush(flush_options, FamiliesOf(call, db, families)));
    }
  });
}
ASHLAR_NATIVE(void, RocksDB_compactRange, jlong handle, jbyteArray begin, jint begin_length,
              jbyteArray end, jint end_length, jlong options, jlong family) {
  Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    const auto* given = call.UseOrNull<CompactRangeOptionsObject>(options);
    ByteCopy first, last;
    if (begin != nullptr) call.Copy(begin, 0, begin_length, &first);
    if (end != nullptr) call.Copy(end, 0, end_length, &last);
    const Slice first_slice = first.slice(), last_slice = last.slice();
    call.Check(db.db().CompactRange(
        given == nullptr ? CompactRangeOptions() : given->value, Family(call, db, family),
        begin == nullptr ? nullptr : &first_slice, end == nullptr ? nullptr : &last_slice));
  });
}
ASHLAR_NATIVE(jobjectArray, RocksDB_compactFiles, jlong handle, jlong options, jlong family,
              jobjectArray files, jint level, jint path, jlong job_info) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    auto* report = call.UseOrNull<CompactionJobInfoObject>(job_info);
    std::vector<std::string> outputs;
    call.Check(db.db().CompactFiles(call.Use<CompactionOptionsObject>(options).value,
                                    Family(call, db, family), call.Texts(files), level, path,
                                    &outputs, report == nullptr ? nullptr : &report->value));
    return call.NewTexts(outputs);
  });
}
// Java cannot pass a range. RocksDB's library suggests the range from the empty key to the empty
// key, and returns that range.
ASHLAR_NATIVE(jlongArray, RocksDB_suggestCompactRange, jlong handle, jlong family) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    const Slice begin, end;
    call.Check(db.db().SuggestCompactRange(Family(call, db, family), &begin, &end));
    return call.NewLongs({Register(new SliceObject), Register(new SliceObject)});
  });
}
ASHLAR_NATIVE(void, RocksDB_deleteFilesInRanges, jlong handle, jlong family, jobjectArray ranges,
              jboolean include_end) {
  Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    // Begins and ends alternate. Null is unbounded.
    const size_t size = static_cast<size_t>(call.Length(ranges)) / 2 * 2;
    std::vector<std::string> keys(size);
    std::vector<Slice> slices(size);
    std::vector<RangePtr> list(size / 2);
    for (size_t i = 0; i < size; ++i) {
      const LocalRef<jbyteArray> key(
          env, static_cast<jbyteArray>(env->GetObjectArrayElement(ranges, static_cast<jsize>(i))));
      if (key.get() == nullptr) continue;
      keys[i] = call.CopyString(key.get());
      slices[i] = keys[i];
      (i % 2 == 0 ? list[i / 2].start : list[i / 2].limit) = &slices[i];
    }
    call.Check(db.db().DeleteFilesInRanges(Family(call, db, family), list.data(), list.size(),
                                           include_end != 0));
  });
}
namespace {

// Key ranges from handles of slices, which alternate between begin and end. The keys are copied,
// because other threads may close the slices meanwhile.
struct Ranges {
  Ranges(Call& call, jlongArray slices) {
    const std::vector<jlong> bounds = call.Longs(slices);
    keys.reserve(bounds.size());
    for (const jlong bound : bounds) keys.push_back(CopySlice(call, bound));
    for (size_t i = 0; i + 1 < keys.size(); i += 2) list.emplace_back(keys[i], keys[i + 1]);
  }
  std::vector<std::string> keys;
  std::vector<Range> list;
};

}  // namespace

ASHLAR_NATIVE(jlongArray, RocksDB_getApproximateSizes, jlong handle, jlong family,
              jlongArray slices, jbyte flags) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    const Ranges ranges(call, slices);
    std::vector<uint64_t> sizes(ranges.list.size());
    call.Check(db.db().GetApproximateSizes(Family(call, db, family), ranges.list.data(),
                                           static_cast<int>(sizes.size()), sizes.data(),
                                           static_cast<DB::SizeApproximationFlags>(flags)));
    return call.NewLongs(std::vector<jlong>(sizes.begin(), sizes.end()));
  });
}
ASHLAR_NATIVE(jlongArray, RocksDB_getApproximateMemTableStats, jlong handle, jlong family,
              jlong start, jlong limit) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    const auto& first = call.Use<SliceObject>(start);
    const auto& last = call.Use<SliceObject>(limit);
    uint64_t count = 0, size = 0;
    db.db().GetApproximateMemTableStats(Family(call, db, family), Range(first.slice, last.slice),
                                        &count, &size);
    return call.NewLongs({static_cast<jlong>(count), static_cast<jlong>(size)});
  });
}

#define DB_STATUS(name, expression, ...)                                         \
  ASHLAR_NATIVE(void, RocksDB_##name, jlong handle __VA_OPT__(, ) __VA_ARGS__) { \
    Native(env, [&](Call& call) {                                                \
      DB& db = call.Use<DBObject>(handle).db();                                  \
      call.Check(expression);                                                    \
    });                                                                          \
  }
DB_STATUS(pauseBackgroundWork, db.PauseBackgroundWork())
DB_STATUS(continueBackgroundWork, db.ContinueBackgroundWork())
DB_STATUS(flushWal, db.FlushWAL(sync != 0), jboolean sync)
DB_STATUS(syncWal, db.SyncWAL())
DB_STATUS(verifyChecksum, db.VerifyChecksum())
DB_STATUS(resetStats, db.ResetStats())
DB_STATUS(tryCatchUpWithPrimary, db.TryCatchUpWithPrimary())
DB_STATUS(deleteFile, db.DeleteFile(call.Text(name)), jstring name)
#undef DB_STATUS

ASHLAR_NATIVE(void, RocksDB_disableFileDeletions, jlong handle) {
  Native(env, [&](Call& call) { call.Check(call.Use<DBObject>(handle).DisableFileDeletions()); });
}
ASHLAR_NATIVE(void, RocksDB_enableFileDeletions, jlong handle, jboolean force) {
  Native(env, [&](Call& call) {
    call.Check(call.Use<DBObject>(handle).EnableFileDeletions(force != 0));
  });
}

ASHLAR_NATIVE(void, RocksDB_cancelAllBackgroundWork, jlong handle, jboolean wait) {
  Native(env,
         [&](Call& call) { CancelAllBackgroundWork(&call.Use<DBObject>(handle).db(), wait != 0); });
}
ASHLAR_NATIVE(void, RocksDB_promoteL0, jlong handle, jlong family, jint target_level) {
  Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    call.Check(db.db().PromoteL0(Family(call, db, family), target_level));
  });
}
ASHLAR_NATIVE(void, RocksDB_enableAutoCompaction, jlong handle, jlongArray families) {
  Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    call.Check(db.db().EnableAutoCompaction(FamiliesOf(call, db, families)));
  });
}

// ---- Metadata.

ASHLAR_NATIVE(jobjectArray, RocksDB_getLiveFiles, jlong handle, jboolean flush) {
  return Native(env, [&](Call& call) {
    std::vector<std::string> files;
    uint64_t manifest_bytes = 0;
    call.Check(call.Use<DBObject>(handle).db().GetLiveFiles(files, &manifest_bytes, flush != 0));
    files.push_back(std::to_string(manifest_bytes));  // Java reads it from the end
    return call.NewTexts(files);
  });
}

namespace {

struct JavaFile {
  JavaFile(Call& call, const SstFileMetaData& file)
      : name(call.env(), call.NewText(file.name)),
        path(call.env(), call.NewText(file.db_path)),
        smallest(call.env(), call.NewBytes(file.smallestkey)),
        largest(call.env(), call.NewBytes(file.largestkey)) {}
  LocalRef<jstring> name, path;
  LocalRef<jbyteArray> smallest, largest;
};

jobject NewSstFile(Call& call, const SstFileMetaData& file) {
  const JavaFile java(call, file);
  return call.New(
      "org/rocksdb/SstFileMetaData", "(Ljava/lang/String;Ljava/lang/String;JJJ[B[BJZJJ)V",
      java.name.get(), java.path.get(), static_cast<jlong>(file.size),
      static_cast<jlong>(file.smallest_seqno), static_cast<jlong>(file.largest_seqno),
      java.smallest.get(), java.largest.get(), static_cast<jlong>(file.num_reads_sampled),
      static_cast<jint>(file.being_compacted), static_cast<jlong>(file.num_entries),
      static_cast<jlong>(file.num_deletions));
}

jobject NewLevel(Call& call, const LevelMetaData& level) {
  JNIEnv* env = call.env();
  const LocalRef<jclass> type(env, call.Class("org/rocksdb/SstFileMetaData"));
  const LocalRef<jobjectArray> files(
      env,
      call.Made(env->NewObjectArray(static_cast<jsize>(level.files.size()), type.get(), nullptr)));
  for (size_t i = 0; i < level.files.size(); ++i) {
    const LocalRef<> file(env, NewSstFile(call, level.files[i]));
    env->SetObjectArrayElement(files.get(), static_cast<jsize>(i), file.get());
  }
  return call.New("org/rocksdb/LevelMetaData", "(IJ[Lorg/rocksdb/SstFileMetaData;)V",
                  static_cast<jint>(level.level), static_cast<jlong>(level.size), files.get());
}

}  // namespace

jobject NewTableProperties(Call& call, const TableProperties& p) {
  JNIEnv* env = call.env();
  const LocalRef<jbyteArray> family(env, call.NewBytes(p.column_family_name));
  const LocalRef<jstring> filter(env, call.NewText(p.filter_policy_name));
  const LocalRef<jstring> comparator(env, call.NewText(p.comparator_name));
  const LocalRef<jstring> merge_operator(env, call.NewText(p.merge_operator_name));
  const LocalRef<jstring> extractor(env, call.NewText(p.prefix_extractor_name));
  const LocalRef<jstring> collectors(env, call.NewText(p.property_collectors_names));
  const LocalRef<jstring> compression(env, call.NewText(p.compression_name));
  const LocalRef<> user(env, NewTextMap(call, p.user_collected_properties));
  const LocalRef<> readable(env, call.NewMap());
  const auto number = [](uint64_t value) { return static_cast<jlong>(value); };
  return call.New(
      "org/rocksdb/TableProperties",
      "(JJJJJJJJJJJJJJJJJJJJJJ[BLjava/lang/String;Ljava/lang/String;Ljava/lang/String;"
      "Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/util/Map;Ljava/util/Map;)V",
      number(p.data_size), number(p.index_size), number(p.index_partitions),
      number(p.top_level_index_size), number(p.index_key_is_user_key),
      number(p.index_value_is_delta_encoded), number(p.filter_size), number(p.raw_key_size),
      number(p.raw_value_size), number(p.num_data_blocks), number(p.num_entries),
      number(p.num_deletions), number(p.num_merge_operands), number(p.num_range_deletions),
      number(p.format_version), number(p.fixed_key_len), number(p.column_family_id),
      number(p.creation_time), number(p.oldest_key_time), jlong{0}, jlong{0}, jlong{0},
      family.get(), filter.get(), comparator.get(), merge_operator.get(), extractor.get(),
      collectors.get(), compression.get(), user.get(), readable.get());
}

jobject NewTablePropertiesMap(Call& call, const TablePropertiesCollection& tables) {
  const jobject map = call.NewMap();
  for (const auto& [path, properties] : tables) {
    const LocalRef<jstring> key(call.env(), call.NewText(path));
    const LocalRef<> value(call.env(), NewTableProperties(call, *properties));
    call.PutInMap(map, key.get(), value.get());
  }
  return map;
}

ASHLAR_NATIVE(jobjectArray, RocksDB_getLiveFilesMetaData, jlong handle) {
  return Native(env, [&](Call& call) {
    std::vector<LiveFileMetaData> files;
    call.Use<DBObject>(handle).db().GetLiveFilesMetaData(&files);
    const LocalRef<jclass> type(env, call.Class("org/rocksdb/LiveFileMetaData"));
    const jobjectArray result =
        call.Made(env->NewObjectArray(static_cast<jsize>(files.size()), type.get(), nullptr));
    for (size_t i = 0; i < files.size(); ++i) {
      const LiveFileMetaData& file = files[i];
      const JavaFile java(call, file);
      const LocalRef<jbyteArray> family(env, call.NewBytes(file.column_family_name));
      const LocalRef<> object(
          env,
          call.New("org/rocksdb/LiveFileMetaData",
                   "([BILjava/lang/String;Ljava/lang/String;JJJ[B[BJZJJ)V", family.get(),
                   static_cast<jint>(file.level), java.name.get(), java.path.get(),
                   static_cast<jlong>(file.size), static_cast<jlong>(file.smallest_seqno),
                   static_cast<jlong>(file.largest_seqno), java.smallest.get(), java.largest.get(),
                   static_cast<jlong>(file.num_reads_sampled),
                   static_cast<jint>(file.being_compacted), static_cast<jlong>(file.num_entries),
                   static_cast<jlong>(file.num_deletions)));
      env->SetObjectArrayElement(result, static_cast<jsize>(i), object.get());
    }
    return result;
  });
}
ASHLAR_NATIVE(jobject, RocksDB_getColumnFamilyMetaData, jlong handle, jlong family) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    ColumnFamilyMetaData metadata;
    db.db().GetColumnFamilyMetaData(Family(call, db, family), &metadata);
    const LocalRef<jclass> type(env, call.Class("org/rocksdb/LevelMetaData"));
    const LocalRef<jobjectArray> levels(
        env, call.Made(env->NewObjectArray(static_cast<jsize>(metadata.levels.size()), type.get(),
                                           nullptr)));
    for (size_t i = 0; i < metadata.levels.size(); ++i) {
      const LocalRef<> level(env, NewLevel(call, metadata.levels[i]));
      env->SetObjectArrayElement(levels.get(), static_cast<jsize>(i), level.get());
    }
    const LocalRef<jbyteArray> name(env, call.NewBytes(metadata.name));
    return call.New("org/rocksdb/ColumnFamilyMetaData", "(JJ[B[Lorg/rocksdb/LevelMetaData;)V",
                    static_cast<jlong>(metadata.size), static_cast<jlong>(metadata.file_count),
                    name.get(), levels.get());
  });
}
ASHLAR_NATIVE(jobject, RocksDB_getPropertiesOfAllTables, jlong handle, jlong family) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    TablePropertiesCollection tables;
    call.Check(db.db().GetPropertiesOfAllTables(Family(call, db, family), &tables));
    return NewTablePropertiesMap(call, tables);
  });
}
ASHLAR_NATIVE(jobject, RocksDB_getPropertiesOfTablesInRange, jlong handle, jlong family,
              jlongArray slices) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    const Ranges ranges(call, slices);
    TablePropertiesCollection tables;
    call.Check(db.db().GetPropertiesOfTablesInRange(Family(call, db, family), ranges.list.data(),
                                                    ranges.list.size(), &tables));
    return NewTablePropertiesMap(call, tables);
  });
}
ASHLAR_NATIVE(jlong, RocksDB_getEnv, jlong handle) {
  return Native(env, [&](Call& call) { return call.Use<DBObject>(handle).Environment(); });
}

ASHLAR_NATIVE(jobject, MemoryUtil_getApproximateMemoryUsageByType, jlongArray databases,
              jlongArray caches) {
  return Native(env, [&](Call& call) {
    std::array<uint64_t, 4> bytes = {};
    static const std::array<std::string, 3> kProperties = {
        DB::Properties::kSizeAllMemTables, DB::Properties::kCurSizeAllMemTables,
        DB::Properties::kEstimateTableReadersMem};
    const std::vector<jlong> database_handles = call.Longs(databases);
    for (const jlong handle : database_handles) {
      auto& db = call.Use<DBObject>(handle);
      for (size_t i = 0; i < kProperties.size(); ++i) {
        uint64_t value = 0;
        if (db.db().GetAggregatedIntProperty(kProperties[i], &value)) bytes[i] += value;
      }
    }
    const std::vector<jlong> cache_handles = call.Longs(caches);
    for (const jlong cache : cache_handles) {
      bytes[3] += call.Use<CacheObject>(cache).value->GetUsage();
    }
    // The map has no entry for a type that was not requested.
    const jobject map = call.NewMap();
    for (size_t i = database_handles.empty() ? 3 : 0; i < (cache_handles.empty() ? 3 : 4); ++i) {
      const LocalRef<> key(env, call.New("java/lang/Byte", "(B)V", static_cast<jint>(i)));
      const LocalRef<> value(env, call.New("java/lang/Long", "(J)V", static_cast<jlong>(bytes[i])));
      call.PutInMap(map, key.get(), value.get());
    }
    return map;
  });
}

}  // namespace ashlar::java

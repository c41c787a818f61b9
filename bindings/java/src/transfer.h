// Arguments that are common to many native methods.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "native.h"
#include "objects.h"

namespace ashlar::java {

// A family of this database; the handle 0 is the default one. Raises IllegalArgumentException for a
// family of another database, whose data would be mistaken for this one's.
inline ColumnFamilyHandle* FamilyOf(Call& call, DBObject& db, jlong handle) {
  if (handle == 0) return db.db().DefaultColumnFamily();
  auto& family = call.Use<ColumnFamilyObject>(handle);
  if (!family.IsChildOf(db)) [[unlikely]] {
    call.Fail("java/lang/IllegalArgumentException", "the column family is one of another database");
  }
  return family.family;
}

inline std::vector<ColumnFamilyHandle*> FamiliesOf(Call& call, DBObject& db, jlongArray handles) {
  std::vector<ColumnFamilyHandle*> families;
  // Lists of keys repeat a few families many times, so the call announces each family once.
  std::unordered_map<jlong, ColumnFamilyHandle*> known;
  for (const jlong handle : call.Longs(handles)) {
    const auto [place, is_new] = known.try_emplace(handle, nullptr);
    if (is_new) place->second = FamilyOf(call, db, handle);
    families.push_back(place->second);
  }
  return families;
}

inline std::string CopySlice(Call& call, jlong handle) {
  return call.With<SliceObject>(handle, [](auto& object) { return object.slice.ToString(); });
}

inline jobject NewTextMap(Call& call, const std::map<std::string, std::string>& values) {
  const jobject map = call.NewMap();
  for (const auto& [key, value] : values) {
    const LocalRef<jstring> java_key(call.env(), call.NewText(key));
    const LocalRef<jstring> java_value(call.env(), call.NewText(value));
    call.PutInMap(map, java_key.get(), java_value.get());
  }
  return map;
}

// The options of one read: Java's options with the objects that their handles name. The handle 0
// means the defaults.
class Reading {
 public:
  Reading(Call& call, jlong handle) : given_(&Defaults()) {
    if (handle == 0) return;
    const auto& object = call.Use<ReadOptionsObject>(handle);
    given_ = &object.value;
    if (object.snapshot != 0) {
      copy_ = object.value;
      copy_->snapshot = call.Use<SnapshotObject>(object.snapshot).snapshot;
      given_ = &*copy_;
    }
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  const ReadOptions& options() const { return *given_; }

 private:
  static const ReadOptions& Defaults() {
    static const ReadOptions defaults;
    return defaults;
  }

  const ReadOptions* given_;
  std::optional<ReadOptions> copy_;
};

// The options of an iterator: those of the read, with copies of the bounds that the handle names,
// because Java's slices may be closed before the iterator. Defined in reads.cc.
ReadOptions IteratorOptions(Call& call, jlong handle, const ReadOptions& options,
                            std::shared_ptr<Bounds>* bounds);

// Java's TableProperties, and a map of them by table path. Defined in database.cc.
jobject NewTableProperties(Call& call, const TableProperties& properties);
jobject NewTablePropertiesMap(Call& call, const TablePropertiesCollection& tables);

// Gives each Java listener its own copy, bound to the database that is being opened. The result
// receives the database's handle once it exists. Defined in listeners.cc.
OwnHandle BindListeners(std::vector<std::shared_ptr<EventListener>>* listeners);

// The options of one write.
inline const WriteOptions& Writing(Call& call, jlong handle) {
  static const WriteOptions defaults;
  return handle == 0 ? defaults : call.Use<WriteOptionsObject>(handle).value;
}

}  // namespace ashlar::java

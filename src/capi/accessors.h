// Setters and getters of options, one line for each member.
//
//   ASHLAR_C_ACCESSORS(readoptions, fill_cache, unsigned char)
//     void rocksdb_readoptions_set_fill_cache(rocksdb_readoptions_t* options, unsigned char value)
//                                                          options->rep.fill_cache = value
//     unsigned char rocksdb_readoptions_get_fill_cache(rocksdb_readoptions_t* options)
//                                                          return options->rep.fill_cache
//
// The C types are those of the declarations in ashlar/c.h, and the compiler compares them. Values
// are converted to and from the member's type.
#pragma once

#include <type_traits>

#include "capi/handles.h"

namespace ashlar::capi {

// The types of the function prefixes.
using backup_engine_options_t = rocksdb_backup_engine_options_t;
using create_backup_options_t = rocksdb_create_backup_options_t;
using restore_options_t = rocksdb_restore_options_t;
using options_t = rocksdb_options_t;
using block_based_options_t = rocksdb_block_based_table_options_t;
using cuckoo_options_t = rocksdb_cuckoo_table_options_t;
using universal_compaction_options_t = rocksdb_universal_compaction_options_t;
using fifo_compaction_options_t = rocksdb_fifo_compaction_options_t;
using readoptions_t = rocksdb_readoptions_t;
using writeoptions_t = rocksdb_writeoptions_t;
using flushoptions_t = rocksdb_flushoptions_t;
using compactoptions_t = rocksdb_compactoptions_t;
using compaction_options_t = rocksdb_compaction_options_t;
using column_family_metadata_options_t = rocksdb_column_family_metadata_options_t;
using wait_for_compact_options_t = rocksdb_wait_for_compact_options_t;
using size_approximation_options_t = rocksdb_size_approximation_options_t;
using lru_cache_options_t = rocksdb_lru_cache_options_t;
using envoptions_t = rocksdb_envoptions_t;
using ingestexternalfileoptions_t = rocksdb_ingestexternalfileoptions_t;
using flushwaloptions_t = rocksdb_flushwaloptions_t;
using livefiles_storage_info_options_t = rocksdb_livefiles_storage_info_options_t;
using import_column_family_options_t = rocksdb_import_column_family_options_t;
using hyper_clock_cache_options_t = rocksdb_hyper_clock_cache_options_t;

template <typename Member, typename Value>
void Assign(Member* member, Value value) {
  if constexpr (std::is_same_v<Member, bool>) {
    *member = value != 0;
  } else {
    *member = static_cast<Member>(value);
  }
}

template <typename E, E kMax>
bool IsEnumerator(const SmallEnumSet<E, kMax>& /*set*/, int value) {
  return value >= 0 && value <= static_cast<int>(kMax);
}
template <typename Set>
void AddTo(Set* set, int value) {
  if (IsEnumerator(*set, value)) set->Add(static_cast<typename Set::Enum>(value));
}
template <typename Set>
void RemoveFrom(Set* set, int value) {
  if (IsEnumerator(*set, value)) set->Remove(static_cast<typename Set::Enum>(value));
}
template <typename Set>
bool IsIn(const Set& set, int value) {
  return IsEnumerator(set, value) && set.Contains(static_cast<typename Set::Enum>(value));
}

}  // namespace ashlar::capi

#define ASHLAR_C_SETTER_OF(object, name, type, member)                                         \
  void rocksdb_##object##_set_##name(ashlar::capi::object##_t* options, type value) noexcept { \
    ashlar::capi::Assign(&options->rep.member, value);                                         \
  }
#define ASHLAR_C_GETTER_OF(object, name, type, member)                             \
  type rocksdb_##object##_get_##name(ashlar::capi::object##_t* options) noexcept { \
    return static_cast<type>(options->rep.member);                                 \
  }

#define ASHLAR_C_ACCESSORS_OF(object, name, type, member) \
  ASHLAR_C_SETTER_OF(object, name, type, member)          \
  ASHLAR_C_GETTER_OF(object, name, type, member)

// For a function that has the member's name.
#define ASHLAR_C_SETTER(object, name, type) ASHLAR_C_SETTER_OF(object, name, type, name)
#define ASHLAR_C_GETTER(object, name, type) ASHLAR_C_GETTER_OF(object, name, type, name)
#define ASHLAR_C_ACCESSORS(object, name, type) ASHLAR_C_ACCESSORS_OF(object, name, type, name)

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define ASHLAR_C_CREATE_AND_DESTROY(object)                            \
  ashlar::capi::object##_t* rocksdb_##object##_create(void) noexcept { \
    return new ashlar::capi::object##_t();                             \
  }                                                                    \
  void rocksdb_##object##_destroy(ashlar::capi::object##_t* options) noexcept { delete options; }
// NOLINTEND(bugprone-macro-parentheses)

// The namespace of RocksDB's C++ API, so that programs written for it compile unchanged: what is in
// namespace ashlar is also in namespace rocksdb.
//
//   rocksdb::DB, using rocksdb::DB, using namespace rocksdb, ROCKSDB_NAMESPACE::DB    name ashlar::DB
//   namespace ROCKSDB_NAMESPACE { class DB; }                                         declares ashlar::DB, before or after the definition
//   namespace rocksdb { class Mine : public Comparator {}; }                          adds a class that rocksdb::Mine names
//
// One form does not work: `namespace rocksdb { class DB; }` declares another class, which then
// hides the real one. Include the header instead, or write ROCKSDB_NAMESPACE.
//
// Rejected: `namespace rocksdb = ashlar`, because an alias cannot be opened again, as the third
// form does; a macro called rocksdb, because it would change every other thing of that name.
#pragma once

// Opened here, so that this header needs no other.
namespace ashlar {}

namespace rocksdb {
using namespace ashlar;
}

#ifndef ROCKSDB_NAMESPACE
#define ROCKSDB_NAMESPACE ashlar
#else
// A name that the program chose when it built RocksDB.
namespace ROCKSDB_NAMESPACE {
using namespace ashlar;
}
#endif

// The namespace of RocksDB's C++ API, so that programs written for it compile unchanged: every name
// of namespace ashlar is also in namespace rocksdb.
//
//   form                                                   meaning
//   rocksdb::DB, using rocksdb::DB, using namespace        names ashlar::DB
//     rocksdb, ROCKSDB_NAMESPACE::DB
//   namespace ROCKSDB_NAMESPACE { class DB; }              declares ashlar::DB, before or after its
//                                                          definition
//   namespace rocksdb { class Mine : public Comparator     adds the class rocksdb::Mine
//     {}; }
//
// One form does not work: `namespace rocksdb { class DB; }` declares another class, which then
// hides the real one. Include the header instead, or write ROCKSDB_NAMESPACE.
//
// Rejected: `namespace rocksdb = ashlar`, because an alias cannot be reopened, as the third form
// does. Rejected: a macro named rocksdb, because it would change every other use of that name.
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

// Column families: several ordered maps in one database, each with options of its own, written
// together in one batch.
//
//   column_families [DIRECTORY]    default: ./column-families-db, which is removed first
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "ashlar/slice.h"
#include "ashlar/write_batch.h"

namespace {

// An example ends at the first error. A program would return the Status.
void Check(const ashlar::Status& status) {
  if (status.ok()) return;
  std::cerr << status.ToString() << "\n";
  std::exit(1);
}

// Creates the database with a family "by_city" in addition to the default one.
void Create(const ashlar::Options& options, const std::string& path) {
  std::unique_ptr<ashlar::DB> db;
  Check(ashlar::DB::Open(options, path, &db));
  ashlar::ColumnFamilyHandle* by_city = nullptr;
  Check(db->CreateColumnFamily(ashlar::ColumnFamilyOptions(), "by_city", &by_city));
  Check(db->DestroyColumnFamilyHandle(by_city));
  Check(db->Close());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "column-families-db";
  ashlar::Options options;
  options.create_if_missing = true;
  Check(ashlar::DestroyDB(path, options));
  Create(options, path);

  std::vector<std::string> names;
  Check(ashlar::DB::ListColumnFamilies(options, path, &names));
  for (const std::string& name : names) std::cout << "family " << name << "\n";

  // An open for writing names every family.
  const std::vector<ashlar::ColumnFamilyDescriptor> families = {
      {ashlar::kDefaultColumnFamilyName, ashlar::ColumnFamilyOptions()},
      {"by_city", ashlar::ColumnFamilyOptions()},
  };
  std::vector<ashlar::ColumnFamilyHandle*> handles;
  std::unique_ptr<ashlar::DB> db;
  Check(ashlar::DB::Open(options, path, families, &handles, &db));
  ashlar::ColumnFamilyHandle* const people = handles[0];
  ashlar::ColumnFamilyHandle* const by_city = handles[1];

  // The record and the index that finds it change together, or not at all.
  ashlar::WriteBatch batch;
  Check(batch.Put(people, "ada", "London"));
  Check(batch.Put(by_city, "London/ada", ""));
  Check(batch.Put(people, "sofya", "Stockholm"));
  Check(batch.Put(by_city, "Stockholm/sofya", ""));
  Check(db->Write(ashlar::WriteOptions(), &batch));

  {
    const std::unique_ptr<ashlar::Iterator> it(db->NewIterator(ashlar::ReadOptions(), by_city));
    for (it->SeekToFirst(); it->Valid(); it->Next()) std::cout << it->key().ToString() << "\n";
    Check(it->status());
  }

  ashlar::PinnableSlice city;
  Check(db->Get(ashlar::ReadOptions(), people, "sofya", &city));
  std::cout << "sofya lives in " << city.ToString() << "\n";
  city.Reset();  // pinned bytes are released before the database is closed

  Check(db->DropColumnFamily(by_city));
  for (ashlar::ColumnFamilyHandle* handle : handles) Check(db->DestroyColumnFamilyHandle(handle));
  Check(db->Close());

  Check(ashlar::DB::ListColumnFamilies(options, path, &names));
  std::cout << "families left: " << names.size() << "\n";
}

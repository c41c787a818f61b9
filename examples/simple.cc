// The basics: open a database, write, read without copying, write several keys at once, iterate
// over a range.
//
//   simple [DIRECTORY]    default: ./simple-db, which is removed first
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

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

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "simple-db";
  ashlar::Options options;
  options.create_if_missing = true;
  Check(ashlar::DestroyDB(path, options));

  std::unique_ptr<ashlar::DB> db;
  Check(ashlar::DB::Open(options, path, &db));

  Check(db->Put(ashlar::WriteOptions(), "granite", "igneous"));
  {
    // The bytes are the store's own. They stay valid until the slice is reset or destroyed, even
    // during later writes.
    ashlar::PinnableSlice value;
    Check(db->Get(ashlar::ReadOptions(), "granite", &value));
    Check(db->Put(ashlar::WriteOptions(), "granite", "igneous, coarse"));
    std::cout << "granite was " << value.ToString() << "\n";
  }

  // A batch becomes visible and survives a crash as a whole, or not at all.
  ashlar::WriteBatch batch;
  Check(batch.Put("limestone", "sedimentary"));
  Check(batch.Put("marble", "metamorphic"));
  Check(batch.Put("slate", "metamorphic"));
  Check(batch.Delete("granite"));
  ashlar::WriteOptions durable;
  durable.sync = true;  // survives a power cut, not only a crash of this process
  Check(db->Write(durable, &batch));

  std::string gone;
  const ashlar::Status missing = db->Get(ashlar::ReadOptions(), "granite", &gone);
  std::cout << "granite is " << (missing.IsNotFound() ? "gone" : "still there") << "\n";

  {
    const std::unique_ptr<ashlar::Iterator> it(db->NewIterator(ashlar::ReadOptions()));
    for (it->Seek("m"); it->Valid(); it->Next())
      std::cout << it->key().ToString() << " is " << it->value().ToString() << "\n";
    Check(it->status());
  }
  Check(db->Close());
}

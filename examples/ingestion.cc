// Ingestion: writes many sorted keys to a table file, then adds the file to the database in one
// step, without a log and without a memtable.
//
//   ingestion [DIRECTORY]    default: ./ingestion-db, which is removed first
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/sst_file_writer.h"

namespace {

// An example ends at the first error. A program would return the Status.
void Check(const ashlar::Status& status) {
  if (status.ok()) return;
  std::cerr << status.ToString() << "\n";
  std::exit(1);
}

std::string Key(int number) {
  std::ostringstream key;
  key << "user" << std::setw(6) << std::setfill('0') << number;
  return key.str();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "ingestion-db";
  ashlar::Options options;
  options.create_if_missing = true;
  Check(ashlar::DestroyDB(path, options));
  std::unique_ptr<ashlar::DB> db;
  Check(ashlar::DB::Open(options, path, &db));
  Check(db->Put(ashlar::WriteOptions(), Key(7), "from before"));
  Check(db->Put(ashlar::WriteOptions(), Key(200000), "from before"));

  // The writer has the options of the column family, including its order of keys.
  ashlar::SstFileWriter writer(ashlar::EnvOptions(), options);
  const std::string file = path + "/new-users.sst";
  Check(writer.Open(file));
  for (int i = 0; i < 100000; ++i) Check(writer.Put(Key(i), "ingested"));
  ashlar::ExternalSstFileInfo info;
  Check(writer.Finish(&info));
  std::cout << info.num_entries << " keys from " << info.smallest_key << " to " << info.largest_key
            << "\n";

  ashlar::IngestExternalFileOptions ingestion;
  ingestion.move_files = true;
  Check(db->IngestExternalFile({file}, ingestion));

  std::string value;
  for (const int number : {7, 99999, 200000}) {
    Check(db->Get(ashlar::ReadOptions(), Key(number), &value));
    std::cout << Key(number) << ": " << value << "\n";
  }
  Check(db->Close());
  return 0;
}

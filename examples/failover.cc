// Failover: a secondary follows the database that another object writes, usually in another
// process. One call makes it the primary when the old primary has ended.
//
//   failover [DIRECTORY]    default: ./failover-db, which is removed first
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/options.h"

namespace {

// An example ends at the first error. A program would return the Status.
void Check(const ashlar::Status& status) {
  if (status.ok()) return;
  std::cerr << status.ToString() << "\n";
  std::exit(1);
}

std::string Get(ashlar::DB* db, const std::string& key) {
  std::string value;
  const ashlar::Status found = db->Get(ashlar::ReadOptions(), key, &value);
  if (found.IsNotFound()) return "nothing";
  Check(found);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "failover-db";
  ashlar::Options options;
  options.create_if_missing = true;
  Check(ashlar::DestroyDB(path, options));
  std::unique_ptr<ashlar::DB> primary;
  Check(ashlar::DB::Open(options, path, &primary));
  Check(primary->Put(ashlar::WriteOptions(), "granite", "igneous"));

  // The secondary's LOG is in a folder of its own.
  std::unique_ptr<ashlar::DB> standby;
  Check(ashlar::DB::OpenAsSecondary(options, path, path + "-standby", &standby));
  Check(primary->Put(ashlar::WriteOptions(), "slate", "metamorphic"));
  std::cout << "slate, before a catch-up: " << Get(standby.get(), "slate") << "\n";
  Check(standby->TryCatchUpWithPrimary());
  std::cout << "slate, after it: " << Get(standby.get(), "slate") << "\n";

  const ashlar::Status too_early = standby->PromoteToPrimary();
  std::cout << "promoted while the primary lives: " << (too_early.IsBusy() ? "busy" : "?") << "\n";

  // The primary ends, here by a normal close. Even kill -9 loses no acknowledged write.
  Check(primary->Put(ashlar::WriteOptions(), "chalk", "sedimentary"));
  primary.reset();
  Check(standby->PromoteToPrimary());
  std::cout << "chalk, after the promotion: " << Get(standby.get(), "chalk") << "\n";
  Check(standby->Put(ashlar::WriteOptions(), "basalt", "igneous"));
  std::cout << "basalt, written by the new primary: " << Get(standby.get(), "basalt") << "\n";
  Check(standby->Close());
  return 0;
}

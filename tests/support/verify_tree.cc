#include "tests/support/verify_tree.h"

#include "pmem/tree.h"

namespace ashlar {

Status VerifyAndCheck(PersistentTree* tree) {
  Status verified = tree->Verify();
  if (verified.ok()) static_cast<pmem::Tree*>(tree)->CheckInvariants();
  return verified;
}

}  // namespace ashlar

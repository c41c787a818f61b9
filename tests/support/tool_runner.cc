#include "tests/support/tool_runner.h"

#include <filesystem>
#include <random>
#include <system_error>

#include "base/assert.h"
#include "base/format.h"

namespace ashlar {

testing::AssertionResult HaveRocksDbTools() {
  static const bool have = RunTool("command -v ldb sst_dump db_bench").exit_code == 0;
  if (have) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "the package rocksdb-tools judges the files; ./dev setup installs it";
}

ScratchDirectory::ScratchDirectory() {
  std::random_device random;
  const std::string parent = ScratchParent();
  std::error_code error;
  do {
    path_ = StrCat(parent, "/ashlar_test_", random(), "_", random());
  } while (!std::filesystem::create_directory(path_, error) && !error);
  ASHLAR_ASSERT(!error);
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ashlar

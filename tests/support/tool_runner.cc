#include "tests/support/tool_runner.h"

#include <filesystem>
#include <random>
#include <system_error>
#include <vector>

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
  // Removes each name once: remove_all of GCC for Windows retries forever while a file is open.
  std::error_code ignored;
  std::vector<std::filesystem::path> names{path_};
  for (std::filesystem::recursive_directory_iterator at(path_, ignored), end; !ignored && at != end;
       at.increment(ignored))
    names.push_back(at->path());
  for (size_t i = names.size(); i-- > 0;) std::filesystem::remove(names[i], ignored);
}

}  // namespace ashlar

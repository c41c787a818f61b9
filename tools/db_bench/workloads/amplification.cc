#include <fmt/format.h>

#include <vector>

#include "tools/common/amplification.h"
#include "tools/db_bench/workloads/all.h"

namespace ashlar::bench {
namespace {

// Uses databases of its own next to that of the flags, which is not changed.
Status MeasureStyles(const Flags& flags, Database& database) {
  amplification::Workload workload;
  workload.keys = static_cast<uint64_t>(flags.num);
  workload.key_bytes = static_cast<uint64_t>(flags.key_size);
  workload.value_bytes = static_cast<uint64_t>(flags.value_size);
  workload.overwrite_percent = static_cast<uint64_t>(flags.overwrite_percent);
  workload.read_percent = static_cast<uint64_t>(flags.readwritepercent);
  if (flags.seed != 0) workload.seed = static_cast<uint64_t>(flags.seed);
  const std::vector<amplification::Setting> settings = amplification::Settings();
  std::vector<amplification::Figures> figures(settings.size());
  for (size_t i = 0; i < settings.size(); ++i) {
    const std::string folder = fmt::format("{}-amplification-{}", database.path(), i);
    Status s = amplification::Measure(workload, settings[i], folder, &figures[i]);
    if (!s.ok()) return s;
  }
  fmt::print("\n{}\n{}\n", amplification::Table(workload, figures), amplification::Plot(figures));
  return Status::OK();
}

}  // namespace

constinit const Workload kAmplification = {
    .name = "amplification",
    .summary = "bytes written, runs read and bytes on disk in each style of compaction",
    .act = MeasureStyles,
};

}  // namespace ashlar::bench

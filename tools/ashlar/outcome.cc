#include "tools/ashlar/outcome.h"

#include <algorithm>
#include <array>

namespace ashlar::cli {
namespace {

ExitCode CodeOf(const Status& status) {
  switch (status.code()) {
    case Status::kOk: return ExitCode::kOk;
    case Status::kNotFound: return ExitCode::kNotFound;
    case Status::kInvalidArgument:
    case Status::kColumnFamilyDropped: return ExitCode::kUsage;
    case Status::kCorruption: return ExitCode::kCorruption;
    case Status::kNotSupported: return ExitCode::kNotSupported;
    default: return ExitCode::kIo;
  }
}

std::string_view AdviceFor(const Status& status) {
  if (status.IsNoSpace())
    return "free some space on the disk; everything written before this is kept";
  switch (status.code()) {
    case Status::kCorruption:
      return "'verify' shows the extent of the damage; restore a backup, or see what 'repair "
             "--dry-run' would keep";
    case Status::kNotSupported:
      return "the database was left as it was; if 'dump' can read it, 'load' makes another of it, "
             "else use the program that made it";
    case Status::kBusy:
    case Status::kTimedOut:
    case Status::kTryAgain: return "try again";
    default: return {};
  }
}

}  // namespace

const char* const kExitCodesHelp =
    "Exit codes:\n"
    "  0  done\n"
    "  1  a requested key, property or backup does not exist\n"
    "  2  the command line is invalid, or does not fit this database\n"
    "  3  part of the input was rejected; the rest was used\n"
    "  4  a file could not be read or written, there is no database, or another process holds it\n"
    "  5  data on disk are damaged\n"
    "  6  the database uses a feature that this release does not have";

bool IsGraver(ExitCode a, ExitCode b) {
  constexpr std::array kByGravity = {ExitCode::kOk,    ExitCode::kNotFound,
                                     ExitCode::kUsage, ExitCode::kNotSupported,
                                     ExitCode::kIo,    ExitCode::kCorruption};
  const auto gravity = [&](ExitCode code) {
    return std::find(kByGravity.begin(), kByGravity.end(), code) - kByGravity.begin();
  };
  return gravity(a) > gravity(b);
}

Outcome FromStatus(const Status& status, std::string_view doing) {
  if (status.ok()) return {};
  return {.code = CodeOf(status),
          .what = std::string(doing) + ": " + status.ToString(),
          .advice = std::string(AdviceFor(status))};
}

}  // namespace ashlar::cli

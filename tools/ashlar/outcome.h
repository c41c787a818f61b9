// Outcome: how a command ended. The error, its place, a remedy, and the exit code of the process.
//
//   0 kOk            done
//   1 kNotFound      a requested key, property or backup does not exist
//   2 kUsage         the command line is invalid, or does not fit this database
//   3 kBadInput      part of the input was rejected; the rest was used
//   4 kIo            a file could not be read or written, there is no database, or another process
//                    holds it
//   5 kCorruption    data on disk are damaged
//   6 kNotSupported  the database uses a feature that this release does not have
#pragma once

#include <string>
#include <string_view>

#include "ashlar/status.h"

namespace ashlar::cli {

enum class ExitCode : int {
  kOk = 0,
  kNotFound = 1,
  kUsage = 2,
  kBadInput = 3,
  kIo = 4,
  kCorruption = 5,
  kNotSupported = 6,
};

// The table of exit codes, for --help.
extern const char* const kExitCodesHelp;

struct [[nodiscard]] Outcome {
  ExitCode code = ExitCode::kOk;
  std::string what;    // empty: nothing is reported
  std::string advice;  // may be empty

  bool ok() const { return code == ExitCode::kOk; }
};

// Orders the findings of a check: damage is the gravest, then errors of input and output, then
// unsupported features, then a command line that does not fit.
bool IsGraver(ExitCode a, ExitCode b);

// `doing` describes the failed operation, such as "cannot open /data/db".
Outcome FromStatus(const Status& status, std::string_view doing);

}  // namespace ashlar::cli

// Returns from the enclosing function unless the outcome is Ok.
#define ASHLAR_CLI_RETURN_IF_FAILED(expr)              \
  do {                                                 \
    ::ashlar::cli::Outcome outcome_of_expr = (expr);   \
    if (!outcome_of_expr.ok()) return outcome_of_expr; \
  } while (false)

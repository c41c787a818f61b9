// The command line as a whole: from the arguments to the exit code.
#pragma once

namespace ashlar::cli {

// Runs one command. Results go to standard output, errors to standard error.
int RunCommandLine(int argc, const char* const* argv);

}  // namespace ashlar::cli

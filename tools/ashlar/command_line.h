// The complete command line, from the arguments to the exit code.
#pragma once

#include <string>
#include <vector>

namespace ashlar::cli {

// Runs one command. The arguments are those after the program's name. Results go to standard
// output, errors to standard error.
int RunCommandLine(const std::vector<std::string>& arguments);

}  // namespace ashlar::cli

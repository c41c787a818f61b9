// ashlar: the command-line tool.
#include "tools/ashlar/command_line.h"

int main(int argc, char** argv) { return ashlar::cli::RunCommandLine(argc, argv); }

// ashlar: the command-line tool.
#include "platform/program.h"
#include "tools/ashlar/command_line.h"

int main(int argc, char** argv) {
  return ashlar::cli::RunCommandLine(ashlar::ProgramArguments(argc, argv));
}

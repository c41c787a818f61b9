// A program that appends a line to a file: the code page of its console's output.
#include <cstdio>

#include "platform/windows/windows_headers.h"

int main(int argc, char** argv) {
  FILE* const file = argc == 2 ? fopen(argv[1], "ab") : nullptr;
  if (file == nullptr) return 1;
  fprintf(file, "%u\n", GetConsoleOutputCP());
  return fclose(file);
}

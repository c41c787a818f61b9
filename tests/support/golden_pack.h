// Reads the databases of tests/golden, which other releases and stores wrote.
//
// Thread safety: pure functions of the files.
#pragma once

#include <map>
#include <string>

namespace ashlar {

// The compressed bytes of a pack as checked in. name: without its directory and suffix.
std::string GoldenPackBytes(const std::string& name);
// The files of a pack by name, and its CONTENTS or EXPECTED (generate.py). Empty if zlib is not
// built in or the pack is damaged.
std::map<std::string, std::string> FilesOfGoldenPack(const std::string& name);

}  // namespace ashlar

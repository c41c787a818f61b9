#include "tests/support/golden_pack.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "base/compression.h"
#include "tests/support/places.h"

namespace ashlar {
namespace {

constexpr size_t kPackBytesMax = size_t{16} << 20;

std::string TakeLine(Slice* rest) {
  const std::string_view text(rest->data(), rest->size());
  const size_t end = text.find('\n');
  const std::string line(text.substr(0, end));
  rest->remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

std::string GoldenPackBytes(const std::string& name) {
  const std::filesystem::path folder =
      std::filesystem::path(kSourceDir) / "tests" / "golden" / "databases";
  std::ifstream stream(folder / (name + ".pack"), std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(stream)), {});
}

std::map<std::string, std::string> FilesOfGoldenPack(const std::string& name) {
  std::string raw;
  if (!Decompress(kZlibCompression, GoldenPackBytes(name), nullptr, kPackBytesMax, &raw).ok())
    return {};
  std::map<std::string, std::string> files;
  for (Slice rest(raw); !rest.empty();) {
    const std::string file = TakeLine(&rest);
    const size_t bytes = std::stoul(TakeLine(&rest));
    files[file] = Slice(rest.data(), bytes).ToString();
    rest.remove_prefix(bytes);
  }
  return files;
}

}  // namespace ashlar

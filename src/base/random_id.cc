#include "base/random_id.h"

#include <random>

namespace ashlar {

std::string RandomText(size_t count, std::string_view alphabet) {
  std::random_device device;
  std::uniform_int_distribution<size_t> pick(0, alphabet.size() - 1);
  std::string text;
  for (size_t i = 0; i < count; ++i) text.push_back(alphabet[pick(device)]);
  return text;
}

std::string RandomUuid() {
  std::string id = RandomText(36, "0123456789abcdef");
  for (const size_t dash : {size_t{8}, size_t{13}, size_t{18}, size_t{23}}) id[dash] = '-';
  id[14] = '4';
  id[19] = "89ab"[static_cast<size_t>(id[19]) % 4];
  return id;
}

}  // namespace ashlar

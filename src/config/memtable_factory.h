// The memtable factories that functions create, and the engine's queries of a factory.
//
// Thread safety: immutable.
#pragma once

#include <string>

#include "ashlar/memtablerep.h"

namespace ashlar {

class HashSkipListRepFactory final : public MemTableRepFactory {
 public:
  static constexpr const char* kName = "HashSkipListRepFactory";
  struct Parameters {
    size_t bucket_count = 1000000;
    int32_t skiplist_height = 4;
    int32_t branching_factor = 4;
  };

  explicit HashSkipListRepFactory(const Parameters& parameters) : parameters_(parameters) {}
  const char* Name() const override { return kName; }
  std::string GetId() const override;
  const Parameters& parameters() const { return parameters_; }

 private:
  const Parameters parameters_;
};

class HashLinkListRepFactory final : public MemTableRepFactory {
 public:
  static constexpr const char* kName = "HashLinkListRepFactory";
  struct Parameters {
    size_t bucket_count = 50000;
    size_t huge_page_size = 0;
    int logging_threshold = 4096;
    bool log_when_flash = true;
    uint32_t threshold = 256;
  };

  explicit HashLinkListRepFactory(const Parameters& parameters) : parameters_(parameters) {}
  const char* Name() const override { return kName; }
  std::string GetId() const override;
  const Parameters& parameters() const { return parameters_; }

 private:
  const Parameters parameters_;
};

// Returns whether the factory is one of Ashlar's. Its name alone does not show this.
bool IsBuiltIn(const MemTableRepFactory& factory);
// Returns whether the factory's structure works only with prefixes.
bool NeedsPrefixes(const MemTableRepFactory& factory);

}  // namespace ashlar

#include "config/memtable_factory.h"

#include "base/format.h"

namespace ashlar {

std::string SkipListFactory::GetId() const {
  return lookahead_ == 0 ? Name() : StrCat(Name(), ":", lookahead_);
}

std::string VectorRepFactory::GetId() const {
  return StrCat("{id=", Name(), ";count=", count_, ";}");
}

std::string HashSkipListRepFactory::GetId() const {
  return StrCat("{id=", Name(), ";branching_factor=", parameters_.branching_factor,
                ";skiplist_height=", parameters_.skiplist_height,
                ";bucket_count=", parameters_.bucket_count, ";}");
}

std::string HashLinkListRepFactory::GetId() const {
  return StrCat("{id=", Name(), ";log_when_flash=", parameters_.log_when_flash ? "true" : "false",
                ";logging_threshold=", parameters_.logging_threshold,
                ";huge_page_size=", parameters_.huge_page_size,
                ";threshold=", parameters_.threshold, ";bucket_count=", parameters_.bucket_count,
                ";}");
}

MemTableRepFactory* NewHashSkipListRepFactory(size_t bucket_count, int32_t skiplist_height,
                                              int32_t skiplist_branching_factor) {
  return new HashSkipListRepFactory({.bucket_count = bucket_count,
                                     .skiplist_height = skiplist_height,
                                     .branching_factor = skiplist_branching_factor});
}

MemTableRepFactory* NewHashLinkListRepFactory(size_t bucket_count, size_t huge_page_tlb_size,
                                              int bucket_entries_logging_threshold,
                                              bool if_log_bucket_dist_when_flash,
                                              uint32_t threshold_use_skiplist) {
  return new HashLinkListRepFactory({.bucket_count = bucket_count,
                                     .huge_page_size = huge_page_tlb_size,
                                     .logging_threshold = bucket_entries_logging_threshold,
                                     .log_when_flash = if_log_bucket_dist_when_flash,
                                     .threshold = threshold_use_skiplist});
}

bool NeedsPrefixes(const MemTableRepFactory& factory) {
  return dynamic_cast<const HashSkipListRepFactory*>(&factory) != nullptr ||
         dynamic_cast<const HashLinkListRepFactory*>(&factory) != nullptr;
}

bool IsBuiltIn(const MemTableRepFactory& factory) {
  return NeedsPrefixes(factory) || dynamic_cast<const SkipListFactory*>(&factory) != nullptr ||
         dynamic_cast<const VectorRepFactory*>(&factory) != nullptr;
}

}  // namespace ashlar

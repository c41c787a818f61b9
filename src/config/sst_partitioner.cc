#include "ashlar/sst_partitioner.h"

#include <algorithm>

#include "base/format.h"

namespace ashlar {

namespace {

Slice Prefix(const Slice& key, size_t length) { return {key.data(), std::min(key.size(), length)}; }

}  // namespace

PartitionerResult SstPartitionerFixedPrefix::ShouldPartition(const PartitionerRequest& request) {
  const bool same =
      Prefix(*request.prev_user_key, length_) == Prefix(*request.current_user_key, length_);
  return same ? kNotRequired : kRequired;
}

bool SstPartitionerFixedPrefix::CanDoTrivialMove(const Slice& smallest_user_key,
                                                 const Slice& largest_user_key) {
  return Prefix(smallest_user_key, length_) == Prefix(largest_user_key, length_);
}

std::string SstPartitionerFixedPrefixFactory::GetId() const {
  return StrCat("{id=", kClassName(), ";length=", length_, ";}");
}

std::unique_ptr<SstPartitioner> SstPartitionerFixedPrefixFactory::CreatePartitioner(
    const SstPartitioner::Context& /*context*/) const {
  return std::make_unique<SstPartitionerFixedPrefix>(length_);
}

std::shared_ptr<SstPartitionerFactory> NewSstPartitionerFixedPrefixFactory(size_t prefix_length) {
  return std::make_shared<SstPartitionerFixedPrefixFactory>(prefix_length);
}

}  // namespace ashlar

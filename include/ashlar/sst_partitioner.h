// SstPartitioner: cuts the tables of a compaction at keys that the program chooses. Keys that are
// deleted or moved together can thus have tables of their own. SstPartitionerFactory makes one for
// each part of a compaction.
//
// Tables of level 0 are not cut. Thread safety: a partitioner is used by one thread at a time; the
// factory by several at once. Must not throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

enum PartitionerResult : char {
  kNotRequired = 0x0,
  kRequired = 0x1,  // the table ends before the current key
};

// The keys are borrowed until the call returns.
struct PartitionerRequest {
  PartitionerRequest(const Slice& prev_user_key_in, const Slice& current_user_key_in,
                     uint64_t current_output_file_size_in)
      : prev_user_key(&prev_user_key_in),
        current_user_key(&current_user_key_in),
        current_output_file_size(current_output_file_size_in) {}

  const Slice* prev_user_key;         // the last key in the table
  const Slice* current_user_key;      // the next key to be written
  uint64_t current_output_file_size;  // approximate bytes of the table so far
};

class ASHLAR_API SstPartitioner {
 public:
  struct Context {
    bool is_full_compaction = false;    // every table of the column family takes part
    bool is_manual_compaction = false;  // CompactRange or CompactFiles
    int output_level = 0;
    Slice smallest_user_key;  // of the whole compaction; valid until CreatePartitioner returns
    Slice largest_user_key;
  };

  virtual ~SstPartitioner() = default;

  virtual const char* Name() const = 0;
  // Called for each user key of a table except its first.
  virtual PartitionerResult ShouldPartition(const PartitionerRequest& request) = 0;
  // Whether a table with these keys may move to the next level unchanged. If not, it is rewritten.
  virtual bool CanDoTrivialMove(const Slice& smallest_user_key, const Slice& largest_user_key) = 0;
};

class ASHLAR_API SstPartitionerFactory : public Customizable {
 public:
  static const char* Type() { return "SstPartitionerFactory"; }

  // Null: nothing is cut.
  virtual std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& context) const = 0;
  // Written into the OPTIONS file.
  const char* Name() const override = 0;
  // Text that the OPTIONS file stores, and that may be an option's value. The default is Name().
  std::string GetId() const override { return Name(); }
};

// All keys of a table have the same first `length` bytes. A shorter key is its own prefix.
class ASHLAR_API SstPartitionerFixedPrefix : public SstPartitioner {
 public:
  explicit SstPartitionerFixedPrefix(size_t length) : length_(length) {}

  const char* Name() const override { return "SstPartitionerFixedPrefix"; }
  PartitionerResult ShouldPartition(const PartitionerRequest& request) override;
  bool CanDoTrivialMove(const Slice& smallest_user_key, const Slice& largest_user_key) override;

 private:
  const size_t length_;
};

class ASHLAR_API SstPartitionerFixedPrefixFactory : public SstPartitionerFactory {
 public:
  explicit SstPartitionerFixedPrefixFactory(size_t length) : length_(length) {}

  static const char* kClassName() { return "SstPartitionerFixedPrefixFactory"; }
  const char* Name() const override { return kClassName(); }
  std::string GetId() const override;
  std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& context) const override;

 private:
  const size_t length_;
};

ASHLAR_API std::shared_ptr<SstPartitionerFactory> NewSstPartitionerFixedPrefixFactory(
    size_t prefix_length);

}  // namespace ashlar

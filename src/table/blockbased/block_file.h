// BlockFile: an open table file as a sequence of blocks. Reads a block by its handle, verifies its
// checksum, and decompresses it.
//
// I1: memory is allocated for a block only after its handle was checked against the file's size,
//     and its uncompressed size against kBlockBytesMax.
// I2: errors name the file and the offset.
// I3: uncompressed blocks of a mapped file are not copied. Their bytes live as long as the file.
// Thread safety: const methods from any thread; Set* only before the file is shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/vfs.h"
#include "base/compression.h"
#include "base/result.h"
#include "observe/recorder.h"
#include "table/block/block_buffer.h"
#include "table/block/block_format.h"

namespace ashlar {

// The bytes of a block without its trailer, uncompressed.
struct BlockContents {
  Slice data;
  BlockBuffer owned;  // none: data points into the mapping
};

// Bytes of the file that were read before.
struct FileSpan {
  uint64_t offset = 0;
  Slice bytes;

  bool Covers(uint64_t from, uint64_t n) const {
    return from >= offset && from - offset <= bytes.size() && n <= bytes.size() - (from - offset);
  }
  const char* At(uint64_t from) const { return bytes.data() + (from - offset); }
};

class BlockFile {
 public:
  // mapped: use the file's mapping if it has one.
  BlockFile(std::unique_ptr<vfs::RandomAccessFile> file, std::string name, uint64_t file_bytes,
            bool mapped, const Recorder& recorder);
  BlockFile(BlockFile&&) noexcept = default;

  // Sets how blocks are checked: by the footer's version, checksum type and context.
  void SetFormat(const Footer& footer) {
    checksum_ = footer.checksum;
    base_context_ = footer.base_context;
    format_version_ = footer.format_version;
  }
  // The checksum of the block with these bytes may have been computed with zeros in their place.
  void SetBytesStoredLater(uint64_t offset, size_t n) {
    stored_later_offset_ = offset;
    stored_later_bytes_ = n;
  }
  void SetDictionary(std::unique_ptr<DecompressionDictionary> dictionary) {
    dictionary_ = std::move(dictionary);
  }

  const std::string& name() const { return name_; }
  uint64_t file_bytes() const { return file_bytes_; }
  bool mapped() const { return !mapping_.empty(); }
  const vfs::RandomAccessFile* file() const { return file_.get(); }
  size_t DictionaryBytes() const { return dictionary_ == nullptr ? 0 : dictionary_->MemoryUsage(); }

  struct ReadArgs {
    BlockHandle handle;
    bool verify_checksum = true;
    bool use_dictionary = false;        // data blocks only
    bool stays = false;                 // for the life of the table: BlockBuffer::OfPages
    const FileSpan* at_hand = nullptr;  // may cover the block
  };
  Result<BlockContents> ReadBlock(const ReadArgs& args) const;

  // Reads n bytes at offset into scratch, or returns them in the mapping. Returns Corruption if the
  // file ends earlier. Requires: scratch is not null, unless mapped().
  Result<Slice> ReadBytes(uint64_t offset, size_t n, char* scratch) const;

  Status CorruptionAt(uint64_t offset, const Slice& what) const;
  // Prepends file and offset to the text of the status.
  Status AddPlace(const Status& status, uint64_t offset) const;

 private:
  Status CheckHandle(const BlockHandle& handle) const;
  Status CheckTrailer(const BlockHandle& handle, const char* stored) const;
  uint32_t ChecksumOf(const BlockHandle& handle, const char* stored) const;
  // Whether the checksum is right if the bytes that were stored later are replaced with zeros.
  bool ChecksumHoldsWithZeros(const BlockHandle& handle, const char* stored) const;
  // DecompressInto, counted and timed.
  Status Decompress(CompressionType type, const Slice& stored,
                    const DecompressionDictionary* dictionary, char* raw, size_t raw_bytes) const;
  Result<BlockContents> Decompressed(const ReadArgs& args, CompressionType type,
                                     const Slice& stored) const;

  std::unique_ptr<vfs::RandomAccessFile> file_;
  std::string name_;
  uint64_t file_bytes_;
  Recorder recorder_;
  Slice mapping_;  // empty: not mapped
  BlockChecksum checksum_ = BlockChecksum::kCrc32c;
  uint32_t base_context_ = 0;
  uint32_t format_version_ = kFormatVersionDefault;
  uint64_t stored_later_offset_ = 0;
  size_t stored_later_bytes_ = 0;  // 0: none
  std::unique_ptr<DecompressionDictionary> dictionary_;
};

}  // namespace ashlar

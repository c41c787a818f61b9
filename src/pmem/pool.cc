#include "pmem/pool.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "base/assert.h"
#include "base/coding.h"
#include "base/crc32c.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "platform/file.h"
#include "pmem/heap.h"
#include "pmem/leaf.h"
#include "pmem/mapped_medium.h"
#include "pmem/new_name.h"

namespace ashlar::pmem {
namespace {

constexpr uint64_t kMapOffset = kPageBytes;

constexpr uint64_t FirstPageOf(uint64_t pool_bytes) {
  return 1 + (pool_bytes / kPageBytes * 8 + kPageBytes - 1) / kPageBytes;
}

uint32_t HeaderChecksum(const char* page, size_t name_bytes) {
  const uint32_t crc = crc32c::Value(page, offsetof(PoolHeader, checksum));
  return crc32c::Mask(crc32c::Extend(crc, page + kComparatorNameOffset, name_bytes));
}

uint64_t RandomId() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

// Removes the file of a creator that died, which is recognized by its free lock.
Result<std::unique_ptr<PoolFile>> CreateTemporary(const std::string& temporary, uint64_t bytes,
                                                  double huge_pages_effort_max) {
  Result<std::unique_ptr<PoolFile>> left = PoolFile::Open(temporary);
  if (left.ok()) {
    ASHLAR_RETURN_IF_ERROR(RemoveFile(temporary));
  } else if (!left.status().IsPathNotFound()) {
    return left.status();
  }
  return PoolFile::Create(temporary, bytes, huge_pages_effort_max);
}

// The temporary name of a new pool. The destructor removes it, unless it was given away. Requires:
// the file's lock is held during its lifetime (I1). Lifetime: the path outlives it.
class TemporaryName {
 public:
  explicit TemporaryName(const std::string& path) : path_(path) {}
  ~TemporaryName() {
    if (is_own_) IgnoreBadAlloc([this] { static_cast<void>(RemoveFile(path_)); });
  }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  Status GiveAway(const std::string& to) {
    ASHLAR_RETURN_IF_ERROR(GiveNewName(path_, to));
    is_own_ = false;
    return Status::OK();
  }

 private:
  const std::string& path_;
  bool is_own_ = true;
};

// Durably stores a new pool in the file.
Status FormatFile(PoolFile* file, const Comparator& comparator) {
  {
    ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<PoolMapping> mapping, file->Map(PoolMapMode::kShared));
    MappedMedium medium(file->path(), std::move(mapping), DurabilityClass::kProcessCrashOnly,
                        FlushInstruction::kNone);
    FormatPool(&medium, RandomId(), comparator);
  }
  return file->SyncData();
}

}  // namespace

PoolOffset FirstLeafOf(uint64_t pool_bytes) { return FirstPageOf(pool_bytes) * kPageBytes; }

std::string EncodePoolHeader(uint64_t pool_bytes, uint64_t pool_id, const Comparator& comparator) {
  std::string page(kPageBytes, '\0');
  const std::string_view name = comparator.Name();
  PoolHeader header = {.magic = {},
                       .version = kPoolVersion,
                       .byte_order = kByteOrderMark,
                       .pool_bytes = pool_bytes,
                       .pool_id = pool_id,
                       .map_offset = kMapOffset,
                       .first_page = FirstPageOf(pool_bytes),
                       .first_leaf = FirstLeafOf(pool_bytes),
                       .comparator_name_bytes = static_cast<uint32_t>(name.size()),
                       .checksum = 0};
  memcpy(header.magic, kPoolMagic, sizeof(kPoolMagic));
  memcpy(page.data(), &header, sizeof(header));
  memcpy(page.data() + kComparatorNameOffset, name.data(), name.size());
  EncodeFixed64(page.data() + kBatchMarkOffset, kNoBatchMark);
  const std::string link = EncodeLogLink(LogState::kClosed, 0);
  memcpy(page.data() + kLogLinkOffset, link.data(), link.size());
  header.checksum = HeaderChecksum(page.data(), name.size());
  memcpy(page.data(), &header, sizeof(header));
  return page;
}

Result<bool> CreatePool(const std::string& path, uint64_t pool_bytes, double huge_pages_effort_max,
                        const Comparator& comparator) {
  if (strlen(comparator.Name()) > kComparatorNameBytesMax)
    return Status::InvalidArgument(path, "the comparator's name is too long");
  if (pool_bytes > kPoolBytesMax)
    return Status::InvalidArgument(path, StrCat("a pool has at most ", kPoolBytesMax, " bytes"));
  const uint64_t bytes =
      (std::max(pool_bytes, kPoolBytesMin) + kPageBytes - 1) / kPageBytes * kPageBytes;
  const std::string temporary = path + ".creating";
  ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<PoolFile> file,
                          CreateTemporary(temporary, bytes, huge_pages_effort_max));
  TemporaryName name(temporary);
  // The previous creator may have created the pool after the caller looked for it.
  const Status looked = GetFileInfo(path).status();
  if (looked.ok()) return false;
  if (!looked.IsPathNotFound()) return looked;
  ASHLAR_RETURN_IF_ERROR(FormatFile(file.get(), comparator));
  ASHLAR_RETURN_IF_ERROR(name.GiveAway(path));
  ASHLAR_RETURN_IF_ERROR(SyncFolderOf(path));
  return true;
}

std::string EncodeLogLink(LogState state, uint64_t generation) {
  std::string bytes(sizeof(LogLink), '\0');
  EncodeFixed64(bytes.data() + offsetof(LogLink, state), static_cast<uint64_t>(state));
  EncodeFixed64(bytes.data() + offsetof(LogLink, generation), generation);
  const uint32_t crc = crc32c::Value(bytes.data(), offsetof(LogLink, checksum));
  EncodeFixed64(bytes.data() + offsetof(LogLink, checksum), crc32c::Mask(crc));
  return bytes;
}

Result<LogLink> DecodeLogLink(const std::string& path, const Slice& bytes) {
  LogLink link;
  ASHLAR_ASSERT(bytes.size() >= sizeof(link));  // the callers read a whole link
  memcpy(&link, bytes.data(), sizeof(link));
  const uint32_t crc = crc32c::Value(bytes.data(), offsetof(LogLink, checksum));
  const bool has_state = link.state >= static_cast<uint64_t>(LogState::kClosed) &&
                         link.state <= static_cast<uint64_t>(LogState::kNext);
  if (crc32c::Mask(crc) != link.checksum || !has_state) {
    return Status::Corruption(
        path, StrCat("the pool's link to its log is damaged (offset ", kLogLinkOffset, ")"));
  }
  return link;
}

void FormatPool(Medium* medium, uint64_t pool_id, const Comparator& comparator) {
  const std::string page = EncodePoolHeader(medium->bytes(), pool_id, comparator);
  PoolHeader header;
  memcpy(&header, page.data(), sizeof(header));
  PoolOperation op(*medium);
  WriteNewLeaf(&op, header.first_leaf, {}, 0, 0);
  const auto enter = [&](uint64_t first, const SpanEntry& entry) {
    const PoolOffset offset = header.map_offset + first * sizeof(uint64_t);
    op.Store(offset, EncodeSpanEntry(first, entry));
    op.Flush(offset, sizeof(uint64_t));
  };
  enter(header.first_page,
        {.kind = SpanKind::kLeaves, .size_class = 0, .pages = static_cast<uint32_t>(kSpanPages)});
  enter(header.first_page + kSpanPages, {.kind = SpanKind::kEnd, .size_class = 0, .pages = 0});
  op.Copy(kLineBytes, page.data() + kLineBytes, kPageBytes - kLineBytes);
  op.Flush(kLineBytes, kPageBytes - kLineBytes);
  op.Fence();
  op.Copy(0, page.data(), kLineBytes);
  op.Flush(0, kLineBytes);
  op.Fence();
  op.Commit();
}

Result<PoolHeader> DecodePoolHeader(const std::string& path, const Slice& page, uint64_t file_bytes,
                                    const Comparator& comparator) {
  PoolHeader header;
  if (page.size() < kPageBytes || memcmp(page.data(), kPoolMagic, sizeof(kPoolMagic)) != 0) {
    return Status::InvalidArgument(path, "is not a pool of a persistent tree");
  }
  memcpy(&header, page.data(), sizeof(header));
  if (header.byte_order != kByteOrderMark)
    return Status::NotSupported(path, "the pool was made on a machine of another byte order");
  if (header.version != kPoolVersion) {
    return Status::NotSupported(path, StrCat("the pool has version ", header.version,
                                             ", this library reads version ", kPoolVersion));
  }
  if (header.comparator_name_bytes > kComparatorNameBytesMax ||
      HeaderChecksum(page.data(), header.comparator_name_bytes) != header.checksum) {
    return Status::Corruption(path, "the pool's header is damaged (offset 0)");
  }
  const bool plausible = header.pool_bytes >= kPoolBytesMin && header.pool_bytes <= kPoolBytesMax &&
                         header.pool_bytes % kPageBytes == 0 && header.map_offset == kMapOffset &&
                         header.first_page == FirstPageOf(header.pool_bytes) &&
                         header.first_leaf == FirstLeafOf(header.pool_bytes);
  if (!plausible)
    return Status::Corruption(path, "the pool's header contradicts itself (offset 0)");
  if (header.pool_bytes != file_bytes) {
    return Status::Corruption(path, StrCat("the pool was made with ", header.pool_bytes,
                                           " bytes, the file has ", file_bytes));
  }
  const std::string_view name(page.data() + kComparatorNameOffset, header.comparator_name_bytes);
  if (name != comparator.Name()) {
    return Status::InvalidArgument(
        path, StrCat("the pool was made with comparator ", name, ", not ", comparator.Name()));
  }
  return header;
}

}  // namespace ashlar::pmem

// OptionCodec<T>: the text form of values of type T. One specialisation per kind of value;
// OptionTable picks them by the member's type.
//
//   static Status Parse(std::string_view text, T* value);   InvalidArgument: no value of type T
//                                                           NotSupported: only the program can
//                                                           make the value
//   static std::string Print(const T& value);
//
// I1: Parse(Print(v)) == v, except for objects of the program, which have only a name.
// Pure functions.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/table.h"
#include "base/format.h"
#include "base/result.h"
#include "config/option_text.h"

namespace ashlar {

// The name in the text of an object: "Name" of "Name" and of "{id=Name;...}".
std::string ObjectNameIn(std::string_view text);

inline constexpr std::string_view kNullText = "nullptr";
inline bool IsNullText(std::string_view text) { return text.empty() || text == kNullText; }

template <typename T>
struct OptionCodec;

// ---- Plain values

template <>
struct OptionCodec<bool> {
  static Status Parse(std::string_view text, bool* value) {
    if (text != "true" && text != "false" && text != "1" && text != "0")
      return Status::InvalidArgument("not true or false");
    *value = text == "true" || text == "1";
    return Status::OK();
  }
  static std::string Print(bool value) { return value ? "true" : "false"; }
};

// Decimal, with the suffix k, m, g or t for powers of 1024.
template <std::integral T>
struct OptionCodec<T> {
  static Status Parse(std::string_view text, T* value) {
    const bool negative = std::is_signed_v<T> && text.starts_with('-');
    uint64_t magnitude;
    if (!ParseBytes(text.substr(negative ? 1 : 0), &magnitude))
      return Status::InvalidArgument(
          "not a whole number below 2^64, or with another unit than k, m, g or t");
    const uint64_t magnitude_max =
        static_cast<uint64_t>(std::numeric_limits<T>::max()) + (negative ? 1 : 0);
    if (magnitude > magnitude_max)
      return Status::InvalidArgument(
          StrCat("number out of range: ", negative ? "at least -" : "at most ", magnitude_max));
    *value = static_cast<T>(negative ? ~magnitude + 1 : magnitude);
    return Status::OK();
  }
  static std::string Print(T value) { return StrCat(value); }
};

template <>
struct OptionCodec<double> {
  static Status Parse(std::string_view text, double* value) {
    return ParseDouble(text, value) ? Status::OK() : Status::InvalidArgument("not a number");
  }
  static std::string Print(double value) {
    const std::string six_digits = FixedDecimal(value, 6);
    double back;
    return ParseDouble(six_digits, &back) && back == value ? six_digits : StrCat(value);
  }
};

template <>
struct OptionCodec<std::string> {
  static Status Parse(std::string_view text, std::string* value) {
    *value = text;
    return Status::OK();
  }
  static std::string Print(const std::string& value) { return value; }
};

// A union of flags, as its number.
template <>
struct OptionCodec<VerifyOutputFlags> {
  static Status Parse(std::string_view text, VerifyOutputFlags* value) {
    uint32_t number = 0;
    ASHLAR_RETURN_IF_ERROR(OptionCodec<uint32_t>::Parse(text, &number));
    *value = static_cast<VerifyOutputFlags>(number);
    return Status::OK();
  }
  static std::string Print(VerifyOutputFlags value) {
    return OptionCodec<uint32_t>::Print(static_cast<uint32_t>(value));
  }
};

// ---- Enums: by name

// kNames: {value, name}... Print uses the first name of a value. Parse accepts every name.
template <typename E>
struct EnumNames;

template <typename E>
  requires std::is_enum_v<E>
struct OptionCodec<E> {
  static Status Parse(std::string_view text, E* value) {
    std::string known;
    for (const auto& [candidate, name] : EnumNames<E>::kNames) {
      if (text == name) {
        *value = candidate;
        return Status::OK();
      }
      StrAppend(&known, known.empty() ? "" : ", ", name);
    }
    return Status::InvalidArgument(StrCat("none of ", known));
  }
  static std::string Print(E value) {
    for (const auto& [candidate, name] : EnumNames<E>::kNames) {
      if (candidate == value) return name;
    }
    return StrCat(static_cast<int64_t>(value));
  }
};

template <>
struct EnumNames<BlockBasedTableOptions::BlockSearchType> {
  static constexpr std::pair<BlockBasedTableOptions::BlockSearchType, const char*> kNames[] = {
      {BlockBasedTableOptions::kBinary, "kBinary"},
      {BlockBasedTableOptions::kInterpolation, "kInterpolation"},
      {BlockBasedTableOptions::kAuto, "kAuto"}};
};
template <>
struct EnumNames<FileType> {
  static constexpr std::pair<FileType, const char*> kNames[] = {
      {kWalFile, "kWalFile"},           {kDBLockFile, "kDBLockFile"},
      {kTableFile, "kTableFile"},       {kDescriptorFile, "kDescriptorFile"},
      {kCurrentFile, "kCurrentFile"},   {kTempFile, "kTempFile"},
      {kInfoLogFile, "kInfoLogFile"},   {kMetaDatabase, "kMetaDatabase"},
      {kIdentityFile, "kIdentityFile"}, {kOptionsFile, "kOptionsFile"},
      {kBlobFile, "kBlobFile"},         {kCompactionProgressFile, "kCompactionProgressFile"}};
};
template <>
struct EnumNames<CompressionType> {
  static constexpr std::pair<CompressionType, const char*> kNames[] = {
      {kNoCompression, "kNoCompression"},
      {kSnappyCompression, "kSnappyCompression"},
      {kZlibCompression, "kZlibCompression"},
      {kBZip2Compression, "kBZip2Compression"},
      {kLZ4Compression, "kLZ4Compression"},
      {kLZ4HCCompression, "kLZ4HCCompression"},
      {kXpressCompression, "kXpressCompression"},
      {kZSTD, "kZSTD"},
      {kDisableCompressionOption, "kDisableCompressionOption"},
      {kZSTD, "kZSTDNotFinalCompression"},
  };
};
template <>
struct EnumNames<CompactionStyle> {
  static constexpr std::pair<CompactionStyle, const char*> kNames[] = {
      {kCompactionStyleLevel, "kCompactionStyleLevel"},
      {kCompactionStyleUniversal, "kCompactionStyleUniversal"},
      {kCompactionStyleFIFO, "kCompactionStyleFIFO"},
      {kCompactionStyleNone, "kCompactionStyleNone"}};
};
template <>
struct EnumNames<CompactionPri> {
  static constexpr std::pair<CompactionPri, const char*> kNames[] = {
      {kByCompensatedSize, "kByCompensatedSize"},
      {kOldestLargestSeqFirst, "kOldestLargestSeqFirst"},
      {kOldestSmallestSeqFirst, "kOldestSmallestSeqFirst"},
      {kMinOverlappingRatio, "kMinOverlappingRatio"},
      {kRoundRobin, "kRoundRobin"}};
};
template <>
struct EnumNames<CompactionStopStyle> {
  static constexpr std::pair<CompactionStopStyle, const char*> kNames[] = {
      {kCompactionStopStyleSimilarSize, "kCompactionStopStyleSimilarSize"},
      {kCompactionStopStyleTotalSize, "kCompactionStopStyleTotalSize"}};
};
template <>
struct EnumNames<Temperature> {
  static constexpr std::pair<Temperature, const char*> kNames[] = {
      {Temperature::kUnknown, "kUnknown"}, {Temperature::kHot, "kHot"},
      {Temperature::kWarm, "kWarm"},       {Temperature::kCool, "kCool"},
      {Temperature::kCold, "kCold"},       {Temperature::kIce, "kIce"}};
};
template <>
struct EnumNames<WALRecoveryMode> {
  static constexpr std::pair<WALRecoveryMode, const char*> kNames[] = {
      {WALRecoveryMode::kTolerateCorruptedTailRecords, "kTolerateCorruptedTailRecords"},
      {WALRecoveryMode::kAbsoluteConsistency, "kAbsoluteConsistency"},
      {WALRecoveryMode::kPointInTimeRecovery, "kPointInTimeRecovery"},
      {WALRecoveryMode::kSkipAnyCorruptedRecords, "kSkipAnyCorruptedRecords"}};
};
template <>
struct EnumNames<DBOptions::AccessHint> {
  static constexpr std::pair<DBOptions::AccessHint, const char*> kNames[] = {
      {DBOptions::NONE, "NONE"},
      {DBOptions::NORMAL, "NORMAL"},
      {DBOptions::SEQUENTIAL, "SEQUENTIAL"},
      {DBOptions::WILLNEED, "WILLNEED"}};
};
template <>
struct EnumNames<CacheTier> {
  static constexpr std::pair<CacheTier, const char*> kNames[] = {
      {CacheTier::kVolatileTier, "kVolatileTier"},
      {CacheTier::kNonVolatileBlockTier, "kNonVolatileBlockTier"}};
};
template <>
struct EnumNames<InfoLogLevel> {
  static constexpr std::pair<InfoLogLevel, const char*> kNames[] = {
      {DEBUG_LEVEL, "DEBUG_LEVEL"}, {INFO_LEVEL, "INFO_LEVEL"},   {WARN_LEVEL, "WARN_LEVEL"},
      {ERROR_LEVEL, "ERROR_LEVEL"}, {FATAL_LEVEL, "FATAL_LEVEL"}, {HEADER_LEVEL, "HEADER_LEVEL"}};
};
template <>
struct EnumNames<PrepopulateBlobCache> {
  static constexpr std::pair<PrepopulateBlobCache, const char*> kNames[] = {
      {PrepopulateBlobCache::kDisable, "kDisable"},
      {PrepopulateBlobCache::kFlushOnly, "kFlushOnly"}};
};
template <>
struct EnumNames<PinningTier> {
  static constexpr std::pair<PinningTier, const char*> kNames[] = {
      {PinningTier::kFallback, "kFallback"},
      {PinningTier::kNone, "kNone"},
      {PinningTier::kFlushedAndSimilar, "kFlushedAndSimilar"},
      {PinningTier::kAll, "kAll"}};
};
template <>
struct EnumNames<ChecksumType> {
  static constexpr std::pair<ChecksumType, const char*> kNames[] = {{kNoChecksum, "kNoChecksum"},
                                                                    {kCRC32c, "kCRC32c"},
                                                                    {kxxHash, "kxxHash"},
                                                                    {kxxHash64, "kxxHash64"},
                                                                    {kXXH3, "kXXH3"}};
};
template <>
struct EnumNames<BlockBasedTableOptions::IndexType> {
  using E = BlockBasedTableOptions;
  static constexpr std::pair<E::IndexType, const char*> kNames[] = {
      {E::kBinarySearch, "kBinarySearch"},
      {E::kHashSearch, "kHashSearch"},
      {E::kTwoLevelIndexSearch, "kTwoLevelIndexSearch"},
      {E::kBinarySearchWithFirstKey, "kBinarySearchWithFirstKey"}};
};
template <>
struct EnumNames<BlockBasedTableOptions::DataBlockIndexType> {
  using E = BlockBasedTableOptions;
  static constexpr std::pair<E::DataBlockIndexType, const char*> kNames[] = {
      {E::kDataBlockBinarySearch, "kDataBlockBinarySearch"},
      {E::kDataBlockBinaryAndHash, "kDataBlockBinaryAndHash"}};
};
template <>
struct EnumNames<BlockBasedTableOptions::IndexShorteningMode> {
  using E = BlockBasedTableOptions::IndexShorteningMode;
  static constexpr std::pair<E, const char*> kNames[] = {
      {E::kNoShortening, "kNoShortening"},
      {E::kShortenSeparators, "kShortenSeparators"},
      {E::kShortenSeparatorsAndSuccessor, "kShortenSeparatorsAndSuccessor"}};
};
template <>
struct EnumNames<BlockBasedTableOptions::PrepopulateBlockCache> {
  using E = BlockBasedTableOptions::PrepopulateBlockCache;
  // The format's reference release has no name for kFlushAndCompaction, so Print uses the name of
  // the most similar value.
  static constexpr std::pair<E, const char*> kNames[] = {
      {E::kDisable, "kDisable"},
      {E::kFlushOnly, "kFlushOnly"},
      {E::kFlushAndCompaction, "kFlushOnly"},
      {E::kFlushAndCompaction, "kFlushAndCompaction"}};
};

template <>
struct EnumNames<EncodingType> {
  static constexpr std::pair<EncodingType, const char*> kNames[] = {{kPlain, "kPlain"},
                                                                    {kPrefix, "kPrefix"}};
};

// ---- Lists: "1:2:3"

template <typename T>
  requires(std::integral<T> || std::is_enum_v<T>)
struct OptionCodec<std::vector<T>> {
  static Status Parse(std::string_view text, std::vector<T>* value) {
    std::vector<T> parsed;
    while (!text.empty()) {
      const size_t end = std::min(text.find(':'), text.size());
      ASHLAR_RETURN_IF_ERROR(
          OptionCodec<T>::Parse(TrimSpaces(text.substr(0, end)), &parsed.emplace_back()));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    *value = std::move(parsed);
    return Status::OK();
  }
  static std::string Print(const std::vector<T>& value) {
    std::string out;
    for (const T& element : value)
      StrAppend(&out, out.empty() ? "" : ":", OptionCodec<T>::Print(element));
    return out;
  }
};

// A set of enumerators: a list of them.
template <typename E, E kMax>
struct OptionCodec<SmallEnumSet<E, kMax>> {
  static Status Parse(std::string_view text, SmallEnumSet<E, kMax>* value) {
    std::vector<E> elements;
    ASHLAR_RETURN_IF_ERROR(OptionCodec<std::vector<E>>::Parse(text, &elements));
    SmallEnumSet<E, kMax> parsed;
    for (const E element : elements) parsed.Add(element);
    *value = parsed;
    return Status::OK();
  }
  static std::string Print(const SmallEnumSet<E, kMax>& value) {
    std::vector<E> elements;
    for (int number = 0; number <= static_cast<int>(kMax); ++number) {
      if (value.Contains(static_cast<E>(number))) elements.push_back(static_cast<E>(number));
    }
    return OptionCodec<std::vector<E>>::Print(elements);
  }
};

// ---- Objects: by id. Parse can make the library's own objects, but not the program's.

template <>
struct OptionCodec<const Comparator*> {
  static Status Parse(std::string_view text, const Comparator** value);
  static std::string Print(const Comparator* value);
};
template <>
struct OptionCodec<std::shared_ptr<MergeOperator>> {
  static Status Parse(std::string_view text, std::shared_ptr<MergeOperator>* value);
  static std::string Print(const std::shared_ptr<MergeOperator>& value);
};
template <>
struct OptionCodec<std::shared_ptr<const SliceTransform>> {
  static Status Parse(std::string_view text, std::shared_ptr<const SliceTransform>* value);
  static std::string Print(const std::shared_ptr<const SliceTransform>& value);
};
template <>
struct OptionCodec<std::shared_ptr<MemTableRepFactory>> {
  static Status Parse(std::string_view text, std::shared_ptr<MemTableRepFactory>* value);
  static std::string Print(const std::shared_ptr<MemTableRepFactory>& value);
};
template <>
struct OptionCodec<std::shared_ptr<const FilterPolicy>> {
  static Status Parse(std::string_view text, std::shared_ptr<const FilterPolicy>* value);
  static std::string Print(const std::shared_ptr<const FilterPolicy>& value);
};
// Prints only the name, because the file has a separate section for the options. Other text may
// include them: "{id=BlockBasedTable;block_size=8k}".
template <>
struct OptionCodec<std::shared_ptr<TableFactory>> {
  static Status Parse(std::string_view text, std::shared_ptr<TableFactory>* value);
  static std::string Print(const std::shared_ptr<TableFactory>& value);
};
// "64m", or "{capacity=64m;strict_capacity_limit=true}".
template <>
struct OptionCodec<std::shared_ptr<Cache>> {
  static Status Parse(std::string_view text, std::shared_ptr<Cache>* value);
  static std::string Print(const std::shared_ptr<Cache>& value);
};
// Objects that only the program can make. Print returns their names.
template <>
struct OptionCodec<const CompactionFilter*> {
  static Status Parse(std::string_view text, const CompactionFilter** value);
  static std::string Print(const CompactionFilter* value);
};
template <>
struct OptionCodec<std::shared_ptr<CompactionFilterFactory>> {
  static Status Parse(std::string_view text, std::shared_ptr<CompactionFilterFactory>* value);
  static std::string Print(const std::shared_ptr<CompactionFilterFactory>& value);
};
template <>
struct OptionCodec<std::shared_ptr<SstPartitionerFactory>> {
  static Status Parse(std::string_view text, std::shared_ptr<SstPartitionerFactory>* value);
  static std::string Print(const std::shared_ptr<SstPartitionerFactory>& value);
};

template <>
struct OptionCodec<std::shared_ptr<FileChecksumGenFactory>> {
  static Status Parse(std::string_view text, std::shared_ptr<FileChecksumGenFactory>* value);
  static std::string Print(const std::shared_ptr<FileChecksumGenFactory>& value);
};

// Objects of classes that this release does not have. Only null has a text.
template <typename T>
struct AbsentObjectCodec {
  static Status Parse(std::string_view text, T* value) {
    if (!IsNullText(text)) return Status::NotSupported("cannot be made from text");
    *value = nullptr;
    return Status::OK();
  }
  static std::string Print(const T& value) {
    return value == nullptr ? std::string(kNullText) : std::string("an object of the program");
  }
};
template <typename T>
struct OptionCodec<T*> : AbsentObjectCodec<T*> {};
template <typename T>
struct OptionCodec<std::shared_ptr<T>> : AbsentObjectCodec<std::shared_ptr<T>> {};

// Lists of objects, and functions.
template <typename T>
struct OptionCodec<std::vector<std::shared_ptr<T>>> {
  using List = std::vector<std::shared_ptr<T>>;
  static Status Parse(std::string_view text, List* value) {
    if (!IsNullText(text)) return Status::NotSupported("cannot be made from text");
    value->clear();
    return Status::OK();
  }
  static std::string Print(const List& value) {
    return value.empty() ? "" : "objects of the program";
  }
};
template <>
struct OptionCodec<std::vector<DbPath>> {
  static Status Parse(std::string_view text, std::vector<DbPath>* value) {
    // Paths in a file are never followed. The program sets them.
    if (!IsNullText(text)) return Status::NotSupported("paths are not taken from text");
    value->clear();
    return Status::OK();
  }
  static std::string Print(const std::vector<DbPath>& value) {
    std::string out;
    for (const DbPath& path : value) StrAppend(&out, out.empty() ? "" : ":", path.path);
    return out;
  }
};

}  // namespace ashlar

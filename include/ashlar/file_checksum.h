// Checksums of whole files. With DBOptions::file_checksum_gen_factory every new table has one. It
// is computed while the table is written and recorded in the MANIFEST. It does not depend on the
// program that computes it, so a table can be verified wherever it is stored or sent.
//
// DB::VerifyFileChecksums, ingestions and backups compare tables with their recorded checksums.
//
// Thread safety: a generator is used by one thread at a time, a factory by several at once, a list
// by one. Generators and factories must not throw. Lifetime: the database shares its factory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

// The values for a file without a recorded checksum.
inline constexpr char kUnknownFileChecksum[] = "";
inline constexpr char kUnknownFileChecksumFuncName[] = "Unknown";
// The function of GetFileChecksumGenCrc32cFactory.
inline constexpr char kStandardDbFileChecksumFuncName[] = "FileChecksumCrc32c";

struct FileChecksumGenContext {
  std::string file_name;  // with its directory
  // The function of the checksum recorded for an existing file. Empty: the factory chooses.
  std::string requested_checksum_func_name;
};

// Computes the checksum of one file: Update (any number of times), then Finalize once, then
// GetChecksum.
class ASHLAR_API FileChecksumGenerator {
 public:
  virtual ~FileChecksumGenerator() = default;

  // The next n bytes of the file.
  virtual void Update(const char* data, size_t n) = 0;
  virtual void Finalize() = 0;
  // At least one byte, because an empty checksum means that there is none.
  virtual std::string GetChecksum() const = 0;
  // The name of the function, which is recorded with each checksum.
  virtual const char* Name() const = 0;
};

class ASHLAR_API FileChecksumGenFactory : public Customizable {
 public:
  static const char* Type() { return "FileChecksumGenFactory"; }
  // Creates it from its text in an OPTIONS file: "FileChecksumGenCrc32cFactory", or "nullptr" for
  // none. NotSupported: only a program can create the factory.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<FileChecksumGenFactory>* result);

  // Returns null if the factory does not have the requested function or, if none is requested, if
  // the file is to have no checksum.
  virtual std::unique_ptr<FileChecksumGenerator> CreateFileChecksumGenerator(
      const FileChecksumGenContext& context) = 0;
  // Written into the OPTIONS file.
  const char* Name() const override = 0;
};

// The checksums of files by file number.
class ASHLAR_API FileChecksumList {
 public:
  virtual ~FileChecksumList() = default;

  virtual void reset() = 0;
  virtual size_t size() const = 0;
  // Appends to the three vectors, in the same order. InvalidArgument: a pointer is null.
  virtual Status GetAllFileChecksums(std::vector<uint64_t>* file_numbers,
                                     std::vector<std::string>* checksums,
                                     std::vector<std::string>* checksum_func_names) = 0;
  // NotFound: the list does not have the file.
  virtual Status SearchOneFileChecksum(uint64_t file_number, std::string* checksum,
                                       std::string* checksum_func_name) = 0;
  // Adds the entry of the file, or replaces it.
  virtual Status InsertOneFileChecksum(uint64_t file_number, const std::string& checksum,
                                       const std::string& checksum_func_name) = 0;
  // NotFound: the list does not have the file.
  virtual Status RemoveOneFileChecksum(uint64_t file_number) = 0;
};

// The caller owns the list.
ASHLAR_API FileChecksumList* NewFileChecksumList();

// The CRC32C of all bytes: 4 bytes, big-endian. All callers share one object.
ASHLAR_API std::shared_ptr<FileChecksumGenFactory> GetFileChecksumGenCrc32cFactory();

}  // namespace ashlar

// The library's own checksum of files, and the list of checksums.
#include "ashlar/file_checksum.h"

#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "base/crc32c.h"
#include "config/option_codec.h"
#include "filesystem/file_checksum.h"

namespace ashlar {

namespace {

class Crc32cGenerator final : public FileChecksumGenerator {
 public:
  void Update(const char* data, size_t n) override { crc_ = crc32c::Extend(crc_, data, n); }
  void Finalize() override {
    ASHLAR_ASSERT(checksum_.empty());  // called once
    checksum_ = StandardChecksum(crc_);
  }
  std::string GetChecksum() const override { return checksum_; }
  const char* Name() const override { return kStandardDbFileChecksumFuncName; }

 private:
  uint32_t crc_ = 0;
  std::string checksum_;
};

class Crc32cFactory final : public FileChecksumGenFactory {
 public:
  static constexpr char kName[] = "FileChecksumGenCrc32cFactory";

  std::unique_ptr<FileChecksumGenerator> CreateFileChecksumGenerator(
      const FileChecksumGenContext& context) override {
    const std::string& function = context.requested_checksum_func_name;
    if (!function.empty() && function != kStandardDbFileChecksumFuncName) return nullptr;
    return std::make_unique<Crc32cGenerator>();
  }
  const char* Name() const override { return kName; }
};

class ChecksumList final : public FileChecksumList {
 public:
  void reset() override { checksums_.clear(); }
  size_t size() const override { return checksums_.size(); }

  Status GetAllFileChecksums(std::vector<uint64_t>* file_numbers,
                             std::vector<std::string>* checksums,
                             std::vector<std::string>* checksum_func_names) override {
    if (file_numbers == nullptr || checksums == nullptr || checksum_func_names == nullptr)
      return NullPointer();
    for (const auto& [number, checksum] : checksums_) {
      file_numbers->push_back(number);
      checksums->push_back(checksum.first);
      checksum_func_names->push_back(checksum.second);
    }
    return Status::OK();
  }

  Status SearchOneFileChecksum(uint64_t file_number, std::string* checksum,
                               std::string* checksum_func_name) override {
    if (checksum == nullptr || checksum_func_name == nullptr) return NullPointer();
    const auto found = checksums_.find(file_number);
    if (found == checksums_.end()) return Status::NotFound();
    *checksum = found->second.first;
    *checksum_func_name = found->second.second;
    return Status::OK();
  }

  Status InsertOneFileChecksum(uint64_t file_number, const std::string& checksum,
                               const std::string& checksum_func_name) override {
    checksums_[file_number] = {checksum, checksum_func_name};
    return Status::OK();
  }

  Status RemoveOneFileChecksum(uint64_t file_number) override {
    return checksums_.erase(file_number) > 0 ? Status::OK() : Status::NotFound();
  }

 private:
  static Status NullPointer() { return Status::InvalidArgument("a pointer is null"); }

  std::unordered_map<uint64_t, std::pair<std::string, std::string>> checksums_;  // and functions
};

}  // namespace

FileChecksumList* NewFileChecksumList() { return new ChecksumList(); }

std::shared_ptr<FileChecksumGenFactory> GetFileChecksumGenCrc32cFactory() {
  static const std::shared_ptr<FileChecksumGenFactory> factory = std::make_shared<Crc32cFactory>();
  return factory;
}

Status FileChecksumGenFactory::CreateFromString(const ConfigOptions& /*config_options*/,
                                                const std::string& value,
                                                std::shared_ptr<FileChecksumGenFactory>* result) {
  return OptionCodec<std::shared_ptr<FileChecksumGenFactory>>::Parse(value, result);
}

}  // namespace ashlar

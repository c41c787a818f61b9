// No library: the cost of a workload whose calls do nothing.
#include "bench/driver/engines.h"

namespace ashlar::bench {

namespace {

constexpr char kValue[8] = {};

class NoneSession : public Session {
 public:
  void Put(std::string_view key, std::string_view value) override {
    sink_.Add(key.data(), value.size() > 8 ? 8 : value.size());
  }
  void Merge(std::string_view key, std::string_view operand) override { Put(key, operand); }
  void Get(std::string_view /*key*/, Tally* tally) override { tally->Add(kValue, sizeof(kValue)); }
  void GetCopied(std::string_view key, Tally* tally) override { Get(key, tally); }
  void MultiGet(std::span<const std::string_view> keys, Tally* tally) override {
    for (const std::string_view key : keys) Get(key, tally);
  }
  void Seek(std::string_view /*key*/, uint64_t next, Tally* tally) override {
    ScanForward(next + 1, tally);
  }
  void SeekKept(std::string_view key, uint64_t next, Tally* tally) override {
    Seek(key, next, tally);
  }
  void SeekPrefix(std::string_view key, size_t /*prefix_bytes*/, Tally* tally) override {
    Get(key, tally);
  }
  uint64_t ScanForward(uint64_t limit, Tally* tally) override {
    for (uint64_t i = 0; i < limit; i++) tally->Add(kValue, sizeof(kValue));
    return limit;
  }
  uint64_t ScanBackward(uint64_t limit, Tally* tally) override { return ScanForward(limit, tally); }
  uint64_t HashContents() override { return 0; }

 private:
  Tally sink_;
};

class NoneEngine : public Engine {
 public:
  std::unique_ptr<Session> NewSession(const SessionOptions& /*options*/) override {
    return std::make_unique<NoneSession>();
  }
  void Flush() override {}
  void CompactAll() override {}
  void WaitForBackgroundWork() override {}
  std::optional<Background> RunningNow() override { return std::nullopt; }
};

}  // namespace

std::unique_ptr<Engine> OpenNone(const EngineOptions& /*options*/) {
  return std::make_unique<NoneEngine>();
}

}  // namespace ashlar::bench

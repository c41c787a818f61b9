#include "tests/support/history_client.h"

#include "base/format.h"

namespace ashlar::test {
namespace {

std::optional<std::string> ValueIn(const HistoryContents& contents, const std::string& key) {
  const auto it = contents.find(key);
  return it == contents.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace

HistoryClient::HistoryClient(HistoryRecorder* recorder, uint64_t keys, uint64_t seed)
    : log_(recorder), keys_(keys), random_(seed), name_(std::to_string(seed)) {}

void HistoryClient::Run(int calls) {
  for (int i = 0; i < calls; ++i) {
    const std::string key = KeyOf(random_.Uniform(keys_));
    Call(random_.Uniform(kKinds), key, StrCat(name_, ".", i));
  }
}

std::string HistoryClient::KeyOf(uint64_t number) { return StrCat("key", number); }
std::string HistoryClient::PairOf(const std::string& key) { return "pair of " + key; }

HistoryClient::Value HistoryClient::Found(const Status& status, const Slice& value) {
  if (status.ok()) return value.ToString();
  EXPECT_TRUE(status.IsNotFound()) << status.ToString();
  return {};
}

void ExpectLinearizable(const std::vector<std::unique_ptr<HistoryClient>>& clients,
                        const HistoryContents& before, const HistoryContents& after) {
  CallsByKey calls;
  for (const auto& client : clients) {
    for (const auto& [key, own] : client->calls())
      calls[key].insert(calls[key].end(), own.begin(), own.end());
  }
  for (auto& [key, of_key] : calls) {
    of_key.push_back({.kind = RecordedCall::Kind::kGet,
                      .value = ValueIn(after, key),
                      .begin = UINT64_MAX - 1,
                      .end = UINT64_MAX});
    EXPECT_EQ(CheckLinearizable(of_key, ValueIn(before, key)), "")
        << key << ", " << of_key.size() << " calls";
  }
}

}  // namespace ashlar::test

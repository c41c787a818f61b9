#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/merge_operator.h"
#include "filesystem/memory_file_system.h"
#include "tests/fuzz/all.h"
#include "tests/support/manual_env.h"
#include "ttl/ttl_merge_operator.h"
#include "ttl/ttl_value.h"

namespace ashlar::fuzz {
namespace {

constexpr uint8_t kOperators = 4;
constexpr uint8_t kWithTtl = 4;
constexpr uint8_t kWithValue = 8;
constexpr size_t kOperandsMax = 64;

std::shared_ptr<MergeOperator> OperatorOf(uint8_t choice) {
  switch (choice % kOperators) {
    case 0: return MergeOperators::CreateStringAppendOperator(',');
    case 1: return MergeOperators::CreateUInt64AddOperator();
    case 2: return MergeOperators::CreatePutOperator();
    default: return MergeOperators::CreateMaxOperator();
  }
}

// Returns null if the merge fails.
std::unique_ptr<std::string> Merge(const MergeOperator& merge_operator, const Slice* value,
                                   const std::vector<Slice>& operands) {
  auto merged = std::make_unique<std::string>();
  Slice existing(nullptr, 0);
  MergeOperator::MergeOperationOutput out(*merged, existing);
  if (!merge_operator.FullMergeV2(
          MergeOperator::MergeOperationInput("key", value, operands, nullptr), &out))
    return nullptr;
  if (existing.data() != nullptr) *merged = existing.ToString();
  return merged;
}

void Append(std::string* input, const Slice& operand) {
  input->push_back(static_cast<char>(operand.size()));
  input->append(operand.data(), operand.size());
}

}  // namespace

// ---- Stored values and operands, as the operators of the library and a DBWithTTL receive them.
// Byte 0 chooses the operator, whether it belongs to a DBWithTTL, and whether the first operand is
// a value. The operands follow, each after its length.

Seeds SeedOperands() {
  Seeds seeds;
  for (uint8_t choice = 0; choice < 16; ++choice) {
    std::string input(1, static_cast<char>(choice));
    for (const Slice& operand : {Slice("\x01\0\0\0\0\0\0\0", 8), Slice("text"), Slice()}) {
      std::string stored = operand.ToString();
      if ((choice & kWithTtl) != 0) AppendTtlSuffix(kTtlFirstSecond + 5, &stored);
      Append(&input, stored);
    }
    seeds.push_back(input);
  }
  return seeds;
}

bool RunOperands(const std::string& input) {
  Choices choices(input);
  const uint8_t choice = choices.Byte();
  const bool with_ttl = (choice & kWithTtl) != 0;
  ManualEnv env(std::make_shared<MemoryFileSystem>(), 1);
  std::shared_ptr<MergeOperator> merge_operator = OperatorOf(choice);
  if (with_ttl) merge_operator = std::make_shared<TtlMergeOperator>(&env, merge_operator);
  std::vector<std::string> stored;
  while (!choices.empty() && stored.size() < kOperandsMax)
    stored.push_back(choices.Bytes(choices.Byte()));
  const bool with_value = (choice & kWithValue) != 0 && !stored.empty();
  std::vector<Slice> operands(stored.begin(), stored.end());
  Slice value;
  if (with_value) {
    value = operands.front();
    operands.erase(operands.begin());
  }
  if (operands.empty()) return false;
  static_cast<void>(merge_operator->ShouldMerge(operands));
  const Slice* const base = with_value ? &value : nullptr;
  const std::unique_ptr<std::string> whole = Merge(*merge_operator, base, operands);
  bool all_end_in_times = !with_value || HasTtlSuffix(value);
  for (const Slice& operand : operands) all_end_in_times &= HasTtlSuffix(operand);
  EXPECT_RIGHT((whole != nullptr) == (!with_ttl || all_end_in_times),
               "the times of the values do not decide");
  if (whole == nullptr) return false;
  EXPECT_RIGHT(!with_ttl || HasTtlSuffix(*whole), "a merge without a time");
  // The result does not depend on the time at which operands are combined.
  for (size_t first = 2; first <= operands.size(); first += 1 + operands.size() / 4) {
    std::string partial;
    if (!merge_operator->PartialMergeMulti(
            "key", std::deque<Slice>(operands.begin(), operands.begin() + static_cast<long>(first)),
            &partial, nullptr))
      continue;
    std::vector<Slice> rest(operands.begin() + static_cast<long>(first) - 1, operands.end());
    rest.front() = partial;
    const std::unique_ptr<std::string> combined = Merge(*merge_operator, base, rest);
    EXPECT_RIGHT(combined != nullptr && *combined == *whole, "combined earlier, another result");
  }
  return true;
}

}  // namespace ashlar::fuzz

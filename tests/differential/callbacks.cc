#include "tests/differential/callbacks.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

namespace ashlar::differential {

namespace {

int Sign(std::string_view a, std::string_view b) {
  const int order = a.compare(b);
  return order < 0 ? -1 : order > 0;
}

int CompareReverse(std::string_view a, std::string_view b) { return Sign(b, a); }

int CompareNumeric(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return Sign(a, b);
}

template <int (*compare)(std::string_view, std::string_view)>
int CompareBytes(void*, const char* a, size_t a_bytes, const char* b, size_t b_bytes) {
  return compare({a, a_bytes}, {b, b_bytes});
}

void KeepState(void*) {}

const char* NameOf(void* state) { return static_cast<const char*>(state); }

// The state of an object is its name, which nothing writes to.
void* NameState(const char* name) { return const_cast<char*>(name); }

// The libraries free results with free().
char* Give(const std::string& result, Bool* success, size_t* bytes) {
  char* const copy = static_cast<char*>(std::malloc(result.size() + 1));
  if (copy == nullptr) std::abort();
  std::memcpy(copy, result.data(), result.size());
  *success = 1;
  *bytes = result.size();
  return copy;
}

char* Refuse(Bool* success, size_t* bytes) {
  *success = 0;
  *bytes = 0;
  return nullptr;
}

std::string Append(std::string result, bool first, const char* const* operands,
                   const size_t* operand_bytes, int operand_count) {
  for (int i = 0; i < operand_count; i++) {
    if (!first) result += ',';
    first = false;
    result.append(operands[i], operand_bytes[i]);
  }
  return result;
}

char* AppendAll(void*, const char*, size_t, const char* existing, size_t existing_bytes,
                const char* const* operands, const size_t* operand_bytes, int operand_count,
                Bool* success, size_t* bytes) {
  std::string result;
  if (existing != nullptr) result.assign(existing, existing_bytes);
  return Give(
      Append(std::move(result), existing == nullptr, operands, operand_bytes, operand_count),
      success, bytes);
}

char* AppendSome(void*, const char*, size_t, const char* const* operands,
                 const size_t* operand_bytes, int operand_count, Bool* success, size_t* bytes) {
  return Give(Append({}, true, operands, operand_bytes, operand_count), success, bytes);
}

char* AppendNone(void*, const char*, size_t, const char* const*, const size_t*, int, Bool* success,
                 size_t* bytes) {
  return Refuse(success, bytes);
}

std::string Largest(std::string_view largest, const char* const* operands,
                    const size_t* operand_bytes, int operand_count) {
  for (int i = 0; i < operand_count; i++)
    largest = std::max(largest, std::string_view(operands[i], operand_bytes[i]));
  return std::string(largest);
}

char* MaxAll(void*, const char*, size_t, const char* existing, size_t existing_bytes,
             const char* const* operands, const size_t* operand_bytes, int operand_count,
             Bool* success, size_t* bytes) {
  const std::string_view first =
      existing == nullptr ? std::string_view() : std::string_view(existing, existing_bytes);
  return Give(Largest(first, operands, operand_bytes, operand_count), success, bytes);
}

char* MaxSome(void*, const char*, size_t, const char* const* operands, const size_t* operand_bytes,
              int operand_count, Bool* success, size_t* bytes) {
  return Give(Largest({}, operands, operand_bytes, operand_count), success, bytes);
}

void FreeResult(void*, const char* value, size_t) { std::free(const_cast<char*>(value)); }

}  // namespace

bool SetComparator(const Functions& functions, std::string_view name, Options* options) {
  if (name == "bytewise") return true;
  // Options refer to a comparator without owning it, so these live as long as the process.
  static DbComparator* const reverse =
      functions.comparator_create(NameState("rocksdb.ReverseBytewiseComparator"), KeepState,
                                  CompareBytes<CompareReverse>, NameOf);
  static DbComparator* const numeric = functions.comparator_create(
      NameState("differential.Numeric"), KeepState, CompareBytes<CompareNumeric>, NameOf);
  if (name != "reverse" && name != "numeric") return false;
  functions.options_set_comparator(options, name == "reverse" ? reverse : numeric);
  return true;
}

int CompareKeys(std::string_view comparator, std::string_view a, std::string_view b) {
  if (comparator == "reverse") return CompareReverse(a, b);
  if (comparator == "numeric") return CompareNumeric(a, b);
  return Sign(a, b);
}

bool SetMergeOperator(const Functions& functions, std::string_view name, Options* options) {
  if (name == "-") return true;
  MergeOperator* created = nullptr;
  if (name == "append") {
    created = functions.mergeoperator_create(NameState("differential.Append"), KeepState, AppendAll,
                                             AppendSome, FreeResult, NameOf);
  } else if (name == "full") {
    created = functions.mergeoperator_create(NameState("differential.AppendFull"), KeepState,
                                             AppendAll, AppendNone, FreeResult, NameOf);
  } else if (name == "max") {
    created = functions.mergeoperator_create(NameState("differential.Max"), KeepState, MaxAll,
                                             MaxSome, FreeResult, NameOf);
  } else {
    return false;
  }
  functions.options_set_merge_operator(options, created);
  return true;
}

}  // namespace ashlar::differential

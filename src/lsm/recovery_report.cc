#include "lsm/recovery_report.h"

#include "base/format.h"

namespace ashlar {

uint64_t RecoveryReport::BytesNotReplayed() const {
  uint64_t bytes = 0;
  for (const Loss& loss : losses) bytes += loss.bytes;
  return bytes;
}

std::vector<uint64_t> RecoveryReport::DamagedLogs() const {
  std::vector<uint64_t> numbers;
  for (const Loss& loss : losses) {
    if (!loss.is_torn_tail && (numbers.empty() || numbers.back() != loss.number))
      numbers.push_back(loss.number);
  }
  return numbers;
}

std::string RecoveryReport::DamageText() const {
  std::string text;
  for (const Loss& loss : losses) {
    if (!loss.is_torn_tail)
      StrAppend(&text, loss.reason, ": ", loss.bytes, " bytes from offset ", loss.offset,
                " are not replayed\n");
  }
  return text;
}

std::string RecoveryReport::DamageReasons() const {
  std::string text;
  for (const Loss& loss : losses) {
    if (!loss.is_torn_tail) StrAppend(&text, loss.reason, "\n");
  }
  return text;
}

void RecoveryReport::NoTornTails() {
  for (Loss& loss : losses) loss.is_torn_tail = false;
}

}  // namespace ashlar

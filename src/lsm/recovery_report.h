// RecoveryReport: the findings of a recovery in the logs, and the records that it could not replay.
//
//   log    record | record | damage ...... | end
//                            '---- loss ---'
//
// A loss begins at the end of the last record that was replayed. It ends at the last byte that is
// not zero, at the next record that was replayed, or where a recycled log holds an older one.
// A loss is a torn tail if nothing was dropped after it. A process that dies, or a power cut,
// leaves it at the end of the last log, and it holds no write that was acknowledged as durable.
// Every other loss is damage, and the log is kept (lost_files.h).
//
// Lifetime: the DatabaseState's. Thread safety: none while it is filled. Then the database mutex
// guards it (DatabaseState::recovery), because a promotion of a secondary replaces it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ashlar {

struct RecoveryReport {
  struct Loss {
    uint64_t number = 0;  // of the log
    uint64_t offset = 0;
    uint64_t bytes = 0;
    bool is_torn_tail = false;
    std::string reason;  // names the log and the offset
  };

  uint64_t BytesNotReplayed() const;
  // The logs with damage, ascending.
  std::vector<uint64_t> DamagedLogs() const;
  // One line for each loss that is damage: the reason, the bytes and the offset.
  std::string DamageText() const;
  // Only the reasons, so that the same damage gives the same text, even if the log has grown.
  std::string DamageReasons() const;
  // Turns torn tails into damage, because later records were dropped.
  void NoTornTails();

  std::vector<uint64_t> logs;          // that were replayed, ascending
  std::vector<Loss> losses;            // by log, then by offset
  std::vector<std::string> warnings;   // for the LOG
  std::vector<std::string> kept_logs;  // copies of damaged logs
  bool must_flush = false;  // replayed records have to reach tables before a new one is logged
};

}  // namespace ashlar

// The public calls of DB that run against each other, one entry each, and those of Checkpoint and
// BackupEngine, which are built on them. A test of pairs_test.cc checks that no method of DB is
// left out.
//
// Thread safety: a call is made by several threads at once, each with its CallArgs.
#pragma once

#include <string_view>
#include <vector>

#include "tests/concurrency/scene.h"

namespace ashlar {

struct CallArgs {
  Scene* scene = nullptr;
  Random* random = nullptr;
  // Identifies the thread, which has keys and directories of its own.
  size_t thread = 0;
  // Increases with each call of the thread.
  uint64_t number = 0;

  DB* db() const { return scene->db(); }
};

struct Call {
  const char* name;
  // The virtual methods of DB that it calls.
  std::vector<std::string_view> methods;
  void (*run)(const CallArgs& args);
};

const std::vector<Call>& Calls();
// The position of the call that closes the database.
size_t ClosingCall();

}  // namespace ashlar

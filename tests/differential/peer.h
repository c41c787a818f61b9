// Peer: a library in a process of its own, which answers lines (database.h).
//
// The process is this program, started again. A library that crashes or hangs loses its process.
// The answer reports it, and the next line starts a new process.
//
// Thread safety: none.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace ashlar::differential {

class Peer {
 public:
  // `name` is for reports, and `library` is the argument of dlopen.
  Peer(std::string name, std::string library)
      : name_(std::move(name)), library_(std::move(library)) {}
  ~Peer() { Kill(); }

  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const std::string& name() const { return name_; }
  const std::string& library() const { return library_; }

  // Sends lines without waiting. Their bytes together must fit into a pipe (kLinesBytesMax), and
  // each must be answered before more are sent.
  void Send(const std::string& lines);
  // Returns the answer to the next line, or "died ..." or "hangs" if there is none.
  std::string Receive();

  // Ends the process with SIGKILL, if there is one.
  void Kill();

  static constexpr size_t kLinesBytesMax = 32 << 10;

 private:
  void Start();
  std::string Bury();

  const std::string name_;
  const std::string library_;
  pid_t pid_ = 0;  // 0: no process
  int to_ = -1, from_ = -1;
  std::string received_;
};

// The other end: answers lines on standard input until it ends.
int RunPeer(const std::string& library);

}  // namespace ashlar::differential

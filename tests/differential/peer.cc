#include "tests/differential/peer.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "tests/differential/database.h"
#include "tests/differential/functions.h"

namespace ashlar::differential {

namespace {

constexpr int kAnswerMillisecondsMax = 120000;

void Require(bool condition, const char* what) {
  if (condition) return;
  std::perror(what);
  std::exit(1);
}

}  // namespace

void Peer::Start() {
  int down[2], up[2];
  Require(::pipe2(down, O_CLOEXEC) == 0 && ::pipe2(up, O_CLOEXEC) == 0, "pipe");
  pid_ = ::fork();
  Require(pid_ >= 0, "fork");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(down[0], STDIN_FILENO);
    ::dup2(up[1], STDOUT_FILENO);
    ::execl("/proc/self/exe", "differential", "--peer", library_.c_str(), nullptr);
    std::perror("exec");
    ::_exit(1);
  }
  ::close(down[0]);
  ::close(up[1]);
  to_ = down[1];
  from_ = up[0];
}

void Peer::Send(const std::string& lines) {
  if (pid_ == 0) Start();
  for (size_t sent = 0; sent < lines.size();) {
    const ssize_t bytes = ::write(to_, lines.data() + sent, lines.size() - sent);
    if (bytes <= 0) return;  // it died, which Receive reports
    sent += static_cast<size_t>(bytes);
  }
}

std::string Peer::Receive() {
  if (pid_ == 0) return "died before";
  while (true) {
    const size_t end = received_.find('\n');
    if (end != std::string::npos) {
      std::string answer = received_.substr(0, end);
      received_.erase(0, end + 1);
      return answer;
    }
    pollfd waited = {.fd = from_, .events = POLLIN, .revents = 0};
    if (::poll(&waited, 1, kAnswerMillisecondsMax) == 0) {
      Kill();
      return "hangs";
    }
    char buffer[8192];
    const ssize_t bytes = ::read(from_, buffer, sizeof(buffer));
    if (bytes <= 0) return Bury();
    received_.append(buffer, static_cast<size_t>(bytes));
  }
}

std::string Peer::Bury() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  ::close(to_);
  ::close(from_);
  pid_ = 0;
  received_.clear();
  if (WIFSIGNALED(status)) return "died of signal " + std::to_string(WTERMSIG(status));
  return "died with code " + std::to_string(WEXITSTATUS(status));
}

void Peer::Kill() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  Bury();
}

int RunPeer(const std::string& library) {
  const Functions functions(library);
  Database database(functions);
  std::string line;
  // Standard output is flushed when no further line is available yet.
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);
  while (std::getline(std::cin, line)) {
    std::cout << database.Execute(line) << '\n';
    if (std::cin.rdbuf()->in_avail() <= 0) std::cout.flush();
  }
  std::cout.flush();
  return 0;
}

}  // namespace ashlar::differential

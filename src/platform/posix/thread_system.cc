#include "platform/thread_system.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ashlar {

void DescribeCurrentThread(const ThreadOptions& options) {
  constexpr size_t kNameBytesMax = 15;
  pthread_setname_np(pthread_self(), options.name.substr(0, kNameBytesMax).c_str());
  constexpr int kBackgroundNiceness = 10;
  // On Linux the niceness belongs to the thread.
  if (options.priority == ThreadPriority::kBackground)
    setpriority(PRIO_PROCESS, static_cast<id_t>(CurrentThreadSystemId()), kBackgroundNiceness);
}

// On Linux the niceness, the scheduling class and the I/O class belong to the thread.

namespace {
constexpr int kLowNiceness = 19;
}  // namespace

CpuShare CurrentCpuShare() {
  if (sched_getscheduler(0) == SCHED_IDLE) return CpuShare::kIdle;
  const int niceness = getpriority(PRIO_PROCESS, static_cast<id_t>(CurrentThreadSystemId()));
  return niceness >= kLowNiceness ? CpuShare::kLow : CpuShare::kNormal;
}

void LowerCpuShare(CpuShare share) {
  if (share <= CurrentCpuShare()) return;
  if (share == CpuShare::kIdle) {
    const sched_param parameter{};
    sched_setscheduler(0, SCHED_IDLE, &parameter);
  } else {
    setpriority(PRIO_PROCESS, static_cast<id_t>(CurrentThreadSystemId()), kLowNiceness);
  }
}

void LowerIoPriority() {
  // The C library has no names for these values, which set the calling thread's class to idle.
  constexpr int kWhoThread = 1;
  constexpr int kClassIdle = 3 << 13;
  syscall(SYS_ioprio_set, kWhoThread, 0, kClassIdle);
}

uint64_t CurrentThreadSystemId() { return static_cast<uint64_t>(syscall(SYS_gettid)); }

uint64_t CurrentProcessId() { return static_cast<uint64_t>(getpid()); }

}  // namespace ashlar

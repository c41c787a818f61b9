"""Child processes that end with this one: the suites of ./dev soak, the fuzzers of ./dev fuzz.

Each child is the first of a session of its own. A signal that ends this process (SIGINT, SIGTERM,
SIGHUP) is passed to their groups instead, nothing more begins, and the caller, whose calls of run
return, writes down what it has. Thread safety: end_with_this_process from the main thread, the
rest from any.
"""

import contextlib
import os
import signal
import subprocess
import threading
from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    code: int  # of the exit; below 0: a signal
    output: str
    processor_seconds: float  # with the processes that it waited for
    late: bool  # ended after seconds_max
    cut: bool  # failed after a signal to this process, or did not begin


class Children:
    """`ending`: the signal that ends a child, with its group, when this process is to end."""

    def __init__(self, ending: int = signal.SIGKILL) -> None:
        self.signal = 0  # that this process got
        self.processors = os.sched_getaffinity(0)  # of this process
        self._ending = ending
        self._groups: set[int] = set()

    def end_with_this_process(self) -> None:
        # Python calls a handler when the main thread runs, and that one may begin to wait for ever
        # as the signal arrives. Into the pipe, however, the number is written at once.
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: None)
        threading.Thread(target=self._pass_on, args=(reading,), daemon=True).start()

    def _pass_on(self, signals: int) -> None:
        while True:
            self.stop(os.read(signals, 1)[0])

    def stop(self, number: int) -> None:
        self.signal = number
        for group in tuple(self._groups):
            self._end(group, self._ending)

    def run(
        self,
        command: list[str],
        variables: dict[str, str],
        seconds_max: float,
        processors: set[int] | None = None,
    ) -> Ended:
        """Waits for the end of the command and of all that have its output. `processors`: the ones
        that it may use; None: all."""
        if self.signal:
            return Ended(0, "", 0.0, late=False, cut=True)
        # Of this thread, and of what it starts.
        os.sched_setaffinity(0, processors or self.processors)
        child = subprocess.Popen(
            command, env={**os.environ, **variables}, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self._groups.add(child.pid)
        if self.signal:  # it came while the child was started
            self._end(child.pid, self._ending)
        late = threading.Event()
        timer = threading.Timer(seconds_max, self._end_late, (child.pid, late))
        timer.start()
        with child.stdout as stream:
            output = stream.read().decode(errors="replace")
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
        self._groups.discard(child.pid)
        child.returncode = os.waitstatus_to_exitcode(status)
        self._end(child.pid, signal.SIGKILL)  # of the group, what closed its output and stayed
        return Ended(
            child.returncode, output, usage.ru_utime + usage.ru_stime, late.is_set(),
            cut=self.signal != 0 and child.returncode != 0,
        )  # fmt: skip

    def _end_late(self, group: int, late: threading.Event) -> None:
        late.set()
        self._end(group, signal.SIGKILL)

    @staticmethod
    def _end(group: int, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)

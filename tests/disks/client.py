"""A disk_client process, and what it has acknowledged."""

import os
import signal
import subprocess
from dataclasses import dataclass, field

THREADS = 2
CORRUPTION, IO_ERROR, ABORTED = 2, 5, 10  # codes of Status
TEXT_MAX = 300  # of the text of an error
NO_SPACE, MEMORY_LIMIT, OPEN_FILES_LIMIT = 4, 7, 200  # subcodes


class Failed(Exception):
    """A promise was not kept."""


class Died(Exception):
    """The client ended without an answer."""

    def __init__(self, code):
        self.signal = -code if code < 0 else 0
        how = signal.Signals(self.signal).name if self.signal else f"exit code {code}"
        super().__init__(f"the process died: {how}")


@dataclass
class Answer:
    ok: bool
    words: list = field(default_factory=list)
    code: int = 0
    subcode: int = 0
    text: str = ""

    @property
    def is_no_space(self):
        return (self.code, self.subcode) == (IO_ERROR, NO_SPACE)

    def expect_ok(self):
        if not self.ok:
            raise Failed(f"expected Ok: {self.text}")
        return self

    def expect(self, holds, what):
        if self.ok or not holds:
            raise Failed(f"expected {what}: {self.text if not self.ok else 'Ok'}")
        return self


class Acknowledged:
    """The last commit of each thread that returned Ok, and the last one that did so with sync."""

    def __init__(self):
        self.any = [0] * THREADS
        self.synced = [0] * THREADS

    def copy(self):
        same = Acknowledged()
        same.any, same.synced = list(self.any), list(self.synced)
        return same

    def note(self, line):
        _, thread, n, how = line.split()
        thread = int(thread)
        self.any[thread] = int(n)
        if how == "s":
            self.synced[thread] = int(n)

    def compare(self, found, least, most=None):
        """Of each thread there are at least so many commits, and none that was not begun."""
        most = most or self.any
        for thread in range(THREADS):
            if found[thread] < least[thread]:
                raise Failed(
                    f"thread {thread}: acknowledged commits up to {least[thread]}, "
                    f"found {found[thread]}: LOST"
                )
            # A thread reports a commit before it begins the next.
            if found[thread] > most[thread] + 1:
                raise Failed(f"thread {thread}: found commit {found[thread]}, which was not begun")

    def settle(self, found):
        """After a recovery, which makes durable what it found."""
        self.any, self.synced = list(found), list(found)


class Client:
    program = None  # the path of disk_client
    tool = None  # the path of the command-line tool
    compared = 0  # commits, of all clients

    def __init__(self, acknowledged):
        self.acknowledged = acknowledged
        self.acks = 0
        self.process = subprocess.Popen(
            [self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def send(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the next read tells how it died

    def _read(self):
        """An answer, or None for an acknowledgement."""
        line = self.process.stdout.readline()
        if line.startswith("a ") and line.endswith("\n"):
            self.acknowledged.note(line)
            self.acks += 1
            return None
        if not line.startswith("= "):
            raise Died(self.process.wait())
        words = line.split()[1:]
        if words[0] == "ok":
            return Answer(True, words[1:])
        text = line.split(maxsplit=4)[4].strip()[:TEXT_MAX]
        return Answer(False, [], int(words[1]), int(words[2]), text)

    def answer(self):
        while True:
            answer = self._read()
            if answer is not None:
                return answer

    def ask(self, line):
        self.send(line)
        return self.answer()

    def await_acks(self, count):
        """Reads so many acknowledgements of a load that is under way."""
        end = self.acks + count
        while self.acks < end:
            answer = self._read()
            if answer is not None:
                raise Failed(f"the load ended early: {answer.text or 'Ok'}")

    def contents(self):
        """The commits of each thread that are there; everything else was compared by the client."""
        answer = self.ask("contents").expect_ok()
        found = [int(word) for word in answer.words[:THREADS]]
        Client.compared += sum(found)
        return found

    def expect_all(self):
        """Everything acknowledged is there."""
        found = self.contents()
        self.acknowledged.compare(found, self.acknowledged.any)
        return found

    def close(self):
        self.ask("close").expect_ok()
        self.end()

    def end(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise Died(self.process.returncode)

    def kill(self):
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
        # What it had acknowledged before.
        for line in self.process.stdout:
            if line.startswith("a ") and line.endswith("\n"):
                self.acknowledged.note(line)
        self.process.wait()

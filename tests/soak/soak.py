#!/usr/bin/env python3
"""Runs the randomised suites with new seeds until the published figures are reached: ./dev soak.
README.md."""

import argparse
import concurrent.futures
import pathlib
import random
import re
import shlex
import sys
import time
from dataclasses import dataclass, field

sys.path += [
    str(pathlib.Path(__file__).resolve().parent.parent.parent / folder)
    for folder in ("docs", "tests/support")
]
from children import Children  # noqa: E402
from generated import Marks, stamp  # noqa: E402

TABLE = Marks("soak", "./dev soak --write", "reliability.md")
RUN_SECONDS_MAX = 3600


class Refused(Exception):
    """The command makes no sense."""


@dataclass(frozen=True)
class Kind:
    """A figure, and the suite whose runs are counted for it."""

    name: str
    title: str  # what is counted
    goal: int
    binary: str
    filter: str  # of GoogleTest: what the seed changes; the rest would count in every run again
    counted: str  # an expression whose groups are the counts that a run prints
    seed: str  # the variable of the environment, or the option of the command line
    size: dict[str, int] = field(default_factory=dict)  # of one run: as `seed`
    # Its threads run one at a time: it stays on the processor of its worker.
    one_processor: bool = False
    peers: bool = False  # takes --peer's libraries; runs only if it is named

    def variables(self, seed: int) -> dict[str, str]:
        numbers = {self.seed: seed, **self.size}
        return {name: str(n) for name, n in numbers.items() if not name.startswith("--")}

    def command(self, tests: pathlib.Path, seed: int, peers: list[str]) -> list[str]:
        numbers = {self.seed: seed, **self.size}
        options = [word for name, n in numbers.items() if name.startswith("--")
                   for word in (name, str(n))]  # fmt: skip
        if self.filter:
            options += [f"--gtest_filter={self.filter}", "--gtest_brief=1"]
        return [str(tests / self.binary), *options, *(peers if self.peers else ())]


KINDS = (
    Kind(
        "crashes", "crash images of databases", 1_000_000, "crash_test", "*/CrashTest.*",
        r"(\d+) images", "ASHLAR_CRASH_SEED", {"ASHLAR_CRASH_EFFORT": 2},
    ),
    Kind(
        "pools", "crash images of pools", 1_000_000, "pool_crash_test",
        "*/HistoryTest.*:*/WritersCrashTest.*:DiskCrashTest.*:DiskCheckpointTest.*"
        "-DiskCrashTest.EachKind*",
        r"(\d+) images", "ASHLAR_POOL_CRASH_SEED",
    ),
    Kind(
        "schedules", "explored schedules", 1_000_000, "schedule_test", "*",
        r"(\d+) schedules", "ASHLAR_SCHEDULE_SEED", one_processor=True,
    ),
    Kind(
        "errors", "injected errors", 100_000, "faults_test", "*SweepTest.*:*LyingReadTest.*",
        r"(\d+) with injected errors|(\d+) reads lied to", "ASHLAR_FAULTS_SEED",
    ),
    Kind(
        "operations", "operations compared with a model", 10_000_000, "model_test",
        "*EveryOperationAgrees/*", r"(\d+) operations", "ASHLAR_MODEL_SEED",
        {"ASHLAR_MODEL_OPERATIONS": 4000},
    ),
    Kind(
        "kills", "kills of a database's process", 2_000, "kill_test", "KillTest.*",
        r"(\d+) cycles", "ASHLAR_KILL_SEED", {"ASHLAR_KILL_CYCLES": 50},
    ),
    Kind(
        "pool_kills", "kills of a persistent tree's process", 2_000, "kill_test",
        "PoolKillTest.*", r"(\d+) cycles", "ASHLAR_KILL_SEED", {"ASHLAR_KILL_CYCLES": 50},
    ),
    Kind(
        "differential", "directories exchanged with RocksDB", 10_000, "differential", "",
        r"(\d+) directories exchanged", "--seed", {"--histories": 100}, peers=True,
    ),
)  # fmt: skip
# Runs of one kind whose seeds are neighbours would repeat each other's schedules.
SEED_STEP = 100_000


@dataclass
class Row:
    """Of the table: the sum of the runs of `./dev soak --write` that added to it."""

    number: int = 0
    wrong: int = 0
    minutes: float = 0.0
    runs: int = 0
    seeds: str = ""  # of each
    commits: str = ""  # the commits, each with the days

    @staticmethod
    def parse(line: str) -> "Row":
        _, number, wrong, minutes, runs, _, seeds, commits = (
            cell.strip() for cell in line.strip().strip("|").split("|")
        )
        return Row(
            int(number.replace(",", "")), int(wrong), float(minutes), int(runs), seeds, commits
        )

    def text(self, kind: Kind) -> str:
        return (
            f"| {kind.title} | {self.number:,} | {self.wrong} | {self.minutes:.1f} | {self.runs} "
            f"| `{kind.name}` | {self.seeds} | {self.commits} |"
        )


HEAD = (
    "| what | number | wrong | minutes of a processor | runs | KIND | seeds | commits |\n"
    "|---|---|---|---|---|---|---|---|"
)


def rows_of(text: str) -> dict[str, Row]:
    """By kind."""
    rows = {}
    for line in text.splitlines()[2:]:
        rows[line.split("|")[6].strip().strip("`")] = Row.parse(line)
    return rows


def table(rows: dict[str, Row]) -> str:
    return "\n".join([HEAD, *(rows[each.name].text(each) for each in KINDS if each.name in rows)])


@dataclass
class Progress:
    kind: Kind
    goal: int
    first_seed: int
    count: int = 0
    begun: int = 0
    ended: int = 0
    cut: int = 0
    seconds: float = 0.0
    failure: str = ""

    def wants_more(self) -> bool:
        """The runs under way count as much as those that ended did, each."""
        each = self.count / self.ended if self.ended else 0
        expected = self.count + each * (self.begun - self.ended - self.cut)
        return not self.failure and expected < self.goal

    def added_to(self, row: Row, at: str) -> Row:
        """A failure counts as one that is wrong, and what its run counted is left out."""
        if self.ended == 0:
            return row
        known = row.commits.split("; ") if row.commits else []
        return Row(
            row.number + self.count,
            row.wrong + (1 if self.failure else 0),
            row.minutes + self.seconds / 60,
            row.runs + 1,
            f"{row.seeds}, {self.first_seed}" if row.seeds else str(self.first_seed),
            "; ".join(known if known[-1:] == [at] else [*known, at]),
        )


def count_in(kind: Kind, output: str) -> int:
    found = re.finditer(kind.counted, output)
    return sum(int(group) for match in found for group in match.groups() if group)


@dataclass
class Outcome:
    count: int
    seconds: float  # of a processor
    failure: str = ""
    cut: bool = False


class Suites:
    """Runs suites of the folder `tests`."""

    def __init__(self, tests: pathlib.Path, children: Children, peers: list[str]) -> None:
        self._tests = tests
        self._children = children
        self._peers = peers

    @property
    def stopped(self) -> bool:
        return self._children.signal != 0

    def run(self, kind: Kind, seed: int, worker: int) -> Outcome:
        command = kind.command(self._tests, seed, self._peers)
        variables = kind.variables(seed)
        processors = sorted(self._children.processors)
        own = {processors[worker % len(processors)]} if kind.one_processor else None
        ended = self._children.run(command, variables, RUN_SECONDS_MAX, own)
        if ended.cut:
            return Outcome(0, 0.0, cut=True)
        count = count_in(kind, ended.output)
        if ended.code == 0 and count > 0:
            return Outcome(count, ended.processor_seconds)
        reason = (
            f"no end within {RUN_SECONDS_MAX} s" if ended.late
            else f"ended with {ended.code}" if ended.code != 0
            else "counted nothing"
        )  # fmt: skip
        tail = "\n".join(ended.output.splitlines()[-60:])
        repeat = shlex.join([*(f"{name}={n}" for name, n in variables.items()), *command])
        failure = f"{tail}\n{kind.name}: {reason}; this repeats it:\n{repeat}"
        return Outcome(0, ended.processor_seconds, failure)


def run_all(suites: Suites, all_progress: list[Progress], workers: int, end: float, ended) -> None:
    """Keeps the workers busy, with the first kind that wants more, until all have enough, the time
    `end` of the monotonic clock, or a signal. Calls ended() after each run."""
    running = {}
    idle = list(range(workers))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        while True:
            while idle and time.monotonic() < end and not suites.stopped:
                wanting = next((each for each in all_progress if each.wants_more()), None)
                if wanting is None:
                    break
                seed = wanting.first_seed + wanting.begun * SEED_STEP
                wanting.begun += 1
                worker = idle.pop()
                running[pool.submit(suites.run, wanting.kind, seed, worker)] = (wanting, worker)
            if not running:
                return
            done, _ = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in done:
                progress, worker = running.pop(future)
                idle.append(worker)
                outcome = future.result()
                if outcome.cut:
                    progress.cut += 1
                    continue
                progress.ended += 1
                progress.count += outcome.count
                progress.seconds += outcome.seconds
                progress.failure = progress.failure or outcome.failure
                print(
                    f"== soak: {progress.kind.name}: {progress.count:,} of {progress.goal:,}"
                    f" in {progress.seconds / 60:.1f} minutes of a processor"
                    + (f"\n{outcome.failure}" if outcome.failure else ""),
                    flush=True,
                )
                ended()


def chosen(names: list[str]) -> list[Kind]:
    known = {kind.name: kind for kind in KINDS}
    for name in names:
        if name not in known:
            raise Refused(f"soak knows no kind '{name}'; these are: {', '.join(known)}")
    return [kind for kind in KINDS if kind.name in names or not (names or kind.peers)]


def goals(kinds: list[Kind], rows: dict[str, Row], percent: int) -> dict[str, int]:
    """What each row lacks to its figure, or so much percent of the figure if that is less."""
    lacking = {kind.name: kind.goal - rows[kind.name].number if kind.name in rows else kind.goal
               for kind in kinds}  # fmt: skip
    return {kind.name: min(lacking[kind.name], max(1, kind.goal * percent // 100))
            for kind in kinds if lacking[kind.name] > 0}  # fmt: skip


def positive(text: str) -> int:
    number = int(text)
    if number <= 0:
        raise argparse.ArgumentTypeError("it must be above 0")
    return number


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev soak", description=__doc__)
    parser.add_argument("tests", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="only these figures")
    parser.add_argument(
        "--percent", type=positive, default=100, metavar="N", help="of the published figures"
    )
    parser.add_argument("--minutes", type=positive, metavar="N", help="begin nothing after them")
    parser.add_argument("--seed", type=positive, metavar="N", help="of the first run of each kind")
    parser.add_argument(
        "--write", action="store_true",
        help="add to the rows of docs/reliability.md, after each run, until they have the figures",
    )  # fmt: skip
    parser.add_argument(
        "--anew", action="store_true", help="with --write: begin the rows of these kinds with 0"
    )
    parser.add_argument("--peer", action="append", default=[], help=argparse.SUPPRESS)
    return parser.parse_intermixed_args(words)  # a KIND may come after an option


def main() -> int:
    arguments = parse(sys.argv[1:])
    kinds = chosen(arguments.kinds)
    if arguments.anew and not arguments.write:
        raise Refused("--anew is for --write")
    written = rows_of(TABLE.read()) if arguments.write else {}
    if arguments.anew:
        written = {name: row for name, row in written.items()
                   if name not in {kind.name for kind in kinds}}  # fmt: skip
    wanted = goals(kinds, written, arguments.percent)
    for kind in kinds:
        if kind.name not in wanted:
            print(f"== soak: {kind.name}: the row has its figure; --anew counts again")
    seed = arguments.seed or random.SystemRandom().randrange(1, 1_000_000_000)
    all_progress = [Progress(kind, wanted[kind.name], seed)
                    for kind in kinds if kind.name in wanted]  # fmt: skip
    at = stamp()  # of what was built: HEAD may move while this runs

    def rows() -> dict[str, Row]:
        added = {each.kind.name: each.added_to(written.get(each.kind.name, Row()), at)
                 for each in all_progress if each.ended}  # fmt: skip
        return written | added

    def ended() -> None:
        if arguments.write:
            TABLE.write(table(rows()), quiet=True)

    begun = time.monotonic()
    end = begun + 60 * arguments.minutes if arguments.minutes else float("inf")
    children = Children()
    children.end_with_this_process()
    print(f"== soak: --seed {seed} repeats this run", flush=True)
    run_all(
        Suites(arguments.tests, children, arguments.peer), all_progress,
        len(children.processors), end, ended,
    )  # fmt: skip
    print(table(rows()))
    print(f"== soak: {(time.monotonic() - begun) / 60:.0f} minutes")
    failed = [each.kind.name for each in all_progress if each.failure]
    missed = [each.kind.name for each in all_progress if each.count < each.goal]
    if failed:
        print(f"soak: failed, see above: {', '.join(failed)}", file=sys.stderr)
    elif missed:
        print(f"soak: ended before: {', '.join(missed)}")
    if children.signal:
        return 128 + children.signal
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refused:
        sys.exit(f"soak: {refused}")

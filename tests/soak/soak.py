#!/usr/bin/env python3
"""Runs the randomised suites with new seeds until the published figures are reached: ./dev soak.
README.md."""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass, field

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent.parent / "docs"))
from generated import Marks, stamp  # noqa: E402

TABLE = Marks("soak", "./dev soak --write", "reliability.md")
CHUNK_SECONDS_MAX = 3600


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
    seed: str  # the variable of the environment
    size: dict[str, int] = field(default_factory=dict)  # of one run: variables of the environment


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
        r"(\d+) schedules", "ASHLAR_SCHEDULE_SEED",
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
)  # fmt: skip
# Runs of one kind whose seeds are neighbours would repeat each other's schedules.
SEED_STEP = 100_000


@dataclass
class Progress:
    kind: Kind
    goal: int
    first_seed: int
    count: int = 0
    begun: int = 0
    ended: int = 0
    seconds: float = 0.0
    failure: str = ""

    def wants_more(self) -> bool:
        """The runs under way count as much as those that ended did, each."""
        each = self.count / self.ended if self.ended else 0
        expected = self.count + each * (self.begun - self.ended)
        return not self.failure and expected < self.goal


def count_in(kind: Kind, output: str) -> int:
    found = re.finditer(kind.counted, output)
    return sum(int(group) for match in found for group in match.groups() if group)


def run_once(tests: pathlib.Path, kind: Kind, seed: int) -> tuple[int, str]:
    """What a run counted, and the failure's text."""
    variables = {kind.seed: str(seed), **{name: str(size) for name, size in kind.size.items()}}
    command = [str(tests / kind.binary), f"--gtest_filter={kind.filter}", "--gtest_brief=1"]
    try:
        done = subprocess.run(
            command, env={**os.environ, **variables}, timeout=CHUNK_SECONDS_MAX,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            check=False,
        )  # fmt: skip
        code, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        # Bytes, whatever `text` says.
        output = (late.stdout or b"").decode(errors="replace")
        code = f"no end within {CHUNK_SECONDS_MAX} s"
    count = count_in(kind, output)
    if code == 0 and count > 0:
        return count, ""
    settings = " ".join(f"{name}={value}" for name, value in variables.items())
    reason = f"ended with {code}" if code != 0 else "counted nothing"
    tail = "\n".join(output.splitlines()[-60:])
    repeat = f"{settings} {shlex.join(command)}"
    return count, f"{tail}\n{kind.name}: {reason}; this repeats it:\n{repeat}"


def run_all(tests: pathlib.Path, all_progress: list[Progress], workers: int, end: float) -> None:
    """Keeps the workers busy, with the first kind that wants more, until all have enough or the
    time `end` of the monotonic clock."""
    running = {}
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        while True:
            while len(running) < workers and time.monotonic() < end:
                wanting = next((each for each in all_progress if each.wants_more()), None)
                if wanting is None:
                    break
                seed = wanting.first_seed + wanting.begun * SEED_STEP
                wanting.begun += 1
                future = pool.submit(run_once, tests, wanting.kind, seed)
                running[future] = (wanting, time.monotonic())
            if not running:
                return
            done, _ = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in done:
                progress, began = running.pop(future)
                count, failure = future.result()
                progress.ended += 1
                progress.count += count
                progress.seconds += time.monotonic() - began
                progress.failure = progress.failure or failure
                print(
                    f"== soak: {progress.kind.name}: {progress.count:,} of {progress.goal:,}"
                    f" in {progress.seconds:.0f} s of a processor"
                    + (f"\n{failure}" if failure else ""),
                    flush=True,
                )


def row(progress: Progress, at: str) -> str:
    kind = progress.kind
    return (
        f"| {kind.title} | {progress.count:,} | 0 | {progress.seconds / 60:.0f} "
        f"| `{kind.name}` | {progress.first_seed} | {at} |"
    )


def table(before: str, measured: list[Progress], at: str) -> str:
    """The table with the rows of `measured`, of the commit `at`, renewed, in the order of KINDS."""
    rows = {line.split("|")[1].strip(): line for line in before.splitlines()[2:]}
    rows |= {each.kind.title: row(each, at) for each in measured}
    return "\n".join(
        [
            "| what | number | wrong | minutes of a processor | KIND | seed | at |",
            "|---|---|---|---|---|---|---|",
            *(rows[kind.title] for kind in KINDS if kind.title in rows),
        ]
    )


def chosen(names: list[str]) -> list[Kind]:
    known = {kind.name: kind for kind in KINDS}
    for name in names:
        if name not in known:
            raise Refused(f"soak knows no kind '{name}'; these are: {', '.join(known)}")
    return [kind for kind in KINDS if not names or kind.name in names]


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
    parser.add_argument("--write", action="store_true", help="the rows to docs/reliability.md")
    return parser.parse_intermixed_args(words)  # a KIND may come after an option


def main() -> int:
    arguments = parse(sys.argv[1:])
    kinds = chosen(arguments.kinds)
    if arguments.write and (arguments.percent < 100 or arguments.minutes):
        raise Refused("--write is for whole figures: without --percent and --minutes")
    seed = arguments.seed or random.SystemRandom().randrange(1, 1_000_000_000)
    all_progress = [Progress(kind, max(1, kind.goal * arguments.percent // 100), seed)
                    for kind in kinds]  # fmt: skip
    begun = time.monotonic()
    end = begun + 60 * arguments.minutes if arguments.minutes else float("inf")
    print(f"== soak: --seed {seed} repeats this run", flush=True)
    run_all(arguments.tests, all_progress, os.cpu_count() or 1, end)
    at = stamp()
    print(table("", all_progress, at))
    failed = [each.kind.name for each in all_progress if each.failure]
    missed = [each.kind.name for each in all_progress if each.count < each.goal]
    print(f"== soak: {(time.monotonic() - begun) / 60:.0f} minutes")
    if failed:
        print(f"soak: failed, see above: {', '.join(failed)}", file=sys.stderr)
        return 1
    if missed:
        print(f"soak: the time ended before: {', '.join(missed)}")
    if arguments.write:
        TABLE.write(table(TABLE.read(), all_progress, at))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refused:
        sys.exit(f"soak: {refused}")

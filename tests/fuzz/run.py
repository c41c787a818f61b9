#!/usr/bin/env python3
"""Runs the targets under libFuzzer, one on each processor: ./dev fuzz. README.md."""

import argparse
import concurrent.futures
import pathlib
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "docs"), str(ROOT / "tests/support")]
from children import Children  # noqa: E402
from generated import Marks, stamp  # noqa: E402

TABLE = Marks("fuzz", "./dev fuzz --write", "reliability.md")
BUILD = pathlib.Path("build/fuzz")  # of the folder that ./dev is in
CORPUS = pathlib.Path("tests/fuzz/corpus")
# Of one run with --to: what a machine that stops suddenly loses.
RUN_SECONDS_MAX = 300
# For the functions and lines of a report.
SYMBOLIZER = f"external_symbolizer_path={shutil.which('addr2line') or ''}"
VARIABLES = {
    "ASAN_OPTIONS": f"detect_stack_use_after_return=1:strict_string_checks=1:{SYMBOLIZER}",
    "UBSAN_OPTIONS": f"print_stacktrace=1:{SYMBOLIZER}",
}


class Refused(Exception):
    """The command makes no sense."""


# ---- The table. Its last column is written by people.


@dataclass
class Row:
    executions: int = 0
    minutes: float = 0.0  # of a processor
    found: str = ""


def rows_of(text: str) -> dict[str, Row]:
    """By target, in the order of the table."""
    rows = {}
    for line in text.splitlines():
        match = re.fullmatch(r"\| `(\w+)` \| ([\d,]+) \| ([\d.]+) \| (.*) ?\|", line)
        if match:
            target, executions, minutes, found = match.groups()
            rows[target] = Row(int(executions.replace(",", "")), float(minutes), found.strip())
    return rows


def table(rows: dict[str, Row], at: str) -> str:
    lines = ["| target | executions | minutes of a processor | found, and mended |",
             "|---|---|---|---|"]  # fmt: skip
    lines += [f"| `{target}` | {row.executions:,} | {row.minutes:.1f} | {row.found} |"
              for target, row in rows.items()]  # fmt: skip
    executions = sum(row.executions for row in rows.values())
    minutes = sum(row.minutes for row in rows.values())
    return "\n".join([*lines, f"| together | {executions:,} | {minutes:.1f} | |", "",
                      f"The last run that added to it: {at}."])  # fmt: skip


# ---- Runs.


@dataclass
class Work:
    """What is left for each target."""

    seconds: int  # of a run
    targets: list[str]
    minutes_wanted: float = 0.0  # of a processor, in the table; 0: each target runs once
    had: dict[str, float] = field(default_factory=dict)  # minutes
    begun: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)

    def next(self) -> tuple[str, int] | None:
        """A target that is not running, and for how many seconds: the one with the fewest
        minutes."""
        waiting = [each for each in self.targets if each not in self.begun | self.done]
        if not waiting:
            return None
        if not self.minutes_wanted:
            return waiting[0], self.seconds
        target = min(waiting, key=lambda each: self.had.get(each, 0.0))
        lacking = 60 * (self.minutes_wanted - self.had.get(target, 0.0))
        return (target, int(min(self.seconds, lacking)) + 1) if lacking > 0 else None

    def begin(self, target: str) -> None:
        self.begun.add(target)

    def end(self, target: str, minutes: float, failed: bool) -> None:
        self.begun.discard(target)
        self.had[target] = self.had.get(target, 0.0) + minutes
        if failed or not self.minutes_wanted:
            self.done.add(target)


@dataclass
class Outcome:
    executions: int
    minutes: float
    failed: bool
    shown: str


def statistic(output: str, expression: str) -> int:
    found = re.findall(expression, output)
    return int(found[-1]) if found else 0


class Fuzzer:
    def __init__(self, program: str, limits: list[str], children: Children) -> None:
        self._program = program
        self._limits = limits
        self._children = children

    @property
    def stopped(self) -> bool:
        return self._children.signal != 0

    def targets(self) -> list[str]:
        listed = subprocess.run([self._program, "--list"], stdout=subprocess.PIPE, check=True)
        return listed.stdout.decode().split()

    def run(self, target: str, seconds: int) -> Outcome:
        grown, kept = BUILD / "corpus" / target, CORPUS / target
        for folder in (grown, kept, BUILD / "failures", BUILD / "logs"):
            folder.mkdir(parents=True, exist_ok=True)
        log = BUILD / "logs" / target
        name = f"--target={target}"
        seeds = self._children.run([self._program, name, f"--seeds={grown}"], VARIABLES, 300)
        if seeds.code != 0 or seeds.cut:
            log.write_text(seeds.output)
            return Outcome(0, 0.0, not seeds.cut, f"no seeds: see {log}" if not seeds.cut else "")
        ended = self._children.run(
            [self._program, name, f"-max_total_time={seconds}", *self._limits,
             "-print_final_stats=1", f"-artifact_prefix={BUILD}/failures/{target}-",
             str(grown), str(kept)],
            VARIABLES, seconds + 300,
        )  # fmt: skip
        log.write_text(ended.output)
        executions = statistic(ended.output, r"stat::number_of_executed_units: *(\d+)")
        edges = statistic(ended.output, r"cov: (\d+)")
        failed = ended.code != 0 and not ended.cut
        shown = (
            f"{executions:9} executions, {edges} edges,"
            f" {sum(1 for _ in grown.iterdir())} inputs"
            f" in {ended.processor_seconds / 60:.1f} minutes of a processor"
            + (f": FAILED, see {log}" if failed else "")
        )
        return Outcome(executions, ended.processor_seconds / 60, failed, shown)


def run_all(fuzzer: Fuzzer, work: Work, workers: int, ended) -> list[str]:
    """The targets that failed. Calls ended(target, outcome) after each run."""
    running = {}
    failed = []
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        while True:
            while len(running) < workers and not fuzzer.stopped:
                chosen = work.next()
                if chosen is None:
                    break
                work.begin(chosen[0])
                running[pool.submit(fuzzer.run, *chosen)] = chosen[0]
            if not running:
                return failed
            done, _ = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in done:
                target = running.pop(future)
                outcome = future.result()
                work.end(target, outcome.minutes, outcome.failed)
                if outcome.failed:
                    failed.append(target)
                if outcome.shown:
                    print(f"== fuzz {target:14} {outcome.shown}", flush=True)
                ended(target, outcome)


def positive(text: str) -> int:
    number = int(text)
    if number <= 0:
        raise argparse.ArgumentTypeError("it must be above 0")
    return number


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__)
    parser.add_argument("program", help=argparse.SUPPRESS)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="only these")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=positive, metavar="N", help="of each target")
    length.add_argument("--seconds", type=positive, metavar="N", help="of each target")
    length.add_argument(
        "--to", type=positive, metavar="N",
        help="until each target has N minutes of a processor in docs/reliability.md; adds to them",
    )  # fmt: skip
    parser.add_argument(
        "--write", action="store_true", help="add to docs/reliability.md, after each run"
    )
    parser.add_argument("--workers", type=positive, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--limits", default="", help=argparse.SUPPRESS)
    return parser.parse_intermixed_args(words)


def work_of(arguments: argparse.Namespace, listed: list[str], rows: dict[str, Row]) -> Work:
    for target in arguments.targets:
        if target not in listed:
            raise Refused(f"fuzz knows no target '{target}'; these are: {' '.join(listed)}")
    targets = [each for each in listed if not arguments.targets or each in arguments.targets]
    if arguments.to:
        return Work(RUN_SECONDS_MAX, targets, float(arguments.to),
                    {target: row.minutes for target, row in rows.items()})  # fmt: skip
    return Work(arguments.seconds or 60 * (arguments.minutes or 1), targets)


def main() -> int:
    arguments = parse(sys.argv[1:])
    writes = arguments.write or arguments.to is not None
    children = Children(signal.SIGTERM)  # libFuzzer then prints its statistics
    children.end_with_this_process()
    fuzzer = Fuzzer(arguments.program, arguments.limits.split(), children)
    listed = fuzzer.targets()
    rows = rows_of(TABLE.read()) if writes else {}
    work = work_of(arguments, listed, rows)
    rows = {target: rows.get(target, Row()) for target in [*listed, *rows]}
    at = stamp()

    def ended(target: str, outcome: Outcome) -> None:
        rows[target].executions += outcome.executions
        rows[target].minutes += outcome.minutes
        if writes:
            TABLE.write(table(rows, at), quiet=True)

    failed = run_all(fuzzer, work, arguments.workers, ended)
    if failed:
        print(f"fuzz: failed: {' '.join(failed)}; {BUILD}/failures has the inputs, and"
              " tests/fuzz/README.md says what to do with them", file=sys.stderr)  # fmt: skip
    if children.signal:
        return 128 + children.signal
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refused:
        sys.exit(f"fuzz: {refused}")

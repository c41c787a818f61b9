#!/usr/bin/python3
"""Runs Ashlar and its peers side by side: ./dev bench.

Every process runs one library; processes alternate A B B A, and each pair of neighbours gives one
ratio. Results are kept per group of rows, by the digest of the libraries, the driver and the rows,
so that a long run can be taken up where it was left.
"""

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import instructions
import libraries
import rows as rows_module
from figures import (
    FAILED,
    NOT_AVAILABLE,
    RowOutcome,
    disagreements,
    judge,
    with_limits,
    without_figures,
    worst_first,
)
from report import (
    Marks,
    copies_table,
    format_figure,
    markdown_table,
    side_by_side_table,
    triangle_settings,
    triangle_table,
    write_json,
    write_page,
)
from rows import SCALES, Group, Scale, judged_rows, with_limiting_groups

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
OUT = ROOT / "build" / "bench"
DRIVER = BUILD / "bench" / "bench_driver"
COPY_COUNTER = BUILD / "bench" / "bench_copies.so"
# The tables of documents that hold the groups of one subject: --NAME measures the groups NAME-… and
# writes them.
SUBJECTS = {name: Marks(name, f"./dev bench --{name}") for name in ("deletions", "files")}
# The tables of the whole: of the groups whose Gets are counted for copies, and of all others.
SIDE_BY_SIDE = Marks("side by side", "./dev bench --full")
ZERO_COPY = Marks("zero copy", "./dev bench --full")
# The settings of each style; its table and its picture are in docs/tuning.md.
TRIANGLE = Marks("triangle", "./dev bench --triangle", "tuning.md")
TRIANGLE_PICTURE = "triangle.svg"
EXIT_NOT_AVAILABLE = 3
# A process that takes longer than this per million keys of the scale or GB of its group (at least
# this) hangs.
PROCESS_SECONDS_MAX = 300
# Above this, something else takes time from what is measured.
BUSY_LOAD_PER_CORE = 0.5


@dataclass(frozen=True)
class Library:
    name: str
    path: str
    engine: str


class DriverFailed(Exception):
    pass


class NotAvailable(Exception):
    pass


def driver_command(
    group: Group, library: Library, scale: Scale, folder: Path, extra: list[str]
) -> list[str]:
    command = [str(DRIVER), "--library", library.path, "--engine", library.engine]
    command += ["--dir", str(folder), "--num", str(group.number_of_keys(scale.keys))]
    command += ["--key-bytes", str(group.key_bytes), "--value-bytes", str(group.value_bytes)]
    command += ["--workloads", ",".join(workload.spec(scale.keys) for workload in group.workloads)]
    for flag, value in group.flags.items():
        command += [f"--{flag}"] if value is True else [f"--{flag}", str(value)]
    return command + extra


def run_driver(
    command: list[str],
    folder: Path,
    seconds_max: float,
    environment: dict[str, str] | None = None,
) -> list[dict]:
    shutil.rmtree(folder, ignore_errors=True)
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=seconds_max,
            env=os.environ | (environment or {}),
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise DriverFailed(f"no end after {seconds_max:.0f} s: {' '.join(command)}") from late
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if done.returncode == EXIT_NOT_AVAILABLE:
        raise NotAvailable(done.stderr.strip().removeprefix("bench_driver: not available: "))
    if done.returncode != 0:
        shown = " ".join(command)
        raise DriverFailed(f"{shown}\nended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)["results"]


class Bench:
    def __init__(
        self,
        scale: Scale,
        own: Library,
        peer: Library,
        others: dict[str, Library],
        folder: Path,
        sample_ms: int,
    ):
        self.scale, self.own, self.peer, self.others = scale, own, peer, others
        self.folder = folder / f"database-{os.getpid()}"
        self.extra = ["--sample-ms", str(sample_ms)]

    def seconds_max(self, group: Group) -> float:
        millions, gigabytes = self.scale.keys / 1e6, group.data_bytes(self.scale.keys) / 1e9
        return PROCESS_SECONDS_MAX * max(1.0, millions, gigabytes)

    def run(self, group: Group, library: Library, rounds: list[str]) -> list[dict]:
        extra = self.extra + rounds
        command = driver_command(group, library, self.scale, self.folder, extra)
        return run_driver(command, self.folder, self.seconds_max(group))

    def rounds(self, group: Group) -> list[str]:
        """The flag for workloads that end when they are steady: as many rounds on both sides as the
        slower one needs, so that both write the same."""
        if not group.until_steady:
            return []
        results = self.run(group, self.peer, []) + self.run(group, self.own, [])
        return ["--rounds", str(max(result.get("rounds", 0) for result in results))]

    def count_copies(self, group: Group, library: Library) -> list[dict]:
        return run_driver(
            driver_command(group, library, self.scale, self.folder, ["--sample-ms", "0"]),
            self.folder,
            self.seconds_max(group),
            {"LD_PRELOAD": str(COPY_COUNTER)},
        )

    def measure(self, group: Group) -> dict:
        """All runs of a group: {"own": [[result per workload] per run], "peer": ...,
        "others": {name: ...}, "copies": {...}}. Or {"verdict": ..., "reason": ...}, so that one
        group that fails does not cost the others."""
        runs: dict = {"own": [], "peer": [], "others": {}, "copies": {}}
        try:
            rounds = self.rounds(group)
            for pair in range(self.scale.pairs):
                sides = [("peer", self.peer), ("own", self.own)]
                for side, library in sides if pair % 2 == 0 else reversed(sides):
                    runs[side].append(self.run(group, library, rounds))
                if pair < self.scale.others_rounds:
                    for name in group.others:
                        if name in self.others:
                            run = self.run(group, self.others[name], rounds)
                            runs["others"].setdefault(name, []).append(run)
            if group.count_copies:
                runs["copies"] = {
                    "own": self.count_copies(group, self.own),
                    "peer": self.count_copies(group, self.peer),
                }
            self.check_agreement(group, runs)
        except NotAvailable as missing:
            return {"verdict": NOT_AVAILABLE, "reason": str(missing)}
        except DriverFailed as failed:
            return {"verdict": FAILED, "reason": str(failed)}
        return runs

    def check_agreement(self, group: Group, runs: dict) -> None:
        for index, workload in enumerate(group.workloads):
            for round_index, (peer, own) in enumerate(zip(runs["peer"], runs["own"])):
                problems = disagreements({self.peer.name: peer[index], self.own.name: own[index]})
                if problems:
                    raise DriverFailed(
                        f"{group.name}, {workload.name}, pair {round_index}: "
                        f"the libraries disagree: {'; '.join(problems)}"
                    )
            for name, other in runs["others"].items():
                own = runs["own"][0][index]
                problems = disagreements({self.own.name: own, name: other[0][index]})
                if problems:
                    raise DriverFailed(
                        f"{group.name}, {workload.name}: "
                        f"the libraries disagree: {'; '.join(problems)}"
                    )


def outcomes_of(group: Group, runs: dict, scale: Scale, by_cpu: bool) -> list[RowOutcome]:
    rows = []
    for index, workload in enumerate(group.workloads):
        for row in workload.rows:
            if "reason" in runs:
                rows.append(without_figures(group.name, row, runs["verdict"], runs["reason"]))
                continue
            others = {name: [run[index] for run in other] for name, other in runs["others"].items()}
            rows.append(
                judge(
                    group.name,
                    row,
                    by_cpu,
                    [run[index] for run in runs["peer"]],
                    [run[index] for run in runs["own"]],
                    others,
                    group.number_of_keys(scale.keys),
                )
            )
    return rows


def print_table(rows: list[RowOutcome]) -> None:
    title_columns = max([len(row.title) for row in rows] + [3])
    print(
        f"\n{'row':{title_columns}}  {'RocksDB':>9} {'Ashlar':>9} unit       "
        f"{'ratio (low–high)':>22} {'target':>7} {'limit':>9}  verdict"
    )
    for row in worst_first(rows):
        if row.measured is None:
            print(f"{row.title:{title_columns}}  {row.verdict}: {row.reason}")
            continue
        measured = row.measured
        target = limit = ""
        if row.target is not None:
            target = f"{row.target:.2f} {'ok' if row.target_reached else '--'}"
        if row.limit is not None:
            limit = f"{format_figure(row.limit)} {'ok' if row.limit_kept else '--'}"
        others = "".join(f"  {name} {format_figure(value)}" for name, value in row.others)
        print(
            f"{row.title:{title_columns}}  {format_figure(measured.peer):>9} "
            f"{format_figure(measured.own):>9} {measured.metric.unit:10} "
            f"{str(measured.ratio):>22} {target:>7} {limit:>9}  "
            f"{row.verdict_with_remarks}{others}"
        )


def print_copies(lines: list[dict]) -> None:
    """The bytes that a Get copies, counted in runs of their own."""
    if not lines:
        return
    title_columns = max(len(line["title"]) for line in lines)
    print("\nCopies of the value per Get, and all bytes copied, counted")
    for line in lines:
        sides = "   ".join(
            f"{name} {line[side]['values']:5.2f} {line[side]['bytes']:9.0f} B"
            for name, side in (("RocksDB", "peer"), ("Ashlar", "own"))
        )
        print(f"{line['title']:{title_columns}}  {sides}")


def git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def proc_lines(name: str, prefix: str) -> list[str]:
    lines = Path("/proc", name).read_text().splitlines()
    return [line for line in lines if line.startswith(prefix)]


def commit_of(library: Path) -> str:
    """The commit of this tree; of a library from elsewhere, its path."""
    if library != (BUILD / "libashlar.so").resolve():
        return str(library)
    is_changed = git("status", "--porcelain", "--untracked-files=no")
    return git("rev-parse", "--short=12", "HEAD") + ("+changes" if is_changed else "")


def kept_file(scale: Scale, data: Path, digest: str) -> Path:
    """Where results are kept: apart for each folder of databases, as file systems differ."""
    where = hashlib.sha256(str(data.resolve()).encode()).hexdigest()[:8]
    return OUT / f"kept-{scale.keys}-{scale.pairs}-{digest}-{where}.json"


def environment(own: Library, peer: Library, scale: Scale, by_cpu: bool) -> dict:
    names = [line.split(":", 1)[1].strip() for line in proc_lines("cpuinfo", "model name")]
    cpu = names[0] if names else "unknown"
    memory_kib = int(proc_lines("meminfo", "MemTotal")[0].split()[1])
    return {
        "commit": commit_of(Path(own.path)),
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "cpu": cpu,
        "cores": os.cpu_count(),
        "memory_gib": round(memory_kib / (1 << 20)),
        "kernel": platform.release(),
        "peer": peer.name,
        "own": own.name,
        "load_at_start": os.getloadavg()[0],
        "busy": os.getloadavg()[0] > BUSY_LOAD_PER_CORE * (os.cpu_count() or 1),
        "keys": scale.keys,
        "pairs": scale.pairs,
        "by_cpu": by_cpu,
    }


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./dev bench", description="Runs Ashlar, RocksDB, LevelDB and LMDB side by side."
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--quick",
        action="store_const",
        const="quick",
        dest="size",
        help="200 000 keys, 3 pairs; some 7 minutes",
    )
    size.add_argument(
        "--full",
        action="store_const",
        const="full",
        dest="size",
        help="5 000 000 keys and further rows; taken up where it was left",
    )
    parser.add_argument(
        "--scale", type=float, default=1.0, metavar="X", help="multiplies the number of keys"
    )
    parser.add_argument("--pairs", type=int, help="pairs of runs per row")
    parser.add_argument(
        "--rows",
        metavar="REGEX",
        default="",
        help="only the groups whose name, or a row's title, matches",
    )
    parser.add_argument("--list", action="store_true", help="print groups and rows, and end")
    parser.add_argument(
        "--cpu",
        action="store_true",
        help="judge times by the CPU time of all threads instead of wall time: for a busy machine",
    )
    subject = parser.add_mutually_exclusive_group()
    subjects = (
        ("deletions", "deletions, by CPU time", SUBJECTS["deletions"]),
        ("files", "files in and out", SUBJECTS["files"]),
        ("triangle", "write, read and space amplification", TRIANGLE),
    )
    for name, groups, marks in subjects:
        about = f"the groups about {groups}, and put their table into docs/{marks.document}"
        subject.add_argument(
            f"--{name}", action="store_const", const=name, dest="subject", help=about
        )
    parser.add_argument("--no-others", action="store_true", help="without LevelDB and LMDB")
    parser.add_argument(
        "--fresh", action="store_true", help="forget kept results (--full keeps them)"
    )
    parser.add_argument(
        "--resume", action="store_true", help="use kept results of the same libraries at any size"
    )
    parser.add_argument(
        "--dir",
        type=Path,
        default=OUT / "data",
        help="where databases are made (default: build/bench/data)",
    )
    parser.add_argument(
        "--library", type=Path, default=BUILD / "libashlar.so", help="the Ashlar to measure"
    )
    parser.add_argument(
        "--peer", type=Path, help="a library to compare with instead of RocksDB 11.8.1"
    )
    parser.add_argument(
        "--instructions",
        action="store_true",
        help="count instructions per operation under callgrind, and put them into "
        "docs/performance.md",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="with --instructions: count Ashlar's alone, change nothing, and fail where one rose "
        "by more than 1 %%",
    )
    arguments = parser.parse_args()
    if arguments.check and not arguments.instructions:
        parser.error("--check belongs to --instructions")
    if arguments.subject:
        arguments.rows = f"^{arguments.subject}-"
        arguments.cpu = arguments.cpu or arguments.subject == "deletions"
    return arguments


def chosen_scale(arguments: argparse.Namespace) -> Scale:
    base = SCALES[arguments.size or "default"]
    pattern = re.compile(arguments.rows, re.IGNORECASE)
    # Rows that are asked for by name are measured at any size.
    candidates = SCALES["full"].groups if arguments.rows else base.groups

    def matches(group: Group) -> bool:
        rows = judged_rows([group])
        return bool(pattern.search(group.name)) or any(pattern.search(row.title) for row in rows)

    matching = [g for g in candidates if matches(g)]
    if arguments.subject and base is not SCALES["full"]:
        # Without the large groups of a subject; one whose groups are all left out of the default is
        # measured whole.
        matching = [g for g in matching if g.in_default] or matching
    groups = with_limiting_groups(matching, candidates)
    keys, pairs = int(base.keys * arguments.scale), arguments.pairs or base.pairs
    return Scale(base.name, keys, pairs, base.others_rounds, base.resumes, groups)


def list_rows(scale: Scale) -> None:
    for group in scale.groups:
        print(f"{group.name}  ({group.number_of_keys(scale.keys)} keys)")
        for row in judged_rows([group]):
            print(f"    {row.title}")


def count_instructions(own: Library, peer: Library, commit: str) -> None:
    """Counts, and puts the table into docs/performance.md."""
    rows = []
    for case in instructions.CASES:
        counts = [
            instructions.count(DRIVER, library, engine, case, OUT)
            for library, engine in (("", "none"), (peer.path, "rocksdb"), (own.path, "rocksdb"))
        ]
        ours, theirs = counts[2] - counts[0], counts[1] - counts[0]
        print(f"{case[0]:20} {peer.name} {theirs:8.0f}   {own.name} {ours:8.0f}", flush=True)
        rows.append((case[0], *counts))
    instructions.MARKS.write(instructions.table(rows, commit, peer.name))


def check_instructions(own: Library) -> int:
    """Counts Ashlar's alone, and compares with the table of docs/performance.md."""
    now = {}
    for case in instructions.CASES:
        driver, count = (
            instructions.count(DRIVER, library, engine, case, OUT)
            for library, engine in (("", "none"), (own.path, "rocksdb"))
        )
        now[case[0]] = count - driver
        print(f"{case[0]:20} {own.name} {now[case[0]]:8.0f}", flush=True)
    risen = instructions.rises(instructions.counts_of(instructions.MARKS.read()), now)
    for sentence in risen:
        print(f"bench: {sentence}", file=sys.stderr)
    return 1 if risen else 0


def write_triangle(rows: list[RowOutcome], about: dict) -> None:
    """The table and the picture of docs/tuning.md."""
    # Only the picture needs the package.
    import plots

    settings = triangle_settings(rows)
    (ROOT / "docs" / TRIANGLE_PICTURE).write_text(plots.triangle(settings))
    TRIANGLE.write(triangle_table(settings, about))


def measure_all(bench: Bench, scale: Scale, kept_path: Path, may_use_kept: bool) -> dict:
    kept = json.loads(kept_path.read_text()) if may_use_kept and kept_path.exists() else {}
    start = time.monotonic()
    for number, group in enumerate(scale.groups, 1):
        if group.name in kept:
            continue
        begun = time.monotonic()
        print(f"== {number}/{len(scale.groups)} {group.name}", end="", flush=True)
        runs = kept[group.name] = bench.measure(group)
        reason = f"  {runs['verdict']}: {runs['reason']}" if "reason" in runs else ""
        print(f"  {time.monotonic() - begun:.0f} s{reason}", flush=True)
        partial = kept_path.with_suffix(".partial")
        # What failed is tried again.
        whole = {name: done for name, done in kept.items() if done.get("verdict") != FAILED}
        partial.write_text(json.dumps(whole))
        os.replace(partial, kept_path)
    print(f"== measured in {time.monotonic() - start:.0f} s")
    return {group.name: kept[group.name] for group in scale.groups}


def main() -> int:
    arguments = parse_arguments()
    scale = chosen_scale(arguments)
    if arguments.list:
        list_rows(scale)
        return 0
    if not scale.groups:
        print(f"no row matches '{arguments.rows}'", file=sys.stderr)
        return 2
    own_path = arguments.library.resolve()
    if arguments.check:
        libraries.check_ashlar(own_path)
        OUT.mkdir(parents=True, exist_ok=True)
        return check_instructions(Library("Ashlar", str(own_path), "rocksdb"))
    peer_path = (arguments.peer or libraries.obtain_rocksdb(OUT)).resolve()
    libraries.check_peer(peer_path)
    libraries.check_ashlar(own_path)
    own = Library("Ashlar", str(own_path), "rocksdb")
    is_usual = arguments.peer is None
    peer_name = f"RocksDB {libraries.ROCKSDB_VERSION}" if is_usual else peer_path.name
    peer = Library(peer_name, str(peer_path), "rocksdb")
    others = (
        {}
        if arguments.no_others
        else {
            "leveldb": Library("LevelDB", libraries.LEVELDB, "leveldb"),
            "lmdb": Library("LMDB", libraries.LMDB, "lmdb"),
        }
    )

    about = environment(own, peer, scale, arguments.cpu)
    OUT.mkdir(parents=True, exist_ok=True)
    if arguments.instructions:
        count_instructions(own, peer, about["commit"])
        return 0
    if about["busy"] and not arguments.cpu:
        print(
            f"== the machine is busy (load {about['load_at_start']:.1f}): wall times will scatter, "
            "and rows come out as unsure; --cpu judges by CPU time"
        )
    digest = libraries.digest(own_path, peer_path, DRIVER, Path(rows_module.__file__))
    arguments.dir.mkdir(parents=True, exist_ok=True)
    kept_path = kept_file(scale, arguments.dir, digest)
    bench = Bench(scale, own, peer, others, arguments.dir, 20 if scale.keys < 1_000_000 else 100)
    try:
        resumes = (scale.resumes or arguments.resume) and not arguments.fresh
        results = measure_all(bench, scale, kept_path, resumes)
    except KeyboardInterrupt:
        again = "the same command" if scale.resumes else "--resume"
        print(
            f"\nbench: interrupted; {again} goes on after the groups that are done",
            file=sys.stderr,
        )
        return 130
    outcomes = [
        row
        for group in scale.groups
        for row in outcomes_of(group, results[group.name], scale, arguments.cpu)
    ]
    rows = with_limits(scale.groups, outcomes)
    print_table(rows)
    groups = list(scale.groups)
    print_copies(copies_table(groups, results))
    if arguments.subject == "triangle":
        write_triangle(rows, about)
    elif arguments.subject:
        SUBJECTS[arguments.subject].write(markdown_table(rows, about))
    elif scale.name == "full" and not arguments.rows:
        copying = {group.name for group in groups if results[group.name].get("copies")}
        for marks, wanted in ((SIDE_BY_SIDE, False), (ZERO_COPY, True)):
            shown = [row for row in rows if (row.group in copying) == wanted]
            marks.write(side_by_side_table(shown, about))
    name = f"{scale.name}{'-rows' if arguments.rows else ''}"
    write_json(OUT / f"{name}.json", about, rows, groups, results)
    write_page(OUT / f"{name}.html", about, rows, groups, results)
    print(f"\n== {OUT / name}.json and {name}.html")
    return 1 if any(row.verdict == FAILED for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

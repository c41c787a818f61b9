"""Instructions per operation, counted by callgrind: they repeat on any machine, busy or not, so
they are the check against regressions."""

import re
import shutil
import subprocess
from pathlib import Path

from report import Marks

MARKS = Marks("instructions", "./dev bench --instructions")

KEYS = 100_000
OPERATIONS = 20_000
RISE_MAX = 0.01  # counts repeat within it
# Row -> the driver's workload, its operations, and the shape of the database. Next scans every key
# once.
CASES = (
    ("Get", "readrandom", OPERATIONS, "compacted"),
    ("Get, a missing key", "readmissing", OPERATIONS, "compacted"),
    ("MultiGet, per key", "multiget", OPERATIONS, "compacted"),
    ("Seek", "seek", OPERATIONS, "compacted"),
    ("Next", "readseq", KEYS, "compacted"),
    ("Put", "overwrite", OPERATIONS, "empty"),
)


class CountingFailed(Exception):
    pass


def parse_total(profile: str) -> int:
    """The instructions of a callgrind profile: its line 'totals: N' or, in older files, 'summary:
    N'."""
    found = re.search(r"^totals: (\d+)", profile, re.MULTILINE)
    if found is None:
        found = re.search(r"^summary: (\d+)", profile, re.MULTILINE)
    if found is None:
        raise CountingFailed("a profile without a total")
    return int(found.group(1))


def count(driver: Path, library: str, engine: str, case: tuple, folder: Path) -> float:
    """Instructions of one operation, the driver's own included."""
    _, workload, operations, shape = case
    database, profile = folder / "database-callgrind", folder / "callgrind.out"
    shutil.rmtree(database, ignore_errors=True)
    profile.unlink(missing_ok=True)
    command = ["valgrind", "--tool=callgrind", "--instr-atstart=no"]
    command += [f"--callgrind-out-file={profile}", "--quiet"]
    command += [str(driver), "--engine", engine, "--library", library, "--dir", str(database)]
    command += ["--num", str(KEYS), "--shape", shape]
    command += ["--workloads", f"{workload}:{operations}", "--count-instructions"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    finally:
        shutil.rmtree(database, ignore_errors=True)
    if done.returncode != 0:
        shown = " ".join(command)
        raise CountingFailed(f"{shown}\nended with {done.returncode}: {done.stderr.strip()}")
    total = parse_total(profile.read_text())
    profile.unlink()
    return total / operations


def counts_of(table: str) -> dict[str, float]:
    """Ashlar's counts in a table, by title."""
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {row[0]: float(row[2].replace(",", "")) for row in cells[1:]}


def rises(before: dict[str, float], now: dict[str, float]) -> list[str]:
    """The counts that rose by more than RISE_MAX, or that the table does not have, as sentences."""
    found = []
    for title, count_now in now.items():
        if title not in before:
            found.append(f"{title}: not in the table")
        elif count_now > before[title] * (1 + RISE_MAX):
            found.append(
                f"{title}: {count_now:,.0f} instructions, {before[title]:,.0f} in the table, "
                f"{count_now / before[title] - 1:.1%} more"
            )
    return found


def table(rows: list[tuple[str, float, float, float]], commit: str, peer: str) -> str:
    """`rows`: (title, the driver alone, peer, own); the driver's part is taken off."""
    lines = [f"| at {commit} | {peer} | Ashlar | ratio |", "|---|---|---|---|"]
    for title, driver, peer_count, own_count in rows:
        theirs, ours = peer_count - driver, own_count - driver
        lines.append(f"| {title} | {theirs:,.0f} | {ours:,.0f} | {theirs / max(ours, 1):.1f} |")
    return "\n".join(lines)

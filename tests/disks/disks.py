#!/usr/bin/env python3
"""Real file systems that are full, read-only, broken or cut off: ./dev disks. README.md."""

import argparse
import pathlib
import platform
import shutil
import signal
import sys
import time
import traceback

import cases
import machine
from client import Acknowledged, Client, Died, Failed

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent.parent / "docs"))
from generated import Marks, stamp  # noqa: E402

TABLE = Marks("disks", "./dev disks --write", "reliability.md")
CASE_SECONDS_MAX = 240  # a call that hangs is a failure


def no_answer(_signal, _frame):
    raise Failed(f"no answer within {CASE_SECONDS_MAX} s")


def run_case(folder, kind, the_case, quick, verbose, memory):
    """The cell of the table; None after a failure. What a case needs is made for it, and
    removed."""
    start = time.monotonic()
    cell = detail = ""
    ground = machine.Ground(folder)
    signal.alarm(CASE_SECONDS_MAX)
    try:
        cell, detail = the_case.function(ground.disk(kind), quick)
        outcome = "ok"
    except (Failed, Died, machine.Refused) as error:
        cell, detail, outcome = None, traceback.format_exc(), f"FAILED: {error}"
    finally:
        signal.alarm(0)
        memory.append(shutil.disk_usage(folder).used)
        ground.dismantle()
    seconds = time.monotonic() - start
    shown = f": {cell}" if cell else ""
    print(
        f"== disks {machine.NAMES[kind]:5} {the_case.label:58} {outcome} in {seconds:.1f} s{shown}",
        flush=True,
    )
    if detail and (verbose or cell is None):
        print(detail, flush=True)
    return cell


def self_test(folder):
    """The client on an ordinary folder, and that a loss is seen."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for command in (f"open {folder}/db rw", f"open-pool {folder}/pool logged {cases.POOL_BYTES}"):
        acknowledged = Acknowledged()
        with Client(acknowledged) as client:
            client.ask(command).expect_ok()
            client.ask("load 300 4").expect_ok()
        with Client(acknowledged) as client:
            client.ask(command).expect_ok()
            found = client.expect_all()
            client.ask("verify").expect_ok()
            client.close()
        if found != [300, 300]:
            raise Failed(f"found {found} after 300 commits of each thread")
        for least, most in (([301, 0], None), ([0, 301], None), ([0, 0], [298, 300])):
            try:
                acknowledged.compare(found, least, most)
            except Failed:
                continue
            raise Failed(f"{found} passed as at least {least}, at most {most}")
    shutil.rmtree(folder)


def table(cells, quick):
    kinds = [kind for kind in machine.FILE_SYSTEMS if any(at == kind for at, _ in cells)]
    names = " | ".join(machine.NAMES[kind] for kind in kinds)
    lines = [f"| case | {names} |", "|---|" + "---|" * len(kinds)]
    for the_case in cases.CASES:
        row = [cells.get((kind, the_case.label), "–") for kind in kinds]
        lines.append(f"| {the_case.label} | " + " | ".join(row) + " |")
    kernel = platform.release().split("-")[0]
    lines += [
        "",
        f"{Client.compared:,} commits compared, acknowledged commits lost: 0. {stamp()}, "
        f"Linux {kernel}{', --quick' if quick else ''}.",
    ]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path, help="the folder of the release build")
    parser.add_argument("--quick", action="store_true", help="fewer rounds of each case")
    parser.add_argument(
        "--only",
        action="append",
        metavar="KIND",
        choices=machine.FILE_SYSTEMS,
        help="ext4, xfs or btrfs",
    )
    parser.add_argument("--case", metavar="TEXT", help="only the cases whose name has this")
    parser.add_argument(
        "--write", action="store_true", help="write the table to docs/reliability.md"
    )
    parser.add_argument(
        "--self-test",
        type=pathlib.Path,
        metavar="FOLDER",
        help="only the client and the judge, without a disk",
    )
    parser.add_argument("--verbose", action="store_true", help="print the texts of errors")
    arguments = parser.parse_args()
    # Absolute: mkfs.btrfs takes one relative name for another image of that name that is mounted.
    arguments.build = arguments.build.resolve()
    Client.program = arguments.build / "tests" / "disk_client"
    Client.tool = arguments.build / "ashlar"
    if arguments.self_test:
        self_test(arguments.self_test)
        return
    folder = arguments.build / "disks"
    if folder.is_mount():
        sys.exit(f"disks: {folder} is in use")
    signal.signal(signal.SIGALRM, no_answer)
    start = time.monotonic()
    cells, memory = {}, []
    for kind in arguments.only or machine.FILE_SYSTEMS:
        for the_case in cases.of(kind):
            if arguments.case is None or arguments.case in the_case.label:
                cells[kind, the_case.label] = run_case(
                    folder, kind, the_case, arguments.quick, arguments.verbose, memory
                )
    failed = [
        f"{machine.NAMES[kind]} {label}" for (kind, label), cell in cells.items() if cell is None
    ]
    print(
        f"== disks: {len(cells)} cases in {time.monotonic() - start:.0f} s, "
        f"{Client.compared:,} commits compared, "
        f"{max(memory, default=0) // machine.MIB} MB of memory for disks at most, "
        f"{len(failed)} failed"
    )
    if failed:
        sys.exit("disks: failed: " + "; ".join(failed))
    if arguments.write:
        TABLE.write("\n".join(table(cells, arguments.quick)))


if __name__ == "__main__":
    try:
        main()
    except machine.Refused as error:
        sys.exit(f"disks: this machine does not permit what the cases need: {error}")
